"""Reports side by side: differences in request, speeds, options and verdict."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from advisor.advice.advise import answer
from advisor.catalog.records import as_record
from advisor.errors import InputError
from advisor.formatting import hours, money
from advisor.model.resolve import ResolvedModel
from advisor.reports.charts import (
    COLOURS,
    Bar,
    BarChart,
    BarPart,
    bar_chart,
    cost_words,
    option_name,
    speed_words,
)
from advisor.reports.content import NONE, WordTable, best_options, shown_card, word_table
from advisor.reports.document import (
    OPTIONS,
    PLACEMENTS,
    OptionKind,
    PlacementKey,
    ReportDocument,
)
from advisor.reports.from_advice import answer_document
from advisor.reports.store.saved import SavedReport
from advisor.request.command_line import from_argv
from advisor.request.request import Request
from advisor.request.texts import from_texts
from advisor.units import number

# reports of a comparison
FEWEST = 2
MOST = 6


@dataclass(frozen=True, kw_only=True)
class ReportComparison:
    """Two to six reports side by side."""

    names: tuple[str, ...]  # names of the reports; a repeated name has its number with it
    # the same without the parts that all names share, or letters, at the heads of columns
    labels: tuple[str, ...]
    conclusion: str  # which is faster, and what that takes
    tables: tuple[WordTable, ...]  # differences in the request, speeds, options and verdicts
    chart: BarChart  # speeds with ranges on one scale


def compared(reports: Sequence[SavedReport], letters: Sequence[str] = ()) -> ReportComparison:
    """Comparison of two to six reports, in the given order; `letters` label them in place of their
    names.
    """
    if not FEWEST <= len(reports) <= MOST:
        raise InputError(
            f"{len(reports)} reports were given; {FEWEST} to {MOST} can stand side by side."
        )
    if len({report.id for report in reports}) < len(reports):
        raise InputError("A report was given twice; compare different ones.")
    names = tuple(_names(reports))
    labels = tuple(letters) or distinct(names)
    bars = tuple(_bars(labels, [report.document for report in reports]))
    return ReportComparison(
        names=names,
        labels=labels,
        conclusion=conclusion(labels, [report.document for report in reports]),
        tables=tuple(_tables(labels, reports)),
        chart=bar_chart("compared", "Speeds with their ranges", bars, "tokens/s"),
    )


SAME = 1.05  # factor of speed below which two answers are alike


def conclusion(names: Sequence[str], documents: Sequence[ReportDocument]) -> str:
    """Sentences on the fastest and the slowest report: the factor of their speeds, and their
    difference in cost.
    """
    speeds = {name: _fastest(document) for name, document in zip(names, documents, strict=True)}
    running = {name: speed for name, speed in speeds.items() if speed}
    if len(running) < FEWEST:
        runs = next(iter(running), "")
        if runs:
            return f"{runs} alone runs it."
        return "None of them runs it."
    first = max(running, key=lambda name: running[name])
    last = min(running, key=lambda name: running[name])
    factor = running[first] / running[last]
    if factor < SAME:
        return f"They are equally fast: {number(running[first])} tokens/s."
    of_name = dict(zip(names, documents, strict=True))
    told = f"{number(running[first])} instead of {number(running[last])} tokens/s"
    sentences = [f"{first} is {number(factor)} times as fast as {last}: {told}."]
    sentences += _what_it_takes(of_name[first], of_name[last])
    return " ".join(sentences)


def _fastest(document: ReportDocument) -> float:
    """Speed of the fastest placement that a report shows, 0 where none runs [tokens/s]."""
    cards = (shown_card(document, placement) for placement in PLACEMENTS)
    return max(
        (card.decode_tps or 0.0 for card in cards if card is not None and card.fits), default=0.0
    )


def _what_it_takes(faster: ReportDocument, slower: ReportDocument) -> Iterator[str]:
    """Price of the faster one's GPU where the other's options have it, and the waiting saved."""
    paid = [
        row.upfront_usd
        for row in slower.options
        if faster.gpu != slower.gpu and faster.gpu in row.name and row.upfront_usd
    ]
    if paid:
        yield f"Its card, {faster.gpu}, costs {money(min(paid))}."
    lost = [document.options[0].hours_lost for document in (slower, faster) if document.options]
    if len(lost) == FEWEST and None not in lost:
        before, after = (float(each or 0.0) for each in lost)
        if before > after:
            yield f"It saves {hours(before - after)} of waiting a month."


def _names(reports: Sequence[SavedReport]) -> Iterator[str]:
    names = [report.name for report in reports]
    for report in reports:
        again = names.count(report.name) > 1
        yield f"{report.name} (report {report.id})" if again else report.name


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names without the parts between commas that all have in common; whole names where nothing
    would remain.

    Names made of model, format and machine fill a heading of a table, and differ in a word.
    """
    parts = [name.split(", ") for name in names]
    shared = set.intersection(*map(set, parts))
    parted = tuple(", ".join(part for part in name if part not in shared) for name in parts)
    if all(parted):
        return tuple(name.removeprefix("on ") for name in parted)
    return tuple(names)


def _tables(names: tuple[str, ...], reports: Sequence[SavedReport]) -> Iterator[WordTable]:
    documents = [report.document for report in reports]
    same = ("everything", *["the same"] * len(names))
    measured = [" ".join(judged.words for judged in report.judged) for report in reports]
    tables: dict[str, Iterable[tuple[str, ...]]] = {
        "Inputs that differ": tuple(differences(documents, "input")) or (same,),
        "Speed": (
            (words, *(_speed(document, placement) for document in documents))
            for placement, words in PLACEMENTS.items()
        ),
        "What was measured": [("measured", *measured)] if any(measured) else (),
        "What it would cost to do better": _option_rows(documents),
        "Verdict": (
            ("verdict", *(document.verdict for document in documents)),
            ("made", *(f"{d.created_at[:10]}, version {d.version}" for d in documents)),
        ),
    }
    for title, rows in tables.items():
        yield from word_table(title, ("", *names), rows)


