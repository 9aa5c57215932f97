"""Diagnosis of a measured speed: likely causes in order, with test and remedy.

A cause is tested by recomputing the estimate with this one thing changed (`causes`). Its weight is
the probability density of the measured speed under the changed estimate. With
z = ln(measured / changed estimate) / w,

    density = 0.2^|z| / W ,  averaged over the degrees of the cause,

where w is the half width of the 80 % range, as a logarithm, on the side of the measured speed, and
W the mean of both sides. Errors of left-out runs have such tails (Laplace's distribution, of which
80 % lie within |z| = 1): its mean logarithmic density there is 0.15 above that of a normal one
(`errors` of benchmarks/watching.py, 2026-11-23). The density is multiplied by that of the prompt's
speed, if measured, and by the prior of the cause (`prior` in data/diagnosis/causes.csv, our
judgement), and by what else was seen (`observations`). A cause with a wide range of speeds thus
counts less than one with a narrow range at the measured speed. A speed within its range is as
predicted.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, partial

import numpy as np

from advisor.advice.diagnosis.causes import FUNCTIONS
from advisor.advice.diagnosis.facts import Observation, observed
from advisor.advice.diagnosis.measured_run import (
    MeasuredRun,
    fits,
    measured_run,
    multiplied,
    quantity_at,
)
from advisor.advice.edits.edit import Edit, Rates
from advisor.catalog.constants import Constants
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.schedule import Route
from advisor.cost_model.uncertainty import Range
from advisor.errors import InputError
from advisor.lazy import lazy
from advisor.machine.backends import OperatingSystem
from advisor.probes.host import operating_system
from advisor.probes.llama_cpp.result_files import EngineRun
from advisor.request.request import Request
from advisor.runtimes import named
from advisor.runtimes.compare import decode_tps
from advisor.units import GB, Quantity


@dataclass(frozen=True, kw_only=True, slots=True)
class CauseRow:
    """One row of data/diagnosis/causes.csv."""

    key: str  # name of its function here, or of its rows in degrees.csv
    vendor: str  # vendor of the first GPU that the row applies to; empty for any
    system: str  # operating system that the row applies to; empty for any
    needs: str  # keys of `CONDITIONS` that a run meets, separated by semicolons
    cause: str  # difference from what was assumed, as a clause
    # frequency of the cause before any measurement, 0 to 1; our judgement of reports, not a count:
    # only the order matters
    prior: float
    test: str  # what to check, and what the result means
    command: str  # command of the test; empty where there is none
    fix: str  # remedy
    source: str  # documentation of the test and its options
    retrieved: str  # date when the source was read
    note: str  # further sources


@dataclass(frozen=True, kw_only=True, slots=True)
class DegreeRow:
    """One row of data/diagnosis/degrees.csv: a degree of a cause, as factors."""

    cause: str
    needs: str  # as in `CauseRow`, for this degree
    words: str  # degree in words, with fields of the run; empty where there is a single one
    generation: float = 1.0  # on the speed of generation, as it is counted
    cores: float = 1.0  # on what the processor's cores reach
    ram: float = 1.0  # on the part of RAM's rate that they reach
    gpu: float = 1.0  # on the rate at which a GPU reads
    gpu_flops: float = 1.0  # on the rate at which it multiplies
    link: float = 1.0  # on the rates of its link
    source: str

    def edit(self, run: MeasuredRun) -> Edit:
        """Edit that applies the degree to a run."""
        factors = {
            **dict.fromkeys(Constants.OF_PART["core rates"], self.cores),
            "cpu_read_share": self.ram,
            **dict.fromkeys(Constants.OF_PART["GPU reads"], self.gpu),
            **dict.fromkeys(Constants.OF_PART["GPU times"], 1 / self.gpu),
            "gpu_flop_share": self.gpu_flops,
            "engine_release": 1 / self.gpu,  # on every time of a serving engine
        }
        changed = {name: factor for name, factor in factors.items() if factor != 1.0}
        if changed:
            constants = run.constants.scaled(changed, self.source)
        else:
            constants = run.constants
        words = self.words.format(run)
        edit = run.with_rates(words, "gpus.link", self.link, constants=constants)
        return replace(edit, read=partial(multiplied, decode=self.generation))


@cache
def cause_rows() -> tuple[CauseRow, ...]:
    """All causes, in the order of the file."""
    return read(DATA / "diagnosis/causes.csv", CauseRow)


@cache
def degree_rows() -> tuple[DegreeRow, ...]:
    """All degrees that are factors, in the order of the file."""
    return read(DATA / "diagnosis/degrees.csv", DegreeRow)


def row_for(key: str, vendor: str, system: str) -> CauseRow | None:
    """Most specific row of a cause for a machine, by the maker of its first GPU; None where no row
    applies.

    An unknown system excludes no row.
    """
    fitting = [
        row
        for row in cause_rows()
        if row.key == key
        and row.vendor in ("", vendor)
        and (not system or row.system in ("", system))
    ]
    return max(fitting, key=lambda row: (row.vendor != "", row.system == system), default=None)


def degrees(run: MeasuredRun, key: str) -> Iterator[tuple[Edit, Rates]]:
    """Degrees of a cause, each with its speeds; empty for an impossible cause.

    Degrees that memory is too small for are left out.
    """
    if not all(run.meets(row.needs) for row in cause_rows() if row.key == key):
        return
    rows = (row for row in degree_rows() if row.cause == key and run.meets(row.needs))
    for edit in FUNCTIONS[key](run) if key in FUNCTIONS else (row.edit(run) for row in rows):
        after = edit.of(run)
        if fits(after) or not edit.moves:
            yield edit, run.speeds(after, edit.read)


# Bandwidth required for a measured speed: the cost model inverted.

FURTHEST = 64.0  # largest factor above and below the assumed bandwidth that is tried
STEPS = 513  # number of bandwidths tried, evenly spaced on a logarithmic scale
LEAST_SHARE = 0.1  # smallest share of a token's time for a bandwidth to be tried


@dataclass(frozen=True, kw_only=True, slots=True)
class BandwidthRow:
    """One row of data/diagnosis/bandwidths.csv: the bandwidth that limits a route."""

    route: str
    path: str  # place in the machine's fields, as `measured_run.scaled` takes it
    what: str  # name of the bandwidth, in words
    test: str  # command that measures it


@cache
def bandwidth_rows() -> Mapping[str, BandwidthRow]:
    """All bandwidths by route."""
    return {row.route: row for row in read(DATA / "diagnosis/bandwidths.csv", BandwidthRow)}


@dataclass(frozen=True, kw_only=True)
class RequiredBandwidth:
    """Bandwidth that would give the measured speed if all else were as predicted."""

    row: BandwidthRow  # its name and test
    assumed: Quantity  # bandwidth of the prediction [B/s]
    value: float | None  # required bandwidth [B/s]; None where no value of it gives the speed
    most: float | None  # highest possible bandwidth [B/s]; None where unknown

    @property
    def possible(self) -> bool:
        """Whether the required bandwidth exists and stays within the part's peak."""
        return self.value is not None and (self.most is None or self.value <= self.most)


