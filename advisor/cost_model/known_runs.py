"""Known runs: conclusions from measured speeds of a machine for other speeds of it.

    log t = log t(constants, question) + sum over components of sd weight u + noise

Each component has a standard normal u that runs share where they have the same attributes (the
same machine; of it the same phase, engine, format or model), and weighs by the share of the time
that its part takes. Numbers of users and lengths of context are alike by degrees (`NEAR`). So two
runs of one machine have a covariance, and a run that is known teaches what another one will do. The
standard deviations (data/generated/chance.csv) are fitted by `python -m lab.chance` to errors of
predictions that were made without the run's publisher.

The components say how times of one machine vary together: C between the known runs, c between them
and another time, and V the variance of that time. With y = log(measured time / predicted time) of
the known runs, and D the variance that is added to runs that may be faults,

    A = (C + D)^-1      mean of log(time / predicted time) = c' A y      variance = V - c' A c

This is the conditional distribution of a normal one (Rasmussen and Williams 2006, Gaussian
Processes for Machine Learning, equations 2.23 and 2.24). The range of an estimate has a half width
h of its own, by what is known of such runs. The known runs add information to it,

    1 / h'^2 = 1 / h^2 + (1 / (V - c' A c) - 1 / V) / z^2

as if h were told by other evidence (precisions of independent normal evidence add; z of 80 %). So
they narrow a wide range much and one that is narrow already little.

A run is a fault (it spilled, it did not use the GPU, it was throttled) or it tells of its machine.
With r its distance from what the other runs, and before them the prediction, make expect, and s^2
the variance of that, it tells of its machine with the probability

    w = (1 - p) N(r; s^2) / ( (1 - p) N(r; s^2) + p N(r; s^2 + f^2) )      D = s^2 (1 / w - 1)

where N is the normal density, p the share of faults and f how far they are off: the contaminated
normal distribution (Box and Tiao 1968, A Bayesian approach to some outlier problems, Biometrika 55,
equation 2.1). So a run four times too slow teaches little, until another one agrees with it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import ClassVar

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import FixedTime, StepTime
from advisor.cost_model.uncertainty import NORMAL
from advisor.lazy import lazy
from advisor.machine.machine import KnownRun, Machine
from advisor.model.model import Floats
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
OF_SERVING = "serving"
OF_TIERS = "tiers"
OF_OTHERS = "others"
"""Families of engines: llama.cpp with others that compute weights in RAM, engines that serve many
users, engines with experts in tiers, and those that move weights to the GPU."""
FAMILIES = (OF_LLAMA_CPP, OF_TIERS, OF_SERVING, OF_OTHERS)
SERVING = frozenset({"vllm", "sglang", "tensorrt-llm"})  # keys of the engines of `OF_SERVING`
ALIKE = ("phase", "engine", "format", "experts", "model", "users", "length")
"""Attributes that two runs of a machine may have in common."""
NEAR: Mapping[str, float] = {"users": 0.0, "length": 1000.0}
"""Attributes that are numbers, each with what is added to it: two runs share exp(-|ln(a / b)|) of
them, the exponential covariance (Rasmussen and Williams 2006, equation 4.18)."""
OF_RUN = "run"  # attribute that no two runs have in common: noise


def family_of(runtime: Runtime) -> str:
    """Family of a runtime's engine."""
    if runtime.in_tiers:
        return OF_TIERS
    if runtime.computes_in_ram:
        return OF_LLAMA_CPP
    if runtime.engine in SERVING:
        return OF_SERVING
    return OF_OTHERS


@dataclass(frozen=True, kw_only=True)
class Component:
    """Reason why runs of the same description differ, a row of data/generated/chance.csv."""

    family: str  # `OF_LLAMA_CPP`, `OF_SERVING`, `OF_TIERS` or `OF_OTHERS`
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
    def of_one_run(self) -> bool:
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
            for counted in (GPU, FIXED) if part == FIXED else (part,):
                weights[counted] = weights.get(counted, 0.0) + share
        return weights

    def weight(self, component: Component) -> Array:
        """Standard deviation of the logarithm of the time that a component adds."""
        if component.phase not in ("", self.phase):
            return 0.0
        return component.sd * self.weights.get(component.part, 0.0) * self.scale

    def known(self, machine: Machine, words: str, *, measured: float, predicted: float) -> KnownRun:
        """Known run of a machine, with its measured and predicted speeds [tokens/s]."""
        return KnownRun(
            words=words,
            measured=measured,
            predicted=predicted,
            shares=tuple((name, float(share)) for name, share in self.shares.items()),
            prompt=self.prompt,
            family=self.family,
            engine=self.engine,
            format=self.format,
            experts=self.experts,
            model=self.model,
            users=float(self.users),
            length=float(self.length),
            scale=float(self.scale),
            cards=machine.cards,
            host=machine.host.name,
        )


