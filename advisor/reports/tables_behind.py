"""The tables behind the first page, in words: every form of a report shows these, in this order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from advisor import formatting
from advisor.reports.document import ReportDocument
from advisor.reports.front_page import OPTION_HEADINGS, option_cells
from advisor.reports.parts import PlacementCard
from advisor.reports.words import PLACEMENTS, TIERS, time_part

NONE = "-"


@dataclass(frozen=True, kw_only=True)
class WordTable:
    """A table of words.

    Attributes:
        title: above it.
        headings: of the columns.
        rows: cells, as many as headings.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(document: ReportDocument) -> tuple[WordTable, ...]:
    """The tables of a document that have rows, in the order of use."""
    return tuple(table for table in _tables(document) if table.rows)


def _tables(document: ReportDocument) -> Iterator[WordTable]:
    yield _table("All options", OPTION_HEADINGS, [option_cells(row) for row in document.options])
    yield _table(
        "Every runtime and placement",
        ("Runtime", "Placement", "Speed", "Range", "First token", "Bound by"),
        [_card_cells(card) for card in document.placements],
    )
    yield _table(
        "Where the bytes are",
        ("Placement", "Tier", "Part", "Size", "Tier holds"),
        [
            (
                PLACEMENTS[use.placement],
                TIERS[use.tier],
                use.part,
                formatting.memory(use.bytes),
                NONE if use.capacity_bytes is None else formatting.memory(use.capacity_bytes),
            )
            for use in document.memory
            if use.bytes
        ],
    )
    yield _table(
        "Where the time of a token goes",
        ("Placement", "Part", "Time"),
        [
            (PLACEMENTS[part.placement], time_part(part.part), formatting.seconds(part.seconds))
            for part in document.token_time
        ],
    )
    yield _table(
        "What this rests on",
        ("Figure", "Value", "Kind", "Source", "Date"),
        [
            (figure.what, figure.value, figure.kind, figure.source, figure.date)
            for figure in document.assumptions
        ],
    )
    request = document.request or document.inputs
    yield _table("What was asked for", ("Input", "Value"), list(request.items()))


def _table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> WordTable:
    cells = tuple(tuple(cell or NONE for cell in row) for row in rows)
    return WordTable(title=title, headings=tuple(headings), rows=cells)


def commands(document: ReportDocument) -> tuple[tuple[str, str], ...]:
    """Headings and commands: one for each runtime and placement that fits, then the comparison."""
    own = [
        (f"{card.runtime}, {PLACEMENTS[card.placement]}", card.command)
        for card in document.placements
        if card.fits and card.command
    ]
    whole = ("The same comparison on the command line", document.command)
    return (*own, whole) if document.command else tuple(own)


def _card_cells(card: PlacementCard) -> tuple[str, ...]:
    where = (card.runtime, PLACEMENTS[card.placement])
    if not card.fits or card.decode_tps is None:
        short = (
            "" if card.missing_bytes is None else f"{formatting.memory(card.missing_bytes)} short"
        )
        return (*where, "no figure" if card.fits else "does not fit", short, "", "")
    low, high = card.decode_tps_low, card.decode_tps_high
    return (
        *where,
        formatting.tokens_per_second(card.decode_tps),
        "" if low is None or high is None else formatting.range_of(low, high),
        "" if card.ttft_s is None else formatting.seconds(card.ttft_s),
        card.bottleneck,
    )
