"""Exchange rates that a person fetched (`refresh rates`); none are shipped, and none is assumed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog import renewed

TABLE = "rates"
"""Name of the table."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RateRow:
    """One row of the table of exchange rates."""

    currency: str  # code of ISO 4217
    usd: float  # worth of one unit [USD]
    date: str  # day of the rate
    retrieved: str  # day on which it was fetched
    source: str


@cache
def rate_rows() -> Mapping[str, RateRow]:
    """Rates by currency; none before the first renewal."""
    return {row.currency: row for row in renewed.rows(TABLE, RateRow)}
