"""Speeds of one model on many machines, by as few estimates as there are kinds of machines."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from advisor.advice.compare import as_run
from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.machine.stacked import kind_of, stacked
from advisor.model.model import Floats, Model
from advisor.runtimes import Runtime

ONE_SIZE = ("Ollama", "SGLang", "vLLM")
"""Runtimes that decide by a card's memory and link, and so take cards alike in both at a time."""


@dataclass(frozen=True, kw_only=True)
class Speed:
    """What a machine reaches in one placement.

    Attributes:
        strategy: where the model lies.
        format: that it has there.
        decode: tokens generated for each user [tokens/s].
        low: lower end of the range that should hold it four times in five [tokens/s].
        high: its upper end [tokens/s].
        first_token: until the first token comes [s].
        load: to read the file from the drive [s]; None where its speed is not known.
    """

    strategy: PlacementStrategy
    format: str
    decode: float
    low: float
    high: float
    first_token: float
    load: float | None

    @property
    def whole(self) -> bool:
        """The whole model lies in the GPUs."""
        return self.strategy is PlacementStrategy.GPU_RESIDENT


def speed_of(one: Estimate) -> Speed | None:
    """The speed of a single estimate; None where it does not run."""
    if one.decode is None or one.first_token is None or not bool(one.fits):
        return None
    return Speed(
        strategy=one.strategy,
        format=one.model.format,
        decode=float(one.decode.value),
        low=float(one.decode.low),
        high=float(one.decode.high),
        first_token=float(one.first_token.value),
        load=None if one.load is None else float(one.load),
    )


@dataclass(frozen=True, kw_only=True)
class Speeds:
    """What many machines reach in one placement, each field of shape (machines,).

    Attributes:
        strategy: where the model lies.
        formats: that it has on each; empty where it does not run.
        fits: every memory holds what it must.
        decode: tokens generated for each user; not a number where it does not run [tokens/s].
        low: lower end of the range that should hold it four times in five [tokens/s].
        high: its upper end [tokens/s].
        first_token: until the first token comes [s].
        load: to read the file from the drive; not a number where its speed is not known [s].
    """

    strategy: PlacementStrategy
    formats: list[str]
    fits: npt.NDArray[np.bool_]
    decode: Floats
    low: Floats
    high: Floats
    first_token: Floats
    load: Floats

    def at(self, index: int) -> Speed | None:
        """One of them; None where the model does not run or does not fit."""
        if not self.fits[index]:
            return None
        load = float(self.load[index])
        return Speed(
            strategy=self.strategy,
            format=self.formats[index],
            decode=float(self.decode[index]),
            low=float(self.low[index]),
            high=float(self.high[index]),
            first_token=float(self.first_token[index]),
            load=None if np.isnan(load) else load,
        )


class Fleet:
    """Many machines, stacked by kind once for all models that are tried on them.

    Args:
        machines: in the order of the results.
    """

    def __init__(self, machines: Sequence[Machine]) -> None:
        self.machines = tuple(machines)
        self._processors = [_processors(machine) for machine in self.machines]
        self._kinds = {
            kernels: [kind_of(machine, kernels=kernels) for machine in self.machines]
            for kernels in (False, True)
        }
        self._sizes = [
            tuple((gpu.memory.value, gpu.link.pinned.value) for gpu in machine.gpus)
            for machine in self.machines
        ]
        self._stacks: dict[tuple[int, ...], Machine] = {}

    def speeds(
        self, asked: Model, work: Workload, runtime: Runtime, strategy: PlacementStrategy
    ) -> Speeds:
        """What every machine reaches.

        Args:
            asked: the model in the format asked for; each machine runs the nearest that it can.
            work: what is asked.
            runtime: that runs it.
            strategy: where the model lies.
        """
        count = len(self.machines)
        columns = {name: np.full(count, np.nan) for name in _COLUMNS}
        found = Speeds(
            strategy=strategy, formats=[""] * count, fits=np.zeros(count, dtype=bool), **columns
        )
        if strategy not in runtime.strategies:
            return found
        for members, model in self._groups(asked, runtime):
            machine = self._stacks.get(members)
            if machine is None:
                machine = stacked([self.machines[index] for index in members])
                self._stacks[members] = machine
            one = estimate(model, machine, work, runtime, strategy, fitted_constants())
            _fill(found, np.array(members), one)
        return found

    def _groups(self, asked: Model, runtime: Runtime) -> list[tuple[tuple[int, ...], Model]]:
        """Machines that one estimate can stand for, with the model as it runs there."""
        models = self._models(asked, runtime)
        groups: dict[Hashable, list[int]] = {}
        chosen: dict[Hashable, Model] = {}
        for index, processors in enumerate(self._processors):
            model = models[processors]
            if model is not None:
                size = self._sizes[index] if runtime.name in ONE_SIZE else ()
                key = (model.format, self._kinds[not runtime.takes_layers][index], size)
                groups.setdefault(key, []).append(index)
                chosen[key] = model
        return [(tuple(members), chosen[key]) for key, members in groups.items()]

    def _models(self, asked: Model, runtime: Runtime) -> dict[Hashable, Model | None]:
        """The model as it runs on each kind of processors; None where it does not."""
        models: dict[Hashable, Model | None] = {}
        for processors, machine in zip(self._processors, self.machines, strict=True):
            if processors not in models:
                try:
                    models[processors] = as_run(asked, runtime, machine)
                except Refusal:
                    models[processors] = None
        return models


_COLUMNS = ("decode", "low", "high", "first_token", "load")


def _processors(machine: Machine) -> Hashable:
    """What a runtime chooses a format by."""
    gpus = frozenset((gpu.vendor, gpu.family) for gpu in machine.gpus)
    return (gpus, machine.host.instruction_sets)


def _fill(found: Speeds, members: npt.NDArray[np.int_], one: Estimate) -> None:
    """Write one estimate's figures into their places."""
    if one.decode is None or one.first_token is None:
        return
    found.fits[members] = one.fits
    found.decode[members] = one.decode.value
    found.low[members] = one.decode.low
    found.high[members] = one.decode.high
    found.first_token[members] = one.first_token.value
    if one.load is not None:
        found.load[members] = one.load
    for index in members:
        found.formats[index] = one.model.format


def speeds(
    asked: Model,
    machines: Sequence[Machine],
    work: Workload,
    runtime: Runtime,
    strategy: PlacementStrategy,
) -> list[Speed | None]:
    """One speed for each machine; None where the model does not run there or does not fit.

    Args:
        asked: the model in the format asked for; each machine runs the nearest that it can.
        machines: where.
        work: what is asked.
        runtime: that runs it.
        strategy: where the model lies.
    """
    found = Fleet(machines).speeds(asked, work, runtime, strategy)
    return [found.at(index) for index in range(len(machines))]
