"""Tab How good: sentence and picture of six families; kinds of run, other tools, largest errors."""

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st
from markupsafe import Markup

from advisor.catalog.accuracy_points import PEERS, AccuracyPoint, Peer
from advisor.evidence.accuracy import scoring
from advisor.evidence.accuracy.fresh import last_scores
from advisor.evidence.accuracy.regimes import (
    ALL,
    FAMILIES,
    REGIMES,
    description,
    family_of,
)
from advisor.evidence.accuracy.text import allowed, floor_sentence, fresh_sentence
from advisor.formatting import percent
from advisor.reports.charts import Bar, BarChart, BarPart
from advisor.ui.parts.drawing import bars
from advisor.ui.parts.glossary import term
from advisor.ui.parts.markup import block, columned, heading, outward, say, show, table, two_lines


@st.cache_resource(show_spinner=False, max_entries=1)
def judged() -> scoring.Ledger:
    """Predictions with the published figures, shared by all sessions."""
    return scoring.shipped_ledger()


ENOUGH = 20  # figures from which a kind of run is named in the verdict
HELD = term("In the range")
WIDTH = term("Range width")
METRICS: Mapping[str, Callable[[scoring.Score], object]] = {
    term("Median error"): lambda score: percent(score.median, 1),
    term("By group"): lambda score: percent(score.group_median, 1),
    HELD: lambda score: two_lines(percent(score.covered), allowed(score)),
    term("In range, by group"): lambda score: percent(score.group_covered),
    WIDTH: lambda score: f"{score.width:.2f}",
}
"""Columns of every table of scores."""


def verdict(ledger: scoring.Ledger) -> Markup:
    """Accuracy in two lines."""
    *kinds, every = ledger.scores
    known = [score for score in kinds if score.rows >= ENOUGH]
    best, *_, worst = sorted(known, key=lambda score: score.median)
    own = (
        f"All {every.rows:,} published figures, each predicted without its source (without the "
        f"machine, for LocalScore): half within {percent(every.median)}, {percent(every.covered)} "
        f"in range. Kinds of run with {ENOUGH} figures and more: from {percent(best.median)} "
        f"({best.regime}) to {percent(worst.median)} ({worst.regime})."
    )
    met, *_ = last_scores()
    first = f"On machines new to us, half of the predictions were within {percent(met.error)}"
    return (
        heading(first, f" of the measured speed ({met.kind}).", "oa-good-text")
        + block("oa-way", fresh_sentence(last_scores()), "p")
        + block("oa-way", own, "p")
    )


def families(ledger: scoring.Ledger) -> Markup:
    """Chart of the median error of each family, with that of the best other tool as a mark."""
    every = _families(tuple(ledger.points))
    chart = BarChart(
        name="families",
        title="",
        alt="Median errors by family of runs",
        unit="%",
        bars=tuple(map(_bar, every)),
        mark="best other tool, on the runs that it covers",
    )
    told = (
        "Bars are median errors: half of the runs are nearer. A range should contain what you "
        f"would measure in four cases of five. {floor_sentence(ledger.floor)}"
    )
    return bars(chart) + block("oa-why", told, "p")


@st.cache_resource(show_spinner=False, max_entries=2, hash_funcs={tuple: id})
def _families(points: tuple[AccuracyPoint, ...]) -> list[scoring.Score]:
    by_family: dict[str, list[AccuracyPoint]] = {name: [] for name in FAMILIES}
    for point in points:
        by_family[family_of(point.regime)].append(point)
    return [scoring.score_of(name, inside) for name, inside in by_family.items() if inside]


def _bar(score: scoring.Score) -> Bar:
    peer = min(
        (peer for peer in score.peers if peer.rows >= ENOUGH),
        key=lambda peer: peer.median,
        default=None,
    )
    if peer is None:
        other = "no other tool covers them"
    else:
        other = (
            f"{peer.name} {percent(peer.median)} on {peer.rows:,} of them, where ours is "
            f"{percent(peer.own_median)}"
        )
    error = BarPart(name="median error", size=100 * score.median, colour=0)
    return Bar(
        head=score.regime,
        figure=f"half within {percent(score.median)}, {score.rows:,} runs, "
        f"{percent(score.covered)} in range; {other}",
        parts=(error,),
        limit=None if peer is None else 100 * peer.median,
    )


def regimes(ledger: scoring.Ledger) -> None:
    """Show a line for each kind of run, with the best public formula."""
    columns = {
        "Kind of run": lambda score: _explained(score.regime),
        "Figures": counted,
        **METRICS,
        "Best public formula": _best,
    }
    show(columned(columns, ledger.scores, label="Errors by kind of run", numeric=range(1, 7)))
    with st.expander("Kinds of run explained"):
        kinds = ((regime.name, regime.text) for regime in REGIMES)
        show(table(("Kind of run", "What it is"), kinds, label="Kinds of run"))
    say(
        "A range should contain what you would measure in four cases of five. The line under "
        "the share is what chance allows if that is true; it is wide for few groups. A group "
        "is one source on one machine, whose figures share their error. By group, a long "
        "sweep counts as much as a single figure.",
        "oa-why",
    )


