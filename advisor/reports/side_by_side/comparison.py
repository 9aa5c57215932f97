"""Reports side by side: differences in request, speeds, options and verdict."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from advisor.errors import InputError
from advisor.reports.charts.chart_parts import COLOURS, Bar, BarChart, BarPart
from advisor.reports.charts.charts import bar_chart, cost_words, option_name, speed_words
from advisor.reports.content.front_page import best_options, shown_cards
from advisor.reports.content.section_tables import NONE, WordTable
from advisor.reports.document.document import ReportDocument
from advisor.reports.document.parts import PlacementCard, PlacementKey
from advisor.reports.document.words import PLACEMENTS
from advisor.reports.store.saved import SavedReport

FEWEST, MOST = 2, 6
"""Reports of a comparison."""
_OPTIONS = 3
"""Options of each report that are named."""


@dataclass(frozen=True, kw_only=True)
class ReportComparison:
    """Two to six reports side by side.

    Attributes:
        names: names of the reports; a repeated name has its number with it.
        labels: the same without the parts that all names share.
        tables: differences in the request, speeds, options and verdicts.
        chart: speeds with ranges on one scale.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    tables: tuple[WordTable, ...]
    chart: BarChart


def compared(reports: Sequence[SavedReport]) -> ReportComparison:
    """Comparison of reports, in the given order.

    Raises:
        InputError: fewer than two reports, more than six, or one twice.
    """
    if not FEWEST <= len(reports) <= MOST:
        raise InputError(
            f"{len(reports)} reports were given; {FEWEST} to {MOST} can stand side by side."
        )
    if len({report.id for report in reports}) < len(reports):
        raise InputError("A report was given twice; compare different ones.")
    names = tuple(_names(reports))
    labels = distinct(names)
    documents = [report.document for report in reports]
    return ReportComparison(
        names=names,
        labels=labels,
        tables=tuple(table for table in _tables(labels, reports, documents) if table.rows),
        chart=_chart(labels, documents),
    )


def _names(reports: Sequence[SavedReport]) -> Iterator[str]:
    names = [report.name for report in reports]
    for report in reports:
        again = names.count(report.name) > 1
        yield f"{report.name} (report {report.id})" if again else report.name


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names without the parts between commas that all of them share; whole where one has no other.

    Names made of model, format and machine fill a heading of a table, and differ in a word.
    """
    parts = [name.split(", ") for name in names]
    shared = set.intersection(*map(set, parts))
    own = tuple(", ".join(part for part in name if part not in shared) for name in parts)
    return tuple(name.removeprefix("on ") for name in own) if all(own) else tuple(names)


def _tables(
    names: tuple[str, ...], reports: Sequence[SavedReport], documents: Sequence[ReportDocument]
) -> Iterator[WordTable]:
    headings = ("", *names)
    differing = WordTable(
        title="Inputs that differ",
        headings=headings,
        rows=tuple(differing_inputs(documents)),
    )
    if not differing.rows:
        same = ("everything", *["the same"] * len(names))
        differing = WordTable(title=differing.title, headings=headings, rows=(same,))
    yield differing
    yield WordTable(
        title="Speed",
        headings=headings,
        rows=tuple(
            (words, *(_speed(document, placement) for document in documents))
            for placement, words in PLACEMENTS.items()
        ),
    )
    yield WordTable(
        title="What was measured", headings=headings, rows=tuple(_measured_rows(reports))
    )
    yield WordTable(
        title="What it would cost to do better",
        headings=headings,
        rows=tuple(_option_rows(documents)),
    )
    yield WordTable(
        title="Verdict",
        headings=headings,
        rows=(
            ("verdict", *(document.verdict for document in documents)),
            ("made", *(f"{d.created_at[:10]}, version {d.version}" for d in documents)),
        ),
    )


def differing_inputs(documents: Sequence[ReportDocument]) -> Iterator[tuple[str, ...]]:
    """Name and values of each input that differs between documents."""
    requests = [document.request or document.inputs for document in documents]
    for name in dict.fromkeys(name for request in requests for name in request):
        values = tuple(request.get(name, NONE) for request in requests)
        if len(set(values)) > 1:
            yield (name, *values)


def card_of_placement(document: ReportDocument, placement: PlacementKey) -> PlacementCard | None:
    """Card that represents a placement."""
    return next((card for card in shown_cards(document) if card.placement == placement), None)


def _speed(document: ReportDocument, placement: PlacementKey) -> str:
    card = card_of_placement(document, placement)
    if card is None:
        return NONE
    return f"{speed_words(card)}, {card.runtime}" if card.fits else speed_words(card)


def _measured_rows(reports: Sequence[SavedReport]) -> Iterator[tuple[str, ...]]:
    if any(report.results for report in reports):
        cells = (
            " ".join(judgement.words for judgement in report.judged) or NONE for report in reports
        )
        yield ("measured", *cells)


def _option_rows(documents: Sequence[ReportDocument]) -> Iterator[tuple[str, ...]]:
    options = [
        [row for row in best_options(document.options) if row.kind != "keep"][:_OPTIONS]
        for document in documents
    ]
    for place in range(max(map(len, options), default=0)):
        cells = (
            ", ".join(filter(None, (option_name(own[place]), speed_words(own[place]),
                                    cost_words(own[place]))))
            if place < len(own)
            else NONE
            for own in options
        )  # fmt: skip
        yield (f"option {place + 1}", *cells)


def _chart(names: Sequence[str], documents: Sequence[ReportDocument]) -> BarChart:
    bars = tuple(_bars(names, documents))
    return bar_chart("compared", "Speeds with their ranges", bars, "tokens/s")


def _bars(names: Sequence[str], documents: Sequence[ReportDocument]) -> Iterable[Bar]:
    for placement, words in PLACEMENTS.items():
        for place, (name, document) in enumerate(zip(names, documents, strict=True)):
            card = card_of_placement(document, placement)
            if card is None or not card.fits or not card.decode_tps:
                continue
            yield Bar(
                head=f"{words}, {name}",
                figure=speed_words(card),
                parts=(BarPart(name=name, size=card.decode_tps, colour=place % len(COLOURS)),),
                low=card.decode_tps_low,
                high=card.decode_tps_high,
            )


def comparison_json(reports: Sequence[SavedReport]) -> dict[str, Any]:
    """Comparison for other programs, with numbers instead of words.

    Raises:
        InputError: fewer than two reports, more than six, or one twice.
    """
    comparison = compared(reports)
    documents = [report.document for report in reports]
    return {
        "reports": [
            {
                "id": report.id,
                "name": name,
                "created_at": report.document.created_at,
                "version": report.document.version,
                "verdict": report.document.verdict,
                "placements": [_card_json(report.document, key) for key in PLACEMENTS],
                "measured_tps": [result.decode_tps for result in report.results],
            }
            for name, report in zip(comparison.names, reports, strict=True)
        ],
        "differing_inputs": {name: values for name, *values in differing_inputs(documents)},
    }


def _card_json(document: ReportDocument, placement: PlacementKey) -> dict[str, Any]:
    card = card_of_placement(document, placement)
    fields = ("runtime", "fits", "decode_tps", "decode_tps_low", "decode_tps_high", "ttft_s")
    return {
        "placement": placement,
        **{name: None if card is None else getattr(card, name) for name in fields},
    }
