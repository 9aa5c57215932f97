"""`python -m advisor.evidence.accuracy`: write the ledger's tables in data/generated/.

coverage.csv, accuracy_points.csv and noise_floor.csv.
"""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from advisor.catalog.csv_tables import as_text
from advisor.evidence.accuracy.ledger import ledger
from advisor.evidence.accuracy.scoring import COVERAGE, Score, coverage_row
from advisor.evidence.accuracy.shipped import FLOOR, POINTS, Ledger, floor_table, points_table


def main() -> int:
    """Write the tables; returns the exit code."""
    for path, text in tables(ledger()).items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.name}: written.\n")
    return 0


def tables(known: Ledger) -> Mapping[Path, str]:
    """Text of each file."""
    return {
        COVERAGE: table(known.scores),
        POINTS: points_table(known),
        FLOOR: floor_table(known.floor),
    }


def table(scores: Iterable[Score]) -> str:
    """Text of data/generated/coverage.csv."""
    return as_text(map(coverage_row, scores))


if __name__ == "__main__":
    sys.exit(main())
