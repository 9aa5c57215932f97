"""Result of judging predictions: points, scores, noise floor."""

from dataclasses import dataclass

from advisor.evidence.accuracy.points.point import AccuracyPoint
from advisor.evidence.accuracy.scoring import Score


@dataclass(frozen=True, kw_only=True)
class Floor:
    """Difference between sources.

    Attributes:
        pairs: number of compared pairs of runs.
        settings: number of combinations of GPU, model and format.
        median: median over settings of each setting's median of faster / slower - 1.
    """

    pairs: int
    settings: int
    median: float


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Predictions beside published figures.

    Attributes:
        points: published figures, each with a prediction made without its group.
        scores: their scores by regime, then of all.
        floor: difference between sources on the same hardware.
        simulated: scores on a simulator's answers, by regime; not part of `scores`.
        unseen: figures predicted without any model of the same kinds of layers.
        doubtful: rows that are not scored, because their source or physics contradicts them.
    """

    points: tuple[AccuracyPoint, ...]
    scores: tuple[Score, ...]
    floor: Floor
    simulated: tuple[Score, ...] = ()
    unseen: tuple[AccuracyPoint, ...] = ()
    doubtful: tuple[AccuracyPoint, ...] = ()
