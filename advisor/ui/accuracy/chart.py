"""Chart of predicted against measured speeds, with a colour and shape per kind of run."""

import math
from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from advisor.evidence.accuracy.points.point import AccuracyPoint
from advisor.evidence.accuracy.regimes import REGIMES
from advisor.evidence.accuracy.text import percent
from advisor.formatting import number, range_of, tokens_per_second
from advisor.ui.parts.markup import block, joined
from advisor.ui.parts.palette import Palette, palette
from advisor.ui.parts.plot import Figure, line_layout

SHAPES = (
    ("circle", "\u25cf"), ("square", "\u25a0"), ("diamond", "\u25c6"), ("triangle-up", "\u25b2"),
    ("triangle-down", "\u25bc"), ("cross", "\u271a"), ("x", "\u2716"), ("star", "\u2605"),
    ("triangle-left", "\u25c0"), ("triangle-right", "\u25b6"), ("pentagon", "\u2b1f"),
    ("hexagon", "\u2b22"),
)  # fmt: skip
"""Plotly's name of a shape, and the letter that looks like it."""
COLOURS = 7
"""Colours in use: with the twelve shapes, which share no divisor with seven, 84 different marks."""
DECADES = 2.5
"""Width of an axis from which whole decades are marks enough; else 1, 2 and 5 of each."""
BAND = 1.25
"""Edge of the band about the line of equals: 25 % too fast, or as many times too slow."""


def scatter(points: Sequence[AccuracyPoint], places: Sequence[int]) -> Figure:
    """Chart of points; each carries its index in the ledger.

    Args:
        points: shown points.
        places: their indices in the ledger.
    """
    look = palette()
    low, high = _ends(points)
    kinds: dict[str, list[int]] = {}
    for index, point in enumerate(points):
        kinds.setdefault(point.regime, []).append(index)
    data = [
        *_band(look, low, high),
        *(
            _trace(look, name, [(points[at], places[at]) for at in inside])
            for name, inside in sorted(kinds.items(), key=lambda kind: -len(kind[1]))
        ),
    ]
    return {"data": data, "layout": _layout(look, low, high)}


def _ends(points: Sequence[AccuracyPoint]) -> tuple[float, float]:
    speeds = [speed for point in points for speed in (point.measured, point.predicted)]
    return min(speeds) / 1.6, max(speeds) * 1.6


def _band(look: Palette, low: float, high: float) -> Iterable[Figure]:
    edge = {"type": "scatter", "mode": "lines", "x": [low, high], "hoverinfo": "skip"}
    shade = look.series[6]
    for factor, fill in ((1 / BAND, "none"), (BAND, "tonexty")):
        yield {
            **edge,
            "y": [low * factor, high * factor],
            "line": {"color": shade, "width": 0.8, "dash": "dot"},
            "fill": fill,
            "fillcolor": f"rgba{(*_rgb(shade), 0.14)}",
        }
    yield {**edge, "y": [low, high], "line": {"color": look.ink, "width": 1.2}}


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def _trace(look: Palette, name: str, shown: Sequence[tuple[AccuracyPoint, int]]) -> Figure:
    place = _place(name)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [point.measured for point, _ in shown],
        "y": [point.predicted for point, _ in shown],
        "customdata": [at for _, at in shown],
        "text": [hover(point) for point, _ in shown],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {
            "symbol": SHAPES[place % len(SHAPES)][0],
            "color": look.series[place % COLOURS],
            "size": 7.5,
            "opacity": 0.8,
            "line": {"width": 0},
        },
        "selected": {"marker": {"opacity": 1.0, "size": 14}},
        "unselected": {"marker": {"opacity": 0.35}},
    }


def _place(name: str) -> int:
    """Index of a kind of run in the table of kinds, so that filters change no colour."""
    known = [regime.name for regime in REGIMES]
    return known.index(name) if name in known else len(known)


def hover(point: AccuracyPoint) -> str:
    """Hover text of a point, in lines, with every name escaped."""
    where = point.gpu or point.cpu or "no GPU"
    lines = (
        Markup("<b>{}</b>").format(f"{point.model} {point.format}".strip()),
        escape(where),
        escape(point.regime),
        escape(f"measured {tokens_per_second(point.measured)}"),
        escape(f"predicted {number(point.predicted)} ({range_of(point.low, point.high)})"),
        escape(off(point)),
    )
    return str(Markup("<br>").join(lines))


def off(point: AccuracyPoint) -> str:
    """Error of a prediction, in words."""
    if abs(point.error) < 0.005:
        return "right within half a percent"
    return f"{percent(abs(point.error))} too {'fast' if point.error > 0 else 'slow'}"


def _layout(look: Palette, low: float, high: float) -> Figure:
    layout = line_layout(look, height=470)
    ends = [math.log10(low), math.log10(high)]
    for axis, title in (("xaxis", "measured, tokens/s"), ("yaxis", "predicted, tokens/s")):
        layout[axis] |= {
            "type": "log",
            "range": ends,
            "title": {"text": title},
            "dtick": 1 if ends[1] - ends[0] > DECADES else "D2",
            "tickformat": "~g",
        }
    layout |= {"hovermode": "closest", "dragmode": False, "clickmode": "event+select"}
    layout["hoverlabel"] = {"align": "left", "font": layout["font"] | {"color": None}}
    return layout


def keys(points: Iterable[AccuracyPoint]) -> Markup:
    """Legend of the kinds shown: colours and shapes."""
    look = palette()
    shown = sorted({point.regime for point in points}, key=_place)
    item = Markup("<span><b style='color:{}'>{}</b> {}</span>")
    kinds = (
        item.format(
            look.series[_place(name) % COLOURS], SHAPES[_place(name) % len(SHAPES)][1], name
        )
        for name in shown
    )
    line = Markup("<span>line: as measured; band: 25 % either way</span>")
    return block("oa-key", joined((*kinds, line)))