def _speed(document: ReportDocument, placement: PlacementKey) -> str:
    card = shown_card(document, placement)
    if card is None:
        return NONE
    if card.fits:
        return f"{speed_words(card)}, {card.runtime}"
    return speed_words(card)


def _option_rows(documents: Sequence[ReportDocument]) -> Iterator[tuple[str, ...]]:
    """Best option of each kind of each document beside each other; empty where it has none."""
    for kind, words in OPTIONS.items():
        cells = [_best_of(document, kind) for document in documents]
        if kind != "keep" and any(cells):
            yield (words, *cells)


def _best_of(document: ReportDocument, kind: OptionKind) -> str:
    rows = [row for row in best_options(document.options) if row.kind == kind]
    return next((_words(option_name(row), speed_words(row), cost_words(row)) for row in rows), "")


def _bars(names: Sequence[str], documents: Sequence[ReportDocument]) -> Iterable[Bar]:
    for placement, words in PLACEMENTS.items():
        for index, (name, document) in enumerate(zip(names, documents, strict=True)):
            card = shown_card(document, placement)
            if card is None or not card.fits or not card.decode_tps:
                continue
            yield Bar(
                head=f"{words}, {name}",
                figure=speed_words(card),
                parts=(BarPart(name=name, size=card.decode_tps, colour=index % len(COLOURS)),),
                low=card.decode_tps_low,
                high=card.decode_tps_high,
            )


def comparison_json(reports: Sequence[SavedReport]) -> dict[str, Any]:
    """Comparison for other programs, with numbers instead of words."""
    names = compared(reports).names
    return {
        "reports": [
            as_record(
                "compared",
                report,
                name=name,
                placements=[
                    as_record(
                        "placement", shown_card(report.document, placement), placement=placement
                    )
                    for placement in PLACEMENTS
                ],
                measured_tps=[result.decode_tps for result in report.results],
            )
            for name, report in zip(names, reports, strict=True)
        ],
        "differing_inputs": {
            name: values
            for name, *values in differences([report.document for report in reports], "input")
        },
    }


# Differences between reports, as of one and the same comparison computed today, with their reasons:
# the version, the figures that the answer rests on, and the prices.

ABSENT = {
    "answer": NONE,
    "version": NONE,
    "input": NONE,
    "figure": "not used",
    "price": "not offered",
}
"""Kinds of changes, the answers first, with the words for what one of the documents lacks."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """Figure of a report that has another value today."""

    kind: str  # a key of `ABSENT`: a changed answer, or a reason for one
    what: str  # name of the figure
    then: str  # its value in the report
    now: str  # its value today


def changes(then: ReportDocument, now: ReportDocument) -> tuple[Change, ...]:
    """Differences between two documents of one request, changed answers first."""
    return tuple(
        Change(kind=kind, what=what, then=before, now=after)
        for kind in ABSENT
        for what, before, after in differences((then, now), kind)
    )


def differences(documents: Sequence[ReportDocument], kind: str) -> Iterator[tuple[str, ...]]:
    """Name, and value in each document, of the facts of a kind that differ."""
    facts = [_facts(document)[kind] for document in documents]
    for name in dict.fromkeys(name for every in facts for name in every):
        values = tuple(every.get(name, ABSENT[kind]) for every in facts)
        if len(set(values)) > 1:
            yield (name, *values)


def _facts(document: ReportDocument) -> Mapping[str, Mapping[str, str]]:
    """Facts of a document that may change, by kind and name, in words."""
    speeds = {words: _speed(document, placement) for placement, words in PLACEMENTS.items()}
    return {
        "answer": {**speeds, "verdict": document.verdict},
        "version": {"version": document.version},
        "input": document.request or document.inputs,
        "figure": {
            row.what: _words(row.value, row.kind, row.date)
            for row in reversed(document.assumptions)
        },
        "price": {
            option_name(row): _words(cost_words(row), row.price_date or row.price_note) or NONE
            for row in document.options
        },
    }


def _words(*words: str) -> str:
    return ", ".join(filter(None, words))


def request_of(document: ReportDocument) -> Request:
    """Request that a report answers, from its inputs or its command."""
    if document.inputs:
        try:
            return from_texts(document.inputs)
        except InputError as error:
            raise InputError(
                f"The report was made with other inputs than today's: {error}"
            ) from error
    words = shlex.split(document.command)
    if "advise" not in words:
        raise InputError(
            f"The report {document.title[:80]!r} keeps no command that could be run again."
        )
    try:
        return from_argv(words[words.index("advise") + 1 :])
    except InputError as error:
        raise InputError(f"The report's command is not understood any more: {error}") from error


def recomputed(request: Request, resolved: ResolvedModel | None = None) -> ReportDocument:
    """Document of a report's request, computed again with today's version and prices."""
    return answer_document(answer(request.nouns(resolved)))


def change_tables(changed: Sequence[Change]) -> tuple[WordTable, ...]:
    """Tables of the changed answers and of the reasons."""
    return tuple(
        table
        for title, answered in (("Changed answers", True), ("Reasons", False))
        for table in word_table(
            title,
            ("", "Then", "Now"),
            ((c.what, c.then, c.now) for c in changed if (c.kind == "answer") is answered),
        )
    )
