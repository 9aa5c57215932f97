"""Machines that could replace or extend the present one, in their fastest runtime.

Machines of one host with every kind and number of cards are stacked once for all models, and timed
once for all prices and uses; so are machines that are sold whole.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

import numpy as np

from advisor.advice.prices.rows import machines_for_sale
from advisor.advice.speeds import Mask, Speed, Speeds, nothing
from advisor.advice.table.many_machines import Index
from advisor.advice.table.stack import MachineKind, Stack
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.lazy import lazy
from advisor.machine import from_catalog, from_spec
from advisor.machine.identify import machine_by_name
from advisor.machine.machine import Form, Gpu, Link, Machine
from advisor.machine.spec import MachineSpec
from advisor.model.model import Floats, Model
from advisor.request.money import DOCK_LINK, in_dock, room_for
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes import runtime as runtime_named
from advisor.runtimes.compare import as_chosen

VALUED = (LLAMA_CPP, runtime_named("vLLM"), runtime_named("SGLang"))
"""Runtimes for the value of a machine, which is that of the fastest. Others in common use are not
faster: Ollama and LM Studio run llama.cpp with fewer options, Accelerate streams the rest."""


class TimedStack:
    """Speeds of a model on a stack of machines, remembered by runtime and placement."""

    def __init__(
        self, stack: Stack, model: Model, work: Workload, runtimes: Iterable[Runtime]
    ) -> None:
        self.stack = stack
        self.runtimes = tuple(runtimes)
        self._model = model
        self._work = work
        self._timed: dict[tuple[str, PlacementStrategy], tuple[Speeds, Floats]] = {}

    def fastest(
        self,
        wanted: Mask | None = None,
        strategies: Sequence[PlacementStrategy] = tuple(PlacementStrategy),
    ) -> Speeds:
        """Speed of each wanted machine in the fastest runtime and placement that runs there.

        Of several users fewest wait in it. Placements are tried in the order given, the fastest
        first. A runtime is left out where a bound on its speed is below that of one before it, and
        no user waits in that.
        """
        if wanted is None:
            wanted = np.ones(len(self.stack.machines), dtype=bool)
        fastest = nothing("", None, len(wanted))
        for runtime in self.runtimes:
            reached = np.nan_to_num(fastest.decode)
            waiting = np.nan_to_num(fastest.waiting)
            least = np.where(waiting > 0, 0.0, reached)
            for speeds, machines in self._placed(runtime, wanted, strategies, least):
                as_many = (reached == 0) | (speeds.waiting == waiting)
                better = (as_many & (speeds.decode > reached)) | (speeds.waiting < waiting)
                if (machines & better).any():
                    fastest.take_over(speeds, machines & better)
        return fastest

    def _placed(
        self, runtime: Runtime, wanted: Mask, strategies: Sequence[PlacementStrategy], least: Floats
    ) -> Iterator[tuple[Speeds, Mask]]:
        """Speeds by placement, with the machines of which it is the first that fits."""
        if len(self.runtimes) > 1:
            wanted = wanted & self.stack.counting(runtime.engine)
        for strategy in strategies:
            if strategy in runtime.strategies and wanted.any():
                speeds = self._in(runtime, strategy, wanted, least)
                yield speeds, wanted & speeds.fits
                wanted = wanted & ~speeds.fits

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
        speeds, bounds = self._timed[key]
        new = wanted & (least < bounds)
        if not new.any():
            return speeds
        timed = self.stack.speeds(
            self._model, self._work, runtime, strategy, skip=~new, least=least
        )
        speeds.take_over(timed, new)
        bounds[new] = least[new]
        # Where the maker's own weights do not fit, those in the format chosen by default may.
        larger = new & (timed.formats == self._model.native) & ~timed.fits
        if strategy is not PlacementStrategy.NVME_OFFLOAD and larger.any():
            chosen = as_chosen(self._model)
            if chosen is not None:
                smaller = self.stack.speeds(chosen, self._work, runtime, strategy, skip=~larger)
                speeds.take_over(smaller, larger)
        return speeds


REMEMBERED = 16  # hosts, and requests, whose machines and speeds are remembered


@cache
def whole_machines() -> Mapping[str, Machine]:
    """Machines sold whole, with the memory that their price is for, by name."""
    return {
        name: machine_by_name(sale.preset.name, MachineSpec(ram_gb=sale.price.memory_gib))
        if sale.preset
        else from_spec.machine(MachineSpec(gpu=sale.price.gpu, ram_gb=sale.price.memory_gib))
        for name, sale in machines_for_sale().items()
    }


@lru_cache(maxsize=REMEMBERED)
def whole_timed(model: Model, work: Workload, runtimes: tuple[Runtime, ...]) -> TimedStack:
    """Speeds of a model on the machines sold whole, remembered by request."""
    return TimedStack(_whole_stack(), model, work, runtimes)


@cache
def _whole_stack() -> Stack:
    return Stack(tuple(whole_machines().values()))


COUNTS = (1, 2, 3, 4, 6, 8)  # cards that a machine has in all
FEW = 4  # most cards in a machine built from parts; more are found in rented machines only
SMALLEST_FORMAT = 0.5
"""Smallest file of a runtime's own format, as a share of the requested format's file."""


class CardStack(Stack):
    """Machines of one host with several numbers of each card for sale or rent.

    In more than `FEW` only rented cards count; a host whose form takes cards has them beside its
    own.

    Their kinds are those of the cards; another host with as many of the same takes them over.
    """

    machines: "OnHost"
    every: "OnHost"
    cards: "CardStack"  # stack that found the kinds; itself for the first

    def __init__(
        self,
        host: Machine,
        sold: tuple[str, ...],
        let: tuple[str, ...],
        added_to: Form | None = None,
    ) -> None:
        cards = [from_catalog.gpu(name) for name in dict.fromkeys((*sold, *let))]
        numbers = ((card, count) for count in COUNTS for card in cards)
        gpus = [(card,) * count for card, count in numbers if count <= FEW or card.name in let]
        # index of the machine with a number of one kind of card, by name and number
        self.alike = {(each[0].name, len(each)): at for at, each in enumerate(gpus)}
        index = {tuple(map(id, each)): at for at, each in enumerate(gpus)}
        beside: list[int] = []
        kinds = [from_catalog.gpu(name) for name in sold]
        for further in () if added_to is None else additions(host.discrete, added_to, kinds):
            together = Gpu.fastest_first((*host.discrete, *further))
            beside.append(index.setdefault(tuple(map(id, together)), len(gpus)))
            if beside[-1] == len(gpus):
                gpus.append(together)
        self.beside = tuple(beside)  # index of each machine with cards added to those of the host
        self.cards = self
        super().__init__(OnHost(host, tuple(gpus)))

    def with_parts(self, parts: Sequence[Machine]) -> "OnHost":
        """Machines of the host, followed by parts of them."""
        if not parts:
            return self.machines
        return self.machines.with_parts(part.gpus for part in parts)

    def on(self, host: Machine) -> "CardStack":
        """The same cards in another host."""
        moved = copy(self)
        moved.every = self.every.on(host)
        moved.machines = moved.every.whole
        moved.forget()
        return moved

    def _made(self, members: Index, *, links: bool, counts: bool) -> MachineKind:
        if self.cards is self:
            return super()._made(members, links=links, counts=counts)
        kind = self.cards.kind(members, links=links, counts=counts)
        machine, sizes = map(self.every.like, (kind.machine, kind.sizes))
        return replace(kind, machine=machine, sizes=sizes)

    def mask(self, places: Iterable[int]) -> Mask:
        """Mask of some machines, shape (machines,)."""
        wanted = np.zeros(len(self.machines), dtype=bool)
        wanted[list(places)] = True
        return wanted

    @lazy
    def room(self) -> Floats:
        """Memory of each machine's cards together, shape (machines,) [B]."""
        if self.cards is not self:
            return self.cards.room
        return np.array([float(machine.gpu_memory) for machine in self.machines])


