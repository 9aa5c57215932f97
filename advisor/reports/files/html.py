"""Report as one HTML file without scripts or requests, fit to print."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from advisor.reports import charts
from advisor.reports.charts import COLOURS, DARK, LETTERED
from advisor.reports.content import front_page, option_note, sections
from advisor.reports.files.svg import svg
from advisor.reports.store.saved import SavedReport, in_its_currency

# Checks of addresses that a report may link to.

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104  named to be left out


def is_web_address(link: str) -> bool:
    """Whether an address opens a page; `javascript:` and others do not."""
    return re.fullmatch(r"https?://[^\s<>]+", link) is not None


def is_public(link: str) -> bool:
    """Whether an address opens the same page on another machine."""
    if not is_web_address(link):
        return False
    try:
        host = urlsplit(link).hostname
    except ValueError:
        return False
    return bool(host) and host not in LOCAL_HOSTS


@in_its_currency
def html(report: SavedReport) -> str:
    """HTML text: the first page, then folded sections; all text escaped."""
    document = report.document
    page = front_page(report)
    return _PAGE.get_template("template.html").render(
        page=page,
        report=report,
        link=document.link if is_public(document.link) else "",
        options=charts.options(page.options),
        notes=[option_note(row) for row in page.options],
        sections=sections(document),
    )


def share(size: float, whole: float) -> str:
    """Size in per cent of a whole, for CSS."""
    return f"{100 * size / whole:.2f}%"


def address(link: str, text: str) -> Markup | str:
    """Link to a web address; plain text for other addresses, such as `javascript:`."""
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
    page.globals.update(
        address=address, share=share, svg=svg, colours=COLOURS, dark=DARK, lettered=LETTERED
    )
    return page


_PAGE = _page()
