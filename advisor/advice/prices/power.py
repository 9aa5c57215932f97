"""Electric power of machines, idle and busy.

data/prices/power.csv holds what was published: what Macs, mini PCs, laptops and boards draw, what a
desktop or server draws besides its cards, and what cards draw that wait. A card that computes is
taken at its board power: two RTX 3090 drew 760 W at the wall where their limits add up to 700 W.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.machine.machine import Gpu, Machine
from advisor.request.ownership import Form, form_of
from advisor.units import Array

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
    """Electric power of a machine."""

    idle: Array  # while idle [W]
    busy: Array  # while answering [W]


@cache
def power_rows() -> Mapping[tuple[str, str], PowerRow]:
    """Rows by kind and name."""
    return {(row.what, row.name): row for row in read(DATA / "prices/power.csv", PowerRow)}


def draw_of(machine: Machine) -> PowerDraw:
    """Power of a machine: its own row, else the sum of its parts."""
    if machine.unified:
        return _of_chip(machine.gpus[0])
    if form_of(machine) is Form.LAPTOP:
        return _of_laptop(machine.gpus)
    if form_of(machine) is Form.SERVER:
        return _with_cards(machine.gpus, "server")
    return _with_cards(machine.gpus, "board" if BOARD.match(machine.host.name) else "desktop")


BOARD = re.compile(r"Raspberry Pi|Orange Pi|Rock")
"""Names of single-board computers."""


def _with_cards(cards: Iterable[Gpu], form: str = "desktop") -> PowerDraw:
    """Power of a desktop, a server or a single board with some cards."""
    host, cards = power_rows()["host", form], tuple(cards)
    idle = host.idle_w + sum(map(_idle, cards))
    busy = (host.busy_w or host.idle_w) + sum(card.board_power or 0.0 for card in cards)
    return PowerDraw(idle=idle, busy=max(busy, idle))


def _of_laptop(cards: Iterable[Gpu]) -> PowerDraw:
    """Power of a laptop, whose idle power includes its own GPU; cards in a dock come on top."""
    row, cards = power_rows()["host", "laptop"], tuple(cards)
    docked = (card for card in cards if "Laptop" not in card.name)
    idle = row.idle_w + sum(map(_idle, docked))
    busy = (row.busy_w or row.idle_w) + sum(card.board_power or 0.0 for card in cards)
    return PowerDraw(idle=idle, busy=max(busy, idle))


def _of_chip(chip: Gpu) -> PowerDraw:
    """Power of a machine with unified memory: that of its chip, or of chips of its kind."""
    rows = power_rows()
    row = next(rows["machine", name] for name in _kinds(chip) if ("machine", name) in rows)
    busy = row.busy_w or chip.board_power or row.idle_w
    return PowerDraw(idle=row.idle_w, busy=max(busy, row.idle_w))


def _kinds(chip: Gpu) -> tuple[str, ...]:
    """Names of rows for a chip, the closest first: with its cores ("Apple M2 Ultra 76c"), without
    ("Apple M4"), its class ("Apple Max"), its maker, any mini PC.
    """
    words = chip.name.split()
    bare = " ".join(word for word in words if not CORES.fullmatch(word))
    size = next((f"{words[0]} {word}" for word in words if word in CLASSES), chip.name)
    return chip.name, bare, size, chip.vendor, "mini PC"


CORES, CLASSES = re.compile(r"\d+c"), ("Pro", "Max", "Ultra")
"""Number of cores in a chip's name, and the classes of Apple's chips."""


def _idle(gpu: Gpu) -> float:
    """Power of a card that waits with a model loaded: of its own row, its family's, its kind's."""
    rows, kind = power_rows(), "data center" if gpu.family in DATA_CENTER else "consumer"
    named = (rows.get(("gpu", name)) for name in (gpu.name, gpu.family))
    return next((row.idle_w for row in named if row), rows["gpu", kind].idle_w)
