"""The Advise page: verdict, placements, ways out, certainty, and tabs drawn when opened."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import streamlit as st
from markupsafe import Markup

from advisor.advice.advise import Answer
from advisor.advice.compare import TITLES, context_notes, decode_tps
from advisor.advice.edits.edit import Edited
from advisor.advice.words.verdict import Judgement, VerdictText, price_notes
from advisor.cost_model.estimate import BOUND_BY, Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.schedule import Route
from advisor.evidence.accuracy.regimes import CoverageRow, coverage_like, description
from advisor.formatting import number, percent, range_of, tokens_per_second
from advisor.machine.machine import Machine
from advisor.reports import charts, from_advice
from advisor.ui.advise import explanation, placements, ways
from advisor.ui.parts import tabs, unforeseen
from advisor.ui.parts.glossary import explained_in_turn, term
from advisor.ui.parts.markup import (
    block,
    boxed,
    copyable,
    heading,
    joined,
    listed,
    plain_words,
    pressed,
    say,
    show,
    two_lines,
)
from advisor.ui.question import chips, current, presets, this_machine, uploads

# How certain the answer is: runs like it, what is assumed, and what makes it surer.

MANY, NEAR, FAIR = 30, 0.1, 0.25
"""Measured runs, and median errors, from which an answer is called surer."""
LEVELS = {3: "High certainty.", 2: "Middling certainty.", 1: "Low certainty."}


def certainty(answer: Answer) -> Markup:
    """One line."""
    best = answer.advice.best
    if best is None:
        return Markup()
    row, assumed = coverage_like(best), _assumed(best, answer.nouns.machine)
    level = 1 if _crowded(best) else dots(row, assumed=bool(assumed))
    mark = Markup("<span class='oa-dots' aria-hidden='true'>{}</span><b>{}</b> {}").format(
        "\u25cf" * level + "\u25cb" * (3 - level), LEVELS[level],
        joined(_sentences(row, answer, assumed)),
    )  # fmt: skip
    return block(f"oa-certainty oa-sure-{level}", mark, "p")


def _assumed(best: Estimate, machine: Machine) -> str:
    """Speed that is assumed of what bounds the answer, else of its RAM; empty where none counts."""
    parts = {BOUND_BY[Route.IN_PLACE]: ("The memory speed", machine.host.bandwidth)}
    if machine.disk is not None:
        parts[BOUND_BY[Route.PAGED]] = "The speed of the drive", machine.disk.sequential
    if machine.gpus and not machine.unified:
        parts[BOUND_BY[Route.STREAMED]] = "The speed of the link", machine.gpus[0].link.pinned
    in_ram = best.strategy is not PlacementStrategy.GPU_RESIDENT or machine.unified
    for bound in (best.bottleneck, BOUND_BY[Route.IN_PLACE]):
        name, speed = parts.get(bound, ("", machine.host.bandwidth))
        if name and in_ram and speed.kind not in chips.STATED:
            return name
    return ""


def _crowded(best: Estimate) -> bool:
    """Whether a part of the file stays in memory only while no other program takes any."""
    return best.tight and best.strategy is PlacementStrategy.NVME_OFFLOAD


def dots(row: CoverageRow | None, *, assumed: bool) -> int:
    """Certainty as one to three dots, by runs like this one and by what is assumed."""
    if row is None or row.median_error > FAIR:
        return 1
    sure = row.rows >= MANY and row.median_error <= NEAR and not assumed
    return 3 if sure else 2


def _sentences(row: CoverageRow | None, answer: Answer, assumed: str) -> Iterable[Markup]:
    if row is None:
        yield Markup("No published run is like this one. ")
    else:
        runs = term(f"{row.rows} measured runs like this", description(row.regime))
        yield Markup("{}, half within {}. ").format(runs, percent(row.median_error))
    if answer.advice.best is not None and _crowded(answer.advice.best):
        yield Markup("What other programs take of the memory is read from the drive instead. ")
    if assumed:
        here = answer.nouns.request.here
        do = "measuring it takes seconds" if here else "set it above if you know it"
        yield Markup("{} is assumed; {}. ").format(assumed, do)
    seen = this_machine.seen() if answer.nouns.request.here else None
    if seen is not None and seen.stale:
        yield Markup("{}").format(seen.stale)


TABS = "advise_tab"
"""Session key of the open tab."""


def drawn(answer: Answer, offered: Sequence[ways.Way], before: str = "") -> Markup:
    """What the page says without a widget: notices, verdict, placements, ways out, certainty."""
    return joined((
        *_notices(answer), verdict(answer.advice.summary), placements.row(answer, before),
        ways.row(answer, offered), certainty(answer),
    ))  # fmt: skip


def shown(answer: Answer) -> None:
    """One answer, from what was understood down to the tabs."""
    best = answer.advice.best
    chips.row(
        answer.nouns.machine, answer.nouns.model, answer.nouns.work, answer.nouns.resolved.taken_as
    )
    presets.machines()
    offered = ways.ways(answer)
    with st.container(key="answer"):  # one element, so that it is drawn at once
        problems = joined(boxed(sentence, "warning") for sentence in current.problems())
        show(problems + drawn(answer, offered, _before(answer)))
    why = {placements.WHY: partial(st.session_state.update, {placements.WHY: True})}
    pressed(chips.actions() | ways.actions(offered, open_tab) | why)
    if answer.nouns.request.here and best is not None:
        this_machine.measure("certainty")
    _tabs(answer)
    if st.session_state.pop(placements.WHY, False) and best is not None:
        explanation.dialog(best)


def _notices(answer: Answer) -> Iterable[Markup]:
    nouns = answer.nouns
    model, machine = nouns.model, nouns.machine
    uncertain = nouns.resolved.notes if model.architecture.shape_uncertainty else ()
    notes = *context_notes(model, nouns.work), *price_notes(answer.advice.question), *uncertain
    for sentence in notes:
        yield boxed(sentence, "warning")
    software = answer.nouns.request.stated().keys() & {"driver", "build", "numa"}
    if machine.software_notes and software:
        yield boxed(" ".join(machine.software_notes))


def _before(answer: Answer) -> str:
    """Speed of the visitor's request before, where it was another one."""
    best, state = answer.advice.best, st.session_state
    text = "" if best is None else number(decode_tps(best))
    if best is not None and state.get("shown_speed") != text:
        state["speed_before"], state["shown_speed"] = state.get("shown_speed", ""), text
    return str(state.get("speed_before", ""))


