"""A figure beside the range that was claimed, and both in words.

A claim holds in a case where our estimate lies in the range claimed. People round, so a range with
two ends is taken with a tenth to spare at either. An estimate is the middle of its 80 % range on a
logarithmic scale: where it lies above or below what is claimed, so does half of its range or more.
Where the rest still reaches what is claimed, the case is called near, and does not hold.
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
"""What people round away of a figure, as a share of it."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A unit of data/claims/claims.csv.

    Attributes:
        size: one of it in SI units.
        say: words for a value in SI units.
        name: after a number; empty for the unit itself.
        singular: after a single one; empty where that is the same.
    """

    size: float
    say: Callable[[float], str]
    name: str = ""
    singular: str = ""


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
"""Units that a claim may have."""


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """The range that a claim gives.

    Attributes:
        low: lower end in `unit`; None for none.
        high: upper end; None for none.
        unit: of both.
        figure: words that follow the figure.

    Raises:
        DataError: no such unit.
    """

    low: float | None
    high: float | None
    unit: str
    figure: str = ""

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise DataError(
                f"data/claims/claims.csv: no unit is called {self.unit!r}; {', '.join(UNITS)}."
            )

    @property
    def open(self) -> bool:
        """Nothing is claimed."""
        return self.low is None and self.high is None

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends in SI units, with what people round away of a range."""
        size, spare = UNITS[self.unit].size, TO_SPARE
        if self.low is None or self.high is None:
            spare = 0.0
        low = -np.inf if self.low is None else self.low * (1 - spare) * size
        high = np.inf if self.high is None else self.high * (1 + spare) * size
        return low, high

    @property
    def name(self) -> str:
        """The unit as people write it."""
        return UNITS[self.unit].name or self.unit

    def say(self, value: float) -> str:
        """A value in SI units, without the words that follow."""
        return UNITS[self.unit].say(value)

    @property
    def words(self) -> str:
        """The range as a person says it."""
        if self.low is not None and self.high is not None:
            return f"{self.low:,g} to {self.high:,g} {self.name}"
        if self.low is not None:
            return f"at least {self._end(self.low)}"
        return f"at most {self._end(self.high)}" if self.high is not None else ""

    def _end(self, value: float) -> str:
        single = UNITS[self.unit].singular if value == 1 else ""
        return f"{value:,g} {single or self.name}"


_shown = np.vectorize(lambda value: float(f"{value:.1e}"), otypes=[float])
"""A figure with the two digits that are shown, so that nobody sees 30 held to be below 30."""


def holds(figure: Range, claimed: Claimed) -> npt.NDArray[np.bool_]:
    """The estimate as shown lies in the range claimed; never where it is not a number."""
    low, high = claimed.ends
    value = _shown(figure.value)
    return np.asarray((value >= low) & (value <= high))


def reaches(figure: Range, claimed: Claimed) -> bool:
    """The 80 % range and the range claimed have something in common."""
    low, high = claimed.ends
    return bool(np.all((np.asarray(figure.high) >= low) & (np.asarray(figure.low) <= high)))


def exact(value: Array) -> Range:
    """A figure that is counted, not estimated."""
    return Range(value=value, low=value, high=value)


def ratio(above: Range, below: Range, *, together: bool) -> Range:
    """One figure over another.

    With h the half width of each as the logarithm of a factor, the ratio's is |h1 - h2| where both
    err together, else hypot(h1, h2).

    Args:
        above: what is divided.
        below: by what.
        together: what makes one too high makes the other so.
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
    """One over a figure."""
    return Range(value=1 / figure.value, low=1 / figure.high, high=1 / figure.low)
