"""Speeds of one model on many machines, by as few estimates as there are kinds of machines."""

from collections.abc import Hashable, Iterable, Iterator, Sequence

import numpy as np

from advisor.advice.compare import as_run
from advisor.advice.fleet.speed_table import COLUMNS, Speeds, fill, of_one_context
from advisor.advice.fleet.stacks import Mask, Run, Stack, estimates, several_counts
from advisor.cost_model.many_machines import Index
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.backends import drives
from advisor.machine.machine import Machine
from advisor.machine.stacked import (
    backends_of,
    card_of,
    kind_of,
    of_one_card,
    stacked,
    with_counts,
)
from advisor.model.many_formats import in_many_formats
from advisor.model.model import Floats, Model
from advisor.runtimes import LLAMA_CPP, Runtime

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
        speeds = self._nothing(runtime, strategy, len(contexts))
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

    def untimed(self, runtime: Runtime, strategy: PlacementStrategy) -> Speeds:
        """Speeds of which none is computed, each field of shape (machines,)."""
        return of_one_context(self._nothing(runtime, strategy, 1))

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
        speeds = self._nothing(runtime, strategy, len(form))
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

    def _nothing(self, runtime: Runtime, strategy: PlacementStrategy, requests: int) -> Speeds:
        """Empty speeds, to be filled."""
        shape = (requests, len(self.machines))
        return Speeds(
            strategy=strategy,
            runtime=runtime.name,
            formats=np.full(shape[1], "", dtype=object),
            fits=np.zeros(shape, dtype=bool),
            **{name: np.full(shape, np.nan) for name in COLUMNS},
        )

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
