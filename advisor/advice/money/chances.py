"""Confidence of a verdict: ranges of speeds and prices propagated to costs.

Speeds are taken as log-normal with the 80 % interval that an estimate gives; prices as log-normal
with an interval of their own. Draws are seeded, so that the same question has the same answer.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from advisor.model.model import Floats

NINETY_PERCENT_POINT = 1.2815515655446004
"""Standard deviations from the middle of a normal distribution to the end of its 80 % interval."""
DRAWS = 4096


@dataclass(frozen=True, kw_only=True)
class Uncertain:
    """Positive number with its 80 % interval."""

    value: float
    low: float
    high: float

    @property
    def sigma(self) -> float:
        """Standard deviation of the logarithm: ln(high / low) / (2 x 1.2816)."""
        return float(np.log(self.high / self.low)) / (2.0 * NINETY_PERCENT_POINT)


Inputs: TypeAlias = Mapping[str, Uncertain]
Outcome: TypeAlias = Callable[[Mapping[str, Floats]], Floats]


def draws(inputs: Inputs, count: int = DRAWS, seed: int = 0) -> dict[str, Floats]:
    """Independent draws of every input, each of shape (count,)."""
    normal = _standard_normal(len(inputs), count, seed)
    return {
        name: parameter.value * np.exp(parameter.sigma * own)
        for (name, parameter), own in zip(inputs.items(), normal, strict=True)
    }


@lru_cache(maxsize=32)
def _standard_normal(inputs: int, count: int, seed: int) -> Floats:
    """Draws of a normal distribution of width 1, shape (inputs, count), the same for a seed."""
    return np.random.default_rng(seed).standard_normal((inputs, count))


def chance(inputs: Inputs, gain: Outcome, count: int = DRAWS, seed: int = 0) -> float:
    """Share of draws with a positive gain."""
    return float(np.mean(gain(draws(inputs, count, seed)) > 0))


@dataclass(frozen=True, kw_only=True)
class TornadoBar:
    """Bar of a tornado chart: the outcome at both ends of one input's interval.

    Attributes:
        name: name of the input.
        low: outcome at the low end, with all other inputs at their values.
        high: outcome at the high end.
    """

    name: str
    low: float
    high: float

    @property
    def swing(self) -> float:
        """Distance between the two outcomes."""
        return abs(self.high - self.low)


def tornado(inputs: Inputs, outcome: Outcome) -> tuple[TornadoBar, ...]:
    """One bar per input, the widest first."""
    middle = {name: np.asarray(parameter.value, dtype=float) for name, parameter in inputs.items()}

    def at(name: str, value: float) -> float:
        return float(outcome({**middle, name: np.asarray(value, dtype=float)}))

    bars = (
        TornadoBar(name=n, low=at(n, parameter.low), high=at(n, parameter.high))
        for n, parameter in inputs.items()
    )
    return tuple(sorted(bars, key=lambda bar: bar.swing, reverse=True))
