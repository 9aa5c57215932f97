"""Main part of the Advise page: title, verdict, cards, charts, tables, accuracy."""

from collections import Counter
from collections.abc import Iterable, Sequence

import streamlit as st
from markupsafe import Markup

from advisor import formatting
from advisor.advice.compare import TITLES
from advisor.advice.words.context_limits import context_notes
from advisor.advice.words.price_notes import price_notes
from advisor.advice.words.verdict import VerdictText
from advisor.cost_model.placement import PlacementStrategy
from advisor.errors import AdvisorError, Refusal
from advisor.evidence.accuracy.coverage import coverage_like
from advisor.evidence.accuracy.regimes import description
from advisor.evidence.accuracy.text import percent
from advisor.machine.quantity import Provenance
from advisor.reports.charts import charts
from advisor.reports.document import from_advice
from advisor.reports.document.parts import PlacementCard, SweepSeries, TierUse, TimePart
from advisor.request.command_line import command
from advisor.ui.advise import (
    concurrency,
    diagnosis,
    many_users,
    model_summary,
    options_table,
    rent,
    runtime_table,
    save,
    tables,
)
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.advise.cards import cards
from advisor.ui.parts import comparison_charts, markup
from advisor.ui.parts.code_block import copyable
from advisor.ui.parts.glossary import term
from advisor.ui.parts.markup import block, joined, notice
from advisor.ui.sidebar import machine_panel
from advisor.ui.sidebar.choices import Choices
from advisor.ui.sidebar.model_choice import Picked
from advisor.ui.sidebar.model_panel import Wanted, suggestions


def impossible(picked: Picked, chosen: Choices, error: AdvisorError) -> None:
    """Message for choices that have no answer."""
    model = picked.resolved.model
    markup.show(block("oa-title", f"{model.name}, {chosen.form or model.format}", "h1"))
    notice(str(error), "error")
    if isinstance(error, Refusal):
        markup.show(block("oa-soft", "Choose another model or format in the sidebar.", "p"))


def unanswered(wanted: Wanted, problems: Iterable[str]) -> None:
    """Message for a model that is unknown or cannot be read; no other model is shown instead.

    On a phone the sidebar is closed, so the models that may be meant stand here, too.

    Args:
        wanted: problem with the model, and the models that may be meant.
        problems: problems with the opened link, one sentence each.
    """
    for sentence in (wanted.problem, *problems):
        notice(sentence, "warning")
    if wanted.close:
        markup.show(block("oa-soft", "Did you mean:", "p"))
        suggestions(wanted.close, "page")


def show(answer: AdviseAnswer, problems: Iterable[str]) -> None:
    """One comparison.

    Args:
        answer: the comparison.
        problems: problems with the opened link, one sentence each.
    """
    _head(answer)
    lengths = context_notes(answer.resolved.model, answer.work)
    prices = (*_unpaid(answer.choices), *price_notes(answer.advice.question))
    for sentence in (*problems, *lengths, *prices):
        notice(sentence, "warning")
    model_summary.expander(answer)
    cards(answer)
    _unknown(answer)
    _software(answer)
    diagnosis.panel(answer)
    _charts(answer)
    st.subheader("Options", anchor="options")
    options_table.options(answer)
    rent.task_file(answer)
    st.subheader("Runtimes for this, fastest first", anchor="runtimes")
    runtime_table.runtimes(answer)
    concurrency.users_together(answer)
    many_users.many_users(answer)
    concurrency.in_place_or_streamed(answer)
    _how_sure(answer)
    st.subheader("The same on the command line", anchor="command")
    copyable(command(answer.choices.copied))


def _unpaid(chosen: Choices) -> Iterable[str]:
    """Warning for a currency without an exchange rate."""
    if chosen.currency != chosen.paying.code:
        yield (
            f"Amounts are in US dollars until you type under Money what one {chosen.currency} is "
            "worth."
        )


def _head(answer: AdviseAnswer) -> None:
    words, actions = st.columns([2, 1], vertical_alignment="top")
    with words:
        markup.show(block("oa-title", answer.advice.title, "h1"))
    with actions, st.container(horizontal=True, horizontal_alignment="right"):
        save.save_button(answer)
        save.link_button(answer)
    _verdict(answer.advice.summary)


