"""Fit of llama.cpp: robust, hierarchical least squares, with predictions of left-out sources.

The logarithm of each constant is a sum of terms with Gaussian priors: one for all rows, and one for
each scope that it may differ by. Outliers weigh little (Cauchy errors). A group of n rows weighs as
n^0.5 rows, since rows of one source on one machine share their error.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from advisor.evidence.fitting.gauss_newton import (
    Prior,
    cauchy,
    counts,
    covariance,
    newton,
    without_each,
)
from advisor.evidence.fitting.llama_cpp.parameter import Parameter
from advisor.evidence.fitting.llama_cpp.parameters import PARAMETERS
from advisor.evidence.fitting.llama_cpp.rows import Rows
from advisor.evidence.fitting.llama_cpp.timed_row import TimedRow
from advisor.evidence.published.row import publisher_of
from advisor.model.model import Floats
from advisor.model.operators import operators, together

NOISE, NOISE_OF_PROMPTS = 0.12, 0.2
"""Standard deviation of usual rows around the model, of tokens and of prompts, as a logarithm; a
row at this distance weighs half. Two sources on one GPU, model and format differ by 12 % at the
median (`python -m advisor accuracy`)."""
GROUP_POWER = -0.6
"""Power of a row's weight: each row of a group of n weighs n^-0.6, so a group weighs n^0.4."""
PUBLISHER_POWER = -0.25
"""Power of a group's weight: each of m groups of a publisher weighs m^-0.25, since the groups of a
publisher share their ways of measuring."""
APART = {"llamafile": 0.15}
"""Factor on the weight of a row by its build. LocalScore's rows, a sixth of all, are of old kernels
on unprepared machines: they decide their own constants and hardly influence the others."""
LEAST_GROUPS = 3
"""Fewest groups of a scope with a factor of its own."""
HELD = 1e-6
"""Width of the prior of a term that keeps its expected value."""
STEP = 1e-4
ROUNDS = 40
CLOSE = 5e-3
"""Largest change of any logarithm at which the fit ends."""
FARTHEST = 0.4
"""Largest change of a logarithm in one step; longer steps leave the linear region."""
BEARING = 1e-3
"""Smallest derivative of a row's log time by a term at which the row is evidence for it."""

Term = tuple[str, tuple[tuple[str, str], ...]]
"""Constant, and the scope (columns and values) of the term; an empty scope for all rows."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Result of the fit."""

    terms: tuple[Term, ...]  # all terms
    values: Floats  # best logarithm of the base value or factor, shape (terms,)
    rows: npt.NDArray[np.int64]  # number of rows that are evidence for each term, shape (terms,)
    groups: npt.NDArray[np.int64]  # number of their groups, shape (terms,)
    spreads: Floats  # standard deviation of each value, shape (terms,)
    held_out: Floats  # time of each row by the fit without its publisher, shape (rows,) [s]
    # time of each row by the fit without all models of its kinds of layers, where they are few
    # enough, else without its publisher, shape (rows,) [s]
    without_kinds: Floats


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Least-squares problem: rows, terms, the rows each term applies to, and priors."""

    rows: Rows  # fitted rows
    # terms, ordered by constant: first the one for all rows, then its factors
    terms: tuple[Term, ...]
    applies: Floats  # 1 where a term applies to a row, else 0, shape (rows, terms)
    prior: Prior  # prior of the terms

    def values(self, logs: Floats) -> Mapping[str, Floats]:
        """Constants by name, each of shape (rows,).

        Args:
            logs: logarithms of the terms, shape (terms,), or (rows, terms) with own ones per row.
        """
        weighed = self.applies * logs
        return {name: np.exp(weighed[:, span].sum(axis=1)) for name, span in self.spans.items()}

    @cached_property
    def spans(self) -> Mapping[str, slice]:
        """Range of each constant's terms within `terms`."""
        names = [name for name, _ in self.terms]
        return {
            name: slice(names.index(name), names.index(name) + names.count(name))
            for name in dict.fromkeys(names)
        }

    def slopes(self, logs: Floats) -> tuple[Floats, Floats]:
        """Log time and its derivatives by the terms, of shape (rows,) and (rows, terms).

        A term is added to the logarithm of its constant, so in the rows it applies to, the
        derivative by the term is that by the constant.
        """
        values = self.values(logs)
        here = np.log(self.rows.predicted(values))
        slopes = np.empty((len(here), len(logs)))
        for name, span in self.spans.items():
            moved = {**values, name: values[name] * math.exp(STEP)}
            by_constant = (np.log(self.rows.predicted(moved)) - here) / STEP
            slopes[:, span] = self.applies[:, span] * by_constant[:, None]
        return here, slopes


