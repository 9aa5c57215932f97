"""Result of judging predictions: points, scores, noise floor."""

from dataclasses import dataclass

from advisor.evidence.accuracy.points.point import AccuracyPoint
from advisor.evidence.accuracy.scoring import Score


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
    # figures predicted without any model of the same kinds of layers
    unseen: tuple[AccuracyPoint, ...] = ()
    # rows that are not scored, because their source or physics contradicts them
    doubtful: tuple[AccuracyPoint, ...] = ()
