"""Tables of the fit of serving engines: data/generated/engine_kernels.csv, engine_left_out.csv."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import FACTOR, ConstantRow
from advisor.catalog.csv_tables import DATA
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import CROSSINGS, HOST_MEMORY, LAYERS, TOKEN
from advisor.cost_model.uncertainty import (
    BY_TRAIT,
    IN_DECODE,
    IN_PROMPT,
    LEAN,
    SEVERAL,
    THIN,
    rarity,
)
from advisor.evidence.fitting.engines.cases import PUBLISHED, SIMULATED, EngineCases
from advisor.evidence.fitting.engines.grid import simulated
from advisor.evidence.fitting.engines.parameters import (
    ENGINE,
    ENGINE_PARAMETERS,
    FAMILY,
    FIXED,
    IN_RUNS,
    RELEASE,
)
from advisor.evidence.fitting.engines.published import published
from advisor.evidence.fitting.frameworks.runs import SERVING
from advisor.evidence.fitting.gauss_newton import Prior, cauchy, counts, covariance, newton
from advisor.evidence.fitting.llama_cpp.row_errors import Errors
from advisor.evidence.fitting.llama_cpp.spreads import COVERED, GPU, LEAN_GPU, TRAIT, widths
from advisor.machine.catalog import gpu_rows
from advisor.model.model import Floats

# Order of the generations of GPUs in the constants of serving engines.
#
# Some generations have few measurements; a GPU that is at least as good in all figures of its
# datasheet must not be predicted slower.

Rows = dict[tuple[str, str, str], ConstantRow]
"""Rows by constant, engine and family; the latter two empty for all."""


def ordered_generations(rows: Rows) -> Rows:
    """Rows with an older generation bounded by the next: no larger share, no shorter start."""
    ordered = dict(rows)
    for name, engine in dict.fromkeys((name, engine) for name, engine, _ in rows):
        kernel = {key[2]: row for key, row in rows.items() if key[:2] == (name, engine)}
        if name.startswith(SUMS):
            kernel = _no_slower_than_through_the_host(
                _bounded(kernel, (*OLDER, ("Ada", "Ampere HBM")), max), rows
            )
        elif "_int4_" in name:
            kernel = _bounded(_bounded(kernel, INT4_NEWER, max), FAR_WIDER, _at_least_a_part)
        elif name.endswith("_share"):
            kernel = _bounded(kernel, (*OLDER, *_unmeasured(kernel)), min)
        else:
            kernel = _bounded(kernel, (*STARTS_OLDER, *OLDER, *_unmeasured(kernel)), max)
        ordered |= {(name, engine, family): row for family, row in kernel.items()}
    return ordered


Kernel = dict[str, ConstantRow]
"""Rows of one constant in one engine by family."""


def _bounded(
    kernel: Kernel, pairs: Iterable[tuple[str, str]], bound: Callable[[float, float], float]
) -> Kernel:
    """Rows with the second family of each pair bounded by the first, pair after pair."""
    bounded = dict(kernel)
    for first, second in pairs:
        if first in bounded and second in bounded:
            value = bound(bounded[second].value, bounded[first].value)
            bounded[second] = replace(bounded[second], value=value)
    return bounded


def _unmeasured(kernel: Kernel) -> Iterable[tuple[str, str]]:
    """Pairs for a generation that nobody measured in a kernel.

    A100s lack the kernels of Hopper alone (FlashMLA, native 8-bit floats), which is their next
    generation with HBM; without evidence they are not taken to be better than Ada, either.
    """
    own = kernel.get("Ampere HBM")
    if own is not None and own.kind == "assumed":
        yield "Ada", "Ampere HBM"


def _at_least_a_part(own: float, other: float) -> float:
    """Smallest share of B200's bandwidth with which it is not slower than an H200 with a given
    share.
    """
    return max(own, other * 4.8 / 8.0)


def _no_slower_than_through_the_host(kernel: Kernel, rows: Rows) -> Kernel:
    """Rows of all-reduces with access to other GPUs' memory, not slower than through the host's
    memory.

    1 / (share (1 + sharing f)) for f further cards, f large.
    """
    share, through = (
        rows[name, "", ""].value for name in ("peer_share", f"peer_share {HOST_MEMORY}")
    )
    most = rows[f"{SUMS} {HOST_MEMORY}", "", ""].value * share / through
    return {
        family: replace(row, value=float(f"{min(row.value, most):.4g}"))
        for family, row in kernel.items()
    }


SUMS = "peer_sharing"
"""Constant with the additional time of a long all-reduce for each further GPU."""
OLDER = (
    ("Blackwell", "Ada"), ("Ada", "Ampere"), ("Ampere", "Turing"), ("Hopper", "Ampere HBM"),
)  # fmt: skip
"""Pairs of a GPU generation and the one before, with GDDR and with HBM memory, newest first."""
STARTS_OLDER = (("Blackwell HBM", "Hopper"),)
"""Further pairs for the start of kernels alone: B200 has so much more bandwidth and peak than H200
that it may reach a smaller share of them."""
INT4_NEWER = (
    ("Turing", "Ampere"), ("Ampere", "Ada"), ("Ada", "Blackwell"), ("Ampere", "Ampere HBM"),
    ("Ampere HBM", "Hopper"), ("Ada", "Hopper"),
)  # fmt: skip
"""Pairs of a generation and the next for 4-bit integers, where the newer one is raised instead:
Marlin is measured on GeForce cards, Machete is newer, and the simulator's kernels on data-centre
GPUs are Triton's older ones (vllm-project/vllm pull request 14447 of March 2025)."""
FAR_WIDER = (("Hopper", "Blackwell HBM"),)
"""Pairs of a generation and a later one with at least 1.67 times its bandwidth."""


