"""Price of GPUs, whole machines, rented machines and parts, with its origin."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, lru_cache
from typing import Any, NamedTuple

from advisor.advice.prices import rows as tables
from advisor.advice.prices.power import HostPartRow, host_part_rows
from advisor.advice.prices.rows import PriceRow
from advisor.formatting import counted, money_per_hour
from advisor.formatting import money as money_words
from advisor.machine.catalog import GPUS
from advisor.request.wants import Condition


@dataclass(frozen=True, kw_only=True)
class Price:
    """Price of an option, with its origin."""

    usd: float | None = 0.0  # paid once; 0 if nothing is, None without a known price
    date: str = ""  # of the oldest part that counts (`_date_with`), ISO; empty if one has none
    note: str = ""  # seller and item
    sources: tuple[str, ...] = ()  # addresses of the sources
    at_launch: float = 0.0  # part of `usd` that is a maker's list price at launch [USD]
    typed: bool = False  # typed by the person
    # part of `usd` that the person typed for cards; None for none [USD]
    stated: float | None = None
    low: float | None = None  # lower end of the range of what it usually costs [USD]; None unknown
    high: float | None = None  # upper end likewise [USD]
    condition: str = ""  # of cards or a machine, as in `PriceRow`; empty where it was typed

    def plus(self, note: str, usd: float | None, **changes: Any) -> "Price":
        """Price with a further amount; without an amount where either is unknown [USD]."""
        if self.usd is None or usd is None:
            total = None
        else:
            total = self.usd + usd
        if self.note:
            note = f"{self.note}, {note}"
        more = usd or 0.0
        low = None if self.low is None else self.low + more
        high = None if self.high is None else self.high + more
        return replace(self, usd=total, note=note, low=low, high=high, **changes)

    def times(self, machines: int) -> "Price":
        """Price of so many machines."""
        names = ("usd", "at_launch", "stated", "low", "high")
        amounts = {name: getattr(self, name) for name in names}
        known = {name: machines * usd for name, usd in amounts.items() if usd is not None}
        return replace(self, **known)

    @property
    def dated(self) -> bool:
        """Whether all parts of the price have a date, or it was typed."""
        return bool(self.date) or self.typed

    @property
    def listed(self) -> bool:
        """Whether a part has its maker's list price at launch."""
        return self.at_launch > 0

    @property
    def launch_share(self) -> float:
        """Share of the price that is a maker's list price at launch."""
        if self.usd:
            return self.at_launch / self.usd
        return 0.0


def age_remark(date: str, *, listed: bool, stale: bool) -> str:
    """Remark in parentheses on a launch price or an old price; empty for other prices."""
    if listed:
        return f" (launch price of {date})"
    if not stale:
        return ""
    if date:
        return f" (old price of {date})"
    return " (no date)"


TypedPrices = tuple[tuple[str, float], ...]
"""Typed prices or rents by name, as in `MoneyInputs` [USD]."""


@cache
def selling_price(gpu: str, condition: Condition = Condition.ANY) -> PriceRow | None:
    """Price row of a GPU or whole machine: its usual price, the newest of shops, or its list price,
    in this order.

    Of cards with prices in a wanted condition it is one of these. A card without any keeps its
    price in another condition, and a whole machine its only price; `of_condition` tells them.
    """
    machine = tables.machines_for_sale().get(gpu)
    if machine is not None:
        return machine.price
    usual = tables.usual_price(gpu, condition)
    if usual is not None:
        return usual
    rows = tables.rows_for_sale(gpu)
    wanted = [row for row in rows if of_condition(row.condition, condition)]
    if condition is not Condition.ANY and not wanted:
        return selling_price(gpu)
    return max(wanted, key=tables.standing, default=None)


def of_condition(condition: str, wanted: Condition) -> bool:
    """Whether a price's condition is the wanted one: the lowest of "used or new" counts as used.

    A typed price has none, and is of the condition in which somebody buys.
    """
    if wanted is Condition.ANY or not condition:
        return True
    return (condition in SECOND_HAND) is (wanted is Condition.USED)


def priced_name(text: str) -> str:
    """Name under which a price is kept: kind of a part, name of a machine for sale, or of a GPU.

    Raises:
        UnknownName: no such part, machine or GPU; the message has similar names.
    """
    kinds = (row.part for row in host_part_rows())
    names = {name.casefold(): name for name in (*kinds, *tables.machines_for_sale())}
    exact = names.get(text.strip().casefold())
    if exact is not None:
        return exact
    machines = machines_called(text)
    if len(machines) == 1:
        return machines[0]
    return GPUS.find(text).name


SIZE = re.compile(r"(\d+)\s*([gt]b)\b")  # size of a memory or drive in a name


def machines_called(text: str) -> list[str]:
    """Names of machines for sale that hold every word of a text, in any order: "Mac Studio M5 Max"
    has several sizes; none for a text of digits or none.
    """
    wanted = _words(text)
    if not wanted or all(word.isdigit() for word in wanted):
        return []
    return [name for name in tables.machines_for_sale() if wanted <= _words(name)]


