"""Scores: errors and coverage of points, by regime."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from advisor.evidence.accuracy.points.point import AccuracyPoint
from advisor.evidence.accuracy.regimes import ALL, REGIMES
from advisor.evidence.peers import PEERS
from advisor.model.model import Floats

PROMISED = 0.8
"""Share of figures that ranges should hold."""
CLOSE = 0.25


@dataclass(frozen=True, kw_only=True)
class PeerScore:
    """Score of a public advisor in one regime.

    Attributes:
        name: name of the advisor.
        rows: number of figures that it predicts.
        median: median of its absolute relative error.
        mean: mean of its absolute relative error.
        own_median: median of our error on the same figures.
        own_mean: mean of our error on the same figures.
    """

    name: str
    rows: int
    median: float
    mean: float
    own_median: float
    own_mean: float


@dataclass(frozen=True, kw_only=True)
class Score:
    """Score of one regime.

    Attributes:
        regime: name of the regime.
        rows: number of figures.
        groups: number of groups, each of one source and hardware.
        median: median of the absolute relative error.
        mean: mean of the absolute relative error.
        within: share of figures with an error of at most 25 %.
        covered: share of figures within their 80 % range.
        group_median: median of the groups' median errors.
        group_covered: share within range, with equal weight for each group.
        width: median of upper end over lower end of the range.
        chance_low: 5 % point of the share within range if the true share were 80 %.
        chance_high: 95 % point of that share.
        peers: scores of the public advisors with predictions in this regime.
    """

    regime: str
    rows: int
    groups: int
    median: float
    mean: float
    within: float
    covered: float
    group_median: float
    group_covered: float
    width: float
    chance_low: float
    chance_high: float
    peers: tuple[PeerScore, ...]

    @property
    def best_peer(self) -> PeerScore | None:
        """Public advisor with the smallest median error, among those with the most predictions."""
        most = [peer for peer in self.peers if 2 * peer.rows > self.rows]
        return min(most, key=lambda peer: peer.median, default=None)


def scores(points: Sequence[AccuracyPoint]) -> tuple[Score, ...]:
    """Scores of the regimes that have points, then of all points.

    In the order of `REGIMES`, those of a single build or of several users last.
    """
    places = {regime.name: place for place, regime in enumerate(REGIMES)}
    apart = {regime.name for regime in REGIMES if regime.traits.keys() & {"build", "together"}}
    regimes = dict.fromkeys(point.regime for point in points)
    ordered = sorted(regimes, key=lambda name: (name in apart, places.get(name, len(places))))
    lines = [
        score_of(name, [point for point in points if point.regime == name]) for name in ordered
    ]
    return (*lines, score_of(ALL, points))


def groups(points: Iterable[AccuracyPoint]) -> Sequence[Sequence[AccuracyPoint]]:
    """Points by group."""
    by_name: dict[str, list[AccuracyPoint]] = {}
    for point in points:
        by_name.setdefault(point.group, []).append(point)
    return tuple(by_name.values())


def score_of(regime: str, points: Sequence[AccuracyPoint]) -> Score:
    """Score of some points under a name."""
    error = _errors(point.error for point in points)
    low, high = chance(Counter(point.group for point in points).values())
    by_group = groups(points)
    return Score(
        regime=regime,
        rows=len(points),
        groups=len({point.group for point in points}),
        median=float(np.median(error)),
        mean=float(np.mean(error)),
        within=float(np.mean(error <= CLOSE)),
        covered=float(np.mean([point.held for point in points])),
        group_median=float(np.median([_median(group) for group in by_group])),
        group_covered=float(
            np.mean([np.mean([each.held for each in group]) for group in by_group])
        ),
        width=float(np.median([point.high / point.low for point in points])),
        chance_low=low,
        chance_high=high,
        peers=tuple(_peer_scores(points)) if regime != ALL else (),
    )


def _median(group: Iterable[AccuracyPoint]) -> float:
    return float(np.median(_errors(point.error for point in group)))


def _peer_scores(points: Sequence[AccuracyPoint]) -> Iterable[PeerScore]:
    for peer in PEERS:
        answered = [point for point in points if peer.name in point.peers]
        if not answered:
            continue
        error = _errors(point.peers[peer.name] / point.measured - 1.0 for point in answered)
        own = _errors(point.error for point in answered)
        yield PeerScore(
            name=peer.name,
            rows=len(answered),
            median=float(np.median(error)),
            mean=float(np.mean(error)),
            own_median=float(np.median(own)),
            own_mean=float(np.mean(own)),
        )


def _errors(off: Iterable[float]) -> Floats:
    return np.asarray(np.abs(np.fromiter(off, dtype=float)))


def chance(sizes: Iterable[int]) -> tuple[float, float]:
    """Interval from 5 % to 95 % of the share within range, if the true share is 80 %.

    Figures of a group share their error, so the effective sample size is (sum n)^2 / sum n^2
    (Kish 1965); the ends are points of a binomial distribution of that size.

    Args:
        sizes: number of figures of each group.
    """
    rows = tuple(sizes)
    count = max(round(sum(rows) ** 2 / sum(size * size for size in rows)), 1)
    below, ends = 0.0, []
    for held in range(count + 1):
        below += math.comb(count, held) * PROMISED**held * (1.0 - PROMISED) ** (count - held)
        ends.append(below)
    low, high = (next(k for k, share in enumerate(ends) if share >= end) for end in (0.05, 0.95))
    return low / count, high / count
