"""Rows of the frameworks' fit for data/generated/efficiency.csv, and errors for the ledger."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import ConstantRow, Constants, Scope, fitted_constants
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import LAYERS, TOKEN
from advisor.cost_model.uncertainty import IN_DECODE, LEAN, Margins
from advisor.evidence.fitting.frameworks.runs import (
    BATCHED,
    EXPERTS,
    RESIDENT,
    RUNTIME,
    SERVING,
    STAGED,
    STREAM_PARAMETERS,
    STREAMED,
    FrameworkRun,
    StreamParameter,
    Streams,
    papers,
    regime,
    teaches,
)
from advisor.evidence.fitting.gauss_newton import Prior, cauchy, counts, covariance, newton
from advisor.evidence.fitting.llama_cpp.spreads import COVERED
from advisor.evidence.published.batch import guessed_batch
from advisor.model.model import Floats
from advisor.runtimes.expert_offloading import EXPERT_STREAMING

# Fit of frameworks: robust, hierarchical least squares, with predictions of left-out groups.
#
# The logarithm of each constant is a sum of terms with Gaussian priors. Outliers weigh little
# (Cauchy errors), and a group of n runs weighs as n^0.65 runs. Runs that are only scored weigh
# nothing.

Term = tuple[str, str]
"""Constant, and the engine that the term is for; empty for a term of all runs."""
Marks = npt.NDArray[np.bool_]

NOISE = 0.07
"""Standard deviation of usual runs around the model, as a logarithm; a run at twice this distance
weighs half."""
STEP = 1e-4
ROUNDS, DAMPING, ENOUGH = 12, 0.8, 0.03
"""Largest number of steps, share of each step that is taken, and change of a logarithm below which
the fit ends."""
LEFT_OUT_STEPS = 3
BEARING = 1e-3
"""Smallest derivative of a run's log time by a constant's logarithm at which the run counts as
evidence for the constant."""


@dataclass(frozen=True, kw_only=True)
class StreamFit:
    """Result of the fit."""

    values: Mapping[Term, float]  # logarithm of each term's best estimate
    rows: Mapping[Term, int]  # number of runs that are evidence for each term
    # standard deviation of a constant's term, or of its sum with an engine's term
    spreads: Mapping[Term, float]
    predicted: Floats  # time of each run by the fit without its group, shape (runs,) [s]


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """Least-squares problem: terms, the runs they apply to, and their priors."""

    streams: Streams
    terms: tuple[Term, ...]
    applies: Marks
    prior: Prior
    counts: Floats

    def log_seconds(self, values: Floats, only: Marks | None = None) -> Floats:
        """Logarithm of the predicted time of all or some runs, shape (runs,)."""
        constants = {}
        for name, parameter in STREAM_PARAMETERS.items():
            mine = [index for index, term in enumerate(self.terms) if term[0] == name]
            constants[name] = parameter.limited(np.exp(self.applies[:, mine] @ values[mine]))
        return np.log(self.streams.timed(constants, only))

    def slopes(self, values: Floats, active: Marks) -> tuple[Floats, Floats]:
        """Log time and its derivatives by the active terms, of shape (runs,) and (runs, terms)."""
        here = self.log_seconds(values)
        slopes = np.zeros((len(here), len(values)))
        for term in np.flatnonzero(active):
            moved, runs = values.copy(), self.applies[:, term]
            moved[term] += STEP
            change = self.log_seconds(moved, runs) - here
            slopes[:, term] = np.where(runs, change, 0.0) / STEP
        return here, slopes


def task(streams: Streams) -> Task:
    """Least-squares problem of runs."""
    columns: dict[Term, Marks] = {}
    widths: dict[Term, float] = {}
    for name, parameter in STREAM_PARAMETERS.items():
        for term, runs in _terms(name, parameter, streams).items():
            columns[term], widths[term] = runs, _width(term)
    terms = tuple(columns)
    return Task(
        streams=streams,
        terms=terms,
        applies=np.array([columns[term] for term in terms]).T,
        prior=Prior(
            value=np.array([_expected(term) for term in terms]),
            width=np.array([widths[term] for term in terms]),
        ),
        counts=counts(streams.groups) * streams.counts,
    )


def _terms(name: str, parameter: StreamParameter, streams: Streams) -> dict[Term, Marks]:
    has = ~streams.without[name]
    terms: dict[Term, Marks] = {(name, ""): np.ones_like(has)}
    if RUNTIME in parameter.factors:
        engines = np.array(streams.engines)
        for key in dict.fromkeys(engines[has].tolist()):
            terms[name, key] = has & (engines == key)
    return terms


def _width(term: Term) -> float:
    parameter = STREAM_PARAMETERS[term[0]]
    return parameter.factors[RUNTIME] if term[1] else parameter.width


def _expected(term: Term) -> float:
    name, key = term
    parameter = STREAM_PARAMETERS[name]
    if not key:
        return float(np.log(parameter.start))
    return float(np.log(parameter.starts.get(key, parameter.start) / parameter.start))


def solve(fit: Task) -> StreamFit:
    """Best values of all terms, and predictions of each group by the fit without it."""
    values, measured = fit.prior.value.copy(), np.log(fit.streams.seconds)
    teaching = fit.counts > 0
    active = np.ones(len(values), dtype=bool)
    for _ in range(ROUNDS):
        here, slopes = fit.slopes(values, active)
        active = np.any(np.abs(slopes[teaching]) > BEARING, axis=0)
        weights = fit.counts * _trust(measured - here)
        change = newton(fit.prior, values, slopes, weights, measured - here)
        values = values + DAMPING * np.clip(change, -0.6, 0.6)
        if np.max(np.abs(change)) < ENOUGH:
            break
    here, slopes = fit.slopes(values, np.ones(len(values), dtype=bool))
    weights = fit.counts * _trust(measured - here)
    bearing = np.sum(fit.applies & (np.abs(slopes) > BEARING) & teaching[:, None], axis=0)
    return StreamFit(
        values=dict(zip(fit.terms, values.tolist(), strict=True)),
        rows=dict(zip(fit.terms, bearing.tolist(), strict=True)),
        spreads=_sums(fit.terms, covariance(fit.prior, slopes, weights)),
        predicted=np.exp(_left_out(fit, values, slopes)),
    )


def _trust(residuals: Floats) -> Floats:
    return cauchy(residuals, 2 * NOISE, NOISE)


def _sums(terms: tuple[Term, ...], together: Floats) -> dict[Term, float]:
    """Standard deviation of each constant's term, and of its sum with each engine's term."""
    at = {term: index for index, term in enumerate(terms)}
    deviations = {}
    for (name, key), own in at.items():
        both = [at[name, ""]] if not key else [at[name, ""], own]
        deviations[name, key] = float(np.sqrt(together[np.ix_(both, both)].sum()))
    return deviations


def _left_out(fit: Task, values: Floats, slopes: Floats) -> Floats:
    """Log time of each run by the fit without its group, shape (runs,).

    Newton steps from the fit to all runs, with its slopes and the remaining residuals.
    """
    measured, groups = np.log(fit.streams.seconds), np.array(fit.streams.groups)
    logs = np.zeros(len(groups))
    whole = fit.log_seconds(values)
    for group in dict.fromkeys(fit.streams.groups):
        outside = groups != group
        taught = not np.any(fit.counts[~outside] > 0)
        without = values.copy()
        for _ in range(0 if taught else LEFT_OUT_STEPS):
            residuals = measured - (whole + slopes @ (without - values))
            weights = np.where(outside, fit.counts * _trust(residuals), 0.0)
            step = newton(fit.prior, without, slopes, weights, residuals)
            without = without + np.clip(step, -0.4, 0.4)
        logs[~outside] = fit.log_seconds(without, ~outside)[~outside]
    return logs


SOURCE = "python -m advisor.evidence.fitting on data/measurements/offload_papers.csv"
DATE = "2026-11"
ON_GPU = (Route.RESIDENT, LAYERS, TOKEN)
EVERYWHERE = (*ON_GPU, Route.IN_PLACE, Route.STREAMED, Route.STAGED)
OF_LINKS = ("link_share", "host_copy")
"""Constants that serving engines share with frameworks, for weights in RAM. Their kernels and
ranges are in data/generated/engine_kernels.csv."""
MOST_LEAN = 0.8
LEAST = 0.1
"""Smallest distance from a prediction to an end of its range, as the logarithm of a factor."""


@dataclass(frozen=True)
class Miss:
    """Error of a run that was predicted without its group."""

    off: float  # log(measured speed / predicted speed)
    group: str  # source and hardware


Misses = Mapping[str, Sequence[Miss]]
"""Errors by kind of run, and by engine for those that stream experts."""


@cache
def fitted() -> tuple[Streams, StreamFit]:
    """All runs and their fit."""
    streams = Streams(papers())
    return streams, solve(task(streams))


def stream_rows() -> list[ConstantRow]:
    """Rows of the frameworks' constants and half widths for data/generated/efficiency.csv."""
    streams, fit = fitted()
    return [*_constants(streams, fit), *_spreads(streams, fit)]


