"""Worst predicted groups, GPUs measured by several sources and by one, rows left aside."""

from collections.abc import Sequence

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
from advisor.ui.accuracy.scores import BY_GROUP, HELD, HELD_BY_GROUP, WIDTH, WITHIN
from advisor.ui.parts.glossary import term
from advisor.ui.parts.markup import outward, say, show, table, two_lines

HEADINGS = ("Source and machine", "Kind of run", "Figures", "Error", HELD, WIDTH)
PARTS = ("Figures of", "Figures", WITHIN, BY_GROUP, HELD, HELD_BY_GROUP, WIDTH)
SMALL = ("Kind of run", "Groups", HELD_BY_GROUP, term("Bootstrap interval"))


def section(ledger: Ledger) -> None:
    """Worst groups, then seen and unseen cards, then rows that do not count."""
    say(
        "Groups of two or more figures, one source on one machine, by their median error. Most "
        "have causes that no column states: a driver, a power limit, other load, a build.",
        "oa-why",
    )
    show(table(HEADINGS, map(_worst, worst_groups(ledger.points)), label="Groups farthest off",
               numeric=range(2, 6)))  # fmt: skip
    parts = [*by_card(ledger.points)]
    if ledger.doubtful:
        parts.append(with_doubtful(ledger.points, ledger.doubtful))
    with st.expander("Cards with several sources and with one; doubtful rows"):
        show(table(PARTS, map(_part, parts), label="Parts of the figures", numeric=range(1, 7)))
        say(_left_aside(ledger), "oa-why")
    _few_groups(ledger)


def _worst(group: GroupScore) -> Sequence[object]:
    off = f"{group.error:+.0%}".replace("%", " %")
    return (
        _opened(group), group.regime, f"{group.rows}", off, percent(group.covered),
        f"{group.width:.2f}",
    )  # fmt: skip


def _opened(group: GroupScore) -> Markup | str:
    if not group.source.startswith("https://"):
        return group.group
    return outward(group.source, group.group)


def _part(score: Score) -> Sequence[object]:
    return (
        score.regime,
        two_lines(f"{score.rows}", f"{score.groups} groups"),
        percent(score.median, 1),
        percent(score.group_median, 1),
        percent(score.covered),
        percent(score.group_covered),
        f"{score.width:.2f}",
    )


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
        rows = []
        for score in few:
            low, high = bootstrap(
                [point for point in ledger.points if point.regime == score.regime]
            )
            rows.append((score.regime, f"{score.groups}", percent(score.group_covered),
                         f"{100 * low:.0f} to {percent(high)}"))  # fmt: skip
        show(table(SMALL, rows, label="Kinds of run with few groups", numeric=range(1, 4)))