class OnHost(Sequence[Machine]):
    """Machines of one host with various cards, each made when it is first looked at."""

    def __init__(
        self, host: Machine, gpus: tuple[tuple[Gpu, ...], ...], behind: "OnHost | None" = None
    ) -> None:
        # gpus: cards of each machine; behind: machines of which the last ones are parts
        self.host = host
        self.gpus = gpus
        self.whole = behind or self
        self._alone = replace(host, nodes=1, network=None)  # for fewer cards than machines
        self._made: list[Machine | None] = [None] * len(gpus)

    def __len__(self) -> int:
        return len(self.gpus)

    def __getitem__(self, at: Any) -> Any:
        made = self._made[at]
        if made is None:
            gpus = self.gpus[at]
            joined = at < len(self.whole) and len(gpus) >= self.host.nodes
            made = replace(self.host if joined else self._alone, gpus=gpus)
            self._made[at] = made
        return made

    def with_parts(self, gpus: Iterable[tuple[Gpu, ...]]) -> "OnHost":
        """Machines, followed by parts of them, each on one of several joined hosts."""
        return OnHost(self.host, (*self.gpus, *gpus), self)

    def on(self, host: Machine) -> "OnHost":
        """The same cards in another host."""
        if self.whole is self:
            return OnHost(host, self.gpus)
        return OnHost(host, self.gpus, self.whole.on(host))

    def like(self, stacked: Machine) -> Machine:
        """Host with the cards of a stacked machine, which are in another host there."""
        if stacked.nodes == self.host.nodes:
            host = self.host
        else:
            host = self._alone
        return replace(host, gpus=stacked.gpus, counts=stacked.counts)


