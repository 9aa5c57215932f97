"""Folded groups of inputs, whose widgets are made when somebody opens the group or has used it.

Half of the sidebar's widgets lie in two groups that few people open; unopened ones would cost a
third of what the server sends.
"""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from advisor.ui.sidebar.field_kinds import Pick
from advisor.ui.sidebar.target_fields import every_field

REQUEST = (
    "runtime", "kv", "prompt", "cached", "cachedshare", "output", "ubatch", "layers", "experts",
    "cache", "backend", "threads", "system", "screen", "driver", "build", "numa", "division",
    "draft",
)  # fmt: skip
DRAFTING = ("acceptance", "drafted")
MONEY = (
    "currency", "rate", "hour", "months", "kwh", "on", "days", "within", "thinking", "reading",
    "rentday", "starts", "startmin", "apiin", "apiout", "apispeed", "rentgpu", "buygpu",
)  # fmt: skip
TYPED_PRICES = ("rentusd", "buyusd")
LOAD = ("eachtps", "firstin", "perhour", "spread")


def folded(
    label: str, ask_all: Callable[[], dict[str, Any]], names: Sequence[str], *, key: str
) -> dict[str, Any]:
    """Values of a group; all defaults where nobody opened it and the address states none.

    Args:
        label: words on the group.
        ask_all: shows its widgets and returns their values.
        names: keys of all its inputs.
        key: key of the group in the session.
    """
    part = st.expander(label, key=key, on_change="rerun")
    if part.open or any(name in st.session_state or name in st.query_params for name in names):
        with part:
            return ask_all()
    return {name: default(name) for name in names}


def elsewhere(names: Sequence[str]) -> dict[str, Any]:
    """Values of inputs whose widgets stand on the page itself: as typed there, else of the address,
    else the defaults.
    """
    return {name: _typed(name) for name in names}


def _typed(name: str) -> Any:
    if name in st.session_state:
        typed = st.session_state[name]
        return default(name) if typed is None else typed
    field, text = every_field()[name], st.query_params.get(name)
    if text is None or field.problem(text) or isinstance(field, Pick):
        return default(name)
    return field.amount(text)


def default(name: str) -> Any:
    """Value of an input that nobody changed, as its widget returns it."""
    field = every_field()[name]
    if isinstance(field, Pick) or field.default is None:
        return field.default
    return int(field.default) if field.whole else float(field.default)