def problem(rows: Rows) -> Problem:
    """Least-squares problem with all terms that rows are evidence for."""
    columns: dict[Term, Floats] = {}
    widths: dict[Term, float] = {}
    for name, parameter in PARAMETERS.items():
        columns[name, ()] = np.ones(len(rows.timed))
        widths[name, ()] = parameter.width
        for scope, width in parameter.factors.items():
            for values, applies in _scopes(rows, parameter, scope).items():
                columns[name, values] = applies
                widths[name, values] = width
    terms = tuple(columns)
    return Problem(
        rows=rows,
        terms=terms,
        applies=np.array([columns[term] for term in terms]).T,
        prior=Prior(
            value=np.array([_expected(term) for term in terms]),
            width=np.array([widths[term] for term in terms]),
        ),
    )


def _scopes(
    rows: Rows, parameter: Parameter, scope: Sequence[str]
) -> Mapping[tuple[tuple[str, str], ...], Floats]:
    """Values of a scope's columns that occur in `LEAST_GROUPS` groups or more, with their rows.

    Rarer values have no factor, unless one is expected for them.
    """
    scopes: dict[tuple[tuple[str, str], ...], Floats] = {}
    for place, names in enumerate(rows.scopes):
        known = {**names, "family": names[parameter.hardware]}
        values = tuple((column, known[column]) for column in scope)
        if all(value for _, value in values):
            scopes.setdefault(values, np.zeros(len(rows.timed)))[place] = 1.0
    groups = np.array(rows.groups)
    return {
        values: applies
        for values, applies in scopes.items()
        if len(set(groups[applies > 0])) >= LEAST_GROUPS or _named(values) in parameter.expected
    }


def _expected(term: Term) -> float:
    """Expected logarithm of a term."""
    name, scope = term
    if not scope:
        return math.log(PARAMETERS[name].start)
    return math.log(PARAMETERS[name].expected.get(_named(scope), 1.0))


def _named(scope: Sequence[tuple[str, str]]) -> str:
    """Values of a scope's columns, joined by blanks."""
    return " ".join(value for _, value in scope)


def solve(task: Problem) -> Fit:
    """Best values of all terms, and predictions of each row by the fit without its source.

    A factor keeps its expected value where rows of fewer than `LEAST_GROUPS` groups depend on it.
    """
    counted = row_weights(task.rows)
    task, logs = best_values(task, counted)
    here, slopes = task.slopes(logs)
    residuals = np.log(task.rows.seconds) - here
    weights = counted * trust(task.rows, residuals)
    held_out = _held_out(task, logs, slopes, weights, residuals)
    return Fit(
        terms=task.terms,
        values=logs,
        rows=np.sum(_bearing(task, slopes), axis=0),
        groups=_groups(task, slopes, counted),
        spreads=np.sqrt(np.diag(covariance(task.prior, slopes, weights))),
        held_out=held_out,
        without_kinds=_without_kinds(task, logs, slopes, weights, residuals, held_out),
    )


def best_values(
    task: Problem, counted: Floats, start: Floats | None = None, close: float = CLOSE
) -> tuple[Problem, Floats]:
    """Problem with factors of too few groups held, and the best values of its terms.

    Args:
        task: problem.
        counted: weight of each row, shape (rows,); 0 leaves a row out.
        start: values to begin with, shape (terms,); None for the expected ones.
        close: largest change of any logarithm at which the fit ends.
    """
    logs = task.prior.value if start is None else start
    while True:
        beginning = np.where(task.prior.width <= HELD, task.prior.value, logs)
        logs = _best(task, counted, beginning, close)
        _, slopes = task.slopes(logs)
        loose = _loose(task, _groups(task, slopes, counted))
        if not loose.any():
            return task, logs
        task = _held(task, loose)


def _bearing(task: Problem, slopes: Floats) -> npt.NDArray[np.bool_]:
    """Whether the time of each row depends on each term, shape (rows, terms)."""
    return np.asarray((task.applies > 0) & (np.abs(slopes) > BEARING))


def _groups(task: Problem, slopes: Floats, counted: Floats) -> npt.NDArray[np.int64]:
    """Number of groups that count whose time depends on each term, shape (terms,)."""
    groups = np.array(task.rows.groups)
    bearing = _bearing(task, slopes) & (counted > 0.0)[:, None]
    return np.array([len(set(groups[bears])) for bears in bearing.T])


