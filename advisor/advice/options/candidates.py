"""Cards and machines that a person could have instead, and what they reach."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from advisor.advice.fleet import Fleet, speeds
from advisor.advice.options.prices import sold
from advisor.advice.options.question import Question
from advisor.advice.ownership import Form
from advisor.advice.prices.machine_prices import rent_rows
from advisor.advice.speeds import Speed, fastest_of
from advisor.cost_model.placement import PlacementStrategy
from advisor.machine import from_catalog
from advisor.machine.catalog import find_gpu, gpu_rows
from advisor.machine.machine import Gpu, Machine
from advisor.runtimes import Runtime

COUNTS = (1, 2, 3, 4, 6, 8)
"""Cards that a machine has in all."""
WITHOUT_FANS = re.compile(
    r"(P4|P40|P100|V100S?|T4|A2|A10G?|A30|A40|A[18]00|L4|L20|L40S?|[HB]\d+|Instinct)\b"
)
"""Names of cards that are cooled by the fans of a server."""
FEW = 4
"""Cards that a person can buy the parts for; more stand in machines for rent."""
SMALLEST_FORMAT = 0.5
"""Least share of the size asked for that a runtime's own format of the model has."""


def kinds(question: Question) -> list[Gpu]:
    """Cards that somebody sells for such a machine, and those that the person gave a price for.

    Cards without fans of their own are for servers; a desktop is offered them only at a typed
    price.
    """
    return _for_sale(question, server=question.ownership.form is Form.SERVER)


def desktop_kinds(question: Question) -> list[Gpu]:
    """Cards that somebody sells for a desktop, whatever there is now."""
    return _for_sale(question, server=False)


def _for_sale(question: Question, *, server: bool) -> list[Gpu]:
    typed = [name for name, _ in question.money.own_price if name in gpu_rows()]
    names = [name for name in sold() if server or not WITHOUT_FANS.match(name)]
    cards = (from_catalog.gpu(name) for name in dict.fromkeys([*names, *typed]))
    return [card for card in cards if not card.unified and "SXM" not in card.name]


def for_rent(question: Question) -> list[Gpu]:
    """GPUs that somebody lets, or that the person gave a rent for."""
    own = (name for name, _ in question.money.own_rent)
    names = dict.fromkeys([*(row.gpu for row in rent_rows()), *own])
    return [from_catalog.gpu(name) for name in names if not find_gpu(name).unified]


IN_MEMORY = (PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD)
"""Placements that read nothing from the drive."""


def fastest(
    question: Question,
    machines: Sequence[Machine],
    strategies: Sequence[PlacementStrategy] = tuple(PlacementStrategy),
) -> list[Speed | None]:
    """The speed of each machine in its own best runtime and placement.

    Args:
        question: which model and runtimes.
        machines: where.
        strategies: placements that are tried, the fastest first.
    """
    fleet = Fleet(machines)
    each = [_fastest_in(question, runtime, fleet, strategies) for runtime in question.runtimes]
    return [fastest_of(speeds) for speeds in zip(*each, strict=True)]


def _fastest_in(
    question: Question,
    runtime: Runtime,
    fleet: Fleet,
    strategies: Sequence[PlacementStrategy],
) -> list[Speed | None]:
    """The speed of the first placement that fits each machine: the next are slower."""
    first: list[Speed | None] = [None] * len(fleet.machines)
    for strategy in strategies:
        held = np.array([speed is not None for speed in first])
        if held.all() or strategy not in runtime.strategies:
            continue
        timed = fleet.speeds(question.model, question.work, runtime, strategy, skip=held)
        for index in np.flatnonzero(~held):
            first[index] = timed.at(int(index))
    return first


def alone(
    question: Question, machine: Machine, cards: Sequence[Gpu]
) -> list[tuple[Gpu, int, Speed]]:
    """One of each card, holding a part of the model."""
    single = [replace(machine, gpus=(card,)) for card in cards]
    strategy = PlacementStrategy.CPU_OFFLOAD
    found = speeds(question.model, single, question.work, question.runtimes, strategy)
    return [(card, 1, speed) for card, speed in zip(cards, found, strict=True) if speed is not None]


def holders(
    question: Question, machine: Machine, cards: Sequence[Gpu]
) -> list[tuple[Gpu, int, Speed]]:
    """Of each card as few as hold the whole model, else one that holds a part of it."""
    least = SMALLEST_FORMAT * (question.model.file_bytes - question.model.embedding)
    waiting, found = list(cards), []
    several = {card.name for card in for_rent(question)}
    for count in COUNTS:
        tried = [
            card
            for card in waiting
            if count * float(card.memory.value) >= least and (count <= FEW or card.name in several)
        ]
        if not tried:
            continue
        machines = [replace(machine, gpus=(card,) * count) for card in tried]
        got = speeds(
            question.model,
            machines,
            question.work,
            question.runtimes,
            PlacementStrategy.GPU_RESIDENT,
        )
        held = {card.name for card, speed in zip(tried, got, strict=True) if speed}
        found += [(c, count, s) for c, s in zip(tried, got, strict=True) if s is not None]
        waiting = [card for card in waiting if card.name not in held]
    return [*found, *alone(question, machine, waiting)]
