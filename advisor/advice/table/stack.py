"""Stack: speeds of a model on many machines, by as few estimates as there are kinds of machines.

Machines of a kind are one machine whose figures are arrays, for one request or several at once.
Several layouts keep the arrays small. One request has numbers of shape (machines,), or (numbers of
cards, cards). Of several requests those for a whole model in GPUs have shape (requests, 1) beside
(machines,), since memory only decides whether it fits. If a part is elsewhere, the placement
depends on the memory size: it is computed once for each request and size, and then used for each
machine of that size.
"""

import functools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from advisor.advice.speeds import COLUMNS, Mask, Speeds, nothing, of_one_context
from advisor.advice.table.many_machines import (
    Arrangements,
    Index,
    Wanted,
    alternatives,
    best_arranged,
    on_machines,
    taken,
)
from advisor.advice.table.rules import counts_in
from advisor.catalog.constants import Constants
from advisor.cost_model.additions import launch_cost
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.measured_constants import constants_of
from advisor.cost_model.placement import Placement, PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.lazy import lazy
from advisor.machine.machine import Machine
from advisor.machine.stacked import KindParts, card_of, of_one_card, stacked, with_counts
from advisor.model.architecture import Group
from advisor.model.catalog import in_format
from advisor.model.model import Floats, Model
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.compare import taken_format
from advisor.runtimes.llama_cpp.passes import link_shortfall
from advisor.units import Array