TONES = {"good": "oa-good-text", "partly": "oa-partly-text", "bad": "oa-bad-text"}


def verdict(words: VerdictText) -> Markup:
    """The two lines, and what they are counted with."""
    first, colon, rest = words.gives.partition(":")
    tone = TONES["partly" if words.reserved else placements.tone(words.judgement)]
    if words.judgement is Judgement.NOTHING:
        first, colon, rest = words.gives, "", ""
    lines = (block("oa-way", words.way, "p"), block("oa-soft", words.assumptions, "p"))
    return block("oa-told", joined((heading(first + colon, rest, tone), *lines)))


def open_tab(title: str) -> None:
    """Open a tab (for callbacks)."""
    st.session_state[TABS] = title


def _tabs(answer: Answer) -> None:
    bodies: Mapping[str, Callable[[Answer], None]] = {
        "Run it": _run,
        ways.COSTS: _costs,
        "Where the time goes": _time,
        "All runtimes": _runtimes,
        "Sources": _sources,
    }
    row = st.tabs(list(bodies), key=TABS, on_change="rerun")
    # What only one tab draws is imported there, so that the page opens without it.
    for tab, body in zip(row, bodies.values(), strict=True):
        if tab.open:
            with tab:
                body(answer)


def _run(answer: Answer) -> None:
    """The command of a program, and what to do where it is slower than said."""
    from advisor.ui.advise import runtime_table

    runtime_table.run_it(answer)
    if any(estimate.decode is not None for estimate in answer.advice.estimates):
        _measured(answer)


@st.fragment
@unforeseen.named()
def _measured(answer: Answer) -> None:
    """Expander for a measured speed; what compares it is loaded when it is opened."""

    def body() -> None:
        from advisor.ui.advise import diagnosis

        diagnosis.body(answer)

    tabs.folded("Measured another speed?", "diagnose", body)


