"""Common look of the charts that Plotly draws."""

from typing import Any

import streamlit as st
from plotly.basedatatypes import BaseFigure

from advisor.ui.parts.palette import Palette

Figure = dict[str, Any]


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