def additions(
    present: tuple[Gpu, ...], form: Form, kinds: Iterable[Gpu]
) -> Iterator[tuple[Gpu, ...]]:
    """Cards that can be added: more of the present kind, or another; in a dock by cable."""
    dock = in_dock(form)
    if len({gpu.name for gpu in present}) == 1:
        alike = present[0]
    else:
        alike = None
    for count in COUNTS if alike and not dock else ():
        if alike and count > len(present) and room_for(form, count):
            yield (alike,) * (count - len(present))
    if not room_for(form, 1 if dock else len(present) + 1):
        return
    for card in kinds:
        same_driver = not present or card.vendor == present[0].vendor
        if same_driver and (dock or alike is None or card.name != alike.name):
            yield (docked(card) if dock else card,)


def docked(card: Gpu) -> Gpu:
    """Card in a dock, behind the link of its cable."""
    return replace(card, link=Link.pcie(*DOCK_LINK))


CardSpeed = tuple[Gpu, int, Speed]  # card, number of cards, and their speed


class TimedCards(TimedStack):
    """Speeds of a model on a host with various cards, each machine in its fastest runtime."""

    stack: CardStack

    @lazy
    def holders(self) -> tuple[CardSpeed, ...]:
        """Cards of each kind that hold the whole model, as few as possible, and those in which no
        user waits; one card where no number of them holds it.
        """
        fewest: dict[str, int] = {}
        serving: dict[str, int] = {}
        for (name, _), at in self.stack.alike.items():
            if self._whole.fits[at]:
                fewest.setdefault(name, at)
                if self._whole.waiting[at] == 0:
                    serving.setdefault(name, at)
        each = [name for name, count in self.stack.alike if count == 1]
        parts = [name for name in each if name not in fewest]
        several = [name for name in each if fewest.get(name, -1) != self.stack.alike[name, 1]]
        self._parts(several)  # all at once, as `alone` may want those of which several are taken
        able = dict.fromkeys((*fewest.values(), *serving.values()))
        return (*self._rows(able, self._whole), *self.alone(parts))

    @lazy
    def _whole(self) -> Speeds:
        """Speeds of all machines that may hold the whole model: one estimate is for any number."""
        able = self.stack.room >= SMALLEST_FORMAT * self._model.bytes_without_table
        return self.fastest(able, (PlacementStrategy.GPU_RESIDENT,))

    def _parts(self, names: Iterable[str]) -> Speeds:
        """Speeds of one of each named card, holding a part of the model."""
        wanted = self.stack.mask(self.stack.alike[name, 1] for name in names)
        return self.fastest(wanted, (PlacementStrategy.CPU_OFFLOAD,))

    def _rows(self, places: Iterable[int], speeds: Speeds) -> Iterator[CardSpeed]:
        """Cards and speed of machines that hold the model, by index."""
        for at in places:
            gpus = self.stack.machines.gpus[at]
            speed = speeds.at(at)
            if speed is not None:
                yield gpus[0], len(gpus), speed

    def holding(self, name: str, count: int) -> Speed | None:
        """Speed of some cards of a kind that hold the whole model; None where they do not."""
        at = self.stack.alike.get((name, count))
        if at is None:
            return None
        return self._whole.at(at)

    def alone(self, names: Iterable[str]) -> list[CardSpeed]:
        """One card of each name, which holds a part of the model."""
        wanted = set(names)
        each = [name for name, count in self.stack.alike if count == 1 and name in wanted]
        return list(self._rows((self.stack.alike[name, 1] for name in each), self._parts(each)))

    @lazy
    def added(self) -> tuple[tuple[Machine, Speed | None], ...]:
        """Host with cards added to its own, each in its fastest runtime and placement."""
        speeds = self.fastest(self.stack.mask(self.stack.beside))
        return tuple((self.stack.machines[at], speeds.at(at)) for at in self.stack.beside)


@lru_cache(maxsize=REMEMBERED)
def card_stack(
    host: Machine, sold: tuple[str, ...], let: tuple[str, ...], added_to: Form | None = None
) -> CardStack:
    """Machines of a host with each card; kinds are found once for all hosts with its own cards."""
    plain = replace(
        cardless(), gpus=host.discrete, nodes=host.nodes, backend=host.backend, system=host.system
    )
    return _cards(plain, sold, let, added_to).on(host)


_cards = lru_cache(maxsize=REMEMBERED)(CardStack)
timed_cards = lru_cache(maxsize=REMEMBERED)(TimedCards)


@cache
def cardless() -> Machine:
    """Host of the cards where the present machine takes no cards or has unified memory."""
    return from_spec.machine(MachineSpec())
