"""Prices of APIs per million tokens.

data/prices/api_prices.csv comes from the package genai-prices, read on one day; a row's `date` is
the day from which the package has the price, empty where it does not say.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.advice.prices.fresh_prices import CALLS, kept
from advisor.catalog.csv_tables import DATA, read


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiPriceRow:
    """One row of data/prices/api_prices.csv; `usd_per_mtok_cached` where cached input has a price
    of its own, `decode_tps` where a speed is published.
    """

    model: str
    provider: str
    model_id: str
    usd_per_mtok_in: float
    usd_per_mtok_out: float
    usd_per_mtok_cached: float | None
    decode_tps: float | None
    date: str
    retrieved: str
    source: str
    speed_source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiFirstTokenRow:
    """One row of data/prices/api_first_tokens.csv: measured median time to the first token [s]."""

    provider: str
    model_id: str
    seconds: float
    date: str
    retrieved: str
    source: str
    note: str


def api_day(row: ApiPriceRow) -> str:
    """Date of an API's price: the day from which the package has it, else that of the package."""
    return row.date or row.retrieved


@cache
def api_first_tokens() -> Mapping[tuple[str, str], float]:
    """Times to the first token by provider and its name of the model [s]."""
    rows = read(DATA / "prices/api_first_tokens.csv", ApiFirstTokenRow)
    return {(row.provider, row.model_id): row.seconds for row in rows}


@cache
def api_price_rows() -> Mapping[str, tuple[ApiPriceRow, ...]]:
    """Rows by the model's name, without its publisher; fetched rows replace shipped ones."""
    fresh = {(row.provider, row.model_id): row for row in kept(CALLS, ApiPriceRow)}
    rows: dict[str, list[ApiPriceRow]] = {}
    for row in read(DATA / "prices/api_prices.csv", ApiPriceRow):
        rows.setdefault(row.model, []).append(fresh.get((row.provider, row.model_id), row))
    return {model: tuple(of_model) for model, of_model in rows.items()}
