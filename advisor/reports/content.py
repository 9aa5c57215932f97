"""Content of a report in words and tables, common to all file formats."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from urllib.parse import urlsplit

from advisor import formatting, units
from advisor.reports import charts
from advisor.reports.charts import Bar, BarChart, BarPart, LineChart
from advisor.reports.document import (
    PLACEMENTS,
    AssumptionRow,
    OptionRow,
    PlacementCard,
    PlacementKey,
    ReportDocument,
    WayRow,
)
from advisor.reports.store.saved import SavedReport

# First page: name, verdict, the three placements, what it would cost to do better, what was
# measured, who made it and when.


MOST_OPTIONS = 7  # most options on the first page; the others follow behind it
OPTION_HEADINGS = ("Option", "Speed", "Cost", "Waiting", "Price", "Worth it")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


@dataclass(frozen=True, kw_only=True)
class CardWords:
    """Placement in words."""

    placement: PlacementKey  # key of the placement
    name: str  # name of the placement
    figure: str  # speed, or "does not fit"
    range: str  # range of the speed, or missing memory; may be empty
    lines: tuple[str, ...]  # first token, bottleneck, runtime and format, explanation


@dataclass(frozen=True, kw_only=True)
class FrontPage:
    """First page of a report."""

    decision: "DecisionWords | None"  # page of its own, before this one; None in older reports
    ways: tuple[str, ...]  # ways to make it better, a line each
    certainty: str  # how sure it is; empty in older reports
    name: str  # name given by the author
    title: str  # model, format and machine; empty where the name has them
    verdict: str  # the answer in a sentence
    reasons: str  # rest of the verdict: alternatives, and when they pay; may be empty
    cards: tuple[CardWords, ...]  # the placements
    options: "ReportSection"  # ways to run it faster or cheaper, the present machine first
    unable: str  # line with the runtimes that cannot run it; empty for none
    results: tuple[str, ...]  # one sentence per measured result
    notes: str  # notes of the author
    facts: tuple[str, ...]  # author, time, version, caveats, tags
    link: str  # address that reopens it on any machine; empty for none


def front_page(report: SavedReport) -> FrontPage:
    """First page of a saved report."""
    document = report.document
    verdict, reasons = parted(document.verdict)
    return FrontPage(
        decision=_decision(report),
        ways=tuple(map(_way, document.ways)),
        certainty=document.certainty,
        name=report.name,
        title="" if report.name == document.title else document.title,
        verdict=verdict,
        reasons=reasons,
        cards=tuple(card_words(card) for card in shown_cards(document)),
        options=_best(best_options(document.options)),
        unable=unable(document.placements),
        results=tuple(judged.words for judged in report.judged),
        notes=report.notes,
        facts=tuple(filter(None, _facts(report))),
        link=document.link if is_public(document.link) else "",
    )


@dataclass(frozen=True, kw_only=True)
class DecisionWords:
    """Decision of a report in words, for a page that a person signs."""

    question: str  # what is to be decided
    made: str  # day and author
    recommendation: str  # what to do, in a line
    beside: str  # cost at once, and the input that decides
    rows: tuple[tuple[str, str], ...]  # because, what changes it, risk, next step


def _decision(report: SavedReport) -> DecisionWords | None:
    row = report.document.decision
    if row is None:
        return None
    day = formatting.moment(report.document.created_at).partition(",")[0]
    return DecisionWords(
        question=row.question,
        made=f"{day}, {report.author}" if report.author else day,
        recommendation=row.recommendation,
        beside=f"Cost: {row.cost}. Decided by: {row.decided_by}.",
        rows=(
            ("Because", row.because),
            ("What changes it", row.changes_if),
            ("Risk", row.risk),
            ("Next step", row.next_step),
        ),
    )


def _way(row: WayRow) -> str:
    """Way in a line: "Buy: Framework Desktop, 12 tokens/s, $1,139 at once; pays above $9"."""
    told = [row.name]
    if row.decode_tps:
        told.append(units.tokens_per_second(row.decode_tps))
    if row.upfront_usd:
        told.append(f"{formatting.money(row.upfront_usd)} at once")
    if row.monthly_usd and row.kind in ("Rent", "API"):
        told.append(f"{formatting.money(row.monthly_usd)} a month")
    note = f"; {row.note}" if row.note else ""
    return f"{row.kind}: {', '.join(told)}{note}"


WAYS = "Ways to make it better"
APPROVED = "Approved"


def parted(verdict: str) -> tuple[str, str]:
    """First sentence of a verdict, and the rest of the verdict."""
    answer, *rest = _SENTENCE_ENDS.split(verdict, maxsplit=1)
    return answer, "".join(rest)


def _facts(report: SavedReport) -> Iterable[str]:
    document = report.document
    if report.author:
        made = f"Made by {report.author}, "
    else:
        made = "Made "
    when = formatting.moment(document.created_at)
    yield f"{made}{when}, with Offload Advisor {document.version}."
    yield from document.caveats
    resale = any(row.price_note.startswith("value tied up") for row in document.options[:1])
    if resale and "--resale-counts" not in document.command:
        yield TIED_UP
    yield f"Tags: {', '.join(report.tags)}." if report.tags else ""


TIED_UP = (
    "Its sums count the value tied up in what is kept, each month; now that counts where it is "
    "sold alone, so that an answer of today costs less to keep."
)
"""Remark on a report of before November 2026, whose first option, which is kept, costs that."""


def shown_cards(document: ReportDocument) -> tuple[PlacementCard, ...]:
    """Card that represents each placement, in a fixed order.

    A report that does not say which it showed gives the fastest that fits, of the runtime that was
    asked about where one was, else one that says why not.
    """
    cards = (shown_card(document, placement) for placement in PLACEMENTS)
    return tuple(card for card in cards if card is not None)


def shown_card(document: ReportDocument, placement: PlacementKey) -> PlacementCard | None:
    """Card that represents a placement, as in `shown_cards`; None without one."""
    cards = [
        card
        for card in document.placements
        if card.placement == placement and document.runtime in ("", card.runtime)
    ]
    marked = [card for card in cards if card.shown]
    return max(marked or cards, key=lambda card: (card.fits, card.decode_tps or 0.0), default=None)


def card_words(card: PlacementCard) -> CardWords:
    """Card in words."""
    name = PLACEMENTS[card.placement]
    if not card.fits or card.decode_tps is None:
        missing = card.missing_bytes
        return CardWords(
            placement=card.placement,
            name=name,
            figure=units.UNKNOWN if card.fits else card.obstacle,
            range="" if missing is None else f"{units.memory(missing)} short",
            lines=tuple(filter(None, (card.runtime, card.explanation))),
        )
    low = card.decode_tps_low
    high = card.decode_tps_high
    if low is None or high is None:
        ends = None
    else:
        ends = (low, high)
    return CardWords(
        placement=card.placement,
        name=name,
        figure=units.tokens_per_second(card.decode_tps),
        range=units.range_of(*ends, units.tokens_per_second) if ends else "",
        lines=tuple(filter(None, _card_lines(card))),
    )


def _card_lines(card: PlacementCard) -> Iterable[str]:
    if card.mean_load_ttft_s is not None:
        yield f"first token after {units.seconds(card.mean_load_ttft_s)} at the mean load"
    elif card.ttft_s is not None:
        text = f"first token after {units.seconds(card.ttft_s)}"
        yield charts.with_range(text, card.ttft_s_low, card.ttft_s_high, units.seconds)
    yield f"limited by {card.bottleneck}" if card.bottleneck else ""
    yield card.runtime
    yield card.explanation


def unable(cards: Sequence[PlacementCard]) -> str:
    """Line that names the runtimes which fit in no placement."""
    able = {card.runtime for card in cards if card.fits}
    names = dict.fromkeys(card.runtime for card in cards if card.runtime not in able)
    if names:
        return f"Runtimes that cannot run it here: {', '.join(names)}."
    return ""


def best_options(options: Sequence[OptionRow]) -> tuple[OptionRow, ...]:
    """Best options: the first of each kind, then those that no other option beats.

    An option is beaten where another is at least as fast for no more a month. Those without a
    price stand only where no option of their kind has one.
    """
    first = {row.kind: index for index, row in reversed(list(enumerate(options)))}
    indices = dict.fromkeys([*sorted(first.values()), *_unbeaten(options)])
    return tuple(options[index] for index in sorted(list(indices)[:MOST_OPTIONS]))


def _unbeaten(options: Sequence[OptionRow]) -> Iterable[int]:
    priced = [
        (row.monthly_usd, -row.decode_tps, index)
        for index, row in enumerate(options)
        if row.monthly_usd is not None and row.decode_tps is not None
    ]
    fastest = 0.0
    for _, speed, index in sorted(priced):
        if -speed > fastest:
            fastest = -speed
            yield index


def option_cells(row: OptionRow) -> tuple[str, ...]:
    """Cells of an option's row, under `OPTION_HEADINGS`."""
    pays = {True: "yes", False: "no", None: ""}[row.pays]
    return (
        charts.option_name(row),
        charts.speed_words(row),
        charts.cost_words(row) or "no price known",
        _waiting(row),
        row.price_date or row.price_note,
        row.verdict or pays,
    )


