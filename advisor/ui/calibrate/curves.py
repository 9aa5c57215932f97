"""Measured curves, and figures over time."""

from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from advisor.calibration.measurement_file import moment
from advisor.probes.measurement import CurvePoint, Measurement, size, title
from advisor.ui.parts.markup import block, joined
from advisor.ui.parts.palette import Palette, palette
from advisor.ui.parts.points import Figure, line_layout
from advisor.units import GB

HEIGHT = 260
DASHES = ("solid", "dash", "dot", "dashdot")
SHAPES = ("circle", "square", "diamond", "triangle-up")
GLYPHS = ("\u25cf", "\u25a0", "\u25c6", "\u25b2")
"""Letters that look like the shapes."""
COPIES = ("h2d_pinned", "h2d_pageable", "d2h_pinned", "d2h_pageable")
HEADLINES = ("ram_read", "disk_read_direct", "h2d_pinned", "device_read")
"""Figures whose history is drawn."""

Line = tuple[str, Sequence[object], Sequence[float]]
"""Name, places and values [GB/s] of one line."""


def has_curve(measurement: Measurement | None) -> bool:
    """Whether at least two points were measured."""
    return measurement is not None and len(measurement.curve) > 1


def threads(measurement: Measurement) -> Figure:
    """RAM read rate against the number of threads."""
    places = [str(point.threads) for point in measurement.curve]
    lines = [
        ("middle of the repeats", places, [point.value / GB for point in measurement.curve]),
        ("fastest repeat", places, [point.best / GB for point in measurement.curve]),
    ]
    return _drawn(lines, "threads that read at once", "category")


def depths(measurement: Measurement) -> Figure:
    """Drive read rate against queue depth, a line per block size."""
    by_block: dict[int, list[CurvePoint]] = {}
    for point in measurement.curve:
        by_block.setdefault(point.block, []).append(point)
    lines = [
        (f"blocks of {size(block)}", [str(point.threads) for point in own],
         [point.value / GB for point in own])
        for block, own in sorted(by_block.items(), reverse=True)
    ]  # fmt: skip
    return _drawn(lines, "reads waiting at once (queue depth)", "category")


def copies(latest: Mapping[str, Measurement]) -> Figure:
    """Rate of copies between RAM and the first GPU against their size."""
    lines = [
        (title(name), [size(point.block) for point in latest[name].curve],
         [point.value / GB for point in latest[name].curve])
        for name in COPIES if has_curve(latest.get(name))
    ]  # fmt: skip
    return _drawn(lines, "size of one copy", "category")


def over_time(name: str, history: Iterable[Measurement]) -> Figure:
    """Figure against the time of its measurement."""
    own = [measurement for measurement in history if measurement.name == name]
    times = [moment(measurement.when).isoformat() for measurement in own]
    figure = _drawn(
        [(title(name), times, [measurement.value / GB for measurement in own])], "", "date"
    )
    figure["layout"]["height"] = 190
    figure["layout"]["xaxis"]["nticks"] = 4
    return figure


def measured_again(history: Sequence[Measurement]) -> list[str]:
    """Main figures with at least two measurements."""
    names = [measurement.name for measurement in history]
    return [name for name in HEADLINES if names.count(name) > 1]


def legend(figure: Figure) -> Markup:
    """Meaning of colours and shapes of the points."""
    item = Markup("<span><b style='color:{}'>{}</b> {}</span>")
    named = (
        item.format(line["line"]["color"], GLYPHS[place % 4], line["name"])
        for place, line in enumerate(figure["data"])
    )
    return block("oa-key", joined(named))


def _drawn(lines: Sequence[Line], title_x: str, kind: str) -> Figure:
    look = palette()
    layout = line_layout(look, height=HEIGHT)
    layout["xaxis"] |= {"type": kind, "title": {"text": title_x}, "showgrid": False}
    layout["yaxis"] |= {"title": {"text": "GB/s"}, "rangemode": "tozero"}
    if kind == "category":
        order = max((places for _, places, _ in lines), key=len, default=())
        layout["xaxis"] |= {"categoryorder": "array", "categoryarray": list(order)}
    data = [_trace(look, place, line) for place, line in enumerate(lines)]
    return {"data": data, "layout": layout}


def _trace(look: Palette, place: int, line: Line) -> Figure:
    name, places, values = line
    colour = look.series[place % 7]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": list(places),
        "y": list(values),
        "line": {"color": colour, "width": 2.2, "dash": DASHES[place % 4]},
        "marker": {"symbol": SHAPES[place % 4], "size": 8, "color": colour},
        "hovertemplate": name + ", %{x}: %{y:.3g} GB/s<extra></extra>",
    }
