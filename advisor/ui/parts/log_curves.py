"""Curves over users or tokens on logarithmic axes, with marks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from advisor.formatting import short
from advisor.model.model import Floats
from advisor.ui.parts.plot import Figure, Palette, line_layout, palette


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Curve.

    Attributes:
        name: name at its end.
        x: varied quantity.
        y: speed or time; NaN where the curve ends [tokens/s or s].
    """

    name: str
    x: Floats
    y: Floats


@dataclass(frozen=True, kw_only=True)
class CurveMark:
    """Dotted line across the chart, vertical at `x` or horizontal at `y`, with words at its end."""

    text: str
    x: float | None = None
    y: float | None = None


def curves(
    lines: Sequence[Curve],
    marks: Sequence[CurveMark],
    *,
    x_label: str,
    y_label: str,
    unit: str = "tokens/s",
) -> Figure:
    """Chart of curves.

    Args:
        lines: curves.
        marks: marks for limits and crossings.
        x_label: name of the varied quantity.
        y_label: name of the resulting quantity.
        unit: its unit.
    """
    look = palette()
    right, low, high = _ends(lines, marks)
    layout = line_layout(look, height=320)
    layout["xaxis"] |= {
        "title": {"text": x_label}, "type": "log", "showgrid": False,
        "range": [_left(lines), np.log10(right) + 0.08], "tickvals": _powers_of_two(right),
        "ticktext": [short(value) for value in _powers_of_two(right)],
    }  # fmt: skip
    layout["yaxis"] |= {
        "title": {"text": y_label}, "type": "log", "range": [np.log10(low), np.log10(high)],
        "tickvals": _steps(low, high), "ticktext": [short(value) for value in _steps(low, high)],
    }  # fmt: skip
    data = [
        _line(look, line, place, unit, above=_above(lines, place))
        for place, line in enumerate(lines)
    ]
    data += [_mark(look, mark, right, low, high) for mark in marks]
    return {"data": data, "layout": layout}


def _left(lines: Sequence[Curve]) -> float:
    return float(np.log10(min(float(line.x[0]) for line in lines))) - 0.05


def _ends(lines: Sequence[Curve], marks: Sequence[CurveMark]) -> tuple[float, float, float]:
    """Index of the last speed, and the lowest and highest speed with a margin."""
    shown = [(line.x[np.isfinite(line.y)], line.y[np.isfinite(line.y)]) for line in lines]
    speeds = np.concatenate(
        [y for _, y in shown] + [np.array([mark.y]) for mark in marks if mark.y]
    )
    right = max([float(x[-1]) for x, _ in shown if x.size] + [mark.x for mark in marks if mark.x])
    return right, float(np.min(speeds)) / 1.6, float(np.max(speeds)) * 2.2


def _powers_of_two(right: float) -> list[float]:
    """Ticks at powers of two, as many as fit on a phone."""
    count = int(np.log2(right)) + 1
    return [2.0**power for power in range(0, count, 1 if count < 8 else 2)]


def _steps(low: float, high: float) -> list[float]:
    """Ticks at 1, 2 and 5 of each power of ten; fewer on long axes."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    digits = (1, 2, 5) if len(powers) < 5 else (1,)
    return [digit * 10.0**power for power in powers for digit in digits]


def _above(lines: Sequence[Curve], place: int) -> bool:
    """Whether a curve lies above the others, by mean speed."""
    heights = [float(np.nanmean(np.log(line.y))) for line in lines]
    return heights[place] == max(heights)


def _line(look: Palette, line: Curve, place: int, unit: str, *, above: bool) -> Figure:
    there = np.flatnonzero(np.isfinite(line.y))
    words = ["" for _ in line.x]
    if there.size:
        words[there[len(there) // 2]] = line.name
    colour = look.series[place % 7]
    return {
        "type": "scatter",
        "mode": "lines+markers+text",
        "name": line.name,
        "x": line.x.tolist(),
        "y": [float(value) if np.isfinite(value) else None for value in line.y],
        "text": words,
        "textposition": "top left" if above else "bottom right",
        "textfont": {"color": look.ink},
        "line": {"color": colour, "width": 2.5, "dash": ("solid", "dash", "dot")[place % 3]},
        "marker": {"color": colour, "size": 6, "symbol": ("circle", "square")[place % 2]},
        "hovertemplate": f"{line.name} at %{{x:,.0f}}: %{{y:.3g}} {unit}<extra></extra>",
        "cliponaxis": False,
    }


def _mark(look: Palette, mark: CurveMark, right: float, low: float, high: float) -> Figure:
    upright = mark.x is not None
    x = [mark.x, mark.x] if upright else [1.0, right * 1.15]
    y = [low, high / 1.15] if upright else [mark.y, mark.y]
    left_half = upright and mark.x is not None and mark.x < np.sqrt(right)
    return {
        "type": "scatter",
        "mode": "lines+text",
        "x": x,
        "y": y,
        "text": ["", mark.text],
        "textposition": ("bottom right" if left_half else "bottom left") if upright else "top left",
        "textfont": {"color": look.soft},
        "line": {"color": look.soft, "dash": "dot", "width": 1.4},
        "hoverinfo": "skip",
    }
