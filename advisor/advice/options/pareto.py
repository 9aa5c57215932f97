"""Pareto front of cost and speed."""

import numpy as np
import numpy.typing as npt

from advisor.model.model import Floats


def on_front(cost: Floats, speed: Floats) -> npt.NDArray[np.bool_]:
    """True where no other point is at least as cheap and as fast, and better in one of the two.

    Sorted by cost, then by speed from the fastest: one is on the front where it is faster than all
    that are cheaper. Of several alike all are on it. What has no number is never on it.

    Args:
        cost: shape (n,), any unit.
        speed: shape (n,), any unit.
    """
    cost, speed = np.asarray(cost, dtype=float), np.asarray(speed, dtype=float)
    known = np.isfinite(cost) & np.isfinite(speed)
    front = np.zeros(cost.shape, dtype=bool)
    rows = np.flatnonzero(known)
    order = rows[np.lexsort((-speed[rows], cost[rows]))]
    fastest, at = -np.inf, np.nan
    for row in order:
        if speed[row] > fastest or (speed[row] == fastest and cost[row] == at):
            front[row] = True
            fastest, at = speed[row], cost[row]
    return front


def beaten(cost: Floats, speed: Floats) -> npt.NDArray[np.bool_]:
    """True where another point is both cheaper and faster; false where a number is missing."""
    cost, speed = np.asarray(cost, dtype=float), np.asarray(speed, dtype=float)
    cheaper = cost[None, :] < cost[:, None]
    faster = speed[None, :] > speed[:, None]
    return np.asarray(np.any(cheaper & faster, axis=1))
