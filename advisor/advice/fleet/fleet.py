"""Speeds of one model on many machines, by as few estimates as there are kinds of machines."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from advisor.advice.compare import as_run
from advisor.advice.fleet.stacks import Answered, Mask, Run, Stack, estimates
from advisor.advice.speeds import Speed
from advisor.cost_model.many_machines import Index
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.backends import of_machine
from advisor.machine.machine import Machine
from advisor.machine.stacked import kind_of, stacked
from advisor.model.many_formats import in_many_formats
from advisor.model.model import Floats, Model
from advisor.runtimes import Runtime


@dataclass(frozen=True, kw_only=True)
class Speeds:
    """Speeds of many machines in one placement, each field of shape (machines,), or (contexts,
    machines) with several contexts.

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
        """Speed of one machine; None where the model does not run or does not fit.

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


class Fleet:
    """Machines stacked by kind, once for all models that are tried on them.

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
        self._takes: dict[tuple[str, str, str], Mask] = {}

    def speeds(
        self,
        requested: Model,
        work: Workload,
        runtime: Runtime,
        strategy: PlacementStrategy,
        *,
        skip: Mask | None = None,
    ) -> Speeds:
        """Speeds of every machine.

        Args:
            requested: the model in the requested format; each machine runs the nearest that it can.
            work: request; its context may be several, shape (contexts,).
            runtime: that runs it.
            strategy: where the model lies.
            skip: machines that need no answer, shape as the result's or (machines,).
        """
        contexts = np.atleast_1d(np.asarray(work.context, dtype=float))
        speeds = self._nothing(runtime, strategy, len(contexts))
        wanted = np.broadcast_to(np.True_ if skip is None else ~skip, speeds.fits.shape)
        if self.machines and strategy in runtime.strategies:
            for members, model in self._groups(requested, runtime):
                run = Run(
                    model=model, work=work, contexts=contexts, runtime=runtime, strategy=strategy
                )
                self._run(speeds, run, np.arange(len(contexts)), members, wanted)
                speeds.formats[members] = model.format
        return speeds if np.ndim(work.context) else _first(speeds)

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

        Machines on which the runtime takes another format have no answer; those that are slower may
        have none, as if the model did not fit.

        Args:
            models: a model in its formats; one where the runtime takes no several.
            work: request, with contexts of shape (contexts,).
            runtime: that runs it.
            strategy: where the model lies.
            skip: machines that need no answer, shape as the result's.
            least: speed that is fast enough [tokens/s].

        Returns:
            Shape (formats x contexts, machines), the contexts of each format side by side.
        """
        contexts = np.asarray(work.context, dtype=float)
        form, context = np.divmod(np.arange(len(models) * len(contexts)), len(contexts))
        speeds = self._nothing(runtime, strategy, len(form))
        wanted = ~skip & np.array([self._able(model, runtime) for model in models])[form]
        requests = np.flatnonzero(wanted.any(axis=1))
        if not len(requests):
            return speeds
        run = Run(
            model=in_many_formats([models[at] for at in form[requests]]), work=work,
            contexts=contexts[context[requests]], runtime=runtime, strategy=strategy, least=least,
        )  # fmt: skip
        kinds = self._kinds[not runtime.takes_layers]
        for kind in np.unique(kinds[wanted.any(axis=0)]):
            self._run(speeds, run, requests, np.flatnonzero(kinds == kind), wanted)
        return speeds

    def _nothing(self, runtime: Runtime, strategy: PlacementStrategy, requests: int) -> Speeds:
        """Speeds of which none is known yet."""
        shape = (requests, len(self.machines))
        return Speeds(
            strategy=strategy,
            runtime=runtime.name,
            formats=np.full(shape[1], "", dtype=object),
            fits=np.zeros(shape, dtype=bool),
            **{name: np.full(shape, np.nan) for name in _COLUMNS},
        )

    def _run(self, speeds: Speeds, run: Run, requests: Index, members: Index, wanted: Mask) -> None:
        """Write what machines of a kind reach into its places.

        Args:
            speeds: of all requests and machines.
            run: what is run.
            requests: places of its requests.
            members: places of the machines.
            wanted: machines whose answer matters, shape as that of the speeds.
        """
        places = np.ix_(requests, members)
        if wanted[places].any():
            stack = self._stack(members, links=run.runtime.reads_over_link)
            for part in estimates(stack, run, wanted[places]):
                _fill(speeds, (requests[part.request], members[part.machine]), part, run.least)

    def _able(self, model: Model, runtime: Runtime) -> Mask:
        """Machines on which a runtime takes a model in the very format that it has."""
        key = (runtime.name, model.format, model.native)
        if key not in self._takes:
            kinds = range(self._processors.max() + 1)
            each = [self._as_run(model, runtime, number) for number in kinds]
            able = [own is not None and own.format == model.format for own in each]
            self._takes[key] = np.array(able)[self._processors]
        return self._takes[key]

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


def _fill(speeds: Speeds, places: tuple[Index, Index], part: Answered, least: float) -> None:
    """Write an estimate's figures into their places; ranges where a speed is reached.

    Args:
        speeds: of all requests and machines.
        places: requests and machines of the estimate's pairs among them.
        part: the estimate.
        least: speed from which on ranges matter [tokens/s].
    """
    numbers = part.estimate
    if numbers.decode_tps is None:
        return
    fits, decode = part.of_pairs(numbers.fits), part.of_pairs(numbers.decode_tps)
    speeds.fits[places] = fits
    speeds.decode[places] = decode
    if not np.any(fits & (decode >= least)) or not numbers.decode or not numbers.first_token:
        return
    speeds.low[places] = part.of_pairs(numbers.decode.low)
    speeds.high[places] = part.of_pairs(numbers.decode.high)
    speeds.first_token[places] = part.of_pairs(numbers.first_token.value)
    speeds.load[places] = part.of_pairs(np.nan if numbers.load is None else numbers.load)
    speeds.waiting[places] = part.of_pairs(numbers.waiting)


def _first(speeds: Speeds) -> Speeds:
    """Results of the only context, without that axis."""
    return replace(
        speeds, fits=speeds.fits[0], **{name: getattr(speeds, name)[0] for name in _COLUMNS}
    )
