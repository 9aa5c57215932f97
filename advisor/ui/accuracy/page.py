"""Page How we know: accuracy of predictions, method, claims of articles, workshop."""

from collections.abc import Callable, Mapping

import streamlit as st

from advisor.errors import AdvisorError
from advisor.ui.accuracy import method, months, points, scores
from advisor.ui.accuracy.claims import claims_section
from advisor.ui.accuracy.dates import dates_section
from advisor.ui.accuracy.scores import judged
from advisor.ui.parts import tabs
from advisor.ui.parts.markup import block, notice, show
from advisor.ui.question import current, models, row, this_machine

HOW_GOOD = "How good"
HOW_IT_WORKS = "How it works"
MYTHS = "Myths"
DATES = "Dates"
WORKSHOP = "Workshop"
TAB = "knowledge"
BENCH = "bench"
"""Keys of the tabs and of the pills of the workshop, in the address too."""


def shown(first: str) -> None:
    """Tabs of the page, the first of which is named."""
    bodies: Mapping[str, Callable[[], None]] = {
        HOW_GOOD: _how_good, HOW_IT_WORKS: _how_it_works, MYTHS: claims_section,
        DATES: dates_section, WORKSHOP: _workshop,
    }  # fmt: skip
    tabs.opened(bodies, TAB, first)


def _how_good() -> None:
    accuracy = judged()
    with st.container(key="how_good"):
        show(scores.verdict(accuracy) + scores.families(accuracy))
        months.alarm_notice()
        this_machine.page_link()


def _how_it_works() -> None:
    """Routes of the present question, then the formulas; those hold without it."""
    with st.container(key="idea"):
        show(method.IDEA)
    row.question()
    request = current.present()
    try:
        nouns = request.nouns(models.pick(request.model).in_format(request.format))
        with st.container(key="routes"):
            show(method.five_routes(nouns.model, nouns.machine, nouns.work))
    except AdvisorError as error:
        notice(str(error), "error")
    method.general()


def _workshop() -> None:
    """One part at a time, since each is long."""
    show(block("oa-title", "What lies behind it", "h1"))
    parts: Mapping[str, Callable[[], None]] = {
        "Kinds of run": lambda: scores.regimes(judged()),
        "Largest errors": lambda: scores.largest_errors(judged()),
        "Every figure": lambda: points.figures((*judged().points, *points.points())),
        "Watched": months.section,
        "Other tools": lambda: scores.formulas(judged()),
        "Constants": method.figures,
    }
    chosen = st.pills(
        "Part",
        list(parts),
        default="Kinds of run",
        key=BENCH,
        required=True,
        label_visibility="collapsed",
        bind="query-params",
    )
    parts[chosen]()
