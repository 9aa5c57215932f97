"""First page of a report in words, common to all file formats.

Name, verdict, the three placements, what it would cost to do better, what was measured, who made it
and when.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from advisor import formatting
from advisor.reports.charts.charts import cost_words, option_name, speed_words
from advisor.reports.document.document import ReportDocument
from advisor.reports.document.parts import PLACEMENTS, OptionRow, PlacementCard, PlacementKey
from advisor.reports.store.saved import SavedReport

MOST_OPTIONS = 7
"""Most options on the first page; the others follow behind it."""
OPTION_HEADINGS = ("Option", "Speed", "Cost", "Waiting", "Price", "Worth it")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


@dataclass(frozen=True, kw_only=True)
class CardWords:
    """A placement in words."""

    placement: PlacementKey  # key of the placement
    name: str  # name of the placement
    figure: str  # speed, or "does not fit"
    range: str  # range of the speed, or missing memory; may be empty
    lines: tuple[str, ...]  # first token, bottleneck, runtime and format, explanation


@dataclass(frozen=True, kw_only=True)
class FrontPage:
    """First page of a report."""

    name: str  # name given by the author
    title: str  # model, format and machine; empty where the name has them
    verdict: str  # the answer in a sentence
    reasons: str  # rest of the verdict: alternatives, and when they pay; may be empty
    cards: tuple[CardWords, ...]  # the placements
    options: tuple[OptionRow, ...]  # ways to run it faster or cheaper, the present machine first
    unable: str  # line with the runtimes that cannot run it; empty for none
    results: tuple[str, ...]  # one sentence per measured result
    notes: str  # notes of the author
    facts: tuple[str, ...]  # author, time, version, caveats, tags


def front_page(report: SavedReport) -> FrontPage:
    """First page of a saved report."""
    document = report.document
    verdict, reasons = parted(document.verdict)
    return FrontPage(
        name=report.name,
        title="" if report.name == document.title else document.title,
        verdict=verdict,
        reasons=reasons,
        cards=tuple(card_words(card) for card in shown_cards(document)),
        options=best_options(document.options),
        unable=unable(document.placements),
        results=tuple(judged.words for judged in report.judged),
        notes=report.notes,
        facts=tuple(filter(None, _facts(report))),
    )


def parted(verdict: str) -> tuple[str, str]:
    """First sentence of a verdict, and the rest."""
    answer, *rest = _SENTENCE_ENDS.split(verdict, maxsplit=1)
    return answer, "".join(rest)


def _facts(report: SavedReport) -> Iterable[str]:
    document = report.document
    made = f"Made by {report.author}, " if report.author else "Made "
    when = formatting.moment(document.created_at)
    yield f"{made}{when}, with Offload Advisor {document.version}."
    yield from document.caveats
    yield f"Tags: {', '.join(report.tags)}." if report.tags else ""


def shown_cards(document: ReportDocument) -> tuple[PlacementCard, ...]:
    """Card that represents each placement, in a fixed order.

    A report that does not say which it showed gives the fastest that fits, of the runtime that was
    asked about where one was, else one that says why not.
    """
    cards = (_shown_card(document, placement) for placement in PLACEMENTS)
    return tuple(card for card in cards if card is not None)


def _shown_card(document: ReportDocument, placement: PlacementKey) -> PlacementCard | None:
    own = [
        card
        for card in document.placements
        if card.placement == placement and document.runtime in ("", card.runtime)
    ]
    marked = [card for card in own if card.shown]
    return max(marked or own, key=lambda card: (card.fits, card.decode_tps or 0.0), default=None)


def card_words(card: PlacementCard) -> CardWords:
    """Card in words."""
    name = PLACEMENTS[card.placement]
    if not card.fits or card.decode_tps is None:
        missing = card.missing_bytes
        return CardWords(
            placement=card.placement,
            name=name,
            figure=formatting.UNKNOWN if card.fits else card.obstacle,
            range="" if missing is None else f"{formatting.memory(missing)} short",
            lines=tuple(filter(None, (card.runtime, card.explanation))),
        )
    low, high = card.decode_tps_low, card.decode_tps_high
    ends = None if low is None or high is None else (low, high)
    return CardWords(
        placement=card.placement,
        name=name,
        figure=formatting.tokens_per_second(card.decode_tps),
        range=formatting.range_of(*ends, formatting.tokens_per_second) if ends else "",
        lines=tuple(filter(None, _card_lines(card))),
    )


def _card_lines(card: PlacementCard) -> Iterable[str]:
    if card.ttft_s is not None:
        ends = ""
        if card.ttft_s_low is not None and card.ttft_s_high is not None:
            span = formatting.range_of(card.ttft_s_low, card.ttft_s_high, formatting.seconds)
            ends = f" ({span})"
        yield f"first token after {formatting.seconds(card.ttft_s)}{ends}"
    yield f"bound by {card.bottleneck}" if card.bottleneck else ""
    yield card.runtime
    yield card.explanation


def unable(cards: Sequence[PlacementCard]) -> str:
    """Line with the runtimes that fit in no placement."""
    able = {card.runtime for card in cards if card.fits}
    names = dict.fromkeys(card.runtime for card in cards if card.runtime not in able)
    return f"Runtimes that cannot run it here: {', '.join(names)}." if names else ""


def best_options(options: Sequence[OptionRow]) -> tuple[OptionRow, ...]:
    """Best options: the first of each kind, then those that no other beats.

    An option is beaten where another is at least as fast for no more a month. Those without a
    price stand only where no option of their kind has one.
    """
    first = {row.kind: place for place, row in reversed(list(enumerate(options)))}
    places = dict.fromkeys([*sorted(first.values()), *_unbeaten(options)])
    return tuple(options[place] for place in sorted(list(places)[:MOST_OPTIONS]))


def _unbeaten(options: Sequence[OptionRow]) -> Iterable[int]:
    priced = [
        (row.monthly_usd, -row.decode_tps, place)
        for place, row in enumerate(options)
        if row.monthly_usd is not None and row.decode_tps is not None
    ]
    fastest = 0.0
    for _, speed, place in sorted(priced):
        if -speed > fastest:
            fastest = -speed
            yield place


def option_cells(row: OptionRow) -> tuple[str, ...]:
    """Cells of an option's row, under `OPTION_HEADINGS`."""
    pays = {True: "yes", False: "no", None: ""}[row.pays]
    return (
        option_name(row),
        speed_words(row),
        cost_words(row) or "no price known",
        _waiting(row),
        row.price_date or row.price_note,
        row.verdict or pays,
    )


def option_note(row: OptionRow) -> str:
    """Waiting, worth and price of an option in a line."""
    _, _, _, waiting, price, worth = option_cells(row)
    return "; ".join(filter(None, (waiting, worth, price)))


def _waiting(row: OptionRow) -> str:
    if row.hours_lost is not None:
        return f"{formatting.hours(row.hours_lost)} a month"
    saved = formatting.hours(abs(row.saves_hours or 0.0))
    if saved == formatting.hours(0.0):
        return ""
    word = "saves" if (row.saves_hours or 0.0) >= 0 else "costs"
    return f"{word} {saved} a month"
