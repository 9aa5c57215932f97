"""Chips that show the meaning of a question: certain ones, and assumed ones that open."""

from collections.abc import Callable, Iterable
from functools import partial

import streamlit as st
from markupsafe import Markup

from advisor.cost_model.workload import Workload
from advisor.formatting import context_size, rate
from advisor.machine.catalog import memory_generation
from advisor.machine.in_words import cards
from advisor.machine.machine import Machine
from advisor.machine.names.words import states_link
from advisor.model.model import Model
from advisor.request.request import Request
from advisor.ui.parts import audience
from advisor.ui.parts.markup import joined, press, show
from advisor.ui.question import current
from advisor.ui.question.row import MACHINE, MODEL, open_at
from advisor.units import GIB, Provenance, memory

STATED = (Provenance.MEASURED, Provenance.GIVEN)  # kinds of speeds that are no assumption


def row(machine: Machine, model: Model, work: Workload, taken: str) -> None:
    """Show chips with the meaning of an answer's question; `taken` is the model that another name
    was taken for, empty for none.
    """
    request = current.present()
    if request.nowhere:
        parts: Iterable[Markup] = [_chip("No machine yet")]
        assumed: Iterable[Markup] = ()
    else:
        parts = _sure(machine, request)
        assumed = _assumed(machine, request)
    named = [_chip(f"taken as {taken}")] if taken else []
    form = "" if request.format else "assumed: "
    held = _opening(f"{form}{model.format}, context {context_size(float(work.context))}", MODEL)
    with st.container(key="chips"):
        show(joined((*parts, *named, *assumed, held)))


def actions() -> dict[str, Callable[[], None]]:
    """Actions of the assumed chips, by their keys: each opens the drawer at its group."""
    return {_key(group): partial(open_at, group) for group in (MACHINE, MODEL)}


def _sure(machine: Machine, request: Request) -> Iterable[Markup]:
    if request.machine == current.EXAMPLE and not current.visit().lately:
        yield _chip("Example", "oa-example")
    if request.here and audience.is_public():
        yield _chip("The server's parts, not your computer's", "oa-example")
    yield from map(_chip, cards(machine.gpus) or ["No GPU"])
    for card in cards(machine.idle):
        yield _chip(f"{card}, idle")
    size = machine.host.memory
    if size.kind is not Provenance.ASSUMED:
        if machine.unified:
            what = "shared memory"
        else:
            what = "RAM"
        yield _chip(f"{float(size.value) / GIB:.4g} GB {what}")
    drives = [("drive", machine.disk.sequential)] if machine.disk is not None else []
    for what, figure in (("RAM", machine.host.bandwidth), *drives):
        if figure.kind in STATED:
            yield _chip(f"{what} {rate(float(figure.value))}, {figure.kind.value}")


def _chip(words: str, style: str = "") -> Markup:
    if style:
        tick = ""
    else:
        tick = Markup("<b aria-hidden='true'>\u2713</b> ")
    return Markup("<span class='oa-chip {}'>{}{}</span>").format(style, tick, words)


def _assumed(machine: Machine, request: Request) -> Iterable[Markup]:
    host = machine.host
    disk = machine.disk
    if host.memory.kind is Provenance.ASSUMED:
        yield _opening(f"assumed: {memory(float(host.memory.value))} RAM")
    if host.bandwidth.kind is Provenance.ASSUMED:
        if machine.unified:
            kind = "memory"
        else:
            kind = memory_generation(host.name) or "RAM"
        yield _opening(f"assumed: {kind}, {rate(float(host.bandwidth.value))}")
    if disk is not None and disk.sequential.kind not in STATED:
        yield _opening(f"assumed: NVMe drive, {rate(float(disk.sequential.value))}")
    if machine.gpus and not machine.unified:
        link = machine.gpus[0].link.name
        sure = request.pcie_gen is not None or states_link(request.machine or "")
        yield _chip(link) if sure else _opening(f"assumed: {link}")


def _opening(words: str, group: str = MACHINE) -> Markup:
    return press(_key(group), words, "oa-chip oa-assumed")


def _key(group: str) -> str:
    return f"open_{group.split()[-1].casefold()}"
