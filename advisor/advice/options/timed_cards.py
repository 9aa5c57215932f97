"""Speeds of one host with every kind and number of cards that it could have.

The machines are stacked once for all models, and timed once for all prices and uses.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np

from advisor.advice.fleet.fleet import Fleet
from advisor.advice.fleet.stacks import Mask
from advisor.advice.fleet.timed_fleet import FastestSpeeds, TimedFleet
from advisor.advice.speeds import Speed
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine import from_catalog
from advisor.machine.machine import Gpu, Machine
from advisor.model.model import Model
from advisor.request.ownership import DOCK_LINK, Form, discrete, in_dock, room_for
from advisor.runtimes import Runtime

COUNTS = (1, 2, 3, 4, 6, 8)
"""Cards that a machine has in all."""
FEW = 4
"""Most cards in a machine built from parts; more are found in rented machines only."""
SMALLEST_FORMAT = 0.5
"""Smallest file of a runtime's own format, as a share of the requested format's file."""
KEPT = 16
"""Hosts, and requests, whose machines and speeds are remembered."""


class CardMachines:
    """Machines made of one host: with each number of each card, and with cards beside its own.

    Args:
        host: machine whose cards are replaced or added to.
        cards: kinds of cards.
        several: names of the cards that rented machines have more than `FEW` of.
        beside: cards added to those of the host, one tuple for each machine.
    """

    def __init__(
        self,
        host: Machine,
        cards: Sequence[Gpu],
        several: frozenset[str],
        beside: Iterable[tuple[Gpu, ...]] = (),
    ) -> None:
        alike = [
            (kind, count)
            for count in COUNTS
            for kind, card in enumerate(cards)
            if count <= FEW or card.name in several
        ]
        places = {_same((cards[kind],) * count): at for at, (kind, count) in enumerate(alike)}
        gpus = [(cards[kind],) * count for kind, count in alike]
        self.cards = tuple(cards)
        self.beside: list[int] = []
        for further in beside:
            together = (*discrete(host), *further)
            at = places.setdefault(_same(together), len(gpus))
            if at == len(gpus):
                gpus.append(together)
            self.beside.append(at)
        machines = [replace(host, gpus=each) for each in gpus]
        self.fleet = Fleet(machines)
        self._kind = np.full(len(gpus), -1)
        self._kind[: len(alike)] = [kind for kind, _ in alike]
        self._count = np.array([len(each) for each in gpus], dtype=int)
        self._room = np.array([float(machine.gpu_memory) for machine in machines])

    def roomy(self, room: float) -> Mask:
        """Machines whose cards have at least that much memory together [B], shape (machines,)."""
        return np.asarray(self._room >= room)

    def alike(self, count: int, kinds: Mask) -> Mask:
        """Machines with a number of one kind of card, shape (machines,).

        Args:
            count: cards in all.
            kinds: wanted kinds, shape (cards,).
        """
        of_these = np.append(kinds, False)[self._kind]
        return np.asarray(of_these & (self._count == count))

    def with_more(self, count: int | None = None) -> Mask:
        """Machines with cards added to their own, `count` in all if given, shape (machines,)."""
        further = np.zeros(len(self._count), dtype=bool)
        further[self.beside] = True
        return further if count is None else further & (self._count == count)

    def kind(self, machine: int) -> int:
        """Index in `cards` of a machine's card."""
        return int(self._kind[machine])


def _same(gpus: tuple[Gpu, ...]) -> tuple[int, ...]:
    """Key of a set of cards; equal for the same cards of the catalogue."""
    return tuple(map(id, gpus))


CardSpeed = tuple[Gpu, int, Speed]
"""Card, number of cards, and their speed."""


