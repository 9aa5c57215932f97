"""Charts as HTML: colours in both themes, axes, bars, lines and points.

A browser shows them at once, without a program for charts; text keeps its size at every width.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import numpy as np
import streamlit as st
from markupsafe import Markup, escape

from advisor.advice.table.option import on_front
from advisor.formatting import short
from advisor.lazy import lazy
from advisor.model.model import Floats
from advisor.reports.charts import (
    COLOURS,
    DASHES,
    Bar,
    BarChart,
    Line,
    LineChart,
    Note,
    Scale,
    scale_of,
    tick_words,
)
from advisor.ui.parts.glossary import explained
from advisor.ui.parts.markup import block, joined, show
from advisor.units import number


@dataclass(frozen=True, kw_only=True)
class Palette:
    """Colours of one theme."""

    soft: str  # lesser lines
    series: tuple[str, ...]


LIGHT = Palette(soft="#5b6470", series=COLOURS)
DARK = Palette(
    soft="#a7b0bb",
    series=("#56b4e9", "#e69f00", "#2fc39a", "#e39ac4", "#ff8a4d", "#8fd0f5", "#9aa2ac", "#d5dae0"),
)


def palette() -> Palette:
    """Colours of the visitor's theme."""
    if st.context.theme.type == "dark":
        return DARK
    return LIGHT


# Two axes as HTML: text and points in their places, over one stretched picture of all lines.


Place = tuple[float, float]  # position across and up, from the left and the bottom [% of the axes]


def stroke(places: Iterable[Place], colour: str, dash: str = "", width: float = 2.5) -> str:
    """Line of a picture, of a width [pixels]; a dash is lengths of dashes and gaps."""
    return (
        f"<polyline points='{' '.join(f'{x:.2f},{100 - y:.2f}' for x, y in places)}' fill='none' "
        f"stroke='{colour}' stroke-width='{width}' stroke-dasharray='{dash}' "
        "stroke-linejoin='round' vector-effect='non-scaling-stroke'/>"
    )


def picture(strokes: Iterable[str]) -> Markup:
    """Image of all lines, which stretches with the axes while the lines keep their width."""
    svg = (
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 100 100' "
        f"preserveAspectRatio='none'>{''.join(strokes)}</svg>"
    )
    html = Markup(
        "<div class='oa-lines' style='background-image:url(data:image/svg+xml,{})'></div>"
    )
    return html.format(quote(svg))


def point(
    across: float, up: float, tip: str, colour: str, shape: str = "circle", size: int = 8
) -> Markup:
    """Point with a tooltip, at a distance from the left and from the bottom [%], with a size
    [pixels].

    Its shape is one of the style sheet, "hidden" for words alone.
    """
    side = " oa-leftward" if across > 50 else ""
    # Plain strings: a chart may have hundreds, and Markup.format takes ten times longer.
    return Markup(  # noqa: S704  escaped
        f"<i class='oa-point oa-{shape}{side}' data-tip='{escape(tip)}' style='left:"
        f"{across:.2f}%;bottom:{up:.2f}%;--size:{size}px;color:{colour}'></i>"
    )


def words_at(across: float, up: float, text: str, style: str = "", colour: str = "") -> Markup:
    """Words above a point at a distance from the left and from the bottom [%], on the side with
    room.
    """
    side = " oa-leftward" if across > 50 else ""
    paint = f";color:{colour}" if colour else ""
    html = Markup("<em class='{}{}' style='left:{:.2f}%;bottom:{:.2f}%{}'>{}</em>")
    return html.format(style, side, across, up, paint, text)


def plane(
    across: Scale,
    up: Scale,
    inside: Iterable[Markup],
    *,
    x_label: str,
    y_label: str,
    alt: str,
    height: int = 270,
    x_sign: str = "",
) -> Markup:
    """Axes with the picture, points and words between them, of a height [pixels]."""
    row = Markup("<u style='bottom:{:.2f}%'><b>{}</b></u>")
    column = Markup("<s style='left:{:.2f}%'><b>{}</b></s>")
    rows = joined(row.format(up.place(tick), tick_words(tick)) for tick in up.ticks())
    columns = joined(
        column.format(across.place(tick), x_sign + tick_words(tick)) for tick in across.ticks()
    )
    html = Markup(
        "<div class='oa-plane' role='img' aria-label='{}'><div class='oa-label'>{}</div>"
        "<div class='oa-field' style='height:{}px'>{}</div>"
        "<div class='oa-label oa-across'>{}</div></div>"
    )
    return html.format(alt, y_label, height, rows + columns + joined(inside), x_label)


# Bars: words above each bar, its parts, range and mark.


def bars(chart: BarChart) -> Markup:
    """Bars of a chart with their legend; the words above them need no picture."""
    words = Markup("<p>{}: <b>{}</b></p>")
    series = palette().series
    rows = joined(
        words.format(bar.head, bar.figure) + track(bar, chart.end, chart.unit, chart.mark)
        for bar in chart.bars
    )
    keys = ((series[colour], explained(name)) for name, colour in chart.keys)
    return block("oa-bars", rows) + legend(keys, chart.mark)


