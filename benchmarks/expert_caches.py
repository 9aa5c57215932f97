"""Caches of experts: published shares of lookups served, and those of the law of their use.

    python -m benchmarks.expert_caches

Each row of data/measurements/expert_caches.csv is predicted by `model/expert_use.py` with the
unevenness of data/models/expert_use.csv, and once more with the one number fitted to the other
publishers' rows of that kind of model. Aims: within 6 points at the median, none over 15.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.model.expert_use import USUAL, ExpertUse, in_text, served_by_fixed, unevenness

FILE = DATA / "measurements/expert_caches.csv"
GRID = np.arange(0.5, 3.001, 0.05)  # values of the unevenness tried in a fit
FIXED = "fixed"


@dataclass(frozen=True, kw_only=True)
class CacheRow:
    """One row of data/measurements/expert_caches.csv; its README describes the columns."""

    id: str
    publisher: str
    model: str
    experts: int
    used: int
    slots: float
    policy: str
    tokens: float | None
    variety: float | None
    hit_pct: float
    source_url: str


def rows() -> tuple[CacheRow, ...]:
    """All published rows."""
    return read(FILE, CacheRow)


def predicted(row: CacheRow, usual: float | None = None) -> float:
    """Share of lookups served, by the model's unevenness in an ordinary text or another [%]."""
    if row.policy == FIXED:
        return 100.0 * float(served_by_fixed(row.slots / row.experts))
    if usual is None:
        usual = unevenness(row.model)
    if row.variety is None:
        variety = USUAL
    else:
        variety = row.variety
    use = ExpertUse(row.experts, row.used, in_text(usual, variety))
    if row.tokens is None:
        tokens = np.inf
    else:
        tokens = row.tokens
    return 100.0 * float(use.served(row.slots, tokens, by_layer=row.policy == "layer"))


def fitted(others: Sequence[CacheRow]) -> float:
    """Unevenness with the least mean error over some rows."""
    return float(min(GRID, key=lambda usual: np.mean([abs(_error(row, usual)) for row in others])))


def left_out(known: Sequence[CacheRow]) -> Iterable[tuple[CacheRow, float]]:
    """Rows with a prediction by the other publishers' rows of models alike; without fixed sets."""
    lists = [row for row in known if row.policy != FIXED]
    fits: dict[tuple[str, float], float] = {}
    for row in lists:
        kind = unevenness(row.model)
        key = row.publisher, kind
        if key not in fits:
            alike = [other for other in lists if unevenness(other.model) == kind]
            fits[key] = fitted([other for other in alike if other.publisher != row.publisher])
        yield row, predicted(row, fits[key])


@cache  # one for each value tried, not for each publisher left out
def _error(row: CacheRow, usual: float | None = None) -> float:
    return predicted(row, usual) - row.hit_pct


def main() -> int:
    """Print the table; returns the exit code."""
    known = rows()
    without = {row.id: share for row, share in left_out(known)}
    print(f"{'publisher':16} {'model':22} {'slots':>12} {'tokens':>6} {'served':>6} {'law':>6}")
    for row in known:
        if row.tokens is None:
            tokens = ""
        else:
            tokens = f"{row.tokens:g}"
        print(
            f"{row.publisher:16} {row.model:22} {row.slots:6.1f} /{row.experts:4} {tokens:>6} "
            f"{row.hit_pct:6.1f} {predicted(row):6.1f}"
        )
    for words, errors in (
        ("as shipped", [_error(row) for row in known]),
        (
            "its publisher left out",
            [without[row.id] - row.hit_pct for row in known if row.id in without],
        ),
    ):
        sizes = np.abs(errors)
        print(
            f"{words}: {len(sizes)} rows, median {np.median(sizes):.1f} points, "
            f"largest {np.max(sizes):.1f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
