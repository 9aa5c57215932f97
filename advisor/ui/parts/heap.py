"""Heap of the server: what pages load once is left out of Python's garbage collection.

The catalogues are hundreds of thousands of objects that stay for good. With them, and with the
answers that are remembered, a full collection takes 60 to 100 ms. Streamlit's setting to collect
after every run is therefore off: a change of an input leaves a hundred objects in cycles.
"""

import gc

import streamlit as st


@st.cache_resource(show_spinner=False)
def freeze_after(page: str) -> None:  # noqa: ARG001 - the cache runs it once for each page
    """Freeze all that is loaded once a page has been drawn for the first time in this process."""
    gc.collect()
    gc.freeze()
