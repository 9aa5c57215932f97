"""Worth of factors: the error of left-out sources with each kind of factor, and without it.

A factor that makes predictions on other sources no better describes chance; its constant then has
one value where it had several. `python -m benchmarks.earned_factors` prints the worth of each kind.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from advisor.evidence.fitting.gauss_newton import Prior, counts, newton, without_each
from advisor.evidence.fitting.llama_cpp.fit import (
    BEARING,
    HELD,
    Problem,
    best_values,
    left_out_with,
    row_weights,
    trust,
)
from advisor.model.model import Floats

FARTHEST = 1.5
"""Largest error that counts, as a logarithm: a row that nothing explains decides nothing."""


@dataclass(frozen=True, kw_only=True)
class Worth:
    """Worth of the factors of a constant by some columns."""

    constant: str  # constant that they multiply
    columns: tuple[str, ...]  # columns whose values have a factor each ("family", "backend")
    factors: int  # number of factors
    rows: int  # number of rows whose time depends on one of them
    groups: int  # number of their groups
    kept: float  # mean error of these rows with the factors, as a logarithm
    dropped: float  # mean error without them, every other constant fitted anew

    @property
    def earned(self) -> bool:
        """Whether left-out sources are predicted better with the factors than without."""
        return self.kept < self.dropped


@dataclass(frozen=True, kw_only=True)
class _Linear:
    """Fit near its best values, where times depend on them linearly."""

    task: Problem
    values: Floats
    slopes: Floats
    weights: Floats
    residuals: Floats

    def left_out(self, prior: Prior, start: Floats) -> Floats:
        """Errors of the rows without their source, as logarithms, shape (rows,).

        Args:
            prior: prior of the terms.
            start: values to begin with; one step from them reaches the best of a linear fit.
        """
        here = self.residuals - self.slopes @ (start - self.values)
        best = start + newton(prior, start, self.slopes, self.weights, here)
        residuals = self.residuals - self.slopes @ (best - self.values)
        clusters = left_out_with(self.task.rows)
        own = without_each(prior, best, self.slopes, self.weights, residuals, clusters)
        return np.asarray(self.residuals - np.vecdot(self.slopes, own - self.values))


def worths(task: Problem) -> Iterator[Worth]:
    """Worth of each kind of factor, in the order of the constants."""
    counted = row_weights(task.rows)
    task, values = best_values(task, counted)
    here, slopes = task.slopes(values)
    residuals = np.log(task.rows.seconds) - here
    weights = counted * trust(task.rows, residuals)
    fit = _Linear(task=task, values=values, slopes=slopes, weights=weights, residuals=residuals)
    kept = fit.left_out(task.prior, values)
    for (constant, columns), terms in _kinds(task).items():
        width, start = task.prior.width.copy(), values.copy()
        width[terms], start[terms] = HELD, task.prior.value[terms]
        dropped = fit.left_out(replace(task.prior, width=width), start)
        bears = (task.applies[:, terms] > 0) & (np.abs(slopes[:, terms]) > BEARING)
        rows = np.asarray(bears.any(axis=1), dtype=bool)
        yield Worth(
            constant=constant,
            columns=columns,
            factors=len(terms),
            rows=int(rows.sum()),
            groups=len(set(np.array(task.rows.groups)[rows])),
            kept=_error(task, kept, rows),
            dropped=_error(task, dropped, rows),
        )


def _kinds(task: Problem) -> Mapping[tuple[str, tuple[str, ...]], list[int]]:
    """Places of the terms of each kind of factor; those that are held are left out."""
    kinds: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for place, (constant, scope) in enumerate(task.terms):
        if scope and task.prior.width[place] > HELD:
            columns = tuple(column for column, _ in scope)
            kinds.setdefault((constant, columns), []).append(place)
    return kinds


def _error(task: Problem, off: Floats, rows: npt.NDArray[np.bool_]) -> float:
    """Mean error of some rows as a logarithm, weighted half by row and half by group."""
    size = np.minimum(np.abs(off[rows]), FARTHEST)
    groups = np.array(task.rows.groups)[rows].tolist()
    by_group = float(np.average(size, weights=counts(groups, power=-1.0)))
    return (float(np.mean(size)) + by_group) / 2.0