# 80 % ranges of serving engines, from published runs that were predicted without their group.
#
# Widths and widening factors are fitted as those of llama.cpp (`llama_cpp/spreads.py`), but with
# their own count of publishers for each family of GPUs, 0 included: a GPU with few runs of
# llama.cpp may have many of serving engines, and the other way round. The simulator counts as one
# publisher. First tokens have too few publishers for more than one width.

PARTS = (Route.RESIDENT, LAYERS, TOKEN, CROSSINGS)
DATE_OF_RANGES = "2026-11"
NOTES = {
    IN_DECODE: "80 % range, as the logarithm of a factor",
    IN_PROMPT: "80 % range, as the logarithm of a factor",
    LEAN[IN_DECODE]: "how far an 80 % range leans to the slow side",
    BY_TRAIT[IN_PROMPT]: "80 % range of runs like this: most behind it are of several GPUs",
    BY_TRAIT[IN_DECODE]: "80 % range of runs like this, as a factor on its half width",
    "sources": "publishers that measured a serving engine on a GPU of the family",
}


def publishers(cases: EngineCases) -> Mapping[str, frozenset[str]]:
    """Publishers with a GPU of each family, with the simulator as one."""
    known: dict[str, set[str]] = {}
    for case in cases.cases:
        known.setdefault(case.machine.gpus[0].family, set()).add(case.publisher)
    return {family: frozenset(names) for family, names in known.items()}


def traits(cases: EngineCases) -> Mapping[str, Floats]:
    """Degree of each trait, of shape (cases,).

    The number of publishers does not include that of the case.
    """
    known = publishers(cases)
    others = [len(known[case.machine.gpus[0].family] - {case.publisher}) for case in cases.cases]
    names = cases.cases[0].traits
    stated = {name: np.array([case.traits[name] for case in cases.cases]) for name in names}
    return stated | {THIN: rarity(np.array(others))}


