"""What a page shows while something takes time."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from advisor.ui.parts.markup import block, show


@contextmanager
def waiting(text: str, *, height: int = 420) -> Iterator[None]:
    """A sentence and a grey shape until what is within is done, or has failed.

    Args:
        text: what takes time; nothing is shown for an empty one.
        height: of the shape [pixels].
    """
    placeholder = st.empty()
    if text:
        with placeholder.container():
            show(block("oa-soft", text, "p"))
            st.skeleton(height=height)
    try:
        yield
    finally:
        placeholder.empty()