def _best(rows: Sequence[OptionRow]) -> "ReportSection":
    """Options as bars of their speeds, each with waiting, worth and price below, and as a table."""
    title = "What it would cost to do better"
    bars = []
    cells = [option_cells(row) for row in rows]
    for row, (name, _, _, waiting, price, worth) in zip(rows, cells, strict=True):
        part = BarPart(name="speed", size=row.decode_tps or 0.0, colour=6 * (row.kind == "keep"))
        bar = Bar(
            head=name,
            figure=", ".join(filter(None, (charts.speed_words(row), charts.cost_words(row)))),
            parts=(part,) if row.decode_tps else (),
            low=row.decode_tps_low,
            high=row.decode_tps_high,
            note="; ".join(filter(None, (waiting, worth, price))),
        )
        bars.append(bar)
    return ReportSection(
        title=title,
        charts=(charts.bar_chart("options", title, tuple(bars), "tokens/s"),) if bars else (),
        tables=word_table(title, OPTION_HEADINGS, cells),
    )


def _waiting(row: OptionRow) -> str:
    if row.hours_lost is not None:
        return f"{formatting.hours(row.hours_lost)} a month"
    saved = formatting.hours(abs(row.saves_hours or 0.0))
    if saved == formatting.hours(0.0):
        return ""
    if (row.saves_hours or 0.0) >= 0:
        word = "saves"
    else:
        word = "costs"
    return f"{word} {saved} a month"