def _verdict(words: VerdictText) -> None:
    """What the machine gives, the best way out, and what both are counted with."""
    markup.show(block("oa-verdict", words.gives, "p"))
    markup.show(block("oa-why", words.way, "p"))
    markup.show(block("oa-soft", words.assumptions, "p"))


def _unknown(answer: AdviseAnswer) -> None:
    """Warning for an assumed speed that decides the answer."""
    figure = answer.machine.host.bandwidth
    if figure.kind is not Provenance.ASSUMED:
        return
    speed = formatting.rate(float(figure.value))
    words, action = st.columns([2, 1], vertical_alignment="center")
    here = answer.choices.this_machine
    do = "measure it in a few seconds" if here else "type it in the sidebar if you know it"
    with words:
        notice(f"The RAM speed is assumed: {speed}; {do}.")
    with action:
        if here:
            machine_panel.measure("main")


def _software(answer: AdviseAnswer) -> None:
    """How stated software is taken, and what is assumed of it."""
    if answer.machine.software_notes:
        notice(" ".join(answer.machine.software_notes))


def _charts(answer: AdviseAnswer) -> None:
    advice, machine, work = answer.advice, answer.machine, answer.work
    left, right = st.columns(2, gap="medium")
    with left:
        _memory(from_advice.memory_use(advice, machine, work))
        _speed(from_advice.shown_placements(advice))
        _layers(from_advice.layer_sweep(advice, machine, work))
    with right:
        _time(from_advice.token_time(advice))
        if advice.best is not None:
            st.subheader("Faster, in order of gain", anchor="faster")
            tables.what_ifs(answer)
        _cost(from_advice.cost_curves(advice))


def _memory(rows: Sequence[TierUse]) -> None:
    if rows:
        comparison_charts.headed(charts.memory_use(rows), anchor="bytes")


def _time(parts: Sequence[TimePart]) -> None:
    if parts:
        comparison_charts.headed(charts.token_time(parts), anchor="time")


def _speed(placements: Sequence[PlacementCard]) -> None:
    if any(card.fits for card in placements):
        comparison_charts.headed(charts.speed(placements), anchor="speed")


def _layers(sweep: SweepSeries | None) -> None:
    if sweep is not None and len(sweep.x) > 1:
        comparison_charts.headed(charts.layers(sweep), anchor="layers")


def _cost(curves: Sequence[SweepSeries]) -> None:
    if curves:
        comparison_charts.headed(charts.costs(curves), anchor="cost")


def _how_sure(answer: AdviseAnswer) -> None:
    st.subheader("How sure", anchor="sure")
    best = answer.advice.best
    kinds = (
        Counter(str(assumption.figure.kind.value) for assumption in best.assumptions)
        if best
        else Counter()
    )
    rests = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    sentences = (
        *_fared(answer),
        "A range should contain what you would measure in four cases of five.",
        f"The fastest placement rests on {sum(kinds.values())} figures: {rests}." if rests else "",
        "“Why this number?” on a card lists its figures.",
    )
    told = (Markup("{} ").format(sentence) for sentence in sentences if sentence)
    markup.show(block("oa-why", joined(told), "p"))


def _fared(answer: AdviseAnswer) -> Iterable[Markup | str]:
    """Past accuracy of predictions like those on the cards, one sentence per kind of run."""
    shown = (answer.advice.card(strategy) for strategy in PlacementStrategy)
    able = [estimate for estimate in shown if estimate is not None and bool(estimate.fits)]
    rows = dict.fromkeys(row for estimate in able if (row := coverage_like(estimate)) is not None)
    for row in rows:
        runs = "measurement" if row.rows == 1 else "measurements"
        yield Markup(
            "Of {} {} of runs like this ({}), each predicted without its own source, {} lay within "
            "the range shown, and half within {} of the prediction."
        ).format(
            row.rows, runs, term(row.regime, description(row.regime)), row.held,
            percent(row.median_error),
        )  # fmt: skip
    if any(coverage_like(estimate) is None for estimate in able):
        names = dict.fromkeys(
            TITLES[estimate.strategy] for estimate in able if coverage_like(estimate) is None
        )
        yield f"No published run like {' and '.join(names)} states enough to be predicted."