def spread_rows(cases: EngineCases, predicted: Floats, source: str) -> Iterator[ConstantRow]:
    """Half widths, leans, traits' factors and publishers of every serving engine.

    Args:
        cases: all cases.
        predicted: time of each case by the fit without its group, shape (cases,) [s].
        source: source of the rows.
    """
    real = cases.columns["evidence"] == PUBLISHED
    first = np.array([case.steps == 0 for case in cases.cases])
    off = np.log(predicted / cases.seconds)

    def rows(constant: str, value: float, family: str, count: int) -> Iterator[ConstantRow]:
        unit = "count" if constant == "sources" else "share"
        for key in SERVING:
            yield ConstantRow(
                constant=constant, runtime=key, family=family or None,
                value=float(f"{value:.3g}"), unit=unit, kind="fitted", rows=count or None,
                source=source, date=DATE_OF_RANGES, note=NOTES[constant],
            )  # fmt: skip

    tokens = real & ~first
    numbers, count = widths(_errors(cases, off, tokens), IN_DECODE), int(tokens.sum())
    for part in PARTS:
        yield from rows(IN_DECODE, float(np.exp(numbers[GPU])), str(part), count)
        yield from rows(LEAN[IN_DECODE], numbers[LEAN_GPU], str(part), count)
    for name in (*cases.cases[0].traits, THIN):
        factor = float(np.exp(numbers[f"{TRAIT}{name}"]))
        yield from rows(BY_TRAIT[IN_DECODE], factor, name, count)
    prompts = real & first
    half = float(np.quantile(np.abs(off[prompts]), COVERED))
    for part in PARTS:
        yield from rows(IN_PROMPT, half, str(part), int(prompts.sum()))
    yield from rows(BY_TRAIT[IN_PROMPT], 1.0, SEVERAL, int(prompts.sum()))
    yield from rows("sources", 0.0, "", 0)
    counts = dict.fromkeys((card.family for card in gpu_rows().values()), 0)
    counts |= {family: len(names) for family, names in publishers(cases).items()}
    for family, number in sorted(counts.items()):
        yield from rows("sources", float(number), family, number)


def _errors(cases: EngineCases, off: Floats, chosen: npt.NDArray[np.bool_]) -> Errors:
    """Errors of chosen cases, predicted without their group; all time is spent on GPUs."""
    none = np.full(len(off), "")
    every = Errors(
        off=off,
        new=off,
        kinds=none,
        groups=cases.columns["group"],
        publishers=np.array([case.publisher for case in cases.cases]),
        backends=none,
        builds=none,
        on_gpu=np.ones(len(off)),
        traits=traits(cases),
        guessed=np.zeros(len(off)),
    )
    return every.of(chosen)


# Fit of serving engines: robust, hierarchical least squares, with predictions of left-out groups.
#
# The logarithm of each constant is a sum of terms with Gaussian priors: one for all cases, and one
# for each GPU family, engine or release that it may differ by. Outliers weigh little (Cauchy
# errors), and a group of n cases weighs as n^0.65 cases.

