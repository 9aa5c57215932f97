"""Points over one pair of axes as HTML, each with its words under the pointer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from markupsafe import Markup

from advisor.advice.table.option import on_front
from advisor.ui.parts.markup import block, joined
from advisor.ui.parts.palette import palette
from advisor.ui.parts.plane import Scale, Stroke, picture, plane, point, scale_of, words_at

COLOURS = 7
"""Colours that are read well as points."""
NAME_WIDE, NAME_HIGH = 45.0, 6.5
"""Room of a name beside a point, of a phone's chart [%]."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """Point."""

    kind: str  # in the legend
    x: float  # value across
    y: float  # value up
    tip: str  # words under the pointer, and in the alternative text where no other point beats it
    name: str = ""  # words beside it where no other point beats it; empty for none
    counts: bool = True  # it may be one that no other beats


@dataclass(frozen=True, kw_only=True)
class PointChart:
    """Points of several kinds, and those of them that no other beats."""

    lead: str  # words before those that no other beats, in the alternative text
    points: Sequence[Point]  # the points
    shapes: Mapping[str, str]  # names of shapes in the style sheet by kind, as in the legend
    x_label: str  # label of the horizontal axis, with its unit
    y_label: str  # label of the vertical axis, with its unit
    costs: bool = True  # less across is better, and a dotted line leads along what is not beaten
    y_powers: bool = True  # the vertical axis is logarithmic, as the horizontal one always is
    x_sign: str = ""  # sign before the numbers of the horizontal axis
    upright: float | None = None  # place of a dotted line across the horizontal axis; None for none
    height: int = 300  # height of the vertical axis [pixels]
    large: str = ""  # kind whose points are larger

    @cached_property
    def front(self) -> list[Point]:
        """Points that no other beats in both, the best across first."""
        able = [spot for spot in self.points if spot.counts]
        across = np.array([spot.x if self.costs else -spot.x for spot in able])
        best = np.flatnonzero(on_front(across, np.array([spot.y for spot in able])))
        return [able[at] for at in sorted(best, key=lambda at: (across[at], able[at].y))]

    def look(self, kind: str) -> tuple[str, str]:
        """Shape and colour of a kind: nothing depends on colour alone."""
        place = list(self.shapes).index(kind)
        return self.shapes[kind], palette().series[place % COLOURS]


def points(chart: PointChart) -> Markup:
    """Chart with its legend."""
    every = chart.points
    uprights = [] if chart.upright is None else [chart.upright]
    across = scale_of([*(spot.x for spot in every), *uprights], powers=True)
    up = scale_of((spot.y for spot in every), powers=chart.y_powers)
    inside = (picture(_strokes(chart, across, up)), *_inside(chart, across, up))
    drawn = plane(
        across, up, inside, x_label=chart.x_label, y_label=chart.y_label,
        alt=f"{chart.lead}: {'; '.join(spot.tip for spot in chart.front)}",
        height=chart.height, x_sign=chart.x_sign,
    )  # fmt: skip
    return joined((drawn, _legend(chart)))


def _strokes(chart: PointChart, across: Scale, up: Scale) -> Iterable[Stroke]:
    look = palette()
    if chart.upright is not None:
        at = across.place(chart.upright)
        yield Stroke(points=[(at, 0), (at, 100)], colour=look.soft, dash="2 3", width=1.5)
    corners: list[tuple[float, float]] = []
    for spot in chart.front if chart.costs else ():
        place = across.place(spot.x), up.place(spot.y)
        if corners:
            corners.append((place[0], corners[-1][1]))
        corners.append(place)
    if corners:
        yield Stroke(points=corners, colour=look.soft, dash="2 3", width=1.5)


def _inside(chart: PointChart, across: Scale, up: Scale) -> Iterable[Markup]:
    for spot in chart.points:
        shape, colour = chart.look(spot.kind)
        size = 15 if spot.kind == chart.large else 9
        yield point(across.place(spot.x), up.place(spot.y), spot.tip, colour, shape, size)
    for name, right, high in _apart(chart, across, up):
        yield words_at(right, high, name, "oa-named")


def _apart(chart: PointChart, across: Scale, up: Scale) -> list[tuple[str, float, float]]:
    """Names with their places, from the top, without those that would lie on another [%]."""
    named = [spot for spot in chart.front if spot.name]
    shown: list[tuple[str, float, float]] = []
    for spot in sorted(named, key=lambda spot: -spot.y):
        right, high = across.place(spot.x), up.place(spot.y)
        if all(abs(right - x) > NAME_WIDE or abs(high - y) > NAME_HIGH for _, x, y in shown):
            shown.append((spot.name, right, high))
    return shown


def _legend(chart: PointChart) -> Markup:
    item = Markup("<span><i class='oa-mark oa-{}' style='color:{}'></i>{}</span>")
    there = {spot.kind for spot in chart.points}
    keys = (item.format(*chart.look(kind), kind) for kind in chart.shapes if kind in there)
    return block("oa-key", joined(keys))
