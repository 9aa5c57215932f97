"""Widgets of the inputs, bound to the address by their keys."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from advisor.catalog.inputs import BY_NAME
from advisor.errors import InputError
from advisor.formatting import US_DOLLAR, Currency
from advisor.ui.parts import markup
from advisor.ui.sidebar.field_kinds import Amount, Field, Pick, Size
from advisor.ui.sidebar.fields import fields
from advisor.ui.sidebar.target_fields import every_field
from advisor.units import tokens


def ask(key: str, **options: Any) -> Any:
    """Widget of an input."""
    field: Field = every_field()[key]
    shared = {"key": key, "help": field.help or None, "bind": "query-params",
              "persist_state": "session", **options}  # fmt: skip
    if isinstance(field, Pick):
        return _context(field, shared) if key == "context" else _pick(field, shared)
    return _size(field, shared) if isinstance(field, Size) else _amount(field, shared)


def _pick(field: Pick, shared: dict[str, Any]) -> str:
    default = shared.pop("default", field.default)
    options = shared.pop("options", field.options)
    start = options.index(default)
    chosen = st.selectbox(
        field.label, options, index=start, accept_new_options=field.free, **shared
    )
    # The widget's options are checked in the browser alone.
    allowed = bool(chosen) if field.free else chosen in options
    return str(chosen) if allowed else str(default)


def switch(key: str) -> bool:
    """Switch of an input."""
    field = every_field()[key]
    return st.toggle(
        field.label, key=key, help=field.help, bind="query-params", persist_state="session"
    )


def always_in_address(key: str, default: str) -> str:
    """Choice that is always written in the address, since its default depends on the visitor.

    Streamlit drops a bound widget's default from the address; this one is kept by hand.
    """
    field = fields()[key]
    options = field.options if isinstance(field, Pick) else ()
    stated = field.meant(st.query_params.get(key, "")) if isinstance(field, Pick) else None
    st.session_state.setdefault(key, stated or default)
    chosen = str(
        st.radio(
            field.label, options, key=key, horizontal=True, label_visibility="collapsed",
            persist_state="session",
        )
    )  # fmt: skip
    if st.query_params.get(key) != chosen:
        st.query_params[key] = chosen
    return chosen


def _label(field: Amount) -> str:
    """Label with the sign of the currency that amounts are typed in."""
    stated = {**st.query_params.to_dict(), **st.session_state.to_dict()}
    code, rate = stated.get("currency"), stated.get("rate")
    sign = US_DOLLAR.sign if not code or rate is None else Currency(code=code).sign.strip()
    return field.label if "US $" in field.label else field.label.replace("$", sign)


def _amount(field: Amount, shared: dict[str, Any]) -> float | None:
    shared.setdefault("placeholder", field.placeholder or None)
    kind: Callable[[float], float] = int if field.whole else float
    value = st.number_input(
        _label(field),
        min_value=kind(field.low),
        max_value=kind(field.high),
        value=None if field.default is None else kind(field.default),
        step=kind(field.step),
        format=None if field.whole else "%.2f" if field.step < 0.1 else "%.1f",
        **shared,
    )
    return field.default if value is None else kind(value)


def _size(field: Size, shared: dict[str, Any]) -> float | int | None:
    """Text field for a number with its unit; problems are shown below it."""
    shared.setdefault("placeholder", field.placeholder or None)
    text = st.text_input(field.label, value=field.default_text, **shared).strip()
    value = field.default
    try:
        value = field.amount(text) if text else field.default
    except InputError as error:
        markup.notice(f"{error} Shown instead: {field.default_text or 'nothing'}.", "warning")
    return int(value) if field.whole and value is not None else value


def _context(field: Pick, shared: dict[str, Any]) -> str:
    """Context in tokens, as chosen or typed: "8k", "100k", "131072"."""
    text = _pick(field, shared)
    try:
        BY_NAME["context"].check(tokens(text))
    except InputError as error:
        markup.notice(f"{error} Shown instead: {field.default_text}.", "warning")
        return field.default_text
    return text


def pair(first: str, second: str, **options: Any) -> dict[str, Any]:
    """Two short inputs side by side."""
    left, right = st.columns(2, gap="small")
    with left:
        values = {first: ask(first, **options)}
    with right:
        return {**values, second: ask(second, **options)}
