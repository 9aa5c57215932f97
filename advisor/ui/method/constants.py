"""Table of the constants: share or cost, value, and what it rests on."""

from collections.abc import Iterator, Sequence

from advisor.catalog.constants import FACTOR, ConstantRow, fitted_constants
from advisor.formatting import number, quantity

HEADINGS = ("Constant", "Value", "Kind", "Measurements", "Cases of its own")
RANGES = ("spread", "lean", "sources")
"""Beginnings of the constants that are widths of ranges."""


def constants_rows() -> Iterator[Sequence[str]]:
    """One row for each constant: its most general value, and how many cases differ from it."""
    for rows in fitted_constants().rows.values():
        general = min((row for row in rows if row.unit != FACTOR), key=_reach)
        if not general.constant.startswith(RANGES):
            yield (
                general.note or general.constant,
                _value(general),
                general.kind,
                f"{general.rows:,}" if general.rows else "",
                f"{len(rows) - 1}" if len(rows) > 1 else "",
            )


def _reach(row: ConstantRow) -> tuple[int, int]:
    """Order: the most general scope first, then the most measurements."""
    return row.precision, -(row.rows or 0)


def _value(row: ConstantRow) -> str:
    if row.unit in ("share", "ratio", "tokens"):
        unit = "" if row.unit != "tokens" else " tokens"
        return f"{number(row.value)}{unit}"
    return quantity(row.value, row.unit)
