"""Coordinate descent: minimum of a function of a few numbers, deterministic and without gradients.

Losses of ranges have a kink wherever a row enters or leaves a range, so gradients do not help.
"""

from collections.abc import Callable, Mapping

import numpy as np

Numbers = Mapping[str, float]

FIRST, LAST = 0.4, 0.004
"""First step tried, and the step below which the search ends."""
ROUNDS = 80


def least(
    loss: Callable[[Numbers], float], start: Numbers, limits: Mapping[str, tuple[float, float]]
) -> Numbers:
    """Numbers with the smallest loss near the start.

    Each number in turn is moved by its step to either side; a step that lowers the loss grows, else
    it is halved.

    Args:
        loss: loss of all numbers.
        start: values at the start, by name.
        limits: smallest and largest value, by name; unlimited where absent.
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