def legend(names: Iterable[tuple[str, str]], mark: str = "") -> Markup:
    """Colours with their names, and the meaning of upright marks; nothing without either."""
    item = Markup("<span><i style='background:{}'></i>{}</span>")
    keys = [item.format(*each) for each in names]
    if mark:
        keys.append(Markup("<span>\u2502 {}</span>").format(mark))
    if keys:
        return block("oa-key", joined(keys))
    return Markup()


def track(bar: Bar, end: float, unit: str, mark: str = "") -> Markup:
    """Bar without words; its parts and the meaning of its mark appear under the pointer."""
    inside = joined(_bar_parts(bar, end, unit, mark))
    return Markup("<div class='oa-track' aria-hidden='true'>{}</div>").format(inside)


def _bar_parts(bar: Bar, end: float, unit: str, mark: str) -> Iterable[Markup]:
    colours = palette().series
    part_of = Markup("<i title='{}: {} {}' style='width:{:.2f}%;background:{}'></i>")
    for part in bar.parts:
        size = number(part.size, 3)
        yield part_of.format(part.name, size, unit, 100 * part.size / end, colours[part.colour])
    if bar.low is not None and bar.high is not None:
        left = 100 * bar.low / end
        width = 100 * (bar.high - bar.low) / end
        yield Markup("<s style='left:{:.2f}%;width:{:.2f}%'></s>").format(left, width)
    if bar.limit is not None:
        title = f"{mark}: {number(bar.limit, 3)} {unit}"
        at = 100 * bar.limit / end
        yield Markup("<u title='{}' style='left:{:.2f}%'></u>").format(title, at)


# Charts of lines as the reports describe them: the same words, numbers and ranges.


ROW = 8.0  # height of a row of words [%]
WIDE = 30.0  # width that words beside a mark take [%]
MOST_POINTS = 40  # points of a line that tell their values


def curves(
    named: Mapping[str, tuple[Floats, Floats]],
    marks: Mapping[float, str],
    *,
    x_label: str,
    y_label: str,
    alt: str,
    level: tuple[float, str] | None = None,
) -> Markup:
    """Curves by name on logarithmic axes, each to where it has numbers, and words at marks."""
    drawn = []
    for colour, (name, (x, y)) in enumerate(named.items()):
        there = np.isfinite(y)
        ends = tuple(x[there].tolist()), tuple(y[there].tolist())
        drawn.append(Line(name=name, x=ends[0], y=ends[1], colour=colour))
    notes = tuple(Note(x=x, text=text) for x, text in marks.items())
    chart = LineChart(
        name=alt,
        title=alt,
        alt=alt,
        lines=tuple(drawn),
        x_label=x_label,
        y_label=y_label,
        x_powers=True,
        y_powers=True,
        notes=notes,
    )
    return lines(chart, level)


def lines(chart: LineChart, level: tuple[float, str] | None = None) -> Markup:
    """Chart of lines; several have their names at their ends. A level is a height with words."""
    across, up = chart.axes(None if level is None else level[0])
    if level is None:
        high = None
    else:
        high = up.place(level[0])
    inside = (
        picture(_strokes(chart, across, up, high)),
        *(tip for line in chart.lines for tip in _values(chart, line, across, up)),
        *_words(chart, across, up, high),
        *([] if level is None or high is None else [words_at(100, high, level[1])]),
    )
    return plane(across, up, inside, x_label=chart.x_label, y_label=chart.y_label, alt=chart.alt)


def _strokes(chart: LineChart, across: Scale, up: Scale, high: float | None) -> Iterable[str]:
    look = palette()
    for place, line in enumerate(chart.lines):
        places = ((across.place(x), up.place(y)) for x, y in zip(line.x, line.y, strict=True))
        yield stroke(places, look.series[line.colour], DASHES[place % len(DASHES)])
    for note in chart.notes:
        yield stroke([(at := across.place(note.x), 0.0), (at, 100.0)], look.soft, "2 3", 1.2)
    if high is not None:
        yield stroke([(0.0, high), (100.0, high)], look.soft, "2 3", 1.2)


