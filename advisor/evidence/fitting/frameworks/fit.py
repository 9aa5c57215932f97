"""Fit of frameworks: robust, hierarchical least squares, with predictions of left-out groups.

The logarithm of each constant is a sum of terms with Gaussian priors. Outliers weigh little (Cauchy
errors), and a group of n runs weighs as n^0.65 runs. Runs that are only scored weigh nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from advisor.evidence.fitting.frameworks.parameters import (
    RUNTIME,
    STREAM_PARAMETERS,
    StreamParameter,
)
from advisor.evidence.fitting.frameworks.runs import Streams
from advisor.evidence.fitting.gauss_newton import Prior, cauchy, counts, covariance, newton
from advisor.model.model import Floats

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
    """Result of the fit.

    Attributes:
        values: logarithm of each term's best estimate.
        rows: number of runs that are evidence for each term.
        spreads: standard deviation of a constant's term, or of its sum with an engine's term.
        predicted: time of each run by the fit without its group, shape (runs,) [s].
    """

    values: Mapping[Term, float]
    rows: Mapping[Term, int]
    spreads: Mapping[Term, float]
    predicted: Floats


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
