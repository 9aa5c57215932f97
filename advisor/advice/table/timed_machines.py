"""Machines that could replace or extend the present one, in their fastest runtime.

Machines of one host with every kind and number of cards are stacked once for all models, and timed
once for all prices and uses; so are machines that are sold whole.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache

import numpy as np

from advisor.advice.compare import as_chosen
from advisor.advice.prices.price import sold
from advisor.advice.prices.rows import MachineForSale, machines_for_sale, rent_rows
from advisor.advice.speeds import Mask, Speed, Speeds, nothing
from advisor.advice.table.question import Question
from advisor.advice.table.rules import counts_in
from advisor.advice.table.stack import Fleet
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine import from_catalog, from_spec
from advisor.machine.catalog import find_gpu, gpu_rows
from advisor.machine.identify import machine_by_name
from advisor.machine.machine import Gpu, Machine, fastest_first
from advisor.machine.spec import MachineSpec
from advisor.model.model import Floats, Model
from advisor.request.money import DOCK_LINK, Form, discrete, in_dock, room_for
from advisor.runtimes import Runtime


class TimedFleet:
    """Speeds of a model on the machines of a fleet, cached by runtime and placement.

    Args:
        fleet: machines.
        model: model in the requested format; each runtime loads the nearest one that it can.
        work: request.
        runtimes: runtimes to choose from.
    """

    def __init__(
        self, fleet: Fleet, model: Model, work: Workload, runtimes: Sequence[Runtime]
    ) -> None:
        self.fleet, self.runtimes = fleet, tuple(runtimes)
        self._model, self._work = model, work
        self._timed: dict[tuple[str, PlacementStrategy], tuple[Speeds, Floats]] = {}
        self._counted: dict[str, Mask] = {}

    @property
    def all(self) -> Mask:
        """Every machine, shape (machines,)."""
        return np.ones(len(self.fleet.machines), dtype=bool)

    def best(self, strategy: PlacementStrategy, wanted: Mask) -> Speeds:
        """Speed of each machine in its fastest runtime, for one placement; none where no runtime
        can hold the model, and for machines that are not wanted.
        """
        return self.fastest(wanted, (strategy,))

    def fastest(
        self, wanted: Mask, strategies: Sequence[PlacementStrategy] = tuple(PlacementStrategy)
    ) -> Speeds:
        """Speed of each machine in its fastest runtime and placement; none where not wanted.

        A runtime is left out where a bound on its speed is below that of one before it.

        Args:
            wanted: machines to time, shape (machines,).
            strategies: placements to try, fastest first.
        """
        fastest = nothing("", None, len(wanted))
        least = np.zeros(len(wanted))
        for runtime in self.runtimes:
            reached = least.copy()
            for speeds, machines in self._placed(runtime, wanted, strategies, least):
                faster = machines & (speeds.decode > least)
                reached[faster] = speeds.decode[faster]
                if faster.any():
                    fastest.take_over(speeds, faster)
            least = reached
        return fastest

    def _placed(
        self,
        runtime: Runtime,
        wanted: Mask,
        strategies: Sequence[PlacementStrategy],
        least: Floats,
    ) -> Iterator[tuple[Speeds, Mask]]:
        """Speeds by placement, with the machines of which it is the first that fits; later ones are
        slower.

        Args:
            runtime: runtime.
            wanted: machines to time, shape (machines,).
            strategies: placements to try, fastest first.
            least: speed below which a machine may be left out, shape (machines,) [tokens/s].
        """
        left = wanted if len(self.runtimes) == 1 else wanted & self._counting(runtime)
        for strategy in strategies:
            if strategy in runtime.strategies and left.any():
                speeds = self._in(runtime, strategy, left, least)
                yield speeds, left & speeds.fits
                left = left & ~speeds.fits

    def _counting(self, runtime: Runtime) -> Mask:
        """Machines on which a runtime's speed counts, shape (machines,)."""
        if runtime.engine not in self._counted:
            counted = [counts_in(machine, runtime.engine) for machine in self.fleet.machines]
            self._counted[runtime.engine] = np.array(counted, dtype=bool)
        return self._counted[runtime.engine]

    def _in(
        self, runtime: Runtime, strategy: PlacementStrategy, wanted: Mask, least: Floats
    ) -> Speeds:
        """Speeds in one runtime and placement, computed at least for the wanted machines.

        A machine that a bound left out is computed when a lower speed is wanted.
        """
        key = (runtime.name, strategy)
        if key not in self._timed:
            untimed = nothing(runtime.name, strategy, len(wanted))
            self._timed[key] = untimed, np.full(len(wanted), np.inf)
        speeds, known = self._timed[key]
        new = wanted & (least < known)
        if new.any():
            timed = self.fleet.speeds(
                self._model, self._work, runtime, strategy, skip=~new, least=least
            )
            speeds.take_over(timed, new)
            known[new] = least[new]
            larger = new & (timed.formats == self._model.native) & ~timed.fits
            if strategy is not PlacementStrategy.NVME_OFFLOAD and larger.any():
                self._smaller(speeds, runtime, strategy, larger)
        return speeds

    def _smaller(
        self, speeds: Speeds, runtime: Runtime, strategy: PlacementStrategy, wanted: Mask
    ) -> None:
        """Fill in machines that hold the model in its chosen format, not as its maker has it.

        Args:
            speeds: speeds of all machines.
            runtime: runtime.
            strategy: placement.
            wanted: machines that the maker's own weights do not fit, shape (machines,).
        """
        chosen = as_chosen(self._model)
        if chosen is not None:
            timed = self.fleet.speeds(chosen, self._work, runtime, strategy, skip=~wanted)
            speeds.take_over(timed, wanted)


