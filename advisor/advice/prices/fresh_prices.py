"""Prices that a person had fetched again, kept in their data folder before those that come along.

Files have the columns of data/prices/prices.csv and api_prices.csv. A file that cannot be read is
left aside: the prices that come along are always there.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

from advisor.catalog.csv_tables import Row, as_text, read
from advisor.errors import DataError
from advisor.paths import data_folder

RENTS, CALLS = "rents.csv", "api_prices.csv"
"""Files of rented machines and of APIs."""
Provided = TypeVar("Provided")


def place(name: str) -> Path:
    """Where one of the files lies."""
    return data_folder() / "prices" / name


def kept(name: str, record: type[Row]) -> tuple[Row, ...]:
    """Rows that were fetched; none where nothing was, or the file cannot be read."""
    path = place(name)
    if path.exists():
        with suppress(DataError):
            return read(path, record)
    return ()


def keep(name: str, rows: Sequence[Row]) -> None:
    """Keep rows in place of those fetched before; a reader sees the old file or the new one.

    Raises:
        DataError: the folder cannot be written.
    """
    path = place(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        unfinished.write_text(as_text(rows), encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}.") from error


@cache
def plain(provider: str) -> str:
    """A provider's name without what lists add to it: "Vast.ai" and "vastai" are one."""
    name = re.sub(r"\W", "", provider.split(" (")[0].casefold())
    return {"amazonwebservices": "aws", "lambdalabs": "lambda", "oraclecloud": "oci"}.get(
        name, name
    )


def without(rows: Iterable[Provided], providers: Iterable[str]) -> list[Provided]:
    """Rows of other providers than those that were asked again."""
    asked_again = {plain(provider) for provider in providers}
    return [row for row in rows if plain(row.provider) not in asked_again]  # type: ignore[attr-defined]
