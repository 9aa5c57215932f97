"""Report as PDF, set by fpdf2 without a browser or system libraries."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
from fpdf import FPDF
from fpdf.enums import XPos, YPos
from fpdf.fonts import FontFace

from advisor.reports import content
from advisor.reports.charts import COLOURS, DARK, LETTERED, Bar, BarChart, LineChart
from advisor.reports.files.svg import ON_PAPER, svg
from advisor.reports.store.saved import SavedReport

# A4 page with text, tables and bars, set without a browser.
#
# Fonts are those that Matplotlib brings along; text is never read as markup.

FONT = "DejaVu"
MONO = "DejaVu Mono"
MARGIN = 14.0  # margin of an A4 page [mm]
BLACK = (0, 0, 0)
WHITE = (255, 255, 255)
SOFT = (80, 80, 80)
RULE = (200, 200, 200)
TRACK = (238, 241, 245)
BAR = 3.6  # height of a bar [mm]
WIDTHS = {
    content.OPTION_HEADINGS: (36, 28, 30, 26, 44, 18),
    ("Figure", "Value", "Kind", "Source", "Date"): (46, 26, 22, 66, 22),
    ("Placement", "Total", "Parts"): (36, 50, 96),
}
"""Relative widths of columns, for tables whose columns differ."""


class Paper(FPDF):
    """A4 document with page numbers."""

    def footer(self) -> None:
        """Page number at the end of each page, which fpdf2 asks for."""
        self.set_y(-10)
        self.set_font(FONT, size=7)
        self.set_text_color(*SOFT)
        self.cell(0, 4, f"{self.page_no()} / {{nb}}", align="R")


def blank(report: SavedReport) -> Paper:
    """New document with the report's name and its time of saving."""
    # fpdf2 logs every letter that the font lacks, and draws a box for it.
    logging.getLogger("fpdf").setLevel(logging.ERROR)
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    paper = Paper(format="A4")
    fonts = Path(mpl.get_data_path()) / "fonts" / "ttf"
    paper.add_font(FONT, "", fonts / "DejaVuSans.ttf")
    paper.add_font(FONT, "B", fonts / "DejaVuSans-Bold.ttf")
    paper.add_font(MONO, "", fonts / "DejaVuSansMono.ttf")
    paper.set_margins(MARGIN, MARGIN, MARGIN)
    paper.c_margin = 0.0  # text begins where bars and tables do
    paper.set_auto_page_break(auto=True, margin=MARGIN)
    # The same report gives the same bytes: the date is the report's, not that of the export.
    paper.set_creation_date(report.created_at)
    paper.set_title(report.name)
    paper.set_author(report.author)
    paper.set_producer(f"Offload Advisor {report.app_version}")
    paper.add_page()
    return paper


def heading(paper: FPDF, text: str, size: float = 10.5) -> None:
    """Heading, never alone at the foot of a page."""
    paper.ln(1.5)
    if paper.will_page_break(24):
        paper.add_page()
    line(paper, text, size=size, bold=True)


def line(
    paper: FPDF,
    text: str,
    *,
    size: float,
    bold: bool = False,
    soft: bool = False,
    link: str = "",
    font: str = FONT,
    spacing: float = 0.5,
) -> None:
    """Text from margin to margin, on as many lines as needed; nothing where it is empty."""
    if not text:
        return
    paper.set_font(font, "B" if bold else "", size)
    paper.set_text_color(*(SOFT if soft else BLACK))
    paper.multi_cell(
        0,
        size * spacing,
        printable(text),
        align="L",
        link=link,
        new_x=XPos.LMARGIN,
        new_y=YPos.NEXT,
    )


LONGEST_CELL = 400  # letters of a cell: 40 lines of the narrowest column, half of a page


