"""The Advise page: verdict, placements, ways out, certainty, and tabs drawn when opened."""

from collections.abc import Iterable, Sequence
from functools import partial
from importlib import import_module

import streamlit as st
from markupsafe import Markup

from advisor.advice.advise import Answer
from advisor.advice.judgement import Judgement
from advisor.advice.words.verdict import VerdictText, price_notes
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.schedule import Route
from advisor.evidence.accuracy.regimes import (
    GUESSED,
    CoverageRow,
    coverage_like,
    description,
    is_guessed,
)
from advisor.formatting import percent
from advisor.machine.machine import Machine
from advisor.runtimes.compare import decode_tps
from advisor.ui.advise import known, placements, ways
from advisor.ui.parts import tabs
from advisor.ui.parts.glossary import term
from advisor.ui.parts.markup import block, boxed, heading, joined, pressed, show
from advisor.ui.question import chips, current, model_list, presets, refused, this_machine
from advisor.units import number, tokens_per_second

# How certain the answer is: runs like it, what is assumed, and what makes it surer.

MANY = 30
NEAR = 0.1
FAIR = 0.25
"""Measured runs, and median errors, from which an answer is called surer."""
MUCH = 0.8  # standard deviation with known speeds, as a share of that without, that raises it
LEVELS = {3: "High certainty.", 2: "Middling certainty.", 1: "Low certainty."}


def certainty(answer: Answer) -> Markup:
    """Line on the accuracy of predictions for published runs like the answer."""
    best = answer.advice.best
    if best is None:
        return Markup()
    row = coverage_like(best)
    assumed = _assumed(best, answer.nouns.machine)
    if is_guessed(best.model) or _crowded(best):
        level = 1
    else:
        level = dots(row, assumed=bool(assumed), known=_tells(best))
    mark = Markup("<span class='oa-dots' aria-hidden='true'>{}</span><b>{}</b> {}").format(
        "\u25cf" * level + "\u25cb" * (3 - level),
        LEVELS[level],
        joined(_sentences(row, answer, assumed)),
    )
    return block(f"oa-certainty oa-sure-{level}", mark + known.lines(answer))


def _tells(best: Estimate) -> bool:
    """Whether known speeds of the machine narrow the answer by much."""
    return best.token_lesson is not None and bool(best.token_lesson.narrower < MUCH)


def _assumed(best: Estimate, machine: Machine) -> str:
    """Assumed speed of the part that limits the answer, or of the RAM; empty where none is
    assumed.
    """
    parts = {Route.IN_PLACE.limit: ("The memory speed", machine.host.bandwidth)}
    if machine.disk is not None:
        parts[Route.PAGED.limit] = "The speed of the drive", machine.disk.sequential
    if machine.gpus and not machine.unified:
        parts[Route.STREAMED.limit] = "The speed of the link", machine.gpus[0].link.pinned
    in_ram = best.strategy is not PlacementStrategy.GPU_RESIDENT or machine.unified
    for bound in (best.bottleneck, Route.IN_PLACE.limit):
        name, speed = parts.get(bound, ("", machine.host.bandwidth))
        if name and in_ram and speed.kind not in chips.STATED:
            return name
    return ""


def _crowded(best: Estimate) -> bool:
    """Whether a part of the file stays in memory only while no other program takes any."""
    return best.tight and best.strategy is PlacementStrategy.NVME_OFFLOAD


def dots(row: CoverageRow | None, *, assumed: bool, known: bool = False) -> int:
    """Certainty as one to three dots, by similar runs and assumptions, with one more for known
    speeds.
    """
    if row is None or row.median_error > FAIR:
        level = 1
    elif row.rows >= MANY and row.median_error <= NEAR and not assumed:
        level = 3
    else:
        level = 2
    return min(level + known, max(LEVELS))


def _sentences(row: CoverageRow | None, answer: Answer, assumed: str) -> Iterable[Markup]:
    if row is None:
        yield Markup("No published run is like this one. ")
    else:
        runs = term(f"{row.rows} measured runs like this", description(row.regime))
        yield Markup("{}, half within {}. ").format(runs, percent(row.median_error))
    if is_guessed(answer.nouns.model):
        yield Markup("{} ").format(GUESSED)
    if answer.advice.best is not None and _crowded(answer.advice.best):
        yield Markup("What other programs take of the memory is read from the drive instead. ")
    if assumed:
        here = answer.nouns.request.here
        if here:
            do = "measuring it takes seconds"
        else:
            do = "state it"
        yield Markup("{} is assumed; {}. ").format(assumed, do)
    if answer.nouns.request.here:
        seen = this_machine.seen()
    else:
        seen = None
    if seen is not None and seen.stale:
        yield Markup("{}").format(seen.stale)


ANCHOR = Markup("<div id='run-it'></div>")  # place of the tabs, to which a phone's link leads
TABS = "advise_tab"  # session key of the open tab


def drawn(answer: Answer, offered: Sequence[ways.Way], before: str = "") -> Markup:
    """Parts of the page without a widget: notices, verdict, placements, ways out, certainty.

    Without a machine there is nothing to place a model on.
    """
    told = [*_notices(answer), verdict(answer.advice.summary)]
    if answer.nouns.request.nowhere:
        return joined((*told, ways.row(answer, offered), ANCHOR))
    on_it = placements.row(answer, before)
    return joined((*told, on_it, ways.row(answer, offered), certainty(answer), ANCHOR))


