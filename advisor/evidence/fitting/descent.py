"""Least of a function of a few numbers, one of them at a time: slow, sturdy, the same every time.

Losses of ranges have corners wherever a row enters or leaves a range, so that no gradient helps.
"""

from collections.abc import Callable, Mapping

import numpy as np

Numbers = Mapping[str, float]

FIRST, LAST = 0.4, 0.004
"""Step that is tried first, and the one below which a number is good enough."""
ROUNDS = 80


def least(
    loss: Callable[[Numbers], float], start: Numbers, limits: Mapping[str, tuple[float, float]]
) -> Numbers:
    """Numbers with the least loss near where the search starts.

    Each is moved by its step to either side; a step that helps grows, one that does not is halved.

    Args:
        loss: of all numbers.
        start: where to begin.
        limits: smallest and largest of those that have them.
    """
    here = dict(start)
    best, steps = loss(here), dict.fromkeys(here, FIRST)
    for _ in range(ROUNDS):
        for name in here:
            low, high = limits.get(name, (-np.inf, np.inf))
            for step in (steps[name], -steps[name]):
                there = {**here, name: float(np.clip(here[name] + step, low, high))}
                tried = loss(there)
                if tried < best:
                    here, best = there, tried
                    steps[name] *= 1.3
                    break
            else:
                steps[name] /= 2.0
        if max(steps.values()) < LAST:
            break
    return here
