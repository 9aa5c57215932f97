"""Two axes as HTML: text and points in their places, over one stretched picture of all lines.

A browser shows it at once, without a program for charts; text keeps its size at every width.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from advisor.formatting import short
from advisor.ui.parts.markup import joined

DASHES = ("", "9 5", "2 4", "9 4 2 4")
"""Dashes of lines that differ in colour, for who cannot tell colours [pixels]."""
MOST_TICKS = 8


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Axis."""

    low: float  # value at its beginning
    high: float  # value at its end
    powers: bool = False  # whether it is logarithmic

    def place(self, value: float) -> float:
        """Distance of a value from the beginning [% of the axis]."""
        if self.powers:
            return 100 * math.log(value / self.low) / math.log(self.high / self.low)
        return 100 * (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Round values along the axis."""
        if not self.powers:
            return _even(self.low, self.high)
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in ((1,), (1, 2, 5)):
            values = [digit * 10.0**power for power in powers for digit in digits]
            ticks = [value for value in values if self.low <= value <= self.high]
            if len(ticks) > 2:
                return ticks[:: -(-len(ticks) // MOST_TICKS)]
        return _even(self.low, self.high)


def _even(low: float, high: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, at most `MOST_TICKS`."""
    least = (high - low) / (MOST_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(least))
    step = next(digit * power for digit in (1, 2, 5, 10) if digit * power >= least * (1 - 1e-9))
    first, last = math.ceil(round(low / step, 9)), math.floor(round(high / step, 9))
    return [step * count for count in range(first, last + 1)]


def scale_of(values: Iterable[float], *, powers: bool = False, from_zero: bool = False) -> Scale:
    """Axis with room for all values, also around a single one; logarithmic for positive ones, else
    from zero where asked, unless a value is negative.
    """
    known = [value for value in values if math.isfinite(value)]
    low, high = min(known, default=1.0), max(known, default=1.0)
    if powers:
        room = max((high / low) ** 0.06, 1.15)
        return Scale(low=low / room, high=high * room, powers=True)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    apart = high - low > 1e-9 * max(abs(low), abs(high))
    room = 0.05 * (high - low if apart else abs(high) or 1.0)
    return Scale(low=low if from_zero and low == 0 else low - room, high=high + room)


@dataclass(frozen=True, kw_only=True)
class Stroke:
    """Line of a picture."""

    # positions across and up, from the left and the bottom [% of the axes]
    points: Sequence[tuple[float, float]]
    colour: str  # CSS colour
    dash: str = ""  # lengths of dashes and gaps; empty for a solid line
    width: float = 2.5  # of the line [pixels]


def picture(strokes: Iterable[Stroke]) -> Markup:
    """All lines as one image, which stretches with the axes while the lines keep their width."""
    lines = "".join(
        f"<polyline points='{' '.join(f'{x:.2f},{100 - y:.2f}' for x, y in stroke.points)}' "
        f"fill='none' stroke='{stroke.colour}' stroke-width='{stroke.width}' "
        f"stroke-dasharray='{stroke.dash}' stroke-linejoin='round' "
        "vector-effect='non-scaling-stroke'/>"
        for stroke in strokes
    )
    svg = (
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 100 100' "
        f"preserveAspectRatio='none'>{lines}</svg>"
    )
    html = Markup(
        "<div class='oa-lines' style='background-image:url(data:image/svg+xml,{})'></div>"
    )
    return html.format(quote(svg))


def point(
    across: float, up: float, tip: str, colour: str, shape: str = "circle", size: int = 8
) -> Markup:
    """Point with words under the pointer, from the left and the bottom [%], of a size [pixels]; its
    shape is one of the style sheet, "hidden" for words alone.
    """
    side = " oa-leftward" if across > 50 else ""
    html = Markup(
        "<i class='oa-point oa-{}{}' data-tip='{}' style='left:{:.2f}%;bottom:{:.2f}%;"
        "--size:{}px;color:{}'></i>"
    )
    return html.format(shape, side, tip, across, up, size, colour)


def words_at(across: float, up: float, text: str, style: str = "", colour: str = "") -> Markup:
    """Words above a place from the left and the bottom [%], on the side that has room."""
    side = " oa-leftward" if across > 50 else ""
    paint = f";color:{colour}" if colour else ""
    html = Markup("<em class='{}{}' style='left:{:.2f}%;bottom:{:.2f}%{}'>{}</em>")
    return html.format(style, side, across, up, paint, text)


def plane(
    across: Scale, up: Scale, inside: Iterable[Markup], *, x_label: str, y_label: str, alt: str,
    height: int = 270, x_sign: str = "",
) -> Markup:  # fmt: skip
    """The axes with the picture, points and words between them, of a height [pixels]."""
    row = Markup("<u style='bottom:{:.2f}%'><b>{}</b></u>")
    column = Markup("<s style='left:{:.2f}%'><b>{}</b></s>")
    rows = joined(row.format(up.place(tick), _figures(tick)) for tick in up.ticks())
    columns = joined(
        column.format(across.place(tick), x_sign + _figures(tick)) for tick in across.ticks()
    )
    html = Markup(
        "<div class='oa-plane' role='img' aria-label='{}'><div class='oa-label'>{}</div>"
        "<div class='oa-field' style='height:{}px'>{}</div>"
        "<div class='oa-label oa-across'>{}</div></div>"
    )
    return html.format(alt, y_label, height, rows + columns + joined(inside), x_label)


def _figures(tick: float) -> str:
    """Number at a tick: 1,350 in full, 250k shortened."""
    return f"{tick:,g}" if 0.001 <= abs(tick) < 10_000 else short(tick)
