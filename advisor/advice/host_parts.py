"""Power supplies, boards, cases, docks, memory and drives: what further cards need, and its price.

Which supply a machine has is not known: it is taken to have the smallest sold that its cards need.
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


@dataclass(frozen=True, kw_only=True, slots=True)
class HostPartRow:
    """One row of data/prices/host_parts.csv: `size` in watts, cards, GiB or GB, by `part`; no `usd`
    where no dated page was found.
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


@lru_cache(maxsize=1024)
def smallest(part: str, size: float) -> HostPartRow | None:
    """The smallest part that is large enough; None where none sold is."""
    rows = (row for row in host_part_rows() if row.part == part and row.size >= size)
    return next(rows, None)


def supply_watts(cards: Iterable[Gpu]) -> float:
    """Watts that a power supply for these cards has [W]: the limits of the cards and 400 W."""
    return HOST_WATTS + sum(card.board_power or 0.0 for card in cards)


NONE_LARGE_ENOUGH = HostPartRow(
    part="psu", name="two power supplies", size=0, usd=None, condition="", currency="", seller="",
    date="", retrieved="", source="", note="no single one is large enough",
)  # fmt: skip


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
    has, needs = smallest("psu", supply_watts(before)), supply_watts(after)
    if has is None or needs > has.size:
        parts.append(smallest("psu", needs) or NONE_LARGE_ENOUGH)
    return [row for row in parts if row is not None]


def _slots(cards: int) -> int:
    """Slots a new board has: up to four cards share the slots of one for two, by risers."""
    return 2 if cards <= 4 else cards