def shown(answer: Answer) -> None:
    """Show an answer, from the understood question down to the tabs."""
    best = answer.advice.best
    chips.row(
        answer.nouns.machine, answer.nouns.model, answer.nouns.work, answer.nouns.resolved.taken_as
    )
    presets.machines()
    offered = ways.ways(answer)
    nowhere = answer.nouns.request.nowhere
    # One element, so that it is drawn at once; its key says how high it is.
    with st.container(key="purchases" if nowhere else "answer"):
        problems = joined(boxed(sentence, "warning") for sentence in current.visit().problems)
        told = drawn(answer, offered, _before(answer))
        refused.keep(told)
        show(problems + told)
    why = {placements.WHY: partial(st.session_state.update, {placements.WHY: True})}
    opens = unfold if nowhere else open_tab
    pressed(chips.actions() | ways.actions(offered, opens) | known.actions(answer) | why)
    with st.container(key="beside_the_answer", horizontal=True, vertical_alignment="bottom"):
        ways.row_of_candidates(answer)
        if best is not None:
            known.row(answer)
    if answer.nouns.request.here and best is not None:
        this_machine.measure("certainty")
    _parts(answer)
    model_list.want(answer.nouns)
    if st.session_state.pop(placements.WHY, False) and best is not None:
        from advisor.ui.advise import sources

        sources.dialog(best)


def _parts(answer: Answer) -> None:
    """Tabs below an answer; folded where nothing is owned, as one of the tabs is always open."""
    if answer.nouns.request.nowhere:
        several = (EVERY,) if float(answer.nouns.work.users) > 1 else ()
        for name in (ways.COSTS, *several):
            tabs.folded(name, _fold(name), partial(_draw, name, answer))
        return
    for name, tab in zip(FILES, st.tabs(list(FILES), key=TABS, on_change="rerun"), strict=True):
        if tab.open:
            with tab:
                _draw(name, answer)


def _draw(name: str, answer: Answer) -> None:
    """Draw a part below an answer by its title."""
    import_module(f"advisor.ui.advise.{FILES[name]}").shown(answer)


def _notices(answer: Answer) -> Iterable[Markup]:
    nouns = answer.nouns
    model = nouns.model
    machine = nouns.machine
    if model.architecture.shape_uncertainty:
        uncertain = nouns.resolved.notes
    else:
        uncertain = ()
    notes = (
        *filter(None, (nouns.request.rate_note,)),
        *nouns.request_notes,
        *nouns.work.context_notes(model),
        *price_notes(answer.advice.question),
        *uncertain,
    )
    if notes:
        sentences = (note if note.endswith((".", "?")) else f"{note}." for note in notes)
        yield boxed(" ".join(sentences), "warning")
    software = answer.nouns.request.stated().keys() & {"driver", "build", "numa"}
    if machine.software_notes and software:
        yield boxed(" ".join(machine.software_notes))


def _before(answer: Answer) -> str:
    """Speed of the visitor's request before, where it was another one."""
    best = answer.advice.best
    state = st.session_state
    if best is None:
        text = ""
    else:
        text = number(decode_tps(best))
    if best is not None and state.get("shown_speed") != text:
        state["speed_before"] = state.get("shown_speed", "")
        state["shown_speed"] = text
    return str(state.get("speed_before", ""))


def verdict(words: VerdictText) -> Markup:
    """Two lines of the verdict, its remarks, and the assumptions behind it."""
    first, colon, rest = words.gives.partition(":")
    if words.reserved:
        tone = "partly"
    else:
        tone = placements.tone(words.judgement)
    if words.judgement is Judgement.NOTHING:
        first = words.gives
        colon = ""
        rest = ""
    named = (block("oa-way", sentence, "p") for sentence in (*words.remarks, *words.candidates))
    lines = (
        block("oa-way", words.way, "p"),
        *named,
        block("oa-soft", words.assumptions, "p"),
    )
    return block("oa-told", joined((heading(first + colon, rest, f"oa-{tone}-text"), *lines)))


def open_tab(title: str) -> None:
    """Open a tab (for callbacks)."""
    st.session_state[TABS] = title


def unfold(title: str) -> None:
    """Unfold a part that stands in place of a tab (for callbacks)."""
    st.session_state[_fold(title)] = True


EVERY = "All runtimes"  # title of the tab of all placements
FILES = {
    "Run it": "run_it",
    ways.COSTS: "costs",
    "Where the time goes": "token_time",
    EVERY: "runtimes",
    "Sources": "sources",
}
"""File that draws each tab, loaded when it is opened, so that the page opens without it."""


def _fold(title: str) -> str:
    """Session key of a folded part."""
    return f"fold_{FILES[title]}"


def title(answer: Answer) -> str:
    """Title of the browser's tab: model, machine and speed."""
    best = answer.advice.best
    if answer.nouns.request.nowhere:
        return f"{answer.nouns.model.title}: no machine yet"
    if best:
        speed = tokens_per_second(decode_tps(best))
    else:
        speed = "does not run"
    return f"{answer.nouns.model.title}, {answer.nouns.machine.name}: {speed}"
