"""Robust, hierarchical least squares on the logarithm of time, and its answer for groups left out.

The logarithm of each constant is a sum of terms: one for all rows, one for each scope it may differ
by. Terms have Gaussian priors; rows are weighed by how near they are, and a group of n rows counts
as n^0.65 of them, since rows of one source on one machine err together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from advisor.evidence.fitting.gauss_newton import Prior, cauchy, counts, covariance, newton
from advisor.evidence.fitting.llama_cpp_parameters import PARAMETERS, Parameter
from advisor.evidence.fitting.llama_cpp_rows import StackedRows, seconds
from advisor.model.model import Floats

NOISE = 0.07
"""Spread of honest rows about the model, as a logarithm."""
FAR = 0.058
"""Error at which a row weighs half, as a logarithm: half of the 12 % by which two sources of one
card, model and format differ at the median (`python -m advisor accuracy`)."""
STEP = 1e-4
ROUNDS = 40
ENOUGH = 5e-3
"""Change of every logarithm after which a fit goes no further."""
BEARING = 1e-3
"""Change of a row's time with a term, both as logarithms, from which the row says something of it.
"""
HARDWARE = {
    "ram_sustained_share": "segment",
    "core_decode_rate": "vectors",
    "core_flops": "matrices",
}
"""Which of a row's hardware names stands in the family column of a constant; else its GPU's."""

Term = tuple[str, tuple[tuple[str, str], ...]]
"""A constant, and the scope (columns and values) that the term is for; no scope for all rows."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What was found.

    Attributes:
        terms: in order.
        values: logarithm of the start value's or factor's best estimate, shape (terms,).
        rows: how many rows bear on each term, shape (terms,).
        spreads: standard deviation of each value, shape (terms,).
        predicted: seconds of each row from the fit without its group, shape (rows,) [s].
    """

    terms: tuple[Term, ...]
    values: Floats
    rows: npt.NDArray[np.int64]
    spreads: Floats
    predicted: Floats


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Terms of a stack: which apply to which row, and constants that are taken as known."""

    stack: StackedRows
    names: tuple[str, ...]
    terms: tuple[Term, ...]
    applies: Floats
    prior: Prior
    known: Mapping[str, Floats]

    def log_seconds(self, values: Floats) -> Floats:
        """Logarithm of predicted seconds, shape (rows,)."""
        found = {
            name: np.exp(self.applies[:, span] @ values[span]) for name, span in self.spans.items()
        }
        return np.log(seconds(self.stack, {**self.known, **found}))

    @cached_property
    def spans(self) -> Mapping[str, slice]:
        """Where the terms of each constant stand; they follow each other."""
        names = [name for name, _ in self.terms]
        return {
            name: slice(names.index(name), names.index(name) + names.count(name))
            for name in self.names
        }

    def slopes(self, values: Floats) -> tuple[Floats, Floats]:
        """Log seconds and their derivative by each term, shapes (rows,) and (rows, terms).

        A term adds to the logarithm of its constant in the rows that it applies to, so its
        derivative is there that of the constant.
        """
        here = self.log_seconds(values)
        slopes = np.empty((len(here), len(values)))
        for span in self.spans.values():
            moved = values.copy()
            moved[span.start] += STEP  # the first term of a constant applies to every row
            by_constant = (self.log_seconds(moved) - here) / STEP
            slopes[:, span] = self.applies[:, span] * by_constant[:, None]
        return here, slopes


