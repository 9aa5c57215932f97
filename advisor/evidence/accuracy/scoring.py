"""Scores: errors and coverage of points, by regime; and the ledger, as data/generated/ keeps it.

`python -m lab.ledger` writes accuracy_points.csv and the tables beside it, so that a page and the
command show them without predicting thousands of figures anew.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from advisor.catalog.accuracy_points import PEERS, AccuracyPoint, accuracy_points
from advisor.catalog.csv_tables import DATA, read
from advisor.evidence.accuracy.regimes import ALL, REGIMES
from advisor.model.model import Floats

PROMISED = 0.8  # share of figures that ranges should hold
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
    """Score of this program in one regime."""

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


Key = TypeVar("Key")


def grouped(
    points: Iterable[AccuracyPoint], key: Callable[[AccuracyPoint], Key]
) -> dict[Key, list[AccuracyPoint]]:
    """Points by a key, in the order in which the keys first occur."""
    parts: dict[Key, list[AccuracyPoint]] = {}
    for point in points:
        parts.setdefault(key(point), []).append(point)
    return parts


def scores(points: Sequence[AccuracyPoint]) -> tuple[Score, ...]:
    """Scores of the regimes that have points, then of all points.

    In the order of `REGIMES`, those of a single build or of several users last.
    """
    places = {regime.name: place for place, regime in enumerate(REGIMES)}
    apart = {regime.name for regime in REGIMES if regime.traits.keys() & {"build", "together"}}
    regimes = grouped(points, lambda point: point.regime)
    ordered = sorted(regimes, key=lambda name: (name in apart, places.get(name, len(places))))
    return (*(score_of(name, regimes[name]) for name in ordered), score_of(ALL, points))


def groups(points: Iterable[AccuracyPoint]) -> Sequence[Sequence[AccuracyPoint]]:
    """Points by source and machine."""
    return tuple(grouped(points, lambda point: point.group).values())


def score_of(regime: str, points: Sequence[AccuracyPoint]) -> Score:
    """Score of some points under a name."""
    error = _errors(points)
    by_group = groups(points)
    medians = [np.median(_errors(group)) for group in by_group]
    held = [_coverage(group) for group in by_group]
    low, high = chance(map(len, by_group))
    return Score(
        regime=regime,
        rows=len(points),
        groups=len(by_group),
        median=float(np.median(error)),
        mean=float(np.mean(error)),
        within=float(np.mean(error <= CLOSE)),
        covered=_coverage(points),
        group_median=float(np.median(medians)),
        group_covered=float(np.mean(held)),
        width=_width(points),
        chance_low=low,
        chance_high=high,
        peers=tuple(_peer_scores(points)) if regime != ALL else (),
    )


def _errors(points: Iterable[AccuracyPoint]) -> Floats:
    return np.asarray(np.abs([point.error for point in points]))


def _coverage(points: Iterable[AccuracyPoint]) -> float:
    """Share of points within their range."""
    return float(np.mean([point.held for point in points]))


def _width(points: Iterable[AccuracyPoint]) -> float:
    """Median of upper end over lower end of the range."""
    return float(np.median([point.high / point.low for point in points]))


def _peer_scores(points: Sequence[AccuracyPoint]) -> Iterable[PeerScore]:
    for peer in PEERS:
        answered = [point for point in points if peer.name in point.peer_speeds]
        if not answered:
            continue
        error = np.abs([point.peer_speeds[peer.name] / point.measured - 1.0 for point in answered])
        ours = _errors(answered)
        yield PeerScore(
            name=peer.name,
            rows=len(answered),
            median=float(np.median(error)),
            mean=float(np.mean(error)),
            own_median=float(np.median(ours)),
            own_mean=float(np.mean(ours)),
        )


def chance(sizes: Iterable[int]) -> tuple[float, float]:
    """Interval from 5 % to 95 % of the share within range, if the true share is 80 %.

    Figures of a group share their error, so the effective sample size is (sum n)^2 / sum n^2 (Kish
    1965) over the sizes n of the groups; the ends are points of a binomial distribution of that
    size.
    """
    rows = tuple(sizes)
    count = max(round(sum(rows) ** 2 / sum(size * size for size in rows)), 1)
    below = 0.0
    ends = []
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
FEW_GROUPS = 40  # number of groups below which a share is shown with its bootstrap interval
DRAWS = 400
SEEN = "cards that another source measured, too"
UNSEEN = "cards of one source alone"


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
    kinds = grouped(points, lambda point: (point.regime, point.group)).values()
    every = [_group_score(group) for group in kinds if len(group) >= LEAST_ROWS]
    return tuple(sorted(every, key=lambda group: -abs(np.log1p(group.error)))[:NAMED])


def _group_score(group: Sequence[AccuracyPoint]) -> GroupScore:
    off = np.median([np.log(point.predicted / point.measured) for point in group])
    return GroupScore(
        group=group[0].group,
        regime=group[0].regime,
        source=group[0].source,
        rows=len(group),
        error=float(np.expm1(off)),
        covered=_coverage(group),
        width=_width(group),
    )


def bootstrap(points: Iterable[AccuracyPoint]) -> tuple[float, float]:
    """Interval from 5 % to 95 % of the share of figures within range, by bootstrap over groups.

    Groups are drawn with replacement (Efron 1979), with a fixed seed.
    """
    shares = np.array([_coverage(group) for group in groups(points)])
    drawn = np.random.default_rng(0).integers(0, len(shares), (DRAWS, len(shares)))
    low, high = np.quantile(shares[drawn].mean(axis=1), (0.05, 0.95))
    return float(low), float(high)


def by_card(points: Iterable[AccuracyPoint]) -> tuple[Score, ...]:
    """Scores of GPUs that several sources measured, and of GPUs that only one source measured."""
    on_cards = [point for point in points if point.gpu]
    several = {
        card
        for card, group in grouped(on_cards, lambda point: point.gpu.casefold()).items()
        if len({source_of(point.source) for point in group}) > 1
    }
    parts = grouped(on_cards, lambda point: point.gpu.casefold() in several)
    named = ((SEEN, parts.get(True)), (UNSEEN, parts.get(False)))
    return tuple(score_of(name, part) for name, part in named if part)


THREAD = re.compile(
    r"https?://(?:www\.)?github\.com/([^/]+/[^/]+)/(?:issues|pull|discussions)/(\d+)"
)
REPOSITORY = re.compile(r"https?://(?:www\.)?github\.com/([^/]+/[^/#?]+)")


def source_of(url: str) -> str:
    """Publisher of a measurement: a thread on GitHub, a repository, or a page."""
    thread = THREAD.match(url)
    if thread:
        return f"{thread[1]}#{thread[2]}"
    repository = REPOSITORY.match(url)
    if repository:
        return repository[1]
    return re.sub(r"^https?://(?:www\.)?", "", url)


DOUBTED = "with doubtful rows"


def with_doubtful(points: Sequence[AccuracyPoint], doubtful: Sequence[AccuracyPoint]) -> Score:
    """Score of all figures, with the doubtful ones."""
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
    intervals = [np.mean([_interval(point) for point in group]) for group in by_group]
    return StrangerScore(
        name=name,
        groups=len(by_group),
        publishers=len({point.publisher for point in every}),
        rows=len(every),
        error=float(np.median([np.median(_errors(group)) for group in by_group])),
        held=float(np.mean([_coverage(group) for group in by_group])),
        width=float(np.median([_width(group) for group in by_group])),
        interval=float(np.mean(intervals)),
    )


def _interval(point: AccuracyPoint) -> float:
    """Interval score of a figure's logarithm (Gneiting and Raftery 2007, equation 43)."""
    off = float(np.log(point.measured / point.predicted))
    outside = max(-point.below - off, off - point.above, 0.0)
    return point.below + point.above + outside * 2.0 / (1.0 - PROMISED)


