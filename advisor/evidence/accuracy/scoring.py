"""Points summed up by regime."""

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
"""Share of rows that a range should hold."""
CLOSE = 0.25


@dataclass(frozen=True, kw_only=True)
class PeerScore:
    """A public advisor in one regime.

    Attributes:
        name: of the advisor.
        rows: that it says something about.
        median: of the absolute relative error on those.
        mean: likewise.
        own_median: of our own error on the same rows.
        own_mean: likewise.
    """

    name: str
    rows: int
    median: float
    mean: float
    own_median: float
    own_mean: float


@dataclass(frozen=True, kw_only=True)
class Score:
    """One regime.

    Attributes:
        regime: its name.
        rows: how many.
        groups: of one source and hardware each.
        median: of the absolute relative error.
        mean: likewise.
        within: share of rows within 25 %.
        covered: share of rows within their 80 % range.
        group_median: of the median errors of the groups.
        group_covered: the same share, every group weighing the same.
        width: of the range, its upper end over its lower, at the median.
        chance_low: least share that chance leaves, nine times in ten, where 80 % is true.
        chance_high: largest.
        peers: public advisors that say something about some rows.
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
        """The public advisor with the least median error, of those that answer most rows."""
        most = [peer for peer in self.peers if 2 * peer.rows > self.rows]
        return min(most, key=lambda peer: peer.median, default=None)


def scores(points: Sequence[AccuracyPoint]) -> tuple[Score, ...]:
    """One line for each regime that has points, in the order of `REGIMES`, then all."""
    known = {regime.name: place for place, regime in enumerate(REGIMES)}
    regimes = dict.fromkeys(point.regime for point in points)
    ordered = sorted(regimes, key=lambda name: known.get(name, len(known)))
    lines = [
        score_of(name, [point for point in points if point.regime == name]) for name in ordered
    ]
    return (*lines, score_of(ALL, points))


def groups(points: Iterable[AccuracyPoint]) -> Sequence[Sequence[AccuracyPoint]]:
    """Points of one source and hardware each."""
    by_name: dict[str, list[AccuracyPoint]] = {}
    for point in points:
        by_name.setdefault(point.group, []).append(point)
    return tuple(by_name.values())


def score_of(regime: str, points: Sequence[AccuracyPoint]) -> Score:
    """One line of the ledger: some points under a name."""
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
    """Shares of rows within range that chance allows nine times in ten where four in five is true.

    Rows of a group err together, so groups are counted and not rows: as many as
    (sum n)^2 / sum n^2 even ones (Kish 1965, effective sample size). The ends are the 5 % and 95 %
    points of a binomial of that many.

    Args:
        sizes: rows of each group.
    """
    rows = tuple(sizes)
    count = max(round(sum(rows) ** 2 / sum(size * size for size in rows)), 1)
    below, ends = 0.0, []
    for held in range(count + 1):
        below += math.comb(count, held) * PROMISED**held * (1.0 - PROMISED) ** (count - held)
        ends.append(below)
    low, high = (next(k for k, share in enumerate(ends) if share >= end) for end in (0.05, 0.95))
    return low / count, high / count
