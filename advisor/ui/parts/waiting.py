"""Placeholder while something is computed."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from advisor.ui.parts.markup import block, show


@contextmanager
def waiting(text: str, *, height: int = 420) -> Iterator[None]:
    """Sentence and grey area until the block ends.

    Args:
        text: description of the wait; nothing is shown for an empty text.
        height: height of the area [pixels].
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