def _words(name: str) -> set[str]:
    """Words of a machine's name, a size as one word."""
    return set(re.findall(r"[\w+-]+", SIZE.sub(r"\1\2", name.casefold())))


@cache
def sold() -> tuple[str, ...]:
    """Names of the GPUs for sale."""
    rows = (row for row in tables.price_rows() if row.kind == "purchase")
    return tuple(dict.fromkeys(row.gpu for row in rows))


WITHOUT_FANS = re.compile(
    r"(P4|P40|P100|V100S?|T4|A2|A10G?|A30|A40|A[18]00|L4|L20|L40S?|[HB]\d+|Instinct)\b"
)
"""Names of cards that are cooled by the fans of a server."""


@lru_cache(maxsize=64)
def cards_for_sale(
    own_price: TypedPrices,
    today: date,
    condition: Condition = Condition.ANY,
    *,
    server: bool = False,
) -> tuple[str, ...]:
    """Cards that are sold for a desktop or a server, and cards with a typed price.

    Cards without fans of their own are for servers, and for a desktop only at a typed price. Cards
    whose newest price has lapsed are left out.
    """
    names = [
        name
        for name in sold()
        if (server or not WITHOUT_FANS.match(name))
        and not tables.is_lapsed(selling_price(name, condition), today)
    ]
    names += [name for name, _ in own_price if name in GPUS.rows()]
    cards = (name for name in dict.fromkeys(names) if not GPUS.find(name).unified)
    return tuple(name for name in cards if "SXM" not in name)


@lru_cache(maxsize=64)
def cards_for_rent(own_rent: TypedPrices) -> tuple[str, ...]:
    """GPUs that are offered for rent, and GPUs with a typed rent."""
    names = dict.fromkeys(
        [*(row.gpu for row in tables.rent_rows()), *(name for name, _ in own_rent)]
    )
    return tuple(name for name in names if not GPUS.find(name).unified)


@cache
def rents(gpu: str) -> tuple[PriceRow, ...]:
    """Available rented machines with a GPU: those with a dated price first, cheapest first."""
    rows = (row for row in tables.rent_rows() if row.gpu == gpu)
    return tuple(sorted(rows, key=lambda row: not row.date))


class Rent(NamedTuple):
    """Rent of a machine."""

    price: Price  # nothing that is paid once, with the origin of the rent
    usd: float  # of an hour [USD/h]
    gpus: int  # number of its GPUs


def rented(gpu: str, count: int, own_rent: TypedPrices = ()) -> Rent | None:
    """Cheapest rented machine with a number of GPUs; None without one.

    A machine with more GPUs is rented whole; several single-GPU machines do not count as one.
    """
    typed = dict(own_rent).get(gpu)
    if typed is not None:
        price = Price(typed=True, note=f"{money_per_hour(typed)} each, as you typed")
        return Rent(price, typed * count, count)
    row = next((row for row in rents(gpu) if row.gpu_count >= count), None)
    if row is None:
        return None
    if row.gpu_count > count:
        size = f" with {row.gpu_count}"
    else:
        size = ""
    note = f"${row.usd:.2f} an hour, {row.provider}, {row.instance or row.gpu}{size}"
    price = Price(date=row.date, note=note, sources=(row.source,))
    return Rent(price, row.usd, row.gpu_count)


SELLING = 0.15
"""Part of a sale that fees and postage take: eBay 13.6 % and $0.40, with postage 15 to 16 %
(https://www.ebay.com/help/selling/fees-credits-invoices/selling-fees, 2026-09-20)."""
SECOND_HAND = ("used", "used or new")  # conditions of prices at which a used card sells


@lru_cache(maxsize=64)
def used_value(cards: tuple[str, ...], typed: TypedPrices) -> Price:
    """Value of owned cards, less the cost of a sale.

    It is the usual price of used cards, or a lower one at which they are bought. A card without a
    used price adds nothing, and the note says so.
    """
    price = NOTHING_YET
    for name, count in Counter(cards).items():
        rows = (
            row for row in tables.rows_for_sale(name) if row.condition in SECOND_HAND and row.date
        )
        usual = tables.usual_price(name, "used")
        row = usual or max(rows, key=tables.standing, default=None)
        cards_sold = counted(count, name)
        if row is None:
            price = price.plus(f"{cards_sold}: no used price on record", 0.0)
            continue
        now = bought(name, 1, typed).usd
        usd = count * min(row.usd / row.gpu_count, row.usd if now is None else now)
        usd *= 1.0 - SELLING
        note = f"{cards_sold} at the used price of {row.date} less {SELLING:.0%}, ${usd:,.0f}"
        if price.date:
            date = tables.oldest((price.date, row.date))
        else:
            date = row.date
        price = price.plus(note, usd, date=date, sources=(*price.sources, row.source))
    return price


SMALL_PART = 0.375
"""Share of a price below which a part's date is not the price's: an old price, uncertain by 40 %,
moves the sum by no more than the 15 % by which every price is uncertain (docs/money.md)."""


