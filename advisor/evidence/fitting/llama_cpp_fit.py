"""Robust, hierarchical least squares on the logarithm of time, and what groups left out would say.

The logarithm of each constant is a sum of terms: one for all rows, one for each scope it may differ
by. Terms have Gaussian priors; rows are weighed by how near they are, and a group of n rows counts
as n^0.5 of them, since rows of one source on one machine err together.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from advisor.evidence.fitting.llama_cpp.parameters import PARAMETERS, Parameter
from advisor.evidence.fitting.llama_cpp_rows import Rows
from advisor.evidence.published.sources import source_of
from advisor.model.model import Floats

NOISE, NOISE_OF_PROMPTS = 0.12, 0.2
"""Spread of honest rows about the model, and of prompts, as a logarithm; at an error as large a row
weighs half. Two sources of one card, model and format differ by 12 % at the median (`python -m
advisor accuracy`)."""
GROUP_POWER = -0.5
"""Rows of a group of n weigh n^-0.5 each: a sweep counts more than one row, less than all."""
APART = {"llamafile": 0.15}
"""What a row counts by its build. LocalScore's rows are of old kernels, on machines as their owners
left them, and a sixth of all: they decide what is theirs alone, and nudge the rest."""
LEAST_GROUPS = 3
"""Groups from which a scope has a factor of its own; fewer say more of themselves than of it."""
STEP = 1e-4
ROUNDS = 40
CLOSE = 5e-3
"""Change of every logarithm after which a fit goes no further."""
FARTHEST = 0.4
"""Change of a logarithm in one round at most; steps that are longer leave the linear region."""
BEARING = 1e-3
"""Change of a row's time with a term, both as logarithms, from which the row says something of it.
"""

Term = tuple[str, tuple[tuple[str, str], ...]]
"""A constant, and the scope (columns and values) that the term is for; no scope for all rows."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Result of the fit.

    Attributes:
        terms: in order.
        values: logarithm of the base value's or factor's best estimate, shape (terms,).
        rows: how many rows bear on each term, shape (terms,).
        groups: of how many groups they are, shape (terms,).
        spreads: standard deviation of each value, shape (terms,).
        held_out: seconds of each row from the fit without its source, shape (rows,) [s].
    """

    terms: tuple[Term, ...]
    values: Floats
    rows: npt.NDArray[np.int64]
    groups: npt.NDArray[np.int64]
    spreads: Floats
    held_out: Floats


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Terms that bear on rows: which apply to which, and what is expected of them.

    Attributes:
        rows: to be explained.
        terms: of each constant one for all rows, then its factors.
        applies: 1 where a term is for a row, shape (rows, terms).
        prior: of the terms.
    """

    rows: Rows
    terms: tuple[Term, ...]
    applies: Floats
    prior: Prior

    def values(self, logs: Floats) -> Mapping[str, Floats]:
        """Each constant for each row, shape (rows,).

        Args:
            logs: of the terms, shape (terms,), or for each row its own, shape (rows, terms).
        """
        weighed = self.applies * logs
        return {name: np.exp(weighed[:, span].sum(axis=1)) for name, span in self.spans.items()}

    @cached_property
    def spans(self) -> Mapping[str, slice]:
        """Ranges of each constant's terms, one after the other."""
        names = [name for name, _ in self.terms]
        return {
            name: slice(names.index(name), names.index(name) + names.count(name))
            for name in dict.fromkeys(names)
        }

    def slopes(self, logs: Floats) -> tuple[Floats, Floats]:
        """Log seconds and their derivative by each term, shapes (rows,) and (rows, terms).

        A term adds to the logarithm of its constant in the rows that it applies to, so its
        derivative is there that of the constant.
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
    """Every term that some row can say something of."""
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
    """The values that a scope's columns take in `LEAST_GROUPS` groups or more, and their rows.

    Others inherit what all have in common, but for those that are expected to differ.
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
        if len(set(groups[applies > 0])) >= LEAST_GROUPS or values[0][1] in parameter.expected
    }


def _expected(term: Term) -> float:
    """Logarithm of what a term is expected to be."""
    name, scope = term
    if not scope:
        return math.log(PARAMETERS[name].start)
    expected = PARAMETERS[name].expected
    return math.log(expected.get(scope[0][1], 1.0)) if len(scope) == 1 else 0.0


def solve(task: Problem) -> Fit:
    """The best values, and what each row is predicted without its source."""
    logs = _best(task)
    here, slopes = task.slopes(logs)
    residuals = np.log(task.rows.seconds) - here
    weights = row_weights(task.rows) * _trust(task.rows, residuals)
    bearing = (task.applies > 0) & (np.abs(slopes) > BEARING)
    groups = np.array(task.rows.groups)
    return Fit(
        terms=task.terms,
        values=logs,
        rows=np.sum(bearing, axis=0),
        groups=np.array([len(set(groups[bears])) for bears in bearing.T]),
        spreads=np.sqrt(np.diag(covariance(task.prior, slopes, weights))),
        held_out=_held_out(task, logs, slopes, weights, residuals),
    )


def row_weights(rows: Rows) -> Floats:
    """Weight of each row by its group and build, shape (rows,)."""
    groups = [f"{group} {row.timed}" for group, row in zip(rows.groups, rows.timed, strict=True)]
    builds = np.array([APART.get(names["build"], 1.0) for names in rows.scopes])
    return np.asarray(counts(groups, GROUP_POWER) * builds)


def _trust(rows: Rows, residuals: Floats) -> Floats:
    noise = np.where(rows.read, NOISE_OF_PROMPTS, NOISE)
    return cauchy(residuals, noise, noise)


def _best(task: Problem) -> Floats:
    """The best logarithms of the terms, shape (terms,)."""
    logs, measured = task.prior.value, np.log(task.rows.seconds)
    counted = row_weights(task.rows)
    for _ in range(ROUNDS):
        here, slopes = task.slopes(logs)
        weights = counted * _trust(task.rows, measured - here)
        change = newton(task.prior, logs, slopes, weights, measured - here)
        change = np.clip(change, -FARTHEST, FARTHEST)
        logs = logs + change
        if np.max(np.abs(change)) < CLOSE:
            break
    return logs


def left_out_with(rows: Rows) -> tuple[str, ...]:
    """Rows left out together: those of a source; of LocalScore, which has hundreds, those of a
    group.
    """
    return tuple(
        group if names["build"] in APART else source_of(row.row.source_url)
        for row, group, names in zip(rows.timed, rows.groups, rows.scopes, strict=True)
    )


def _held_out(
    task: Problem, logs: Floats, slopes: Floats, weights: Floats, residuals: Floats
) -> Floats:
    """Seconds of each row by a fit that does not know its source, one Newton step away."""
    clusters = left_out_with(task.rows)
    own = without_each(task.prior, logs, slopes, weights, residuals, clusters)
    return task.rows.predicted(task.values(own))