def required(run: MeasuredRun, measured: float) -> Iterator[RequiredBandwidth]:
    """Bandwidths that the measured speed needs on the routes that take most time, the slowest route
    first.

    `measured` is the speed of each user [tokens/s]; routes with a small share of a token's time
    are left out.
    """
    rows = bandwidth_rows()
    disk = run.machine.disk
    if run.step:
        parts = {name: float(part) for name, part in run.step.parts.items()}
    else:
        parts = {}
    least = LEAST_SHARE * sum(parts.values())
    for route in sorted(rows, key=lambda route: -parts.get(route, 0.0)):
        mapped = disk is not None and disk.mapped is not None
        row = rows[Route.STAGED if route == Route.PAGED and not mapped else route]
        assumed = quantity_at(run.machine, row.path)
        if assumed is not None and parts.get(route, 0.0) >= least:
            factor = _factor(run, row.path, measured)
            if factor is None:
                value = None
            else:
                value = float(assumed.value) * factor
            yield RequiredBandwidth(row=row, assumed=assumed, value=value, most=_peak(run, route))


def _factor(run: MeasuredRun, path: str, measured: float) -> float | None:
    """Factor on a bandwidth that gives the measured speed; None if none does."""
    sweep = np.geomspace(1 / FURTHEST, FURTHEST, STEPS)
    decode = run.with_rates("", path, sweep).of(run).decode
    speeds = np.broadcast_to(np.nan if decode is None else decode.value, sweep.shape)
    if not speeds[0] < measured < speeds[-1]:
        return None
    return float(np.exp(np.interp(np.log(measured), np.log(speeds), np.log(sweep))))


