"""Exchange rates with dates: those that a person fetched (`refresh rates`), or those of the
package.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog import renewed
from advisor.catalog.csv_tables import DATA, read

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

    @property
    def remark(self) -> str:
        """Remark on the rate that amounts are counted with; prices stay those of the United
        States.
        """
        return (
            f"One {self.currency} counts as ${self.usd:g}, the rate of {self.date}; give today's "
            "as --usd-rate. Prices are of the United States, without tax."
        )


@cache
def shipped_rates() -> Mapping[str, RateRow]:
    """Rates of data/prices/exchange_rates.csv by currency."""
    return {row.currency: row for row in read(DATA / "prices/exchange_rates.csv", RateRow)}


def rate_on_record(code: str) -> RateRow | None:
    """Rate of a currency: the fetched one, or that of the package; None without one."""
    return rate_rows().get(code) or shipped_rates().get(code)


@cache
def rate_rows() -> Mapping[str, RateRow]:
    """Rates by currency; none before the first renewal."""
    return {row.currency: row for row in renewed.rows(TABLE, RateRow)}