def _loose(task: Problem, groups: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Whether each term is a factor of too few groups that is not held yet, shape (terms,)."""
    factors = np.array([bool(scope) for _, scope in task.terms])
    return factors & (groups < LEAST_GROUPS) & (task.prior.width > HELD)


def _held(task: Problem, terms: npt.NDArray[np.bool_]) -> Problem:
    """Problem with some terms held at their expected values."""
    width = np.where(terms, HELD, task.prior.width)
    return replace(task, prior=replace(task.prior, width=width))


def row_weights(rows: Rows) -> Floats:
    """Weight of each row by its group, its publisher and its build, shape (rows,)."""
    groups = [f"{group} {row.timed}" for group, row in zip(rows.groups, rows.timed, strict=True)]
    publishers = left_out_with(rows)
    together: dict[str, set[str]] = {}
    for publisher, group in zip(publishers, groups, strict=True):
        together.setdefault(publisher, set()).add(group)
    machines = np.array([len(together[publisher]) for publisher in publishers], dtype=float)
    builds = np.array([APART.get(names["build"], 1.0) for names in rows.scopes])
    return np.asarray(counts(groups, GROUP_POWER) * machines**PUBLISHER_POWER * builds)


def trust(rows: Rows, residuals: Floats) -> Floats:
    """Weight of each row by its distance from the fit, shape (rows,)."""
    noise = np.where(rows.read, NOISE_OF_PROMPTS, NOISE)
    return cauchy(residuals, noise, noise)


def _best(task: Problem, counted: Floats, logs: Floats, close: float) -> Floats:
    """Best logarithms of the terms, by Newton steps from the given ones, shape (terms,)."""
    measured = np.log(task.rows.seconds)
    for _ in range(ROUNDS):
        here, slopes = task.slopes(logs)
        weights = counted * trust(task.rows, measured - here)
        change = newton(task.prior, logs, slopes, weights, measured - here)
        change = np.clip(change, -FARTHEST, FARTHEST)
        logs = logs + change
        if np.max(np.abs(change)) < close:
            break
    return logs


def left_out_with(rows: Rows) -> tuple[str, ...]:
    """Key of the rows left out together: the publisher, or for LocalScore, with its many rows, the
    group.
    """
    return tuple(
        group if names["build"] in APART else publisher_of(row.row)
        for row, group, names in zip(rows.timed, rows.groups, rows.scopes, strict=True)
    )


COMMON = 0.3
"""Largest share of the rows of an architecture that is left out whole: without the most common one,
full attention without experts, hardly any constant has a value."""


def kinds_of(row: TimedRow) -> str:
    """Kinds of layers of a row's model, as one name."""
    return together(operators(row.case.model.architecture))


def whole_architectures(rows: Rows) -> tuple[str, ...]:
    """Kinds of layers of each row's model; empty where they are too common to be left out."""
    names = [kinds_of(row) for row in rows.timed]
    sizes = Counter(names)
    return tuple(name if sizes[name] < COMMON * len(names) else "" for name in names)


def _without_kinds(
    task: Problem,
    logs: Floats,
    slopes: Floats,
    weights: Floats,
    residuals: Floats,
    held_out: Floats,
) -> Floats:
    """Time of each row by the fit without its architecture, by one Newton step [s]."""
    names = np.array(whole_architectures(task.rows))
    own = without_each(task.prior, logs, slopes, weights, residuals, names.tolist())
    return np.where(names == "", held_out, task.rows.predicted(task.values(own)))


NEAR = 0.05
"""Largest change of any logarithm at which a fit without a publisher ends: it moves its rows, which
depend on many constants, by a hundredth."""
LARGE = 20
"""Fewest rows of a source without which the constants are fitted anew: a single step is too short
where its rows decided much."""


def _held_out(
    task: Problem, logs: Floats, slopes: Floats, weights: Floats, residuals: Floats
) -> Floats:
    """Time of each row by the fit without its source [s].

    One Newton step from the fit, and a fit of its own for each source with `LARGE` rows.
    """
    clusters = left_out_with(task.rows)
    own = without_each(task.prior, logs, slopes, weights, residuals, clusters)
    counted, names = row_weights(task.rows), np.array(clusters)
    for cluster, size in Counter(clusters).items():
        if size >= LARGE:
            inside = names == cluster
            left = np.where(inside, 0.0, counted)
            _, own[inside] = best_values(task, left, logs, NEAR)
    return task.rows.predicted(task.values(own))
