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
from functools import cache, cached_property, partial

import numpy as np

from advisor.advice.compare import decode_tps
from advisor.advice.diagnosis.causes import FUNCTIONS
from advisor.advice.diagnosis.measured_run import (
    Edits,
    MeasuredRun,
    generated,
    measured_run,
    quantity_at,
)
from advisor.advice.edits.edit import Edit, Rates, rates
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.measured_constants import CORE_RATES, GPU_READS, GPU_TIMES
from advisor.cost_model.schedule import Route
from advisor.cost_model.uncertainty import Range
from advisor.errors import InputError
from advisor.machine.backends import OTHER_SPELLINGS, SYSTEMS
from advisor.machine.quantity import Quantity
from advisor.probes.host import operating_system
from advisor.runtimes import ASIDE, RUNTIMES
from advisor.units import GB


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
        """The degree on a run."""
        factors = {
            **dict.fromkeys(CORE_RATES, self.cores),
            "cpu_read_share": self.ram,
            **dict.fromkeys(GPU_READS, self.gpu),
            **dict.fromkeys(GPU_TIMES, 1 / self.gpu),
            "gpu_flop_share": self.gpu_flops,
        }
        changed = {name: factor for name, factor in factors.items() if factor != 1.0}
        constants = run.constants.scaled(changed, self.source) if changed else run.constants
        words = self.words.format(run)
        edit = run.with_rates(words, "gpus.link", self.link, constants=constants)
        return replace(edit, read=partial(generated, self.generation))


@cache
def cause_rows() -> tuple[CauseRow, ...]:
    """All causes, in the order of the file."""
    return read(DATA / "diagnosis/causes.csv", CauseRow)


@cache
def degree_rows() -> tuple[DegreeRow, ...]:
    """All degrees that are factors, in the order of the file."""
    return read(DATA / "diagnosis/degrees.csv", DegreeRow)


def row_for(key: str, vendor: str, system: str) -> CauseRow | None:
    """Most specific row of a cause for a machine, by the maker of its first GPU; None where none
    applies. An unknown system excludes no row.
    """
    fitting = [
        row
        for row in cause_rows()
        if row.key == key
        and row.vendor in ("", vendor)
        and (not system or row.system in ("", system))
    ]
    return max(fitting, key=lambda row: (row.vendor != "", row.system == system), default=None)


@dataclass(frozen=True, kw_only=True)
class Degree(Edit):
    """A cause in one degree, with the speeds that it gives."""

    decode: Range  # speed of generation, for each user [tokens/s]
    prompt: Range  # speed of the prompt [tokens/s]

    @property
    def speeds(self) -> Rates:
        """Speeds of generation and prompt."""
        return self.decode, self.prompt


def degrees(run: MeasuredRun, key: str) -> Iterator[Degree]:
    """Degrees of a cause, each with its speeds; those that memory is too small for left out."""
    for edit in edits_of(run, key):
        if (speeds := run.speeds(edit)) is not None:
            decode, prompt = speeds
            yield Degree(**vars(edit), decode=decode, prompt=prompt)


def edits_of(run: MeasuredRun, key: str) -> Edits:
    """Edits of a cause; none where it is impossible."""
    if not all(run.meets(row.needs) for row in cause_rows() if row.key == key):
        return
    for row in degree_rows():
        if row.cause == key and run.meets(row.needs):
            yield row.edit(run)
    if key in FUNCTIONS:
        yield from FUNCTIONS[key](run)


# Bandwidth required for a measured speed: the cost model inverted.

FURTHEST = 64.0
"""Largest factor above and below the assumed bandwidth that is tried."""
STEPS = 513
"""Number of bandwidths tried, evenly spaced on a logarithmic scale."""
LEAST_SHARE = 0.1
"""Smallest share of a token's time for a bandwidth to be tried."""


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
    """A bandwidth that alone would give the measured speed."""

    what: str  # name of the bandwidth, in words
    assumed: Quantity  # bandwidth of the prediction [B/s]
    test: str  # command that measures it
    value: float | None  # required bandwidth [B/s]; None where no value of it gives the speed
    most: float | None  # highest possible bandwidth [B/s]; None where unknown

    @property
    def possible(self) -> bool:
        """Whether the required bandwidth exists and stays within the part's peak."""
        return self.value is not None and (self.most is None or self.value <= self.most)


