"""Line charts drawn with Matplotlib, for files.

Lines differ in dashes and markers, so that they are told apart in black and white.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from advisor import formatting
from advisor.reports.charts.chart_parts import COLOURS, LineChart, Note

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
    return 2.1 + _legend_height([line.name for line in chart.lines])


def paint(figure: Figure, chart: LineChart, inks: Inks) -> None:
    """Draw a chart on a new figure."""
    figure.set_layout_engine("constrained")
    axes = figure.subplots()
    for place, line in enumerate(chart.lines):
        axes.plot(
            line.x,
            line.y,
            color=COLOURS[line.colour],
            linestyle=DASHES[place % len(DASHES)],
            marker=MARKERS[place % len(MARKERS)],
            markevery=max(1, len(line.x) // 8),
            markersize=4,
            label=shortened(line.name, 40),
        )
    _scales(axes, chart)
    for note in chart.notes:
        _paint_note(axes, note, inks)
    if len(chart.lines) > 1:
        _legend(figure, axes.get_legend_handles_labels()[0])


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
    upright = note.y is None
    if upright:
        axes.axvline(note.x, color=inks.soft, linestyle=":", linewidth=1.2)
    far = note.x > sum(axes.get_xlim()) / 2
    axes.annotate(
        shortened(note.text, 40),
        (note.x, axes.get_ylim()[0] if note.y is None else note.y),
        xytext=(-5 if far else 5, 6 if upright else -12),
        textcoords="offset points",
        ha="right" if far else "left",
        size=8,
        bbox={"facecolor": inks.paper, "edgecolor": "none", "pad": 1.0},
    )


def _legend(figure: Figure, lines: Sequence[Artist]) -> None:
    columns = _legend_columns([str(line.get_label()) for line in lines])
    figure.legend(handles=lines, loc="outside lower left", ncols=columns)


def _legend_columns(names: Sequence[str]) -> int:
    longest = max((len(shortened(name, 40)) for name in names), default=0)
    return max(1, int(WIDTH * LETTERS_PER_INCH / (longest + 8)))


def _legend_height(names: Sequence[str]) -> float:
    return 0.2 * -(-len(names) // _legend_columns(names)) + (0.05 if names else 0.0)


def shortened(text: str, longest: int = 26) -> str:
    """Text shortened to `longest` characters on one line, for a label."""
    line = " ".join(
        "".join(character if character.isprintable() else " " for character in text).split()
    )
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
