"""Reasons why a GPU has no purchase price, from data/prices/without_price.csv.

The table has each GPU of 2020 and later that prices.csv has no price for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from advisor.catalog.csv_tables import DATA, read

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "laptop": "sold only within laptops",
        "processor": "part of a processor",
        "mac": "sold only within Macs, none of which has a dated price",
        "computer": "sold only within whole computers",
        "device": "sold only to makers of devices",
        "server": "sold only within servers",
        "cloud": "only for rent",
        "modified": "rebuilt by third parties, without a dated price",
        "page": "no dated page has one",
    }
)
"""Sentence part of each reason."""
NO_PRICE = "no price on record"


@dataclass(frozen=True, kw_only=True, slots=True)
class WithoutPriceRow:
    """One row of data/prices/without_price.csv: a GPU by its name in the catalogue, and a key of
    `REASONS`.
    """

    gpu: str
    reason: str


@cache
def without_price_rows() -> Mapping[str, WithoutPriceRow]:
    """Rows by GPU."""
    return {row.gpu: row for row in read(DATA / "prices/without_price.csv", WithoutPriceRow)}


def no_price(gpu: str) -> str:
    """Remark on a GPU without a price, with the reason where it is known."""
    row = without_price_rows().get(gpu)
    return NO_PRICE if row is None else f"{NO_PRICE}: {REASONS[row.reason]}"
