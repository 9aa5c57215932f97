"""`python -m advisor.evidence.accuracy`: write data/generated/coverage.csv from the ledger."""

import sys
from collections.abc import Iterable

from advisor.catalog.csv_tables import as_text
from advisor.evidence.accuracy.coverage import COVERAGE, coverage_row
from advisor.evidence.accuracy.ledger import ledger
from advisor.evidence.accuracy.scoring import Score


def main() -> int:
    """Write the table; returns the exit code."""
    COVERAGE.write_text(table(ledger().scores), encoding="utf-8")
    sys.stdout.write(f"{COVERAGE.name}: written.\n")
    return 0


def table(scores: Iterable[Score]) -> str:
    """Text of data/generated/coverage.csv."""
    return as_text(map(coverage_row, scores))


if __name__ == "__main__":
    sys.exit(main())
