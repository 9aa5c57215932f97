"""Charts of a comparison from the descriptions in `advisor.reports.charts`.

Exported reports draw the same words, numbers and ranges.
"""

from collections.abc import Iterable

import streamlit as st
from markupsafe import Markup

from advisor.formatting import number, short
from advisor.reports.charts import BarChart, Line, LineChart, Note
from advisor.ui.parts.bars import bars
from advisor.ui.parts.markup import show
from advisor.ui.parts.palette import palette
from advisor.ui.parts.plane import DASHES, Scale, Stroke, picture, plane, point, scale_of, words_at

# Lines over one pair of axes as HTML, with the value of each point under the pointer.

MOST_POINTS = 40
"""Points of a line that tell their values."""


def lines(chart: LineChart) -> Markup:
    """Chart of lines; several have their names at their ends."""
    across = scale_of((x for line in chart.lines for x in line.x), powers=chart.x_powers)
    up = scale_of(
        (y for line in chart.lines for y in line.y), powers=chart.y_powers,
        from_zero=not chart.y_powers,
    )  # fmt: skip
    inside = (
        picture((*_strokes(chart, across, up), *_uprights(chart, across))),
        *(tip for line in chart.lines for tip in _values(line, across, up)),
        *(_note(note, across) for note in chart.notes),
        *(_name(line, across, up) for line in chart.lines if len(chart.lines) > 1 and line.x),
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


def _uprights(chart: LineChart, across: Scale) -> Iterable[Stroke]:
    for note in chart.notes:
        at = across.place(note.x)
        yield Stroke(points=[(at, 0), (at, 100)], colour=palette().soft, dash="2 3", width=1.2)


def _values(line: Line, across: Scale, up: Scale) -> Iterable[Markup]:
    colour, step = palette().series[line.colour], -(-len(line.x) // MOST_POINTS)
    for x, y in list(zip(line.x, line.y, strict=True))[::step]:
        tip = f"{short(x)}: {number(y, 3)}"
        yield point(across.place(x), up.place(y), tip, colour, "hidden", 10)


def _note(note: Note, across: Scale) -> Markup:
    return words_at(across.place(note.x), 3, note.text)


def _name(line: Line, across: Scale, up: Scale) -> Markup:
    colour = palette().series[line.colour]
    return words_at(across.place(line.x[-1]), up.place(line.y[-1]), line.name, "oa-end", colour)


def headed(chart: BarChart | LineChart, *, anchor: str | None = None) -> None:
    """Heading, chart and legend."""
    st.subheader(chart.title, anchor=anchor)
    show(bars(chart) if isinstance(chart, BarChart) else lines(chart))
