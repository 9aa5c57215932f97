"""Predictions made without a figure's group: rows of data/generated/left_out.csv.

`python -m lab` writes them, so that the ledger need not fit again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import DataError
from advisor.model.model import Floats
from lab import rounded

LEFT_OUT = DATA / "generated/left_out.csv"
GENERATED, READ, WHOLE, UNSEEN = "generation", "prompt", "run", "generation, new layers"
"""Timed part of a row: a token, a prompt, the whole run of a framework, or a token predicted
without any model of the same kinds of layers."""


@dataclass(frozen=True, kw_only=True)
class LeftOutRow:
    """One figure; fields as the columns of data/generated/left_out.csv."""

    id: str  # id of the row in data/measurements/
    timed: str  # timed part of the row
    seconds: float  # time predicted by the fit without its group [s]
    source: str  # command that wrote the row


def rows(timed: str, ids: Iterable[str], seconds: Floats) -> Iterator[LeftOutRow]:
    """Rows of the file from predictions of shape (rows,) [s]."""
    for row_id, value in zip(ids, seconds, strict=True):
        yield LeftOutRow(id=row_id, timed=timed, seconds=rounded(value, 5), source="python -m lab")


def left_out(timed: str, ids: Sequence[str]) -> Floats:
    """Predicted times of rows, shape (rows,) [s].

    Raises:
        DataError: a row is not in the file, since measurements changed after the last fit.
    """
    kept = _kept()
    missing = [row_id for row_id in ids if (timed, row_id) not in kept]
    if missing:
        raise DataError(
            f"{LEFT_OUT.name} has no {timed} of {', '.join(missing[:5])}; write it anew with "
            "python -m lab."
        )
    return np.array([kept[timed, row_id] for row_id in ids])


def kept(timed: str, name: str) -> bool:
    """Whether the file has a row; rows that became predictable since the last fit are missing."""
    return (timed, name) in _kept()


@cache
def _kept() -> Mapping[tuple[str, str], float]:
    return {(row.timed, row.id): row.seconds for row in read(LEFT_OUT, LeftOutRow)}
