"""Speed of a machine, and speeds of many machines as columns."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.schedule import Route
from advisor.cost_model.uncertainty import Range
from advisor.model.model import Floats
from advisor.units import range_of, tokens_per_second


@dataclass(frozen=True)
class RouteUse:
    """Use of a route while tokens are generated."""

    rate: float  # rate of the first runtime that takes it, fixed costs apart [B/s]
    runtimes: list[str] = field(default_factory=list)  # names of all, as in the comparison


def route_bytes(estimate: Estimate) -> dict[Route, float]:
    """Bytes that a token moves on each route [B]."""
    carried: dict[Route, float] = {}
    for stage in estimate.phases.decode.stages if estimate.phases else ():
        for flow in stage:
            if flow.load is None:
                size = flow.moved
            else:
                size = flow.load.weights + flow.load.kv
            carried[flow.route] = carried.get(flow.route, 0.0) + float(np.ravel(size)[0])
    return carried


def route_use(estimates: Iterable[Estimate]) -> Mapping[Route, RouteUse]:
    """Use of each route in a comparison.

    Estimates that do not fit count too, with the rate that they would reach.
    """
    uses: dict[Route, RouteUse] = {}
    for estimate in estimates:
        for route, size in route_bytes(estimate).items():
            if estimate.step:
                spent = float(np.ravel(estimate.step.parts.get(route, 0.0))[0])
            else:
                spent = 0
            if size > 0 and spent > 0:
                use = uses.setdefault(route, RouteUse(size / spent))
                if estimate.runtime.name not in use.runtimes:
                    use.runtimes.append(estimate.runtime.name)
    return uses


Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Speed:
    """Speed of a machine in one placement."""

    strategy: PlacementStrategy  # placement strategy
    runtime: str = ""  # name of the runtime; empty for an API
    format: str  # format of the model there
    decode: float  # decode speed for each user [tokens/s]
    low: float  # lower end of the 80 % range [tokens/s]
    high: float  # upper end of the 80 % range [tokens/s]
    first_token: float  # time to first token [s]
    load: float | None  # time to load the file from the drive [s]; None where unknown
    waiting: float = 0.0  # users in the queue, for whom the caches have no room at the same time
    arrangement: str = ""  # GPUs in use, as `Arrangement.words`; empty for all of them as one
    # wait for the first word at the mean load, where several machines share the users; None where
    # it follows from the time to the first token [s]
    shared_wait: float | None = None

    @property
    def loading(self) -> float:
        """Time to load the file, 0 where unknown [s]."""
        return self.load or 0.0

    @property
    def range(self) -> Range:
        """Decode speed with its 80 % range [tokens/s]."""
        return Range(value=self.decode, low=self.low, high=self.high)

    @property
    def words(self) -> str:
        """Decode speed with its range: "12 tokens/s (10 to 14)"."""
        return f"{tokens_per_second(self.decode)} ({range_of(self.low, self.high)})"

    @property
    def whole(self) -> bool:
        """Whether the GPUs hold the whole model."""
        return self.strategy is PlacementStrategy.GPU_RESIDENT


def speed_of(estimate: Estimate) -> Speed | None:
    """Speed of a single estimate; None where it does not run."""
    first = estimate.first_token_seconds
    if estimate.decode is None or first is None or not bool(estimate.fits):
        return None
    decode = estimate.decode
    load = math.nan if estimate.load is None else estimate.load
    numbers = (decode.value, decode.low, decode.high, first, load, estimate.waiting)
    words = estimate.arrangement.words if estimate.arrangement else ""
    return of_numbers(
        estimate.strategy, estimate.runtime.name, estimate.model.format, numbers, words
    )


def of_numbers(
    strategy: PlacementStrategy,
    runtime: str,
    form: str,
    numbers: Iterable[Any],
    arrangement: str = "",
) -> Speed:
    """Speed made of the numbers of `COLUMNS`, in which NaN is unknown."""
    decode, low, high, first, load, waiting = map(float, numbers)
    return Speed(
        strategy=strategy,
        runtime=runtime,
        format=form,
        decode=decode,
        low=low,
        high=high,
        first_token=first,
        load=None if math.isnan(load) else load,
        waiting=0.0 if math.isnan(waiting) else waiting,
        arrangement=arrangement,
    )


COLUMNS = ("decode", "low", "high", "first_token", "load", "waiting")
"""Numbers of a machine's speed."""
OF_A_REQUEST = ("fits", "arrangements", *COLUMNS)
"""Columns with a place for each request."""


