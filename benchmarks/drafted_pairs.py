"""Do drafted tokens pay? Published pairs of runs, and what is predicted for each.

    python -m benchmarks.drafted_pairs

Rows of data/measurements/drafted_2026.csv whose note states the speed without drafting ("plain 45.6
with -ncmoe 30"), and those of drafting.csv beside it. Nothing is fitted to them. Aim: at least 95 %
of the signs right, and gains within a fifth at the median.
"""

import csv
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from advisor.catalog.csv_tables import DATA
from advisor.evidence.published.predict import predictions_of
from benchmarks.second_machine_pairs import met
from lab.points import drafting

FILE = DATA / "measurements/drafted_2026.csv"
PLAIN = re.compile(r"plain(?: -cmoe)? (\d+(?:\.\d+)?)(?: with -ncmoe (\d+))?")
DRAFT = re.compile(r"draft:.*?(?=; plain)")


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A published gain and the predicted one, each a rate over that without drafting."""

    words: str
    measured: float
    predicted: float


def pairs() -> tuple[Pair, ...]:
    """All published pairs."""
    return (*_of_rows(), *_of_gains())


def _of_rows() -> Iterator[Pair]:
    """Pairs of rows that state the speed without drafting."""
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if PLAIN.search(row["source_note"])]
    drafted = [dict(row, source_note=PLAIN.sub("", row["source_note"])) for row in rows]
    for row, with_drafts, without in zip(
        rows, predictions_of(drafted), predictions_of(map(_plain, rows)), strict=True
    ):
        yield Pair(
            words=f"{row['publisher']:16} {row['gpu']:16} {row['model']:18} {row['category']:12}",
            measured=float(row["tg_tps"]) / float(_stated(row)[1]),
            predicted=float(str(with_drafts["tg_tps"])) / float(str(without["tg_tps"])),
        )


def _stated(row: dict[str, str]) -> re.Match[str]:
    drafted = PLAIN.search(row["source_note"])
    if drafted is None:
        raise ValueError(f"{row['id']}: no speed without drafting.")
    return drafted


def _plain(row: dict[str, str]) -> dict[str, str]:
    """The same run without drafting, with its own layers of experts in RAM."""
    own = {"n_cpu_moe": layers} if (layers := _stated(row)[2]) else {}
    return {**row, **own, "source_note": DRAFT.sub("", row["source_note"])}


def _of_gains() -> Iterator[Pair]:
    """Pairs of drafting.csv, whose points scale the speed without drafting by the gain."""
    for row in drafting.rows():
        yield Pair(
            words=f"{row.runtime:16} {row.gpu:16.16} {row.model:18} {row.draft} {row.drafted:9}",
            measured=row.drafted_tps / row.plain_tps,
            predicted=drafting.gain(row),
        )


def main() -> int:
    """Print the table; returns the exit code: 0 where the aims are met."""
    known = pairs()
    measured = np.array([pair.measured for pair in known])
    predicted = np.array([pair.predicted for pair in known])
    for pair in known:
        print(f"{pair.words} {pair.measured:5.2f} {pair.predicted:5.2f}")
    return 0 if met(measured, predicted) else 1


if __name__ == "__main__":
    sys.exit(main())
