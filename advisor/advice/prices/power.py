"""Electric power of machines, idle and busy.

data/prices/power.csv holds what was published: what Macs, mini PCs, laptops and boards draw, what a
desktop or server draws besides its cards, and what cards draw that wait. A card that computes is
taken at its board power: two RTX 3090 drew 760 W at the wall where their limits add up to 700 W.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from advisor.catalog.csv_tables import DATA, read
from advisor.machine.machine import Form, Gpu, Machine, Supply
from advisor.request.money import OWN_ROOM, in_dock
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
    """Power of a machine.

    It is that of its chip, or of chips of its kind, where the chip is all of it; for others, of its
    host and its cards. A laptop's own card is counted in the host.
    """
    rows = power_rows()
    if machine.unified:
        chip = machine.gpus[0]
        row = next(rows["machine", name] for name in _kinds(chip) if ("machine", name) in rows)
        return PowerDraw(
            idle=row.idle_w, busy=max(row.busy_w or chip.board_power or row.idle_w, row.idle_w)
        )
    form: str = machine.form
    if form not in (Form.LAPTOP, Form.SERVER):
        if BOARD.match(machine.host.name):
            form = "board"
        else:
            form = "desktop"
    host = rows["host", form]
    cards = machine.gpus
    idle = host.idle_w + sum(_idle(card) for card in cards if "Laptop" not in card.name)
    busy = (host.busy_w or host.idle_w) + sum(card.board_power or 0.0 for card in cards)
    return PowerDraw(idle=idle, busy=max(busy, idle))


BOARD = re.compile(r"Raspberry Pi|Orange Pi|Rock")  # names of single-board computers


def _kinds(chip: Gpu) -> tuple[str, ...]:
    """Rows for a chip, the closest first: "Apple M2 Ultra 76c", "Apple M4", "Apple Max"."""
    words = chip.name.split()
    bare = " ".join(word for word in words if not CORES.fullmatch(word))
    size = next((f"{words[0]} {word}" for word in words if word in CLASSES), chip.name)
    return chip.name, bare, size, chip.vendor, "mini PC"


CORES = re.compile(r"\d+c")
CLASSES = ("Pro", "Max", "Ultra")
"""Number of cores in a chip's name, and the classes of Apple's chips."""


def _idle(gpu: Gpu) -> float:
    """Power of a card that waits with a model loaded: of its own row, its family's, its kind's."""
    rows = power_rows()
    if gpu.family in DATA_CENTER:
        kind = "data center"
    else:
        kind = "consumer"
    names = (gpu.name, gpu.family, kind)
    return next(rows["gpu", name] for name in names if ("gpu", name) in rows).idle_w


# Host parts that further cards need (power supply, board, case, dock, memory, drive), with prices.
#
# The machine's own power supply is unknown and assumed to be the smallest on sale that its cards
# need; a PC without a card has a smaller one. If no single supply is large enough, a second one is
# added.

HOST_WATTS = 400.0
"""Power of a supply beyond the limits of its cards, for the host and for peaks, as 750 W are sold
for a card of 350 W; assumed [W].
"""
SOCKET_WATTS = 150.0
BESIDE_SOCKETS = 100.0
"""Power that a processor of a workstation takes at its limit (135 W of an E5-2690 v4), and what its
board, memory and drives take: for supplies that cannot be changed, without the margin with which
others are sold; assumed [W]."""
FIRST_SUPPLY = 625.0
"""Power of the supply of a PC that has no card yet: 550 to 650 W, for a card of up to 225 W
(https://www.newegg.com/insider/power-requirements-for-nvidia-geforce-rtx-30-series-gpus/,
2026-11-23) [W]."""


SHARED_SLOTS = 4
"""Most cards on the board of a desktop; more take a server board, which comes with its processor
and memory, and an open frame."""
DESKTOP_SLOTS = OWN_ROOM[Form.DESKTOP]  # cards on the board of a desktop without risers
DESKTOP_CORES = 8
DESKTOP_RAM = 64
DESKTOP_DRIVE = 2000
"""Cores, memory [GiB] and drive [GB] of a desktop that is built for cards; assumed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostPartRow:
    """One row of data/prices/host_parts.csv: `size` in watts, cards, cores, GiB or GB, by `part`;
    no `usd` where no dated page was found.
    """

    part: str
    name: str
    size: float
    usd: float | None
    condition: str
    currency: str
    seller: str
    date: str
    source: str


@cache
def host_part_rows() -> tuple[HostPartRow, ...]:
    """All rows, sorted by size within each kind."""
    rows = read(DATA / "prices/host_parts.csv", HostPartRow)
    return tuple(sorted(rows, key=lambda row: (row.part, row.size)))


