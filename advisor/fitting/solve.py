"""Robust, hierarchical least squares on the logarithm of time, and its answer for groups left out.

The logarithm of each constant is a sum of terms: one for all rows, one for each scope it may differ
by. Terms have Gaussian priors; rows are weighed by Huber's rule, and a group of n rows counts as
n^0.65 of them, since rows of one source on one machine err together.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from advisor.fitting.parameters import PARAMETERS, Parameter
from advisor.fitting.stack import Stack, seconds
from advisor.model import Floats

NOISE = 0.07
"""Spread of honest rows about the model, as a logarithm; beyond 1.5 times it rows weigh less."""
GROUP_POWER = -0.35
STEP = 1e-4
HARDWARE = {
    "ram_sustained_share": "segment",
    "core_decode_rate": "vectors",
    "core_flops": "vectors",
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
        predicted: seconds of each row from the fit without its group, shape (rows,) [s].
    """

    terms: tuple[Term, ...]
    values: Floats
    rows: npt.NDArray[np.int64]
    predicted: Floats


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Terms of a stack: which apply to which row."""

    stack: Stack
    names: tuple[str, ...]
    terms: tuple[Term, ...]
    applies: npt.NDArray[np.bool_]
    prior: Floats
    width: Floats

    def log_seconds(self, values: Floats) -> Floats:
        """Logarithm of predicted seconds, shape (rows,)."""
        constants = {name: np.full(len(self.stack.ids), p.start) for name, p in PARAMETERS.items()}
        for name in self.names:
            mine = [i for i, term in enumerate(self.terms) if term[0] == name]
            constants[name] = np.exp(self.applies[:, mine] @ values[mine])
        return np.log(seconds(self.stack, constants))

    def slopes(self, values: Floats) -> tuple[Floats, Floats]:
        """Log seconds and their derivative by each term, shapes (rows,) and (rows, terms)."""
        here = self.log_seconds(values)
        slopes = np.empty((len(here), len(values)))
        for term in range(len(values)):
            moved = values.copy()
            moved[term] += STEP
            slopes[:, term] = (self.log_seconds(moved) - here) / STEP
        return here, slopes


def problem(stack: Stack, names: tuple[str, ...]) -> Problem:
    """The terms of some constants that bear on a stack."""
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
    start = [np.log(PARAMETERS[name].start) if not scope else 0.0 for name, scope in terms]
    return Problem(
        stack=stack,
        names=names,
        terms=terms,
        applies=np.array([columns[term] for term in terms]).T,
        prior=np.array(start),
        width=np.array([widths[term] for term in terms]),
    )


def _factors(name: str, parameter: Parameter, stack: Stack) -> dict[Term, npt.NDArray[np.bool_]]:
    found: dict[Term, npt.NDArray[np.bool_]] = {}
    for scope in parameter.factors:
        for row, said in enumerate(stack.scopes):
            hardware = {**said, "family": said[HARDWARE.get(name, "gpu")]}
            values = tuple((column, hardware[column]) for column in scope)
            if all(value for _, value in values):
                found.setdefault((name, values), np.zeros(len(stack.ids), dtype=bool))[row] = True
    return found


def solve(task: Problem, rounds: int = 25) -> Fit:
    """The best values, and each group's prediction without it.

    Groups left out are predicted by one Newton step from the whole fit, which is exact for a model
    linear in its terms; the terms here are nearly so.
    """
    values, measured = task.prior.copy(), np.log(task.stack.seconds)
    group_sizes = Counter(task.stack.groups)
    grouped = np.array([group_sizes[group] ** GROUP_POWER for group in task.stack.groups])
    for _ in range(rounds):
        here, slopes = task.slopes(values)
        weights = grouped * _huber(measured - here)
        change = np.clip(_newton(task, values, slopes, weights, measured - here), -0.4, 0.4)
        values = values + change
        if np.max(np.abs(change)) < 1e-3:
            break
    here, slopes = task.slopes(values)
    weights = grouped * _huber(measured - here)
    bearing = task.applies & (np.abs(slopes) > 1e-3)
    return Fit(
        terms=task.terms,
        values=values,
        rows=np.sum(bearing, axis=0),
        predicted=np.exp(here + _left_out(task, values, slopes, weights, measured - here)),
    )


def _huber(residuals: Floats) -> Floats:
    return np.asarray(1.0 / np.maximum(1.0, np.abs(residuals) / (1.5 * NOISE)) / NOISE**2)


def _newton(
    task: Problem, values: Floats, slopes: Floats, weights: Floats, residuals: Floats
) -> Floats:
    curvature = slopes.T @ (slopes * weights[:, None]) + np.diag(task.width**-2)
    gradient = slopes.T @ (weights * residuals) - (values - task.prior) / task.width**2
    return np.asarray(np.linalg.solve(curvature, gradient))


def _left_out(
    task: Problem, values: Floats, slopes: Floats, weights: Floats, residuals: Floats
) -> Floats:
    """Change of log seconds when a row's own group is not known, shape (rows,)."""
    change = np.zeros(len(residuals))
    groups = np.array(task.stack.groups)
    for group in dict.fromkeys(task.stack.groups):
        inside = groups == group
        step = _newton(task, values, slopes[~inside], weights[~inside], residuals[~inside])
        change[inside] = slopes[inside] @ np.clip(step, -1.5, 1.5)
    return change
