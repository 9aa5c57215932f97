"""Number of users whom a server answers together at reading speed or at a wished speed."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from advisor.advice.speeds import Speed, speed_of
from advisor.advice.table.option import Question
from advisor.cost_model.estimate import Estimate
from advisor.model.model import Floats
from advisor.runtimes.compare import compare, usable

MOST_READERS = 1024  # largest number of users that is tried
FIRST_TRIED = np.array(sorted({*np.geomspace(1, MOST_READERS, 24).round()}))
"""Numbers of users that are tried before those between two of them."""


def readers(best: Estimate, reading_tps: float) -> int:
    """Number of users whom a server answers together at a reading speed; 0 where it answers none so
    fast.
    """

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


def most_served(question: Question, best: Estimate, enough: Callable[[Speed, float], bool]) -> int:
    """Largest number of the users for whom the present machine is fast enough in the engine of an
    estimate.
    """
    fewest = 0
    most = int(question.work.users)
    while fewest < most:
        tried = (fewest + most + 1) // 2
        reached = with_users(question, best, tried)
        if reached is not None and enough(reached, float(tried)):
            fewest = tried
        else:
            most = tried - 1
    return fewest


def with_users(question: Question, best: Estimate, users: int) -> Speed | None:
    """Speed of the present machine with a number of users in the engine of an estimate; None where
    it does not run.
    """
    work = replace(question.work, users=float(users))
    nouns = (question.model, question.machine, work)
    every = usable(compare(*nouns, settings=best.settings, runtimes=(best.runtime,)))
    if every:
        return speed_of(every[0])
    return None
