"""Common look of the charts: colours of both themes, bars, axes.

Colours are those of Okabe and Ito, lighter on the dark page.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from plotly.basedatatypes import BaseFigure

from advisor.reports.charts.chart_parts import COLOURS

Figure = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Palette:
    """Colours of one theme."""

    ink: str
    soft: str
    line: str
    series: tuple[str, ...]


LIGHT = Palette(
    ink="#1b1f24", soft="#5b6470", line="#dfe2e7",
    series=COLOURS,
)  # fmt: skip
DARK = Palette(
    ink="#e8eaed", soft="#a7b0bb", line="#343a42",
    series=("#56b4e9", "#e69f00", "#2fc39a", "#e39ac4", "#ff8a4d", "#8fd0f5", "#9aa2ac", "#d5dae0"),
)  # fmt: skip


def palette() -> Palette:
    """Colours of the visitor's theme."""
    return DARK if st.context.theme.type == "dark" else LIGHT


class DescribedFigure(BaseFigure):  # type: ignore[misc]  # Plotly is untyped
    """A figure that goes to the browser as it is described.

    Plotly would check every property in Python each time a chart is drawn, and send its own theme
    along: a third of a redraw. The tests check each chart instead.
    """

    def __init__(self, figure: Figure) -> None:
        self._described = figure

    def to_dict(self) -> Figure:
        """Data and layout."""
        return self._described


def draw(figure: Figure, *, key: str, alt: str) -> None:
    """Show a chart."""
    st.plotly_chart(
        DescribedFigure(figure),
        key=key,
        alt=alt,
        theme=None,
        config={"displayModeBar": False, "responsive": True},
    )


def one_part(rows: Iterable[int], sizes: Sequence[float], name: str, colour: str) -> Figure:
    """One part of all bars: rows of the same name and colour."""
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": list(rows),
        "x": sizes,
        "width": 0.34,
        "marker": {"color": colour},
        "hovertemplate": name + ": %{x:.3g}<extra></extra>",
    }


def bar_layout(look: Palette, heads: Sequence[str], end: float) -> dict[str, Any]:
    """Layout for horizontal bars with words above them, also on a phone."""
    layout = line_layout(look, height=20 + 48 * max(len(heads), 1))
    layout |= {"barmode": "stack", "margin": {"l": 2, "r": 6, "t": 4, "b": 4}}
    layout["annotations"] = [
        {"x": 0, "y": place, "text": head, "showarrow": False, "xanchor": "left", "yshift": 19}
        for place, head in enumerate(heads)
    ]
    layout["xaxis"] |= {"range": [0, end], "visible": False}
    layout["yaxis"] |= {"range": [len(heads) - 0.55, -0.75], "visible": False}
    return layout


def line_layout(look: Palette, *, height: int) -> dict[str, Any]:
    """Layout for lines, without zoom."""
    axis = {
        "gridcolor": look.line,
        "zeroline": False,
        "color": look.soft,
        "tickfont": {"color": look.ink},
        "automargin": True,
        "fixedrange": True,
    }
    return {
        "height": height,
        "margin": {"l": 60, "r": 10, "t": 10, "b": 10},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": look.ink, "size": 13, "family": "Source Sans, sans-serif"},
        "showlegend": False,
        "xaxis": dict(axis),
        "yaxis": dict(axis),
        "hoverlabel": {"font": {"size": 13}},
    }
