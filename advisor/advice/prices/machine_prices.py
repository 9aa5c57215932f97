"""Prices of whole machines: for sale with unified memory, or for rent with their cards.

data/hardware/machines.csv has them beside the parts; data/prices/prices.csv has further ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.advice.prices.fresh_prices import RENTS, kept, without
from advisor.advice.prices.price_dates import months_between
from advisor.advice.prices.price_rows import LAUNCH, PriceRow, price_rows, standing
from advisor.machine.catalog import find_gpu, machine_rows
from advisor.machine.rows import MachineRow

AT_LAUNCH = 6
"""A price this many months from a chip's release is taken as the launch price: Macs come with a
chip for months after its first one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineForSale:
    """Machine sold whole.

    Attributes:
        name: common name, with its memory.
        price: price row of its chip.
        preset: row of data/hardware/machines.csv; None for one that only prices.csv has.
    """

    name: str
    price: PriceRow
    preset: MachineRow | None = None


@cache
def machines_for_sale() -> Mapping[str, MachineForSale]:
    """Machines with unified memory for sale, by name, with the newer price of the two tables."""
    listed = [_listed(row) for row in price_rows() if row.kind == "purchase" and _whole(row)]
    presets = [
        MachineForSale(name=_sized(row), price=_price_of(row), preset=row)
        for row in machine_rows().values()
        if row.per == "once" and row.usd and find_gpu(row.gpu).unified
    ]
    machines: dict[tuple[str, float | None, str], MachineForSale] = {}
    for machine in (*listed, *presets):
        key = (machine.price.gpu, machine.price.memory_gib, machine.name.split()[0])
        before = machines.get(key)
        if before is None or standing(machine.price) > standing(before.price):
            machines[key] = machine
    return {machine.name: machine for machine in machines.values()}


def _whole(row: PriceRow) -> bool:
    return find_gpu(row.gpu).unified and not row.provider.endswith("high")


def _listed(row: PriceRow) -> MachineForSale:
    """Name of a row of prices.csv, as its seller lists it."""
    what = row.instance.removesuffix(", whole machine").removesuffix(", without storage")
    return MachineForSale(name=f"{what} ({row.gpu})", price=row)


def _sized(row: MachineRow) -> str:
    size = f"{row.ram_gib:g}"
    known = f"{size}GB" in row.name.replace(" ", "") or row.ram_gib is None
    return row.name if known else f"{row.name}, {size} GB"


def _price_of(row: MachineRow) -> PriceRow:
    """Price of a preset, dated where it stands on the page of the parts."""
    date = row.source_date if row.source == row.price_source else ""
    per_hour = row.per == "hour"
    months = months_between(find_gpu(row.gpu).released, date)
    launch = not per_hour and months is not None and abs(months) <= AT_LAUNCH
    return PriceRow(
        gpu=row.gpu,
        kind="rent" if per_hour else "purchase",
        provider=row.note.split(";")[0] if per_hour else LAUNCH if launch else "retail",
        instance=row.name,
        condition="" if per_hour else "list" if launch else "new",
        gpu_count=row.gpu_count,
        memory_gib=None if per_hour else row.ram_gib,
        usd=row.usd or 0.0,
        currency="USD",
        per=row.per,
        spot=False,
        date=date,
        retrieved=row.retrieved,
        source=row.price_source,
    )


@cache
def rent_rows() -> tuple[PriceRow, ...]:
    """Available machines for rent, cheapest first; fetched rows replace shipped ones of the same
    provider.
    """
    fresh = kept(RENTS, PriceRow)
    rows = [row for row in price_rows() if row.kind == "rent"]
    clouds = [_price_of(row) for row in machine_rows().values() if row.per == "hour" and row.usd]
    older = without((*rows, *clouds), (row.provider for row in fresh))
    lasting = (row for row in (*fresh, *older) if not row.spot)
    return tuple(sorted(lasting, key=lambda row: row.usd))