def _costs(answer: Answer) -> None:
    from advisor.ui.advise import costs

    costs.costs(answer)


def _time(answer: Answer) -> None:
    from advisor.ui.advise import agent_session, cards, concurrency
    from advisor.ui.parts import drawing

    advice, machine, work = answer.advice, answer.nouns.machine, answer.nouns.work
    if answer.nouns.session is not None:
        agent_session.agent_session(answer)
    cards.cards(answer)
    left, right = st.columns(2, gap="medium")
    with left:
        if rows := from_advice.memory_use(advice, machine, work):
            drawing.headed(charts.memory_use(rows), anchor="bytes")
        sweep = from_advice.layer_sweep(advice, machine, work)
        if sweep is not None and len(sweep.x) > 1:
            drawing.headed(charts.layers(sweep), anchor="layers")
    with right:
        if parts := from_advice.token_time(advice):
            drawing.headed(charts.token_time(parts), anchor="time")
        if advice.best is not None:
            st.subheader("Faster, in order of gain", anchor="faster")
            changes = advice.what_ifs[:7]
            names = explained_in_turn(plain_words(change.words) for change in changes)
            show(listed(
                (two_lines(name, plain_words(change.cost)), *_effect(change))
                for name, change in zip(names, changes, strict=True)
            ))  # fmt: skip
            if not changes:
                say("No smaller change makes it notably faster.")
    concurrency.in_place_or_streamed(answer)
    if answer.nouns.session is None:
        how = agent_session.HOW_TO_ASK
        tabs.folded("An agent's session", "open_session", lambda: say(how))


def _effect(change: Edited) -> tuple[str, str]:
    """What a change gains: a share and a speed; of a prompt when the first word comes."""
    if change.of_prompt:
        return "", change.effect
    return f"+{100 * (change.gain - 1):.0f} %", tokens_per_second(change.speed.decode)


def _runtimes(answer: Answer) -> None:
    from advisor.ui.advise import concurrency, many_users, runtime_table

    runtime_table.runtimes(answer)
    concurrency.users_together(answer)
    tabs.folded("Users under load", "open_load", lambda: many_users.load_and_servers(answer))


def _sources(answer: Answer) -> None:
    _how_sure(answer)
    for strategy in PlacementStrategy:
        estimate = answer.advice.card(strategy)
        if estimate is not None and estimate.step is not None:
            behind = f"{placements.name(answer, strategy)}: the figures behind it"
            with st.expander(behind, key=f"figures_{strategy.name}"):
                show(joined(explanation.explanation(estimate)))
    from advisor.ui.advise import model_summary

    model_summary.expander(answer)
    notes = (*answer.nouns.resolved.notes, *answer.nouns.machine.notes)
    show(joined(block("oa-soft", plain_words(note), "p") for note in notes))
    st.subheader("The same on the command line", anchor="command")
    copyable(uploads.command_of(answer.nouns.request))


def _how_sure(answer: Answer) -> None:
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
    say(Markup(" ").join(filter(None, sentences)), "oa-why")


def _fared(answer: Answer) -> Iterable[Markup | str]:
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
    from advisor.evidence.accuracy.brought_runs import measured_by_others

    best = answer.advice.best
    others = measured_by_others(best) if best else None
    if others is not None and best is not None and best.machine is not None:
        card, count = best.machine.gpus[0].name, others.publishers
        who = "One publisher has" if count == 1 else f"{count} publishers have"
        yield (
            f"{who} measured {best.model.name} in {best.model.format} on the {card}: "
            f"{range_of(others.low, others.high)} tokens/s"
            f"{f' ({others.years})' if others.years else ''}."
        )
    if any(coverage_like(card) is None for card in able):
        names = dict.fromkeys(TITLES[card.strategy] for card in able if coverage_like(card) is None)
        yield f"No published run like {' and '.join(names)} states enough to be predicted."


def title(answer: Answer) -> str:
    """Title of the browser's tab: model, machine and speed."""
    best = answer.advice.best
    speed = tokens_per_second(decode_tps(best)) if best else "does not run"
    return f"{answer.nouns.model.name}, {answer.nouns.machine.name}: {speed}"
