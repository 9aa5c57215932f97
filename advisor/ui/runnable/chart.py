"""Chart of quality against speed."""

from collections.abc import Container, Sequence

import numpy as np

from advisor.advice.finder.runnable import Runnable
from advisor.advice.table.option import on_front
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import number
from advisor.ui.parts.points import Point, PointChart, PointGroup

SHAPES = {
    PlacementStrategy.GPU_RESIDENT: ("circle", "in the GPU"),
    PlacementStrategy.CPU_OFFLOAD: ("square", "in part in RAM"),
    PlacementStrategy.NVME_OFFLOAD: ("cross", "in part on the drive"),
}
"""Shape and word of each placement: colour alone tells nothing."""


def best(rows: Sequence[Runnable]) -> list[Runnable]:
    """Models that no other beats in both score and speed, fastest first."""
    score = np.array([np.nan if row.score is None else row.score for row in rows])
    speed = np.array([row.speed.decode for row in rows])
    on = [row for row, front in zip(rows, on_front(-score, speed), strict=True) if front]
    return sorted(on, key=lambda row: -row.speed.decode)


def quality_against_speed(rows: Sequence[Runnable], reading_tps: float) -> PointChart:
    """Chart with a shape per placement, names of the best, and a line at reading speed."""
    named = {row.model.name for row in best(rows) if row.keeps_up}
    return PointChart(
        alt=words(rows),
        groups=[_group(rows, strategy, named, at) for at, strategy in enumerate(SHAPES)],
        x_label="tokens/s",
        y_label="score",
        y_powers=False,
        upright=reading_tps,
        height=380,
    )


def _group(
    rows: Sequence[Runnable], strategy: PlacementStrategy, named: Container[str], colour: int
) -> PointGroup:
    shape, word = SHAPES[strategy]
    points = [
        Point(
            x=row.speed.decode,
            y=row.score,
            tip=f"{row.model.name}, {row.model.format}: {number(row.speed.decode, 3)} tokens/s, "
            f"score {row.score:.0f}",
            name=row.model.name if row.model.name in named else "",
        )
        for row in rows
        if row.score is not None and row.speed.strategy is strategy
    ]
    return PointGroup(name=word, shape=shape, colour=colour, points=points)


def words(rows: Sequence[Runnable]) -> str:
    """Best models in words, as the alternative text."""
    return "No other beats in both score and speed: " + "; ".join(
        f"{row.model.name}, {number(row.speed.decode)} tokens/s, score {row.score:.0f}"
        for row in best(rows)
        if row.score is not None
    )