EngineTerm = tuple[str, str, str]
"""Constant, column, and value of the column; the latter two empty for a term of all cases."""
NOISE = {SIMULATED: 0.1, PUBLISHED: 0.05}
"""Standard deviation of usual cases around the model, as a logarithm; a case at twice this distance
weighs half."""
STEP, ROUNDS, DAMPING, ENOUGH, LEFT_OUT_STEPS = 1e-4, 10, 0.9, 0.03, 3
BEARING = 1e-3
"""Smallest derivative of a case's log time by a constant's logarithm at which the case counts as
evidence for the constant."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EngineProblem:
    """Least-squares problem: terms, the cases they apply to, and their priors."""

    cases: EngineCases
    terms: tuple[EngineTerm, ...]
    applies: npt.NDArray[np.bool_]
    prior: Prior
    weights: Floats

    def constants(self, values: Floats) -> Mapping[str, Floats]:
        """Constants by name, each of shape (cases,)."""
        number = len(self.cases.cases)
        constants: dict[str, Floats] = {
            name: np.full(number, value) for name, value in FIXED.items()
        }
        for name, parameter in ENGINE_PARAMETERS.items():
            mine = [index for index, term in enumerate(self.terms) if term[0] == name]
            value = np.exp(self.applies[:, mine] @ values[mine])
            constants[name] = limited(value, parameter.low, parameter.high)
        simulated = self.cases.columns["evidence"] == SIMULATED
        for name in IN_RUNS:
            constants[name] = np.where(simulated, 0.0, constants[name])
        return constants

    def log_seconds(self, values: Floats) -> Floats:
        """Logarithm of the predicted time, shape (cases,)."""
        return np.log(self.cases.timed(self.constants(values)))

    def slopes(self, values: Floats) -> tuple[Floats, Floats]:
        """Log time and its derivatives by the terms, of shape (cases,) and (cases, terms).

        All terms of a constant share its derivative, each in the cases it applies to.
        """
        here = self.cases.timed(self.constants(values))
        slopes = np.zeros((len(here), len(values)))
        for name in ENGINE_PARAMETERS:
            mine = [index for index, term in enumerate(self.terms) if term[0] == name]
            moved = values.copy()
            moved[next(index for index in mine if not self.terms[index][1])] += STEP
            after = self.cases.changed(self.constants(moved), name, here)
            change = np.log(after / here) / STEP
            for index in mine:
                slopes[:, index] = np.where(self.applies[:, index], change, 0.0)
        return np.log(here), slopes


SHARPNESS = 12


def limited(value: Floats, low: float, high: float) -> Floats:
    """Value limited smoothly to its plausible interval; unchanged well inside it."""
    below: Floats = value * (1.0 + (value / high) ** SHARPNESS) ** (-1.0 / SHARPNESS)
    return np.asarray(np.maximum(below, low))


def problem(cases: EngineCases) -> EngineProblem:
    """Least-squares problem of cases."""
    terms: list[EngineTerm] = []
    columns: list[npt.NDArray[np.bool_]] = []
    widths: list[float] = []
    number = len(cases.cases)
    for name, parameter in ENGINE_PARAMETERS.items():
        terms.append((name, "", ""))
        columns.append(np.ones(number, dtype=bool))
        widths.append(parameter.width)
        for column, width in parameter.factors.items():
            stated = cases.columns[column]
            for value in sorted(set(stated.tolist()) - {""}):
                terms.append((name, column, value))
                columns.append(stated == value)
                widths.append(width)
    starts = [np.log(ENGINE_PARAMETERS[name].start) if not by else 0.0 for name, by, _ in terms]
    noise = np.array([NOISE[case.evidence] for case in cases.cases])
    return EngineProblem(
        cases=cases,
        terms=tuple(terms),
        applies=np.array(columns).T,
        prior=Prior(value=np.array(starts), width=np.array(widths)),
        weights=counts(cases.columns["group"].tolist()) * (NOISE[SIMULATED] / noise) ** 2,
    )


@dataclass(frozen=True, kw_only=True)
class EngineFit:
    """Result of the fit."""

    values: Mapping[EngineTerm, float]  # logarithm of each term's best estimate
    rows: Mapping[EngineTerm, int]  # number of cases that are evidence for each term
    spreads: Mapping[EngineTerm, float]  # standard deviation of each term
    fitted: Floats  # time of each case by the fit to all cases, shape (cases,) [s]
    predicted: Floats  # time of each case by the fit without its group, shape (cases,) [s]


def solve(problem: EngineProblem) -> EngineFit:
    """Best values of all terms, and predictions of each group by the fit without it."""
    values, measured = problem.prior.value.copy(), np.log(problem.cases.seconds)
    for _ in range(ROUNDS):
        here, slopes = problem.slopes(values)
        weights = problem.weights * _trust(measured - here)
        change = newton(problem.prior, values, slopes, weights, measured - here)
        values = values + DAMPING * np.clip(change, -0.5, 0.5)
        if np.max(np.abs(change)) < ENOUGH:
            break
    here, slopes = problem.slopes(values)
    weights = problem.weights * _trust(measured - here)
    bearing = np.sum(problem.applies & (np.abs(slopes) > BEARING), axis=0)
    spreads = np.sqrt(np.diag(covariance(problem.prior, slopes, weights)))
    return EngineFit(
        values=dict(zip(problem.terms, values.tolist(), strict=True)),
        rows=dict(zip(problem.terms, bearing.tolist(), strict=True)),
        spreads=dict(zip(problem.terms, spreads.tolist(), strict=True)),
        fitted=np.exp(here),
        predicted=np.exp(_without_each(problem, values, here, slopes)),
    )


def _trust(residuals: Floats) -> Floats:
    return cauchy(residuals, 2 * NOISE[SIMULATED], NOISE[SIMULATED])


def _without_each(problem: EngineProblem, values: Floats, whole: Floats, slopes: Floats) -> Floats:
    """Log time of each case by the fit without its group, shape (cases,).

    Newton steps from the fit to all cases, with its slopes and the remaining residuals.
    """
    measured, groups = np.log(problem.cases.seconds), problem.cases.columns["group"]
    predicted = whole.copy()
    for group in dict.fromkeys(groups.tolist()):
        outside = groups != group
        without = values.copy()
        for _ in range(LEFT_OUT_STEPS):
            residuals = measured - (whole + slopes @ (without - values))
            weights = np.where(outside, problem.weights * _trust(residuals), 0.0)
            step = newton(problem.prior, without, slopes, weights, residuals)
            without = without + np.clip(step, -0.4, 0.4)
        predicted[~outside] = (whole + slopes @ (without - values))[~outside]
    return predicted


TABLE = DATA / "generated/engine_kernels.csv"
LEFT_OUT = DATA / "generated/engine_left_out.csv"
SOURCE = (
    "python -m advisor.evidence.fitting on data/measurements/simulated_engines.csv, "
    "frameworks_more.csv, frameworks_2026.csv and offload_papers.csv"
)
DATE = "2026-11"
SMALLEST = 0.03
"""Smallest logarithm of a factor that is written; smaller ones make no difference."""
FEWEST = 3
"""Fewest cases for a row of a family or engine; others use the row of all."""
SHARED = ("token", "all_reduce", "peer_share")
"""Constants that other runtimes have under the same name; rows here are for serving engines."""


@dataclass(frozen=True, kw_only=True)
class EngineLeftOutRow:
    """One case; fields as the columns of data/generated/engine_left_out.csv."""

    id: str  # id of its row, with the timed part where a row has several
    group: str  # group that was left out with it
    evidence: str  # simulated or published
    seconds: float  # simulated or measured time [s]
    predicted: float  # time predicted by the fit without its group [s]
    tokens: float  # tokens of all users in that time [tokens]
    experts: float  # degree of the trait "routed experts", 0 to 1 (`cost_model/uncertainty.py`)
    deep: float  # degree of the trait "deep context"
    several: float  # degree of the trait "several GPUs"
    together: float  # degree of the trait "several users"
    thin: float  # degree of the trait "few publishers with a GPU of the family"


@cache
def fitted_engines() -> tuple[EngineCases, EngineFit]:
    """All cases and their fit."""
    cases = EngineCases((*simulated(), *published()))
    return cases, solve(problem(cases))


def engine_tables() -> Mapping[Path, list[ConstantRow] | list[EngineLeftOutRow]]:
    """Rows of both tables."""
    cases, fit = fitted_engines()
    return {
        TABLE: [*_constants(fit), *spread_rows(cases, fit.predicted, SOURCE)],
        LEFT_OUT: list(_left_out(cases, fit)),
    }


def _constants(fit: EngineFit) -> Iterator[ConstantRow]:
    """Rows of each constant: for all, then for families and engines that differ."""
    rows: dict[tuple[str, str, str], ConstantRow] = {}
    for name, parameter in ENGINE_PARAMETERS.items():
        if RELEASE in parameter.factors:
            yield from _releases(fit, name)
            continue
        families = _values(fit, name, FAMILY)
        if FAMILY in parameter.factors:
            families = sorted({*families, *chain.from_iterable(OLDER)})
        for engine in (*_values(fit, name, ENGINE), ""):
            for family in (*families, ""):
                known = [(name, ENGINE, engine), (name, FAMILY, family)]
                terms = [term for term in known if term[2] and term in fit.values]
                rows[name, engine, family] = _row(fit, name, terms, engine, family)
    ordered = ordered_formats(ordered_generations(rows))
    for row in ordered.values():
        yield from _shared(row, ordered)
    yield ConstantRow(
        constant="peer_sharing", family="NVLink", value=0.0, unit="ratio", kind="derived",
        source="each GPU has links of its own", date=DATE,
        note="time that each further GPU adds to a sum of long vectors",
    )  # fmt: skip


FORMAT_ORDER = (("f16", "fp8", 0.55), ("fp8", "nvfp4", 0.65))
"""A format, the next smaller one, and the smallest ratio of the smaller one's share of bandwidth to
its own. The smaller has about half the bytes, so fewer bits are not predicted slower."""
OWN_PEAK = {
    "fp8": ("Ada", "Hopper", "Blackwell", "Blackwell HBM", "Blackwell LPDDR"),
    "nvfp4": ("Blackwell", "Blackwell HBM", "Blackwell LPDDR"),
}  # fmt: skip
"""Generations that multiply a format natively, at twice the peak; others reach the same share of
the same peak as with more bits."""


def ordered_formats(rows: Rows) -> Rows:
    """Rows with shares raised so that fewer bits are not slower in the same part of the model."""
    ordered = dict(rows)
    for part in ("dense", "experts"):
        for more, less, share in FORMAT_ORDER:
            for kind in ("read_share", "flop_share", "tile"):
                for (name, engine, family), row in list(ordered.items()):
                    if name == f"{part}_{less}_{kind}":
                        larger = _nearest(ordered, f"{part}_{more}_{kind}", engine, family)
                        value = _ordered(kind, row.value, larger, share, family in OWN_PEAK[less])
                        ordered[name, engine, family] = replace(row, value=float(f"{value:.4g}"))
    return ordered


def _ordered(kind: str, value: float, larger: float, share: float, own_peak: bool) -> float:
    """Share of a format, raised so that it is not slower than the next larger format."""
    if kind == "tile":
        return min(value, larger)
    return max(value, larger * (share if kind == "read_share" or own_peak else 1.0))


def _nearest(rows: Rows, name: str, engine: str, family: str) -> float:
    """Value of a constant for an engine and family, as `Constants` looks it up."""
    keys = ((name, engine, family), (name, "", family), (name, engine, ""), (name, "", ""))
    return next(rows[key].value for key in keys if key in rows)


def _values(fit: EngineFit, name: str, column: str) -> list[str]:
    """Families or engines with a row of their own: different enough, on enough cases."""
    return sorted(
        term[2]
        for term, value in fit.values.items()
        if term[:2] == (name, column) and abs(value) >= SMALLEST and fit.rows[term] >= FEWEST
    )


def _row(
    fit: EngineFit, name: str, terms: list[EngineTerm], engine: str, family: str
) -> ConstantRow:
    parameter = ENGINE_PARAMETERS[name]
    whole = (name, "", "")
    log = fit.values[whole] + sum(fit.values[term] for term in terms)
    value = float(limited(np.exp(np.array(log)), parameter.low, parameter.high))
    rows = min(fit.rows[term] for term in (*terms, whole))
    spread = float(np.sqrt(sum(fit.spreads[term] ** 2 for term in (*terms, whole))))
    constant, _, link = name.partition(" ")
    return ConstantRow(
        constant=constant,
        runtime=engine or None,
        family=family or link or None,
        value=float(f"{value:.4g}"),
        unit=parameter.unit,
        kind="fitted" if rows else "assumed",
        rows=rows or None,
        spread=float(f"{spread:.2g}") if rows else None,
        source=SOURCE if rows else "expected before any measurement",
        date=DATE,
        note=parameter.note,
    )


def _shared(row: ConstantRow, rows: Rows) -> Iterable[ConstantRow]:
    """Rows of serving engines without their own, for constants that other runtimes also have."""
    if row.constant not in SHARED or row.runtime:
        return (row,)
    own = {engine for name, engine, _ in rows if name == row.constant}
    return tuple(replace(row, runtime=key) for key in SERVING if key not in own)


def _releases(fit: EngineFit, name: str) -> Iterator[ConstantRow]:
    """Rows of releases: factor on the time of earlier years, 1 for today's."""
    parameter = ENGINE_PARAMETERS[name]
    row = ConstantRow(
        constant=name, value=1.0, unit="share", kind="derived", source="by definition", date=DATE,
        note=parameter.note,
    )  # fmt: skip
    yield row
    for term, value in fit.values.items():
        if term[:2] == (name, RELEASE):
            yield replace(
                row, build=term[2], value=float(f"{np.exp(value):.4g}"), unit=FACTOR,
                kind="fitted", rows=fit.rows[term], spread=float(f"{fit.spreads[term]:.2g}"),
                source=SOURCE,
            )  # fmt: skip


def _left_out(cases: EngineCases, fit: EngineFit) -> Iterator[EngineLeftOutRow]:
    reached = traits(cases)
    for at, (case, predicted) in enumerate(zip(cases.cases, fit.predicted.tolist(), strict=True)):
        yield EngineLeftOutRow(
            id=case.id,
            group=case.group,
            evidence=case.evidence,
            seconds=float(f"{case.seconds:.5g}"),
            predicted=float(f"{predicted:.5g}"),
            tokens=float(f"{case.tokens:.5g}"),
            **{name: float(f"{values[at]:.3g}") for name, values in reached.items()},
        )