@dataclass(frozen=True, kw_only=True)
class Speeds:
    """Speeds of machines as columns, of shape (machines,) or (contexts, machines)."""

    strategies: npt.NDArray[np.object_]  # placement strategy of each machine, shape (machines,)
    runtimes: npt.NDArray[np.object_]  # name of the runtime, shape (machines,)
    formats: npt.NDArray[np.object_]  # of the model, shape (machines,); empty where it does not run
    fits: Mask  # whether every memory is large enough
    decode: Floats  # decode speed for each user; NaN where it does not run or matter [tokens/s]
    low: Floats  # lower end of the 80 % range [tokens/s]
    high: Floats  # upper end of the 80 % range [tokens/s]
    first_token: Floats  # time to first token [s]
    load: Floats  # time to read the file from the drive; NaN where unknown [s]
    waiting: Floats  # users in the queue; NaN as `decode`
    # GPUs in use, of the shape of the numbers; empty for all of a machine as one
    arrangements: npt.NDArray[np.object_]

    def at(self, machine: int, context: int | None = None) -> Speed | None:
        """Speed of one machine, in one of several contexts; None where nothing fits."""
        index = machine if context is None else (context, machine)
        if not self.fits[index]:
            return None
        numbers = (getattr(self, name)[index] for name in COLUMNS)
        runtime = str(self.runtimes[machine])
        form = str(self.formats[machine])
        words = str(self.arrangements[index])
        return of_numbers(self.strategies[machine], runtime, form, numbers, words)

    def __iter__(self) -> Iterator[Speed | None]:
        return map(self.at, range(len(self.formats)))

    def take_over(self, others: "Speeds", where: Mask) -> None:
        """Replace the speeds of some machines, shape (machines,), with those of another record."""
        places = np.flatnonzero(where)
        for name in ("strategies", "runtimes", "formats", *OF_A_REQUEST):
            getattr(self, name)[places] = getattr(others, name)[places]

    def joined(self, others: "Speeds", where: Mask) -> "Speeds":
        """Speeds in which another record replaces some places, shape (..., machines)."""
        columns = {
            name: np.where(where, getattr(others, name), getattr(self, name))
            for name in OF_A_REQUEST
        }
        return replace(self, **columns)

    def of_first(self, count: int) -> "Speeds":
        """Copy of the speeds of the first machines, to be changed."""
        columns = {each.name: getattr(self, each.name)[..., :count].copy() for each in fields(self)}
        return Speeds(**columns)


def nothing(
    runtime: str, strategy: PlacementStrategy | None, machines: int, requests: int | None = None
) -> Speeds:
    """Speeds of machines without numbers, to be filled in; with an axis of contexts for several
    requests.
    """
    shape = (machines,) if requests is None else (requests, machines)
    strategies = np.empty(machines, dtype=object)
    strategies.fill(strategy)  # `numpy.full` would turn it into text
    return Speeds(
        strategies=strategies,
        runtimes=np.full(machines, runtime, dtype=object),
        formats=np.full(machines, "", dtype=object),
        fits=np.zeros(shape, dtype=bool),
        arrangements=np.full(shape, "", dtype=object),
        **{name: np.full(shape, np.nan) for name in COLUMNS},
    )


def of_one_context(speeds: Speeds) -> Speeds:
    """Speeds of a single context, without its axis."""
    return replace(speeds, **{name: getattr(speeds, name)[0] for name in OF_A_REQUEST})