@dataclass(frozen=True, kw_only=True)
class MachineKind:
    """Machines of a kind as one."""

    # all machines as one, each figure of shape (machines,); for several numbers of cards of shape
    # (cards,), beside numbers of cards of shape (numbers, 1)
    machine: Machine
    places: tuple[Index, ...]  # indices in an estimate's numbers, of shape (machines,) each
    sizes: Machine  # one machine for each size of memory, each figure of shape (sizes,)
    size: Index  # index of each machine's size in `sizes`, shape (machines,)

    @lazy
    def size_count(self) -> int:
        """Number of sizes of memory."""
        return int(self.size.max()) + 1

    @lazy
    def shape(self) -> tuple[int, ...]:
        """Shape of an estimate's numbers for one request."""
        return tuple(int(index.max()) + 1 for index in self.places)

    def each(self, numbers: Array | Mask) -> npt.NDArray[Any]:
        """Numbers of an estimate by machine, shape (requests, machines)."""
        whole = np.broadcast_to(numbers, (*np.shape(numbers)[: -len(self.shape)], *self.shape))
        return np.atleast_2d(whole[np.index_exp[...] + self.places])

    @lazy
    def latest(self) -> dict[str, tuple[Hashable, Estimate]]:
        """Latest estimate of a whole model by runtime, with its request, for `_together`."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Run:
    """Runs on machines of a kind: one request, or several that differ in context and format."""

    model: Model  # in the format of the runtime, or in one for each request (`in_many_formats`)
    work: Workload  # request
    contexts: Floats  # context of each request, shape (requests,) [tokens]
    runtime: Runtime  # runtime of all requests
    strategy: PlacementStrategy  # placement of the model

    @property
    def single(self) -> bool:
        """Whether there is one request."""
        return len(self.contexts) == 1

    @property
    def resident(self) -> bool:
        """Whether the GPUs hold the whole model."""
        return self.strategy is PlacementStrategy.GPU_RESIDENT

    @property
    def several_counts(self) -> bool:
        """Whether several numbers of a card are one kind: for one request of a whole model."""
        several = self.runtime.takes_several_counts and self.runtime.apart is None
        return self.resident and several and self.single

    @lazy
    def beside_machines(self) -> tuple[Model, Workload]:
        """Model and request with numbers of shape (requests, 1); unchanged for a single request."""
        if self.single:
            return self.model.picked(0), self.work.with_numbers(context=float(self.contexts[0]))
        return self.model.picked(np.s_[:, None]), self.work.with_numbers(
            context=self.contexts[:, None]
        )

    def at(self, rows: Index) -> tuple[Model, Workload]:
        """Model and request with numbers of some requests, shape (rows,)."""
        return self.model.picked(rows), self.work.with_numbers(context=self.contexts[rows])

    def constants(self, kind: MachineKind) -> Constants:
        """Constants in the scope of the estimates on machines of a kind."""
        return constants_of(self.model, kind.machine, self.runtime)


@dataclass(frozen=True)
class Answered:
    """Numbers of an estimate, with the pairs of request and machine that they belong to."""

    request: Index  # index of each pair's request, shape (pairs,)
    machine: Index  # index of each pair's machine, shape (pairs,)
    estimate: Estimate  # estimate of them
    fits: Mask  # whether every memory is large enough, as a number of the estimate
    shape: tuple[int, ...]  # shape of the estimate's numbers
    places: tuple[Any, ...]  # indices of each pair in that shape

    def of_pairs(self, numbers: Any) -> Any:
        """Numbers of the estimate, shape (pairs,)."""
        return np.broadcast_to(numbers, self.shape)[self.places]


def estimates(kind: MachineKind, run: Run, wanted: Mask, least: Floats) -> Iterator[Answered]:
    """Estimates of the wanted machines of a kind on which the model may fit and be fast enough."""
    bound = run.runtime.bound(kind.machine)
    if bound is not kind.machine:
        kind = replace(kind, machine=bound)
    needed = wanted & _possible(kind, run, least)
    if not needed.any():
        return
    request, machine = np.nonzero(needed)
    if run.runtime.apart is not None or not (run.single or run.resident):
        yield from _by_size(kind, run, request, machine)
        return
    whole, fits = _together(kind, run)
    places = tuple(index[machine] for index in kind.places)
    shape, at = (kind.shape, places) if run.single else (needed.shape, (request, *places))
    answered = Answered(request, machine, whole, fits, shape, at)
    if answered.of_pairs(fits).any():
        yield answered


def _together(kind: MachineKind, run: Run) -> tuple[Estimate, Mask]:
    """Estimate of all machines of a kind, and whether the model fits.

    The context of a single user decides what fits in GPUs, and no time unless layers are divided
    otherwise: the latest estimate stands for the same request with another context.
    """
    model, work = run.beside_machines
    nouns = (model, kind.machine, work, run.runtime, run.strategy)
    whole = estimate(*nouns)
    fits = np.asarray(whole.fits)
    if not run.single or run.work.users != 1 or not run.resident:
        return whole, fits
    request = (run.model, *(value for name, value in vars(run.work).items() if name != "context"))
    before, latest = kind.latest.get(run.runtime.name, (None, whole))
    if before != request or not _divided_alike(latest.placement, whole.placement):
        kind.latest[run.runtime.name] = request, whole
        return whole, fits
    return latest, fits


def _divided_alike(before: Placement | None, now: Placement | None) -> bool:
    """Whether two placements have the same shares of the layers and of the head everywhere."""
    if before is None or now is None:
        return False
    there = list(before.shares())
    here = list(now.shares())
    return len(there) == len(here) and all(map(np.array_equal, there, here))


def _possible(kind: MachineKind, run: Run, least: Floats) -> Mask:
    """Mask of machines that may hold the model and be fast enough, shape (requests, machines).

    It is False where GPUs cannot hold all of the model, and a part outside them can neither fit nor
    be read fast enough.
    """
    model, work = run.beside_machines
    machine = kind.machine
    if run.resident:
        outside = least_outside(model, machine, work, run.runtime)
        return kind.each(np.asarray(outside <= (ROUNDING - 1.0) * model.file_bytes))
    fastest = most_tokens(model, machine, work, run.runtime, run.constants(kind))
    able = fastest * ROUNDING >= least
    if run.strategy is not PlacementStrategy.NVME_OFFLOAD:
        if machine.unified:
            further = machine.nodes - 1.0
        else:
            further = 0.0
        whole = machine.host.memory.value * (1.0 + further)
        whole = whole + (0.0 if machine.unified else machine.gpu_memory)
        able = able & (model.bytes_without_table <= whole * ROUNDING)
    return kind.each(np.asarray(able))


def _by_size(kind: MachineKind, run: Run, request: Index, machine: Index) -> Iterator[Answered]:
    """Estimates placed once for each request and size of memory, and timed where they fit."""
    rows, row = np.unique(request * kind.size_count + kind.size[machine], return_inverse=True)
    row_request, row_size = np.divmod(rows, kind.size_count)
    groups = [np.arange(len(rows))]  # rows that a runtime places in one way
    if run.runtime.apart is not None:
        model, work = run.at(row_request)
        sizes = taken(kind.sizes, row_size, kind.size_count)
        apart = run.runtime.apart(model, sizes, work) & np.ones(len(rows), dtype=bool)
        groups = [np.flatnonzero(apart), np.flatnonzero(~apart)]
    for chosen in filter(len, groups):
        model, work = run.at(row_request[chosen])
        sizes = taken(kind.sizes, row_size[chosen], kind.size_count)
        plan = estimate(model, sizes, work, run.runtime, run.strategy)
        plan_row = np.full(len(rows), -1)
        plan_row[chosen] = np.arange(len(chosen))
        fits = np.broadcast_to(plan.fits, chosen.shape)[plan_row[row]] & (plan_row[row] >= 0)
        if plan.constants is not None and fits.any():
            yield _timed(kind, run, plan, request[fits], machine[fits], plan_row[row][fits])


def _timed(
    kind: MachineKind, run: Run, plan: Estimate, request: Index, machine: Index, row: Index
) -> Answered:
    """Plan by request and size, timed for pairs of request and machine by their row in it."""
    constants = run.constants(kind)
    shape: tuple[int, ...] = request.shape
    places: tuple[Any, ...] = np.index_exp[:]
    if run.runtime.takes_several_formats:
        model = run.model.layers_together.picked(request)
        pairs = taken(kind.machine, machine, np.size(kind.size))
        picks = constants.for_pairs(request, machine)
        several = on_machines(plan, model, pairs, row, picks)
    else:  # Kernels of serving engines are named by the generation of all GPUs of a kind.
        shape = (len(run.contexts), np.size(kind.size))
        places = (request, machine)
        index = np.zeros(shape, dtype=int)
        index[places] = row
        several = on_machines(plan, run.beside_machines[0], kind.machine, index, constants)
    return Answered(request, machine, several, np.ones((), dtype=bool), shape, places)


def fill(speeds: Speeds, places: tuple[Index, Index], part: Answered, least: Floats) -> None:
    """Fill in speeds at their places, with ranges if any reaches its least [tokens/s]."""
    numbers = part.estimate
    if numbers.decode_tps is None:
        return
    fits = part.of_pairs(part.fits)
    decode = part.of_pairs(numbers.decode_tps)
    speeds.fits[places] = fits
    speeds.decode[places] = decode
    if np.any(fits & (decode >= least)):
        first = numbers.first_token_seconds
    else:
        first = None
    if first is None or not numbers.decode:
        return
    load = np.nan if numbers.load is None else numbers.load
    columns = (numbers.decode.low, numbers.decode.high, first, load, numbers.waiting)
    for name, column in zip(COLUMNS[1:], columns, strict=True):
        getattr(speeds, name)[places] = part.of_pairs(column)


_BETWEEN: ContextVar[Callable[[], None]] = ContextVar("between", default=lambda: None)


@contextmanager
def between_kinds(act: Callable[[], None]) -> Iterator[None]:
    """Context in which an action precedes each kind of machines, as a pause for other work."""
    token = _BETWEEN.set(act)
    try:
        yield
    finally:
        _BETWEEN.reset(token)


EMPTY = 2  # most places of a kind with several numbers of cards, by its machines


class Stack:
    """Machines, stacked by kind once for all models, in the order of the results."""

    def __init__(self, machines: Sequence[Machine]) -> None:
        self.machines = machines
        self.arrangements = Arrangements(machines)
        self.every = self.with_parts(self.arrangements.further)  # parts of machines last
        self._processors = _numbered(map(_processors, self.every))
        self._numbers: dict[tuple[bool, bool, bool, bool], Index] = {}
        self._sizes = {
            links: _numbered(_size(machine, links=links) for machine in self.every)
            for links in (False, True)
        }
        self._counting: dict[str, Mask] = {}
        self._parts = [
            # A board that starts kernels slowly is known by its name.
            (KindParts.of(machine), id(machine) if launch_cost(machine) else 0)
            for machine in self.every
        ]
        self._unequal = [
            at
            for at, machine in enumerate(self.every)
            if len(machine.gpus) > 1 and machine.unequal_memory
        ]
        self.forget()

    def with_parts(self, parts: Sequence[Machine]) -> Sequence[Machine]:
        """Machines, followed by parts of them."""
        return (*self.machines, *parts)

    def forget(self) -> None:
        """Forget everything that depends on more than the GPUs: kinds as one machine, and
        formats.
        """
        self._kinds: dict[Hashable, MachineKind] = {}
        self._formats: dict[Hashable, Mapping[str, Mask]] = {}

    def counting(self, engine: str) -> Mask:
        """Mask of the machines on which an engine's speed counts, shape (machines,)."""
        if engine not in self._counting:
            counts = [counts_in(machine, engine) for machine in self.machines]
            self._counting[engine] = np.array(counts, dtype=bool)
        return self._counting[engine]

    def speeds(
        self,
        requested: Model,
        work: Workload,
        runtime: Runtime,
        strategy: PlacementStrategy,
        *,
        skip: Mask | None = None,
        least: Floats | None = None,
    ) -> Speeds:
        """Speeds of every machine, in the nearest format that it runs and the arrangement of GPUs
        that answers most.

        Machines of the mask `skip` are left out; those below their `least` speed, shape (machines,)
        [tokens/s], may be, as if the model did not fit.
        """
        count = len(self.machines)
        if skip is None:
            skip = np.zeros(count, dtype=bool)
        if least is None:
            least = np.zeros(count)

        def timed(share: Workload, wanted: Wanted) -> Speeds:
            contexts = np.atleast_1d(np.asarray(share.context, dtype=float))
            speeds = nothing(runtime.name, strategy, len(self.every), len(contexts))
            loaded = self._loaded(requested, runtime) if strategy in runtime.strategies else {}
            mask = np.broadcast_to(~wanted.skip, speeds.fits.shape)
            for form, able in loaded.items():
                model = requested
                if form != requested.format:
                    try:
                        model = in_format(requested.architecture, form)
                    except Refusal:
                        continue
                speeds.formats[able] = form
                run = Run(
                    model=model, work=share, contexts=contexts, runtime=runtime, strategy=strategy
                )
                self._time(speeds, run, np.arange(len(contexts)), mask, able, wanted.least)
            if np.ndim(share.context):
                return speeds
            return of_one_context(speeds)

        others = alternatives(self.arrangements, runtime, strategy, work)
        wanted = Wanted(skip, least, bounded=strategy is not PlacementStrategy.GPU_RESIDENT)
        return best_arranged(self.every, others, work, wanted, timed)

    def fast_speeds(
        self,
        models: Sequence[Model],
        work: Workload,
        runtime: Runtime,
        strategy: PlacementStrategy,
        *,
        skip: Mask,
        least: float,
    ) -> Speeds:
        """Speeds of the machines that are fast enough, shape (formats x contexts, machines).

        Several formats of a model are timed together where the runtime takes them, in the
        arrangement of GPUs that answers most.

        Machines on which the runtime loads another format, and those of the mask `skip`, are left
        out; those below the `least` speed [tokens/s] may be, as if the model did not fit.
        """

        def timed(share: Workload, wanted: Wanted) -> Speeds:
            contexts = np.asarray(share.context, dtype=float)
            form, context = np.divmod(np.arange(len(models) * len(contexts)), len(contexts))
            speeds = nothing(runtime.name, strategy, len(self.every), len(form))
            none = np.zeros(len(self.every), dtype=bool)
            able = np.array(
                [self._loaded(model, runtime).get(model.format, none) for model in models]
            )
            mask = ~wanted.skip & able[form]
            requests = np.flatnonzero(mask.any(axis=1))
            if len(requests):
                run = Run(
                    model=Model.in_many_formats([models[at] for at in form[requests]]),
                    work=share,
                    contexts=contexts[context[requests]],
                    runtime=runtime,
                    strategy=strategy,
                )
                # A runtime for one vendor's cards refuses a kind with another's. Others take all,
                # so that their formats share kinds.
                among = able.any(axis=0) | np.array(not runtime.takes_several_formats)
                self._time(speeds, run, requests, mask, among, wanted.least)
            return speeds

        others = alternatives(self.arrangements, runtime, strategy, work)
        bounded = strategy is not PlacementStrategy.GPU_RESIDENT
        wanted = Wanted(skip, np.full(len(self.machines), least), bounded)
        return best_arranged(self.every, others, work, wanted, timed)

    def _time(
        self, speeds: Speeds, run: Run, rows: Index, wanted: Mask, among: Mask, least: Floats
    ) -> None:
        """Fill in the wanted speeds of a run's requests, by their rows, kind by kind."""
        numbers = self._kind_numbers(run)
        between = _BETWEEN.get()
        for number in np.unique(numbers[among & wanted[rows].any(axis=0)]):
            between()
            members = np.flatnonzero(among & (numbers == number))
            needed = wanted[np.ix_(rows, members)]
            counts = run.several_counts and of_one_card(self.every[members[0]])
            kind = self.kind(members, links=run.runtime.reads_over_link, counts=counts)
            for part in estimates(kind, run, needed, least[members]):
                machines = members[part.machine]
                fill(speeds, (rows[part.request], machines), part, least[machines])

    def _loaded(self, requested: Model, runtime: Runtime) -> Mapping[str, Mask]:
        """Formats that a runtime loads for a requested one, with the machines of each."""
        kept = requested.architecture.expert_type
        key = (runtime.name, requested.format, requested.native, requested.has_experts, kept)
        if key not in self._formats:
            first = np.unique(self._processors, return_index=True)[1]
            each = [_format(requested, runtime, self.every[at]) for at in first]
            form = np.array(each, dtype=object)[self._processors]
            self._formats[key] = {name: form == name for name in dict.fromkeys(each) if name}
        return self._formats[key]

    def _kind_numbers(self, run: Run) -> Index:
        """Number of each machine's kind, equal where one estimate can stand for several."""
        resident = run.resident and run.runtime.apart is None
        packed = run.work.kv_type != "f16"
        key = (not run.runtime.takes_layers, resident, run.several_counts, packed)
        if key not in self._numbers:
            kernels, resident, counts, packed = key
            numbers = _numbered(
                (
                    parts.kind(kernels=kernels, resident=resident, counts=counts),
                    # Backends differ in the packed caches that they have fast kernels for.
                    parts.machine.interface if packed else "",
                    alone,
                )
                for parts, alone in self._parts
            )
            self._numbers[key] = self._well_filled(numbers) if counts else numbers
        if run.runtime.stages is None:
            return self._numbers[key]
        model, _ = run.beside_machines
        stages = {at: run.runtime.stages(model, self.every[at]) for at in self._unequal}
        return self._by_stages(self._numbers[key], stages)

    @staticmethod
    def _by_stages(numbers: Index, stages: Mapping[int, tuple[int, ...]]) -> Index:
        """Kinds whose unequal cards hold the same numbers of layers, out of kinds by other
        properties.
        """
        if not any(stages.values()):
            return numbers
        return _numbered((number, stages.get(at)) for at, number in enumerate(numbers.tolist()))

    def _well_filled(self, numbers: Index) -> Index:
        """Kinds with few places without a machine; others are divided by their number of cards."""
        counts = np.array([len(machine.gpus) for machine in self.every])
        cards = _numbered(card_of(machine) if machine.gpus else None for machine in self.every)
        divided = np.zeros_like(counts)
        for number in np.unique(numbers):
            members = np.flatnonzero(numbers == number)
            places = len(np.unique(counts[members])) * len(np.unique(cards[members]))
            if places > EMPTY * len(members):
                divided[members] = counts[members]
        return _numbered(zip(numbers.tolist(), divided.tolist(), strict=True))

    def kind(self, members: Index, *, links: bool, counts: bool) -> MachineKind:
        """Machines of a kind as one, made once: with their links, with several numbers of cards."""
        key = (members.tobytes(), links, counts)
        if key not in self._kinds:
            self._kinds[key] = self._made(members, links=links, counts=counts)
        return self._kinds[key]

    def _made(self, members: Index, *, links: bool, counts: bool) -> MachineKind:
        machines = [self.every[member] for member in members]
        if not counts:
            _, first, size = np.unique(
                self._sizes[links][members], return_index=True, return_inverse=True
            )
            return MachineKind(
                machine=stacked(machines),
                places=(np.arange(len(machines)),),
                sizes=stacked([machines[at] for at in first]),
                size=size,
            )
        numbers, row = np.unique([len(each.gpus) for each in machines], return_inverse=True)
        card = _numbered(map(card_of, machines))
        cards = [machines[at] for at in np.unique(card, return_index=True)[1]]
        several = with_counts(cards, numbers.tolist())
        return MachineKind(machine=several, places=(row, card), sizes=several, size=card)


