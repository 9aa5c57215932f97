"""Table of runtimes, fastest first, with the effort to set them up and the command."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import streamlit as st
from markupsafe import Markup

from advisor.advice.advise import Answer
from advisor.advice.compare import TITLES, decode_tps
from advisor.advice.edits.remarks import remarks
from advisor.cost_model.estimate import Estimate
from advisor.formatting import memory, range_of, seconds, tokens_per_second
from advisor.runtimes import remarks_of
from advisor.runtimes.serving import setup_efforts
from advisor.ui.parts import tabs
from advisor.ui.parts.glossary import explained, explained_in_turn, term
from advisor.ui.parts.markup import columned, copyable, say, show, table, two_lines

COLUMNS: Mapping[str, Callable[[Estimate], object]] = {
    "Runtime": lambda row: two_lines(row.runtime, explained(row.format_note)),
    "Placement": lambda row: TITLES[row.strategy],
    "Speed": lambda row: _speed(row),
    "First token": lambda row: seconds(float(row.first_token.value)) if row.first_token else "",
    "Bound by": lambda row: explained(row.bottleneck),
    "Setup": lambda row: effort(row.runtime),
}


def runtimes(answer: Answer) -> None:
    """Runtimes and placements that work, fastest first; the others are folded."""
    estimates = answer.advice.estimates
    if ready := fitting(estimates):
        with st.container(key="runtimes"):
            show(columned(COLUMNS, ready, label="Runtimes, fastest first", numeric=(2, 3)))
        _told(choose("Command for", ready, answer.advice.best, key="command_of"))
    if others := [estimate for estimate in estimates if not bool(estimate.fits)]:
        with st.expander(f"{len(others)} that do not work here, and why"):
            rows = list(_reasons(others))
            show(
                table(("Runtime", "Placement", "Why not"), rows, label="Runtimes that do not work")
            )


def fitting(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Estimates that fit, fastest first."""
    ready = (estimate for estimate in estimates if bool(estimate.fits))
    return sorted(ready, key=decode_tps, reverse=True)


FIRST = ("Ollama", "LM Studio", "llama.cpp")
"""Programs that most people run at home, in the order of a choice."""


def run_it(answer: Answer) -> None:
    """Command of a program in its fastest placement, chosen among those that run it."""
    fastest: dict[str, Estimate] = {}
    for estimate in fitting(answer.advice.estimates):
        fastest.setdefault(estimate.runtime, estimate)
    ready = {name: fastest[name] for name in (*FIRST, *fastest) if name in fastest}
    if not ready:
        say("Nothing runs it here; All runtimes says why.", "oa-why")
        return
    best = answer.advice.best
    if st.session_state.get("program") not in ready:
        st.session_state["program"] = best.runtime if best else next(iter(ready))
    name = st.pills(
        "Program", list(ready), key="program", required=True, label_visibility="collapsed"
    )
    _told(ready[str(name)])


def _speed(row: Estimate) -> Markup:
    speed = row.decode
    ends = range_of(float(speed.low), float(speed.high)) if speed else ""
    return two_lines(tokens_per_second(decode_tps(row)), ends)


def effort(runtime: str) -> Markup | str:
    """Effort to set up a runtime, with the reason; empty where unknown."""
    row = setup_efforts().get(runtime)
    return term(row.effort, row.why) if row else ""


def _told(picked: Estimate) -> None:
    """Command with its remarks."""
    copyable(picked.command)

    def about() -> None:
        row = setup_efforts().get(picked.runtime)
        written = f"Written for {picked.how.version}.{f' {row.why}' if row else ''}"
        for sentence in explained_in_turn((written, *remarks(picked), *remarks_of(picked.how))):
            say(sentence)

    tabs.folded("About this command", f"about_{picked.runtime}_{picked.strategy.name}", about)


def _reasons(others: Sequence[Estimate]) -> Iterable[tuple[object, object, object]]:
    """One row for all placements of a runtime with the same reason."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for other in others:
        why = other.refusal or f"{other.model.format} is {memory(float(other.missing))} too large."
        grouped.setdefault((other.runtime, why), []).append(TITLES[other.strategy])
    for (runtime, why), placements in grouped.items():
        yield runtime, ", ".join(placements), explained(why)


def choose(
    label: str, estimates: Iterable[Estimate], best: Estimate | None, *, key: str
) -> Estimate:
    """Chosen estimate; an impossible choice falls back to the best, else to the first."""
    named = {f"{estimate.runtime}, {TITLES[estimate.strategy]}": estimate for estimate in estimates}
    if st.session_state.get(key) not in named:
        first = next(iter(named))
        st.session_state[key] = next((name for name in named if named[name] is best), first)
    return named[st.selectbox(label, named, key=key)]
