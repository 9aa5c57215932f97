"""Scores by engine, family of runs and month, kept by commit, and alarms where one got worse.

`python -m lab.months` writes data/generated/month_scores.csv, a commit's scores after those of
earlier ones. NVIDIA's aiconfigurator watches its predictions so: it compares two commits' mean
errors by part of its measurements, and refuses a commit after which a run has no prediction
(tools/accuracy_regression_testing/README.md, read 2026-11-28).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.catalog.csv_tables import DATA, read
from advisor.evidence.accuracy.regimes import family_of
from advisor.evidence.accuracy.scoring import grouped
from advisor.evidence.published.engines import engine
from advisor.evidence.published.tiered import engine_of
from advisor.formatting import percent

TABLE = DATA / "generated/month_scores.csv"
UNDATED = "undated"  # month of figures without one
OTHER = "another engine"
WORSE_BY = 0.02  # rise of an error, or fall of a share held, from which it is an alarm
WORSE_OF = 0.10  # the same as a share of what it was
LEAST_FIGURES = 5  # fewest figures of a group whose error is watched

Group = tuple[str, str, str]
"""Engine, family and month."""


@dataclass(frozen=True, kw_only=True)
class MonthScore:
    """Score of a group by the constants of a commit; fields as the columns of
    data/generated/month_scores.csv.
    """

    commit: str  # beginning of the commit's id
    day: str  # day of the commit
    constants: str  # beginning of the digest of the constants' files; empty where nobody kept it
    engine: str  # name of the engine, its forks and apps with it where they run the same
    family: str  # kinds of runs, a key of `regimes.FAMILIES`
    month: str  # month of the figures' dates, or year
    rows: int  # figures that are predicted
    error: float  # median absolute relative error [share]
    held: float  # share of figures within their 80 % range
    width: float  # median of high over low

    @property
    def group(self) -> Group:
        """Group of scores that is compared between commits."""
        return self.engine, self.family, self.month


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """Group that got worse from one commit to the next."""

    group: Group
    words: str  # what got worse

    @property
    def sentence(self) -> str:
        """Sentence on the alarm."""
        return f"{', '.join(self.group)}: {self.words}."


def month_scores(
    points: Iterable[AccuracyPoint], *, commit: str, day: str, constants: str
) -> Iterator[MonthScore]:
    """Scores of the points that count, by group."""
    parts = grouped((point for point in points if point.scored), group_of)
    for (name, family, month), inside in sorted(parts.items()):
        ratios = [np.exp(point.below + point.above) for point in inside]
        yield MonthScore(
            commit=commit,
            day=day,
            constants=constants,
            engine=name,
            family=family,
            month=month,
            rows=len(inside),
            error=_rounded(np.median([abs(point.error) for point in inside])),
            held=_rounded(np.mean([point.held for point in inside])),
            width=_rounded(np.median(ratios)),
        )


def _rounded(number: Any) -> float:
    return float(f"{float(number):.4g}")


def group_of(point: AccuracyPoint) -> Group:
    """Engine, family and month of a point."""
    return engine_name(point.runtime), family_of(point.regime), point.date[:7] or UNDATED


@cache
def engine_name(runtime: str) -> str:
    """Engine of a source's words."""
    tiered = engine_of(runtime)
    if tiered is not None:
        return tiered.name
    named = engine(runtime, "resident")
    if named is None:
        return OTHER
    return named.name


@cache
def kept_scores() -> Sequence[MonthScore]:
    """All kept scores, the oldest commit first."""
    return read(TABLE, MonthScore)


def by_commit(scores: Iterable[MonthScore]) -> Mapping[str, Mapping[Group, MonthScore]]:
    """Scores by commit and group, in the order of the file."""
    commits: dict[str, dict[Group, MonthScore]] = {}
    for score in scores:
        commits.setdefault(score.commit, {})[score.group] = score
    return commits


def last_two(
    scores: Iterable[MonthScore],
) -> tuple[Mapping[Group, MonthScore], Mapping[Group, MonthScore]]:
    """Scores of the last two commits, the earlier first; the first is empty where there is only
    one.
    """
    commits = list(by_commit(scores).values())
    if not commits:
        return {}, {}
    before = commits[-2] if len(commits) > 1 else {}
    return before, commits[-1]


def alarms(
    before: Mapping[Group, MonthScore], after: Mapping[Group, MonthScore]
) -> Iterator[Alarm]:
    """Groups that lost figures, whose error rose, or whose ranges hold fewer figures.

    An error or a share counts by 2 points and a tenth of its former value.
    """
    for group, former in before.items():
        words = "; ".join(_worse(former, after.get(group)))
        if words:
            yield Alarm(group=group, words=words)


def _worse(before: MonthScore, after: MonthScore | None) -> Iterator[str]:
    if after is None:
        yield f"none of its {before.rows} figures is predicted any more"
        return
    if after.rows < before.rows:
        yield f"{after.rows} of {before.rows} figures are predicted"
    if before.rows < LEAST_FIGURES:
        return
    if _far(after.error - before.error, before.error):
        yield f"error {percent(before.error, 1)} to {percent(after.error, 1)}"
    if _far(before.held - after.held, before.held):
        yield f"in range {percent(before.held)} to {percent(after.held)}"


def _far(worse: float, of: float) -> bool:
    """Whether a number is worse by both limits."""
    return worse >= WORSE_BY and worse >= WORSE_OF * of
