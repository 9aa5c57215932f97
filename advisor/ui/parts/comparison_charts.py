"""Charts as the reports describe them, drawn as HTML: the same words, numbers and ranges."""

from collections.abc import Iterable, Mapping

import numpy as np
import streamlit as st
from markupsafe import Markup

from advisor.formatting import number, short
from advisor.model.model import Floats
from advisor.reports.charts import BarChart, Line, LineChart, Note
from advisor.ui.parts.bars import bars
from advisor.ui.parts.markup import show
from advisor.ui.parts.palette import palette
from advisor.ui.parts.plane import DASHES, Scale, Stroke, picture, plane, point, scale_of, words_at

ROW = 8.0
"""Height of a row of words [%]."""
WIDE = 30.0
"""Width that words beside a mark take [%]."""
MOST_POINTS = 40
"""Points of a line that tell their values."""


def curves(
    named: Mapping[str, tuple[Floats, Floats]], marks: Mapping[float, str], *, x_label: str,
    y_label: str, alt: str, level: tuple[float, str] | None = None,
) -> Markup:  # fmt: skip
    """Curves by name on logarithmic axes, each to where it has numbers, and words at marks."""
    drawn = []
    for colour, (name, (x, y)) in enumerate(named.items()):
        there = np.isfinite(y)
        ends = tuple(x[there].tolist()), tuple(y[there].tolist())
        drawn.append(Line(name=name, x=ends[0], y=ends[1], colour=colour))
    notes = tuple(Note(x=x, text=text) for x, text in marks.items())
    chart = LineChart(
        name=alt, title=alt, alt=alt, lines=tuple(drawn), x_label=x_label, y_label=y_label,
        x_powers=True, y_powers=True, notes=notes,
    )  # fmt: skip
    return lines(chart, level)


def lines(chart: LineChart, level: tuple[float, str] | None = None) -> Markup:
    """Chart of lines; several have their names at their ends. A level is a height with words."""
    across = scale_of(
        (*(x for line in chart.lines for x in line.x), *(note.x for note in chart.notes)),
        powers=chart.x_powers,
    )
    up = scale_of(
        (*(y for line in chart.lines for y in line.y), *(level or ())[:1]),
        powers=chart.y_powers, from_zero=not chart.y_powers,
    )  # fmt: skip
    high = None if level is None else up.place(level[0])
    inside = (
        picture((*_strokes(chart, across, up), *_dotted(chart, across, high))),
        *(tip for line in chart.lines for tip in _values(chart, line, across, up)),
        *_words(chart, across, up, high),
        *([] if level is None or high is None else [words_at(100, high, level[1])]),
    )
    return plane(
        across, up, inside, x_label=chart.x_label, y_label=chart.y_label, alt=chart.alt
    )  # fmt: skip


def _strokes(chart: LineChart, across: Scale, up: Scale) -> Iterable[Stroke]:
    look = palette()
    for place, line in enumerate(chart.lines):
        yield Stroke(
            points=[
                (across.place(x), up.place(y)) for x, y in zip(line.x, line.y, strict=True)
            ],
            colour=look.series[line.colour],
            dash=DASHES[place % len(DASHES)],
        )  # fmt: skip


def _dotted(chart: LineChart, across: Scale, high: float | None) -> Iterable[Stroke]:
    ends = [((at := across.place(note.x), 0.0), (at, 100.0)) for note in chart.notes]
    for line in (*ends, *([] if high is None else [((0.0, high), (100.0, high))])):
        yield Stroke(points=line, colour=palette().soft, dash="2 3", width=1.2)


def _values(chart: LineChart, line: Line, across: Scale, up: Scale) -> Iterable[Markup]:
    colour, step = palette().series[line.colour], -(-len(line.x) // MOST_POINTS)
    name = f"{line.name} at " if len(chart.lines) > 1 else ""
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
            at, height = across.place(line.x[-1]), up.place(line.y[-1])
            falls = len(line.y) > 1 and line.y[-1] <= line.y[-2]
            if falls or any(abs(height - other) < ROW for other in names):
                height = height - 1.3 * ROW if height > 2 * ROW else height
            names.append(height)
            taken.append((at, height))
            yield words_at(at, height, line.name, "oa-end", palette().series[line.colour])
    for note in chart.notes:
        at = across.place(note.x)
        left, right = (at - WIDE, at) if at > 50 else (at, at + WIDE)
        near = [y for x, y in taken if left <= x <= right]
        heights = [3 + ROW * row for row in range(int(90 / ROW))]
        height = max(heights, key=lambda low: (
            min((abs(low + ROW / 2 - y) for y in near), default=ROW) >= ROW, -low
        ))  # fmt: skip
        taken += [(x, height + ROW / 2) for x in (left, right)]
        yield words_at(at, height, note.text)


def headed(chart: BarChart | LineChart, *, anchor: str | None = None) -> None:
    """Heading, chart and legend."""
    st.subheader(chart.title, anchor=anchor)
    show(bars(chart) if isinstance(chart, BarChart) else lines(chart))
