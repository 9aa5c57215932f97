"""Differences between a saved report and the same comparison computed today, with their reasons.

The reasons are the version, the figures that the answer rests on, and the prices.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from advisor.advice.answer import answer
from advisor.errors import InputError
from advisor.model.resolve import ResolvedModel
from advisor.reports.charts.charts import cost_words, option_name, speed_words
from advisor.reports.content.section_tables import NONE, WordTable
from advisor.reports.document.document import ReportDocument
from advisor.reports.document.from_advice import answer_document
from advisor.reports.document.parts import AssumptionRow, OptionRow
from advisor.reports.document.words import PLACEMENTS
from advisor.reports.side_by_side.comparison import card_of_placement
from advisor.request.command_line import from_argv
from advisor.request.request import Request
from advisor.request.texts import from_texts

ChangeKind = Literal["answer", "version", "figure", "price", "input"]
HEADINGS = ("", "Then", "Now")
SHOWN_ONLY = {"--save": 1, "--author": 1, "--also": 1, "--json": 0}
"""Options of a command that change no answer, and how many words follow each."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One difference.

    Attributes:
        kind: a changed answer, or a reason for one.
        what: name of the figure.
        then: its value in the report.
        now: its value today.
    """

    kind: ChangeKind
    what: str
    then: str
    now: str


def changes(then: ReportDocument, now: ReportDocument) -> tuple[Change, ...]:
    """Differences between two documents of one request, changed answers first."""
    every = (
        *_answers(then, now),
        Change(kind="version", what="version", then=then.version, now=now.version),
        *_inputs(then, now),
        *_figures(then, now),
        *_prices(then, now),
    )
    return tuple(change for change in every if change.then != change.now)


def request_of(document: ReportDocument) -> Request:
    """Request that a report answers: of its inputs, else of its command.

    Raises:
        InputError: the report has neither, or this version does not know them.
    """
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
        return from_argv(_answering(words[words.index("advise") + 1 :]))
    except InputError as error:
        raise InputError(f"The report's command is not understood any more: {error}") from error


def _answering(words: Sequence[str]) -> list[str]:
    """Words of a command without the options that change no answer."""
    kept: list[str] = []
    skip = 0
    for word in words:
        name = word.split("=")[0]
        if skip or name in SHOWN_ONLY:
            skip = skip - 1 if skip else (0 if "=" in word else SHOWN_ONLY[name])
        else:
            kept.append(word)
    return kept


def recomputed(request: Request, resolved: ResolvedModel | None = None) -> ReportDocument:
    """Comparison of a report, computed again with today's version and prices.

    Args:
        request: as `request_of` the report.
        resolved: its model, where that is at hand; None to look it up.

    Raises:
        AdvisorError: the request has no answer any more.
    """
    return answer_document(answer(request.nouns(resolved)))


def change_tables(changed: tuple[Change, ...]) -> tuple[WordTable, ...]:
    """Tables of the changed answers and of the reasons."""
    answers = [change for change in changed if change.kind == "answer"]
    reasons = [change for change in changed if change.kind != "answer"]
    return tuple(
        WordTable(
            title=title,
            headings=HEADINGS,
            rows=tuple((change.what, change.then, change.now) for change in group),
        )
        for title, group in (("Changed answers", answers), ("Reasons", reasons))
        if group
    )


def _answers(then: ReportDocument, now: ReportDocument) -> Iterator[Change]:
    for placement, words in PLACEMENTS.items():
        cards = [card_of_placement(document, placement) for document in (then, now)]
        before, after = (
            NONE if card is None else f"{speed_words(card)}, {card.runtime}" for card in cards
        )
        yield Change(kind="answer", what=words, then=before, now=after)
    yield Change(kind="answer", what="verdict", then=then.verdict, now=now.verdict)


def _inputs(then: ReportDocument, now: ReportDocument) -> Iterator[Change]:
    for name in dict.fromkeys((*then.request, *now.request)):
        if then.request:  # reports of older formats do not say
            before, after = then.request.get(name, NONE), now.request.get(name, NONE)
            yield Change(kind="input", what=name, then=before, now=after)


def _figures(then: ReportDocument, now: ReportDocument) -> Iterator[Change]:
    before, after = (_by_name(document.assumptions) for document in (then, now))
    for name in dict.fromkeys((*before, *after)):
        yield Change(kind="figure", what=name, then=_figure(before, name), now=_figure(after, name))


def _by_name(figures: tuple[AssumptionRow, ...]) -> dict[str, AssumptionRow]:
    return {figure.what: figure for figure in reversed(figures)}


def _figure(figures: Mapping[str, AssumptionRow], name: str) -> str:
    figure = figures.get(name)
    if figure is None:
        return "not used"
    return ", ".join(filter(None, (figure.value, figure.kind, figure.date)))


def _prices(then: ReportDocument, now: ReportDocument) -> Iterator[Change]:
    before, after = (
        {option_name(row): row for row in document.options} for document in (then, now)
    )
    for name in dict.fromkeys((*before, *after)):
        yield Change(kind="price", what=name, then=_price(before, name), now=_price(after, name))


def _price(options: Mapping[str, OptionRow], name: str) -> str:
    row = options.get(name)
    if row is None:
        return "not offered"
    return ", ".join(filter(None, (cost_words(row), row.price_date or row.price_note))) or NONE
