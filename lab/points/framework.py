"""Points of data/measurements/offload_papers.csv, each predicted without its group."""

from collections.abc import Iterable

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.evidence.accuracy.regimes import BOTH, GENERATION, regime_of
from lab.frameworks import FrameworkRun, margins, papers, regime
from lab.held_out import WHOLE, kept, left_out
from lab.points.point import point_of


def points() -> Iterable[AccuracyPoint]:
    """Points of all framework runs that the advisor can predict, with speeds of the whole batch."""
    runs = [run for run in papers() if kept(WHOLE, run.id)]
    predicted = left_out(WHOLE, [run.id for run in runs])
    for run, seconds in zip(runs, predicted, strict=True):
        yield point_of(
            run.row,
            regime=regime_of(_traits(run)),
            group=run.group,
            measured=run.tokens / run.seconds,
            predicted=run.tokens / float(seconds),
            margins=margins(run),
        )


def _traits(run: FrameworkRun) -> dict[str, object]:
    return {
        "category": regime(run),
        "timed": BOTH if run.prompts else GENERATION,
        "batch_stated": bool(run.weight),
    }
