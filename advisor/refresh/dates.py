"""Dates of the tables that can be renewed, with their age and source."""

from dataclasses import dataclass
from datetime import date

from advisor.catalog import renewed


@dataclass(frozen=True, kw_only=True)
class TableDate:
    """Age of a table."""

    table: str  # name on the command line
    what: str  # what it holds, in words
    day: str  # day on which the table that counts was read; empty where there is none
    renewed: bool  # whether it was renewed here; else it is the package's
    days: int | None  # age; None where there is none [days]
    old: bool  # whether it is older than such a table should be
    source: str  # where it comes from
    licence: str  # licence of its source


def table_dates(today: date) -> tuple[TableDate, ...]:
    """Age of each table that can be renewed."""
    return tuple(_dated(row, today) for row in renewed.tables().values())


def _dated(row: renewed.TableRow, today: date) -> TableDate:
    day = renewed.day_of(row.table)
    if day:
        days = max((today - date.fromisoformat(day)).days, 0)
    else:
        days = None
    return TableDate(
        table=row.table,
        what=row.what,
        day=day,
        renewed=renewed.counting(row.table) is not None,
        days=days,
        old=days is None or days > row.old_days,
        source=row.source,
        licence=row.licence,
    )
