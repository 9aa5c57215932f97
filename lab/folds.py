"""Folds of publishers: predictions by fits that never saw a figure's publisher.

Ten folds, each publisher in one, so that a fit without a fold is a whole fit: it moves as far as
the others' rows take it, with every factor, and stays nowhere near a fit that knew the publisher.
Those of llama.cpp's fit are kept in folds.csv: drawn anew, the same rows give errors that differ by
one point or two (prompts of LocalScore on GPUs 12.9 and 14.2 %), as much as a change of the model.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from advisor.catalog.csv_tables import read
from advisor.model.model import Floats
from lab.fit import Fit, best_values

FOLDS = 10
NEAR = 0.005
"""Largest change of any logarithm in the last step of a fit without a fold, as in that of the whole
one. Of fits that ended at 0.05 half of llama.cpp's rows were more than 0.3 % off these, one in ten
more than 1.5 %, and most errors were shown too low (docs/accuracy.md): such a fit was still a
little near the publisher that it left out."""
EVERYWHERE = -1  # fold of runs that no fit leaves out
TABLE = Path(__file__).with_name("folds.csv")
NONE: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class FoldRow:
    """Fold of a name; the fields are the columns of folds.csv."""

    name: str  # publisher, or machine of LocalScore
    fold: int


@cache
def kept_folds() -> Mapping[str, int]:
    """Fold of each name that llama.cpp's fit left out before."""
    return {row.name: row.fold for row in read(TABLE, FoldRow)}


def fold_rows(names: Sequence[str]) -> Iterator[FoldRow]:
    """Rows of folds.csv for the names that llama.cpp's fit leaves out."""
    fold = folds(names, kept=kept_folds()).tolist()
    for name, own in sorted(dict(zip(names, fold, strict=True)).items()):
        yield FoldRow(name=name, fold=own)


def folds(
    names: Sequence[str], among: int = FOLDS, kept: Mapping[str, int] = NONE
) -> npt.NDArray[np.int64]:
    """Fold of each run by the name that it is left out with: a kept one, else that with the fewest
    runs, the largest names first; runs without a name are in none.
    """
    sizes = Counter(name for name in names if name)
    filled = [0] * among
    where = {"": EVERYWHERE}
    by_size = sorted(sizes.items(), key=lambda item: (item[0] not in kept, -item[1], item[0]))
    for name, size in by_size:
        fold = kept.get(name, filled.index(min(filled)))
        where[name] = fold
        filled[fold] += size
    return np.array([where[name] for name in names])


def left_out_times(
    fit: Fit,
    names: Sequence[str],
    among: int = FOLDS,
    kept: Mapping[str, int] = NONE,
    close: float = NEAR,
) -> Floats:
    """Time of each run by the fit without its fold [s]; of runs in no fold by the whole fit. A
    fold's fit ends where no logarithm changes by more than `close`.
    """
    task = fit.task
    fold = folds(names, among, kept)
    predicted = np.exp(fit.here)
    for left in sorted(set(fold.tolist()) - {EVERYWHERE}):
        inside = fold == left
        others = replace(task, weights=np.where(inside, 0.0, task.weights))
        _, logs = best_values(others, fit.logs, close)
        predicted[inside] = task.cases.predicted(task.values(logs))[inside]
    return predicted
