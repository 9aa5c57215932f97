"""Inputs about money, and the monthly cost of a GPU from price tables or typed prices."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from advisor.advice.money import monthly_power, monthly_purchase, monthly_rent
from advisor.advice.prices.price_rows import PriceRow, price_rows
from advisor.catalog.inputs import MONEY, check_all, in_usd
from advisor.errors import InputError
from advisor.units import DAYS_PER_MONTH

DESKTOP_CARDS = 2
"""GPUs of one kind that a bought machine is taken to have room and power for; assumed."""


@dataclass(frozen=True, kw_only=True)
class MoneyInputs:
    """Inputs about time and money.

    Attributes:
        replies_per_day: replies that people wait for, of all users together.
        days_per_week: days of use in a week.
        answer_hours: hours within which the replies of a day must be complete [h].
        usd_per_hour_of_time: value of an hour of waiting [USD/h].
        rented_hours_per_day: hours a day that a rented machine is kept; None for the hours that use
            and starts take [h].
        hours_on_per_day: hours a day that an owned machine is on, idle time included [h].
        starts_per_day: times a day that a rented machine is started.
        start_minutes: time from ordering a machine until it runs, without loading the model [min].
        thinking_tokens: tokens of reasoning before each reply, which nobody reads [tokens].
        reading_tps: reading speed; for a batch job, which waits for the whole reply, as large as
            its output [tokens/s].
        purchase_months: months over which a purchase is spread.
        usd_per_kwh: price of electricity; 0.18 is about the price for US homes [USD/kWh].
        api_usd_in: price of the user's own API per million input tokens; None without one [USD].
        api_usd_out: the same per million output tokens [USD].
        api_tps: speed of an API without a published one [tokens/s].
        own_rent: rents that replace those of the tables, by GPU name [USD/h].
        own_price: prices that replace those of the tables, of a GPU, a whole machine, or a host
            part by its kind ("psu", "dock") [USD each].

    Raises:
        InputError: a number outside its limits.
    """

    replies_per_day: float = 40.0
    days_per_week: float = 7.0
    answer_hours: float = 24.0
    usd_per_hour_of_time: float = 30.0
    rented_hours_per_day: float | None = None
    hours_on_per_day: float = 8.0
    starts_per_day: float = 1.0
    start_minutes: float = 5.0
    thinking_tokens: float = 0.0
    reading_tps: float = 10.0
    purchase_months: float = 36.0
    usd_per_kwh: float = 0.18
    api_usd_in: float | None = None
    api_usd_out: float | None = None
    api_tps: float | None = None
    own_rent: tuple[tuple[str, float], ...] = ()
    own_price: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        check_all(MONEY, vars(self))

    @property
    def days(self) -> float:
        """Days of use in a month."""
        return DAYS_PER_MONTH * self.days_per_week / 7.0


def money_in_usd(
    values: Mapping[str, Any],
    own_rent: Iterable[tuple[str, float]],
    own_price: Iterable[tuple[str, float]],
    usd: float,
) -> MoneyInputs:
    """Inputs about money, converted from the typed currency to US dollars.

    Args:
        values: values of the inputs of `MONEY`, by name; missing ones have their default.
        own_rent: hourly rents of GPUs.
        own_price: prices of GPUs, machines or parts.
        usd: value of one unit of the currency [USD].

    Raises:
        InputError: a number outside its limits, or an API with only one of its two prices.
    """
    if (values.get("api_usd_in") is None) != (values.get("api_usd_out") is None):
        raise InputError(
            "Half of an API's price is typed; give both --api-usd-in and --api-usd-out."
        )
    plain = MoneyInputs()
    stated = {entry.name: values.get(entry.name, getattr(plain, entry.name)) for entry in MONEY}
    return MoneyInputs(
        **in_usd(stated, usd),
        own_rent=tuple((name, amount * usd) for name, amount in own_rent),
        own_price=tuple((name, amount * usd) for name, amount in own_price),
    )


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
            _purchase(rows, count, power, busy_hours, money),
        )
        if offer is not None
    )


def _rent(gpu: str, rows: Iterable[PriceRow], count: int, money: MoneyInputs) -> Offer | None:
    own = dict(money.own_rent).get(gpu)
    if own is not None:
        return Offer(
            kind="rent",
            monthly=float(monthly_rent(own * count, money.rented_hours_per_day or 24.0)),
            note=f"${own:.2f} an hour each, as you typed",
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
    rows: Iterable[PriceRow], count: int, power: float | None, busy_hours: float, money: MoneyInputs
) -> Offer | None:
    sold = [row for row in rows if row.kind == "purchase" and not row.provider.endswith("high")]
    if not sold or count > DESKTOP_CARDS:
        return None
    best = max(sold, key=lambda row: (row.provider.startswith("street"), row.date))
    what = ", ".join(part for part in (best.provider, best.instance) if part)
    electricity = float(monthly_power((power or 0.0) * count, busy_hours, money.usd_per_kwh))
    return Offer(
        kind="purchase",
        monthly=float(monthly_purchase(best.usd * count, money.purchase_months)) + electricity,
        note=f"${best.usd:,.0f} each ({what}), {_dated(best)}, "
        f"over {money.purchase_months:g} months with power",
        source=best.source,
    )


def _dated(row: PriceRow) -> str:
    return f"priced {row.date}" if row.date else f"read {row.retrieved}"