def _format(requested: Model, runtime: Runtime, machine: Machine) -> str:
    """Format that a runtime loads on a machine; empty where the model does not run."""
    if runtime.engine == LLAMA_CPP.engine and not machine.driven:
        return ""
    try:
        return taken_format(requested, runtime, machine).format
    except Refusal:
        return ""


def _numbered(keys: Iterable[Hashable]) -> Index:
    """Numbers from 0, equal for equal keys."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=int)


def _processors(machine: Machine) -> Hashable:
    """Properties by which a runtime chooses a format."""
    gpus = frozenset((gpu.vendor, gpu.family) for gpu in machine.gpus)
    return (gpus, machine.host.instruction_sets)


def _size(machine: Machine, *, links: bool) -> Hashable:
    """Properties by which a runtime places a model, besides the kind of machine."""
    rates = [float(gpu.bandwidth.value) for gpu in machine.gpus]
    return (
        tuple(float(gpu.memory.value) for gpu in machine.gpus),
        tuple(np.argsort(rates, kind="stable")),
        id(machine.host),
        id(machine.disk),
        len(machine.gpus) > 1 and float(link_shortfall(machine)),
        links
        and tuple(
            (float(gpu.link.pinned.value), float(gpu.link.zero_copy.value)) for gpu in machine.gpus
        ),
    )


# Bounds on speed and memory that rule machines out before they are placed and timed.
#
# Both are exact: excluded machines would not fit the model, or would be slower than required. A
# token reads all weights but the token table, and of routed experts only the share that it uses.
# Weights that do not fit in the GPUs are read at most at the rate of RAM where the processor
# computes them, of all links together where they move to the GPUs:
#
#     S >= max(x - e, 0) + share min(x, e),  x = bytes outside the GPUs, e = bytes of routed experts
#     tokens/s <= tokens a step / (S / rate)

ROUNDING = 1.0 + 1e-9  # tolerance for rounding errors of sums in another order


def least_outside(model: Model, machine: Machine, work: Workload, runtime: Runtime) -> Array:
    """Lower bound on the weights outside the GPUs' memory [B]."""
    if runtime.room_for_layers is None or not machine.gpus:
        outside = model.bytes_without_table - machine.gpu_memory
    else:
        layers = np.sum(model.layer_bytes, axis=-1)
        outside = layers - runtime.room_for_layers(model, machine, work)
    return np.asarray(np.maximum(outside, 0.0))


