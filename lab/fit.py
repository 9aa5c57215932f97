"""Fit of constants to timed runs: robust, hierarchical least squares, and fits that leave runs out.

The logarithm of each constant is a sum of terms with Gaussian priors: one for all runs, and one for
each scope that it may differ by. Outliers weigh little (Cauchy errors), and so do the many runs of
one source on one machine, which share their error. Steps are Gauss-Newton's.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import FACTOR, ConstantRow
from advisor.catalog.csv_tables import assignments, read
from advisor.model.model import Floats
from lab import rounded
from lab.stack import Cases

# Fitted constants: rows of parameters.csv, each with its start, its limits and what it differs by.
#
# Each constant is one value times a factor for each scope. The prior keeps factors near 1: a GPU
# family with one measurement hardly moves, one with fifty does. A scope is kept only if it improves
# predictions of left-out sources. Start values come from other sources than the fitted rows: probes
# of links and drives, PyTorch's kernels, the values that FlexGen's authors fitted to their T4
# (experimental/cost_model.py at 004ffef), and times of single operations (aiconfigurator 0.12.0).

LLAMA_CPP = "llama.cpp"
FRAMEWORKS = "frameworks"
SERVING_ENGINES = "engines"
"""Regimes that are fitted apart: llama.cpp and its forks, frameworks that stream, stage or batch,
and serving engines."""
DATE = "2026-11"  # month of the fit
TABLE = Path(__file__).with_name("parameters.csv")


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One constant of a regime; the fields are the columns of parameters.csv."""

    regime: str  # `LLAMA_CPP`, `FRAMEWORKS` or `SERVING_ENGINES`
    name: str  # name in data/generated/; one path between GPUs follows after a blank
    start: float  # value expected before any measurement
    least: float = 0.0  # smallest plausible value, over all scopes
    most: float = math.inf  # largest plausible value, over all scopes
    width: float  # standard deviation of the prior of its logarithm; 0 for a constant that is set
    unit: str  # unit of the value
    # standard deviation of the prior of a factor's logarithm, by the columns it differs by
    # ("family=0.3; build+decode_class=0.2")
    factors: str = ""
    # expected factors other than 1, by the values of their columns joined by blanks ("sse=0.2")
    expected: str = ""
    family: str = "family"  # column of a run that the factors' column `family` means
    # column and values of the runs that have the constant ("engine=vllm|flexgen"); empty for all
    only: str = ""
    absent: float = 0.0  # value in the other runs
    runtime: str = ""  # runtime that the constant is for; empty for all
    note: str  # description
    source: str = ""  # why it starts, ends or differs there

    @cached_property
    def scopes(self) -> Mapping[tuple[str, ...], float]:
        """Width of the prior by the columns that a factor differs by."""
        pairs = assignments(self.factors, TABLE.name)
        return {tuple(columns.split("+")): float(width) for columns, width in pairs}

    @cached_property
    def expectations(self) -> Mapping[str, float]:
        """Expected factors by the values of their columns, joined by blanks."""
        return {key: float(value) for key, value in assignments(self.expected, TABLE.name)}

    def in_scope(self, scope: Mapping[str, str]) -> bool:
        """Whether a run with these values of its columns has the constant."""
        column, _, values = self.only.partition("=")
        return not column or scope[column] in values.split("|")


def fitted_row(
    source: str,
    constant: str,
    value: float,
    unit: str,
    rows: int,
    note: str,
    spread: float | None = None,
    /,
    **scope: str | None,
) -> ConstantRow:
    """Row of a constant, its value with four digits; assumed where no rows are behind it."""
    where: dict[str, Any] = {column: name or None for column, name in scope.items()}
    return ConstantRow(
        constant=constant,
        value=rounded(value, 4),
        unit=unit,
        kind="fitted" if rows else "assumed",
        rows=rows or None,
        spread=rounded(spread, 2) if rows and spread is not None else None,
        source=source if rows else "expected before any measurement",
        date=DATE,
        note=note,
        **where,
    )


@cache
def parameters(regime: str) -> Mapping[str, Parameter]:
    """Constants of a regime by name, in the order of the fit."""
    return {row.name: row for row in read(TABLE, Parameter) if row.regime == regime}


# Least-squares problem of the runs.

Scope = tuple[tuple[str, str], ...]  # columns of runs and their values
Term = tuple[str, Scope]  # constant, and the scope of the term; an empty scope for all runs
Weighed = tuple[Term, Floats, float, float]
"""A term, the runs that it applies to, its expected value and the width of its prior."""

