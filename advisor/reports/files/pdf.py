"""Report as PDF, set by fpdf2 without a browser or system libraries."""

from collections.abc import Sequence
from io import BytesIO

from fpdf import FPDF
from fpdf.fonts import FontFace

from advisor.reports.charts import charts
from advisor.reports.charts.chart_parts import BarChart, LineChart
from advisor.reports.charts.svg import png
from advisor.reports.content.front_page import CardWords, FrontPage, front_page, option_note
from advisor.reports.content.sections import ReportSection, sections
from advisor.reports.files.links import is_public
from advisor.reports.files.paper import (
    FONT,
    RULE,
    bars,
    blank,
    code,
    heading,
    line,
    printable,
    table,
)
from advisor.reports.store.saved import SavedReport, in_its_currency

CHART_WIDTH = 88.0
"""Width of a line chart, two of which stand side by side [mm]."""
CHART_HEIGHT = 75.0
"""Largest height of a line chart [mm]."""


@in_its_currency
def pdf(report: SavedReport) -> bytes:
    """PDF file: the first page, then the sections, on A4."""
    paper = blank(report)
    _front(paper, front_page(report))
    document = report.document
    if is_public(document.link):
        line(paper, "Open this comparison", size=9, link=document.link)
    paper.add_page()
    for section in sections(document):
        _section(paper, section)
    return bytes(paper.output())


def _front(paper: FPDF, page: FrontPage) -> None:
    line(paper, page.name, size=11, bold=True)
    if page.title:
        line(paper, page.title, size=9, soft=True)
    paper.ln(1)
    line(paper, page.verdict, size=14, bold=True)
    if page.reasons:
        paper.ln(1)
        line(paper, page.reasons, size=9.5)
    paper.ln(2)
    _cards(paper, page.cards)
    for text in page.results:
        line(paper, text, size=10)
    if page.options:
        heading(paper, "What it would cost to do better")
        paper.ln(1)
        bars(paper, charts.options(page.options), [option_note(row) for row in page.options])
    if page.unable:
        line(paper, page.unable, size=9, soft=True)
    if page.notes:
        heading(paper, "Notes")
        line(paper, page.notes, size=9)
    for fact in page.facts:
        line(paper, fact, size=9, soft=True)
    promise = "Predictions, each with the range that holds 80 % of measurements like it."
    line(paper, promise, size=9, soft=True)


def _cards(paper: FPDF, cards: Sequence[CardWords]) -> None:
    """Table of the placements side by side."""
    if not cards:
        return
    paper.set_font(FONT, size=8)
    paper.set_draw_color(*RULE)
    big = FontFace(emphasis="BOLD", size_pt=13)
    with paper.table(
        first_row_as_headings=False, line_height=4.6, padding=1.5, text_align="LEFT",
        v_align="TOP", borders_layout="MINIMAL",
    ) as cells_of:  # fmt: skip
        for cells, style in (
            ([card.name for card in cards], FontFace(emphasis="BOLD")),
            ([card.figure for card in cards], big),
            ([card.range for card in cards], FontFace(emphasis="BOLD")),
            (["\n".join(card.lines) for card in cards], None),
        ):
            row = cells_of.row()
            for cell in cells:
                row.cell(printable(cell), style=style)
    paper.ln(2)


def _section(paper: FPDF, section: ReportSection) -> None:
    heading(paper, section.title, size=12)
    if section.text:
        line(paper, section.text, size=9)
    for chart in section.charts:
        if isinstance(chart, BarChart):
            heading(paper, chart.title)
            bars(paper, chart)
    _lines(paper, [chart for chart in section.charts if isinstance(chart, LineChart)])
    for words in section.tables:
        if words.title != section.title:
            heading(paper, words.title)
        table(paper, words.headings, words.rows)
    for name, command in section.commands:
        heading(paper, name, size=9)
        code(paper, command)


def _lines(paper: FPDF, line_charts: Sequence[LineChart]) -> None:
    """Line charts, two in a row."""
    for place in range(0, len(line_charts), 2):
        if paper.will_page_break(CHART_HEIGHT):
            paper.add_page()
        top, bottom = paper.get_y(), paper.get_y()
        for column, chart in enumerate(line_charts[place : place + 2]):
            paper.set_xy(paper.l_margin + column * (paper.epw - CHART_WIDTH), top)
            paper.set_font(FONT, "B", 10.5)
            paper.cell(CHART_WIDTH, 6, printable(chart.title))
            picture = paper.image(
                BytesIO(png(chart)), x=paper.get_x() - CHART_WIDTH, y=top + 7, w=CHART_WIDTH,
                alt_text=printable(chart.alt),
            )  # fmt: skip
            bottom = max(bottom, top + 7 + picture.rendered_height)
        paper.set_xy(paper.l_margin, bottom + 2)
