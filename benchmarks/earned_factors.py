"""Whether each kind of fitted factor makes predictions on other sources better.

    python -m benchmarks.earned_factors

Prints, for each constant of llama.cpp and each column it differs by, the mean error of left-out
sources with the factors and without them, as a logarithm; what earns nothing stands first and
goes, since a factor that makes predictions on other sources no better describes chance.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from advisor.model.model import Floats
from lab.fit import HELD, Fit, Prior, Problem, counts, newton, solve, without_each
from lab.llama_cpp import left_out_with, published, rows_of, task
from lab.stack import Cases

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


def worths(rows: Cases) -> Iterator[Worth]:
    """Worth of each kind of factor, in the order of the constants."""
    fit = solve(task(rows))
    prior = fit.task.prior
    clusters = left_out_with(rows)
    kept = _left_out(fit, prior, fit.logs, clusters)
    bearing = fit.task.bearing(fit.slopes)
    for (constant, columns), terms in _kinds(fit.task).items():
        width = prior.width.copy()
        start = fit.logs.copy()
        width[terms] = HELD
        start[terms] = prior.value[terms]
        dropped = _left_out(fit, replace(prior, width=width), start, clusters)
        bears = np.asarray(bearing[:, terms].any(axis=1), dtype=bool)
        yield Worth(
            constant=constant,
            columns=columns,
            factors=len(terms),
            rows=int(bears.sum()),
            groups=len(set(np.array(rows.groups)[bears])),
            kept=_error(rows, kept, bears),
            dropped=_error(rows, dropped, bears),
        )


def _left_out(fit: Fit, prior: Prior, start: Floats, clusters: Sequence[str]) -> Floats:
    """Errors of the rows without their source as logarithms, where times depend linearly on terms,
    shape (rows,).

    Rows of a cluster are left out together; one step from `start` reaches the best of a linear fit.
    """
    here = fit.residuals - fit.slopes @ (start - fit.logs)
    best = start + newton(prior, start, fit.slopes, fit.weights, here)
    residuals = fit.residuals - fit.slopes @ (best - fit.logs)
    own = without_each(prior, best, fit.slopes, fit.weights, residuals, clusters)
    return np.asarray(fit.residuals - np.vecdot(fit.slopes, own - fit.logs))


def _kinds(task: Problem) -> Mapping[tuple[str, tuple[str, ...]], list[int]]:
    """Places of the terms of each kind of factor; those that are held are left out."""
    kinds: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for place, (constant, scope) in enumerate(task.terms):
        if scope and task.prior.width[place] > HELD:
            columns = tuple(column for column, _ in scope)
            kinds.setdefault((constant, columns), []).append(place)
    return kinds


def _error(cases: Cases, off: Floats, rows: npt.NDArray[np.bool_]) -> float:
    """Mean error of some rows as a logarithm, weighted half by row and half by group."""
    size = np.minimum(np.abs(off[rows]), FARTHEST)
    groups = np.array(cases.groups)[rows].tolist()
    by_group = float(np.average(size, weights=counts(groups, power=-1.0)))
    return (float(np.mean(size)) + by_group) / 2.0


def main() -> None:
    """Print the worth of every kind of factor."""
    known = sorted(worths(rows_of(published())), key=lambda worth: worth.dropped - worth.kept)
    print(f"{'constant':28} {'by':26} factors  rows  groups   kept  dropped")
    for worth in known:
        print(
            f"{worth.constant:28} {' and '.join(worth.columns):26} {worth.factors:7} {worth.rows:5}"
            f" {worth.groups:7}  {worth.kept:.4f}  {worth.dropped:.4f}"
            f"{'' if worth.earned else '  earns nothing'}"
        )


if __name__ == "__main__":
    main()
