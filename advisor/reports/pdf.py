"""A report as PDF, set by a library that needs neither a browser nor anything of the system.

Fonts are those that Matplotlib brings along; text is never read as markup.
"""

import logging
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
from fpdf import FPDF
from fpdf.enums import XPos, YPos
from fpdf.fonts import FontFace

from advisor.reports import charts
from advisor.reports.chart_parts import BarChart, LineChart
from advisor.reports.front_page import (
    OPTION_HEADINGS,
    CardWords,
    FrontPage,
    front_page,
    option_cells,
)
from advisor.reports.html import behind
from advisor.reports.links import is_public
from advisor.reports.saved import SavedReport
from advisor.reports.svg import png
from advisor.reports.tables_behind import commands, tables

FONT, MONO = "DejaVu", "DejaVu Mono"
MARGIN = 14.0
"""Of an A4 page [mm]."""
SOFT, RULE = (80, 80, 80), (200, 200, 200)
CHART_WIDTH = 110.0
"""Of the chart on the first page [mm]."""
WIDTHS = {
    OPTION_HEADINGS: (32, 30, 30, 26, 36, 28),
    ("Figure", "Value", "Kind", "Source", "Date"): (46, 26, 22, 66, 22),
}
"""Of the columns of tables that are not even."""


def pdf(report: SavedReport) -> bytes:
    """The first page, then charts, tables and commands, on A4."""
    paper = _paper(report)
    _front(paper, front_page(report))
    document = report.document
    if is_public(document.link):
        _line(paper, "Open this comparison", size=9, link=document.link)
    paper.add_page()
    for chart in behind(document):
        _heading(paper, chart.title)
        _chart(paper, chart)
    for table in tables(document):
        _heading(paper, table.title)
        _table(paper, table.headings, table.rows)
    for heading, command in commands(document):
        _heading(paper, heading, size=9)
        paper.set_font(MONO, size=7.5)
        paper.multi_cell(0, 4, command, new_x=XPos.LMARGIN, new_y=YPos.NEXT)
    return bytes(paper.output())


class _Paper(FPDF):
    """A4 with the number of each page at its foot."""

    def footer(self) -> None:
        """Called by the library at the end of each page."""
        self.set_y(-10)
        self.set_font(FONT, size=7)
        self.set_text_color(*SOFT)
        self.cell(0, 4, f"{self.page_no()} / {{nb}}", align="R")


def _paper(report: SavedReport) -> FPDF:
    # It says of every letter that the font lacks; the letter is drawn as a box all the same.
    logging.getLogger("fpdf").setLevel(logging.ERROR)
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    paper = _Paper(format="A4")
    fonts = Path(mpl.get_data_path()) / "fonts" / "ttf"
    paper.add_font(FONT, "", fonts / "DejaVuSans.ttf")
    paper.add_font(FONT, "B", fonts / "DejaVuSans-Bold.ttf")
    paper.add_font(MONO, "", fonts / "DejaVuSansMono.ttf")
    paper.set_margins(MARGIN, MARGIN, MARGIN)
    paper.set_auto_page_break(auto=True, margin=MARGIN)
    # The same report gives the same bytes: the date is the report's, not that of the export.
    paper.set_creation_date(report.created_at)
    paper.set_title(report.name)
    paper.set_author(report.author)
    paper.set_producer(f"Offload Advisor {report.app_version}")
    paper.add_page()
    return paper


def _front(paper: FPDF, page: FrontPage) -> None:
    _line(paper, page.name, size=12, bold=True)
    if page.title:
        _line(paper, page.title, size=9, soft=True)
    paper.ln(1)
    _line(paper, page.verdict, size=12, bold=True)
    paper.ln(2)
    _cards(paper, page.cards)
    for text in page.results:
        _line(paper, text, size=10)
    if page.options:
        _heading(paper, "What it would cost to do better")
        if len(page.options) > 1:
            _chart(paper, charts.options(page.options))
        _table(paper, OPTION_HEADINGS, [option_cells(row) for row in page.options])
    if page.unable:
        _line(paper, page.unable, size=9, soft=True)
    if page.notes:
        _heading(paper, "Notes")
        _line(paper, page.notes, size=9)
    for fact in page.facts:
        _line(paper, fact, size=9, soft=True)
    held = "Predictions, each with the range that holds 80 % of measurements like it."
    _line(paper, held, size=9, soft=True)


def _cards(paper: FPDF, cards: Sequence[CardWords]) -> None:
    """The placements side by side."""
    if not cards:
        return
    paper.set_font(FONT, size=8)
    paper.set_draw_color(*RULE)
    big = FontFace(emphasis="BOLD", size_pt=13)
    with paper.table(
        first_row_as_headings=False, line_height=4.6, padding=1.5, text_align="LEFT",
        borders_layout="MINIMAL",
    ) as table:  # fmt: skip
        for cells, style in (
            ([card.name for card in cards], FontFace(emphasis="BOLD")),
            ([card.figure for card in cards], big),
            ([card.range for card in cards], FontFace(emphasis="BOLD")),
            (["\n".join(card.lines) for card in cards], None),
        ):
            row = table.row()
            for cell in cells:
                row.cell(_shown(cell), style=style)
    paper.ln(2)


def _table(paper: FPDF, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    paper.set_font(FONT, size=7)
    paper.set_text_color(0)
    paper.set_draw_color(*RULE)
    with paper.table(
        col_widths=WIDTHS.get(tuple(headings)),
        headings_style=FontFace(emphasis="BOLD", color=SOFT),
        line_height=3.6, padding=(0.7, 1, 0.7, 0), text_align="LEFT",
        borders_layout="HORIZONTAL_LINES",
    ) as table:  # fmt: skip
        for cells in (headings, *rows):
            row = table.row()
            for cell in cells:
                row.cell(_shown(cell))
    paper.ln(2)


def _chart(paper: FPDF, chart: BarChart | LineChart) -> None:
    picture = BytesIO(png(chart))
    paper.image(picture, w=CHART_WIDTH, alt_text=_shown(chart.alt))
    paper.ln(2)


def _heading(paper: FPDF, text: str, size: float = 10.5) -> None:
    paper.ln(1.5)
    if paper.will_page_break(24):
        paper.add_page()
    _line(paper, text, size=size, bold=True)


def _line(
    paper: FPDF, text: str, *, size: float, bold: bool = False, soft: bool = False, link: str = ""
) -> None:
    paper.set_font(FONT, "B" if bold else "", size)
    paper.set_text_color(*(SOFT if soft else (0, 0, 0)))
    paper.multi_cell(
        0, size * 0.5, _shown(text), align="L", link=link, new_x=XPos.LMARGIN, new_y=YPos.NEXT
    )


def _shown(text: str) -> str:
    """Text without the control characters that PDF cannot show."""
    return "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)