def _constants(streams: Streams, fit: StreamFit) -> Iterator[ConstantRow]:
    for name, parameter in STREAM_PARAMETERS.items():
        for key in sorted(set(parameter.only or streams.engines)):
            if key in SERVING and name not in OF_LINKS:
                continue
            own = (name, key) if RUNTIME in parameter.factors else (name, "")
            factor = fit.values.get((name, key), 0.0)
            value = float(parameter.limited(np.exp(fit.values[name, ""] + factor)))
            rows = fit.rows.get(own, 0)
            constant = _row(name, key, "", value, parameter.unit, rows, parameter.note)
            yield replace(constant, spread=float(f"{fit.spreads[own]:.2g}") if rows else None)


def _spreads(streams: Streams, fit: StreamFit) -> Iterator[ConstantRow]:
    """Half widths of ranges by part of the time and by engine, from left-out groups."""
    note = "80 % range, as the logarithm of a factor"
    off = _off(streams, fit, stated=True)
    behind = fitted_constants().value("spread_unmeasured", Route.STREAMED)  # links are derived
    streamed = float(np.sqrt(max(_most(off, STREAMED) ** 2 - behind**2, 0.01)))
    halves: tuple[tuple[str, float, str], ...] = (
        (Route.STREAMED, streamed, STREAMED),
        (Route.STAGED, _most(off, STAGED), STAGED),
    )
    for part, value, kind in halves:
        yield _row(IN_DECODE, None, part, value, "share", len(off[kind]), note)
    resident = _most(off, BATCHED, RESIDENT)
    count = len(off[BATCHED]) + len(off[RESIDENT])
    for key in sorted({*streams.engines} - {*SERVING}):
        own = off.get(key, ())
        value, lean = _leaning(own) if own else (resident, 0.0)
        for part in EVERYWHERE if own else ON_GPU:
            yield _row(IN_DECODE, key, part, value, "share", len(own) or count, note)
            if own:
                leans = "how far an 80 % range leans to the slow side"
                yield _row(LEAN[IN_DECODE], key, part, lean, "share", len(own), leans)
    yield from _guesses(streams, fit, resident)


