"""Scores by group of figures, and of GPUs with and without measurements by other sources.

A group is one source on one machine; its figures share their error.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from advisor.evidence.accuracy.points.point import AccuracyPoint
from advisor.evidence.accuracy.scoring import Score, groups, score_of
from advisor.evidence.published.sources import source_of

LEAST_ROWS = 2
"""Fewest figures of a group that is listed among the worst; a single figure may be a mistake."""
NAMED = 15
FEW_GROUPS = 40
"""Number of groups below which a share is shown with its bootstrap interval."""
DRAWS = 400
SEEN, UNSEEN = "cards that another source measured, too", "cards of one source alone"


@dataclass(frozen=True, kw_only=True)
class GroupScore:
    """Score of one source on one machine in one regime.

    Attributes:
        group: source and machine.
        regime: kind of run.
        source: address of its first figure.
        rows: number of figures.
        error: median of predicted / measured - 1.
        covered: share of figures within their range.
        width: median of upper end over lower end of the range.
    """

    group: str
    regime: str
    source: str
    rows: int
    error: float
    covered: float
    width: float


def worst_groups(points: Iterable[AccuracyPoint], count: int = NAMED) -> tuple[GroupScore, ...]:
    """Groups with the largest median error, worst first; twice and half as fast count the same."""
    by_kind: dict[str, list[AccuracyPoint]] = {}
    for point in points:
        by_kind.setdefault(point.regime, []).append(point)
    every = [
        _group_score(group)
        for kind in by_kind.values()
        for group in groups(kind)
        if len(group) >= LEAST_ROWS
    ]
    return tuple(sorted(every, key=lambda group: -abs(np.log1p(group.error)))[:count])


def _group_score(group: Sequence[AccuracyPoint]) -> GroupScore:
    off = np.median([np.log(point.predicted / point.measured) for point in group])
    return GroupScore(
        group=group[0].group,
        regime=group[0].regime,
        source=group[0].source,
        rows=len(group),
        error=float(np.expm1(off)),
        covered=float(np.mean([point.held for point in group])),
        width=float(np.median([point.high / point.low for point in group])),
    )


def bootstrap(points: Iterable[AccuracyPoint]) -> tuple[float, float]:
    """Interval from 5 % to 95 % of the share of figures within range, by bootstrap over groups.

    Groups are drawn with replacement (Efron 1979), with a fixed seed.
    """
    shares = np.array([np.mean([point.held for point in group]) for group in groups(points)])
    drawn = np.random.default_rng(0).integers(0, len(shares), (DRAWS, len(shares)))
    low, high = np.quantile(shares[drawn].mean(axis=1), (0.05, 0.95))
    return float(low), float(high)


def by_card(points: Iterable[AccuracyPoint]) -> tuple[Score, ...]:
    """Scores of GPUs that other sources measured too, and of GPUs that no other source did."""
    on_cards = [point for point in points if point.gpu]
    sources: dict[str, set[str]] = {}
    for point in on_cards:
        sources.setdefault(point.gpu.casefold(), set()).add(source_of(point.source))
    several = {card for card, known in sources.items() if len(known) > 1}
    parts = (
        (SEEN, [point for point in on_cards if point.gpu.casefold() in several]),
        (UNSEEN, [point for point in on_cards if point.gpu.casefold() not in several]),
    )
    return tuple(score_of(name, part) for name, part in parts if part)


DOUBTED = "with doubtful rows"


def with_doubtful(points: Sequence[AccuracyPoint], doubtful: Sequence[AccuracyPoint]) -> Score:
    """Score of all figures, doubtful ones included."""
    return score_of(DOUBTED, (*points, *doubtful))
