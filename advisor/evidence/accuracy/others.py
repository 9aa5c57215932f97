"""What others measured with the same card, model and format; shown beside a prediction."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from advisor.catalog.accuracy_points import AccuracyPoint, accuracy_points
from advisor.cost_model.estimate import Estimate
from advisor.errors import StoreError, UnknownName
from advisor.evidence.accuracy.brought_runs import BroughtRun, kept
from advisor.evidence.accuracy.regimes import coverage_like
from advisor.evidence.accuracy.scoring import grouped
from advisor.machine.from_spec import cards_of


@dataclass(frozen=True, kw_only=True)
class Others:
    """What others measured with the same card, model and format in the same kind of run."""

    runs: int  # number of figures
    publishers: int  # number of who published them
    low: float  # slowest [tokens/s]
    high: float  # fastest [tokens/s]
    years: str  # years of publication ("2024 to 2026"); empty where none is stated


def measured_by_others(estimate: Estimate) -> Others | None:
    """Speeds of an estimate's card, model and format that were published or brought here; None
    where there are none.

    They are shown beside a prediction. Doubtful rows and cards of several kinds are left out.
    """
    row, machine = coverage_like(estimate), estimate.machine
    if row is None or machine is None or len(machine.gpus) != 1:
        return None
    key = machine.gpus[0].name, estimate.model.name, estimate.model.format.upper(), row.regime
    points = _points().get(key, ())
    runs = [run for run in _brought() if run.key == key]
    if not points and not runs:
        return None
    speeds = [*(point.measured for point in points), *(run.decode for run in runs)]
    publishers = {point.group.partition(" on ")[0] for point in points} | {run.by for run in runs}
    dates = [*(point.date for point in points), *(run.date for run in runs)]
    years = sorted({day[:4] for day in dates if day})
    return Others(
        runs=len(speeds),
        publishers=len(publishers),
        low=min(speeds),
        high=max(speeds),
        years=" to ".join(dict.fromkeys((years[0], years[-1]))) if years else "",
    )


def _brought() -> tuple[BroughtRun, ...]:
    with suppress(StoreError):
        return kept()
    return ()


@cache
def _points() -> Mapping[tuple[str, str, str, str], Sequence[AccuracyPoint]]:
    """Published figures by card, model, format and regime."""
    points = (point for point in accuracy_points() if point.scored)
    return grouped(
        points, lambda point: (_card(point.gpu), point.model, point.format.upper(), point.regime)
    )


@cache
def _card(published: str) -> str:
    """Name in the catalogue of a published card; empty for several and for unknown ones."""
    with suppress(UnknownName):
        cards = cards_of(published)
        if len(cards) == 1 and cards[0].count == 1:
            return cards[0].row.name
    return ""