# Tables behind the first page, in words; `sections` puts them in order.

NONE = "-"
RUNTIMES = "Every runtime and placement"
RUNTIME_HEADINGS = (
    "Runtime", "Placement", "Speed", "Range", "First token", "Limited by, or why not",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class WordTable:
    """Table of words."""

    title: str  # heading
    headings: tuple[str, ...]  # headings of the columns
    rows: tuple[tuple[str, ...], ...]  # cells of each row, one per heading


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """Section with a heading."""

    title: str  # heading
    text: str = ""  # sentence below the heading; empty for none
    charts: tuple[BarChart | LineChart, ...] = ()  # charts, first
    appendix: bool = False  # left out of the short print
    # tables, next; a table with the section's title needs no heading of its own
    tables: tuple[WordTable, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()  # commands, last, each with its heading


def sections(document: ReportDocument) -> tuple[ReportSection, ...]:
    """Sections of a document that are not empty."""
    return tuple(
        section
        for section in _sections(document)
        if section.charts or section.tables or section.commands
    )


def _sections(document: ReportDocument) -> Iterator[ReportSection]:
    ready = [card for card in shown_cards(document) if card.fits and card.command]
    best = max(ready, key=lambda card: card.decode_tps or 0.0, default=None)
    others = [card for card in document.placements if card is not best]
    whole = ("The same comparison on the command line", document.command)
    yield ReportSection(
        title="Commands",
        commands=(*_commands([best] if best else []), *([whole] if document.command else [])),
    )
    every = tuple(_charts(document))
    told = (_in_table(chart, ("Placement", "Total", "Parts")) for chart in every)
    yield ReportSection(title="Memory and time", charts=every, tables=tuple(chain(*told)))
    if session := document.session:
        saves = ((row.change, units.seconds(row.saves_s), row.cost) for row in session.saves)
        yield ReportSection(
            title="A session of an agent",
            text=" ".join(session.words),
            charts=(charts.turns(session.speeds),) if session.speeds else (),
            tables=word_table("What would save most", ("Setting", "Saves", "Costs"), saves),
        )
    if document.sensitivity:
        chart = charts.sensitivity(document.sensitivity)
        yield ReportSection(
            title=f"What the verdict depends on: {document.turns_on}",
            text=document.what_changes,
            charts=(chart,),
            tables=_in_table(
                chart, ("Input, from and to", "Left over, compared with what you have")
            ),
        )
    yield _alone("All options", OPTION_HEADINGS, map(option_cells, document.options))
    cards = sorted(document.placements, key=lambda card: (not card.fits, -(card.decode_tps or 0.0)))
    yield replace(
        _alone(RUNTIMES, RUNTIME_HEADINGS, map(_card_cells, cards)),
        commands=tuple(_commands(others)),
    )
    inputs = _alone("Inputs", ("Input", "Value"), (document.request or document.inputs).items())
    yield replace(inputs, appendix=False)
    behind = [figure for figure in document.assumptions if figure.shown]
    rest = [figure for figure in document.assumptions if not figure.shown]
    yield _figures("Values and sources", behind or rest)  # an older report marks none
    yield _figures("Values of other runtimes", rest if behind else [])


def _alone(title: str, headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> ReportSection:
    """Section of the appendix that is one table."""
    return ReportSection(title=title, tables=word_table(title, headings, rows), appendix=True)


def word_table(
    title: str, headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]
) -> tuple[WordTable, ...]:
    """Table whose empty cells are marked; none without rows."""
    cells = tuple(tuple(cell or NONE for cell in row) for row in rows)
    if cells:
        return (WordTable(title=title, headings=headings, rows=cells),)
    return ()


def _figures(title: str, figures: Iterable[AssumptionRow]) -> ReportSection:
    rows = ((row.what, row.value, row.kind, row.source, row.date) for row in figures)
    return _alone(title, ("Figure", "Value", "Kind", "Source", "Date"), rows)


def _card_cells(card: PlacementCard) -> tuple[str, ...]:
    words = card_words(card)
    runs = card.fits and card.decode_tps is not None
    if card.ttft_s is None or not runs:
        first = ""
    else:
        first = units.seconds(card.mean_load_ttft_s or card.ttft_s)
    if runs:
        reason = card.bottleneck
    else:
        reason = card.explanation
    ends = words.range.removesuffix(" tokens/s")  # the unit stands beside it, with the speed
    return (card.runtime, words.name, words.figure, ends, first, reason)


def _in_table(chart: BarChart | LineChart, headings: tuple[str, ...]) -> tuple[WordTable, ...]:
    """Words of a bar chart as a table, for readers without pictures; none of lines."""
    if isinstance(chart, LineChart):
        return ()
    rows = (
        (bar.head, bar.figure, ", ".join(f"{part.name} {part.words}" for part in bar.parts))
        for bar in chart.bars
    )
    return word_table(chart.title, headings, (cells[: len(headings)] for cells in rows))


def _charts(document: ReportDocument) -> Iterator[BarChart | LineChart]:
    if document.token_time:
        yield charts.token_time(document.token_time)
    if document.memory:
        yield charts.memory_use(document.memory)
    if document.layer_sweep is not None and len(document.layer_sweep.x) > 1:
        yield charts.layers(document.layer_sweep)
    if curves := [line for line in document.cost_curves if line.x]:
        yield charts.costs(curves)


def _commands(cards: Iterable[PlacementCard]) -> Iterator[tuple[str, str]]:
    for card in cards:
        if card.fits and card.command:
            yield f"{card.runtime}, {PLACEMENTS[card.placement]}", card.command


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