def required(run: MeasuredRun, measured: float) -> Iterator[RequiredBandwidth]:
    """Required bandwidths for the measured speed of each user, of the routes with a large share of
    a token's time, largest first.
    """
    parts = run.step.parts if run.step else {}
    least = LEAST_SHARE * sum(float(part) for part in parts.values())
    rows = bandwidth_rows()
    for route in sorted(rows, key=lambda route: -float(parts.get(route, 0.0))):
        mapped = run.machine.disk is not None and run.machine.disk.mapped is not None
        row = rows[Route.STAGED if route == Route.PAGED and not mapped else route]
        assumed = quantity_at(run.machine, row.path)
        if assumed is not None and float(parts.get(route, 0.0)) >= least:
            factor = _factor(run, row.path, measured)
            yield RequiredBandwidth(
                what=row.what,
                assumed=assumed,
                test=row.test,
                value=None if factor is None else float(assumed.value) * factor,
                most=_peak(run, route),
            )


def _factor(run: MeasuredRun, path: str, measured: float) -> float | None:
    """Factor on a bandwidth that gives the measured speed; None if none does."""
    sweep = np.geomspace(1 / FURTHEST, FURTHEST, STEPS)
    decode = run.with_rates("", path, sweep).of(run).decode
    if decode is None:
        return None
    speeds = np.broadcast_to(decode.value, sweep.shape)
    if not speeds[0] < measured < speeds[-1]:
        return None
    return float(np.exp(np.interp(np.log(measured), np.log(speeds), np.log(sweep))))


def _peak(run: MeasuredRun, route: str) -> float | None:
    """Peak of a route's bandwidth; None where it is unknown [B/s]."""
    if route == Route.RESIDENT:
        return float(run.machine.gpus[0].bandwidth.value)
    row = run.host_row if route == Route.IN_PLACE else None
    return row.bandwidth_gbs * GB if row is not None and row.bandwidth_gbs else None


LIMITS = {
    "measured": (1e-4, 100_000.0),
    "measured prompt": (1e-3, 10_000_000.0),
    "tokens of the prompt": (1.0, 100_000_000.0),
}
"""Slowest and fastest speed that is accepted [tokens/s], shortest and longest prompt [tokens]."""
BEYOND = 0.2
"""Share of runs beyond an 80 % range."""
NOTABLE = 1.02
"""Smallest change of speed, as a factor, for a cause to count."""
PART = 0.25
"""Smallest share of the gap, on a logarithmic scale, for a cause to explain a part of it."""
CLOSE = 1.1
"""Largest factor between measured and predicted speed that needs no explanation."""


class Outcome(StrEnum):
    """Comparison of a measured speed with its range."""

    AS_PREDICTED = "as predicted"
    SLOWER = "slower than predicted"
    FASTER = "faster than predicted"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Measured speeds; raises InputError for one, or a length, outside `LIMITS`."""

    decode: float  # speed of generation, for each user [tokens/s]
    prompt: float | None = None  # speed of the prompt; None where it was not measured [tokens/s]
    # computed tokens of that prompt; None for those of the request [tokens]
    prompt_tokens: float | None = None
    cached: float = 0.0  # tokens in the cache before that prompt [tokens]
    # tokens in the cache before the generation; None for those of the request [tokens]
    depth: float | None = None
    output: float | None = None  # generated tokens; None for those of the request [tokens]
    ruled_out: frozenset[str] = frozenset()  # causes that are known not to hold
    shown: frozenset[str] = frozenset()  # causes that were seen, whatever they explain
    # how much likelier what else was seen makes a cause, by its key and the estimate with it
    evidence: Callable[[str, Estimate], float] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        values = (self.decode, self.prompt, self.prompt_tokens)
        for (name, (low, high)), value in zip(LIMITS.items(), values, strict=True):
            if value is not None and not low <= value <= high:
                unit = "tokens" if name.startswith("tokens") else "tokens/s"
                raise InputError(
                    f"{name} is {value:g} {unit}; allowed is {low:g} to {high:,.0f}. Give what the "
                    f"runtime prints, in {unit}."
                )

    def run(self, estimate: Estimate, system: str = "") -> MeasuredRun:
        """The run that was measured, with its prompt and reply where their lengths are known;
        raises InputError for an impossible combination, or lengths outside a request's limits.
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