@cache
def whole_machines() -> tuple[tuple[str, Machine], ...]:
    """Machines sold whole, with the memory that their price is for."""
    return tuple((name, _as_sold(sale)) for name, sale in machines_for_sale().items())


def _as_sold(sale: MachineForSale) -> Machine:
    size = sale.price.memory_gib
    if sale.preset is not None:
        machine = machine_by_name(sale.preset.name, MachineSpec(ram_gb=size))
    else:
        machine = from_spec.machine(MachineSpec(gpu=sale.price.gpu, ram_gb=size))
    return machine


IN_MEMORY = (PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD)
"""Placements that read nothing from the drive."""
COUNTS = (1, 2, 3, 4, 6, 8)
"""Cards that a machine has in all."""
FEW = 4
"""Most cards in a machine built from parts; more are found in rented machines only."""
SMALLEST_FORMAT = 0.5
"""Smallest file of a runtime's own format, as a share of the requested format's file."""
REMEMBERED = 16
"""Hosts, and requests, whose machines and speeds are remembered."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CardMachines:
    """Machines made of one host: with each number of each card, and with cards beside its own."""

    fleet: Fleet  # the machines
    # index of the machine with a number of one kind of card, by name and number
    alike: Mapping[tuple[str, int], int]
    beside: tuple[int, ...]  # index of each machine with cards added to those of the host

    def mask(self, places: Iterable[int]) -> Mask:
        """True for some machines, shape (machines,)."""
        wanted = np.zeros(len(self.fleet.machines), dtype=bool)
        wanted[list(places)] = True
        return wanted

    @cached_property
    def room(self) -> Floats:
        """Memory of each machine's cards together, shape (machines,) [B]."""
        return np.array([float(machine.gpu_memory) for machine in self.fleet.machines])


@lru_cache(maxsize=REMEMBERED)
def card_machines(
    host: Machine, sold: tuple[str, ...], let: tuple[str, ...], added_to: Form | None = None
) -> CardMachines:
    """Machines of a host with the cards that are for sale or for rent.

    Args:
        host: machine whose cards are replaced or added to.
        sold: names of the cards for sale.
        let: names of the cards for rent; only these are tried in more than `FEW`.
        added_to: form of the host if cards are added to its own; None if none are.
    """
    cards = [from_catalog.gpu(name) for name in dict.fromkeys((*sold, *let))]
    rented = frozenset(let)
    gpus = [
        (card,) * count for count in COUNTS for card in cards if count <= FEW or card.name in rented
    ]
    alike = {(each[0].name, len(each)): at for at, each in enumerate(gpus)}
    known = {_same(each): at for at, each in enumerate(gpus)}
    beside: list[int] = []
    kinds = [from_catalog.gpu(name) for name in sold]
    for further in () if added_to is None else additions(discrete(host), added_to, kinds):
        together = fastest_first((*discrete(host), *further))
        beside.append(known.setdefault(_same(together), len(gpus)))
        if beside[-1] == len(gpus):
            gpus.append(together)
    alone = replace(host, nodes=1, network=None)  # for fewer cards than there are machines
    fleet = Fleet([replace(host if len(each) >= host.nodes else alone, gpus=each) for each in gpus])
    return CardMachines(fleet=fleet, alike=alike, beside=tuple(beside))


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
        fewest: dict[str, int] = {}
        for (name, _), at in self.machines.alike.items():
            if self._whole.fits[at]:
                fewest.setdefault(name, at)
        each = [name for name, count in self.machines.alike if count == 1]
        parts = [name for name in each if name not in fewest]
        several = [name for name in each if fewest.get(name, -1) != self.machines.alike[name, 1]]
        self._parts(several)  # all at once, as `alone` may want those of which several are taken
        return (*self._rows(fewest.values(), self._whole), *self.alone(parts))

    @cached_property
    def _whole(self) -> Speeds:
        """Speeds of all machines that may hold the whole model: one estimate is for any number."""
        return self._timed.best(PlacementStrategy.GPU_RESIDENT, self.machines.room >= self._least)

    def _parts(self, names: Iterable[str]) -> Speeds:
        """Speeds of one of each named card, holding a part of the model."""
        wanted = self.machines.mask(self.machines.alike[name, 1] for name in names)
        return self._timed.best(PlacementStrategy.CPU_OFFLOAD, wanted)

    def _rows(self, places: Iterable[int], speeds: Speeds) -> Iterator[CardSpeed]:
        """Cards and speed of machines that hold the model, by index."""
        for at in places:
            gpus, speed = self.machines.fleet.machines[at].gpus, speeds.at(at)
            if speed is not None:
                yield gpus[0], len(gpus), speed

    def holding(self, name: str, count: int) -> Speed | None:
        """Speed of a number of one kind of card that hold the whole model; None where they do not,
        or are not among the machines.
        """
        at = self.machines.alike.get((name, count))
        return None if at is None else self._whole.at(at)

    def alone(self, names: Iterable[str]) -> list[CardSpeed]:
        """One of each named card, holding a part of the model."""
        wanted = set(names)
        each = [name for name, count in self.machines.alike if count == 1 and name in wanted]
        return list(self._rows((self.machines.alike[name, 1] for name in each), self._parts(each)))

    @cached_property
    def added(self) -> tuple[tuple[Machine, Speed | None], ...]:
        """The host with cards added to its own, each in its fastest runtime and placement."""
        machines, beside = self.machines.fleet.machines, self.machines.beside
        speeds = self._timed.fastest(self.machines.mask(beside))
        return tuple((machines[at], speeds.at(at)) for at in beside)


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