HELD = 1e-6  # width of the prior of a term that keeps its expected value
STEP = 1e-4  # change of a logarithm by which times are differentiated
BEARING = 1e-3
"""Smallest derivative of a run's log time by a term at which the run is evidence for it."""
SHARPNESS = 12  # sharpness of limits: a constant whose terms reach its limit is 6 % below it


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """Settings of the fit of a regime."""

    regime: str  # `LLAMA_CPP`, `FRAMEWORKS` or `SERVING_ENGINES`
    far: float  # distance from the fit at which a run weighs half, in its noise
    damping: float = 1.0  # share of each step that is taken
    farthest: float  # largest change of a logarithm in a step; longer ones leave the linear region
    rounds: int  # largest number of steps
    close: float  # largest change of any logarithm at which the fit ends
    # fewest groups of a scope with a factor; rarer ones keep their expected value
    least_groups: int = 0
    limited: bool = True  # whether values are held within the parameters' limits


@dataclass(frozen=True, kw_only=True)
class Prior:
    """Gaussian prior of each term, shape (terms,)."""

    value: Floats  # expected logarithm
    width: Floats  # standard deviation


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Least-squares problem: runs, terms, the runs each term applies to, and priors."""

    cases: Cases  # fitted runs
    settings: FitSettings  # settings of their regime
    terms: tuple[Term, ...]  # terms by constant: first the one for all runs, then its factors
    applies: Floats  # 1 where a term applies to a run, else 0, shape (runs, terms)
    prior: Prior  # prior of the terms
    weights: Floats  # weight of each run at no distance from the fit; 0 leaves it out

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Constants of the regime by name."""
        return parameters(self.settings.regime)

    def values(self, logs: Floats) -> Mapping[str, Floats]:
        """Constants by name, each of shape (runs,), from logarithms of the terms, shape (terms,),
        or (runs, terms) with own ones per run.
        """
        runs = len(self.cases.timed)
        every = self.parameters.items()
        constants = {name: np.full(runs, own.start) for name, own in every if not own.width}
        sums = self._sums(logs).items()
        return constants | {name: self._value(name, total) for name, total in sums}

    def _sums(self, logs: Floats) -> dict[str, Floats]:
        """Logarithm of each fitted constant before its limits, shape (runs,)."""
        weighed = self.applies * logs
        return {name: weighed[:, span].sum(axis=1) for name, span in self._spans.items()}

    def _value(self, name: str, total: Floats) -> Floats:
        parameter = self.parameters[name]
        value = np.exp(total)
        if self.settings.limited:
            value = limited(value, parameter)
        return np.where(self._has[name], value, parameter.absent)

    @cached_property
    def _has(self) -> Mapping[str, npt.NDArray[np.bool_]]:
        """Mask of the runs that have each constant."""
        return {
            name: np.array([parameter.in_scope(run.scope) for run in self.cases.timed], dtype=bool)
            for name, parameter in self.parameters.items()
        }

    @cached_property
    def _spans(self) -> Mapping[str, slice]:
        """Range of each constant's terms within `terms`."""
        names = [name for name, _ in self.terms]
        return {
            name: slice(names.index(name), names.index(name) + names.count(name))
            for name in dict.fromkeys(names)
        }

    def slopes(self, logs: Floats) -> tuple[Floats, Floats]:
        """Log time and its derivatives by the terms, of shape (runs,) and (runs, terms).

        A term is added to the logarithm of its constant, so in the runs it applies to, the
        derivative by the term is that by the constant.
        """
        values = self.values(logs)
        sums = self._sums(logs)
        here = self.cases.predicted(values)
        slopes = np.empty((len(here), len(logs)))
        for name, span in self._spans.items():
            moved = {**values, name: self._value(name, sums[name] + STEP)}
            by_constant = np.log(self.cases.predicted(moved, name, here) / here) / STEP
            slopes[:, span] = self.applies[:, span] * by_constant[:, None]
        return np.log(here), slopes

    def bearing(self, slopes: Floats) -> npt.NDArray[np.bool_]:
        """Whether each run counts and its time depends on each term, shape (runs, terms)."""
        depends = (self.applies > 0) & (np.abs(slopes) > BEARING)
        return np.asarray(depends & (self.weights > 0)[:, None])

    def groups(self, slopes: Floats) -> npt.NDArray[np.int64]:
        """Number of groups whose time depends on each term, shape (terms,)."""
        groups = np.array(self.cases.groups)
        return np.array([len(set(groups[bears])) for bears in self.bearing(slopes).T])

    def trusted(self, residuals: Floats) -> Floats:
        """Weight of each run for Cauchy errors (Holland and Welsch 1977, table 1), shape (runs,):
        half at `far` times its noise from the fit, and 1 / noise^2 at no distance.
        """
        noise = self.cases.noise
        near = 1.0 / (1.0 + (residuals / (self.settings.far * noise)) ** 2)
        return self.weights * (near / noise**2)


