"""Charts of a comparison from the descriptions in `advisor.reports.charts`.

Exported reports draw the same words, numbers and ranges.
"""

import streamlit as st

from advisor.reports.charts.chart_parts import BarChart, LineChart
from advisor.ui.parts.bars import bars
from advisor.ui.parts.lines import lines
from advisor.ui.parts.markup import show


def headed(chart: BarChart | LineChart, *, anchor: str | None = None) -> None:
    """Heading, chart and legend."""
    st.subheader(chart.title, anchor=anchor)
    show(bars(chart) if isinstance(chart, BarChart) else lines(chart))