def covariance(first: TimedRun, second: TimedRun) -> Array:
    """Covariance of the logarithms of the times of two different runs on the same machine."""
    others = {(row.part, row.same): row for row in components(second.family)}
    total: Array = 0.0
    for row in components(first.family):
        alike = others.get((row.part, row.same))
        if alike is not None and not row.of_one_run and _agree(first, second, row.attributes):
            shared = _likeness(first, second, row.attributes)
            total = total + first.weight(row) * second.weight(alike) * shared
    return total


def variance(run: TimedRun) -> Array:
    """Variance of the logarithm of a run's time, noise included."""
    return _sum_of_squares(run, components(run.family))


def noise(run: TimedRun) -> Array:
    """Part of `variance` that no other run says anything about."""
    return _sum_of_squares(run, (row for row in components(run.family) if row.of_one_run))


def _sum_of_squares(run: TimedRun, rows: Iterable[Component]) -> Array:
    squares = (np.square(run.weight(row)) for row in rows)
    return np.asarray(sum(squares, start=np.zeros(())))


def _agree(first: TimedRun, second: TimedRun, attributes: Iterable[str]) -> bool:
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


FAULTS = 0.05
"""Share p of runs that are faults: of the published figures, 400 of 7,391 are doubted by their
source or by physics (data/generated/accuracy_points.csv, 2026-11-28)."""
FAR = float(np.log(4.0))
"""Standard deviation f of a fault: a factor of four, which a model that does not fit the GPU, or
does not use it, takes longer."""
DEGREES = 4.0  # degrees of freedom nu, with which a machine far off has the tails of a t
STEPS = 3  # times that the weights are computed, each time with those before
LEAST_WEIGHT = 1e-6
OF_HOST = frozenset({Route.IN_PLACE, Route.PAGED, Route.STAGED})
"""Parts of a time that processor, RAM and drive take."""


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """Correction of a predicted time by known runs."""

    log_ratio: Array  # mean of log(time / predicted time)
    narrower: Array  # standard deviation with them, as a share of that without
    information: Array  # what they add to 1 / half width^2 of an 80 % range


def learnt(time: StepTime | None, taught: Lesson | None) -> StepTime | None:
    """Time with all of its parts lengthened by a lesson; unchanged without one."""
    if time is None or taught is None:
        return time
    factor = np.exp(taught.log_ratio)
    parts: dict[str, Array] = {name: seconds * factor for name, seconds in time.parts.items()}
    return StepTime(total=time.total * factor, parts=parts, hidden=time.hidden * factor)


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """Known runs of a machine with their weights; arrays of shape (runs,) and (runs, runs)."""

    weights: Floats  # probability w that a run tells of its machine
    precision: Floats  # A
    moved: Floats  # A y

    DOUBTED: ClassVar = 0.5  # weight below which a run is called a likely fault

    @staticmethod
    @lru_cache(maxsize=256)
    def of(known: tuple[KnownRun, ...]) -> "Weighed":
        """Known runs with their weights, which are computed `STEPS` times.

        At first all are taken to tell of the machine. Each run is beside the m others: r = (A y)_i
        / A_ii, and s^2 = (1 / A_ii - D_i) k (Rasmussen and Williams 2006, equation 5.12). Others
        that are far off themselves tell less exactly how far, by k = (nu + b) / (nu + m), with b =
        y' A y of the others: the conditional distribution of a Student t process (Shah, Wilson and
        Ghahramani 2014, Student-t Processes as Alternatives to Gaussian Processes, lemma 3). So two
        runs agree that are both ten times too slow.
        """
        off = np.array([run.log_ratio for run in known])
        together = _covariances(known)
        added = np.zeros(len(known))
        weights = np.ones(len(known))
        for _ in range(STEPS):
            precision = np.linalg.inv(together + np.diag(added))
            alone = np.diag(precision)
            moved = precision @ off
            others = off @ moved - moved**2 / alone
            certain = (DEGREES + others) / (DEGREES + len(known) - 1)
            variance = (1.0 / alone - added) * certain
            weights = _of_machine(moved / alone, variance)
            added = variance * (1.0 / weights - 1.0)
        inverse = np.linalg.inv(together + np.diag(added))
        final: Floats = np.asarray(inverse, dtype=np.float64)
        return Weighed(weights=weights, precision=final, moved=final @ off)


