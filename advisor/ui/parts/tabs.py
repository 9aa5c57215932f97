"""Tabs whose bodies are drawn when they are opened, with the open one in the address."""

from collections.abc import Callable, Mapping

import streamlit as st


def opened(bodies: Mapping[str, Callable[[], None]], key: str, first: str | None = None) -> None:
    """Row of tabs.

    Args:
        bodies: what draws each, by its title.
        key: of the row, and its parameter of the address.
        first: title of the tab that is open at first; None for the first.
    """
    row = st.tabs(list(bodies), default=first, key=key, on_change="rerun", bind="query-params")
    for tab, body in zip(row, bodies.values(), strict=True):
        if tab.open:
            with tab:
                body()
