"""Speeds of one model on many machines, by as few estimates as there are kinds of machines."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from advisor.advice.compare import as_run
from advisor.advice.speed_bounds import may_reach
from advisor.advice.speeds import Speed
from advisor.catalog.constants import Constants, Scope, fitted_constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.many_machines import Index, on_machines, taken
from advisor.cost_model.measured_constants import constants_on
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.backends import of_machine
from advisor.machine.machine import Machine
from advisor.machine.stacked import kind_of, stacked
from advisor.model.model import Floats, Model
from advisor.runtimes import Runtime

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Speeds:
    """What many machines reach in one placement, each field of shape (machines,), or with several
    contexts (contexts, machines).

    Attributes:
        strategy: where the model lies.
        runtime: name of what runs it.
        formats: that it has on each, shape (machines,); empty where it does not run.
        fits: every memory holds what it must.
        decode: tokens generated for each user; not a number where it does not run or is not
            wanted [tokens/s].
        low: lower end of the range that should hold it four times in five [tokens/s].
        high: its upper end [tokens/s].
        first_token: until the first token comes [s].
        load: to read the file from the drive; not a number where its speed is not known [s].
        waiting: users who do not fit beside those who are answered; not a number as `decode`.
    """

    strategy: PlacementStrategy
    runtime: str
    formats: npt.NDArray[np.object_]
    fits: Mask
    decode: Floats
    low: Floats
    high: Floats
    first_token: Floats
    load: Floats
    waiting: Floats

    def at(self, machine: int, context: int | None = None) -> Speed | None:
        """One of them; None where the model does not run or does not fit.

        Args:
            machine: its place.
            context: the context's place, where there are several.
        """
        place = machine if context is None else (context, machine)
        if not self.fits[place]:
            return None
        load = float(self.load[place])
        return Speed(
            strategy=self.strategy,
            runtime=self.runtime,
            format=str(self.formats[machine]),
            decode=float(self.decode[place]),
            low=float(self.low[place]),
            high=float(self.high[place]),
            first_token=float(self.first_token[place]),
            load=None if np.isnan(load) else load,
        )


@dataclass(frozen=True, kw_only=True)
class Stack:
    """Machines of a kind as one.

    Attributes:
        machine: all of them, each figure of shape (machines,).
        backend: their backends, as `backends.of_machine` gives them.
        sizes: one for each size of memory, shape (sizes,).
        size_count: sizes of memory.
        size: for each machine its place among `sizes`, shape (machines,).
    """

    machine: Machine
    backend: str
    sizes: Machine
    size_count: int
    size: Index


class Fleet:
    """Many machines, stacked by kind once for all models that are tried on them.

    Args:
        machines: in the order of the results.
    """

    def __init__(self, machines: Sequence[Machine]) -> None:
        self.machines = tuple(machines)
        self._processors = _numbered(map(_processors, self.machines))
        self._kinds = {
            kernels: _numbered(kind_of(machine, kernels=kernels) for machine in self.machines)
            for kernels in (False, True)
        }
        self._sizes = {
            links: _numbered(_size(machine, links=links) for machine in self.machines)
            for links in (False, True)
        }
        self._stacks: dict[Hashable, Stack] = {}

    def speeds(
        self,
        requested: Model,
        work: Workload,
        runtime: Runtime,
        strategy: PlacementStrategy,
        *,
        skip: Mask | None = None,
        as_requested: bool = False,
        least: float = 0.0,
    ) -> Speeds:
        """What every machine reaches.

        Args:
            requested: the model in the requested format; each machine runs the nearest that it can.
            work: request; its context may be several, shape (contexts,).
            runtime: that runs it.
            strategy: where the model lies.
            skip: machines that need no answer, shape as the result's or (machines,).
            as_requested: leave out machines on which the runtime takes another format.
            least: speed below which a machine need not be answered: it may count as one that the
                model does not fit [tokens/s].
        """
        contexts = np.atleast_1d(np.asarray(work.context, dtype=float))
        shape = (len(contexts), len(self.machines))
        speeds = Speeds(
            strategy=strategy,
            runtime=runtime.name,
            formats=np.full(shape[1], "", dtype=object),
            fits=np.zeros(shape, dtype=bool),
            **{name: np.full(shape, np.nan) for name in _COLUMNS},
        )
        wanted = np.broadcast_to(np.True_ if skip is None else ~skip, shape)
        if self.machines and strategy in runtime.strategies:
            run = Run(work=work, contexts=contexts, runtime=runtime, strategy=strategy, least=least)
            for members, model in self._groups(requested, runtime):
                other = as_requested and model.format != requested.format
                if other or not wanted[:, members].any():
                    continue
                stack = self._stack(members, links=runtime.reads_over_link)
                for mask, part in _estimates(stack, model, run, wanted[:, members]):
                    _fill(speeds, members, mask, part, least)
        return speeds if np.ndim(work.context) else _first(speeds)

    def _groups(self, requested: Model, runtime: Runtime) -> Iterator[tuple[Index, Model]]:
        """Machines that one estimate can stand for, with the model as it runs there."""
        numbers, kinds = self._processors, self._kinds[not runtime.takes_layers]
        models = [self._as_run(requested, runtime, number) for number in range(numbers.max() + 1)]
        forms = {model.format: model for model in models if model is not None}
        names = [model.format if model else "" for model in models]
        for form, model in forms.items():
            able = np.array([name == form for name in names])[numbers]
            for kind in np.unique(kinds[able]):
                yield np.flatnonzero(able & (kinds == kind)), model

    def _as_run(self, requested: Model, runtime: Runtime, number: int) -> Model | None:
        """The model as it runs on one kind of processors; None where it does not."""
        machine = self.machines[int(np.argmax(self._processors == number))]
        try:
            return as_run(requested, runtime, machine)
        except Refusal:
            return None

    def _stack(self, members: Index, *, links: bool) -> Stack:
        key = (members.tobytes(), links)
        stack = self._stacks.get(key)
        if stack is None:
            stack = self._stacks[key] = self._stacked(members, links=links)
        return stack

    def _stacked(self, members: Index, *, links: bool) -> Stack:
        _, first, size = np.unique(
            self._sizes[links][members], return_index=True, return_inverse=True
        )
        machine = stacked([self.machines[member] for member in members])
        return Stack(
            machine=machine,
            backend=of_machine(machine),
            sizes=stacked([self.machines[member] for member in members[first]]),
            size_count=len(first),
            size=size,
        )


_COLUMNS = ("decode", "low", "high", "first_token", "load", "waiting")


def _numbered(keys: Iterable[Hashable]) -> Index:
    """The same number for equal keys, counted from 0."""
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in keys])


def _processors(machine: Machine) -> Hashable:
    """What a runtime chooses a format by."""
    gpus = frozenset((gpu.vendor, gpu.family) for gpu in machine.gpus)
    return (gpus, machine.host.instruction_sets)


def _size(machine: Machine, *, links: bool) -> Hashable:
    """What a runtime places by, besides the kind of machine."""
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


@dataclass(frozen=True, kw_only=True)
class Run:
    """What is run on a stack.

    Attributes:
        work: request.
        contexts: its contexts, shape (contexts,) [tokens].
        runtime: that runs it.
        strategy: where the model lies.
        least: speed below which nothing need be answered [tokens/s].
    """

    work: Workload
    contexts: Floats
    runtime: Runtime
    strategy: PlacementStrategy
    least: float

    def constants(self, model: Model, stack: Stack) -> Constants:
        """Constants in the scope of a model's estimates on a stack."""
        scope = Scope(
            runtime=self.runtime.key,
            decode_class=model.decode_class,
            backend=stack.backend,
            build=self.runtime.build,
        )
        return constants_on(stack.machine.host, model, fitted_constants().bound(scope))


