"""Tabs whose bodies are drawn when they are opened, with the open one in the address."""

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
