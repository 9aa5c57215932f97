"""File formats of a report."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from csv import QUOTE_NONNUMERIC, writer
from dataclasses import dataclass
from functools import cache, partial
from io import StringIO
from pathlib import Path
from typing import TypeAlias

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, select_autoescape
from markupsafe import Markup

from advisor.catalog.records import columns
from advisor.formatting import US_DOLLAR, inert, money_shown_in, shown_currency
from advisor.reports import charts, content
from advisor.reports.document import (
    OPTIONS,
    PLACEMENTS,
    TIERS,
    ReportDocument,
    SweepSeries,
    input_name,
    interval,
    time_part,
)
from advisor.reports.files.svg import svg
from advisor.reports.store.saved import SavedReport, report_json

# Report as Markdown, for issues, chats and wikis, and as one HTML file.


def _markdown(report: SavedReport) -> str:
    """Markdown text: the first page, then the sections."""
    page = content.front_page(report)
    text = _template("template.md").render(
        page=page,
        cards=[(card.name, card.figure, card.range, "; ".join(card.lines)) for card in page.cards],
        sections=content.sections(report.document),
    )
    return text.rstrip() + "\n"


def _html(report: SavedReport) -> str:
    """HTML text without scripts or requests, fit to print: the first page, then folded sections;
    all text escaped.
    """
    page = content.front_page(report)
    return _template("template.html").render(
        page=page,
        report=report,
        sections=content.sections(report.document),
        svg=svg,
        colours=charts.COLOURS,
        dark=charts.DARK,
        lettered=charts.LETTERED,
    )


@cache
def _template(name: str) -> Template:
    pages = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=select_autoescape(),  # of HTML; in Markdown each text is escaped by a filter
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.globals.update(address=address, share=share)
    pages.filters.update(literal=literal, paragraph=paragraph, fenced=_fenced)
    pages.filters["cell"] = lambda text: literal(text or content.NONE)
    return pages.get_template(name)


def share(size: float, whole: float) -> str:
    """Size in per cent of a whole, for CSS."""
    return f"{100 * size / whole:.2f}%"


def address(link: str, text: str) -> Markup | str:
    """Link to a web address; plain text for other addresses, such as `javascript:`."""
    if not content.is_web_address(link):
        if text == link:
            return text
        return f"{text}: {link}"
    return Markup('<a href="{}" rel="noopener noreferrer">{}</a>').format(link, text)


def _fenced(command: str) -> str:
    # Longer than any run inside, or the command could end its own block.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", command)), default=0))
    return f"{fence}sh\n{command}\n{fence}"


def literal(text: str) -> str:
    """Text on one line that Markdown shows unchanged, HTML included."""
    return re.sub(r"([\\`*_\[\]<>&|#~])", r"\\\1", " ".join(text.split()))


def paragraph(text: str) -> str:
    """Text on one line that Markdown shows unchanged, also where it would begin a list or a
    heading.
    """
    begins_none = re.sub(r"^(\d+)(?=[.)])", r"\1\\", literal(text))
    return re.sub(r"^(?=[-+=])", r"\\", begins_none)


# A report as CSV: one long table for a spreadsheet, numbers in SI units.

Value: TypeAlias = str | float | None
Row: TypeAlias = tuple[str, str, Value, str, Value, str]

HEADINGS = ("section", "item", "part", "quantity", "value", "unit")


def _csv(report: SavedReport) -> str:
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
    yield from _rows_of(("report", "", ""), report, "report file")
    yield from (("report", "", "", "caveat", caveat, "") for caveat in document.caveats)
    for name, value in (document.request or document.inputs).items():
        yield "request", "", "", name, value, ""
    for card in document.placements:
        yield from _rows_of(
            ("placements", PLACEMENTS[card.placement], card.runtime), card, "card file"
        )
    for option in document.options:
        yield from _rows_of(("options", option.name, OPTIONS[option.kind]), option, "option file")
    for judged in report.judged:
        place = PLACEMENTS[judged.result.placement]
        yield from _rows_of(("measured", place, judged.result.runtime), judged, "result file")
    yield from _rows_by_placement(document)
    yield from _series_rows("speed against layers", filter(None, [document.layer_sweep]))
    yield from _series_rows(
        "cost against tokens", map(charts.in_shown_currency, document.cost_curves)
    )
    yield from _sensitivity_rows(document)
    for figure in document.assumptions:
        yield from _rows_of(("assumptions", figure.what, ""), figure, "figure file")


def _rows_of(item: tuple[str, str, str], record: object, kind: str) -> Iterator[Row]:
    """Row for each column of a kind of record."""
    for column in columns(kind):
        value = column.value(record)
        unit = column.unit
        paid = unit.startswith(US_DOLLAR.code)
        yield *item, column.name, *(_paid(value, unit) if paid else (value, unit))


def _rows_by_placement(document: ReportDocument) -> Iterator[Row]:
    for use in document.memory:
        where = PLACEMENTS[use.placement]
        tier = TIERS[use.tier]
        yield "memory", where, use.part, tier, use.bytes, "B"
        yield "memory", where, use.part, f"{tier} capacity", use.capacity_bytes, "B"
    for part in document.token_time:
        words = time_part(part.part)
        yield "time of a token", PLACEMENTS[part.placement], words, "time", part.seconds, "s"


def _sensitivity_rows(document: ReportDocument) -> Iterator[Row]:
    section = "what the verdict depends on"
    option = document.turns_on
    yield section, option, "", "what changes it", document.what_changes, ""
    for row in document.sensitivity:
        yield section, option, input_name(row), "interval", interval(row), ""
        for end, gain in (("low", row.gain_low_usd), ("high", row.gain_high_usd)):
            yield section, option, input_name(row), f"left over at the {end} end", *_paid(gain)


def _paid(usd: float | None, unit: str = "USD/month") -> tuple[float | None, str]:
    """Amount in the currency of the report, with its unit."""
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
    draw: Callable[[SavedReport], str | bytes]  # content of the file, in the shown currency

    def make(self, report: SavedReport) -> bytes:
        """Content of a report's file, its amounts in the currency of the report."""
        with money_shown_in(report.document.shown_in):
            content = self.draw(report)
        if isinstance(content, bytes):
            return content
        return content.encode()


def _pdf(report: SavedReport, *, appendix: bool = False) -> bytes:
    from advisor.reports.files.pdf import pdf  # fonts take a fifth of a second

    return pdf(report, appendix=appendix)


def _json(report: SavedReport) -> str:
    return json.dumps(report_json(report), indent=1, ensure_ascii=False) + "\n"


FORMS = {
    form.suffix: form
    for form in (
        FileForm(label="HTML", suffix="html", mime="text/html", draw=_html),
        FileForm(label="PDF", suffix="pdf", mime="application/pdf", draw=_pdf),
        FileForm(
            label="PDF with appendix",
            suffix="full.pdf",
            mime="application/pdf",
            draw=partial(_pdf, appendix=True),
        ),
        FileForm(label="CSV", suffix="csv", mime="text/csv", draw=_csv),
        FileForm(label="Markdown", suffix="md", mime="text/markdown", draw=_markdown),
        FileForm(label="JSON", suffix="json", mime="application/json", draw=_json),
    )
}
"""Formats by suffix."""