def _estimates(
    stack: Stack, model: Model, run: Run, wanted: Mask
) -> Iterator[tuple[Mask, Estimate]]:
    """Estimates of a stack, each with the places that it holds for; none where nothing can fit.

    Args:
        stack: machines of a kind.
        model: in the format that the runtime runs.
        run: request, runtime and placement.
        wanted: machines whose answer matters, shape (contexts, machines).
    """
    needed = wanted & may_reach(
        model, stack.machine, run.work, run.runtime, run.strategy,
        run.constants(model, stack), run.least,
    )  # fmt: skip
    if not needed.any():
        return
    if run.strategy is PlacementStrategy.GPU_RESIDENT and run.runtime.apart is None:
        yield needed, _resident(stack, model, run)
    else:
        yield from _by_size(stack, model, run, needed)


def _resident(stack: Stack, model: Model, run: Run) -> Estimate:
    """Estimate of shape (contexts, machines): where all lies in GPUs, memory decides no placement.

    Numbers that depend on the context alone stay of shape (contexts, 1), those of the machine alone
    of shape (machines,).
    """
    work = replace(run.work, context=run.contexts[:, None])
    return estimate(
        model, stack.machine, work, run.runtime, run.strategy, fitted_constants(),
        backend=stack.backend,
    )  # fmt: skip


