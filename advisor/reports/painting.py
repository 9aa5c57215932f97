"""Charts drawn with Matplotlib, for files.

Parts of bars differ in hatches and lines in dashes and markers, so that they are told apart in
black and white.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter

from advisor import formatting
from advisor.reports.chart_parts import COLOURS, Bar, BarChart, LineChart, Note

LegendPlace = Literal["lower left", "outside lower left"]
WIDTH = 4.4
"""Of a chart [inch]; a column of the page shows it half as large again, a phone as it is."""
HATCHES = ("", "//", "\\\\", "||", "--", "xx", "++", "////")
"""Of the parts, as many as colours; of lines alone, since dots take a hundred times the bytes."""
DASHES = ("-", "--", "-.", ":")
MARKERS = "osD^vP"
THICKNESS = 0.36
"""Of a bar, as a share of its row; the words above it take the rest."""
LETTERS = 76
"""Of the words above a bar, at 8 points."""
LETTERS_PER_INCH = 13.0
"""Of a label at 8 points."""
DARK = 0.45
"""Brightness up to which a white hatch shows better than a black one."""


@dataclass(frozen=True, kw_only=True)
class Inks:
    """Colours of text, lesser text, rules and background."""

    ink: str
    soft: str
    line: str
    paper: str


def height(chart: BarChart | LineChart) -> float:
    """Height of a chart [inch]."""
    if isinstance(chart, BarChart):
        return 0.1 + 0.47 * max(len(chart.bars), 1) + _legend_height(_bar_names(chart))
    return 2.5 + _legend_height([line.name for line in chart.lines])


def paint(figure: Figure, chart: BarChart | LineChart, inks: Inks) -> None:
    """Draws a chart on a figure of its own."""
    if isinstance(chart, BarChart):
        _paint_bars(figure, chart, inks)
    else:
        _paint_lines(figure, chart, inks)


def _paint_bars(figure: Figure, chart: BarChart, inks: Inks) -> None:
    below = _legend_height(_bar_names(chart)) / height(chart)
    # Without ticks and labels nothing needs to be laid out, which takes as long as the drawing.
    axes = figure.add_axes((0.01, below, 0.98, 1 - below))
    for row, bar in enumerate(chart.bars):
        _paint_bar(axes, row, bar, inks)
    axes.set_ylim(len(chart.bars) - 0.7, -0.75)
    axes.set_xlim(0, chart.end * 1.01)
    axes.axis("off")
    patches: list[Artist] = [_patch(name, colour) for name, colour in chart.keys]
    if chart.mark:
        patches.append(
            Line2D([], [], color=inks.ink, marker="|", markersize=9, linestyle="", label=chart.mark)
        )
    _legend(figure, patches, "lower left")


def _paint_bar(axes: Axes, row: int, bar: Bar, inks: Inks) -> None:
    figure = shortened(bar.figure, LETTERS)
    head = shortened(bar.head, max(8, LETTERS - len(figure)))
    axes.text(0, row - 0.32, f"{head}: {figure}", va="center", size=8)
    left = 0.0
    for part in bar.parts:
        axes.barh(row, part.size, THICKNESS, left, **_look(part.colour))
        left += part.size
    if bar.low is not None and bar.high is not None:
        ends = [bar.low, bar.high]
        # A line in the colour of the page under the range keeps it visible on its own bar.
        axes.plot(ends, [row, row], color=inks.paper, linewidth=3.6, solid_capstyle="butt")
        axes.plot(ends, [row, row], color=inks.ink, linewidth=1.3, marker="|", markersize=8)
    if bar.limit is not None:
        axes.plot([bar.limit], [row], color=inks.ink, marker="|", markersize=16, markeredgewidth=2)


def _look(colour: int) -> dict[str, Any]:
    """Face, hatch and edge of a part."""
    face = COLOURS[colour]
    return {
        "facecolor": face,
        "edgecolor": "#000000" if _brightness(face) > DARK else "#ffffff",
        "hatch": HATCHES[colour],
        "linewidth": 0.0,
    }


def _brightness(colour: str) -> float:
    red, green, blue = to_rgb(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue


def _patch(name: str, colour: int) -> Patch:
    return Patch(label=shortened(name, 40), **_look(colour))


def _paint_lines(figure: Figure, chart: LineChart, inks: Inks) -> None:
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
        _legend(figure, axes.get_legend_handles_labels()[0], "outside lower left")


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
    )


def _bar_names(chart: BarChart) -> list[str]:
    return [name for name, _ in chart.keys] + ([chart.mark] if chart.mark else [])


def _legend(figure: Figure, handles: Sequence[Artist], place: LegendPlace) -> None:
    if handles:
        columns = _legend_columns([str(handle.get_label()) for handle in handles])
        figure.legend(handles=handles, loc=place, ncols=columns)


def _legend_columns(names: Sequence[str]) -> int:
    longest = max((len(shortened(name, 40)) for name in names), default=0)
    return max(1, int(WIDTH * LETTERS_PER_INCH / (longest + 8)))


def _legend_height(names: Sequence[str]) -> float:
    return 0.2 * -(-len(names) // _legend_columns(names)) + (0.05 if names else 0.0)


def shortened(text: str, longest: int = 26) -> str:
    """One line of at most `longest` characters, fit for a label."""
    line = " ".join(
        "".join(character if character.isprintable() else " " for character in text).split()
    )
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
