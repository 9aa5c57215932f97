"""How certain the answer is: runs like it, what is assumed, and what makes it surer."""

from collections.abc import Iterable

import streamlit as st
from markupsafe import Markup

from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.evidence.accuracy.coverage import CoverageRow, coverage_like
from advisor.evidence.accuracy.regimes import description
from advisor.evidence.accuracy.text import percent
from advisor.machine.quantity import Provenance
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.parts.glossary import term
from advisor.ui.parts.markup import joined, show
from advisor.ui.question import this_machine

MANY, NEAR, FAIR = 30, 0.1, 0.25
"""Measured runs, and median errors, from which an answer is called surer."""
LEVELS = {3: "High certainty.", 2: "Middling certainty.", 1: "Low certainty."}


def line(answer: AdviseAnswer, best: Estimate | None) -> None:
    """One line with its action."""
    if best is None:
        return
    row = coverage_like(best)
    of_ram = best.strategy is not PlacementStrategy.GPU_RESIDENT or answer.machine.unified
    assumed = of_ram and answer.machine.host.bandwidth.kind is Provenance.ASSUMED
    with st.container(
        horizontal=True, key="certainty", vertical_alignment="center",
        horizontal_alignment="distribute",
    ):  # fmt: skip
        show(_words(dots(row, assumed=assumed), joined(_sentences(row, answer, assumed=assumed))))
        if answer.request.here:
            this_machine.measure("certainty")


def dots(row: CoverageRow | None, *, assumed: bool) -> int:
    """Certainty as one to three dots, by runs like this one and by what is assumed."""
    if row is None or row.median_error > FAIR:
        return 1
    sure = row.rows >= MANY and row.median_error <= NEAR and not assumed
    return 3 if sure else 2


def _words(level: int, sentences: Markup) -> Markup:
    mark = "\u25cf" * level + "\u25cb" * (3 - level)
    return Markup("<p><span class='oa-dots' aria-hidden='true'>{}</span><b>{}</b> {}</p>").format(
        mark, LEVELS[level], sentences
    )


def _sentences(row: CoverageRow | None, answer: AdviseAnswer, *, assumed: bool) -> Iterable[Markup]:
    if row is None:
        yield Markup("No published run is like this one. ")
    else:
        runs = term(f"{row.rows} measured runs like this", description(row.regime))
        yield Markup("{}, half within {}. ").format(runs, percent(row.median_error))
    if assumed:
        here = answer.request.here
        do = "measuring it takes seconds" if here else "set it above if you know it"
        yield Markup("The memory speed is assumed; {}. ").format(do)
    seen = this_machine.seen() if answer.request.here else None
    if seen is not None and seen.stale:
        yield Markup("{}").format(seen.stale)
