"""Chance: how far machines, engines and runs of the same description differ.

    log t = log t(constants, question) + sum over components of sd weight u + noise

Each component has a standard normal u that runs share where they have the same attributes (the
same machine; of it the same phase, engine, format or model), and weighs by the share of the time
that its part takes. Numbers of users and lengths of context are alike by degrees
(`NEAR`). So two runs of one machine have a covariance, and a run that is known teaches
what another one will do. The standard deviations (data/generated/chance.csv) are fitted by
`python -m lab.chance` to errors of predictions that were made without the run's publisher.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import FixedTime
from advisor.lazy import lazy
from advisor.units import Array

TABLE = DATA / "generated/chance.csv"
GPU = "gpu"
CPU = "cpu"
DRIVE = "drive"
FIXED = "fixed"
WHOLE = ""
"""Parts of a time: what GPUs take, their link and their fixed costs included; what the processor
and the drive take; fixed costs alone; the whole of it."""
PART_OF: Mapping[str, str] = {
    Route.RESIDENT: GPU,
    Route.STREAMED: GPU,
    Route.IN_PLACE: CPU,
    Route.PAGED: DRIVE,
    Route.STAGED: DRIVE,
    FixedTime.LAYERS: FIXED,
    FixedTime.TOKEN: FIXED,
    FixedTime.CROSSINGS: FIXED,
}
"""Part of each route and fixed cost of a `StepTime`."""
OF_LLAMA_CPP = "llama.cpp"
OF_OTHERS = "others"
"""Families of engines: llama.cpp with its forks, and all others."""
ALIKE = ("phase", "engine", "format", "experts", "model", "users", "length")
"""Attributes that two runs of a machine may have in common."""
NEAR: Mapping[str, float] = {"users": 0.0, "length": 1000.0}
"""Attributes that are numbers, each with what is added to it: two runs share exp(-|ln(a / b)|) of
them, the exponential covariance (Rasmussen and Williams 2006, equation 4.18)."""
OF_RUN = "run"  # attribute that no two runs have in common: noise


@dataclass(frozen=True, kw_only=True)
class Component:
    """Reason why runs of the same description differ; fields as the columns of chance.csv."""

    family: str  # `OF_LLAMA_CPP` or `OF_OTHERS`
    part: str  # part of the time by whose share it weighs; empty for all of it
    same: str  # attributes of `ALIKE` that runs which share it have in common, joined by "+"
    phase: str = ""  # "token" or "prompt", where it is of one of them; empty for both
    sd: float  # standard deviation of the logarithm of a time that is all of that part
    groups: int  # publishers with a machine behind it
    source: str  # the command that wrote the line

    @lazy
    def attributes(self) -> Sequence[str]:
        """Names of the attributes."""
        return tuple(filter(None, self.same.split("+")))

    @property
    def own(self) -> bool:
        """Whether each run has its own value, so that it says nothing about other runs."""
        return OF_RUN in self.attributes


@dataclass(frozen=True, kw_only=True)
class TimedRun:
    """Timed part of a run, with the attributes that chance compares."""

    # share of the time by route and fixed cost, as in `StepTime.parts`; the sum is 1
    shares: Mapping[str, Array]
    prompt: bool  # whether a prompt was timed, else a token
    family: str = OF_LLAMA_CPP  # family of its engine
    engine: str = ""  # name of the engine, and its fork
    format: str = ""
    experts: bool = False  # whether the model has routed experts
    model: str = ""
    users: Array = 1.0  # sequences that were answered together
    length: Array = 0.0  # context of the token, or length of the prompt [tokens]
    scale: Array = 1.0  # factor on its standard deviation, from what widens its range

    @property
    def phase(self) -> str:
        """Timed phase."""
        if self.prompt:
            return "prompt"
        return "token"

    @lazy
    def weights(self) -> Mapping[str, Array]:
        """Share of the time by part; 1 for the whole."""
        weights: dict[str, Array] = {WHOLE: 1.0}
        for name, share in self.shares.items():
            part = PART_OF.get(name, FIXED)
            for each in (GPU, FIXED) if part == FIXED else (part,):
                weights[each] = weights.get(each, 0.0) + share
        return weights

    def weight(self, component: Component) -> Array:
        """Standard deviation of the logarithm of the time that a component adds."""
        if component.phase not in ("", self.phase):
            return 0.0
        return component.sd * self.weights.get(component.part, 0.0) * self.scale


def covariance(first: TimedRun, second: TimedRun) -> Array:
    """Covariance of the logarithms of the times of two different runs on the same machine."""
    others = {(row.part, row.same): row for row in components(second.family)}
    total: Array = 0.0
    for row in components(first.family):
        alike = others.get((row.part, row.same))
        if alike is not None and not row.own and _same(first, second, row.attributes):
            shared = _likeness(first, second, row.attributes)
            total = total + first.weight(row) * second.weight(alike) * shared
    return total


def variance(run: TimedRun) -> Array:
    """Variance of the logarithm of a run's time, noise included."""
    return _sum_of_squares(run, components(run.family))


def noise(run: TimedRun) -> Array:
    """Part of `variance` that no other run says anything about."""
    return _sum_of_squares(run, (row for row in components(run.family) if row.own))


def _sum_of_squares(run: TimedRun, rows: Iterable[Component]) -> Array:
    squares = (np.square(run.weight(row)) for row in rows)
    return np.asarray(sum(squares, start=np.zeros(())))


def _same(first: TimedRun, second: TimedRun, attributes: Iterable[str]) -> bool:
    """Whether two runs agree in those attributes that are no numbers."""
    named = (name for name in attributes if name not in NEAR)
    return all(getattr(first, name) == getattr(second, name) for name in named)


def _likeness(first: TimedRun, second: TimedRun, attributes: Iterable[str]) -> Array:
    """Share of a component that two runs have in common, by attributes that are numbers, 0 to 1."""
    shared: Array = 1.0
    for name in attributes:
        if name in NEAR:
            shared = shared * likeness(name, getattr(first, name), getattr(second, name))
    return shared


def likeness(name: str, first: Array, second: Array) -> Array:
    """Share that two numbers of an attribute in `NEAR` have in common, 0 to 1."""
    least = NEAR[name]
    return np.exp(-np.abs(np.log((first + least) / (second + least))))


@cache
def components(family: str) -> Sequence[Component]:
    """Components of a family of engines."""
    return tuple(row for row in read(TABLE, Component) if row.family == family)
