"""Doubtful rows: physically impossible speeds, by a rule that was fixed before any scoring.

A speed is doubtful if a perfect program could not reach it on the stated machine, or if a program
that wastes 95 % of the machine would be faster. Then something else ran than the row states:
another card, pages from a drive, layers on the processor. Doubts of the sources themselves are in
the column `doubtful`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from advisor.catalog.csv_tables import read
from advisor.model.model import Floats

TABLE = Path(__file__).with_name("bounds.csv")


@dataclass(frozen=True, kw_only=True)
class BoundRow:
    """A constant that is no share; the fields are the columns of bounds.csv."""

    constant: str
    perfect: float  # of a perfect program
    wasteful: float  # of a program that wastes nearly everything
    note: str


WASTED = 0.05
"""Every share of a program that wastes nearly everything; of a perfect one it is 1."""
ROUNDED = 0.85
"""Smallest ratio of a row's time to the perfect time: datasheets round, boost clocks exceed them,
and RAM is overclocked."""


class Bound:
    """Constants with one value in every scope: their own, or that of all shares."""

    def __init__(self, values: Mapping[str, float], share: float) -> None:
        self._values = values
        self._share = share

    def value(self, constant: str, family: str = "") -> float:  # noqa: ARG002 - bounds know no scope
        """Value of a constant."""
        return self._values.get(constant, self._share)


ROWS = read(TABLE, BoundRow)
FASTEST = Bound({row.constant: row.perfect for row in ROWS}, 1.0)
SLOWEST = Bound({row.constant: row.wasteful for row in ROWS}, WASTED)


def doubtful(seconds: Floats, fastest: Floats, slowest: Floats) -> npt.NDArray[np.bool_]:
    """Mask of the rows with an impossible time, shape (rows,): under that predicted with `FASTEST`,
    or over that with `SLOWEST`.
    """
    return np.asarray((seconds < ROUNDED * fastest) | (seconds > slowest))
