"""Runtimes of the Advise page, fastest first, what each takes to set up, and what to type."""

from collections.abc import Iterable, Sequence

import streamlit as st
from markupsafe import Markup

from advisor.advice.cards import TITLES
from advisor.advice.compare import decode_tps
from advisor.advice.runtime_notes import remarks
from advisor.cost_model.estimate import Estimate
from advisor.formatting import memory, range_of, seconds, tokens_per_second
from advisor.runtimes.setup_effort import setup_efforts
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.advise.estimate_choice import choose
from advisor.ui.parts.markup import block, show, table, two_lines

HEADINGS = ("Runtime", "Placement", "Speed", "First token", "Bound by", "Setup")


def runtimes(answer: AdviseAnswer) -> None:
    """Every runtime and placement that works here, fastest first; the others folded below."""
    estimates = answer.advice.estimates
    ready = sorted((one for one in estimates if bool(one.fits)), key=decode_tps, reverse=True)
    if ready:
        with st.container(key="runtimes"):
            rows = map(_row, ready)
            show(table(HEADINGS, rows, label="Runtimes, fastest first", numeric=(2, 3)))
        _command(answer, ready)
    _refused([one for one in estimates if not bool(one.fits)])


def _row(one: Estimate) -> Sequence[object]:
    decode, first = one.decode, one.first_token
    speeds = range_of(float(decode.low), float(decode.high)) if decode else ""
    return (
        two_lines(one.runtime, one.becomes),
        TITLES[one.strategy],
        two_lines(tokens_per_second(decode_tps(one)), speeds),
        seconds(float(first.value)) if first else "",
        one.bottleneck,
        effort(one.runtime),
    )


def effort(runtime: str) -> Markup | str:
    """What it takes to set a runtime up, with the reason behind it; empty where nobody said."""
    row = setup_efforts().get(runtime)
    if row is None:
        return ""
    return Markup("<abbr title='{}' tabindex='0'>{}</abbr>").format(row.why, row.effort)


def _command(answer: AdviseAnswer, ready: Sequence[Estimate]) -> None:
    """The command of the one that is chosen, and what is to be known of it."""
    one = choose("Command for", ready, answer.advice.best, key="command_of")
    st.code(one.command, language=one.how.language, wrap_lines=True)
    row = setup_efforts().get(one.runtime)
    show(block("oa-soft", f"Written for {one.how.version}.{f' {row.why}' if row else ''}", "p"))
    for sentence in (*remarks(one), *one.how.notes):
        show(block("oa-soft", sentence, "p"))


def _refused(others: Sequence[Estimate]) -> None:
    if not others:
        return
    with st.expander(f"{len(others)} that do not work here, and why"):
        rows = list(_reasons(others))
        show(table(("Runtime", "Placement", "Why not"), rows, label="Runtimes that do not work"))


def _reasons(others: Sequence[Estimate]) -> Iterable[tuple[object, object, object]]:
    """One row for placements of a runtime that share their reason."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for one in others:
        why = one.refusal or f"{one.model.format} is {memory(float(one.missing))} too large."
        grouped.setdefault((one.runtime, why), []).append(TITLES[one.strategy])
    for (runtime, why), placements in grouped.items():
        yield runtime, ", ".join(placements), why
