"""Everything the ledger says: points, scores, floor."""

from dataclasses import dataclass

from advisor.accuracy import frameworks, paged, published, splits
from advisor.accuracy.floor import Floor, noise_floor
from advisor.accuracy.point import Point
from advisor.accuracy.scoring import Score, scores


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Predictions beside what was published.

    Attributes:
        points: every figure, predicted without its source and machine.
        scores: the same by regime, then all together.
        floor: how far sources differ among themselves.
    """

    points: tuple[Point, ...]
    scores: tuple[Score, ...]
    floor: Floor


def ledger() -> Ledger:
    """The ledger of the shipped measurements, which takes some seconds."""
    rows = published.read()
    points = (
        *published.points(rows),
        *splits.points(rows),
        *frameworks.points(),
        *paged.points(),
    )
    return Ledger(points=points, scores=scores(points), floor=noise_floor(rows))