def table(paper: FPDF, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Table whose headings repeat on every page."""
    paper.set_font(FONT, size=7)
    paper.set_text_color(*BLACK)
    paper.set_draw_color(*RULE)
    with paper.table(
        col_widths=WIDTHS.get(tuple(headings)),
        headings_style=FontFace(emphasis="BOLD", color=SOFT),
        line_height=3.6,
        padding=(0.7, 1, 0.7, 0),
        text_align="LEFT",
        borders_layout="HORIZONTAL_LINES",
    ) as grid:
        for cells in (headings, *rows):
            row = grid.row()
            for cell in cells:
                row.cell(_in_a_cell(cell))
    paper.ln(2)


def bars(paper: FPDF, chart: BarChart) -> None:
    """Bar chart with words above each bar and, where it has some, below it."""
    for bar in chart.bars:
        if paper.will_page_break(BAR + 14):
            paper.add_page()
        line(paper, f"{bar.head}: {bar.figure}", size=8)
        if bar.parts:
            _bar(paper, chart, bar)
        line(paper, bar.note, size=7, soft=True)
        paper.ln(1.2)
    for name, colour in chart.keys:
        _key(paper, f"{name}  ", colour, chart.letters[name])
    if chart.mark:
        _key(paper, chart.mark)
    paper.ln(BAR + 2)


def _bar(paper: FPDF, chart: BarChart, bar: Bar) -> None:
    scale = paper.epw / chart.end
    with paper.local_context(fill_color=TRACK):
        paper.rect(paper.l_margin, paper.get_y(), paper.epw, BAR, style="F")
    left = paper.l_margin
    for part in bar.parts:
        lettered = bool(chart.keys) and part.size >= LETTERED * chart.end
        if lettered:
            letter = chart.letters[part.name]
        else:
            letter = ""
        _part(paper, left, part.size * scale, part.colour, letter)
        left += part.size * scale
    if bar.low is not None and bar.high is not None:
        _range(paper, paper.l_margin + bar.low * scale, paper.l_margin + bar.high * scale)
    if bar.limit is not None:
        _mark(paper, paper.l_margin + bar.limit * scale)
    paper.set_y(paper.get_y() + BAR)


def _part(paper: FPDF, left: float, width: float, colour: int, letter: str) -> None:
    """Part of a bar, with a white rule at its end and its letter where there is room."""
    top = paper.get_y()
    with paper.local_context(fill_color=COLOURS[colour]):
        paper.rect(left, top, width, BAR, style="F")
    with paper.local_context(draw_color=WHITE, line_width=0.3):
        paper.line(left + width, top, left + width, top + BAR)
    if letter:
        paper.set_font(FONT, "B", 6.5)
        paper.set_text_color(*(WHITE if colour in DARK else BLACK))
        paper.set_xy(left, top)
        paper.cell(width, BAR, letter, align="C")
        paper.set_xy(left, top)


def _range(paper: FPDF, low: float, high: float) -> None:
    middle = paper.get_y() + BAR / 2
    # A white line under the black one keeps the range visible on its own bar.
    for colour, width in ((WHITE, 1.0), (BLACK, 0.4)):
        with paper.local_context(draw_color=colour, line_width=width):
            paper.line(low, middle, high, middle)
            for end in (low, high):
                paper.line(end, middle - BAR / 3, end, middle + BAR / 3)


def _mark(paper: FPDF, left: float) -> None:
    with paper.local_context(draw_color=BLACK, line_width=0.8):
        paper.line(left, paper.get_y() - 0.5, left, paper.get_y() + BAR + 0.5)


def _key(paper: FPDF, words: str, colour: int | None = None, letter: str = "") -> None:
    """Legend entry: a sample of a colour, or of the mark, and its meaning."""
    paper.set_font(FONT, size=7)
    width = BAR + 2 + paper.get_string_width(printable(words)) + 2
    if paper.get_x() + width > paper.w - paper.r_margin:
        paper.ln(BAR + 1)
    left = paper.get_x()
    top = paper.get_y()
    if colour is None:
        _mark(paper, left + BAR / 2)
    else:
        _part(paper, left, BAR, colour, letter)
    paper.set_font(FONT, size=7)
    paper.set_text_color(*BLACK)
    paper.set_xy(left + BAR + 1, top)
    paper.cell(width - BAR - 1, BAR, printable(words))


def _in_a_cell(text: str) -> str:
    """Text of a table's cell, which cannot go on on the next page; a longer one is cut."""
    shown = printable(text)
    if len(shown) <= LONGEST_CELL:
        return shown
    return f"{shown[: LONGEST_CELL - 3]}..."


def printable(text: str) -> str:
    """Text without control characters, which PDF cannot show."""
    return "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)


CHART_WIDTH = 88.0  # width of a line chart, two of which stand side by side [mm]
CHART_HEIGHT = 75.0  # largest height of a line chart [mm]


def pdf(report: SavedReport, *, appendix: bool = False) -> bytes:
    """PDF file: the first page, then the sections, on A4.

    The appendix has all options, runtimes and figures, which take a dozen pages more.
    """
    paper = blank(report)
    page = content.front_page(report)
    if page.decision is not None:
        _decision(paper, page.name, page.decision)
        paper.add_page()
    _front(paper, page)
    paper.add_page()
    every = content.sections(report.document)
    for section in every:
        if appendix:
            _section(paper, section)
        elif not section.appendix:
            # Charts are enough where there are some: their tables say the same.
            _section(paper, replace(section, tables=() if section.charts else section.tables))
    if left := [section.title for section in every if section.appendix and not appendix]:
        line(paper, f"In the appendix, on request: {', '.join(left)}.", size=9, soft=True)
    return bytes(paper.output())


LABEL = 30.0  # width of the labels of a decision [mm]
SIGNED = 70.0  # length of a line to sign on [mm]


def _decision(paper: FPDF, name: str, decision: content.DecisionWords) -> None:
    """Page with the decision, and room to sign it."""
    line(paper, name, size=9, soft=True)
    line(paper, decision.made, size=9, soft=True)
    paper.ln(10)
    line(paper, decision.question, size=16, bold=True)
    paper.ln(8)
    line(paper, "RECOMMENDATION", size=8, soft=True)
    line(paper, decision.recommendation, size=15, bold=True)
    line(paper, decision.beside, size=10)
    paper.ln(8)
    for label, text in decision.rows:
        _labelled(paper, label, text)
    paper.ln(16)
    for label in (content.APPROVED, "Date"):
        _signed(paper, label)


def _labelled(paper: FPDF, label: str, text: str) -> None:
    """Text beside its label."""
    paper.set_font(FONT, "B", 9.5)
    paper.set_text_color(*SOFT)
    top = paper.get_y()
    paper.cell(LABEL, 5, printable(label))
    paper.set_xy(paper.l_margin + LABEL, top)
    paper.set_font(FONT, "", 10)
    paper.set_text_color(*BLACK)
    paper.multi_cell(0, 5, printable(text), align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT)
    paper.ln(3)


def _signed(paper: FPDF, label: str) -> None:
    """Line to sign on, behind its label."""
    paper.set_font(FONT, "", 9.5)
    paper.set_text_color(*SOFT)
    paper.cell(LABEL, 6, label)
    with paper.local_context(draw_color=BLACK, line_width=0.3):
        left = paper.get_x()
        paper.line(left, paper.get_y() + 6, left + SIGNED, paper.get_y() + 6)
    paper.ln(14)


def _front(paper: FPDF, page: content.FrontPage) -> None:
    line(paper, page.name, size=11, bold=True)
    line(paper, page.title, size=9, soft=True)
    paper.ln(1)
    line(paper, page.verdict, size=14, bold=True)
    if page.reasons:
        paper.ln(1)
        line(paper, page.reasons, size=9.5)
    paper.ln(2)
    _cards(paper, page.cards)
    _ways(paper, page)
    for text in page.results:
        line(paper, text, size=10)
    if page.options.charts:
        _section(paper, replace(page.options, tables=()), size=10.5)
    line(paper, page.unable, size=9, soft=True)
    if page.notes:
        heading(paper, "Notes")
        line(paper, page.notes, size=9)
    promise = "Predictions, each with the range that holds 80 % of measurements like it."
    for fact in (*page.facts, promise):
        line(paper, fact, size=9, soft=True)
    if page.link:
        line(paper, "Open this comparison", size=9, link=page.link)


def _ways(paper: FPDF, page: content.FrontPage) -> None:
    """Ways to improve the answer, and its certainty."""
    if page.ways:
        heading(paper, content.WAYS)
    for text in page.ways:
        line(paper, text, size=9)
    line(paper, page.certainty, size=9, soft=True)


def _cards(paper: FPDF, cards: Sequence[content.CardWords]) -> None:
    """Table of the placements side by side."""
    if not cards:
        return
    paper.set_font(FONT, size=8)
    paper.set_draw_color(*RULE)
    big = FontFace(emphasis="BOLD", size_pt=13)
    with paper.table(
        first_row_as_headings=False,
        line_height=4.6,
        padding=1.5,
        text_align="LEFT",
        v_align="TOP",
        borders_layout="MINIMAL",
    ) as cells_of:
        for cells, style in (
            ([card.name for card in cards], FontFace(emphasis="BOLD")),
            ([card.figure for card in cards], big),
            ([card.range for card in cards], FontFace(emphasis="BOLD")),
            (["\n".join(card.lines) for card in cards], None),
        ):
            row = cells_of.row()
            for cell in cells:
                row.cell(_in_a_cell(cell), style=style)
    paper.ln(2)


def _section(paper: FPDF, section: content.ReportSection, size: float = 12) -> None:
    heading(paper, section.title, size)
    line(paper, section.text, size=9)
    for chart in section.charts:
        if isinstance(chart, BarChart):
            if chart.title != section.title:
                heading(paper, chart.title)
            bars(paper, chart)
    _lines(paper, [chart for chart in section.charts if isinstance(chart, LineChart)])
    for words in section.tables:
        if words.title != section.title:
            heading(paper, words.title)
        table(paper, words.headings, words.rows)
    for name, command in section.commands:
        heading(paper, name, size=9)
        line(paper, command, size=7.5, font=MONO, spacing=4 / 7.5)


def _lines(paper: FPDF, line_charts: Sequence[LineChart]) -> None:
    """Line charts, two in a row."""
    for first in range(0, len(line_charts), 2):
        if paper.will_page_break(CHART_HEIGHT):
            paper.add_page()
        top = paper.get_y()
        bottom = paper.get_y()
        for column, chart in enumerate(line_charts[first : first + 2]):
            paper.set_xy(paper.l_margin + column * (paper.epw - CHART_WIDTH), top)
            paper.set_font(FONT, "B", 10.5)
            paper.cell(CHART_WIDTH, 6, printable(chart.title))
            drawn = BytesIO(svg(chart, ON_PAPER).encode())
            picture = paper.image(
                drawn,
                x=paper.get_x() - CHART_WIDTH,
                y=top + 7,
                w=CHART_WIDTH,
                alt_text=printable(chart.alt),
            )
            bottom = max(bottom, top + 7 + picture.rendered_height)
        paper.set_xy(paper.l_margin, bottom + 2)