def _guesses(streams: Streams, fit: StreamFit, stated: float) -> Iterator[ConstantRow]:
    """Extra half widths for runs without a stated batch, of dense models and of experts.

    Args:
        streams: all runs.
        fit: fit, with predictions made without each run's group.
        stated: half width of runs with a stated batch.
    """
    off = _off(streams, fit, stated=False)
    note = "range of runs whose batch is not stated, beside that of the others"
    dense = [kind for kind in (STREAMED, STAGED, BATCHED, RESIDENT) if kind in off]
    for name, kinds in (("spread_guessed", dense), ("spread_guessed_experts", [EXPERTS])):
        value = float(np.sqrt(max(_most(off, *kinds) ** 2 - stated**2, 0.01)))
        rows = sum(len(off[kind]) for kind in kinds)
        yield _row(name, None, "", value, "share", rows, note)


def _off(streams: Streams, fit: StreamFit, *, stated: bool) -> Misses:
    """Errors of runs predicted without their group.

    Args:
        streams: all runs.
        fit: fit, with predictions made without each run's group.
        stated: True for runs with a stated batch, False for the others.
    """
    misses: dict[str, list[Miss]] = {}
    logs = np.log(fit.predicted / streams.seconds)
    for run, log, group in zip(streams.runs, logs.tolist(), streams.groups, strict=True):
        if teaches(run) is stated:
            misses.setdefault(regime(run), []).append(Miss(log, group))
            if run.case.runtime.engine == EXPERT_STREAMING.engine:
                misses.setdefault(run.case.runtime.key, []).append(Miss(log, group))
    return misses


