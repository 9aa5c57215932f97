"""Accuracy by engine, family and month, from one commit to the next, and what got worse."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from advisor.evidence.accuracy.months import (
    UNDATED,
    WORSE_BY,
    WORSE_OF,
    MonthScore,
    alarms,
    kept_scores,
    last_two,
)
from advisor.formatting import percent
from advisor.ui.parts.markup import columned, notice, say, show, two_lines

EVERY = "all engines"
PLACE = "watched"
SHOWN = 3  # alarms that are named below the scores of the page


@dataclass(frozen=True, kw_only=True)
class ComparedScore:
    """Score of a group by the last saved commit, and by the commit before."""

    now: MonthScore
    before: MonthScore | None  # None for a group that is new


COLUMNS: Mapping[str, Callable[[ComparedScore], object]] = {
    "Engine": lambda row: row.now.engine,
    "Kind of run": lambda row: row.now.family,
    "Month": lambda row: row.now.month,
    "Figures": lambda row: two_lines(f"{row.now.rows:,}", _was(row, lambda score: score.rows)),
    "Median error": lambda row: two_lines(
        percent(row.now.error, 1), _was(row, lambda score: score.error)
    ),
    "In the range": lambda row: two_lines(
        percent(row.now.held), _was(row, lambda score: score.held)
    ),
}


def _was(row: ComparedScore, figure: Callable[[MonthScore], float]) -> str:
    """Figure of the commit before, where it differs."""
    if row.before is None:
        return "new"
    value = figure(row.before)
    if value == figure(row.now):
        return ""
    if isinstance(value, int):
        return f"was {value:,}"
    return f"was {percent(value, 1)}"


def alarm_notice() -> None:
    """Show a box with what the last commit made worse; nothing where nothing got worse."""
    raised = tuple(alarms(*last_two(kept_scores())))
    if not raised:
        return
    named = " ".join(alarm.sentence for alarm in raised[:SHOWN])
    more = len(raised) - SHOWN
    if more > 0:
        rest = f" {more} more stand in the workshop, under Watched."
    else:
        rest = ""
    worse = f"Groups of runs that are predicted worse since the last change: {len(raised)}."
    notice(f"{worse} {named}{rest}", "warning")


def section() -> None:
    """Show the groups that the last commit made worse, and the scores of an engine."""
    before, after = last_two(kept_scores())
    if not after:
        say("No commit's scores are kept yet.")
        return
    say(_explained(list(before.values()), list(after.values())), "oa-why")
    raised = tuple(alarms(before, after))
    if raised:
        for alarm in raised:
            notice(alarm.sentence, "warning")
    elif before:
        notice("No group got worse by the last change.")
    engines = dict.fromkeys(score.engine for score in after.values())
    chosen = st.selectbox("Engine", [EVERY, *engines], key=PLACE)
    rows = [
        ComparedScore(now=score, before=before.get(group))
        for group, score in after.items()
        if chosen in (EVERY, score.engine)
    ]
    newest = sorted(rows, key=lambda row: row.now.month.replace(UNDATED, ""), reverse=True)
    show(columned(COLUMNS, newest, label="Accuracy by month", numeric=(3, 4, 5)))


def _explained(before: Sequence[MonthScore], after: Sequence[MonthScore]) -> str:
    last = after[0]
    told = f"Scores of commit {last.commit} ({last.day})"
    if before:
        told += f" beside those of {before[0].commit} ({before[0].day})"
    return (
        f"{told}, of figures by the month in which they were measured or published. An alarm is a "
        f"group that lost figures, or whose error rose, or whose ranges hold fewer, by "
        f"{100 * WORSE_BY:.0f} points and {percent(WORSE_OF)} of what it was."
    )
