"""Report as Markdown, for issues, chats and wikis."""

import re
from collections.abc import Iterator, Sequence

from advisor.reports.content import (
    NONE,
    OPTION_HEADINGS,
    FrontPage,
    ReportSection,
    front_page,
    option_cells,
    sections,
)
from advisor.reports.files.html import is_public
from advisor.reports.store.saved import SavedReport, in_its_currency


@in_its_currency
def markdown(report: SavedReport) -> str:
    """Markdown text: the first page, then the sections."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def _lines(report: SavedReport) -> Iterator[str]:
    document = report.document
    yield from _front(front_page(report))
    if is_public(document.link):
        yield f"<{document.link}>\n"
    for section in sections(document):
        yield from _section(section)


def _section(section: ReportSection) -> Iterator[str]:
    if not section.tables and not section.commands:
        return  # charts alone, which text cannot show
    yield f"## {literal(section.title)}\n"
    if section.text:
        yield f"{paragraph(section.text)}\n"
    for table in section.tables:
        if table.title != section.title:
            yield f"### {literal(table.title)}\n"
        yield from table_lines(table.headings, table.rows)
    for heading, command in section.commands:
        yield from _fenced(heading, command)


def _front(page: FrontPage) -> Iterator[str]:
    yield f"# {literal(page.name)}\n"
    if page.title:
        yield f"{paragraph(page.title)}\n"
    yield f"**{literal(page.verdict)}**\n"
    if page.reasons:
        yield f"{paragraph(page.reasons)}\n"
    headings = ("Placement", "Speed", "Range", "How")
    rows = [(card.name, card.figure, card.range, "; ".join(card.lines)) for card in page.cards]
    yield from table_lines(headings, rows)
    if page.options:
        yield "## What it would cost to do better\n"
        yield from table_lines(OPTION_HEADINGS, [option_cells(row) for row in page.options])
    for text in (page.unable, *page.results, page.notes, *page.facts):
        if text:
            yield f"{paragraph(text)}\n"


def table_lines(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of a table with an empty line after it; none without rows."""
    if not rows:
        return
    yield _cells([literal(heading) for heading in headings])
    yield _cells(["---"] * len(headings))
    yield from (_cells([literal(cell or NONE) for cell in row]) for row in rows)
    yield ""


def _cells(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _fenced(heading: str, command: str) -> Iterator[str]:
    # Longer than any run inside, or the command could end its own block.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", command)), default=0))
    yield f"### {literal(heading)}\n\n{fence}sh\n{command}\n{fence}\n"


def literal(text: str) -> str:
    """Text on one line that Markdown shows unchanged, HTML included."""
    return re.sub(r"([\\`*_\[\]<>&|#~])", r"\\\1", " ".join(text.split()))


def paragraph(text: str) -> str:
    """Literal text that starts no list and underlines no heading."""
    begins_none = re.sub(r"^(\d+)(?=[.)])", r"\1\\", literal(text))
    return re.sub(r"^(?=[-+=])", r"\\", begins_none)
