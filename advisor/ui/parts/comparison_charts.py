"""Charts of a comparison, drawn with Plotly from the descriptions in `advisor.reports.charts.charts`.

Words, numbers and ranges are those of `advisor.reports.charts.charts`; exported reports draw the same.
"""

from math import log10

import streamlit as st
from markupsafe import Markup, escape

from advisor.reports.charts.chart_parts import BarChart, LineChart, Note
from advisor.ui.parts.glossary import explained
from advisor.ui.parts.markup import block, joined, show
from advisor.ui.parts.plot import (
    Figure,
    Palette,
    bar_layout,
    draw,
    line_layout,
    one_part,
    palette,
)

DASHES = ("solid", "dash", "dot", "dashdot")
HEIGHT = 300
"""Height of a line chart [pixels]."""


def headed(chart: BarChart | LineChart, *, key: str, anchor: str | None = None) -> None:
    """Heading, chart and legend."""
    st.subheader(chart.title, anchor=anchor)
    figure = bars(chart) if isinstance(chart, BarChart) else lines(chart)
    draw(figure, key=key, alt=chart.alt)
    if isinstance(chart, BarChart) and (chart.keys or chart.mark):
        show(keys(chart))


def bars(chart: BarChart) -> Figure:
    """Horizontal bars, each with its words above it."""
    look = palette()
    rows = range(len(chart.bars))
    # Bars without keys differ in colour from row to row; then each row is a part of its own.
    names = chart.keys or tuple(
        dict.fromkeys((part.name, part.colour) for bar in chart.bars for part in bar.parts)
    )
    data = [
        one_part(
            rows,
            [
                sum(part.size for part in bar.parts if (part.name, part.colour) == (name, colour))
                for bar in chart.bars
            ],
            str(escape(name)),
            look.series[colour],
        )
        for name, colour in names
    ]
    data += [_ranges(look, chart), _marks(look, chart)]
    heads = [f"{escape(bar.head)}: <b>{escape(bar.figure)}</b>" for bar in chart.bars]
    return {"data": data, "layout": bar_layout(look, heads, chart.end * 1.02)}


def _ranges(look: Palette, chart: BarChart) -> Figure:
    """Lines over the bars that have a range."""
    ends = [
        (row, bar.low, bar.high)
        for row, bar in enumerate(chart.bars)
        if bar.low is not None and bar.high is not None
    ]
    middles = [(low + high) / 2 for _, low, high in ends]
    return {
        "type": "scatter",
        "mode": "markers",
        "y": [row for row, _, _ in ends],
        "x": middles,
        "marker": {"size": 0.1, "color": look.ink},
        "error_x": {
            "type": "data",
            "array": [high - at for (_, _, high), at in zip(ends, middles, strict=True)],
            "color": look.ink,
            "thickness": 1.5,
        },
        "hoverinfo": "skip",
    }


def _marks(look: Palette, chart: BarChart) -> Figure:
    limits = [(row, bar.limit) for row, bar in enumerate(chart.bars) if bar.limit is not None]
    return {
        "type": "scatter",
        "mode": "markers",
        "y": [row for row, _ in limits],
        "x": [limit for _, limit in limits],
        "marker": {"symbol": "line-ns", "size": 18, "line": {"width": 2.5, "color": look.ink}},
        "hovertemplate": f"{chart.mark}: %{{x:.1f}} {chart.unit}<extra></extra>",
    }


def keys(chart: BarChart) -> Markup:
    """Legend of colours and mark."""
    look = palette()
    item = Markup("<span><i style='background:{}'></i>{}</span>")
    parts = [item.format(look.series[colour], explained(name)) for name, colour in chart.keys]
    if chart.mark:
        parts.append(Markup("<span>\u2502 {}</span>").format(chart.mark))
    return block("oa-key", joined(parts))


def lines(chart: LineChart) -> Figure:
    """Lines over one pair of axes; several have their names at their ends."""
    look = palette()
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": str(escape(line.name)),
            "x": list(line.x),
            "y": list(line.y),
            "line": {
                "color": look.series[line.colour],
                "width": 2.5,
                "dash": DASHES[place % len(DASHES)],
            },
            "hovertemplate": "%{x:,.4g}: %{y:,.3g}<extra></extra>",
        }
        for place, line in enumerate(chart.lines)
    ]
    layout = line_layout(look, height=HEIGHT)
    for axis, label, powers in (
        ("xaxis", chart.x_label, chart.x_powers),
        ("yaxis", chart.y_label, chart.y_powers),
    ):
        layout[axis] |= {"title": {"text": str(escape(label))}}
        layout[axis] |= {"type": "log"} if powers else {"rangemode": "tozero"}
    layout["xaxis"]["showgrid"] = False
    layout["annotations"] = _names(look, chart) + [_note(look, chart, note) for note in chart.notes]
    layout["shapes"] = [_upright(look, note) for note in chart.notes if note.y is None]
    return {"data": data, "layout": layout}


def _names(look: Palette, chart: LineChart) -> list[Figure]:
    if len(chart.lines) < 2:
        return []
    return [
        {"x": _place(line.x[-1], powers=chart.x_powers),
         "y": _place(line.y[-1], powers=chart.y_powers), "text": str(escape(line.name)),
         "showarrow": False, "xanchor": "right", "yanchor": "bottom", "yshift": 3,
         "font": {"color": look.series[line.colour]}}
        for line in chart.lines if line.x
    ]  # fmt: skip


def _note(look: Palette, chart: LineChart, note: Note) -> Figure:
    at = {"x": _place(note.x, powers=chart.x_powers), "text": str(escape(note.text))}
    if note.y is None:
        low = {"y": 0.03, "yref": "paper", "showarrow": False, "xanchor": "left", "xshift": 6}
        return at | low
    above = {"y": _place(note.y, powers=chart.y_powers), "ax": -70, "ay": -28}
    return at | above | {"showarrow": True, "arrowcolor": look.soft}


def _upright(look: Palette, note: Note) -> Figure:
    return {
        "type": "line", "x0": note.x, "x1": note.x, "yref": "paper", "y0": 0, "y1": 1,
        "line": {"color": look.soft, "dash": "dot", "width": 1.2},
    }  # fmt: skip


def _place(value: float, *, powers: bool) -> float:
    """Position on an axis for Plotly: the exponent on a logarithmic one."""
    return log10(value) if powers else value
