"""Bars as HTML, which a browser shows at once: words above each bar, its parts, range and mark."""

from collections.abc import Iterable

from markupsafe import Markup

from advisor.formatting import number
from advisor.reports.charts import Bar, BarChart
from advisor.ui.parts.glossary import explained
from advisor.ui.parts.markup import block, joined
from advisor.ui.parts.palette import palette


def bars(chart: BarChart) -> Markup:
    """All bars of a chart with their legend; the words above them need no picture."""
    rows = joined(_row(bar, chart) for bar in chart.bars)
    return joined((block("oa-bars", rows), *_legend(chart)))


def _row(bar: Bar, chart: BarChart) -> Markup:
    words = Markup("<p>{}: <b>{}</b></p>").format(bar.head, bar.figure)
    return words + track(bar, chart.end, chart.unit, chart.mark)


def track(bar: Bar, end: float, unit: str, mark: str = "") -> Markup:
    """Bar without its words, up to the size at its right end; names and sizes of its parts, and the
    meaning of its mark, appear under the pointer.
    """
    inside = joined(_inside(bar, end, unit, mark))
    return Markup("<div class='oa-track' aria-hidden='true'>{}</div>").format(inside)


def _inside(bar: Bar, end: float, unit: str, mark: str) -> Iterable[Markup]:
    colours = palette().series
    part_of = Markup("<i title='{}: {} {}' style='width:{:.2f}%;background:{}'></i>")
    for part in bar.parts:
        size = number(part.size, 3)
        yield part_of.format(part.name, size, unit, 100 * part.size / end, colours[part.colour])
    if bar.low is not None and bar.high is not None:
        left, width = 100 * bar.low / end, 100 * (bar.high - bar.low) / end
        yield Markup("<s style='left:{:.2f}%;width:{:.2f}%'></s>").format(left, width)
    if bar.limit is not None:
        title = f"{mark}: {number(bar.limit, 3)} {unit}"
        at = 100 * bar.limit / end
        yield Markup("<u title='{}' style='left:{:.2f}%'></u>").format(title, at)


def _legend(chart: BarChart) -> Iterable[Markup]:
    colours = palette().series
    item = Markup("<span><i style='background:{}'></i>{}</span>")
    keys = [item.format(colours[colour], explained(name)) for name, colour in chart.keys]
    if chart.mark:
        keys.append(Markup("<span>\u2502 {}</span>").format(chart.mark))
    if keys:
        yield block("oa-key", joined(keys))
