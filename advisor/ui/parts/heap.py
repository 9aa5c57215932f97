"""Heap of the server: what pages load once is left out of Python's garbage collection.

Streamlit collects garbage after each run of a page (`runner.postScriptGC`). The catalogues are
hundreds of thousands of objects that stay for good; looking through them took longer than an answer
(90 of 150 ms; `python -m benchmarks.redraw` prints both).
"""

import gc

import streamlit as st


@st.cache_resource(show_spinner=False)
def freeze_after(page: str) -> None:  # noqa: ARG001 - the cache runs it once for each page
    """Freeze all that is loaded once a page has been drawn for the first time in this process.

    Args:
        page: address of the page; each loads catalogues and programs of its own.
    """
    gc.collect()
    gc.freeze()
