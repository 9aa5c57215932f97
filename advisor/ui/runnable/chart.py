"""Chart of quality against speed."""

from collections.abc import Sequence

import numpy as np

from advisor.advice.finder.runnable import Runnable
from advisor.advice.options.pareto import on_front
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import number
from advisor.ui.parts.plot import Figure, line_layout, palette

SHAPES = {
    PlacementStrategy.GPU_RESIDENT: ("circle", "in the GPU"),
    PlacementStrategy.CPU_OFFLOAD: ("square", "in part in RAM"),
    PlacementStrategy.NVME_OFFLOAD: ("x", "in part on the drive"),
}
"""Shape and word of each placement: colour alone tells nothing."""


def best(rows: Sequence[Runnable]) -> list[Runnable]:
    """Models that no other beats in both score and speed, fastest first."""
    score = np.array([row.quality.score if row.quality else np.nan for row in rows])
    speed = np.array([row.speed.decode for row in rows])
    on = [row for row, front in zip(rows, on_front(-score, speed), strict=True) if front]
    return sorted(on, key=lambda row: -row.speed.decode)


def quality_against_speed(rows: Sequence[Runnable], reading_tps: float) -> Figure:
    """Chart with a shape per placement, names of the best, and a line at reading speed."""
    look = palette()
    named = {row.model.name for row in best(rows) if row.keeps_up}
    points = []
    for at, (strategy, (symbol, word)) in enumerate(SHAPES.items()):
        own = [row for row in rows if row.speed.strategy is strategy]
        points.append({
            "type": "scatter", "mode": "markers+text", "name": word,
            "x": [row.speed.decode for row in own],
            "y": [row.quality.score if row.quality else None for row in own],
            "text": [row.model.name if row.model.name in named else "" for row in own],
            "customdata": [f"{row.model.name}, {row.model.format}" for row in own],
            "textposition": "top center", "textfont": {"size": 11, "color": look.ink},
            "marker": {"symbol": symbol, "size": 9, "color": look.series[at]},
            "hovertemplate": "%{customdata}: %{x:.3g} tokens/s, score %{y:.0f}<extra></extra>",
            "cliponaxis": False,
        })  # fmt: skip
    layout = line_layout(look, height=460)
    layout |= {"showlegend": True, "legend": {"orientation": "h", "y": -0.18}}
    layout["xaxis"] |= {"type": "log", "title": {"text": "tokens/s"}}
    layout["yaxis"] |= {"title": {"text": "score"}}
    layout["shapes"] = [{
        "type": "line", "x0": reading_tps, "x1": reading_tps, "y0": 0, "y1": 1, "yref": "paper",
        "line": {"color": look.soft, "dash": "dot", "width": 1.5},
    }]  # fmt: skip
    return {"data": points, "layout": layout}


def words(rows: Sequence[Runnable]) -> str:
    """Best models in words, as the alternative text."""
    return "No other beats in both score and speed: " + "; ".join(
        f"{row.model.name}, {number(row.speed.decode)} tokens/s, score {row.quality.score:.0f}"
        for row in best(rows)
        if row.quality
    )
