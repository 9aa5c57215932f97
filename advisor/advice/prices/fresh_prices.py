"""Fetched prices, kept in the user's data folder, which take precedence over shipped ones.

Files have the columns of data/prices/prices.csv and api_prices.csv. A file that cannot be read is
ignored, and the shipped prices are used.
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
    """Path of a file of fetched prices."""
    return data_folder() / "prices" / name


def kept(name: str, record: type[Row]) -> tuple[Row, ...]:
    """Fetched rows; none without a readable file."""
    path = place(name)
    if path.exists():
        with suppress(DataError):
            return read(path, record)
    return ()


def keep(name: str, rows: Sequence[Row]) -> None:
    """Replace the fetched rows atomically.

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
    """Name of a provider in a common spelling: "Vast.ai" and "vastai" are equal."""
    name = re.sub(r"\W", "", provider.split(" (")[0].casefold())
    return {"amazonwebservices": "aws", "lambdalabs": "lambda", "oraclecloud": "oci"}.get(
        name, name
    )


def without(rows: Iterable[Provided], providers: Iterable[str]) -> list[Provided]:
    """Rows of providers that were not fetched again."""
    asked_again = {plain(provider) for provider in providers}
    return [row for row in rows if plain(row.provider) not in asked_again]  # type: ignore[attr-defined]  # both kinds of row have it