class TimedCards:
    """Speeds of a model on a host with various cards.

    Args:
        machines: host with each kind and number of cards.
        model: model in the requested format.
        work: request.
        runtimes: runtimes to choose from; each machine takes its fastest.
    """

    def __init__(
        self, machines: CardMachines, model: Model, work: Workload, runtimes: Sequence[Runtime]
    ) -> None:
        self.machines = machines
        self._timed = TimedFleet(machines.fleet, model, work, runtimes)
        self._least = SMALLEST_FORMAT * model.bytes_without_table

    @cached_property
    def holders(self) -> tuple[CardSpeed, ...]:
        """Fewest cards of each kind that hold the whole model, else one card that holds a part."""
        waiting = np.ones(len(self.machines.cards), dtype=bool)
        rows: list[CardSpeed] = []
        several = np.zeros_like(waiting)
        whole = self._whole
        for count in COUNTS:
            holding = self.machines.alike(count, waiting) & whole.known
            for card, kind, speed in self._kinds(holding, whole):
                rows.append((card, count, speed))
                waiting[kind] = False
                several[kind] = count > 1
        self._timed.best(PlacementStrategy.CPU_OFFLOAD, self.machines.alike(1, waiting | several))
        return (*rows, *self._alone(waiting))

    @cached_property
    def _whole(self) -> FastestSpeeds:
        """Speeds of all machines that may hold the whole model: one estimate is for any number."""
        roomy = self.machines.roomy(self._least)
        return self._timed.best(PlacementStrategy.GPU_RESIDENT, roomy)

    def _kinds(self, wanted: Mask, speeds: FastestSpeeds) -> Iterator[tuple[Gpu, int, Speed]]:
        """Card, its index in `cards`, and speed of each wanted machine that holds the model."""
        for machine in map(int, np.flatnonzero(wanted)):
            speed = speeds.at(machine)
            if speed is not None:
                kind = self.machines.kind(machine)
                yield self.machines.cards[kind], kind, speed

    def holding(self, name: str, count: int) -> Speed | None:
        """Speed of a number of one kind of card that hold the whole model; None where they do not,
        or are not among the machines.
        """
        kind = np.array([card.name == name for card in self.machines.cards])
        wanted = self.machines.alike(count, kind)
        return next((speed for _, _, speed in self._kinds(wanted, self._whole)), None)

    def alone(self, names: Iterable[str]) -> list[CardSpeed]:
        """One of each named card, holding a part of the model."""
        known = set(names)
        return self._alone(np.array([card.name in known for card in self.machines.cards]))

    def _alone(self, kinds: Mask) -> list[CardSpeed]:
        wanted = self.machines.alike(1, kinds)
        speeds = self._timed.best(PlacementStrategy.CPU_OFFLOAD, wanted)
        return [(card, 1, speed) for card, _, speed in self._kinds(wanted, speeds)]

    @cached_property
    def added(self) -> tuple[tuple[Machine, Speed | None], ...]:
        """The host with cards added to its own, each in its fastest runtime and placement."""
        machines = self.machines.fleet.machines
        speeds = self._timed.fastest(self.machines.with_more())
        return tuple((machines[at], speeds.at(at)) for at in self.machines.beside)


@lru_cache(maxsize=KEPT)
def card_machines(
    host: Machine, sold: tuple[str, ...], let: tuple[str, ...], added_to: Form | None = None
) -> CardMachines:
    """Machines of a host with the cards that are for sale or for rent.

    Args:
        host: machine whose cards are replaced or added to.
        sold: names of the cards for sale.
        let: names of the cards for rent.
        added_to: form of the host if cards are added to its own; None if none are.
    """
    cards = [from_catalog.gpu(name) for name in dict.fromkeys((*sold, *let))]
    kinds = [from_catalog.gpu(name) for name in sold]
    beside = () if added_to is None else additions(discrete(host), added_to, kinds)
    return CardMachines(host, cards, frozenset(let), beside)


def additions(own: tuple[Gpu, ...], form: Form, kinds: Iterable[Gpu]) -> Iterator[tuple[Gpu, ...]]:
    """Cards that can be added: more of the present kind, or one of another.

    Args:
        own: present cards.
        form: form of the machine; a card in a dock is linked by cable.
        kinds: cards for sale.
    """
    dock = in_dock(form)
    alike = own[0] if len({gpu.name for gpu in own}) == 1 else None
    for count in COUNTS if alike and not dock else ():
        if alike and count > len(own) and room_for(form, count):
            yield (alike,) * (count - len(own))
    if not room_for(form, 1 if dock else len(own) + 1):
        return
    for card in kinds:
        same_driver = not own or card.vendor == own[0].vendor
        if same_driver and (dock or alike is None or card.name != alike.name):
            yield (replace(card, link=from_catalog.pcie(*DOCK_LINK)) if dock else card,)


@lru_cache(maxsize=KEPT)
def timed_cards(
    machines: CardMachines, model: Model, work: Workload, runtimes: tuple[Runtime, ...]
) -> TimedCards:
    """Speeds of a model on these machines, remembered by request."""
    return TimedCards(machines, model, work, runtimes)
