"""File formats of a report."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from csv import QUOTE_NONNUMERIC, writer
from dataclasses import dataclass
from io import StringIO
from typing import TypeAlias

from advisor.catalog.records import columns
from advisor.formatting import US_DOLLAR, inert, shown_currency
from advisor.reports.charts import in_shown_currency
from advisor.reports.content import (
    NONE,
    OPTION_HEADINGS,
    FrontPage,
    ReportSection,
    front_page,
    option_cells,
    sections,
)
from advisor.reports.document import (
    OPTIONS,
    PLACEMENTS,
    TIERS,
    OptionRow,
    PlacementCard,
    ReportDocument,
    SweepSeries,
    input_name,
    interval,
    time_part,
)
from advisor.reports.files.html import is_public
from advisor.reports.store.saved import SavedReport, in_its_currency, report_json

# Report as Markdown, for issues, chats and wikis.


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


# A report as CSV: one long table for a spreadsheet, numbers in SI units.

Value: TypeAlias = str | float | None
Row: TypeAlias = tuple[str, str, Value, str, Value, str]

HEADINGS = ("section", "item", "part", "quantity", "value", "unit")


@in_its_currency
def csv(report: SavedReport) -> str:
    """CSV text with section, item, part, quantity, value and unit; a row per number or text.

    Text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    text = StringIO()
    table = writer(text, quoting=QUOTE_NONNUMERIC)
    table.writerow(HEADINGS)
    table.writerows(
        [inert(value) if isinstance(value, str) else value for value in row]
        for row in _long_table(report)
    )
    return text.getvalue()


def _long_table(report: SavedReport) -> Iterator[Row]:
    document = report.document
    yield from _report_rows(report)
    for card in document.placements:
        yield from _card_rows(card)
    for option in document.options:
        yield from _option_rows(option)
    yield from _result_rows(report)
    yield from _use_rows(report)
    yield from _series_rows("speed against layers", filter(None, [document.layer_sweep]))
    costs = (in_shown_currency(line) for line in document.cost_curves)
    yield from _series_rows("cost against tokens", costs)
    yield from _sensitivity_rows(document)
    for figure in document.assumptions:
        item = ("assumptions", figure.what, "")
        yield from _rows_of(item, figure, "", "value", "kind", "source", "date")


def _rows_of(item: tuple[str, str, str], record: object, kind: str, *texts: str) -> Iterator[Row]:
    """A row for each column of a kind of record, then for each of its texts."""
    for column in columns(kind):
        value, unit = column.value(record), column.unit
        paid = unit.startswith(US_DOLLAR.code)
        yield *item, column.name, *(_paid(value, unit) if paid else (value, unit))
    for name in texts:
        yield *item, name.replace("_", " "), getattr(record, name), ""


def _report_rows(report: SavedReport) -> Iterator[Row]:
    item, document = ("report", "", ""), report.document
    yield from _rows_of(item, report, "", "name", "notes", "author")
    yield *item, "tags", ", ".join(report.tags), ""
    texts = ("title", "verdict", "created_at", "version", "command", "link")
    yield from _rows_of(item, document, "", *texts)
    for caveat in document.caveats:
        yield *item, "caveat", caveat, ""
    for name, value in (document.request or document.inputs).items():
        yield "request", "", "", name, value, ""


def _card_rows(card: PlacementCard) -> Iterator[Row]:
    item = ("placements", PLACEMENTS[card.placement], card.runtime)
    yield *item, "fits", "yes" if card.fits else "no", ""
    yield from _rows_of(item, card, "card file", "title", "explanation", "command")


def _option_rows(option: OptionRow) -> Iterator[Row]:
    item = ("options", option.name, OPTIONS[option.kind])
    yield from _rows_of(item, option, "option file", "price_note", "price_date", "verdict")


def _result_rows(report: SavedReport) -> Iterator[Row]:
    for judged in report.judged:
        result = judged.result
        item = ("measured", PLACEMENTS[result.placement], result.runtime)
        yield from _rows_of(item, result, "result file", "source", "when", "note")
        yield *item, "compared", judged.words, ""


def _use_rows(report: SavedReport) -> Iterator[Row]:
    for use in report.document.memory:
        where, tier = PLACEMENTS[use.placement], TIERS[use.tier]
        yield "memory", where, use.part, tier, use.bytes, "B"
        yield "memory", where, use.part, f"{tier} capacity", use.capacity_bytes, "B"
    for part in report.document.token_time:
        words = time_part(part.part)
        yield "time of a token", PLACEMENTS[part.placement], words, "time", part.seconds, "s"


def _sensitivity_rows(document: ReportDocument) -> Iterator[Row]:
    section, option = "what the verdict depends on", document.turns_on
    yield section, option, "", "what changes it", document.what_changes, ""
    for row in document.sensitivity:
        yield section, option, input_name(row), "interval", interval(row), ""
        for end, gain in (("low", row.gain_low_usd), ("high", row.gain_high_usd)):
            yield section, option, input_name(row), f"left over at the {end} end", *_paid(gain)


def _paid(usd: float | None, unit: str = "USD/month") -> tuple[float | None, str]:
    """An amount in the currency of the report, with its unit."""
    paid = shown_currency()
    in_unit = unit.replace(US_DOLLAR.code, paid.code, 1)
    return None if usd is None else usd / paid.usd, in_unit


def _series_rows(section: str, series: Iterable[SweepSeries]) -> Iterator[Row]:
    for line in series:
        for x, y in zip(line.x, line.y, strict=True):
            yield section, line.name, x, f"{line.y_label} at {line.x_label}", y, ""


@dataclass(frozen=True, kw_only=True)
class FileForm:
    """File format of a report."""

    label: str  # common name
    suffix: str  # suffix of its files, and the format's name on the command line
    mime: str  # media type
    make: Callable[[SavedReport], bytes]  # content of the file


def _html(report: SavedReport) -> bytes:
    # It draws with Matplotlib, which takes most of a second.
    from advisor.reports.files.html import html

    return html(report).encode()


def _pdf(report: SavedReport, *, appendix: bool = False) -> bytes:
    from advisor.reports.files.pdf import pdf  # likewise

    return pdf(report, appendix=appendix)


def _json(report: SavedReport) -> bytes:
    return (json.dumps(report_json(report), indent=1, ensure_ascii=False) + "\n").encode()


FORMS = {
    form.suffix: form
    for form in (
        FileForm(label="HTML", suffix="html", mime="text/html", make=_html),
        FileForm(label="PDF", suffix="pdf", mime="application/pdf", make=_pdf),
        FileForm(
            label="PDF with appendix", suffix="full.pdf", mime="application/pdf",
            make=lambda report: _pdf(report, appendix=True),
        ),
        FileForm(
            label="CSV", suffix="csv", mime="text/csv", make=lambda report: csv(report).encode(),
        ),
        FileForm(
            label="Markdown", suffix="md", mime="text/markdown",
            make=lambda report: markdown(report).encode(),
        ),
        FileForm(label="JSON", suffix="json", mime="application/json", make=_json),
    )
}  # fmt: skip
"""Formats by suffix."""
