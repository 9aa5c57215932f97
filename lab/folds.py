"""Folds of publishers: predictions by fits that never saw a figure's publisher.

Ten folds, each publisher in one, so that a fit without a fold is a whole fit: it moves as far as
the others' rows take it, with every factor, and stays nowhere near a fit that knew the publisher.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from advisor.model.model import Floats
from lab.fit import Fit, best_values

FOLDS = 10
NEAR = 0.05
"""Largest change of any logarithm in the last step of a fit without a fold: what is left after it
moves its rows, which depend on many constants, by less than a hundredth."""
EVERYWHERE = -1  # fold of runs that no fit leaves out


def folds(names: Sequence[str], among: int = FOLDS) -> npt.NDArray[np.int64]:
    """Fold of each run by the name that it is left out with, the largest names first, each to the
    fold with the fewest runs; runs without a name are in none.
    """
    sizes = Counter(name for name in names if name)
    filled = [0] * among
    where = {"": EVERYWHERE}
    for name, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        least = filled.index(min(filled))
        where[name] = least
        filled[least] += size
    return np.array([where[name] for name in names])


def left_out_times(fit: Fit, names: Sequence[str], among: int = FOLDS) -> Floats:
    """Time of each run by the fit without its fold [s]; of runs in no fold by the whole fit."""
    task = fit.task
    fold = folds(names, among)
    predicted = np.exp(fit.here)
    for left in sorted(set(fold.tolist()) - {EVERYWHERE}):
        inside = fold == left
        others = replace(task, weights=np.where(inside, 0.0, task.weights))
        _, logs = best_values(others, fit.logs, NEAR)
        predicted[inside] = task.cases.predicted(task.values(logs))[inside]
    return predicted
