"""Sections behind the first page, in the order of use, common to all file formats."""

from collections.abc import Iterator
from dataclasses import dataclass

from advisor.reports.charts import charts
from advisor.reports.charts.chart_parts import BarChart, LineChart
from advisor.reports.content import section_tables
from advisor.reports.content.front_page import shown_cards
from advisor.reports.content.section_tables import WordTable
from advisor.reports.document.document import ReportDocument
from advisor.reports.document.parts import PlacementCard
from advisor.reports.document.words import PLACEMENTS


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """Section with a heading.

    Attributes:
        title: heading.
        text: sentence below the heading; empty for none.
        charts: charts, first.
        tables: tables, next; a table with the section's title needs no heading of its own.
        commands: commands, last, each with its heading.
    """

    title: str
    text: str = ""
    charts: tuple[BarChart | LineChart, ...] = ()
    tables: tuple[WordTable, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()


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
        tables=_filled(section_tables.bytes_held(document), section_tables.token_times(document)),
    )
    if document.sensitivity:
        yield ReportSection(
            title=f"What the verdict depends on: {document.turns_on}",
            text=document.what_changes,
            charts=(charts.sensitivity(document.sensitivity),),
            tables=_filled(section_tables.sensitivity(document)),
        )
    for table in (section_tables.options(document), section_tables.runtimes(document)):
        more = tuple(_commands(others)) if table.title == section_tables.RUNTIMES else ()
        yield ReportSection(title=table.title, tables=_filled(table), commands=more)
    for table in (section_tables.request(document), *section_tables.figures(document)):
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
