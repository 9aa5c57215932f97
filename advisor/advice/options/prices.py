"""What a GPU, a whole machine or a rented one costs, from the rows of data/prices/prices.csv."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from advisor.advice.host_parts import HostPartRow
from advisor.advice.offers import MoneyInputs
from advisor.advice.options.option import Price
from advisor.advice.price_dates import oldest
from advisor.advice.price_rows import PriceRow, price_rows

LAUNCH = "launch MSRP"
"""Seller of rows with a maker's list price at launch."""


def said(row: PriceRow) -> str:
    """The day a row's price was asked: as its source gives it, else the day it was read."""
    return row.date or row.retrieved


@cache
def asked(gpu: str) -> PriceRow | None:
    """What a GPU is sold for: the newest street price, else its list price; None without either."""
    rows = [
        row
        for row in price_rows()
        if row.gpu == gpu and row.kind == "purchase" and not row.provider.endswith("high")
    ]
    return max(rows, key=lambda row: (row.provider != LAUNCH, row.date), default=None)


@cache
def sold() -> tuple[str, ...]:
    """GPUs that somebody sells, by name."""
    rows = (row for row in price_rows() if row.kind == "purchase")
    return tuple(dict.fromkeys(row.gpu for row in rows))


@cache
def rents(gpu: str) -> tuple[PriceRow, ...]:
    """Machines with a GPU that are for rent and not taken away, the cheapest first."""
    rows = (row for row in price_rows() if row.gpu == gpu and row.kind == "rent")
    return tuple(sorted((row for row in rows if not row.spot), key=lambda row: row.usd))


def rented(gpu: str, count: int, money: MoneyInputs) -> tuple[Price, float] | None:
    """The cheapest single machine with so many of a GPU, and its rent [USD/h]; None without one.

    A machine with more is taken whole: what is sold one by one is no machine with several.
    """
    own = dict(money.own_rent).get(gpu)
    if own is not None:
        return Price(typed=True, note=f"${own:.2f} an hour each, as you typed"), own * count
    row = next((row for row in rents(gpu) if row.gpu_count >= count), None)
    if row is None:
        return None
    size = f" with {row.gpu_count}" if row.gpu_count > count else ""
    note = f"${row.usd:.2f} an hour, {row.provider}, {row.instance or row.gpu}{size}"
    return Price(date=said(row), note=note, sources=(row.source,)), row.usd


def bought(gpu: str, count: int, money: MoneyInputs, parts: Iterable[HostPartRow] = ()) -> Price:
    """So many of a GPU and the parts that they need; without a price where one of them has none."""
    price = _typed(gpu, count, money) or _on_record(gpu, count)
    for part in parts:
        price = with_part(price, part)
    return price


def _typed(gpu: str, count: int, money: MoneyInputs) -> Price | None:
    own = dict(money.own_price).get(gpu)
    if own is None:
        return None
    return Price(usd=own * count, typed=True, note=f"${own:,.0f} each, as you typed")


def _on_record(gpu: str, count: int) -> Price:
    row = asked(gpu)
    if row is None:
        return Price(usd=None, note="no price on record; type yours")
    each = f"${row.usd:,.0f} each" if count > 1 else f"${row.usd:,.0f}"
    words = ", ".join(part for part in (row.provider, row.condition, row.instance) if part)
    return Price(
        usd=row.usd * count / row.gpu_count,
        date=said(row),
        note=f"{each} ({words})",
        sources=(row.source,),
        listed=row.provider == LAUNCH,
    )


def with_part(price: Price, part: HostPartRow) -> Price:
    """A price and one more part of the host."""
    if part.usd is None or price.usd is None:
        return replace(price, usd=None, note=f"{price.note}, {part.name}: no price on record")
    return replace(
        price,
        usd=price.usd + part.usd,
        date=part.date if price.typed else oldest((price.date, part.date)),
        typed=False,
        note=f"{price.note}, {part.name} ${part.usd:,.0f}",
        sources=(*price.sources, part.source),
    )