def problem(stack: StackedRows, names: tuple[str, ...], before: Fit | None = None) -> Problem:
    """The terms of some constants that bear on a stack.

    Args:
        stack: the rows.
        names: constants to find.
        before: a fit that found others.
    """
    columns: dict[Term, npt.NDArray[np.bool_]] = {}
    widths: dict[Term, float] = {}
    for name in names:
        parameter = PARAMETERS[name]
        columns[name, ()] = np.ones(len(stack.ids), dtype=bool)
        widths[name, ()] = parameter.width
        for term, rows in _factors(name, parameter, stack).items():
            columns[term] = rows
            widths[term] = parameter.factors[tuple(column for column, _ in term[1])]
    terms = tuple(columns)
    return Problem(
        stack=stack,
        names=names,
        terms=terms,
        applies=np.array([columns[term] for term in terms], dtype=float).T,
        prior=Prior(
            value=np.array([_expected(term) for term in terms]),
            width=np.array([widths[term] for term in terms]),
        ),
        known={name: _known(name, stack, before) for name in PARAMETERS},
    )


def _expected(term: Term) -> float:
    """Logarithm of what a term is expected to be."""
    name, scope = term
    if not scope:
        return float(np.log(PARAMETERS[name].start))
    return sum(float(np.log(PARAMETERS[name].expected.get(value, 1.0))) for _, value in scope)


def _known(name: str, stack: StackedRows, before: Fit | None) -> Floats:
    """A constant as a fit found it, for each row; where it did not, as expected."""
    logs = np.full(len(stack.ids), np.log(PARAMETERS[name].start))
    if before is None or (name, ()) not in before.terms:
        return np.asarray(np.exp(logs))
    logs[:] = 0.0
    for (constant, scope), value in zip(before.terms, before.values, strict=True):
        if constant == name:
            covered = [
                all(_hardware(name, said)[k] == v for k, v in scope) for said in stack.scopes
            ]
            logs += value * np.array(covered)
    return np.asarray(np.exp(logs))


def _hardware(name: str, said: Mapping[str, str]) -> dict[str, str]:
    """A row's names with that of its hardware that a constant goes by as the family."""
    return {**said, "family": said[HARDWARE.get(name, "gpu")]}


def _factors(
    name: str, parameter: Parameter, stack: StackedRows
) -> dict[Term, npt.NDArray[np.bool_]]:
    found: dict[Term, npt.NDArray[np.bool_]] = {}
    for scope in parameter.factors:
        for row, said in enumerate(stack.scopes):
            hardware = _hardware(name, said)
            values = tuple((column, hardware[column]) for column in scope)
            if all(value for _, value in values):
                found.setdefault((name, values), np.zeros(len(stack.ids), dtype=bool))[row] = True
    return found


def solve(task: Problem) -> Fit:
    """The best values, and each group's prediction without it."""
    grouped = counts(task.stack.groups)
    values = _best(task, task.prior.value, grouped)
    here, slopes = task.slopes(values)
    weights = grouped * _trust(np.log(task.stack.seconds) - here)
    bearing = (task.applies > 0) & (np.abs(slopes) > BEARING)
    return Fit(
        terms=task.terms,
        values=values,
        rows=np.sum(bearing, axis=0),
        spreads=np.sqrt(np.diag(covariance(task.prior, slopes, weights))),
        predicted=np.exp(_left_out(task, values, grouped)),
    )


def _trust(residuals: Floats) -> Floats:
    return cauchy(residuals, FAR, NOISE)


def _left_out(task: Problem, values: Floats, grouped: Floats) -> Floats:
    """Log seconds of each row by a fit that does not know its group, shape (rows,)."""
    found = np.zeros(len(task.stack.ids))
    groups = np.array(task.stack.groups)
    for group in dict.fromkeys(task.stack.groups):
        inside = groups == group
        without = _best(task, values, np.where(inside, 0.0, grouped))
        found[inside] = task.log_seconds(without)[inside]
    return found


def _best(task: Problem, values: Floats, counted: Floats) -> Floats:
    """The best values, from near ones; each row counts so much, shape (rows,)."""
    measured = np.log(task.stack.seconds)
    for _ in range(ROUNDS):
        here, slopes = task.slopes(values)
        weights = counted * _trust(measured - here)
        change = np.clip(newton(task.prior, values, slopes, weights, measured - here), -0.4, 0.4)
        values = values + change
        if np.max(np.abs(change)) < ENOUGH:
            break
    return values
