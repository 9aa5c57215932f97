"""Cards beside what is owned, or in its place."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from advisor.advice.fleet import Fleet, speeds
from advisor.advice.options.option import Option, OptionKind
from advisor.advice.options.prices import bought, sold
from advisor.advice.options.question import Question
from advisor.advice.ownership import DOCK_LINK, Form, discrete, in_dock, room_for
from advisor.advice.prices.host_parts import parts_for
from advisor.advice.prices.machine_prices import rent_rows
from advisor.advice.prices.power import draw_of
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
WORTHWHILE = 1.1
"""A card must make it this many times faster to be shown."""


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


def added(question: Question, kept: Option) -> list[Option]:
    """More of the card there is, up to the number that holds the model, or one of another kind.

    One more of the card there is stands there even where it gains nothing: people ask for it.
    """
    if not question.ownership.owned:
        return []
    own = discrete(question.machine)
    machines = [_with(question, (*own, *cards)) for cards in _additions(question, own)]
    speed_of_each = fastest(question, machines)
    options = [
        (machine, _added(question, kept, machine, speed))
        for machine, speed in zip(machines, speed_of_each, strict=True)
        if speed is not None and (_one_more(own, machine) or _faster(speed, kept))
    ]
    return [
        option
        for machine, option in options
        if _one_more(own, machine) or not _needless(machine, options)
    ]


def _one_more(own: tuple[Gpu, ...], machine: Machine) -> bool:
    """The next number of the cards there are."""
    if not own or not _alike(machine, own[0].name):
        return False
    return len(machine.gpus) == min((count for count in COUNTS if count > len(own)), default=0)


def _needless(machine: Machine, options: Iterable[tuple[Machine, Option]]) -> bool:
    """Fewer of the same cards are as fast."""
    names = [gpu.name for gpu in machine.gpus]
    if len(set(names)) > 1:
        return False
    speed = {len(m.gpus): o.speed.decode for m, o in options if o.speed and _alike(m, names[0])}
    own = speed.get(len(names), 0.0)
    return any(WORTHWHILE * decode >= own for count, decode in speed.items() if count < len(names))


def _alike(machine: Machine, name: str) -> bool:
    return all(gpu.name == name for gpu in machine.gpus)


def _additions(question: Question, own: tuple[Gpu, ...]) -> Iterable[tuple[Gpu, ...]]:
    form, dock = question.ownership.form, _dock(question)
    alike = own[0] if len({gpu.name for gpu in own}) == 1 else None
    for count in COUNTS if alike and not dock else ():
        if alike and count > len(own) and room_for(form, count):
            yield (alike,) * (count - len(own))
    if not room_for(form, 1 if dock else len(own) + 1):
        return
    for card in kinds(question):
        same_driver = not own or card.vendor == own[0].vendor
        if same_driver and (dock or alike is None or card.name != alike.name):
            yield (_placed(question, card),)


def _dock(question: Question) -> bool:
    return in_dock(question.ownership.form)


def _placed(question: Question, card: Gpu) -> Gpu:
    """A card in a slot, or on the cable of a dock."""
    return replace(card, link=from_catalog.pcie(*DOCK_LINK)) if _dock(question) else card


def _with(question: Question, gpus: tuple[Gpu, ...]) -> Machine:
    return replace(question.machine, gpus=gpus)


def _added(question: Question, kept: Option, machine: Machine, speed: Speed) -> Option:
    own = discrete(question.machine)
    new = machine.gpus[len(own) :]
    name = f"{_counted(len(new))}{new[0].name}"
    alike = len(machine.gpus) > 1 and _alike(machine, new[0].name)
    if alike:
        name += f", {len(machine.gpus)} in all"
    parts = parts_for(question.ownership.form, own, machine.gpus)
    price = bought(new[0].name, len(new), question.money, parts)
    cost = question.use.owned(
        draw_of(machine), speed, usd=price.usd or 0.0, tied_up=question.ownership.resale
    )
    where = " in a dock" if _dock(question) else ""
    return question.option(
        OptionKind.ADD, f"{name}{where}", speed, cost, price, kept=kept, alike=alike
    )


def replaced(
    question: Question, kept: Option, held: Iterable[tuple[Gpu, int, Speed]]
) -> list[Option]:
    """Other cards in place of those there are: of each kind as few as hold the model.

    Where there are none, several are added; one of each kind comes from `added`.

    Args:
        question: whose cards.
        kept: what to compare with.
        held: of each kind as few as hold the model, from `holders`.
    """
    own = question.ownership
    if not own.owned or question.machine.unified or _dock(question) or not room_for(own.form, 1):
        return []
    has = {gpu.name for gpu in question.machine.gpus}
    for_sale = {card.name for card in kinds(question)} - has
    rows = [row for row in held if row[0].name in for_sale]
    if has:
        rows += _singles(question, rows)
    return [
        _replaced(question, kept, (card,) * count, speed)
        for card, count, speed in rows
        if room_for(own.form, count) and _faster(speed, kept) and (has or count > 1)
    ]


def _singles(
    question: Question, held: Iterable[tuple[Gpu, int, Speed]]
) -> list[tuple[Gpu, int, Speed]]:
    """One alone of each card that several are needed of, holding a part of the model."""
    cards = [card for card, count, _ in held if count > 1]
    return _alone(question, question.machine, cards)


def _alone(
    question: Question, machine: Machine, cards: Sequence[Gpu]
) -> list[tuple[Gpu, int, Speed]]:
    single = [replace(machine, gpus=(card,)) for card in cards]
    strategy = PlacementStrategy.CPU_OFFLOAD
    speed_of_each = speeds(question.model, single, question.work, question.runtimes, strategy)
    return [
        (card, 1, speed)
        for card, speed in zip(cards, speed_of_each, strict=True)
        if speed is not None
    ]


def holders(
    question: Question, machine: Machine, cards: Sequence[Gpu]
) -> list[tuple[Gpu, int, Speed]]:
    """Of each card as few as hold the whole model, else one that holds a part of it."""
    least = SMALLEST_FORMAT * (question.model.file_bytes - question.model.embedding)
    waiting, holding = list(cards), []
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
        holding += [(c, count, s) for c, s in zip(tried, got, strict=True) if s is not None]
        waiting = [card for card in waiting if card.name not in held]
    return [*holding, *_alone(question, machine, waiting)]


def _replaced(question: Question, kept: Option, cards: tuple[Gpu, ...], speed: Speed) -> Option:
    machine = _with(question, cards)
    parts = parts_for(question.ownership.form, question.machine.gpus, cards)
    price = bought(cards[0].name, len(cards), question.money, parts)
    cost = question.use.owned(draw_of(machine), speed, usd=price.usd or 0.0)
    name = f"{_counted(len(cards))}{cards[0].name}"
    if not question.machine.gpus:
        return question.option(OptionKind.ADD, name, speed, cost, price, kept=kept)
    return question.option(
        OptionKind.REPLACE, name, speed, cost, price, sold=question.ownership.resale, kept=kept
    )


def _counted(count: int) -> str:
    return f"{count}x " if count > 1 else ""


def _faster(speed: Speed, kept: Option) -> bool:
    return kept.speed is None or speed.decode >= WORTHWHILE * kept.speed.decode
