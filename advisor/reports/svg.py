"""A Matplotlib drawing as SVG that belongs to the page around it.

Text stays text, colours follow the page's light or dark theme, the same numbers give the same
characters, and nothing is fetched. Matplotlib's settings are global, so one drawing is made at a
time.
"""

import re
import warnings
from collections.abc import Callable
from io import StringIO
from threading import Lock
from typing import Any

import matplotlib as mpl
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure

WIDTH = 4.4  # inches; a column of the page shows it half as large again, a phone as it is
INK, SOFT, LINE, PAPER = "#010203", "#010204", "#010205", "#010206"
"""Stand-ins for colours of the page: text, lesser text, rules and background."""

_THEME = {INK: "var(--ink)", SOFT: "var(--soft)", LINE: "var(--line)", PAPER: "var(--card)"}
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    # A "$" in a name is a dollar, not the start of a formula.
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "text.color": INK,
    "axes.labelcolor": SOFT,
    "axes.edgecolor": LINE,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": SOFT,
    "ytick.labelcolor": INK,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.labelcolor": INK,
    "hatch.linewidth": 0.7,
}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_DRAWING = Lock()


def drawn(name: str, label: str, height: float, paint: Callable[[Axes], None]) -> Markup:
    """The SVG element of what `paint` draws.

    Args:
        name: of the chart, different for each on a page, so that their parts do not mix.
        label: what the chart shows, for those who cannot see it.
        height: of the chart [inch].
        paint: draws on the axes it is given.
    """
    settings = {**_SETTINGS, "svg.hashsalt": name}
    with _DRAWING, warnings.catch_warnings(), mpl.rc_context(settings):
        # The reader's browser has the letters that Matplotlib's own font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        paint(figure.subplots())
        text = StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata=_NO_METADATA)
    return Markup(_for_page(text.getvalue(), label))  # noqa: S704  Matplotlib escapes all text


def shortened(text: str, longest: int = 26) -> str:
    """One line of at most `longest` characters, fit for a label."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


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
