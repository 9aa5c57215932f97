"""The sidebar: model, machine, request, time and money."""

from dataclasses import MISSING
from dataclasses import fields as attributes
from typing import Any

import streamlit as st

from advisor.calibration import imported_store
from advisor.calibration.imported_machine import rented_by_name
from advisor.machine.catalog import gpu_bridges
from advisor.ui.sidebar import machine_panel, model_panel, taken_as
from advisor.ui.sidebar.choices import Choices
from advisor.ui.sidebar.fields import fields
from advisor.ui.sidebar.folded import (
    DRAFTING,
    LOAD,
    MONEY,
    REQUEST,
    TYPED_PRICES,
    elsewhere,
    folded,
)
from advisor.ui.sidebar.option_words import ANOTHER, NAMED, NONE, NOTHING, RENTED, THIS
from advisor.ui.sidebar.widgets import always_in_address, ask, pair


def choices() -> tuple[model_panel.Wanted, Choices]:
    """Show all inputs and return the choices."""
    with st.sidebar:
        wanted, values = _model()
        values |= {**_served(), **_machine_and_having(), **_more(), **_money()}
    return wanted, Choices(**values, **elsewhere(LOAD))


def target_choices() -> tuple[model_panel.Wanted, Choices]:
    """Show model, request, host machine and money; other inputs keep their defaults."""
    with st.sidebar:
        wanted = model_panel.show()
        values = {"model": wanted.picked.text, **_served(), **_host()}
        values |= {**_lengths(), **_money()}
    return wanted, Choices(**{**_usual(), **values})


def described_choices() -> tuple[model_panel.Wanted, Choices]:
    """Show model, context, users and machine; other inputs keep their defaults."""
    with st.sidebar:
        wanted, values = _model()
        values |= {"context": ask("context"), "users": ask("users"), **_machine()}
    return wanted, Choices(**{**_usual(), **values})


def machine_choices() -> Choices:
    """Show machine and request, without a model."""
    with st.sidebar:
        values = {**_machine(), "context": ask("context"), "users": ask("users"), **_lengths()}
    return Choices(**{**_usual(), **values, "model": ""})


def _host() -> dict[str, Any]:
    """Machine that the cards are put into, without GPUs of its own."""
    st.subheader("Cards go into")
    machine = always_in_address("machine", ANOTHER)
    if machine != ANOTHER:
        shown = _this_machine if machine == THIS else _machine_by_name
        return {"machine": machine, **shown()}
    cpu = taken_as.ask_processor("cpu")
    return {"machine": machine, "cpu": cpu, **pair("ram", "ramspeed"), **_drive()}


def _usual() -> dict[str, Any]:
    """Defaults of inputs that are required but not shown."""
    required = (field.name for field in attributes(Choices) if field.default is MISSING)
    return {name: fields()[name].default for name in required}


def _served() -> dict[str, Any]:
    return {"context": ask("context"), **pair("users", "replies")}


def _lengths() -> dict[str, Any]:
    names = ("prompt", "output", "ubatch")
    return folded(
        "More about the request", lambda: {name: ask(name) for name in names}, names,
        key="open_lengths",
    )  # fmt: skip


def _model() -> tuple[model_panel.Wanted, dict[str, Any]]:
    wanted = model_panel.show()
    return wanted, {"model": wanted.picked.text, **model_panel.form(wanted.picked)}


def _machine() -> dict[str, Any]:
    st.subheader("Machine")
    seen = machine_panel.seen()
    default = THIS if seen is not None and seen.machine.gpus else ANOTHER
    machine = always_in_address("machine", default)
    shown = {THIS: _this_machine, NAMED: _machine_by_name}.get(machine, _another_machine)
    values = shown()
    return {"machine": machine, **values}


def _this_machine() -> dict[str, Any]:
    machine_panel.show()
    gpu, _ = taken_as.ask_card("mygpu")
    return {"mygpu": gpu, **pair("ramspeed", "drivespeed", placeholder="as seen")}


def _machine_by_name() -> dict[str, Any]:
    owned = taken_as.ask_machine("owned", imported_store.names())
    values = {"owned": owned, **pair("pool", "ramspeed", placeholder="as named")}
    return {**values, "drivespeed": ask("drivespeed", placeholder="as named")}


def _another_machine() -> dict[str, Any]:
    gpu, card = taken_as.ask_card("gpu")
    if card is not None and card.unified and not card.of_ram:
        return {"gpu": gpu, **pair("pool", "ramspeed"), **_drive()}
    values: dict[str, Any] = {"gpu": gpu}
    if card is not None:
        values |= pair("gpus", "link")
        values["gpu2"], _ = taken_as.ask_card("gpu2")
        if card.name in gpu_bridges() and values["gpus"] == 2 and values["gpu2"] == NONE:
            values["bridge"] = ask("bridge")
    values["cpu"] = taken_as.ask_processor("cpu")
    return {**values, **pair("ram", "ramspeed"), **_drive()}


def _drive() -> dict[str, Any]:
    return {"drive": ask("drive"), "drivespeed": ask("drivespeed")}


def _machine_and_having() -> dict[str, Any]:
    values = _machine()
    if values["machine"] == NAMED and rented_by_name(values["owned"]):
        return {**values, "namedrent": ask("namedrent")}
    return {**values, **_having()}


def _having() -> dict[str, Any]:
    """Ownership of the machine, used by every option."""
    values = pair("having", "formfactor")
    if values["having"] == NOTHING:
        return values
    amount = "rentedat" if values["having"] == RENTED else "resale"
    return {**values, amount: ask(amount)}


def _more() -> dict[str, Any]:
    unused = dict.fromkeys(DRAFTING)
    return unused | folded("More about the request", _request, REQUEST, key="open_request")


def _request() -> dict[str, Any]:
    values = {name: ask(name) for name in ("runtime", "kv", "prompt")}
    values |= {**pair("cached", "cachedshare"), "output": ask("output")}
    values |= {name: ask(name) for name in ("ubatch", "layers", "experts", "cache")}
    values |= {**pair("backend", "threads"), **pair("system", "screen")}
    values |= {**pair("driver", "build"), "numa": ask("numa")}
    values["division"] = ask("division")
    values["draft"] = ask("draft")
    return values | (pair("acceptance", "drafted") if values["draft"] != NONE else {})


def _money() -> dict[str, Any]:
    unused = dict.fromkeys(TYPED_PRICES)
    return unused | folded("Money", _amounts, MONEY, key="open_money")


def _amounts() -> dict[str, Any]:
    values = {**pair("currency", "rate"), **pair("hour", "months"), **pair("kwh", "on")}
    values |= {**pair("days", "within"), **pair("thinking", "reading")}
    values |= {"rentday": ask("rentday"), **pair("starts", "startmin")}
    values |= {**pair("apiin", "apiout"), "apispeed": ask("apispeed")}
    values["rentgpu"] = ask("rentgpu")
    rent = ask("rentusd") if values["rentgpu"] != NONE else None
    values |= {"rentusd": rent, "buygpu": ask("buygpu")}
    price = ask("buyusd") if values["buygpu"] != NONE else None
    return {**values, "buyusd": price}