@lru_cache(maxsize=1024)
def smallest(part: str, size: float) -> HostPartRow | None:
    """Smallest part that is large enough; None if none is."""
    rows = (row for row in host_part_rows() if row.part == part and row.size >= size)
    return next(rows, None)


def supply_watts(cards: Iterable[Gpu]) -> float:
    """Power of the supply that cards need: their limits and 400 W [W]."""
    return HOST_WATTS + sum(card.board_power or 0.0 for card in cards)


def workstation_watts(cards: Iterable[Gpu], sockets: int) -> float:
    """Power that a workstation takes with its cards at their limits [W]."""
    host = SOCKET_WATTS * sockets + BESIDE_SOCKETS
    return host + sum(card.board_power or 0.0 for card in cards)


def powered(before: tuple[Gpu, ...]) -> float:
    """Power of the supply that a machine with these cards usually has [W]."""
    if not before:
        return FIRST_SUPPLY
    return sum(row.size for row in supplies(supply_watts(before)))


def parts_for(
    form: Form,
    before: tuple[Gpu, ...],
    after: tuple[Gpu, ...],
    slots: int = 0,
    supply: Supply | None = None,
) -> tuple[HostPartRow, ...]:
    """Parts to buy so that a machine can hold and power new cards, without the cards themselves.

    Its board has the usual slots, or more; no other supply is bought where it has its maker's own,
    or one that is large enough.
    """
    if in_dock(form):
        dock = smallest("dock", 1)
        docked = further(before, after)
        if dock and docked:
            return (dock, *supplies(supply_watts(docked)))
        return ()
    if form not in (Form.DESKTOP, Form.OFFICE, Form.SLIM):
        return ()
    parts = _housing(len(before), len(after), max(slots, OWN_ROOM[form]))
    has = supply.watts if supply else powered(before)
    needs = supply_watts(after)
    if needs > has and not (supply and supply.proprietary):
        single = smallest("psu", needs)
        parts += [single] if single else supplies(needs - has)
    return tuple(row for row in parts if row is not None)


def _housing(before: int, after: int, slots: int) -> list[HostPartRow | None]:
    """Board, case and risers for more cards than the machine has, or its board has slots for.

    The present board stays for the four cards that share it through risers, and for as many as it
    has slots; a board of the same size would be no help.
    """
    board: list[HostPartRow | None] = []
    if after > max(slots, before, SHARED_SLOTS):
        board = [smallest("board", after)]
        slots = after
    room = max(before, OWN_ROOM[Form.DESKTOP])
    if after <= room:
        return board
    case = smallest("case", after)
    risers = _risers(after, slots)
    return [
        *board,
        *([case] if case != smallest("case", room) else []),
        *risers[len(_risers(before, slots)) :],
    ]


@lru_cache(maxsize=1024)
def supplies(watts: float) -> tuple[HostPartRow, ...]:
    """Power supplies: as many of the largest as needed, and one that covers the rest."""
    rows: list[HostPartRow] = []
    largest = [row for row in host_part_rows() if row.part == "psu"][-1]
    while (last := smallest("psu", watts)) is None:
        rows.append(largest)
        watts -= largest.size
    return (*rows, last)


def desktop_parts(cards: tuple[Gpu, ...]) -> tuple[HostPartRow, ...]:
    """Parts of a new desktop for these cards, without the cards."""
    served = len(cards) > SHARED_SLOTS
    parts = (
        None if served else smallest("cpu", DESKTOP_CORES),
        None if served else smallest("ram", DESKTOP_RAM),
        smallest("drive", DESKTOP_DRIVE),
        smallest("board", len(cards) if served else DESKTOP_SLOTS),  # two share four, by risers
        smallest("case", len(cards)),
        *_risers(len(cards)),
    )
    return (*filter(None, parts), *supplies(supply_watts(cards)))


def _risers(cards: int, slots: int = DESKTOP_SLOTS) -> list[HostPartRow | None]:
    """Riser for each card that has no slot on the board; in an open frame for each card."""
    if cards > SHARED_SLOTS:
        count = cards
    else:
        count = max(cards - slots, 0)
    return [smallest("riser", 1)] * count


def further(present: Iterable[Gpu], gpus: Iterable[Gpu]) -> tuple[Gpu, ...]:
    """GPUs that are added to the present ones, by their names."""
    left = list(gpus)
    for gpu in present:
        left.remove(next(other for other in left if other.name == gpu.name))
    return tuple(left)
