"""What was understood of the question, as chips: sure ones, and assumed ones that open."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from advisor.calibration.imported_store import THIS
from advisor.cost_model.workload import Workload
from advisor.formatting import context_size, memory, rate
from advisor.machine.catalog import memory_generation
from advisor.machine.from_spec import TYPICAL_HOST
from advisor.machine.machine import Gpu, Machine
from advisor.machine.quantity import Provenance, Quantity
from advisor.model.model import Model
from advisor.request.request import Request
from advisor.ui.parts import audience
from advisor.ui.parts.markup import joined, show
from advisor.ui.question import current, inputs, this_machine
from advisor.units import GIB

DDR4 = "Desktop DDR4-3200 dual-channel (typical)"
MEMORIES = {"DDR5": TYPICAL_HOST, "DDR4": DDR4}
"""Typical desktops by their memory."""


@dataclass(frozen=True, kw_only=True)
class AssumedChip:
    """Assumed part of the question."""

    name: str  # key of its chip
    words: str  # words on it
    body: Callable[[], None]  # draws what opens under it


def row(machine: Machine, model: Model, work: Workload, taken: str) -> None:
    """Chips of an answer.

    Args:
        machine: machine as it was understood.
        model: model in its format.
        work: the request.
        taken: model that the typed name was taken for; empty where it is the same.
    """
    request = current.present()
    with st.container(horizontal=True, gap="xsmall", key="chips", vertical_alignment="center"):
        show(joined(_sure(machine, request, taken)))
        for chip in _assumed(machine, model, work, request):
            part = st.popover(chip.words, on_change="rerun", key=f"chip_{chip.name}")
            if part.open:
                with part:
                    chip.body()


def _sure(machine: Machine, request: Request, taken: str) -> Iterable[Markup]:
    if request.machine == current.EXAMPLE and not current.lately():
        yield _chip("Example", "oa-example")
    if request.here and audience.is_public():
        yield _chip("The server's parts, not your computer's", "oa-example")
    for words in _cards(machine.gpus):
        yield _chip(words)
    if not machine.gpus:
        yield _chip("No graphics card")
    size = machine.host.memory
    if size.kind is not Provenance.ASSUMED:
        what = "shared memory" if machine.unified else "RAM"
        yield _chip(f"{float(size.value) / GIB:.4g} GB {what}")
    for figure, what in _measured(machine):
        yield _chip(f"{what} {rate(float(figure.value))}, {figure.kind.value}")
    if taken:
        yield _chip(f"taken as {taken}")


def _chip(words: str, style: str = "") -> Markup:
    tick = "" if style else Markup("<b aria-hidden='true'>\u2713</b> ")
    return Markup("<span class='oa-chip {}'>{}{}</span>").format(style, tick, words)


def _cards(gpus: Iterable[Gpu]) -> Iterable[str]:
    counted: dict[str, list[Gpu]] = {}
    for gpu in gpus:
        counted.setdefault(gpu.name, []).append(gpu)
    for name, same in counted.items():
        size = f"{round(float(same[0].memory.value) / GIB)} GB"
        told = "" if same[0].unified or size.replace(" ", "") in name else f" {size}"
        yield f"{len(same)}x {name}{told}" if len(same) > 1 else f"{name}{told}"


def _measured(machine: Machine) -> Iterable[tuple[Quantity, str]]:
    """Speeds that are no assumption."""
    figures = [(machine.host.bandwidth, "RAM")]
    if machine.disk is not None:
        figures.append((machine.disk.sequential, "drive"))
    kinds = (Provenance.MEASURED, Provenance.GIVEN)
    return ((figure, what) for figure, what in figures if figure.kind in kinds)


def _assumed(
    machine: Machine, model: Model, work: Workload, request: Request
) -> Iterable[AssumedChip]:
    if machine.host.memory.kind is Provenance.ASSUMED:
        words = f"assumed: {memory(float(machine.host.memory.value))} RAM"
        yield AssumedChip(name="ram", words=words, body=lambda: inputs.ask("ram_gb"))
    speed = machine.host.bandwidth
    if speed.kind is Provenance.ASSUMED:
        kind = memory_generation(machine.host.name) or "RAM"
        kind = "memory" if machine.unified else str(kind)
        words = f"assumed: {kind}, {rate(float(speed.value))}"
        yield AssumedChip(name="ram_speed", words=words, body=lambda: _memory_speed(machine))
    if machine.disk is not None and machine.disk.sequential.kind not in (
        Provenance.MEASURED, Provenance.GIVEN,
    ):  # fmt: skip
        words = f"assumed: NVMe drive, {rate(float(machine.disk.sequential.value))}"
        yield AssumedChip(name="drive", words=words, body=_drive)
    if machine.gpus and not machine.unified and request.pcie_gen is None:
        words = f"assumed: {machine.gpus[0].link.name}"
        yield AssumedChip(name="link", words=words, body=_link)
    form = "" if request.format else "assumed: "
    words = f"{form}{model.format}, context {context_size(float(work.context))}"
    yield AssumedChip(name="format", words=words, body=_format)


def _memory_speed(machine: Machine) -> None:
    """Ways to state the speed of RAM: its kind, its figure, or a measurement."""
    if machine.host.name in MEMORIES.values():
        at = list(MEMORIES.values()).index(machine.host.name)
        st.session_state["memory_kind"] = list(MEMORIES)[at]
        st.segmented_control(
            "Kind of RAM", list(MEMORIES), key="memory_kind", on_change=_take_memory,
            required=True,
        )  # fmt: skip
    inputs.ask("ram_gbs")
    if current.present().machine == THIS:
        this_machine.measure("chip")
    this_machine.page_link()


def _take_memory() -> None:
    kind = st.session_state["memory_kind"]
    current.change(f"RAM: {kind}", cpu=MEMORIES[kind])


def _drive() -> None:
    inputs.ask("disk")
    inputs.ask("disk_gbs")


def _link() -> None:
    inputs.several(("pcie_gen", "pcie_lanes"))
    inputs.ask("pcie_gbs")


def _format() -> None:
    inputs.ask("format")
    inputs.ask("context")
    inputs.ask("kv_type")
