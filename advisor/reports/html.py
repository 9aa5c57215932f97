"""A report as one HTML page that needs nothing else: no script, no request, fit to print."""

from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from advisor.reports import charts
from advisor.reports.chart_parts import BarChart, LineChart
from advisor.reports.document import ReportDocument
from advisor.reports.front_page import OPTION_HEADINGS, front_page, option_cells
from advisor.reports.links import is_public, is_web_address
from advisor.reports.saved import SavedReport
from advisor.reports.svg import svg
from advisor.reports.tables_behind import commands, tables


def html(report: SavedReport) -> str:
    """The first page, then charts, tables and commands; charts inside, everything escaped."""
    document = report.document
    page = front_page(report)
    return _PAGE.get_template("template.html").render(
        page=page,
        report=report,
        link=document.link if is_public(document.link) else "",
        options_chart=svg(charts.options(page.options)) if len(page.options) > 1 else "",
        charts=[(chart.title, svg(chart)) for chart in behind(document)],
        tables=tables(document),
        commands=commands(document),
        option_headings=OPTION_HEADINGS,
        option_rows=[option_cells(row) for row in page.options],
    )


def behind(document: ReportDocument) -> Iterator[BarChart | LineChart]:
    """The charts behind the first page."""
    if document.token_time:
        yield charts.token_time(document.token_time)
    if document.memory:
        yield charts.memory_use(document.memory)
    if document.layer_sweep is not None and len(document.layer_sweep.x) > 1:
        yield charts.layers(document.layer_sweep)
    if curves := [line for line in document.cost_curves if line.x]:
        yield charts.costs(curves)


def address(link: str, text: str) -> Markup | str:
    """A link to a web address; plain text for anything else, such as `javascript:`."""
    if not is_web_address(link):
        return text if text == link else f"{text}: {link}"
    return Markup('<a href="{}" rel="noopener noreferrer">{}</a>').format(link, text)


def _page() -> Environment:
    page = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page.globals.update(address=address)
    return page


_PAGE = _page()
