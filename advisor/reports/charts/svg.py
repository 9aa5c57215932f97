"""A chart of lines as SVG that belongs to the page around it, or as a PNG for a file without one.

In SVG text stays text, colours follow the page's light or dark theme, the same numbers give the
same characters, and nothing is fetched. Matplotlib's settings are global, so one drawing is made at
a time.
"""

import re
import warnings
from functools import lru_cache
from io import BytesIO
from threading import Lock
from typing import Any

import matplotlib as mpl
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from advisor.reports.charts.chart_parts import LineChart
from advisor.reports.charts.painting import WIDTH, Inks, height, paint

STAND_INS = Inks(ink="#010203", soft="#010204", line="#010205", paper="#010206")
"""For colours of the page."""
ON_PAPER = Inks(ink="#000000", soft="#444444", line="#bbbbbb", paper="#ffffff")
DOTS_PER_INCH = 220

_THEME = {
    STAND_INS.ink: "var(--ink)",
    STAND_INS.soft: "var(--soft)",
    STAND_INS.line: "var(--line)",
    STAND_INS.paper: "var(--card)",
}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_DRAWING = Lock()
_KEPT = 64
"""Drawings of each form that are kept: drawing takes most of the time of an export."""


@lru_cache(_KEPT)
def svg(chart: LineChart) -> Markup:
    """Chart as an SVG element."""
    picture = _picture(chart, STAND_INS, format="svg", transparent=True, metadata=_NO_METADATA)
    return Markup(_for_page(picture.decode(), chart.alt))  # noqa: S704  Matplotlib escapes all text


@lru_cache(_KEPT)
def png(chart: LineChart) -> bytes:
    """Chart as a PNG on white, with the resolution of print."""
    return _picture(chart, ON_PAPER, format="png", dpi=DOTS_PER_INCH)


def _picture(chart: LineChart, inks: Inks, **form: Any) -> bytes:
    settings = {**_settings(inks), "svg.hashsalt": chart.name}
    with _DRAWING, warnings.catch_warnings(), mpl.rc_context(settings):
        # The reader's browser has the letters that Matplotlib's own font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = Figure(figsize=(WIDTH, height(chart)))
        paint(figure, chart, inks)
        picture = BytesIO()
        figure.savefig(picture, **form)
    return picture.getvalue()


def _settings(inks: Inks) -> dict[Any, Any]:
    return {
        "svg.fonttype": "none",
        # A "$" in a name is a dollar, not the start of a formula.
        "text.parse_math": False,
        "font.family": ["DejaVu Sans"],
        "font.size": 9.0,
        "text.color": inks.ink,
        "axes.labelcolor": inks.soft,
        "axes.edgecolor": inks.line,
        "axes.facecolor": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.color": inks.line,
        "ytick.color": inks.line,
        "xtick.labelcolor": inks.soft,
        "ytick.labelcolor": inks.ink,
        "grid.color": inks.line,
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "legend.fontsize": 8.5,
        "legend.labelcolor": inks.ink,
    }


def _for_page(svg: str, label: str) -> str:
    inner = svg[svg.index("<svg") :]
    opening, inner = inner.split(">", 1)
    view = re.search(r'viewBox="[\d. ]+"', opening)
    attributes = f'role="img" aria-label="{escape(label)}" {view[0] if view else ""}'
    # Only clip paths and markers are pointed at; the other ids would repeat from chart to chart.
    inner = re.sub(r' id="[a-z_.0-9]+_\d+"', "", inner)
    inner = re.sub(r"font-family: [^;]+; ", "", inner)
    for colour, variable in _THEME.items():
        inner = inner.replace(f": {colour}", f": {variable}")
    return f"<svg {attributes}>{inner.rstrip()}"
