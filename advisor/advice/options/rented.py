"""Present machine that a provider owns: its rent, where its name says that it is rented."""

from collections.abc import Iterable
from dataclasses import replace

from advisor.advice.prices.machine_prices import rent_rows
from advisor.advice.prices.price_rows import PriceRow, standing
from advisor.errors import InputError
from advisor.machine.machine import Machine
from advisor.request.ownership import Ownership


def rent_on_record(machine: Machine) -> PriceRow | None:
    """Newest hourly rent of a machine that a provider owns; None for others or without one."""
    name = machine.rented.casefold()
    rows = [row for row in rent_rows() if name and row.instance.casefold() == name]
    return max(rows, key=standing, default=None)


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
