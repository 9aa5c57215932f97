"""Speeds of one model on many machines, by as few estimates as there are kinds of machines.

Machines of a kind are stacked as one machine whose figures are arrays, for one request or several
at once. Several layouts keep the arrays small. One request has numbers of shape (machines,), or
(numbers of cards, cards). Of several requests those for a whole model in GPUs have shape
(requests, 1) beside (machines,), since memory only decides whether it fits. If a part is elsewhere,
the placement depends on the memory size: it is computed once for each request and size, and then
used for each machine of that size.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from advisor.advice.compare import as_run
from advisor.advice.speeds import Mask, Speeds, nothing, of_one_context
from advisor.advice.table.bounds import may_hold, may_reach
from advisor.catalog.constants import Constants, PickedConstants, fitted_constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.many_machines import Index, on_machines, taken
from advisor.cost_model.measured_constants import bound_to_node, conditioned, constants_on, scope_of
from advisor.cost_model.placement import Placement, PlacementStrategy, by_share
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.backends import drives
from advisor.machine.machine import Machine
from advisor.machine.stacked import backends_of, card_of, kind_of, of_one_card, stacked, with_counts
from advisor.model.catalog import in_many_formats, layers_together, picked
from advisor.model.model import Floats, Model
from advisor.runtimes import LLAMA_CPP, Runtime
from advisor.units import Array


@dataclass(frozen=True, kw_only=True)
class Stack:
    """Machines of a kind as one."""

    # all machines as one, each figure of shape (machines,); for several numbers of cards of shape
    # (cards,), beside numbers of cards of shape (numbers, 1)
    machine: Machine
    backend: str  # backends of the machines, as `backends.of_machine` gives them
    # indices of each machine in an estimate's numbers, of shape (machines,) each
    places: tuple[Index, ...]
    sizes: Machine  # one machine for each size of memory, each figure of shape (sizes,)
    size_count: int  # number of sizes of memory
    size: Index  # index of each machine's size in `sizes`, shape (machines,)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Shape of an estimate's numbers for one request."""
        return tuple(int(place.max()) + 1 for place in self.places)

    def each(self, numbers: Array | Mask) -> npt.NDArray[Any]:
        """Numbers of an estimate by machine, shape (requests, machines)."""
        whole = np.broadcast_to(numbers, (*np.shape(numbers)[: -len(self.shape)], *self.shape))
        return np.atleast_2d(whole[np.index_exp[...] + self.places])

    @cached_property
    def latest(self) -> dict[str, tuple[Hashable, Estimate]]:
        """Latest estimate of a whole model by runtime, with its request, for `_together`."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Run:
    """Runs on a stack of machines: one request, or several that differ in context and format."""

    # model in the format that the runtime runs, or in one for each request, as
    # `many_formats.in_many_formats` has it
    model: Model
    work: Workload  # request
    contexts: Floats  # context of each request, shape (requests,) [tokens]
    runtime: Runtime  # runtime of all requests
    strategy: PlacementStrategy  # placement of the model
    # speed below which a machine may be left out, a number or of shape (machines,) [tokens/s]
    least: Array = 0.0

    @property
    def resident(self) -> bool:
        """Whether the GPUs hold the whole model."""
        return self.strategy is PlacementStrategy.GPU_RESIDENT

    @cached_property
    def beside_machines(self) -> tuple[Model, Workload]:
        """Model and request with numbers of shape (requests, 1); those of one as they are."""
        if len(self.contexts) == 1:
            return picked(self.model, 0), self.work.with_numbers(context=float(self.contexts[0]))
        return picked(self.model, np.s_[:, None]), self.work.with_numbers(
            context=self.contexts[:, None]
        )

    def at(self, rows: Index) -> tuple[Model, Workload]:
        """Model and request with numbers of some requests, shape (rows,)."""
        return picked(self.model, rows), self.work.with_numbers(context=self.contexts[rows])

    def constants(self, stack: Stack) -> Constants:
        """Constants in the scope of the estimates on a stack."""
        scope = scope_of(self.model, stack.machine, self.runtime, stack.backend, "")
        there = constants_on(stack.machine.host, self.model, fitted_constants().bound(scope))
        return conditioned(there, stack.machine, self.runtime, self.model)


@dataclass(frozen=True, kw_only=True)
class Answered:
    """Pairs of request and machine that an estimate answers."""

    request: Index  # index of each pair's request, shape (pairs,)
    machine: Index  # index of each pair's machine, shape (pairs,)
    estimate: Estimate  # estimate whose numbers are of shape (pairs,), or of `shape`
    fits: Mask  # whether every memory is large enough, of the same shape
    # shape of the estimate's numbers where it is of all requests and machines; None where it is of
    # the pairs
    shape: tuple[int, ...] | None = None
    places: tuple[Index, ...] = ()  # indices of each pair in that shape

    def of_pairs(self, numbers: Any) -> Any:
        """Numbers of the estimate, shape (pairs,)."""
        if self.shape is None:
            return np.broadcast_to(numbers, self.request.shape)
        return np.broadcast_to(numbers, self.shape)[self.places]


def estimates(stack: Stack, run: Run, wanted: Mask) -> Iterator[Answered]:
    """Estimates of a stack where it may fit and be fast enough.

    Args:
        stack: machines of a kind.
        run: requests, runtime and placement.
        wanted: machines whose answer matters, shape (requests, machines).
    """
    bound = bound_to_node(stack.machine, run.runtime)
    stack = stack if bound is stack.machine else replace(stack, machine=bound)
    needed = wanted & _possible(stack, run)
    if not needed.any():
        return
    request, machine = np.nonzero(needed)
    single = len(run.contexts) == 1
    if run.runtime.apart is not None or not (single or run.resident):
        yield from _by_size(stack, run, request, machine)
        return
    whole, fits = _together(stack, run)
    shape = stack.shape if single else needed.shape
    places = tuple(place[machine] for place in stack.places)
    places = places if single else (request, *places)
    if np.broadcast_to(fits, shape)[places].any():
        yield Answered(
            request=request, machine=machine, estimate=whole, fits=fits, shape=shape, places=places
        )


def _together(stack: Stack, run: Run) -> tuple[Estimate, Mask]:
    """Estimate of all machines of a stack, and whether the model fits.

    The context of a single user decides what fits in GPUs, and no time unless layers are divided
    otherwise: the latest estimate stands for the same request with another context.
    """
    model, work = run.beside_machines
    whole = estimate(
        model, stack.machine, work, run.runtime, run.strategy, fitted_constants(),
        backend=stack.backend,
    )  # fmt: skip
    fits = np.asarray(whole.fits)
    if len(run.contexts) > 1 or run.work.users != 1 or not run.resident:
        return whole, fits
    request = (run.model, *(own for name, own in vars(run.work).items() if name != "context"))
    before, latest = stack.latest.get(run.runtime.name, (None, whole))
    if before != request or not _divided_alike(latest.placement, whole.placement):
        stack.latest[run.runtime.name] = request, whole
        return whole, fits
    return latest, fits


def several_counts(runtime: Runtime, strategy: PlacementStrategy, requests: int) -> bool:
    """Whether machines with several numbers of one kind of card are one stack: for one request of a
    whole model, as several requests fill an array already.
    """
    whole = strategy is PlacementStrategy.GPU_RESIDENT and runtime.apart is None
    return whole and runtime.takes_several_counts and requests == 1


def _divided_alike(before: Placement | None, now: Placement | None) -> bool:
    """Whether two placements have the same shares of the layers and of the head everywhere."""
    if before is None or now is None:
        return False
    there, here = list(_shares(before)), list(_shares(now))
    return len(there) == len(here) and all(map(np.array_equal, there, here))


def _shares(placement: Placement) -> Iterator[Array]:
    """Shares of layers and of the head, by location."""
    for groups in placement.weights.values():
        yield from (share for share, _ in by_share(groups))
    yield from placement.kv.values()
    yield from placement.output.values()


def _possible(stack: Stack, run: Run) -> Mask:
    """False where a placement cannot fit or be fast enough, shape (requests, machines)."""
    model, work = run.beside_machines
    if run.resident:
        return stack.each(may_hold(model, stack.machine, work, run.runtime))
    return stack.each(
        may_reach(
            model, stack.machine, work, run.runtime, run.strategy, run.constants(stack), run.least
        )
    )


def _by_size(stack: Stack, run: Run, request: Index, machine: Index) -> Iterator[Answered]:
    """Estimates placed once for each request and size of memory, and timed where they fit."""
    rows, row = np.unique(request * stack.size_count + stack.size[machine], return_inverse=True)
    row_request, row_size = np.divmod(rows, stack.size_count)
    for chosen in _alike(stack, run, row_request, row_size):
        model, work = run.at(row_request[chosen])
        sizes = taken(stack.sizes, row_size[chosen], stack.size_count)
        plan = estimate(model, sizes, work, run.runtime, run.strategy, fitted_constants())
        place = np.full(len(rows), -1)
        place[chosen] = np.arange(len(chosen))
        fits = np.broadcast_to(plan.fits, chosen.shape)[place[row]] & (place[row] >= 0)
        if plan.constants is not None and fits.any():
            yield _timed(stack, run, plan, request[fits], machine[fits], place[row][fits])


def _timed(
    stack: Stack, run: Run, plan: Estimate, request: Index, machine: Index, row: Index
) -> Answered:
    """A plan on machines of a stack.

    Args:
        stack: machines of a kind.
        run: requests, runtime and placement.
        plan: estimate by request and size.
        request: request of each pair, shape (pairs,).
        machine: machine of each pair, shape (pairs,).
        row: place in the plan of each pair, shape (pairs,).
    """
    constants, fits = run.constants(stack), np.ones((), dtype=bool)
    if not run.runtime.takes_several_formats:
        # Kernels of serving engines are named by the generation of all GPUs of a stack.
        shape = (len(run.contexts), np.size(stack.size))
        index = np.zeros(shape, dtype=int)
        index[request, machine] = row
        several = on_machines(plan, run.beside_machines[0], stack.machine, index, constants)
        return Answered(
            request=request, machine=machine, estimate=several, fits=fits,
            shape=shape, places=(request, machine),
        )  # fmt: skip
    pairs = taken(stack.machine, machine, np.size(stack.size))
    some = PickedConstants(constants, request, machine)
    model = picked(layers_together(run.model), request)
    several = on_machines(plan, model, pairs, row, some)
    return Answered(request=request, machine=machine, estimate=several, fits=fits)


def _alike(stack: Stack, run: Run, request: Index, size: Index) -> Iterator[Index]:
    """Rows that a runtime places in one way; all of them for most runtimes."""
    everything = np.arange(len(request))
    if run.runtime.apart is None:
        yield everything
        return
    model, work = run.at(request)
    sizes = taken(stack.sizes, size, stack.size_count)
    decision = run.runtime.apart(model, sizes, work) & np.ones(len(request), dtype=bool)
    for rows in (everything[decision], everything[~decision]):
        if len(rows):
            yield rows


def fill(speeds: Speeds, places: tuple[Index, Index], part: Answered, least: Array) -> None:
    """Fill in the speeds of an estimate, and its ranges if any speed is high enough.

    Args:
        speeds: speeds of all requests and machines.
        places: indices of the estimate's requests and machines.
        part: estimate with its pairs.
        least: speed from which ranges are needed, a number or one for each machine of the stack
            [tokens/s].
    """
    numbers = part.estimate
    if numbers.decode_tps is None:
        return
    fits, decode = part.of_pairs(part.fits), part.of_pairs(numbers.decode_tps)
    speeds.fits[places] = fits
    speeds.decode[places] = decode
    enough = least if np.ndim(least) == 0 else np.asarray(least)[part.machine]
    first = numbers.first_token_seconds if np.any(fits & (decode >= enough)) else None
    if first is None or not numbers.decode:
        return
    speeds.low[places] = part.of_pairs(numbers.decode.low)
    speeds.high[places] = part.of_pairs(numbers.decode.high)
    speeds.first_token[places] = part.of_pairs(first)
    speeds.load[places] = part.of_pairs(np.nan if numbers.load is None else numbers.load)
    speeds.waiting[places] = part.of_pairs(numbers.waiting)


EMPTY = 2
"""Most places of a stack with several numbers of cards, by its machines."""


class Fleet:
    """Machines, stacked by kind once for all models.

    Args:
        machines: machines, in the order of the results.
    """

    def __init__(self, machines: Sequence[Machine]) -> None:
        self.machines = tuple(machines)
        self._processors = _numbered(map(_processors, self.machines))
        self._kinds: dict[tuple[bool, bool, bool], Index] = {}
        self._sizes = {
            links: _numbered(_size(machine, links=links) for machine in self.machines)
            for links in (False, True)
        }
        self._stacks: dict[Hashable, Stack] = {}
        self._takes: dict[tuple[str, str, str], Mask] = {}
        self._grouped: dict[Hashable, tuple[Model, tuple[tuple[Index, Model], ...]]] = {}

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
        """Speeds of every machine.

        Args:
            requested: model in the requested format; each machine runs the nearest one that it can.
            work: request; its context may be an array of shape (contexts,).
            runtime: runtime.
            strategy: placement strategy.
            skip: mask of machines to leave out, of the result's shape or (machines,).
            least: speed of each machine below which it may be left out, as if the model did not
                fit, shape (machines,); None to leave out none [tokens/s].
        """
        contexts = np.atleast_1d(np.asarray(work.context, dtype=float))
        speeds = nothing(runtime.name, strategy, len(self.machines), len(contexts))
        wanted = np.broadcast_to(np.True_ if skip is None else ~skip, speeds.fits.shape)
        if self.machines and strategy in runtime.strategies:
            requests = np.arange(len(contexts))
            for members, model in self._groups(requested, runtime, strategy, len(requests)):
                speeds.formats[members] = model.format
                if wanted[:, members].any():
                    run = Run(
                        model=model, work=work, contexts=contexts, runtime=runtime,
                        strategy=strategy, least=0.0 if least is None else least[members],
                    )  # fmt: skip
                    self._run(speeds, run, requests, members, wanted)
        return speeds if np.ndim(work.context) else of_one_context(speeds)

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
        """Speeds of the machines that are fast enough, for several formats of a model at once.

        Machines on which the runtime loads another format are left out; slower machines may be left
        out, as if the model did not fit.

        Args:
            models: model in its formats; a single one for runtimes that take one at a time.
            work: request, with contexts of shape (contexts,).
            runtime: runtime.
            strategy: placement strategy.
            skip: mask of machines to leave out, of the result's shape.
            least: speed that is fast enough [tokens/s].

        Returns:
            Speeds of shape (formats x contexts, machines), with the contexts of a format together.
        """
        contexts = np.asarray(work.context, dtype=float)
        form, context = np.divmod(np.arange(len(models) * len(contexts)), len(contexts))
        speeds = nothing(runtime.name, strategy, len(self.machines), len(form))
        able = np.array([self._able(model, runtime) for model in models])
        wanted = ~skip & able[form]
        requests = np.flatnonzero(wanted.any(axis=1))
        if not len(requests):
            return speeds
        run = Run(
            model=in_many_formats([models[at] for at in form[requests]]), work=work,
            contexts=contexts[context[requests]], runtime=runtime, strategy=strategy, least=least,
        )  # fmt: skip
        kinds = self._kinds_for(runtime, strategy, len(requests))
        # A runtime for one vendor's cards refuses a stack with another's. Others take all, so that
        # their formats share stacks.
        stacked_too = able.any(axis=0) | (not runtime.takes_several_formats)
        for kind in np.unique(kinds[wanted.any(axis=0)]):
            members = np.flatnonzero((kinds == kind) & stacked_too)
            self._run(speeds, run, requests, members, wanted)
        return speeds

    def _run(self, speeds: Speeds, run: Run, requests: Index, members: Index, wanted: Mask) -> None:
        """Fill in the speeds of machines of a kind.

        Args:
            speeds: speeds of all requests and machines.
            run: requests, runtime and placement.
            requests: indices of the requests.
            members: indices of the machines.
            wanted: mask of wanted answers, of the shape of the speeds.
        """
        places = np.ix_(requests, members)
        if wanted[places].any():
            stack = self._stack(members, run)
            for part in estimates(stack, run, wanted[places]):
                fill(speeds, (requests[part.request], members[part.machine]), part, run.least)

    def _able(self, model: Model, runtime: Runtime) -> Mask:
        """Mask of machines on which a runtime loads a model in its own format."""
        key = (runtime.name, model.format, model.native)
        if key not in self._takes:
            kinds = range(self._processors.max() + 1)
            each = [self._as_run(model, runtime, number) for number in kinds]
            able = [own is not None and own.format == model.format for own in each]
            self._takes[key] = np.array(able)[self._processors]
        return self._takes[key]

    def _kinds_for(self, runtime: Runtime, strategy: PlacementStrategy, requests: int) -> Index:
        """Number of each machine's kind, equal where one estimate can stand for several."""
        resident = strategy is PlacementStrategy.GPU_RESIDENT and runtime.apart is None
        key = (not runtime.takes_layers, resident, several_counts(runtime, strategy, requests))
        if key not in self._kinds:
            kernels, resident, counts = key
            kinds = _numbered(
                kind_of(machine, kernels=kernels, resident=resident, counts=counts)
                for machine in self.machines
            )
            self._kinds[key] = self._well_filled(kinds) if counts else kinds
        return self._kinds[key]

    def _well_filled(self, kinds: Index) -> Index:
        """Kinds of which a stack has few places without a machine; others are divided by count."""
        counts = np.array([len(machine.gpus) for machine in self.machines])
        cards = _numbered(card_of(machine) if machine.gpus else None for machine in self.machines)
        divided = np.zeros_like(counts)
        for kind in np.unique(kinds):
            own = np.flatnonzero(kinds == kind)
            places = len(np.unique(counts[own])) * len(np.unique(cards[own]))
            if places > EMPTY * len(own):
                divided[own] = counts[own]
        return _numbered(zip(kinds.tolist(), divided.tolist(), strict=True))

    def _groups(
        self, requested: Model, runtime: Runtime, strategy: PlacementStrategy, requests: int
    ) -> Sequence[tuple[Index, Model]]:
        """Machines that one estimate can stand for, with the model as it runs there.

        Remembered for the latest model of each runtime, in GPUs and beside them.
        """
        key = (runtime.name, strategy is PlacementStrategy.GPU_RESIDENT, requests == 1)
        latest, groups = self._grouped.get(key, (None, ()))
        if latest is not requested:
            kinds = self._kinds_for(runtime, strategy, requests)
            groups = tuple(self._divided(requested, runtime, kinds))
            self._grouped[key] = requested, groups
        return groups

    def _divided(
        self, requested: Model, runtime: Runtime, kinds: Index
    ) -> Iterator[tuple[Index, Model]]:
        numbers = self._processors
        models = [self._as_run(requested, runtime, number) for number in range(numbers.max() + 1)]
        forms = {model.format: model for model in models if model is not None}
        names = [model.format if model else "" for model in models]
        for form, model in forms.items():
            able = np.array([name == form for name in names])[numbers]
            for kind in np.unique(kinds[able]):
                yield np.flatnonzero(able & (kinds == kind)), model

    def _as_run(self, requested: Model, runtime: Runtime, number: int) -> Model | None:
        """Model in the format that runs on a kind of processors; None where it does not run."""
        machine = self.machines[int(np.argmax(self._processors == number))]
        if runtime.engine == LLAMA_CPP.engine and not drives(machine):
            return None
        try:
            return as_run(requested, runtime, machine)
        except Refusal:
            return None

    def _stack(self, members: Index, run: Run) -> Stack:
        links = run.runtime.reads_over_link
        counts = several_counts(run.runtime, run.strategy, len(run.contexts))
        counts = counts and of_one_card(self.machines[members[0]])
        key = (members.tobytes(), links, counts)
        stack = self._stacks.get(key)
        if stack is None:
            own = self._with_counts(members) if counts else self._stacked(members, links=links)
            stack = self._stacks[key] = own
        return stack

    def _with_counts(self, members: Index) -> Stack:
        """Stack of machines with several numbers of one kind of card each."""
        machines = [self.machines[member] for member in members]
        counts, row = np.unique([len(own.gpus) for own in machines], return_inverse=True)
        column = _numbered(map(card_of, machines))
        first = np.unique(column, return_index=True)[1]
        cards = [machines[at] for at in first]
        machine = with_counts(cards, counts.tolist())
        return Stack(
            machine=machine, backend=backends_of(cards), places=(row, column),
            sizes=machine, size_count=len(first), size=column,
        )  # fmt: skip

    def _stacked(self, members: Index, *, links: bool) -> Stack:
        _, first, size = np.unique(
            self._sizes[links][members], return_index=True, return_inverse=True
        )
        machines = [self.machines[member] for member in members]
        return Stack(
            machine=stacked(machines),
            backend=backends_of(machines),
            places=(np.arange(len(members)),),
            sizes=stacked([self.machines[member] for member in members[first]]),
            size_count=len(first),
            size=size,
        )


def _numbered(keys: Iterable[Hashable]) -> Index:
    """Numbers from 0, equal for equal keys."""
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in keys])


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
        links
        and tuple(
            (float(gpu.link.pinned.value), float(gpu.link.zero_copy.value)) for gpu in machine.gpus
        ),
    )