def limited(value: Floats, parameter: Parameter) -> Floats:
    """Value limited smoothly to the plausible interval; unchanged well inside it."""
    below = value * (1.0 + (value / parameter.most) ** SHARPNESS) ** (-1.0 / SHARPNESS)
    return np.asarray(np.maximum(below, parameter.least))


def counts(groups: Sequence[str], power: float) -> Floats:
    """Weight of each run: n^power in a group of n, so that with -1 all groups weigh the same."""
    sizes = Counter(groups)
    return np.array([sizes[group] ** power for group in groups])


def problem(cases: Cases, settings: FitSettings, weights: Floats) -> Problem:
    """Least-squares problem with all terms that runs are evidence for, by the weight of each run at
    no distance from the fit, shape (runs,).
    """
    every: list[Weighed] = []
    for name, parameter in parameters(settings.regime).items():
        if parameter.width:
            every.append(((name, ()), np.ones(len(weights)), parameter.start, parameter.width))
            every += _factors(cases, parameter, settings.least_groups)
    terms, applies, expected, widths = zip(*every, strict=True)
    return Problem(
        cases=cases,
        settings=settings,
        terms=terms,
        applies=np.array(applies).T,
        prior=Prior(value=np.log(expected), width=np.array(widths)),
        weights=weights,
    )


def _factors(cases: Cases, parameter: Parameter, least_groups: int) -> Iterator[Weighed]:
    """Terms of a constant's factors: of values of columns that occur in enough groups, and of those
    for which a factor is expected.
    """
    runs = [{**run.scope, "family": run.scope[parameter.family]} for run in cases.timed]
    has = [parameter.in_scope(run.scope) for run in cases.timed]
    for columns, width in parameter.scopes.items():
        alike: dict[Scope, list[int]] = {}
        for place in np.flatnonzero(has).tolist():
            scope = tuple((column, runs[place][column]) for column in columns)
            if all(value for _, value in scope):
                alike.setdefault(scope, []).append(place)
        for scope, places in alike.items():
            name = " ".join(value for _, value in scope)
            groups = {cases.groups[place] for place in places}
            if len(groups) >= least_groups or name in parameter.expectations:
                applies = np.zeros(len(runs))
                applies[places] = 1.0
                expected = parameter.expectations.get(name, 1.0)
                yield (parameter.name, scope), applies, expected, width


