"""`python -m advisor.accuracy`: write data/coverage.csv anew from what the ledger says."""

import csv
import io
import sys
from collections.abc import Iterable
from dataclasses import asdict, fields

from advisor.accuracy.coverage import COVERAGE, CoverageRow, coverage_row
from advisor.accuracy.ledger import ledger
from advisor.accuracy.scoring import Score


def main() -> int:
    """Write the table; returns the exit code."""
    COVERAGE.write_text(table(ledger().scores), encoding="utf-8")
    sys.stdout.write(f"{COVERAGE.name}: written.\n")
    return 0


def table(scores: Iterable[Score]) -> str:
    """The whole file as text."""
    file = io.StringIO()
    names = [field.name for field in fields(CoverageRow)]
    writer = csv.DictWriter(file, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(coverage_row(score)) for score in scores)
    return file.getvalue()


if __name__ == "__main__":
    sys.exit(main())
