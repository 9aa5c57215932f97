"""Electric power of machines, idle and busy.

data/prices/power.csv holds what was published: what Macs draw, what a desktop draws besides its
cards, and what cards draw when idle. A card that computes is taken at its board power: two RTX 3090
drew 760 W at the wall where their limits add up to 700 W.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.machine.machine import Gpu, Machine
from advisor.units import HOURS_PER_MONTH, Array

DATA_CENTER = (
    "Pascal HBM", "Ampere HBM", "Hopper", "Volta", "CDNA 1", "CDNA 2", "CDNA 3", "CDNA 4",
)  # fmt: skip
"""Families whose cards idle as those of data centers do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PowerRow:
    """One row of data/prices/power.csv: watts of a kind of GPU, of a host or a whole machine."""

    what: str
    name: str
    idle_w: float
    busy_w: float | None
    source: str
    date: str
    note: str


@dataclass(frozen=True, kw_only=True)
class PowerDraw:
    """Electric power of a machine.

    Attributes:
        idle: while idle [W].
        busy: while answering [W].
    """

    idle: float
    busy: float


@cache
def power_rows() -> Mapping[tuple[str, str], PowerRow]:
    """Rows by kind and name."""
    return {(row.what, row.name): row for row in read(DATA / "prices/power.csv", PowerRow)}


def draw_of(machine: Machine) -> PowerDraw:
    """Power of a machine: its own row, else the sum of its parts."""
    return _of_chip(machine.gpus[0]) if machine.unified else draw_with(machine.gpus)


def draw_with(cards: Iterable[Gpu]) -> PowerDraw:
    """Power of a desktop with some cards."""
    host, cards = power_rows()["host", "desktop"], tuple(cards)
    idle = host.idle_w + sum(map(_idle, cards))
    busy = (host.busy_w or host.idle_w) + sum(card.board_power or 0.0 for card in cards)
    return PowerDraw(idle=idle, busy=max(busy, idle))


def _of_chip(chip: Gpu) -> PowerDraw:
    """Power of a machine with unified memory; an unmeasured one idles like a bare desktop."""
    rows = power_rows()
    row = rows.get(("machine", chip.name)) or rows.get(("machine", chip.vendor))
    idle = row.idle_w if row else rows["host", "desktop"].idle_w
    busy = (row.busy_w if row else None) or chip.board_power or idle
    return PowerDraw(idle=idle, busy=max(busy, idle))


def _idle(gpu: Gpu) -> float:
    kind = "data center" if gpu.family in DATA_CENTER else "consumer"
    return power_rows()["gpu", kind].idle_w


def monthly_energy(watts: Array, hours: Array, usd_per_kwh: Array) -> Array:
    """Cost of a power over some hours of a month [USD/month]: W / 1000 x h x price."""
    return watts / 1000.0 * hours * usd_per_kwh


def idle_hours(hours_on: Array, busy_hours: Array) -> Array:
    """Hours per month that a machine is on and idle [h/month]."""
    return np.maximum(np.minimum(hours_on, HOURS_PER_MONTH) - busy_hours, 0.0)
