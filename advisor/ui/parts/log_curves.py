"""Curves over users or tokens on logarithmic axes, with marks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from advisor.formatting import number
from advisor.model.model import Floats
from advisor.ui.parts.palette import palette
from advisor.ui.parts.plane import DASHES, Scale, Stroke, picture, plane, point, scale_of, words_at

SHAPES = ("circle", "square")
LOW = 20.0
"""Height below which curves and words of a horizontal mark are in the way of words at the foot
[%]."""
ROW = 8.0
"""Height of a row of words [%]."""
NEAR = 30.0
"""Width that the words of a vertical mark take [%]."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Curve."""

    name: str  # name at its end
    x: Floats  # varied quantity
    y: Floats  # speed or time; NaN where the curve ends [tokens/s or s]


@dataclass(frozen=True, kw_only=True)
class CurveMark:
    """Dotted line across the chart, vertical at `x` or horizontal at `y`, with words at its end."""

    text: str
    x: float | None = None
    y: float | None = None


def curves(
    lines: Sequence[Curve], marks: Sequence[CurveMark], *, x_label: str, y_label: str, alt: str,
    unit: str = "tokens/s",
) -> Markup:  # fmt: skip
    """Chart of curves."""
    known = [point for line in lines for point in _known(line)]
    across = scale_of(
        [*(x for x, _ in known), *(mark.x for mark in marks if mark.x)], powers=True
    )  # fmt: skip
    up = scale_of([*(y for _, y in known), *(mark.y for mark in marks if mark.y)], powers=True)
    inside = (
        picture((*_strokes(lines, across, up), *_dotted(marks, across, up))),
        *_points(lines, across, up, unit),
        *_words(lines, marks, across, up),
    )
    return plane(across, up, inside, x_label=x_label, y_label=y_label, alt=alt)


def _known(line: Curve) -> list[tuple[float, float]]:
    """Points of a curve up to where it ends."""
    there = np.isfinite(line.y)
    return list(zip(line.x[there].tolist(), line.y[there].tolist(), strict=True))


def _strokes(lines: Sequence[Curve], across: Scale, up: Scale) -> Iterable[Stroke]:
    look = palette()
    for place, line in enumerate(lines):
        yield Stroke(
            points=[(across.place(x), up.place(y)) for x, y in _known(line)],
            colour=look.series[place],
            dash=DASHES[place % len(DASHES)],
        )


def _dotted(marks: Sequence[CurveMark], across: Scale, up: Scale) -> Iterable[Stroke]:
    for mark in marks:
        if mark.x is not None:
            ends = [(across.place(mark.x), 0.0), (across.place(mark.x), 100.0)]
        else:
            ends = [(0.0, up.place(mark.y or 1.0)), (100.0, up.place(mark.y or 1.0))]
        yield Stroke(points=ends, colour=palette().soft, dash="2 3", width=1.4)


def _points(lines: Sequence[Curve], across: Scale, up: Scale, unit: str) -> Iterable[Markup]:
    series = palette().series
    for place, line in enumerate(lines):
        for x, y in _known(line):
            tip = f"{line.name} at {x:,.0f}: {number(y, 3)} {unit}"
            at = across.place(x), up.place(y)
            yield point(*at, tip, series[place], SHAPES[place % len(SHAPES)], 7)


def _words(
    lines: Sequence[Curve], marks: Sequence[CurveMark], across: Scale, up: Scale
) -> Iterable[Markup]:
    series = palette().series
    for place, line in enumerate(lines):
        if known := _known(line):
            middle = len(known) // 2
            x, y = known[middle]
            # Above a rising curve there is room on its left, above a falling one on its right.
            rises = y > known[middle - 1][1] if middle else None
            yield words_at(
                across.place(x), up.place(y), line.name, "oa-end", series[place], leftward=rises
            )
    points = [(across.place(x), up.place(y)) for line in lines for x, y in _known(line)]
    low = any(mark.y is not None and up.place(mark.y) < LOW for mark in marks)
    for row, mark in enumerate(mark for mark in marks if mark.x is not None):
        at = across.place(mark.x or 1.0)
        crowded = low or any(abs(x - at) < NEAR and y < LOW for x, y in points)
        yield words_at(at, 100 - LOW - ROW * row if crowded else 2 + ROW * row, mark.text)
    for mark in marks:
        if mark.y is not None:
            yield words_at(100, up.place(mark.y), mark.text)
