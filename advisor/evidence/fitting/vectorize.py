"""Stacking of cases: schedules and machines of the same shape as one, with arrays as numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from advisor.cost_model.kernels import peak_flops
from advisor.cost_model.schedule import Flow, Phases, Schedule
from advisor.cost_model.timing import peer_path
from advisor.machine.machine import Disk, Gpu, Host, Link, Machine
from advisor.machine.quantity import Quantity, given

Steps = tuple[tuple[tuple[object, ...], ...], ...]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Key of cases that can be stacked: stages of their schedules, and links between their GPUs."""

    prefill: Steps
    decode: Steps
    path: str


def shape(phases: Phases, machine: Machine) -> Shape:
    """Shape of a case."""
    return Shape(prefill=steps(phases.prefill), decode=steps(phases.decode), path=path(machine))


def path(machine: Machine) -> str:
    """Path between a machine's GPUs, by which constants differ; empty without a GPU."""
    return peer_path(machine.gpus[0]) if machine.gpus else ""


def steps(schedule: Schedule) -> Steps:
    """Stages of a schedule without their numbers."""
    stages = (tuple(_kind(flow) for flow in stage.flows) for stage in schedule.stages)
    between = ((exchange.way, exchange.reduces) for exchange in schedule.exchanges)
    return (*stages, tuple(between))


def _kind(flow: Flow) -> tuple[object, ...]:
    kinds = flow.load is None, type(flow.kernels)
    return (flow.route, flow.device, flow.transfer, flow.alike, *kinds)


def number_type(phases: Phases) -> str:
    """Number format that a case's GPUs multiply in; 16 bits where they do not compute."""
    kernels = (flow.kernels for stage in phases.decode.stages for flow in stage.flows)
    return next((kernel.number for kernel in kernels if kernel is not None), "fp16")


def stacked_phases(cases: Sequence[Phases]) -> Phases:
    """Phases of cases of the same shape as one."""
    return Phases(
        of_prompt=lambda: stacked([case.prefill for case in cases]),
        of_token=lambda: stacked([case.decode for case in cases]),
    )


def stacked(cases: Sequence[Any]) -> Any:
    """Schedules of the same shape as one, with arrays of shape (cases,) as numbers.

    Texts are those of the first; `machines` resolves the number format of the GPUs.
    """
    first = cases[0]
    if is_dataclass(first):
        kind: Any = type(first)
        return kind(
            **{field.name: stacked([getattr(case, field.name) for case in cases])
               for field in fields(first)}
        )  # fmt: skip
    if isinstance(first, tuple):
        return tuple(stacked(parts) for parts in zip(*cases, strict=True))
    if isinstance(first, int) and all(case == first for case in cases):
        return first
    if isinstance(first, (int, float, np.ndarray)):
        plain = (int, float)
        return np.array(
            [float(case if isinstance(case, plain) else np.ravel(case)[0]) for case in cases]
        )
    return first


def machines(cases: Sequence[Machine], numbers: Sequence[str]) -> Machine:
    """Machines of cases of the same shape as one, with the parts that times depend on.

    Args:
        cases: machines of the same shape, each with equal GPUs.
        numbers: number format that each case's GPUs multiply in; the first one names all.
    """
    cards = [case.gpus[0] for case in cases if case.gpus]
    gpu = _card(cards, numbers) if cards else None
    host = Host(
        name="", cores=np.array([case.host.cores for case in cases]),  # type: ignore[arg-type]  # arrays stand for numbers
        memory=given(1.0),
        bandwidth=values_of([case.host.bandwidth for case in cases]),
    )  # fmt: skip
    drives = [case.disk.sequential for case in cases if case.disk]
    disk = Disk(name="", sequential=values_of(drives)) if len(drives) == len(cases) else None
    most = max(len(case.gpus) for case in cases)
    return Machine(name="", gpus=(gpu,) * most if gpu else (), host=host, disk=disk)


def _card(cards: Sequence[Gpu], numbers: Sequence[str]) -> Gpu:
    peaks = [float(peak_flops(card, kind)) for card, kind in zip(cards, numbers, strict=True)]
    ordinary = [float(peak_flops(card, "fp32")) for card in cards]
    peers = [card.peer for card in cards if card.peer]
    return Gpu(
        name="",
        vendor="",
        family=cards[0].family,
        memory=given(1.0),
        bandwidth=values_of([card.bandwidth for card in cards]),
        tensor_flops={"fp32": np.array(ordinary), numbers[0]: np.array(peaks)},  # type: ignore[dict-item]  # arrays stand for numbers
        link=Link(
            name="",
            pinned=values_of([card.link.pinned for card in cards]),
            pageable=values_of([card.link.pageable for card in cards]),
            zero_copy=values_of([card.link.zero_copy for card in cards]),
        ),
        peer=values_of(peers) if len(peers) == len(cards) else None,
        peer_access=cards[0].peer_access,
    )


def values_of(figures: Sequence[Quantity]) -> Quantity:
    """Values of several quantities as one array of shape (cases,)."""
    return given(np.array([float(np.ravel(figure.value)[0]) for figure in figures]))
