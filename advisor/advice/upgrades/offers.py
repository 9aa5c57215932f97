"""Monthly cost of a GPU, from price tables or typed prices."""

from collections.abc import Iterable
from dataclasses import dataclass

from advisor.advice.prices.rows import PriceRow, price_rows, rows_for_sale, standing
from advisor.advice.table.cost import monthly_energy, monthly_rent
from advisor.formatting import money_per_hour
from advisor.request.money import MoneyInputs

DESKTOP_CARDS = 2
"""Number of GPUs that fit into a bought machine; assumed."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """Way to have a GPU.

    Attributes:
        kind: rent or purchase.
        monthly: monthly cost of all its GPUs, with power for a purchase [USD/month].
        note: price as its source states it, with seller and date.
        source: address of the source; empty for a typed price.
    """

    kind: str
    monthly: float
    note: str
    source: str


def offers(
    gpu: str, count: int, power: float | None, busy_hours: float, money: MoneyInputs
) -> tuple[Offer, ...]:
    """Cheapest rent and newest purchase price of a number of GPUs; empty without a sourced price.

    Args:
        gpu: name in the catalogue.
        count: number of GPUs.
        power: board power of one GPU [W]; None where unknown.
        busy_hours: hours of computation per month [h].
        money: inputs about money.
    """
    rows = [row for row in price_rows() if row.gpu == gpu]
    return tuple(
        offer
        for offer in (
            _rent(gpu, rows, count, money),
            _purchase(gpu, count, power, busy_hours, money),
        )
        if offer is not None
    )


def _rent(gpu: str, rows: Iterable[PriceRow], count: int, money: MoneyInputs) -> Offer | None:
    own = dict(money.own_rent).get(gpu)
    if own is not None:
        return Offer(
            kind="rent",
            monthly=float(monthly_rent(own * count, money.rented_hours_per_day or 24.0)),
            note=f"{money_per_hour(own)} each, as you typed",
            source="",
        )
    rents = [row for row in rows if row.kind == "rent" and not row.spot]
    if not rents:
        return None
    best = min(rents, key=lambda row: row.usd / row.gpu_count)
    each = best.usd / best.gpu_count
    return Offer(
        kind="rent",
        monthly=float(monthly_rent(each * count, money.rented_hours_per_day or 24.0)),
        note=f"${each:.2f} an hour each, {best.provider}, {_dated(best)}",
        source=best.source,
    )


def _purchase(
    gpu: str, count: int, power: float | None, busy_hours: float, money: MoneyInputs
) -> Offer | None:
    sold = rows_for_sale(gpu)
    if not sold or count > DESKTOP_CARDS:
        return None
    best = max(sold, key=standing)
    what = ", ".join(part for part in (best.provider, best.instance) if part)
    electricity = float(monthly_energy((power or 0.0) * count, busy_hours, money.usd_per_kwh))
    return Offer(
        kind="purchase",
        monthly=best.usd * count / money.purchase_months + electricity,
        note=f"${best.usd:,.0f} each ({what}), {_dated(best)}, "
        f"over {money.purchase_months:g} months with power",
        source=best.source,
    )


def _dated(row: PriceRow) -> str:
    return f"priced {row.date}" if row.date else f"read {row.retrieved}"
