"""Shipped ledger: data/generated/accuracy_points.csv and noise_floor.csv.

`python -m advisor accuracy --write` writes both from the computed ledger, so that a page shows it
without predicting thousands of figures anew.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from advisor.catalog.csv_tables import DATA, as_text, assignments, read
from advisor.cost_model.uncertainty import Margins
from advisor.evidence.accuracy.points.point import AccuracyPoint
from advisor.evidence.accuracy.scoring import Score, scores

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
    # figures predicted without any model of the same kinds of layers
    unseen: tuple[AccuracyPoint, ...] = ()
    # rows that are not scored, because their source or physics contradicts them
    doubtful: tuple[AccuracyPoint, ...] = ()


POINTS = DATA / "generated/accuracy_points.csv"
FLOOR = DATA / "generated/noise_floor.csv"


@dataclass(frozen=True, kw_only=True)
class PointRow:
    """One row of data/generated/accuracy_points.csv; numbers have six digits.
    Other fields are those of `AccuracyPoint`.
    """

    id: str
    scored: bool  # false for a doubtful row, which no score counts
    regime: str
    group: str
    gpu: str
    cpu: str
    model: str
    format: str
    runtime: str
    date: str
    first_seen: str
    measured: float
    predicted: float
    below: float  # distance to the slow end of the 80 % range, as a logarithm
    above: float  # distance to its fast end
    source: str
    peers: str  # predictions of public advisors, as `name=tokens/s; ...`


def points_table(ledger: Ledger) -> str:
    """Text of data/generated/accuracy_points.csv."""
    return as_text(_rows(ledger))


def floor_table(floor: Floor) -> str:
    """Text of data/generated/noise_floor.csv."""
    return as_text([Floor(pairs=floor.pairs, settings=floor.settings, median=_six(floor.median))])


def shipped_ledger() -> Ledger:
    """Ledger of the files, without the scores on a simulator's answers.

    Raises:
        DataError: a file that is missing or damaged.
    """
    (floor,) = read(FLOOR, Floor)
    rows = read(POINTS, PointRow)
    points = tuple(_point(row) for row in rows if row.scored)
    return Ledger(
        points=points,
        scores=scores(points),
        floor=floor,
        doubtful=tuple(_point(row) for row in rows if not row.scored),
    )


def _rows(ledger: Ledger) -> Iterator[PointRow]:
    for scored, points in ((True, ledger.points), (False, ledger.doubtful)):
        for point in points:
            yield PointRow(
                id=point.id,
                scored=scored,
                regime=point.regime,
                group=point.group,
                gpu=point.gpu,
                cpu=point.cpu,
                model=point.model,
                format=point.format,
                runtime=point.runtime,
                date=point.date,
                first_seen=point.first_seen,
                measured=_six(point.measured),
                predicted=_six(point.predicted),
                below=_six(point.margins.below),
                above=_six(point.margins.above),
                source=point.source,
                peers="; ".join(f"{name}={_six(speed):g}" for name, speed in point.peers.items()),
            )


def _point(row: PointRow) -> AccuracyPoint:
    peers = assignments(row.peers, f"generated/{POINTS.name}")
    return AccuracyPoint(
        id=row.id,
        regime=row.regime,
        group=row.group,
        gpu=row.gpu,
        cpu=row.cpu,
        model=row.model,
        format=row.format,
        runtime=row.runtime,
        date=row.date,
        first_seen=row.first_seen,
        measured=row.measured,
        predicted=row.predicted,
        margins=Margins(below=row.below, above=row.above),
        source=row.source,
        peers={name: float(speed) for name, speed in peers},
    )


def _six(number: object) -> float:
    """Number with six digits, as files hold it."""
    return float(f"{float(number):.6g}")  # type: ignore[arg-type]  # a number of a row
