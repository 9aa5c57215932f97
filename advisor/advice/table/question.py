"""Question that the options answer, and the construction of an option."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any

from advisor.advice.prices.price import Price, cards_for_sale, less, rents, used_value
from advisor.advice.prices.rows import PriceRow, is_stale, rent_rows, standing
from advisor.advice.speeds import Speed
from advisor.advice.table.cost import MonthlyCost, Use
from advisor.advice.table.option import Option, OptionKind
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.machine.machine import Form, Machine
from advisor.model.model import Model
from advisor.request.money import MoneyInputs, Ownership, discrete
from advisor.runtimes import Runtime

ELSEWHERE = (OptionKind.RENT, OptionKind.API)
"""Kinds of options during which the owned machine stays, unused."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """Model, machine, use and ownership."""

    model: Model  # model in the requested format
    machine: Machine  # present machine
    work: Workload  # request of one reply
    runtimes: tuple[Runtime, ...]  # allowed runtimes; every machine is valued in its fastest one
    money: MoneyInputs  # use and prices
    ownership: Ownership  # ownership of the present machine
    today: date  # date by which the age of prices is judged

    @cached_property
    def resale(self) -> Price:
        """Resale value of what is owned: as typed, else the used price of its cards."""
        ownership = self.ownership
        if ownership.resale is not None:
            return Price(usd=ownership.resale, typed=True, note="as you typed")
        if not ownership.owned:
            return Price()
        return used_value(tuple(gpu.name for gpu in discrete(self.machine)), self.money.own_price)

    @cached_property
    def resale_usd(self) -> float:
        """Amount of the resale value [USD]."""
        return self.resale.usd or 0.0

    @property
    def tied_up_usd(self) -> float:
        """Part of it that counts while it is kept [USD]."""
        return self.resale_usd if self.money.resale_counts else 0.0

    def paid_for(self, price: Price) -> float:
        """Amount that is spread over the months of what replaces the owned: its price, less the
        resale value where that does not count while it is kept; what is left over at once is no
        income of each month [USD].
        """
        return max((price.usd or 0.0) - (self.resale_usd - self.tied_up_usd), 0.0)

    @property
    def for_sale(self) -> tuple[str, ...]:
        """Cards sold for such a machine, and those with a typed price."""
        return cards_for_sale(self.money.own_price, server=self.ownership.form is Form.SERVER)

    @cached_property
    def use(self) -> Use:
        """Use of the person."""
        return Use(work=self.work, money=self.money, weights=float(self.model.file_bytes))

    def option(
        self,
        kind: OptionKind,
        name: str,
        speed: Speed | None,
        cost: MonthlyCost | None,
        price: Price | None = None,
        *,
        sells: bool = False,
        always_on: bool = False,
        **columns: Any,
    ) -> Option:
        """Option whose age of price and comparison with what is kept follow from its parts; what is
        owned may be sold for it, and a rent may never be stopped. Columns are those of an `Option`.
        """
        price = price or Price()
        if sells:
            price = less(price, self.resale)
        sold = self.resale_usd if sells else 0.0
        paid = price.usd is not None and cost is not None
        staying = kind in (OptionKind.KEEP, OptionKind.CHANGE) and not self.ownership.owned
        asked_for = bool(price.sources) or price.usd is None
        return Option(
            kind=kind,
            name=name,
            speed=speed,
            upfront=(price.usd or 0.0) - sold if paid else None,
            cost=cost if paid else None,
            price=price,
            use=self.use,
            started=not always_on and (staying or kind is OptionKind.RENT),
            stale=asked_for and not price.typed and is_stale(price.date, self.today),
            assumed_resale=float(self.use.spread(0.0 if self.resale.typed else sold)),
            standing=float(self.use.spread(self.tied_up_usd)) if kind in ELSEWHERE else 0.0,
            **columns,
        )


def rent_on_record(machine: Machine) -> PriceRow | None:
    """Newest hourly rent of a machine that a provider owns, else the least for as many of its
    cards; None for others or without one.
    """
    name = machine.rented.casefold()
    rows = [row for row in rent_rows() if name and row.instance.casefold() == name]
    if rows or not name or not machine.gpus:
        return max(rows, key=standing, default=None)
    alike = rents(machine.gpus[0].name)
    return next((row for row in alike if row.gpu_count == len(machine.gpus)), None)


def as_rented(ownership: Ownership, machine: Machine) -> Ownership:
    """Ownership of a machine; one that a provider owns is rented at the price on record until a
    rent is typed, and at nothing without a price.

    Raises:
        InputError: a resale value of a machine that a provider owns.
    """
    if not machine.rented or not ownership.owned:
        return ownership
    if ownership.resale:
        raise InputError(
            f"{machine.rented} belongs to its provider and cannot be sold for "
            f"${ownership.resale:g}; leave --resale out, or describe your own machine by its parts."
        )
    row = rent_on_record(machine)
    return replace(ownership, resale=None, rented_at=row.usd if row else 0.0, on_record=True)


def unknown_rent(ownership: Ownership, machine: Machine) -> Iterable[str]:
    """Sentence about a rent that no page says and nobody typed; none for others."""
    if ownership.on_record and rent_on_record(machine) is None:
        yield (
            f"{machine.rented} is rented, and no price of it is on record: it counts as free until "
            "you type its rent (--rented-at; on the page Your rent)."
        )
