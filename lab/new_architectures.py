"""How wide ranges of layers that nobody timed must be: each architecture left out of the fit.

    python -m lab.new_architectures

Constants are those of the fit that stands; `python -m lab` predicts each token also without any run
of the same kinds of layers, where these are not too common to be left out. The traits and widths
were chosen with these runs in sight, and kinds count as new that share parts with known ones, so a
wholly new kind may err more. Publishers of an architecture weigh the same.
"""

import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.records import csv_text
from lab import held_out, llama_cpp, rounded, write
from lab.stack import Timed

FILE = DATA / "generated/new_architectures.csv"
SHARE = 0.8  # share of architectures that a range holds, as of runs
FEWEST = 2  # publishers of an architecture, so that one machine does not speak for it


@dataclass(frozen=True, kw_only=True, slots=True)
class NewArchitectureRow:
    """One row of data/generated/new_architectures.csv."""

    kinds: str  # kinds of layers that were left out together
    publishers: int
    rows: int
    error: float  # log(measured speed / predicted speed), the median of its publishers
    source: str


def rows(timed: Iterable[Timed]) -> Iterator[NewArchitectureRow]:
    """Error of each architecture that was left out, the largest first."""
    errors: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    unseen = held_out.left_out()
    for row in timed:
        predicted = unseen.get((held_out.UNSEEN, row.id))
        if predicted is not None and row.timed == held_out.GENERATED:
            off = math.log(predicted / row.seconds)
            errors[llama_cpp.kinds_of(row)][row.publisher].append(off)
    table = [
        NewArchitectureRow(
            kinds=kinds,
            publishers=len(by_publisher),
            rows=sum(map(len, by_publisher.values())),
            error=rounded(median(map(median, by_publisher.values())), 3),
            source="python -m lab.new_architectures",
        )
        for kinds, by_publisher in errors.items()
        if len(by_publisher) >= FEWEST
    ]
    yield from sorted(table, key=lambda row: -abs(row.error))


def width(table: Iterable[NewArchitectureRow]) -> float:
    """Logarithm of the factor within which the share of architectures lies."""
    return float(np.quantile([abs(row.error) for row in table], SHARE))


def kept() -> tuple[NewArchitectureRow, ...]:
    """The table as it stands."""
    return read(FILE, NewArchitectureRow)


if __name__ == "__main__":
    table = tuple(rows(llama_cpp.rows_of(llama_cpp.published()).timed))
    sys.stdout.write(f"{len(table)} architectures, four in five within e^{width(table):.2f}\n")
    sys.exit(write({FILE: csv_text(table)}))
