"""A chart of lines as SVG that belongs to the page around it, or as a PNG for a file without one.

In SVG text stays text, colours follow the page's light or dark theme, the same numbers give the
same characters, and nothing is fetched. Matplotlib's settings are global, so one drawing is made at
a time.
"""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from threading import Lock
from typing import Any

import matplotlib as mpl
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from advisor import formatting
from advisor.reports.charts import COLOURS, LineChart, Note

# Line charts drawn with Matplotlib, for files.
#
# Lines differ in dashes and markers, so that they are told apart in black and white.

WIDTH = 3.6
"""Width of a chart [inch]: on a phone as it is, in a column of the page a third larger."""
DASHES = ("-", "--", "-.", ":")
MARKERS = "osD^vP"
LETTERS_PER_INCH = 13.0
"""Characters per inch of a label at 8 points."""


@dataclass(frozen=True, kw_only=True)
class Inks:
    """Colours of text, lesser text, rules and background."""

    ink: str
    soft: str
    line: str
    paper: str


def height(chart: LineChart) -> float:
    """Height of a chart [inch]."""
    names = [line.name for line in chart.lines]
    return 2.15 + 0.2 * -(-len(names) // _legend_columns(names)) if names else 2.1


def paint(figure: Figure, chart: LineChart, inks: Inks) -> None:
    """Draw a chart on a new figure."""
    figure.set_layout_engine("constrained")
    axes = figure.subplots()
    for index, line in enumerate(chart.lines):
        axes.plot(
            line.x,
            line.y,
            color=COLOURS[line.colour],
            linestyle=DASHES[index % len(DASHES)],
            marker=MARKERS[index % len(MARKERS)],
            markevery=max(1, len(line.x) // 8),
            markersize=4,
            label=shortened(line.name, 40),
        )
    _scales(axes, chart)
    for note in chart.notes:
        _paint_note(axes, note, inks)
    if len(chart.lines) > 1:
        columns = _legend_columns([line.name for line in chart.lines])
        handles = axes.get_legend_handles_labels()[0]
        figure.legend(handles=handles, loc="outside lower left", ncols=columns)


def _scales(axes: Axes, chart: LineChart) -> None:
    for axis, powers in ((axes.xaxis, chart.x_powers), (axes.yaxis, chart.y_powers)):
        scale = axes.set_xscale if axis is axes.xaxis else axes.set_yscale
        scale("log" if powers else "linear")
        axis.set_major_formatter(FuncFormatter(lambda value, _: formatting.short(value)))
        axis.set_minor_formatter(NullFormatter())
    if not chart.y_powers:
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.set_xlabel(shortened(chart.x_label, 60))
    axes.set_ylabel(shortened(chart.y_label, 40))
    axes.grid(visible=True)


def _paint_note(axes: Axes, note: Note, inks: Inks) -> None:
    axes.axvline(note.x, color=inks.soft, linestyle=":", linewidth=1.2)
    far = note.x > sum(axes.get_xlim()) / 2
    axes.annotate(
        shortened(note.text, 40),
        (note.x, axes.get_ylim()[0]),
        xytext=(-5 if far else 5, 6),
        textcoords="offset points",
        ha="right" if far else "left",
        size=8,
        bbox={"facecolor": inks.paper, "edgecolor": "none", "pad": 1.0},
    )


def _legend_columns(names: Sequence[str]) -> int:
    longest = max((len(shortened(name, 40)) for name in names), default=0)
    return max(1, int(WIDTH * LETTERS_PER_INCH / (longest + 8)))


def shortened(text: str, longest: int = 26) -> str:
    """Text shortened to `longest` characters on one line, for a label."""
    line = " ".join(
        "".join(character if character.isprintable() else " " for character in text).split()
    )
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


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
