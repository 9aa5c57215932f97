"""Scores: errors and coverage of points, by regime."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from advisor.catalog.accuracy_points import PEERS, AccuracyPoint
from advisor.evidence.accuracy.regimes import ALL, REGIMES
from advisor.evidence.published.row import source_of
from advisor.model.model import Floats

PROMISED = 0.8
"""Share of figures that ranges should hold."""
CLOSE = 0.25


@dataclass(frozen=True, kw_only=True)
class PeerScore:
    """Score of a public advisor in one regime."""

    name: str  # name of the advisor
    rows: int  # number of figures that it predicts
    median: float  # median of its absolute relative error
    mean: float  # mean of its absolute relative error
    own_median: float  # median of our error on the same figures
    own_mean: float  # mean of our error on the same figures


@dataclass(frozen=True, kw_only=True)
class OwnScore:
    """Score of one regime, without those of public advisors."""

    regime: str  # name of the regime
    rows: int  # number of figures
    groups: int  # number of groups, each of one source and hardware
    median: float  # median of the absolute relative error
    mean: float  # mean of the absolute relative error
    within: float  # share of figures with an error of at most 25 %
    covered: float  # share of figures within their 80 % range
    group_median: float  # median of the groups' median errors
    group_covered: float  # share within range, with equal weight for each group
    width: float  # median of upper end over lower end of the range
    chance_low: float  # 5 % point of the share within range if the true share were 80 %
    chance_high: float  # 95 % point of that share


@dataclass(frozen=True, kw_only=True)
class Score(OwnScore):
    """Score of one regime."""

    # scores of the public advisors with predictions in this regime
    peers: tuple[PeerScore, ...] = ()

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
        answered = [point for point in points if peer.name in point.peer_speeds]
        if not answered:
            continue
        error = _errors(point.peer_speeds[peer.name] / point.measured - 1.0 for point in answered)
        ours = _errors(point.error for point in answered)
        yield PeerScore(
            name=peer.name,
            rows=len(answered),
            median=float(np.median(error)),
            mean=float(np.mean(error)),
            own_median=float(np.median(ours)),
            own_mean=float(np.mean(ours)),
        )


def _errors(off: Iterable[float]) -> Floats:
    return np.asarray(np.abs(np.fromiter(off, dtype=float)))


def chance(sizes: Iterable[int]) -> tuple[float, float]:
    """Interval from 5 % to 95 % of the share within range, if the true share is 80 %.

    Figures of a group share their error, so the effective sample size is (sum n)^2 / sum n^2 (Kish
    1965) over the sizes n of the groups; the ends are points of a binomial distribution of that
    size.
    """
    rows = tuple(sizes)
    count = max(round(sum(rows) ** 2 / sum(size * size for size in rows)), 1)
    below, ends = 0.0, []
    for held in range(count + 1):
        below += math.comb(count, held) * PROMISED**held * (1.0 - PROMISED) ** (count - held)
        ends.append(below)
    low, high = (next(k for k, share in enumerate(ends) if share >= end) for end in (0.05, 0.95))
    return low / count, high / count


# Scores by group of figures, and of GPUs with and without measurements by other sources.
#
# A group is one source on one machine; its figures share their error.

LEAST_ROWS = 2
"""Fewest figures of a group that is listed among the worst; a single figure may be a mistake."""
NAMED = 15
FEW_GROUPS = 40
"""Number of groups below which a share is shown with its bootstrap interval."""
DRAWS = 400
SEEN, UNSEEN = "cards that another source measured, too", "cards of one source alone"


@dataclass(frozen=True, kw_only=True)
class GroupScore:
    """Score of one source on one machine in one regime."""

    group: str  # source and machine
    regime: str  # kind of run
    source: str  # address of its first figure
    rows: int  # number of figures
    error: float  # median of predicted / measured - 1
    covered: float  # share of figures within their range
    width: float  # median of upper end over lower end of the range


def worst_groups(points: Iterable[AccuracyPoint]) -> tuple[GroupScore, ...]:
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
    return tuple(sorted(every, key=lambda group: -abs(np.log1p(group.error)))[:NAMED])


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
    several = {card for card, names in sources.items() if len(names) > 1}
    parts = (
        (SEEN, [point for point in on_cards if point.gpu.casefold() in several]),
        (UNSEEN, [point for point in on_cards if point.gpu.casefold() not in several]),
    )
    return tuple(score_of(name, part) for name, part in parts if part)


DOUBTED = "with doubtful rows"


def with_doubtful(points: Sequence[AccuracyPoint], doubtful: Sequence[AccuracyPoint]) -> Score:
    """Score of all figures, doubtful ones included."""
    return score_of(DOUBTED, (*points, *doubtful))


# Scores over groups by publisher and card, as a stranger meets them.


@dataclass(frozen=True, kw_only=True)
class StrangerScore:
    """Score of a kind of run over groups by publisher and card."""

    name: str  # kind of run
    groups: int  # number of groups
    publishers: int  # number of publishers
    rows: int  # number of figures
    error: float  # median over groups of the median absolute relative error
    held: float  # mean over groups of the share within range
    width: float  # median over groups of the median of high over low
    # mean over groups of the interval score of the logarithms: the width, plus 2 / (1 - 0.8) times
    # the distance of a figure outside the range
    interval: float


def stranger_score(name: str, points: Iterable[AccuracyPoint]) -> StrangerScore:
    """Score of some points under a name."""
    by_group = groups(points)
    every = [point for group in by_group for point in group]

    def of_groups(number: Callable[[AccuracyPoint], float]) -> list[float]:
        return [float(np.median([number(point) for point in group])) for group in by_group]

    return StrangerScore(
        name=name,
        groups=len(by_group),
        publishers=len({point.publisher for point in every}),
        rows=len(every),
        error=float(np.median(of_groups(lambda point: abs(point.error)))),
        held=float(np.mean([np.mean([point.held for point in group]) for group in by_group])),
        width=float(np.median(of_groups(lambda point: point.high / point.low))),
        interval=float(
            np.mean([np.mean([_interval(each) for each in group]) for group in by_group])
        ),
    )


def _interval(point: AccuracyPoint) -> float:
    """Interval score of a figure's logarithm (Gneiting and Raftery 2007, equation 43)."""
    off = float(np.log(point.measured / point.predicted))
    outside = max(-point.below - off, off - point.above, 0.0)
    return point.below + point.above + outside * 2.0 / (1.0 - PROMISED)
