"""The Advise page: verdict, placements, ways out, certainty, and tabs drawn when opened."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import streamlit as st
from markupsafe import Markup

from advisor.advice.compare import TITLES, decode_tps
from advisor.advice.words.context_limits import context_notes
from advisor.advice.words.price_notes import price_notes
from advisor.advice.words.verdict import Judgement, VerdictText
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.evidence.accuracy.coverage import coverage_like
from advisor.evidence.accuracy.regimes import description
from advisor.evidence.accuracy.text import percent
from advisor.reports.charts import charts
from advisor.reports.document import from_advice
from advisor.ui.advise import (
    cards,
    certainty,
    concurrency,
    diagnosis,
    explanation,
    many_users,
    model_summary,
    options_table,
    placements,
    rent,
    runtime_table,
    tables,
    ways,
)
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.parts import comparison_charts
from advisor.ui.parts.code_block import copyable
from advisor.ui.parts.glossary import term
from advisor.ui.parts.markup import block, heading, joined, notice, show
from advisor.ui.question import chips, current, presets, uploads

TABS = "advise_tab"
"""Session key of the open tab."""


def shown(answer: AdviseAnswer) -> None:
    """One answer, from what was understood down to the tabs."""
    advice = answer.advice
    best = advice.best
    chips.row(answer.machine, answer.resolved.model, answer.work, answer.resolved.taken_as)
    presets.machines()
    _notices(answer)
    verdict(advice.summary)
    placements.row(answer, best)
    ways.row(answer, open_tab)
    certainty.line(answer, best)
    _tabs(answer)


def _notices(answer: AdviseAnswer) -> None:
    model, machine = answer.resolved.model, answer.machine
    uncertain = answer.resolved.notes if model.architecture.shape_uncertainty else ()
    lengths = context_notes(model, answer.work)
    prices = price_notes(answer.advice.question)
    for sentence in (*current.problems(), *lengths, *prices, *uncertain):
        notice(sentence, "warning")
    if machine.software_notes and answer.request.stated().keys() & {"driver", "build", "numa"}:
        notice(" ".join(machine.software_notes))


TONES = {"good": "oa-good-text", "partly": "oa-partly-text", "bad": "oa-bad-text"}


def verdict(words: VerdictText) -> None:
    """The two lines, and what they are counted with."""
    first, colon, rest = words.gives.partition(":")
    tone = TONES[placements.tone(words.judgement)]
    if words.judgement is Judgement.NOTHING or not colon:
        show(heading(words.gives, "", tone))
    else:
        show(heading(f"{first}:", rest, tone))
    show(block("oa-way", words.way, "p"))
    show(block("oa-soft", words.assumptions, "p"))


def open_tab(title: str) -> None:
    """Open a tab (for callbacks)."""
    st.session_state[TABS] = title


def _tabs(answer: AdviseAnswer) -> None:
    bodies: Mapping[str, Callable[[AdviseAnswer], None]] = {
        "Run it": _run,
        ways.COSTS: _costs,
        "Where the time goes": _time,
        "All runtimes": _runtimes,
        "Sources": _sources,
    }
    tabs = st.tabs(list(bodies), key=TABS, on_change="rerun")
    for tab, body in zip(tabs, bodies.values(), strict=True):
        if tab.open:
            with tab:
                body(answer)


def _run(answer: AdviseAnswer) -> None:
    """The command of a program, and what to do where it is slower than said."""
    runtime_table.run_it(answer)
    diagnosis.panel(answer)


def _costs(answer: AdviseAnswer) -> None:
    st.subheader("Options", anchor="options")
    options_table.options(answer)
    if curves := from_advice.cost_curves(answer.advice):
        comparison_charts.headed(charts.costs(curves), anchor="cost")
    rent.task_file(answer)


def _time(answer: AdviseAnswer) -> None:
    advice, machine, work = answer.advice, answer.machine, answer.work
    cards.cards(answer)
    left, right = st.columns(2, gap="medium")
    shown_cards = from_advice.shown_placements(advice)
    with left:
        if rows := from_advice.memory_use(advice, machine, work):
            comparison_charts.headed(charts.memory_use(rows), anchor="bytes")
        if any(card.fits for card in shown_cards):
            comparison_charts.headed(charts.speed(shown_cards), anchor="speed")
        sweep = from_advice.layer_sweep(advice, machine, work)
        if sweep is not None and len(sweep.x) > 1:
            comparison_charts.headed(charts.layers(sweep), anchor="layers")
    with right:
        if parts := from_advice.token_time(advice):
            comparison_charts.headed(charts.token_time(parts), anchor="time")
        if advice.best is not None:
            st.subheader("Faster, in order of gain", anchor="faster")
            tables.what_ifs(answer)
    concurrency.in_place_or_streamed(answer)


def _runtimes(answer: AdviseAnswer) -> None:
    runtime_table.runtimes(answer)
    concurrency.users_together(answer)
    many_users.many_users(answer)


def _sources(answer: AdviseAnswer) -> None:
    _how_sure(answer)
    for strategy in PlacementStrategy:
        estimate = answer.advice.card(strategy)
        if estimate is not None and estimate.step is not None:
            with st.expander(f"Figures behind {TITLES[strategy]}", key=f"figures_{strategy.name}"):
                show(joined(explanation.explanation(estimate)))
    model_summary.expander(answer)
    notes = (*answer.resolved.notes, *answer.machine.notes)
    if notes:
        show(joined(block("oa-soft", note, "p") for note in notes))
    st.subheader("The same on the command line", anchor="command")
    copyable(uploads.command_of(answer.request))


def _how_sure(answer: AdviseAnswer) -> None:
    """Accuracy of earlier predictions like these, and kinds of the figures behind the best."""
    st.subheader("How sure is this?", anchor="sure")
    best = answer.advice.best
    kinds = Counter(item.figure.kind.value for item in best.assumptions) if best else Counter()
    rests = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    sentences = (
        *_fared(answer),
        "A range should contain what you would measure in four cases of five.",
        f"The fastest placement rests on {sum(kinds.values())} figures: {rests}." if rests else "",
    )
    told = (Markup("{} ").format(sentence) for sentence in sentences if sentence)
    show(block("oa-why", joined(told), "p"))


def _fared(answer: AdviseAnswer) -> Iterable[Markup | str]:
    """Past accuracy of predictions like those shown, one sentence per kind of run."""
    each = (answer.advice.card(strategy) for strategy in PlacementStrategy)
    able: list[Estimate] = [card for card in each if card is not None and bool(card.fits)]
    rows = dict.fromkeys(row for card in able if (row := coverage_like(card)) is not None)
    for line in rows:
        runs = "measurement" if line.rows == 1 else "measurements"
        yield Markup(
            "Of {} {} of runs like this ({}), each predicted without its own source, {} lay within "
            "the range shown, and half within {} of the prediction."
        ).format(
            line.rows, runs, term(line.regime, description(line.regime)), line.held,
            percent(line.median_error),
        )  # fmt: skip
    if any(coverage_like(card) is None for card in able):
        names = dict.fromkeys(TITLES[card.strategy] for card in able if coverage_like(card) is None)
        yield f"No published run like {' and '.join(names)} states enough to be predicted."


def title(answer: AdviseAnswer) -> str:
    """Title of the browser's tab: model, machine and speed."""
    best = answer.advice.best
    speed = f"{decode_tps(best):.2g} tokens/s" if best else "does not run"
    return f"{answer.resolved.model.name}, {answer.machine.name}: {speed}"
