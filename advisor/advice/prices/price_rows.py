"""Prices of GPUs, and their names in SkyPilot."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache

from advisor.advice.prices.price_dates import last_day
from advisor.catalog.csv_tables import DATA, read

LAUNCH = "launch MSRP"
"""Seller of rows with a maker's list price at launch."""
STREET = "street"
"""Beginning of the seller of rows with a low or high price of shops; `instance` names them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PriceRow:
    """One row of data/prices/prices.csv: `usd` for `gpu_count` GPUs, per hour or once; `memory_gib`
    where a chip is sold with several sizes of memory and the price is for one of them. What is
    sold is new, used, either ("used or new"), or listed by its maker ("list").
    """

    gpu: str
    kind: str
    provider: str
    instance: str
    condition: str
    gpu_count: int
    memory_gib: float | None
    usd: float
    currency: str
    per: str
    spot: bool
    date: str
    retrieved: str
    source: str


def rows_for_sale(gpu: str) -> tuple[PriceRow, ...]:
    """Purchase prices of a GPU, without the high ones of shops; of a chip that is sold with several
    sizes of memory those of the smallest.
    """
    every = (row for row in price_rows() if row.gpu == gpu and row.kind == "purchase")
    rows = [row for row in every if not row.provider.endswith("high")]
    smallest = min((row.memory_gib for row in rows if row.memory_gib), default=None)
    return tuple(row for row in rows if row.memory_gib == smallest)


def standing(row: PriceRow) -> tuple[bool, date, float]:
    """Key of the purchase price to use, the largest of several: prices of shops before a maker's
    at launch, newer before older, of one day the lowest.
    """
    return row.provider != LAUNCH, last_day(row.date) or date.min, -row.usd / row.gpu_count


@dataclass(frozen=True, kw_only=True, slots=True)
class AcceleratorRow:
    """One row of data/prices/skypilot_gpus.csv: a GPU's names among SkyPilot's accelerators, a
    semicolon between those that clouds use for the same card.
    """

    gpu: str
    accelerators: str
    source: str
    retrieved: str


@cache
def price_rows() -> tuple[PriceRow, ...]:
    """Rents and purchase prices."""
    return read(DATA / "prices/prices.csv", PriceRow)


@cache
def accelerator_rows() -> Mapping[str, AcceleratorRow]:
    """Names of a GPU in SkyPilot, by its name in the catalogue."""
    return {row.gpu: row for row in read(DATA / "prices/skypilot_gpus.csv", AcceleratorRow)}
