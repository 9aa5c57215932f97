"""Tabs, folded parts and popovers whose bodies are drawn when they are opened."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st


def opened(bodies: Mapping[str, Callable[[], None]], key: str, first: str | None = None) -> None:
    """Row of tabs by their titles; the address keeps the open one, by default the first."""
    row = st.tabs(list(bodies), default=first, key=key, on_change="rerun", bind="query-params")
    for tab, body in zip(row, bodies.values(), strict=True):
        _draw(tab, body)


def folded(title: str, key: str, body: Callable[[], None]) -> None:
    """Part of a page that is drawn when it is unfolded."""
    _draw(st.expander(title, key=key, on_change="rerun"), body)


def popped(title: str, key: str, body: Callable[[], None], **look: Any) -> None:
    """Button under which a part of a page opens."""
    _draw(st.popover(title, key=key, on_change="rerun", **look), body)


def _draw(part: Any, body: Callable[[], None]) -> None:
    if part.open:
        with part:
            body()