def counted(score: scoring.Score) -> Markup:
    """Number of figures, and of groups."""
    if score.groups > 1:
        groups = f"{score.groups} groups"
    else:
        groups = "1 group"
    return two_lines(f"{score.rows:,}", groups)


def _explained(name: str) -> Markup | str:
    if name == ALL:
        return "all together"
    text = description(name)
    if text:
        return term(name, text)
    return name


def _best(score: scoring.Score) -> Markup | str:
    peer = score.best_peer
    if peer is None:
        if score.peers:
            few = "none covers most of them"
        else:
            few = "none covers it"
        if score.regime == ALL:
            return ""
        return few
    fewer = f"on {peer.rows} of them; ours {percent(peer.own_median, 1)}"
    told = "" if peer.rows == score.rows else fewer
    return two_lines(f"{percent(peer.median, 1)}, {peer.name}", told)


def formulas(ledger: scoring.Ledger) -> None:
    """Show each public formula on the rows that it can answer."""
    say(
        "Rewritten from their source code and given the same facts as our model: bytes of the "
        "file, bandwidths of the datasheet, RAM as stated or as we assume it. They were not "
        "made for these rows, and some are meant as bounds. Shown are median errors; where a "
        "formula covers only some figures, their number and our error on them.",
        "oa-why",
    )
    columns: Mapping[str, Callable[[scoring.Score], object]] = {
        "Kind of run": lambda score: score.regime,
        "This advisor": lambda score: two_lines(percent(score.median, 1), ""),
        **{peer.name: partial(_cell, peer.name) for peer in PEERS},
    }
    scored = [each for each in ledger.scores if each.peers]
    label = "Median errors of public formulas"
    with st.container(key="ledger_formulas"):
        show(columned(columns, scored, label=label, numeric=range(1, len(columns))))
    with st.expander("Formulas and sources"):
        show(columned(READ, PEERS, label="Public formulas"))


READ: Mapping[str, Callable[[Peer], object]] = {
    "Advisor": lambda peer: outward(peer.source, peer.name),
    "Formula": lambda peer: peer.formula,
    "Read": lambda peer: f"{peer.version}, {peer.date}",
}


def _cell(name: str, score: scoring.Score) -> Markup | str:
    peer = next((peer for peer in score.peers if peer.name == name), None)
    if peer is None:
        return ""
    if peer.rows == score.rows:
        part = ""
    else:
        part = f"{peer.rows}; ours {percent(peer.own_median, 1)}"
    return two_lines(percent(peer.median, 1), part)


# Worst predicted groups, GPUs measured by several sources and by one, rows left aside.


WORST: Mapping[str, Callable[[scoring.GroupScore], object]] = {
    "Source and machine": lambda group: _opened(group),
    "Kind of run": lambda group: group.regime,
    "Figures": lambda group: f"{group.rows}",
    "Error": lambda group: f"{group.error:+.0%}".replace("%", " %"),
    HELD: lambda group: percent(group.covered),
    WIDTH: lambda group: f"{group.width:.2f}",
}
PARTS = {"Figures of": lambda score: score.regime, "Figures": counted, **METRICS}


def largest_errors(ledger: scoring.Ledger) -> None:
    """Show the worst groups, then seen and unseen cards, then rows that do not count."""
    say(
        "Groups of two or more figures, one source on one machine, by their median error. Most "
        "have causes that no column states: a driver, a power limit, other load, a build.",
        "oa-why",
    )
    worst = scoring.worst_groups(ledger.points)
    show(columned(WORST, worst, label="Groups farthest off", numeric=range(2, 6)))
    parts = [*scoring.by_card(ledger.points)]
    if ledger.doubtful:
        parts.append(scoring.with_doubtful(ledger.points, ledger.doubtful))
    with st.expander("GPUs with several sources and with one; doubtful rows"):
        show(columned(PARTS, parts, label="Parts of the figures", numeric=range(1, 7)))
        say(_left_aside(ledger), "oa-why")
    _few_groups(ledger)


def _opened(group: scoring.GroupScore) -> Markup | str:
    if not group.source.startswith("https://"):
        return group.group
    return outward(group.source, group.group)


def _left_aside(ledger: scoring.Ledger) -> str:
    if not ledger.doubtful:
        return "No row is left out."
    return (
        f"{len(ledger.doubtful)} figures of llama.cpp are not counted: their own source doubts "
        "them, or they are faster than the machine can read and compute, or slower than a "
        "twentieth of that. The rule uses no prediction."
    )


def _few_groups(ledger: scoring.Ledger) -> None:
    """Kinds of run with few groups, with the bootstrap interval of the share in range."""
    few = [score for score in ledger.scores[:-1] if 1 < score.groups < scoring.FEW_GROUPS]
    if not few:
        return
    with st.expander("Kinds of run with few groups"):

        def ends(score: scoring.Score) -> str:
            inside = [point for point in ledger.points if point.regime == score.regime]
            low, high = scoring.bootstrap(inside)
            return f"{100 * low:.0f} to {percent(high)}"

        columns = {
            "Kind of run": lambda score: score.regime,
            "Groups": lambda score: f"{score.groups}",
            term("In range, by group"): lambda score: percent(score.group_covered),
            term("Bootstrap interval"): ends,
        }
        show(columned(columns, few, label="Kinds of run with few groups", numeric=range(1, 4)))
