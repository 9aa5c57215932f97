"""A report as a file: HTML to read and print, CSV for a spreadsheet, Markdown to paste.

JSON is `document.to_json`. Everything in a document is text that somebody may have typed or
imported, so each form escapes what its readers would act on.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from csv import QUOTE_NONNUMERIC, writer
from io import StringIO
from pathlib import Path
from typing import TypeAlias

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from advisor import formatting
from advisor.reports import charts
from advisor.reports.document import (
    PLACEMENT_NAMES,
    PlacementCard,
    ReportDocument,
    SweepSeries,
    UpgradeRow,
)

Value: TypeAlias = str | float | None
Row: TypeAlias = tuple[str, str, Value, str, Value, str]

HEADINGS = ("section", "item", "part", "quantity", "value", "unit")
NONE = "-"
_CARD_NUMBERS = (
    ("missing_bytes", "B"),
    ("decode_tps", "tokens/s"),
    ("decode_tps_low", "tokens/s"),
    ("decode_tps_high", "tokens/s"),
    ("ttft_s", "s"),
    ("ttft_s_low", "s"),
    ("ttft_s_high", "s"),
)
_UPGRADE_NUMBERS = (
    ("count", "GPUs"),
    ("decode_tps", "tokens/s"),
    ("low", "tokens/s"),
    ("high", "tokens/s"),
    ("monthly_usd", "USD/month"),
    ("saves_hours", "h/month"),
)


def html(document: ReportDocument) -> str:
    """One page that needs nothing else: no script, no request, charts inside, fit to print."""
    return _PAGE.get_template("template.html").render(
        report=document,
        curves=[one for one in document.cost_curves if one.x],
        commands=[card for card in document.placements if card.command],
    )


def csv(document: ReportDocument) -> str:
    """One long table: section, item, part, quantity, value, unit; numbers in SI units.

    Text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    text = StringIO()
    table = writer(text, quoting=QUOTE_NONNUMERIC)
    table.writerow(HEADINGS)
    table.writerows([_inert(value) for value in row] for row in _long_table(document))
    return text.getvalue()


def markdown(document: ReportDocument) -> str:
    """Headings, tables and commands, for an issue, a chat or a wiki."""
    return "\n".join(_markdown_lines(document)).rstrip() + "\n"


def address(link: str, text: str) -> Markup | str:
    """A link to a web address; plain text for anything else, such as `javascript:`."""
    if not _is_web_address(link):
        return text if text == link else f"{text}: {link}"
    return Markup('<a href="{}" rel="noopener noreferrer">{}</a>').format(link, text)


def _is_web_address(link: str) -> bool:
    return re.fullmatch(r"https?://[^\s<>]+", link) is not None


def _page() -> Environment:
    page = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page.globals.update(
        say=formatting, charts=charts, names=PLACEMENT_NAMES, address=address, zip=zip
    )
    return page


_PAGE = _page()


def _long_table(document: ReportDocument) -> Iterator[Row]:
    yield from _asked_rows(document)
    for card in document.placements:
        yield from _card_rows(card)
    for upgrade in document.upgrades:
        yield from _upgrade_rows(upgrade)
    yield from _use_rows(document)
    yield from _series_rows("speed against layers", filter(None, [document.layer_sweep]))
    yield from _series_rows("cost against tokens", document.cost_curves)
    for one in document.assumptions:
        for name in ("value", "kind", "source", "date"):
            yield "assumptions", one.what, "", name, getattr(one, name), ""


def _asked_rows(document: ReportDocument) -> Iterator[Row]:
    for name in ("title", "verdict", "created_at", "version", "command", "link"):
        yield "report", "", "", name, getattr(document, name), ""
    for name, value in document.inputs.items():
        yield "inputs", "", "", name, value, ""


def _use_rows(document: ReportDocument) -> Iterator[Row]:
    for use in document.memory:
        where = PLACEMENT_NAMES[use.placement]
        yield "memory", where, use.part, use.tier, use.bytes, "B"
        yield "memory", where, use.part, f"{use.tier} capacity", use.capacity_bytes, "B"
    for part in document.token_time:
        yield "token time", PLACEMENT_NAMES[part.placement], part.part, "time", part.seconds, "s"


def _card_rows(card: PlacementCard) -> Iterator[Row]:
    for name in ("placement", "bottleneck", "explanation", "command"):
        yield "placements", card.title, card.runtime, name, getattr(card, name), ""
    yield "placements", card.title, card.runtime, "fits", "yes" if card.fits else "no", ""
    for name, unit in _CARD_NUMBERS:
        yield "placements", card.title, card.runtime, name, getattr(card, name), unit


