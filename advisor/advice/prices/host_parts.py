"""Power supplies, boards, cases, docks, memory and drives: what further cards need, and its price.

Which supply a machine has is not known: it is taken to have the smallest sold that its cards need.
Where no single one is large enough, a second one goes beside it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from advisor.advice.ownership import OWN_ROOM, Form, in_dock
from advisor.catalog.csv_tables import DATA, read
from advisor.machine.machine import Gpu

HOST_WATTS = 400.0
"""What a power supply has above the limits of its cards, for the rest and for peaks: 750 W go with
a card of 350 W; assumed [W]."""


DESKTOP_CORES, DESKTOP_RAM, DESKTOP_DRIVE = 8, 64, 2000
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
    retrieved: str
    source: str
    note: str


@cache
def host_part_rows() -> tuple[HostPartRow, ...]:
    """All rows, small to large within each kind."""
    rows = read(DATA / "prices/host_parts.csv", HostPartRow)
    return tuple(sorted(rows, key=lambda row: (row.part, row.size)))


@cache
def part_kinds() -> tuple[str, ...]:
    """Kinds of parts, as the table names them."""
    return tuple(dict.fromkeys(row.part for row in host_part_rows()))


@lru_cache(maxsize=1024)
def smallest(part: str, size: float) -> HostPartRow | None:
    """The smallest part that is large enough; None where none sold is."""
    rows = (row for row in host_part_rows() if row.part == part and row.size >= size)
    return next(rows, None)


def supply_watts(cards: Iterable[Gpu]) -> float:
    """Watts that a power supply for these cards has [W]: the limits of the cards and 400 W."""
    return HOST_WATTS + sum(card.board_power or 0.0 for card in cards)


def parts_for(form: Form, before: tuple[Gpu, ...], after: tuple[Gpu, ...]) -> list[HostPartRow]:
    """What must be bought so that a machine holds and feeds its cards, but for the cards.

    Args:
        form: what kind of machine it is.
        before: cards it has now.
        after: cards it shall have.
    """
    if in_dock(form):
        dock = smallest("dock", 1)
        return [dock] if dock and len(after) > len(before) else []
    if form is not Form.DESKTOP:
        return []
    parts: list[HostPartRow | None] = []
    if len(after) > max(OWN_ROOM[form], len(before)):
        parts += [smallest("board", _slots(len(after))), smallest("case", len(after))]
    has = sum(row.size for row in supplies(supply_watts(before)))
    needs = supply_watts(after)
    if needs > has:
        single = smallest("psu", needs)
        parts += [single] if single else supplies(needs - has)
    return [row for row in parts if row is not None]


def supplies(watts: float) -> list[HostPartRow]:
    """Power supplies for so many watts: the smallest that is large enough, after as many of the
    largest as it takes; the second is started by the first.
    """
    rows: list[HostPartRow] = []
    largest = [row for row in host_part_rows() if row.part == "psu"][-1]
    while (last := smallest("psu", watts)) is None:
        rows.append(largest)
        watts -= largest.size
    return [*rows, last]


def desktop_parts(cards: tuple[Gpu, ...]) -> list[HostPartRow]:
    """All of a desktop for these cards, but for them."""
    parts = (
        smallest("cpu", DESKTOP_CORES),
        smallest("ram", DESKTOP_RAM),
        smallest("drive", DESKTOP_DRIVE),
        smallest("board", _slots(len(cards))),
        smallest("case", len(cards)),
    )
    known = [part for part in parts if part is not None]
    return [*known, *supplies(supply_watts(cards))]


def _slots(cards: int) -> int:
    """Slots a new board has: up to four cards share the slots of one for two, by risers."""
    return 2 if cards <= 4 else cards