def _values(chart: LineChart, line: Line, across: Scale, up: Scale) -> Iterable[Markup]:
    colour = palette().series[line.colour]
    step = -(-len(line.x) // MOST_POINTS)
    if len(chart.lines) > 1:
        name = f"{line.name} at "
    else:
        name = ""
    for x, y in list(zip(line.x, line.y, strict=True))[::step]:
        tip = f"{name}{short(x)}: {number(y, 3)}"
        yield point(across.place(x), up.place(y), tip, colour, "hidden", 10)


def _words(chart: LineChart, across: Scale, up: Scale, high: float | None) -> Iterable[Markup]:
    """Names at the ends of lines, below falling ones, and notes where no line or name is."""
    taken: list[tuple[float, float]] = []
    for line in chart.lines:
        if line.x:
            places = [across.place(x) for x in line.x], [up.place(y) for y in line.y]
            between = np.linspace(places[0][0], places[0][-1], MOST_POINTS)
            taken += zip(between.tolist(), np.interp(between, *places).tolist(), strict=True)
    taken += [] if high is None else [(at, high) for at in (70.0, 85.0, 100.0)]
    names: list[float] = []
    for line in chart.lines if len(chart.lines) > 1 else ():
        if line.x:
            at = across.place(line.x[-1])
            height = up.place(line.y[-1])
            falls = len(line.y) > 1 and line.y[-1] <= line.y[-2]
            crowded = falls or any(abs(height - other) < ROW for other in names)
            if crowded and height > 2 * ROW:
                height = height - 1.3 * ROW
            names.append(height)
            taken.append((at, height))
            yield words_at(at, height, line.name, "oa-end", palette().series[line.colour])
    for note in chart.notes:
        at = across.place(note.x)
        left, right = (at - WIDE, at) if at > 50 else (at, at + WIDE)
        near = [y for x, y in taken if left <= x <= right]
        heights = [3 + ROW * row for row in range(int(90 / ROW))]
        height = max(
            heights,
            key=lambda low: (min((abs(low + ROW / 2 - y) for y in near), default=ROW) >= ROW, -low),
        )
        taken += [(x, height + ROW / 2) for x in (left, right)]
        yield words_at(at, height, note.text)


def headed(chart: BarChart | LineChart, *, anchor: str | None = None) -> None:
    """Heading, chart and legend."""
    st.subheader(chart.title, anchor=anchor)
    show(bars(chart) if isinstance(chart, BarChart) else lines(chart))


# Points over one pair of axes, each with its words under the pointer.


POINT_COLOURS = 7  # colours that are read well as points
# room of a name beside a point, of a phone's chart [%]
NAME_WIDE = 45.0
NAME_HIGH = 6.5


@dataclass(frozen=True, kw_only=True)
class Point:
    """Point of a chart."""

    kind: str  # in the legend
    x: float  # value across
    y: float  # value up
    tip: str  # words under the pointer, and in the alternative text where no other point beats it
    name: str = ""  # words beside it where no other point beats it; empty for none
    counts: bool = True  # it may be one that no other beats


@dataclass(frozen=True, kw_only=True)
class PointChart:
    """Points of several kinds, with those that no other point beats."""

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

    @lazy
    def front(self) -> list[Point]:
        """Points that no other beats in both, the best across first."""
        able = [spot for spot in self.points if spot.counts]
        across = np.array([spot.x if self.costs else -spot.x for spot in able])
        best = np.flatnonzero(on_front(across, np.array([spot.y for spot in able])))
        return [able[at] for at in sorted(best, key=lambda at: (across[at], able[at].y))]

    def look(self, kind: str) -> tuple[str, str]:
        """Shape and colour of a kind: nothing depends on colour alone."""
        place = list(self.shapes).index(kind)
        return self.shapes[kind], palette().series[place % POINT_COLOURS]


def points(chart: PointChart) -> Markup:
    """Chart with its legend."""
    every = chart.points
    if chart.upright is None:
        uprights = []
    else:
        uprights = [chart.upright]
    across = scale_of([*(spot.x for spot in every), *uprights], powers=True)
    up = scale_of((spot.y for spot in every), powers=chart.y_powers)
    inside = (picture(_front_strokes(chart, across, up)), *_spots(chart, across, up))
    drawn = plane(
        across,
        up,
        inside,
        x_label=chart.x_label,
        y_label=chart.y_label,
        alt=f"{chart.lead}: {'; '.join(spot.tip for spot in chart.front)}",
        height=chart.height,
        x_sign=chart.x_sign,
    )
    item = Markup("<span><i class='oa-mark oa-{}' style='color:{}'></i>{}</span>")
    there = {spot.kind for spot in every}
    keys = (item.format(*chart.look(kind), kind) for kind in chart.shapes if kind in there)
    return drawn + block("oa-key", joined(keys))


def _front_strokes(chart: PointChart, across: Scale, up: Scale) -> Iterable[str]:
    soft = palette().soft
    if chart.upright is not None:
        yield stroke([(at := across.place(chart.upright), 0.0), (at, 100.0)], soft, "2 3", 1.5)
    corners: list[Place] = []
    for spot in chart.front if chart.costs else ():
        place = across.place(spot.x), up.place(spot.y)
        corners += [(place[0], corners[-1][1]), place] if corners else [place]
    if corners:
        yield stroke(corners, soft, "2 3", 1.5)


def _spots(chart: PointChart, across: Scale, up: Scale) -> Iterable[Markup]:
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
        right = across.place(spot.x)
        high = up.place(spot.y)
        if all(abs(right - x) > NAME_WIDE or abs(high - y) > NAME_HIGH for _, x, y in shown):
            shown.append((spot.name, right, high))
    return shown
