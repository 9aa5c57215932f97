"""A chart of lines as SVG: on a page in the colours of its theme, or in print on white.

Text stays text, the same numbers give the same characters, and nothing is fetched. Lines differ in
dashes, so that they are told apart without colours.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from markupsafe import Markup

from advisor.reports.charts import COLOURS, DASHES, LineChart, Scale, tick_words

# size of a chart without its legend [px]
WIDTH = 360.0
HEIGHT = 200.0
LEFT = 44.0
RIGHT = 14.0
TOP = 22.0
BOTTOM = 36.0
"""Room around the axes, for the words beside them [px]."""
ROW = 14.0  # height of a line of the legend [px]


@dataclass(frozen=True, kw_only=True)
class Inks:
    """Colours and font."""

    ink: str
    soft: str  # of lesser text
    line: str  # of rules
    font: str


OF_THE_PAGE = Inks(ink="var(--ink)", soft="var(--soft)", line="var(--line)", font="inherit")
ON_PAPER = Inks(ink="#000000", soft="#444444", line="#bbbbbb", font="DejaVu")


def svg(chart: LineChart, inks: Inks = OF_THE_PAGE) -> Markup:
    """Chart as an SVG element."""
    across, up = chart.axes()
    parts = (*_axes(chart, across, up, inks), *_lines(chart, across, up, inks))
    height = HEIGHT + ROW * len(_named(chart))
    element = Markup(
        "<svg xmlns='http://www.w3.org/2000/svg' role='img' aria-label='{}' "
        "viewBox='0 0 {:g} {:g}' font-size='9' font-family='{}'>{}</svg>"
    )
    return element.format(
        shortened(chart.alt, 2000), WIDTH, height, inks.font, Markup().join(parts)
    )


def _axes(chart: LineChart, across: Scale, up: Scale, inks: Inks) -> Iterator[Markup]:
    """Rules and figures of both axes, and their labels."""
    bottom = HEIGHT - BOTTOM
    for tick in up.ticks():
        y = _down(up, tick)
        yield _stroke([(LEFT, y), (WIDTH - RIGHT, y)], inks.line, 0.6)
        yield _text(LEFT - 5, y + 3, tick_words(tick), inks.ink, "end")
    for tick in across.ticks():
        x = _right(across, tick)
        yield _stroke([(x, TOP), (x, bottom)], inks.line, 0.6)
        yield _text(x, bottom + 12, tick_words(tick), inks.ink, "middle")
    yield _text(4, TOP - 10, shortened(chart.y_label, 60), inks.soft)
    yield _text(WIDTH - RIGHT, bottom + 27, shortened(chart.x_label, 60), inks.soft, "end")


def _lines(chart: LineChart, across: Scale, up: Scale, inks: Inks) -> Iterator[Markup]:
    """Lines, notes, and the legend below."""
    for place, line in enumerate(chart.lines):
        points = [(_right(across, x), _down(up, y)) for x, y in zip(line.x, line.y, strict=True)]
        yield _stroke(points, COLOURS[line.colour], 2, DASHES[place % len(DASHES)])
    for note in chart.notes:
        x = _right(across, note.x)
        far = across.place(note.x) > 50
        yield _stroke([(x, TOP), (x, HEIGHT - BOTTOM)], inks.soft, 1.2, "2 3")
        side = "end" if far else "start"
        yield _text(
            x - 5 if far else x + 5, HEIGHT - BOTTOM - 6, shortened(note.text, 40), inks.ink, side
        )
    for row, name in enumerate(_named(chart)):
        y = HEIGHT + ROW * row
        line = chart.lines[row]
        yield _stroke(
            [(LEFT, y), (LEFT + 26, y)], COLOURS[line.colour], 2, DASHES[row % len(DASHES)]
        )
        yield _text(LEFT + 32, y + 3, name, inks.ink)


def _named(chart: LineChart) -> list[str]:
    """Names in the legend; none for a single line."""
    several = len(chart.lines) > 1
    return [shortened(line.name, 60) for line in chart.lines if several]


def _right(across: Scale, x: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * across.place(x) / 100


def _down(up: Scale, y: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * up.place(y) / 100


def _stroke(
    points: Iterable[tuple[float, float]], colour: str, width: float, dash: str = ""
) -> Markup:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashes = Markup(" stroke-dasharray='{}'").format(dash) if dash else ""
    line = Markup("<polyline points='{}' style='fill: none; stroke: {}' stroke-width='{}'{}/>")
    return line.format(places, colour, width, dashes)


def _text(x: float, y: float, words: str, colour: str, anchor: str = "start") -> Markup:
    text = Markup("<text x='{:.1f}' y='{:.1f}' style='fill: {}' text-anchor='{}'>{}</text>")
    return text.format(x, y, colour, anchor, words)


def shortened(text: str, longest: int) -> str:
    """Text shortened to `longest` characters on one line, for a label."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    if len(line) <= longest:
        return line
    return f"{line[: longest - 1]}…"
