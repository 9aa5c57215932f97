"""Predictions made without a figure's group: rows of data/generated/left_out.csv.

`python -m lab` writes them, so that the ledger need not fit again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from lab import rounded

LEFT_OUT = DATA / "generated/left_out.csv"
GENERATED = "generation"
READ = "prompt"
WHOLE = "run"
UNSEEN = "generation, new layers"
"""Timed part of a row: a token, a prompt, the whole run of a framework, or a token predicted
without any model of the same kinds of layers."""


@dataclass(frozen=True, kw_only=True)
class LeftOutRow:
    """One figure; fields as the columns of data/generated/left_out.csv."""

    id: str  # id of the row in data/measurements/
    timed: str  # timed part of the row
    seconds: float  # time predicted by the fit without its group [s]
    source: str  # command that wrote the row


def left_out_row(timed: str, name: str, seconds: float) -> LeftOutRow:
    """Row of the file from a prediction [s]."""
    return LeftOutRow(id=name, timed=timed, seconds=rounded(seconds, 5), source="python -m lab")


@cache
def left_out() -> Mapping[tuple[str, str], float]:
    """Predicted times by timed part and id [s]; without rows that became predictable since the last
    fit.
    """
    return {(row.timed, row.id): row.seconds for row in read(LEFT_OUT, LeftOutRow)}
