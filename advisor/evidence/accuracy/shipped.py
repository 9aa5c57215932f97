"""Shipped ledger: accuracy_points.csv and the tables beside it in data/generated/.

`python -m lab.ledger` writes them from the computed ledger, so that a page and the command show it
without predicting thousands of figures anew.
"""

from dataclasses import dataclass

from advisor.catalog.accuracy_points import AccuracyPoint, accuracy_points
from advisor.catalog.csv_tables import DATA, read
from advisor.evidence.accuracy.scoring import OwnScore, Score, StrangerScore, scores

# Result of judging predictions: points, scores, noise floor.


@dataclass(frozen=True, kw_only=True)
class Floor:
    """Difference between sources."""

    pairs: int  # number of compared pairs of runs
    settings: int  # number of combinations of GPU, model and format
    median: float  # median over settings of each setting's median of faster / slower - 1


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Predictions beside published figures."""

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
UNSEEN = DATA / "generated/unseen_score.csv"
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
    data/generated/score_history.csv. A range that was widened alone shows there: its interval score
    does not fall.
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
        unseen=read(UNSEEN, StrangerScore)[0],
        doubtful=tuple(point for point in accuracy_points() if not point.scored),
    )
