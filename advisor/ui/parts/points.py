"""Points over one pair of axes as HTML, each with its words under the pointer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from advisor.ui.parts.markup import block, joined
from advisor.ui.parts.palette import palette
from advisor.ui.parts.plane import Scale, Stroke, picture, plane, point, scale_of, words_at

NAME_WIDE, NAME_HIGH = 45.0, 6.5
"""Room of a name beside a point, of a phone's chart [%]."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """Point."""

    x: float  # value across
    y: float  # value up
    tip: str  # words under the pointer
    name: str = ""  # words beside it; empty for none


@dataclass(frozen=True, kw_only=True)
class PointGroup:
    """Points of one kind."""

    name: str  # in the legend
    shape: str  # name of a shape in the style sheet
    colour: int  # place in the palette
    points: Sequence[Point]  # the points
    size: int = 9  # of each [pixels]


@dataclass(frozen=True, kw_only=True)
class PointChart:
    """Points of several kinds."""

    alt: str  # the chart in words
    groups: Sequence[PointGroup]  # kinds of points
    x_label: str  # label of the horizontal axis, with its unit
    y_label: str  # label of the vertical axis, with its unit
    y_powers: bool = True  # the vertical axis is logarithmic, as the horizontal one always is
    x_sign: str = ""  # sign before the numbers of the horizontal axis
    # corners of a dotted line, from left to right: the front
    stairs: Sequence[tuple[float, float]] = ()
    upright: float | None = None  # place of a dotted line across the horizontal axis; None for none
    height: int = 300  # height of the vertical axis [pixels]


def points(chart: PointChart) -> Markup:
    """Chart with its legend."""
    every = [spot for group in chart.groups for spot in group.points]
    uprights = [] if chart.upright is None else [chart.upright]
    across = scale_of([*(spot.x for spot in every), *uprights], powers=True)
    up = scale_of((spot.y for spot in every), powers=chart.y_powers)
    inside = (picture(_strokes(chart, across, up)), *_inside(chart, across, up))
    drawn = plane(
        across, up, inside, x_label=chart.x_label, y_label=chart.y_label, alt=chart.alt,
        height=chart.height, x_sign=chart.x_sign,
    )  # fmt: skip
    return joined((drawn, _legend(chart)))


def _strokes(chart: PointChart, across: Scale, up: Scale) -> Iterable[Stroke]:
    look = palette()
    if chart.upright is not None:
        at = across.place(chart.upright)
        yield Stroke(points=[(at, 0), (at, 100)], colour=look.soft, dash="2 3", width=1.5)
    corners: list[tuple[float, float]] = []
    for x, y in chart.stairs:
        place = across.place(x), up.place(y)
        if corners:
            corners.append((place[0], corners[-1][1]))
        corners.append(place)
    if corners:
        yield Stroke(points=corners, colour=look.soft, dash="2 3", width=1.5)


def _inside(chart: PointChart, across: Scale, up: Scale) -> Iterable[Markup]:
    series = palette().series
    for group in chart.groups:
        for spot in group.points:
            place = across.place(spot.x), up.place(spot.y)
            yield point(*place, spot.tip, series[group.colour], group.shape, group.size)
    for name, right, high in _apart(chart, across, up):
        yield words_at(right, high, name, "oa-named")


def _apart(chart: PointChart, across: Scale, up: Scale) -> list[tuple[str, float, float]]:
    """Names with their places, from the top, without those that would lie on another [%]."""
    named = [spot for group in chart.groups for spot in group.points if spot.name]
    shown: list[tuple[str, float, float]] = []
    for spot in sorted(named, key=lambda spot: -spot.y):
        right, high = across.place(spot.x), up.place(spot.y)
        if all(abs(right - x) > NAME_WIDE or abs(high - y) > NAME_HIGH for _, x, y in shown):
            shown.append((spot.name, right, high))
    return shown


def _legend(chart: PointChart) -> Markup:
    series = palette().series
    item = Markup("<span><i class='oa-mark oa-{}' style='color:{}'></i>{}</span>")
    keys = (
        item.format(group.shape, series[group.colour], group.name)
        for group in chart.groups
        if group.points
    )
    return block("oa-key", joined(keys))