@dataclass(frozen=True)
class Fit:
    """Result of the fit; arrays of shape (terms,), (runs,) or (runs, terms)."""

    task: Problem  # problem, with factors of too few groups held
    logs: Floats  # best logarithm of each term's base value or factor
    here: Floats  # logarithm of each run's predicted time
    slopes: Floats  # its derivatives by the terms

    @cached_property
    def residuals(self) -> Floats:
        """Logarithm of measured / predicted of each run."""
        return np.log(self.task.cases.seconds) - self.here

    @cached_property
    def weights(self) -> Floats:
        """Weight of each run."""
        return self.task.trusted(self.residuals)

    @cached_property
    def rows(self) -> npt.NDArray[np.int64]:
        """Number of runs that are evidence for each term."""
        return np.asarray(np.sum(self.task.bearing(self.slopes), axis=0))

    @cached_property
    def groups(self) -> npt.NDArray[np.int64]:
        """Number of their groups."""
        return self.task.groups(self.slopes)

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of the terms, shape (terms, terms)."""
        return covariance(self.task.prior, self.slopes, self.weights)

    @cached_property
    def spreads(self) -> Floats:
        """Standard deviation of each term."""
        return np.sqrt(np.diag(self.covariance))

    @cached_property
    def at(self) -> Mapping[Term, int]:
        """Place of each term."""
        return {term: place for place, term in enumerate(self.task.terms)}

    def row(
        self,
        source: str,
        at: Sequence[int],
        rows: int,
        spread: float | None = None,
        /,
        **scope: str,
    ) -> ConstantRow:
        """Row of the product of a constant's terms at some places, the one for all among them, or
        of factors alone; its standard deviation is that of their sum where none is given.
        """
        name = self.task.terms[at[0]][0]
        parameter = self.task.parameters[name]
        value = np.exp(self.logs[at].sum())
        whole = self.at[name, ()] in at
        if whole and self.task.settings.limited:
            value = limited(value, parameter)
        if spread is None:
            spread = float(np.sqrt(self.covariance[np.ix_(at, at)].sum()))
        return fitted_row(
            source,
            name.partition(" ")[0],
            value,
            parameter.unit if whole else FACTOR,
            rows,
            parameter.note,
            spread,
            **{"runtime": parameter.runtime, **scope},
        )


def solve(task: Problem) -> Fit:
    """Best values of all terms."""
    return fit_at(*best_values(task))


def fit_at(task: Problem, logs: Floats) -> Fit:
    """Fit with given values of all terms."""
    return Fit(task, logs, *task.slopes(logs))


def best_values(
    task: Problem, start: Floats | None = None, close: float | None = None
) -> tuple[Problem, Floats]:
    """Problem with factors of too few groups held, and the best values of its terms, from `start`
    or the expected ones; the fit ends where no logarithm changes by more than `close`.
    """
    if start is None:
        logs = task.prior.value
    else:
        logs = start
    factors = np.array([bool(scope) for _, scope in task.terms])
    while True:
        beginning = np.where(task.prior.width <= HELD, task.prior.value, logs)
        logs = _best(task, beginning, close or task.settings.close)
        if not task.settings.least_groups:
            return task, logs
        groups = task.groups(task.slopes(logs)[1])
        loose = factors & (groups < task.settings.least_groups) & (task.prior.width > HELD)
        if not loose.any():
            return task, logs
        held = replace(task.prior, width=np.where(loose, HELD, task.prior.width))
        task = replace(task, prior=held)


def _best(task: Problem, logs: Floats, close: float) -> Floats:
    """Best logarithms of the terms, by Newton steps from the given ones, shape (terms,)."""
    measured = np.log(task.cases.seconds)
    settings = task.settings
    for _ in range(settings.rounds):
        here, slopes = task.slopes(logs)
        weights = task.trusted(measured - here)
        change = newton(task.prior, logs, slopes, weights, measured - here)
        change = np.clip(change, -settings.farthest, settings.farthest)
        logs = logs + settings.damping * change
        if np.max(np.abs(change)) < close:
            break
    return logs


def newton(
    prior: Prior, values: Floats, slopes: Floats, weights: Floats, residuals: Floats
) -> Floats:
    """Gauss-Newton step towards the best values, shape (terms,)."""
    gradient = slopes.T @ (weights * residuals) - (values - prior.value) / prior.width**2
    return np.asarray(np.linalg.solve(_curvature(prior, slopes, weights), gradient))


def covariance(prior: Prior, slopes: Floats, weights: Floats) -> Floats:
    """Covariance of the fitted values, shape (terms, terms)."""
    return np.asarray(np.linalg.inv(_curvature(prior, slopes, weights)))


def _curvature(prior: Prior, slopes: Floats, weights: Floats) -> Floats:
    """S' W S + 1 / width^2, summed over the runs that depend on the same terms, shape (terms,
    terms): a run depends on one in twenty.
    """
    curvature = np.diag(prior.width**-2)
    _, first, kind = np.unique(
        np.packbits(slopes != 0.0, axis=1), axis=0, return_index=True, return_inverse=True
    )
    by_kind = np.split(np.argsort(kind.ravel()), np.cumsum(np.bincount(kind.ravel()))[:-1])
    for run, runs in zip(first, by_kind, strict=True):
        terms = np.flatnonzero(slopes[run])
        some = slopes[np.ix_(runs, terms)]
        curvature[np.ix_(terms, terms)] += some.T @ (some * weights[runs, None])
    return np.asarray(curvature)


# Fits that leave out the runs of a source.

LONGEST = 1.5
"""Largest change of a logarithm when runs are left out, as one step is exact only nearby."""


def without_each(
    prior: Prior,
    values: Floats,
    slopes: Floats,
    weights: Floats,
    residuals: Floats,
    clusters: Sequence[str],
) -> Floats:
    """Values fitted without each run's cluster, shape (runs, terms).

    One Newton step from the best values, where the gradient is zero: without runs c the gradient is
    -S_c' W_c r_c and the curvature H - S_c' W_c S_c, inverted by Woodbury's identity (Cook and
    Weisberg 1982, section 3.2, for rows of a linear fit). Slopes, of shape (runs, terms), weights
    and residuals log(measured / predicted) are those at the best values.
    """
    inverse = covariance(prior, slopes, weights)
    without = np.empty_like(slopes)
    names = np.array(clusters)
    for cluster in dict.fromkeys(clusters):
        inside = np.flatnonzero(names == cluster)
        own = slopes[inside]
        weight = weights[inside]
        plain = inverse @ (own.T @ (weight * residuals[inside]))
        between = np.linalg.inv(np.diag(1.0 / weight) - own @ inverse @ own.T)
        change = -(plain + inverse @ (own.T @ (between @ (own @ plain))))
        without[inside] = values + np.clip(change, -LONGEST, LONGEST)
    return without


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Fit of all runs of a regime, and each run predicted without its cluster."""

    fit: Fit
    predicted: Floats  # predicted time of each run, shape (runs,) [s]


GROUP_POWER = -0.35  # power of a run's weight: each run of a group of n weighs n^-0.35


def fitted(cases: Cases, settings: FitSettings) -> Fit:
    """Fit of the constants of frameworks or serving engines to their runs."""
    weights = counts(cases.groups, GROUP_POWER) * [run.weight for run in cases.timed]
    return solve(problem(cases, settings, weights))
