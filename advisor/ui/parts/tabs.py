"""Tabs and folded parts whose bodies are drawn when they are opened."""

from collections.abc import Callable, Mapping

import streamlit as st


def opened(bodies: Mapping[str, Callable[[], None]], key: str, first: str | None = None) -> None:
    """Row of tabs by their titles, whose key is its parameter of the address; the first is open at
    first unless another is named.
    """
    row = st.tabs(list(bodies), default=first, key=key, on_change="rerun", bind="query-params")
    for tab, body in zip(row, bodies.values(), strict=True):
        if tab.open:
            with tab:
                body()


def folded(title: str, key: str, body: Callable[[], None]) -> None:
    """Part of a page that is drawn when it is unfolded."""
    part = st.expander(title, key=key, on_change="rerun")
    if part.open:
        with part:
            body()