def _upgrade_rows(upgrade: UpgradeRow) -> Iterator[Row]:
    for name, unit in _UPGRADE_NUMBERS:
        yield "upgrades", upgrade.gpu, "", name, getattr(upgrade, name), unit
    for name in ("price_note", "verdict"):
        yield "upgrades", upgrade.gpu, "", name, getattr(upgrade, name), ""


def _series_rows(section: str, series: Iterable[SweepSeries]) -> Iterator[Row]:
    for one in series:
        for x, y in zip(one.x, one.y, strict=True):
            yield section, one.name, x, f"{one.y_label} at {one.x_label}", y, ""


def _inert(value: Value) -> Value:
    if not isinstance(value, str):
        return value
    return f"'{value}" if value.lstrip()[:1] in set("=+-@") or value[:1] in set("\t\r\n") else value


def _markdown_lines(document: ReportDocument) -> Iterator[str]:
    yield f"# {_literal(document.title)}\n"
    yield f"**{_literal(document.verdict)}**\n"
    when = formatting.moment(document.created_at)
    yield f"{when}, Offload Advisor {_literal(document.version)}\n"
    for heading, columns, rows in _markdown_tables(document):
        if rows:
            yield f"## {heading}\n"
            yield from (_cells(columns), _cells(["---"] * len(columns), literal=False))
            yield from (_cells(row) for row in rows)
            yield ""
    for card in document.placements:
        yield from _fenced(f"{card.title}, {card.runtime}", card.command)
    yield from _fenced("The same comparison on the command line", document.command)
    yield f"<{document.link}>" if _is_web_address(document.link) else _literal(document.link)


def _markdown_tables(
    document: ReportDocument,
) -> Iterator[tuple[str, Sequence[str], Sequence[Sequence[str]]]]:
    cards = ("Placement", "Runtime", "Speed", "Range", "First token", "Bound by")
    yield "Placements", cards, [_card_cells(card) for card in document.placements]
    upgrades = ("GPU", "Speed", "Range", "Cost a month", "Saves a month", "Verdict", "Price")
    yield "A bigger GPU", upgrades, [_upgrade_cells(row) for row in document.upgrades]
    uses = [
        (PLACEMENT_NAMES[use.placement], use.tier, use.part, formatting.memory(use.bytes))
        for use in document.memory
    ]
    yield "Where the bytes are", ("Placement", "Tier", "Part", "Size"), uses
    times = [
        (PLACEMENT_NAMES[one.placement], one.part, formatting.seconds(one.seconds))
        for one in document.token_time
    ]
    yield "Where the time of a token goes", ("Placement", "Part", "Time"), times
    figures = [
        (one.what, one.value, one.kind, one.source, one.date or NONE)
        for one in document.assumptions
    ]
    yield "What this rests on", ("Figure", "Value", "Kind", "Source", "Date"), figures
    yield "What was asked", ("Input", "Value"), list(document.inputs.items())


def _card_cells(card: PlacementCard) -> Sequence[str]:
    missing = card.missing_bytes
    short = f": {formatting.memory(missing)} short" if missing is not None else ""
    return (
        card.title,
        card.runtime,
        _said(card.decode_tps, formatting.tokens_per_second)
        if card.fits
        else f"does not fit{short}",
        _range(card.decode_tps_low, card.decode_tps_high) if card.fits else NONE,
        _said(card.ttft_s, formatting.seconds) if card.fits else NONE,
        card.bottleneck if card.fits and card.bottleneck else NONE,
    )


def _upgrade_cells(row: UpgradeRow) -> Sequence[str]:
    return (
        row.gpu if row.count == 1 else f"{row.count} x {row.gpu}",
        "does not fit" if row.decode_tps is None else formatting.tokens_per_second(row.decode_tps),
        _range(row.low, row.high),
        _said(row.monthly_usd, formatting.money),
        _said(row.saves_hours, formatting.hours),
        row.verdict or NONE,
        row.price_note or NONE,
    )


def _said(value: float | None, say: Callable[[float], str]) -> str:
    return NONE if value is None else say(value)


def _range(low: float | None, high: float | None) -> str:
    return NONE if low is None or high is None else formatting.range_of(low, high)


def _cells(cells: Sequence[str], *, literal: bool = True) -> str:
    return f"| {' | '.join(_literal(one) if literal else one for one in cells)} |"


def _fenced(heading: str, command: str) -> Iterator[str]:
    if command:
        # Longer than any run inside, or the command could end its own block.
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", command)), default=0))
        yield f"## {_literal(heading)}\n\n{fence}sh\n{command}\n{fence}\n"


def _literal(text: str) -> str:
    """Text on one line that Markdown shows as it is, images and HTML included."""
    return re.sub(r"([\\`*_\[\]<>&|#~])", r"\\\1", " ".join(text.split()))