def _peak(run: MeasuredRun, route: str) -> float | None:
    """Peak of a route's bandwidth; None where it is unknown [B/s]."""
    if route == Route.RESIDENT:
        return float(run.machine.gpus[0].bandwidth.value)
    if route == Route.IN_PLACE:
        row = run.host_row
    else:
        row = None
    if row is not None and row.bandwidth_gbs:
        return row.bandwidth_gbs * GB
    return None


LIMITS = {
    "measured": (1e-4, 100_000.0),
    "measured prompt": (1e-3, 10_000_000.0),
    "tokens of the prompt": (1.0, 100_000_000.0),
}
"""Slowest and fastest speed that is accepted [tokens/s], shortest and longest prompt [tokens]."""
BEYOND = 0.2  # share of runs beyond an 80 % range
NOTABLE = 1.02  # smallest change of speed, as a factor, for a cause to count
PART = 0.25
"""Smallest share of the gap, on a logarithmic scale, for a cause to explain a part of it."""
CLOSE = 1.1  # largest factor between measured and predicted speed that needs no explanation


class Outcome(StrEnum):
    """Comparison of a measured speed with its range."""

    AS_PREDICTED = "as predicted"
    SLOWER = "slower than predicted"
    FASTER = "faster than predicted"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Measured speeds; raises InputError for a speed or length outside `LIMITS`."""

    decode: float  # speed of generation, for each user [tokens/s]
    prompt: float | None = None  # speed of the prompt; None where it was not measured [tokens/s]
    # computed tokens of that prompt; None for those of the request [tokens]
    prompt_tokens: float | None = None
    cached: float = 0.0  # tokens in the cache before that prompt [tokens]
    # tokens in the cache before the generation; None for those of the request [tokens]
    depth: float | None = None
    output: float | None = None  # generated tokens; None for those of the request [tokens]
    source: str = "typed"  # name of the tool, and the tool's name of the model
    facts: EngineRun | None = None  # what the tool states of the run; None for typed speeds
    ruled_out: frozenset[str] = frozenset()  # causes that are known not to hold
    shown: frozenset[str] = frozenset()  # causes that were seen, whatever they explain
    # how much likelier what else was seen makes a cause, by its key and the estimate with it
    evidence: Callable[[str, Estimate], float] = field(default=lambda *_: 1.0, compare=False)

    def __post_init__(self) -> None:
        values = (self.decode, self.prompt, self.prompt_tokens)
        for (name, (low, high)), value in zip(LIMITS.items(), values, strict=True):
            if value is not None and not low <= value <= high:
                if name.startswith("tokens"):
                    unit = "tokens"
                else:
                    unit = "tokens/s"
                raise InputError(
                    f"{name} is {value:g} {unit}; allowed is {low:g} to {high:,.0f}. Give what the "
                    f"runtime prints, in {unit}."
                )

    def run(self, estimate: Estimate, system: str = "") -> MeasuredRun:
        """Measured run, with its prompt and reply where their lengths are known.

        Raises InputError for an impossible combination, or lengths outside a request's limits.
        """
        run = measured_run(estimate, system)
        if self.prompt_tokens is not None:
            prompt = self.cached + self.prompt_tokens
            timed = replace(run.work, prompt=prompt, cached=self.cached)
            run = replace(run, prompt_work=timed)
        if self.depth is None or self.output is None:
            return run
        work = replace(run.work, prompt=self.depth, cached=0, output=max(self.output, 1.0))
        return replace(run, work=work)

    def beside(self, speeds: Rates) -> list[tuple[float, Range]]:
        """Pairs of a measured and a predicted speed."""
        pairs = ((self.decode, speeds.decode), (self.prompt, speeds.prompt))
        return [(value, speed) for value, speed in pairs if value is not None]

    @property
    def impossible(self) -> set[str]:
        """Causes that the measurement excludes: those that are stated, and those that its known
        lengths rule out.
        """
        causes = set(self.ruled_out)
        if self.prompt is not None:
            causes.add("whole_reply")
        if self.prompt_tokens is not None:
            causes |= {"short_prompt", "kept_prompt"}
        if self.depth is None:
            return causes
        return causes | {"deeper_context", "empty_context"}


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Cause of a gap, in the degree that fits best."""

    row: CauseRow  # description, test and remedy of the cause
    edit: Edit  # best-fitting degree
    speeds: Rates  # its speeds
    # the measured speeds lie within the ranges of the degree; else it explains a part
    explains: bool
    # explained share of the gap between predicted and measured speed, on a logarithmic scale
    share: float
    weight: float  # relative likelihood, comparable only among causes of the same kind


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """Comparison of a run with its prediction, with causes that are worked out at first use."""

    run: MeasuredRun
    measured: Measured

    @lazy
    def predicted(self) -> Rates:
        """Predicted speeds, of the lengths that were measured."""
        return self.run.speeds(self.run)

    @lazy
    def of_prompt(self) -> bool:
        """Whether the gap is in the prompt's speed.

        It is where that speed alone is out of range, or is the slower of two on different sides of
        their ranges.
        """
        if self.measured.prompt is None:
            return False
        off, beside = (distance(*pair) for pair in self.measured.beside(self.predicted))
        if abs(off) <= 1:
            return abs(beside) > 1
        return beside < -1 and off > 1

    @property
    def speeds(self) -> tuple[float, Range]:
        """Measured and predicted speed of the phase with the gap."""
        return self.measured.beside(self.predicted)[int(self.of_prompt)]

    @lazy
    def gap(self) -> float:
        """Logarithm of measured over predicted speed."""
        return _log(*self.speeds)

    @property
    def outcome(self) -> Outcome:
        """Comparison of the measured speed with its range, in words."""
        return outcome_of(*self.speeds)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Comparison of each measured speed: of generation, and of the prompt where it is known."""
        return tuple(outcome_of(*pair) for pair in self.measured.beside(self.predicted))

    @property
    def far(self) -> bool:
        """Whether the gap needs an explanation."""
        return abs(self.gap) > math.log(CLOSE) or self.outcome is not Outcome.AS_PREDICTED

    @lazy
    def needed(self) -> tuple[RequiredBandwidth, ...]:
        """Bandwidths of which each alone would give the measured speed of generation."""
        apart = self.far and not self.of_prompt
        if apart:
            return tuple(required(self.run, self.measured.decode))
        return ()

    @lazy
    def observations(self) -> tuple[Observation, ...]:
        """Observations on causes, from the facts of the run."""
        if self.measured.facts is None:
            return ()
        return tuple(observed(self.measured.facts, self.run))

    def _by_facts(self, *, shows: bool) -> set[str]:
        """Causes that the facts show, or speak against."""
        those = (seen for seen in self.observations if seen.shows is shows)
        return {key for seen in those for key in seen.causes}

    @lazy
    def causes(self) -> tuple[Cause, ...]:
        """Causes of the whole gap or of a part of it, the likeliest first."""
        ruled_out = self.measured.impossible | self._by_facts(shows=False)
        keys = dict.fromkeys(row.key for row in cause_rows() if row.key not in ruled_out)
        causes = filter(None, map(self._cause, keys)) if self.far else ()
        return tuple(sorted(causes, key=lambda cause: cause.weight, reverse=True))

    def _cause(self, key: str) -> Cause | None:
        """Cause in the degree that fits best; None where it explains no part of the gap."""
        run = self.run
        measured = self.measured
        if run.machine.gpus:
            vendor = run.machine.gpus[0].vendor
        else:
            vendor = ""
        row = row_for(key, vendor, run.system)
        shown = key in measured.shown | self._by_facts(shows=True)
        every = degrees(run, key) if row else ()
        tried = [(edit, speeds) for edit, speeds in every if shown or self._helps(speeds)]
        if row is None or not tried:
            return None
        weights = [
            density(speeds, measured) * float(measured.evidence(key, edit.of(run)))
            for edit, speeds in tried
        ]
        edit, speeds = tried[max(range(len(tried)), key=weights.__getitem__)]
        share = self._moved(speeds) / self.gap
        # a milder degree goes as far
        if share > 0:
            share = min(share, 1.0 / share)
        explains = all(abs(distance(*pair)) <= 1 for pair in measured.beside(speeds))
        if not (explains or shown or (share >= PART and self._nearer(speeds))):
            return None
        weight = row.prior * sum(weights) / len(weights)
        return Cause(
            row=row, edit=edit, speeds=speeds, explains=explains, share=share, weight=weight
        )

    def _helps(self, speeds: Rates) -> bool:
        """Whether a degree moves the speed towards the measured value and ends nearer to it."""
        moved = self._moved(speeds)
        same_way = math.copysign(1.0, self.gap) * moved >= math.log(NOTABLE)
        return same_way and abs(self.gap - moved) < abs(self.gap)

    def _moved(self, speeds: Rates) -> float:
        return math.log(float(speeds[int(self.of_prompt)].value) / float(self.speeds[1].value))

    def _nearer(self, speeds: Rates) -> bool:
        """Whether each measured speed lies in a degree's range, or is as near to its speed as to
        the prediction.

        A speed far beyond what a cause leaves possible excludes that cause.
        """
        after, before = map(self.measured.beside, (speeds, self.predicted))
        return all(
            abs(distance(value, changed)) <= 1
            or abs(_log(value, changed)) <= abs(_log(value, original))
            for (value, changed), (_, original) in zip(after, before, strict=True)
        )


def system_of(request: Request) -> str:
    """Operating system as stated, or that of this machine; empty for one without causes of its
    own.
    """
    if request.system:
        return OperatingSystem.named(request.system).label
    if request.here:
        here = OperatingSystem.seen(operating_system())
    else:
        here = None
    if here:
        return here.label
    return ""


def measurable(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Estimates with a speed, in the order of likelihood.

    First those that fit (Windows may run others too), then by the order of the runtimes, then the
    faster placement.
    """
    order = [runtime.name for runtime in named()]
    return sorted(
        (each for each in estimates if each.decode is not None),
        key=lambda each: (not bool(each.fits), order.index(each.runtime.name), -decode_tps(each)),
    )


