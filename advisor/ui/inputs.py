"""The sidebar: what is run, where, how it is asked, what time and money are worth."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from advisor import catalog
from advisor.ui import machine_panel
from advisor.ui.choices import Choices
from advisor.ui.fields import ANOTHER, NO_GPU, NONE, THIS, Amount, Field, Pick, fields


def choices() -> Choices:
    """Ask for everything and return what was chosen."""
    with st.sidebar:
        values = {**_model(), **_machine(), **_more(), **_money()}
    return Choices(**values)


def ask(key: str, **options: Any) -> Any:
    """One widget, bound to the address under its key."""
    field: Field = fields()[key]
    shared = {"key": key, "help": field.help or None, "bind": "query-params",
              "persist_state": "session", **options}  # fmt: skip
    if isinstance(field, Pick):
        return _pick(field, shared)
    return _amount(field, shared)


def _pick(field: Pick, shared: dict[str, Any]) -> str:
    default = shared.pop("default", field.default)
    start = field.options.index(default)
    if field.key == "machine":
        chosen = st.radio(field.label, field.options, index=start, horizontal=True, **shared)
    elif field.key == "context":
        chosen = st.select_slider(field.label, field.options, value=default, **shared)
    else:
        chosen = st.selectbox(field.label, field.options, index=start, **shared)
    # The widget's options are checked in the browser alone.
    return chosen if chosen in field.options else default


def _amount(field: Amount, shared: dict[str, Any]) -> float | None:
    shared.setdefault("placeholder", field.placeholder or None)
    kind: Callable[[float], float] = int if field.whole else float
    value = st.number_input(
        field.label,
        min_value=kind(field.low),
        max_value=kind(field.high),
        value=None if field.default is None else kind(field.default),
        step=kind(field.step),
        format=None if field.whole else "%.2f" if field.step < 0.1 else "%.1f",
        **shared,
    )
    return field.default if value is None else kind(value)


def _pair(first: str, second: str, **options: Any) -> dict[str, Any]:
    """Two short inputs side by side."""
    left, right = st.columns(2, gap="small")
    with left:
        values = {first: ask(first, **options)}
    with right:
        return {**values, second: ask(second, **options)}


def _model() -> dict[str, Any]:
    values = {"model": ask("model"), "format": ask("format"), "context": ask("context")}
    return {**values, **_pair("users", "replies")}


def _machine() -> dict[str, Any]:
    st.subheader("Machine")
    seen = machine_panel.seen()
    default = THIS if seen is not None and seen.machine.gpus else ANOTHER
    machine = ask("machine", label_visibility="collapsed", default=default)
    values = _this_machine() if machine == THIS else _another_machine()
    return {"machine": machine, **values}


def _this_machine() -> dict[str, Any]:
    machine_panel.show()
    values = {"mygpu": ask("mygpu")}
    return {**values, **_pair("ramspeed", "drivespeed", placeholder="as seen")}


def _another_machine() -> dict[str, Any]:
    gpu = ask("gpu")
    if gpu != NO_GPU and catalog.find_gpu(gpu).unified:
        return {"gpu": gpu, **_pair("pool", "ramspeed"), **_drive()}
    values: dict[str, Any] = {"gpu": gpu}
    if gpu != NO_GPU:
        values |= _pair("gpus", "link")
    values["cpu"] = ask("cpu")
    return {**values, **_pair("ram", "ramspeed"), **_drive()}


def _drive() -> dict[str, Any]:
    return {"drive": ask("drive"), "drivespeed": ask("drivespeed")}


def _more() -> dict[str, Any]:
    with st.expander("More about the request"):
        names = ("kv", "prompt", "output", "ubatch", "layers", "experts", "cache")
        return {name: ask(name) for name in names}


def _money() -> dict[str, Any]:
    with st.expander("Money"):
        values = {name: ask(name) for name in ("hour", "rentday", "months", "kwh", "rentgpu")}
        rent = ask("rentusd") if values["rentgpu"] != NONE else None
        return {**values, "rentusd": rent}
