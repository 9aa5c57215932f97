"""Users whom a server answers together at a reading speed."""

from dataclasses import replace

import numpy as np

from advisor.cost_model.estimate import Estimate
from advisor.model.model import Floats

MOST_READERS = 1024  # largest number of users that is tried
FIRST_TRIED = np.array(sorted({*np.geomspace(1, MOST_READERS, 24).round()}))
"""Numbers of users that are tried before those between two of them."""


def readers(best: Estimate, reading_tps: float) -> int:
    """Users whom a server answers together at a reading speed; 0 where it answers none so fast."""

    def most(users: Floats) -> int:
        every = best.again(work=replace(best.work, users=users))
        speed = np.broadcast_to(np.asarray(every.decode_tps, dtype=float), users.shape)
        able = (np.nan_to_num(speed) >= reading_tps) & (every.waiting == 0) & every.fits
        return int(np.max(users, where=able, initial=0.0))

    first = most(FIRST_TRIED)
    beyond = FIRST_TRIED[first < FIRST_TRIED]
    if not first or not len(beyond):
        return first
    return most(np.arange(first, beyond[0]))
