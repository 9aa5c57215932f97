"""Worst predicted groups, GPUs measured by several sources and by one, rows left aside."""

from collections.abc import Callable, Mapping

import streamlit as st
from markupsafe import Markup

from advisor.evidence.accuracy.scoring import (
    FEW_GROUPS,
    GroupScore,
    Score,
    bootstrap,
    by_card,
    with_doubtful,
    worst_groups,
)
from advisor.evidence.accuracy.shipped import Ledger
from advisor.formatting import percent
from advisor.ui.accuracy.scores import HELD, METRICS, WIDTH, counted
from advisor.ui.parts.glossary import term
from advisor.ui.parts.markup import columned, outward, say, show

WORST: Mapping[str, Callable[[GroupScore], object]] = {
    "Source and machine": lambda group: _opened(group),
    "Kind of run": lambda group: group.regime,
    "Figures": lambda group: f"{group.rows}",
    "Error": lambda group: f"{group.error:+.0%}".replace("%", " %"),
    HELD: lambda group: percent(group.covered),
    WIDTH: lambda group: f"{group.width:.2f}",
}
PARTS = {"Figures of": lambda score: score.regime, "Figures": counted, **METRICS}


def section(ledger: Ledger) -> None:
    """Worst groups, then seen and unseen cards, then rows that do not count."""
    say(
        "Groups of two or more figures, one source on one machine, by their median error. Most "
        "have causes that no column states: a driver, a power limit, other load, a build.",
        "oa-why",
    )
    worst = worst_groups(ledger.points)
    show(columned(WORST, worst, label="Groups farthest off", numeric=range(2, 6)))
    parts = [*by_card(ledger.points)]
    if ledger.doubtful:
        parts.append(with_doubtful(ledger.points, ledger.doubtful))
    with st.expander("GPUs with several sources and with one; doubtful rows"):
        show(columned(PARTS, parts, label="Parts of the figures", numeric=range(1, 7)))
        say(_left_aside(ledger), "oa-why")
    _few_groups(ledger)


def _opened(group: GroupScore) -> Markup | str:
    if not group.source.startswith("https://"):
        return group.group
    return outward(group.source, group.group)


def _left_aside(ledger: Ledger) -> str:
    if not ledger.doubtful:
        return "No row is left out."
    return (
        f"{len(ledger.doubtful)} figures of llama.cpp are not counted: their own source doubts "
        "them, or they are faster than the machine can read and compute, or slower than a "
        "twentieth of that. The rule uses no prediction."
    )


def _few_groups(ledger: Ledger) -> None:
    """Kinds of run with few groups, with the bootstrap interval of the share in range."""
    few = [score for score in ledger.scores[:-1] if 1 < score.groups < FEW_GROUPS]
    if not few:
        return
    with st.expander("Kinds of run with few groups"):

        def ends(score: Score) -> str:
            inside = [point for point in ledger.points if point.regime == score.regime]
            low, high = bootstrap(inside)
            return f"{100 * low:.0f} to {percent(high)}"

        columns = {
            "Kind of run": lambda score: score.regime,
            "Groups": lambda score: f"{score.groups}",
            term("In range, by group"): lambda score: percent(score.group_covered),
            term("Bootstrap interval"): ends,
        }
        show(columned(columns, few, label="Kinds of run with few groups", numeric=range(1, 4)))