def likeliest(estimates: Sequence[Estimate]) -> Estimate:
    """Estimate to compare a measurement with, the first that is `measurable`; raises InputError
    where there is none.
    """
    tried = measurable(estimates)
    if not tried:
        reasons = " ".join(dict.fromkeys(each.refusal for each in estimates))
        raise InputError(f"There is nothing to compare with. {reasons or 'Name another runtime.'}")
    return tried[0]


def diagnose(estimate: Estimate, measured: Measured, system: str = "") -> Diagnosis:
    """Diagnosis of a measured speed; causes of other systems are left out where the system is
    stated.

    Raises InputError for an impossible combination, or for arrays.
    """
    diagnosis = Diagnosis(run=measured.run(estimate, system), measured=measured)
    if any(np.size(speed.value) != 1 for speed in diagnosis.predicted):
        raise InputError("A sweep has many speeds; diagnose one estimate at a time.")
    return diagnosis


def distance(measured: float, speed: Range) -> float:
    """Distance of a measured speed from a prediction, in half widths of its 80 % range.

    z = ln(measured / value) / ln(high / value); below the prediction z is negative:
    ln(measured / value) / ln(value / low)
    """
    off = _log(measured, speed)
    return off / (_log(float(speed.high), speed) if off >= 0 else -_log(float(speed.low), speed))


def outcome_of(measured: float, speed: Range) -> Outcome:
    """Comparison of a measured speed with its range."""
    off = distance(measured, speed)
    if abs(off) <= 1:
        return Outcome.AS_PREDICTED
    if off < 0:
        return Outcome.SLOWER
    return Outcome.FASTER


def density(speeds: Rates, measured: Measured) -> float:
    """Likelihood of the measurement under the speeds of a degree, up to a constant factor."""
    pairs = measured.beside(speeds)
    off = sum(abs(distance(value, speed)) for value, speed in pairs)
    half_widths = (math.log(float(speed.high) / float(speed.low)) / 2.0 for _, speed in pairs)
    return math.pow(BEYOND, off) / math.prod(half_widths)


def _log(measured: float, speed: Range) -> float:
    return math.log(measured / float(speed.value))
