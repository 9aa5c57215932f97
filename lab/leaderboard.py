"""Newer scores of models: `python -m lab.leaderboard FILE ADDRESS`.

FILE holds rows of the leaderboard's data set, as `advisor.refresh.scores` reads them. Scores in
data/models/quality.csv that were rated under a name in FILE are written anew with the day of FILE;
others stay, and are named.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from advisor.advice.finder.runnable import QualityRow, quality_rows
from advisor.catalog.csv_tables import DATA
from advisor.catalog.records import csv_text
from advisor.refresh.scores import rated, renewed

TABLE = DATA / "models/quality.csv"


def as_csv(rows: Sequence[QualityRow]) -> str:
    """The table as it is shipped: scores are whole numbers."""
    return csv_text(
        replace(row, score=round(row.score), plus_minus=round(row.plus_minus)) for row in rows
    )


def main(arguments: Sequence[str]) -> int:
    """Write data/models/quality.csv anew from a file; say what stayed."""
    if len(arguments) != 2:
        sys.exit("usage: python -m lab.leaderboard FILE.json ADDRESS_OF_THE_FILE")
    file, source = arguments
    newer = rated(Path(file).read_text(encoding="utf-8"))
    rows = renewed(quality_rows(), newer, source, date.today().isoformat())
    TABLE.write_text(as_csv(rows), encoding="utf-8")
    stayed = [row.model for row in rows if row.source != source]
    others = ", ".join(stayed) or "none"
    sys.stdout.write(f"{len(rows) - len(stayed)} scores are new; as they were: {others}.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