def _by_size(stack: Stack, model: Model, run: Run, needed: Mask) -> Iterator[tuple[Mask, Estimate]]:
    """Estimates placed once for each size of memory and context that is needed."""
    pairs = np.zeros((len(run.contexts), stack.size_count), dtype=bool)
    context, machine = np.nonzero(needed)
    pairs[context, stack.size[machine]] = True
    context, size = np.nonzero(pairs)
    sizes = taken(stack.sizes, size, stack.size_count)
    work = replace(run.work, context=run.contexts[context])
    for part in _alike(sizes, model, work, run.runtime):
        rows = np.flatnonzero(part)
        plan = estimate(
            model, *taken((sizes, work), rows, len(part)),
            run.runtime, run.strategy, fitted_constants(),
        )  # fmt: skip
        place = np.full(pairs.shape, -1)
        place[context[rows], size[rows]] = np.arange(len(rows))
        index = place[:, stack.size]
        holds = needed & (index >= 0) & np.broadcast_to(plan.fits, rows.shape)[index]
        if plan.constants is not None and holds.any():
            yield (
                needed & (index >= 0),
                on_machines(plan, stack.machine, index, plan.constants, stack.backend),
            )


def _alike(sizes: Machine, model: Model, work: Workload, runtime: Runtime) -> Iterator[Mask]:
    """Sizes that a runtime places in one way, as masks; all of them for most runtimes."""
    everything = np.ones(np.size(work.context), dtype=bool)
    if runtime.apart is None:
        yield everything
        return
    decision = runtime.apart(model, sizes, work) & everything
    for part in (decision, ~decision):
        if part.any():
            yield part


def _fill(speeds: Speeds, members: Index, mask: Mask, part: Estimate, least: float) -> None:
    """Write one estimate's figures into their places; ranges where a speed is reached."""
    if part.decode_tps is None:
        return
    columns = {"fits": part.fits, "decode": part.decode_tps}
    with np.errstate(invalid="ignore"):
        fast = mask & part.fits & (part.decode_tps >= least)
    if fast.any() and part.decode is not None and part.first_token is not None:
        columns |= {
            "low": part.decode.low,
            "high": part.decode.high,
            "first_token": part.first_token.value,
            "load": np.nan if part.load is None else part.load,
            "waiting": part.waiting,
        }
    for name, values in columns.items():
        column = getattr(speeds, name)
        column[:, members] = np.where(mask, values, column[:, members])
    speeds.formats[members] = part.model.format


def _first(speeds: Speeds) -> Speeds:
    """Of results of one context those of it, without that axis."""
    return replace(
        speeds, fits=speeds.fits[0], **{name: getattr(speeds, name)[0] for name in _COLUMNS}
    )