@dataclass(frozen=True, kw_only=True)
class Cause:
    """One cause, in the degree that fits best."""

    row: CauseRow  # description, test and remedy of the cause
    degree: Degree  # best-fitting degree, with its speeds
    # the measured speeds lie within the ranges of the degree; else it explains a part
    explains: bool
    # explained share of the gap between predicted and measured speed, on a logarithmic scale
    share: float
    weight: float  # relative likelihood, comparable only among causes of the same kind


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """Outcome of a diagnosis, with its causes."""

    estimate: Estimate  # estimate that was compared
    predicted: Rates  # predicted speeds of generation and prompt, of the lengths that were measured
    measured: Measured  # measured speeds
    outcome: Outcome  # result of the comparison
    causes: tuple[Cause, ...]  # causes of the gap or a part of it, likeliest first
    needed: tuple[RequiredBandwidth, ...]  # bandwidths that alone would give the measured speed


def this_system() -> str:
    """Operating system of this machine; empty for one without causes of its own."""
    name = operating_system()
    return SYSTEMS.get(OTHER_SPELLINGS.get(name, name), "")


def measurable(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Estimates with a speed, in the order of how likely they were run.

    Fitting ones come first (Windows may run others too), then the order of the runtimes, then the
    faster placement.
    """
    order = [runtime.name for runtime in (*RUNTIMES, *ASIDE)]
    timed = [estimate for estimate in estimates if estimate.decode is not None]
    return sorted(
        timed,
        key=lambda estimate: (
            not bool(estimate.fits),
            order.index(estimate.runtime),
            -decode_tps(estimate),
        ),
    )


def likeliest(estimates: Sequence[Estimate]) -> Estimate:
    """Estimate to compare a measurement with, the first `measurable` one; raises InputError where
    there is none.
    """
    tried = measurable(estimates)
    if not tried:
        reasons = " ".join(dict.fromkeys(each.refusal for each in estimates))
        raise InputError(f"There is nothing to compare with. {reasons or 'Name another runtime.'}")
    return tried[0]


def diagnose(estimate: Estimate, measured: Measured, system: str = "") -> Diagnosis:
    """Causes of a measured speed, likeliest first, without those of other systems where "Linux",
    "Windows" or "macOS" is stated; raises InputError for an impossible combination, or a sweep.
    """
    compared = _Comparison(run=measured.run(estimate, system), measured=measured)
    if any(np.size(speed.value) != 1 for speed in compared.predicted):
        raise InputError("A sweep has many speeds; diagnose one estimate at a time.")
    far = abs(compared.gap) > math.log(CLOSE) or compared.outcome is not Outcome.AS_PREDICTED
    ruled_out = _ruled_out(measured)
    keys = dict.fromkeys(row.key for row in cause_rows() if row.key not in ruled_out)
    causes = filter(None, map(compared.cause, keys)) if far else ()
    needed = required(compared.run, measured.decode) if far and not compared.of_prompt else ()
    return Diagnosis(
        estimate=estimate,
        predicted=compared.predicted,
        measured=measured,
        outcome=compared.outcome,
        causes=tuple(sorted(causes, key=lambda cause: cause.weight, reverse=True)),
        needed=tuple(needed),
    )


def _ruled_out(measured: Measured) -> set[str]:
    """Causes excluded because the prompt was measured separately, or lengths are known."""
    causes = set(measured.ruled_out)
    if measured.prompt is not None:
        causes.add("whole_reply")
    if measured.prompt_tokens is not None:
        causes |= {"short_prompt", "kept_prompt"}
    return causes if measured.depth is None else causes | {"deeper_context", "empty_context"}


@dataclass(frozen=True, kw_only=True)
class _Comparison:
    """A run beside its prediction."""

    run: MeasuredRun
    measured: Measured

    @cached_property
    def predicted(self) -> Rates:
        """Predicted speeds, of the lengths that were measured."""
        return self.run.speeds(Edit(moves=False)) or rates(self.run)

    @cached_property
    def of_prompt(self) -> bool:
        """Whether the prompt's speed alone is out of range, or further off on the other side than
        that of generation.
        """
        if self.measured.prompt is None:
            return False
        off = distance(self.measured.decode, self.predicted[0])
        beside = distance(self.measured.prompt, self.predicted[1])
        other_way = off * beside < 0 and abs(beside) > abs(off)
        return abs(beside) > 1 and (abs(off) <= 1 or other_way)

    @property
    def speeds(self) -> tuple[float, Range]:
        """Measured and predicted speed of what the gap is in."""
        return _pairs(self.measured, self.predicted)[int(self.of_prompt)]

    @cached_property
    def gap(self) -> float:
        """ln(measured / predicted)."""
        return _log(*self.speeds)

    @property
    def outcome(self) -> Outcome:
        """The gap in words."""
        off = distance(*self.speeds)
        if abs(off) <= 1:
            return Outcome.AS_PREDICTED
        return Outcome.SLOWER if off < 0 else Outcome.FASTER

    def cause(self, key: str) -> Cause | None:
        """A cause in the degree that fits best; None where it explains no part of the gap."""
        vendor = self.run.machine.gpus[0].vendor if self.run.machine.gpus else ""
        row, shown = row_for(key, vendor, self.run.system), key in self.measured.shown
        if row is None:
            return None
        tried = [each for each in degrees(self.run, key) if shown or self._helps(each)]
        if not tried:
            return None
        evidence = self.measured.evidence or (lambda _key, _after: 1.0)
        weights = [
            density(each, self.measured) * float(evidence(key, each.of(self.run))) for each in tried
        ]
        best = tried[max(range(len(tried)), key=weights.__getitem__)]
        share = self._moved(best) / self.gap
        share = min(share, 1.0 / share) if share > 0 else share  # a milder degree goes as far
        pairs = _pairs(self.measured, best.speeds)
        explains = all(abs(distance(value, speed)) <= 1 for value, speed in pairs)
        if not (explains or shown or (share >= PART and self._nearer(best))):
            return None
        return Cause(
            row=row,
            degree=best,
            explains=explains,
            share=share,
            weight=row.prior * sum(weights) / len(weights),
        )

    def _helps(self, degree: Degree) -> bool:
        """Whether a degree moves the speed towards the measured value and ends nearer to it."""
        moved = self._moved(degree)
        same_way = math.copysign(1.0, self.gap) * moved >= math.log(NOTABLE)
        return same_way and abs(self.gap - moved) < abs(self.gap)

    def _moved(self, degree: Degree) -> float:
        speed = degree.speeds[int(self.of_prompt)]
        return math.log(float(speed.value) / float(self.speeds[1].value))

    def _nearer(self, degree: Degree) -> bool:
        """Whether no measured speed is both out of a degree's range and further off than before:
        one that is beyond what a cause leaves possible strikes that cause out.
        """
        after = _pairs(self.measured, degree.speeds)
        before = _pairs(self.measured, self.predicted)
        return all(
            abs(distance(value, changed)) <= 1
            or abs(_log(value, changed)) <= abs(_log(value, original))
            for (value, changed), (_, original) in zip(after, before, strict=True)
        )


def distance(measured: float, speed: Range) -> float:
    """Distance of a measured speed from a prediction, in half widths of its 80 % range.

    z = ln(measured / value) / ln(high / value); below the prediction z is negative:
    ln(measured / value) / ln(value / low)
    """
    off = _log(measured, speed)
    return off / (_log(float(speed.high), speed) if off >= 0 else -_log(float(speed.low), speed))


def density(degree: Degree, measured: Measured) -> float:
    """Likelihood of the measurement under a degree, up to a constant factor."""
    pairs = _pairs(measured, degree.speeds)
    off = sum(abs(distance(value, speed)) for value, speed in pairs)
    half_widths = (math.log(float(speed.high) / float(speed.low)) / 2.0 for _, speed in pairs)
    return math.pow(BEYOND, off) / math.prod(half_widths)


def _pairs(measured: Measured, speeds: Rates) -> list[tuple[float, Range]]:
    """Measured speeds, each with a predicted one."""
    pairs = ((measured.decode, speeds[0]), (measured.prompt, speeds[1]))
    return [(value, speed) for value, speed in pairs if value is not None]


def _log(measured: float, speed: Range) -> float:
    return math.log(measured / float(speed.value))