# Result of judging predictions: points, scores, noise floor.


@dataclass(frozen=True, kw_only=True)
class Floor:
    """Difference between sources that measured the same setting."""

    pairs: int  # number of compared pairs of runs
    settings: int  # number of combinations of GPU, model and format
    median: float  # median over settings of each setting's median of faster / slower - 1


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Predictions with the published figures that they are scored on."""

    # published figures, each with a prediction made without its group
    points: tuple[AccuracyPoint, ...]
    scores: tuple[Score, ...]  # their scores by regime, then of all
    floor: Floor  # difference between sources on the same hardware
    # scores on a simulator's answers, by regime; not part of `scores`
    simulated: tuple[Score, ...] = ()
    # score of figures predicted without any model of the same kinds of layers
    unseen: StrangerScore | None = None
    # rows that are not scored, because their source or physics contradicts them
    doubtful: tuple[AccuracyPoint, ...] = ()


FLOOR = DATA / "generated/noise_floor.csv"
SIMULATED = DATA / "generated/simulated_scores.csv"
UNSEEN_SCORE = DATA / "generated/unseen_score.csv"
ROLLING = DATA / "generated/rolling_origin.csv"
HISTORY = DATA / "generated/score_history.csv"


@dataclass(frozen=True, kw_only=True)
class OriginRow:
    """Score of one origin; fields as the columns of data/generated/rolling_origin.csv."""

    origin: str  # month before which rows are fitted
    before: str  # month before which rows are scored; empty for the last
    rows: int  # figures of tokens scored
    publishers: int  # their publishers
    error: float  # median over publishers of the median absolute relative error [share]
    held: float  # share within range, every publisher the same
    width: float  # median over publishers of high over low
    newest: str  # month of the newest row of the whole fit
    source: str


@dataclass(frozen=True, kw_only=True)
class HistoryRow:
    """Score of a kind of run by one set of constants; fields as the columns of
    data/generated/score_history.csv.

    A range that was only widened shows there, as its interval score does not fall.
    """

    day: str  # day on which it was scored
    constants: str  # beginning of the digest of the constants' files
    kind: str  # kind of run, as `text.stranger_scores` names it
    rows: int  # figures
    groups: int  # groups by publisher and card
    error: float  # median over groups of the median absolute relative error [share]
    held: float  # mean over groups of the share within range
    width: float  # median over groups of the median of high over low
    interval: float  # mean over groups of the interval score, the lower the better


def shipped_ledger() -> Ledger:
    """Ledger of the files."""
    (floor,) = read(FLOOR, Floor)
    points = tuple(point for point in accuracy_points() if point.scored)
    return Ledger(
        points=points,
        scores=scores(points),
        floor=floor,
        simulated=tuple(Score(**vars(row)) for row in read(SIMULATED, OwnScore)),
        unseen=read(UNSEEN_SCORE, StrangerScore)[0],
        doubtful=tuple(point for point in accuracy_points() if not point.scored),
    )