def lesson(run: TimedRun, machine: Machine) -> Lesson | None:
    """Correction of a time by a machine's known runs; None where they say nothing about it.

    Parts of the time that other hardware takes than that of a known run learn nothing of it.
    """
    taught_by = [(known, _shared(run, machine, known)) for known in machine.known]
    if all(part is None for _, part in taught_by):
        return None
    common = [
        np.zeros(()) if part is None else covariance(part, timed(known))
        for known, part in taught_by
    ]
    together = np.stack(np.broadcast_arrays(*common))
    known_runs = Weighed.of(machine.known)
    explained = np.einsum("i...,ij,j...->...", together, known_runs.precision, together)
    before = variance(run)
    left = np.clip(1.0 - explained / before, LEAST_WEIGHT, 1.0)
    return Lesson(
        log_ratio=np.tensordot(known_runs.moved, together, axes=1),
        narrower=np.sqrt(left),
        information=(1.0 / left - 1.0) / (before * NORMAL**2),
    )


@lru_cache(maxsize=4096)
def timed(known: KnownRun) -> TimedRun:
    """Timed part of a known run, as `covariance` compares it."""
    return TimedRun(
        shares=dict(known.shares),
        prompt=known.prompt,
        family=known.family,
        engine=known.engine,
        format=known.format,
        experts=known.experts,
        model=known.model,
        users=known.users,
        length=known.length,
        scale=known.scale,
    )


def _shared(run: TimedRun, machine: Machine, known: KnownRun) -> TimedRun | None:
    """Part of a time that needs the hardware of a known run; None where no part needs it."""
    same_cards = known.cards == machine.cards
    same_host = known.host == machine.host.name
    if same_cards and same_host:
        return run
    return _timed_part(run, of_cards=same_cards, of_host=same_host)


def _timed_part(run: TimedRun, *, of_cards: bool, of_host: bool) -> TimedRun | None:
    """Part of a time that GPUs take, or processor, RAM and drive; None for no part."""
    there = {
        name: share
        for name, share in run.shares.items()
        if (of_host if name in OF_HOST else of_cards)
    }
    whole = np.asarray(sum(there.values(), start=np.zeros(())))
    if not np.any(whole > 0):
        return None
    shares = {name: share / np.maximum(whole, LEAST_WEIGHT) for name, share in there.items()}
    return replace(run, shares=shares, scale=run.scale * whole)


def _of_machine(off: Floats, variance: Floats) -> Floats:
    """Probability that a run is typical of its machine, by its distance from the expected value."""
    far = variance + FAR**2
    sound = (1.0 - FAULTS) * np.exp(-(off**2) / (2.0 * variance)) / np.sqrt(variance)
    fault = FAULTS * np.exp(-(off**2) / (2.0 * far)) / np.sqrt(far)
    return np.maximum(sound / (sound + fault), LEAST_WEIGHT)


def _covariances(known: tuple[KnownRun, ...]) -> Floats:
    """Covariances of known runs, with their variances on the diagonal, shape (runs, runs)."""
    together = np.diag([float(variance(timed(run))) for run in known])
    for row, first in enumerate(known):
        for column, other in enumerate(known[:row]):
            covariance = _of_two(first, other)
            together[row, column] = covariance
            together[column, row] = covariance
    return together


def _of_two(first: KnownRun, second: KnownRun) -> float:
    """Covariance of two known runs, for the parts that the same hardware takes."""
    same = {"of_cards": first.cards == second.cards, "of_host": first.host == second.host}
    parts = [_timed_part(timed(known), **same) for known in (first, second)]
    shared = [part for part in parts if part is not None]
    if len(shared) < len(parts):
        return 0.0
    return float(covariance(*shared))
