"""Renewed tables: tables that a person fetched anew, in the data folder.

A renewal is a file of its own, `tables/TABLE/NUMBER_DAY.csv`, of which the highest number counts.
It is written beside, synced and renamed, so that a program that is killed leaves the earlier one;
the one before is kept, so that the last can be taken back.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import TypeVar

from advisor import given_files
from advisor.catalog.csv_tables import DATA, read
from advisor.errors import DataError
from advisor.failures import StoreError
from advisor.paths import DATA_VARIABLE, data_folder

Row = TypeVar("Row")
FOLDER = "tables"
NAME = re.compile(r"(\d{1,9})_(\d{4}-\d\d-\d\d)\.csv")
KEPT = 2  # renewals of a table that are kept: the last, and the one before


@dataclass(frozen=True, kw_only=True, slots=True)
class TableRow:
    """One row of data/refresh/tables.csv: a table that can be renewed."""

    table: str  # name on the command line
    what: str  # what it holds, in words
    shipped: str  # file of the package in data/; empty where it ships none
    read: str  # day on which the package's was read; empty where it ships none
    old_days: int  # age above which it is called old [days]
    address: str  # where it is fetched; empty where a package or the Hub's host says it
    licence: str  # licence of its source
    source: str  # page that describes the source


@cache
def tables() -> Mapping[str, TableRow]:
    """Tables that can be renewed, by name."""
    return {row.table: row for row in read(DATA / "refresh/tables.csv", TableRow)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Renewal:
    """Table that was fetched anew."""

    number: int  # how many came before it
    day: date  # day on which it was fetched
    path: Path


def renewals(table: str) -> tuple[Renewal, ...]:
    """Renewals of a table that are kept, the last first."""
    with suppress(OSError):
        return tuple(sorted(_found(table), key=lambda each: each.number, reverse=True))
    return ()


def _found(table: str) -> Iterator[Renewal]:
    for path in (data_folder() / FOLDER / table).iterdir():
        match = NAME.fullmatch(path.name)
        with suppress(ValueError):
            if match is not None:
                yield Renewal(number=int(match[1]), day=date.fromisoformat(match[2]), path=path)


def counting(table: str) -> Renewal | None:
    """Renewal in use, which is the last; None where the package's table is newer."""
    last = next(iter(renewals(table)), None)
    shipped = tables()[table].read
    if last is None or (shipped and last.day < date.fromisoformat(shipped)):
        return None
    return last


def day_of(table: str) -> str:
    """Day of the table in use; empty where there is none."""
    last = counting(table)
    if last is None:
        return tables()[table].read
    return last.day.isoformat()


def rows(table: str, record: type[Row], *, beside: bool = False) -> tuple[Row, ...]:
    """Rows of the valid renewal of a table.

    With `beside` they are of the last renewal; of an earlier one where the last is damaged, and
    empty without any.
    """
    if not beside and counting(table) is None:
        return ()
    for renewal in renewals(table):
        with suppress(DataError, UnicodeDecodeError):
            return read(renewal.path, record)
    return ()


def keep(table: str, text: str, day: date) -> Renewal:
    """Renewal of a table with a text, saved whole or not at all.

    Raises:
        StoreError: the folder cannot be written.
    """
    folder = data_folder() / FOLDER / table
    earlier = renewals(table)
    number = earlier[0].number + 1 if earlier else 1
    path = folder / f"{number:04d}_{day.isoformat()}.csv"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        given_files.replace_file(path, text)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror}); set {DATA_VARIABLE} to a folder that "
            "can be written. The table stays as it was."
        ) from error
    remains = folder.glob("*.new")  # of killed programs, each named by its day
    for old in (*(renewal.path for renewal in earlier[KEPT - 1 :]), *remains):
        with suppress(OSError):
            old.unlink()
    return Renewal(number=number, day=day, path=path)


def take_back(table: str) -> Renewal | None:
    """Last renewal of a table, after its deletion; None where there is none.

    Raises:
        StoreError: it cannot be deleted.
    """
    last = next(iter(renewals(table)), None)
    if last is None:
        return None
    try:
        last.path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"{last.path} cannot be deleted ({error.strerror}); delete it by hand."
        ) from error
    return last