@lru_cache(maxsize=REMEMBERED)
def timed_cards(
    machines: CardMachines, model: Model, work: Workload, runtimes: tuple[Runtime, ...]
) -> TimedCards:
    """Speeds of a model on these machines, remembered by request."""
    return TimedCards(machines, model, work, runtimes)


WITHOUT_FANS = re.compile(
    r"(P4|P40|P100|V100S?|T4|A2|A10G?|A30|A40|A[18]00|L4|L20|L40S?|[HB]\d+|Instinct)\b"
)
"""Names of cards that are cooled by the fans of a server."""


def kinds(question: Question) -> tuple[str, ...]:
    """Cards sold for such a machine, and those with a typed price.

    Cards without fans of their own are for servers; a desktop is offered them only at a typed
    price.
    """
    return _for_sale(question, server=question.ownership.form is Form.SERVER)


def desktop_kinds(question: Question) -> tuple[str, ...]:
    """Cards sold for a desktop, whatever the present machine is."""
    return _for_sale(question, server=False)


def _for_sale(question: Question, *, server: bool) -> tuple[str, ...]:
    return _sold_or_typed(tuple(name for name, _ in question.money.own_price), server=server)


@lru_cache(maxsize=64)
def _sold_or_typed(priced: tuple[str, ...], *, server: bool) -> tuple[str, ...]:
    typed = [name for name in priced if name in gpu_rows()]
    names = [name for name in sold() if server or not WITHOUT_FANS.match(name)]
    return tuple(
        name
        for name in dict.fromkeys([*names, *typed])
        if not find_gpu(name).unified and "SXM" not in name
    )


def for_rent(question: Question) -> tuple[str, ...]:
    """GPUs for rent, and those with a typed rent."""
    return _let_or_typed(tuple(name for name, _ in question.money.own_rent))


@lru_cache(maxsize=64)
def _let_or_typed(priced: tuple[str, ...]) -> tuple[str, ...]:
    names = dict.fromkeys([*(row.gpu for row in rent_rows()), *priced])
    return tuple(name for name in names if not find_gpu(name).unified)


def cards_here(question: Question) -> TimedCards:
    """Present machine with other cards, and with more."""
    form = question.ownership.form if question.ownership.owned else None
    return _timed(question, question.machine, kinds(question), form)


def cards_held(question: Question) -> TimedCards:
    """Cards in the present machine; in a desktop where it has only the GPU of its chip."""
    if not question.machine.unified:
        return cards_here(question)
    return _timed(question, cardless(), kinds(question))


def cards_in_a_desktop(question: Question) -> TimedCards:
    """Cards in a new desktop."""
    return _timed(question, cardless(), desktop_kinds(question))


def _timed(
    question: Question, host: Machine, names: tuple[str, ...], added_to: Form | None = None
) -> TimedCards:
    machines = card_machines(host, names, for_rent(question), added_to)
    return timed_cards(machines, question.model, question.work, question.runtimes)


@cache
def cardless() -> Machine:
    """Host of the cards where the present machine takes none or has unified memory."""
    return from_spec.machine(MachineSpec())


def machine_speed(question: Question) -> Speed | None:
    """Speed of the present machine in its fastest runtime and placement."""
    fleet = Fleet([question.machine])
    timed = TimedFleet(fleet, question.model, question.work, question.runtimes)
    return timed.fastest(timed.all).at(0)