def most_tokens(
    model: Model, machine: Machine, work: Workload, runtime: Runtime, constants: Constants
) -> Array:
    """Upper bound on the speed of each user where the GPUs' memory is free [tokens/s]."""
    outside = least_outside(model, machine, work, runtime)
    experts = np.sum(model.bytes_per_layer[Group.ROUTED_EXPERTS], axis=-1)
    read = np.maximum(outside - experts, 0.0)
    read = read + model.expert_share(1.0) * np.minimum(outside, experts)
    with np.errstate(divide="ignore"):
        rate = outside_rate(machine, work, runtime, constants)
        return np.asarray(work.tokens_per_step * rate / read)


def outside_rate(machine: Machine, work: Workload, runtime: Runtime, constants: Constants) -> Array:
    """Fastest rate of weights outside the GPUs: RAM, where the processor computes, or links [B/s].

    A runtime that computes a single token in RAM copies nothing for it; others copy everything, as
    `timing.link_seconds` has it: several GPUs each a part, over the link of one of them. All links
    together are no faster than the RAM that they read (`timing.ram_bytes`).
    """
    ram: Array = machine.host.bandwidth.value * np.maximum(constants.value("cpu_read_share"), 1.0)
    ram = ram * np.maximum(constants.value("socket_share"), 1.0)
    single = np.all(np.asarray(work.users) * (1.0 + np.asarray(work.drafted)) <= 1.0)
    if not machine.gpus or (runtime.computes_in_ram and single):
        return np.asarray(ram)
    share = constants.value("link_share")
    copying = 1.0 / constants.value("host_copy")
    links = (np.maximum(gpu.link.pinned.value, gpu.link.zero_copy.value) for gpu in machine.gpus)
    fastest = 1.0 / (1.0 / (share * functools.reduce(np.maximum, links)) + copying)
    limit = np.maximum(machine.host.bandwidth.value, fastest)
    together = np.minimum(len(machine.gpus) * fastest, limit)
    return np.asarray(np.maximum(ram, together) if runtime.computes_in_ram else together)
