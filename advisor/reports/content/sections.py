"""Sections behind the first page, in the order of use, common to all file formats."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from advisor import formatting
from advisor.reports.charts import charts
from advisor.reports.charts.charts import BarChart, LineChart
from advisor.reports.content.front_page import OPTION_HEADINGS, option_cells, shown_cards
from advisor.reports.document.document import ReportDocument
from advisor.reports.document.parts import (
    PLACEMENTS,
    TIERS,
    AssumptionRow,
    PlacementCard,
    PlacementKey,
    Tier,
    TierUse,
    TimePart,
    input_name,
    interval,
    time_part,
)

# Tables behind the first page, in words; `sections` puts them in order.

NONE = "-"
RUNTIMES = "Every runtime and placement"


@dataclass(frozen=True, kw_only=True)
class WordTable:
    """Table of words."""

    title: str  # heading
    headings: tuple[str, ...]  # headings of the columns
    rows: tuple[tuple[str, ...], ...]  # cells of each row, one per heading


def options(document: ReportDocument) -> WordTable:
    """Options, the present machine first."""
    return _table("All options", OPTION_HEADINGS, map(option_cells, document.options))


def sensitivity(document: ReportDocument) -> WordTable:
    """Gain of the verdict's option at both ends of each input."""
    return _table(
        "What it leaves in a month, compared with what you have",
        ("Input", "From and to", "At the low end", "At the high end"),
        (
            (
                input_name(row),
                interval(row),
                formatting.money(row.gain_low_usd),
                formatting.money(row.gain_high_usd),
            )
            for row in document.sensitivity
        ),
    )


def runtimes(document: ReportDocument) -> WordTable:
    """Runtimes in each placement, fastest first, impossible ones last."""
    cards = sorted(document.placements, key=lambda card: (not card.fits, -(card.decode_tps or 0.0)))
    return _table(
        RUNTIMES,
        ("Runtime", "Placement", "Speed", "Range", "First token", "Bound by, or why not"),
        map(_card_cells, cards),
    )


def _card_cells(card: PlacementCard) -> tuple[str, ...]:
    where = (card.runtime, PLACEMENTS[card.placement])
    if not card.fits or card.decode_tps is None:
        missing = card.missing_bytes
        short = "" if missing is None else f"{formatting.memory(missing)} short"
        return (*where, formatting.UNKNOWN if card.fits else card.obstacle, short, "",
                card.explanation)  # fmt: skip
    low, high = card.decode_tps_low, card.decode_tps_high
    return (
        *where,
        formatting.tokens_per_second(card.decode_tps),
        "" if low is None or high is None else formatting.range_of(low, high),
        "" if card.ttft_s is None else formatting.seconds(card.ttft_s),
        card.bottleneck,
    )


def bytes_held(document: ReportDocument) -> WordTable:
    """Bytes of each part in each tier, per placement."""
    held: dict[tuple[PlacementKey, Tier], list[TierUse]] = {}
    for use in document.memory:
        if use.bytes:
            held.setdefault((use.placement, use.tier), []).append(use)
    return _table(
        "Where the bytes are",
        ("Placement", "Tier", "Holds", "Of", "Parts"),
        (
            (
                PLACEMENTS[placement],
                TIERS[tier],
                formatting.memory(sum(use.bytes for use in uses)),
                next((formatting.memory(use.capacity_bytes) for use in uses
                      if use.capacity_bytes is not None), NONE),
                ", ".join(f"{use.part} {formatting.memory(use.bytes)}" for use in uses),
            )
            for (placement, tier), uses in held.items()
        ),
    )  # fmt: skip