def _most(misses: Misses, *wanted: str) -> float:
    """Half width that contains `COVERED` of some kinds of runs, weighted by `_weights`."""
    every = [miss for kind in wanted for miss in misses[kind]]
    return _reach(np.abs([miss.off for miss in every]), _weights(every), COVERED)


def _leaning(misses: Sequence[Miss]) -> tuple[float, float]:
    """Half width and lean of a range with equal shares of runs below and above it."""
    off, weights = np.array([miss.off for miss in misses]), _weights(misses)
    inside = (1.0 + COVERED) / 2.0
    below = max(_reach(-off, weights, inside), LEAST)
    above = max(_reach(off, weights, inside), LEAST)
    lean = float(np.clip((below - above) / (below + above), -MOST_LEAN, MOST_LEAN))
    return (below + above) / 2.0, lean


def _weights(misses: Sequence[Miss]) -> Floats:
    """Weights of runs, half by run and half by group, with sum 1, shape (runs,)."""
    sizes = Counter(miss.group for miss in misses)
    by_group = np.array([1.0 / (sizes[miss.group] * len(sizes)) for miss in misses])
    return by_group / 2.0 + 0.5 / len(misses)


def _reach(values: Floats, weights: Floats, share: float) -> float:
    """Distance that a share of the weight does not exceed: halfway from the farthest value within
    to the nearest outside. At the farthest itself the rounded constant might leave it out.
    """
    order = np.argsort(values, kind="stable")
    place = int(np.searchsorted(np.cumsum(weights[order]), share))
    ends = order[np.minimum([place, place + 1], len(values) - 1)]
    return float(np.mean(values[ends]))


def _row(
    constant: str, runtime: str | None, family: str, value: float, unit: str, rows: int, note: str
) -> ConstantRow:
    return ConstantRow(
        constant=constant,
        runtime=runtime,
        family=family or None,
        value=float(f"{value:.4g}"),
        unit=unit,
        kind="fitted" if rows else "assumed",
        rows=rows or None,
        source=SOURCE if rows else "expected before any measurement",
        date=DATE,
        note=note,
    )


def margins(run: FrameworkRun) -> Margins:
    """Margins of a run's range, by the part that takes most of its time."""
    table = fitted_constants().bound(Scope(runtime=run.case.runtime.key))
    half, lean = _stated(run, table), 0.0
    if run.case.runtime.engine == EXPERT_STREAMING.engine:
        lean = float(table.value(LEAN[IN_DECODE], Route.RESIDENT))
    known = Margins(below=half * (1.0 + lean), above=half * (1.0 - lean))
    return known if teaches(run) else known.wider(guessed_batch(run.case.model))


def _stated(run: FrameworkRun, table: Constants) -> float:
    """Half width of a run with a stated batch."""
    kind = regime(run)
    if kind in (BATCHED, RESIDENT) or run.case.runtime.engine == EXPERT_STREAMING.engine:
        return table.value(IN_DECODE, Route.RESIDENT)
    part = Route.STAGED if kind == STAGED else Route.STREAMED
    own = table.value(IN_DECODE, part)
    behind = table.value("spread_unmeasured", part) if part is Route.STREAMED else 0.0
    return float(np.hypot(own, behind))
