"""Claimed ranges, and the comparison of a figure with them, in numbers and words.

A claim holds in a case where our estimate lies in the claimed range. People round, so a range with
two ends is widened by a tenth at each. An estimate is the middle of its 80 % range on a logarithmic
scale; a case whose estimate lies outside the claimed range, but whose 80 % range reaches it, is
called near and does not hold.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from advisor import formatting
from advisor.cost_model.uncertainty import Range
from advisor.errors import DataError
from advisor.formatting import number
from advisor.units import GB, GIB, Array

TO_SPARE = 0.1
"""Widening of a claimed range at each end, for rounding, as a share of the end."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A unit of data/claims/claims.csv."""

    size: float  # size of the unit in SI units
    say: Callable[[float], str]  # formatter of a value in SI units
    name: str = ""  # name after a number; empty for the unit itself
    singular: str = ""  # name after 1; empty where it is the same


def _followed(name: str, size: float = 1.0, digits: int = 2) -> Callable[[float], str]:
    return lambda value: f"{number(value / size, digits)} {name}"


def _settings(count: float) -> str:
    return f"{count:.0f} setting{'' if count == 1 else 's'}"


def _memory(size: float) -> str:
    return formatting.memory(size) if size else "nothing"


def _replies(count: float) -> str:
    return f"{number(count)} replies a day" if np.isfinite(count) else "no number of them"


UNITS = {
    "tokens/s": Unit(size=1.0, say=formatting.tokens_per_second),
    "GB/s": Unit(size=GB, say=formatting.rate),
    "GB": Unit(size=GB, say=_followed("GB", GB, 3)),
    "GiB": Unit(size=GIB, say=_memory),
    "µs": Unit(size=1e-6, say=_followed("µs", 1e-6)),
    "%": Unit(size=0.01, say=_followed("%", 0.01)),
    "times": Unit(size=1.0, say=_followed("times")),
    "layers": Unit(size=1.0, say=_followed("layers", digits=1)),
    "settings": Unit(size=1.0, say=_settings, singular="setting"),
    "replies": Unit(size=1.0, say=_replies, name="replies a day"),
}
"""Units of claims."""


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """Range that a claim states.

    Raises:
        DataError: an unknown unit.
    """

    low: float | None  # lower end in `unit`; None for none
    high: float | None  # upper end in `unit`; None for none
    unit: str  # unit of both ends
    figure: str = ""  # words after the figure

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise DataError(
                f"data/claims/claims.csv: no unit is called {self.unit!r}; {', '.join(UNITS)}."
            )

    @property
    def open(self) -> bool:
        """Whether no range is claimed."""
        return self.low is None and self.high is None

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends in SI units, widened for rounding."""
        size, spare = UNITS[self.unit].size, TO_SPARE
        if self.low is None or self.high is None:
            spare = 0.0
        low = -np.inf if self.low is None else self.low * (1 - spare) * size
        high = np.inf if self.high is None else self.high * (1 + spare) * size
        return low, high

    @property
    def name(self) -> str:
        """Name of the unit in sentences."""
        return UNITS[self.unit].name or self.unit

    def say(self, value: float) -> str:
        """A value in SI units, in words, without `figure`."""
        return UNITS[self.unit].say(value)

    @property
    def words(self) -> str:
        """The range in words."""
        if self.low is not None and self.high is not None:
            return f"{self.low:,g} to {self.high:,g} {self.name}"
        if self.low is not None:
            return f"at least {self._end(self.low)}"
        return f"at most {self._end(self.high)}" if self.high is not None else ""

    def _end(self, value: float) -> str:
        single = UNITS[self.unit].singular if value == 1 else ""
        return f"{value:,g} {single or self.name}"


_shown = np.vectorize(lambda value: float(f"{value:.1e}"), otypes=[float])
"""Figure rounded to the two digits shown, so that a displayed 30 never counts as below 30."""


def holds(figure: Range, claimed: Claimed) -> npt.NDArray[np.bool_]:
    """Whether the estimate, as displayed, lies in the claimed range; false for NaN."""
    low, high = claimed.ends
    value = _shown(figure.value)
    return np.asarray((value >= low) & (value <= high))


def reaches(figure: Range, claimed: Claimed) -> bool:
    """Whether the 80 % range and the claimed range overlap."""
    low, high = claimed.ends
    return bool(np.all((np.asarray(figure.high) >= low) & (np.asarray(figure.low) <= high)))


def exact(value: Array) -> Range:
    """A counted figure, without a range."""
    return Range(value=value, low=value, high=value)


def ratio(above: Range, below: Range, *, together: bool) -> Range:
    """Ratio of two figures.

    With h the half width of each as the logarithm of a factor, that of the ratio is |h1 - h2| where
    the errors of both are the same, else hypot(h1, h2).

    Args:
        above: numerator.
        below: denominator.
        together: both have the same errors, because the same parts limit them.
    """
    first, second = _half_width(above), _half_width(below)
    wide = np.exp(np.abs(first - second) if together else np.hypot(first, second))
    divisor = np.where(np.asarray(below.value) == 0, np.nan, below.value)
    value = np.asarray(above.value) / divisor
    return Range(value=value, low=value / wide, high=value * wide)


def _half_width(figure: Range) -> Array:
    if np.array_equal(figure.low, figure.high, equal_nan=True):
        return 0.0
    return np.log(np.asarray(figure.high) / figure.value)


def inverse(figure: Range) -> Range:
    """Reciprocal of a figure."""
    return Range(value=1 / figure.value, low=1 / figure.high, high=1 / figure.low)