def token_times(document: ReportDocument) -> WordTable:
    """Time of a token by part, per placement, longest part first."""
    spent: dict[PlacementKey, list[TimePart]] = {}
    for part in document.token_time:
        spent.setdefault(part.placement, []).append(part)
    return _table(
        "Where the time of a token goes",
        ("Placement", "Time", "Parts"),
        (
            (
                PLACEMENTS[placement],
                formatting.seconds(sum(part.seconds for part in parts)),
                ", ".join(
                    f"{time_part(part.part)} {formatting.seconds(part.seconds)}"
                    for part in sorted(parts, key=lambda part: -part.seconds)
                ),
            )
            for placement, parts in spent.items()
        ),
    )


def request(document: ReportDocument) -> WordTable:
    """Inputs of the comparison, in words where the report has them."""
    inputs = document.request or document.inputs
    return _table("Inputs", ("Input", "Value"), inputs.items())


def figures(document: ReportDocument) -> tuple[WordTable, WordTable]:
    """Figures behind the shown placements, and those behind the others."""
    own = [figure for figure in document.assumptions if figure.shown]
    others = [figure for figure in document.assumptions if not figure.shown]
    first, rest = (own, others) if own else (others, [])  # an older report does not tell them apart
    return _figures("Values and sources", first), _figures("Values of other runtimes", rest)


def _figures(title: str, figures: Iterable[AssumptionRow]) -> WordTable:
    return _table(
        title,
        ("Figure", "Value", "Kind", "Source", "Date"),
        ((row.what, row.value, row.kind, row.source, row.date) for row in figures),
    )


def _table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> WordTable:
    cells = tuple(tuple(cell or NONE for cell in row) for row in rows)
    return WordTable(title=title, headings=tuple(headings), rows=cells)


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """Section with a heading."""

    title: str  # heading
    text: str = ""  # sentence below the heading; empty for none
    charts: tuple[BarChart | LineChart, ...] = ()  # charts, first
    # tables, next; a table with the section's title needs no heading of its own
    tables: tuple[WordTable, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()  # commands, last, each with its heading


def sections(document: ReportDocument) -> tuple[ReportSection, ...]:
    """Sections of a document that are not empty."""
    return tuple(
        section
        for section in _sections(document)
        if section.charts or section.tables or section.commands
    )


def _sections(document: ReportDocument) -> Iterator[ReportSection]:
    own = shown_cards(document)
    others = [card for card in document.placements if card not in own]
    whole = ("The same comparison on the command line", document.command)
    yield ReportSection(
        title="Commands",
        commands=(*_commands(own), *([whole] if document.command else [])),
    )
    yield ReportSection(
        title="Memory and time",
        charts=tuple(_charts(document)),
        tables=_filled(bytes_held(document), token_times(document)),
    )
    if document.sensitivity:
        yield ReportSection(
            title=f"What the verdict depends on: {document.turns_on}",
            text=document.what_changes,
            charts=(charts.sensitivity(document.sensitivity),),
            tables=_filled(sensitivity(document)),
        )
    for table in (options(document), runtimes(document)):
        more = tuple(_commands(others)) if table.title == RUNTIMES else ()
        yield ReportSection(title=table.title, tables=_filled(table), commands=more)
    for table in (request(document), *figures(document)):
        yield ReportSection(title=table.title, tables=_filled(table))


def _filled(*tables: WordTable) -> tuple[WordTable, ...]:
    return tuple(table for table in tables if table.rows)


def _charts(document: ReportDocument) -> Iterator[BarChart | LineChart]:
    if document.token_time:
        yield charts.token_time(document.token_time)
    if document.memory:
        yield charts.memory_use(document.memory)
    if document.layer_sweep is not None and len(document.layer_sweep.x) > 1:
        yield charts.layers(document.layer_sweep)
    if curves := [line for line in document.cost_curves if line.x]:
        yield charts.costs(curves)


def _commands(cards: tuple[PlacementCard, ...] | list[PlacementCard]) -> Iterator[tuple[str, str]]:
    for card in cards:
        if card.fits and card.command:
            yield f"{card.runtime}, {PLACEMENTS[card.placement]}", card.command