def _date_with(price: Price, date: str, usd: float) -> str:
    """Date of a price with a further part [USD]: the older of both, unless the part is small."""
    small = price.usd is not None and usd < SMALL_PART * (price.usd + usd)
    if small:
        return price.date
    return tables.oldest((price.date, date))


def less(price: Price, resale: Price) -> Price:
    """Price less the proceeds of a sale, with a note on what is sold and the older date of both."""
    if not resale.usd or price.usd is None or not (price.usd or price.sources):
        return price
    if resale.typed:
        note = f"{price.note}, less {money_words(resale.usd)} for what you sell"
        return replace(price, note=note)
    note = f"{price.note}, less what you sell: {resale.note}"
    if price.date:
        date = _date_with(price, resale.date, resale.usd)
    else:
        date = ""
    return replace(price, note=note, date=date, sources=(*price.sources, *resale.sources))


@lru_cache(maxsize=2048)
def bought(
    gpu: str,
    count: int,
    typed: TypedPrices = (),
    parts: tuple[HostPartRow, ...] = (),
    condition: Condition = Condition.ANY,
) -> Price:
    """Price of GPUs or of a whole machine, with further parts; without an amount where the price of
    a part is unknown.

    Cards are of the wanted condition where they are sold in it (`selling_price`); of parts each has
    one price.
    """
    price = _typed(gpu, count, typed) or _on_record(gpu, count, condition)
    for part, number in Counter(parts).items():
        price = with_part(price, part, typed, number)
    return price


def _typed(gpu: str, count: int, prices: TypedPrices) -> Price | None:
    """Price that the user typed for a GPU, or for the chip of a whole machine; None without one."""
    typed = dict(prices)
    machine = tables.machines_for_sale().get(gpu)
    usd = typed.get(gpu, typed.get(machine.price.gpu) if machine else None)
    if usd is None:
        return None
    if count > 1:
        each = f"{money_words(usd)} each"
    else:
        each = money_words(usd)
    paid = usd * count
    return Price(usd=paid, typed=True, stated=paid, note=f"{each}, as you typed")


def _on_record(gpu: str, count: int, condition: Condition) -> Price:
    row = selling_price(gpu, condition)
    if row is None:
        return Price(usd=None, note=f"{tables.no_price(gpu)}; type yours")
    if count > 1:
        each = f"${row.usd:,.0f} each"
    else:
        each = f"${row.usd:,.0f}"
    what = row.instance if gpu == row.gpu else ""
    seller: tuple[str, ...] = row.provider, what
    if row.provider.startswith(tables.STREET):  # the shop where it is known
        seller = (tables.STREET if what in ("", row.condition) else what,)
    words = ", ".join(dict.fromkeys(filter(None, (*seller, row.condition))))
    usd = row.usd * count / row.gpu_count
    low, high = tables.usual_range(row)
    return Price(
        usd=usd,
        date=row.date,
        note=f"{each} ({words})",
        sources=(row.source,),
        at_launch=usd if row.provider == tables.LAUNCH else 0.0,
        low=None if low is None else low * count,
        high=None if high is None else high * count,
        condition=row.condition,
    )


NOTHING_YET = Price()  # price to which the parts are added where nothing else is bought


def with_part(price: Price, part: HostPartRow, prices: TypedPrices, count: int = 1) -> Price:
    """Price with a number of one host part added, at its typed price or the one on record."""
    typed = dict(prices).get(part.part)
    each = part.usd if typed is None else typed
    name = counted(count, part.name)
    first = price == NOTHING_YET
    if each is None:
        return price.plus(
            f"{name}: {tables.NO_PRICE}; type yours as --own-price {part.part}=USD", None
        )
    usd = each * count
    if typed is not None:
        note = f"{name} {money_words(usd)}, as you typed"
        return price.plus(note, usd, typed=price.typed or first)
    if price.typed or first:
        date = part.date
    else:
        date = _date_with(price, part.date, usd)
    sources = (*price.sources, part.source)
    return price.plus(f"{name} ${usd:,.0f}", usd, date=date, typed=False, sources=sources)


ODD = 10.0  # factor between a typed price and those on record from which it is remarked on


def odd_prices(own_price: TypedPrices, own_rent: TypedPrices) -> tuple[str, ...]:
    """Remarks on typed prices that are far from those on record, which count all the same."""
    prices = []
    for name, usd in own_price:
        parts = [row.usd for row in host_part_rows() if row.part == name and row.usd is not None]
        row = selling_price(name)
        prices.append((name, usd, [*parts, *([row.usd / row.gpu_count] if row else [])], ""))
    let = (
        (name, usd, [row.usd / row.gpu_count for row in rents(name)], " an hour")
        for name, usd in own_rent
    )
    return tuple(
        f"{name} at {money_words(usd)}{per} is far from what is on record, "
        f"{' to '.join(map(money_words, sorted({min(on_record), max(on_record)})))}{per}; "
        "taken as typed."
        for name, usd, on_record, per in (*prices, *let)
        if on_record and not min(on_record) / ODD <= usd <= max(on_record) * ODD
    )
