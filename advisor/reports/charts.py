"""Charts of a report, as descriptions that `files.svg` draws for files and `ui.parts` for pages."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from advisor import formatting, units
from advisor.reports import document
from advisor.units import GIB, number, range_of

# Description of a chart (series, words, colours, ranges), independent of what draws it.
#
# A painter adds neither words nor numbers. Every bar carries its numbers in words, so that nothing
# depends on colour alone.

COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a9099", "#4d5560",
)  # fmt: skip
"""Colours on a light page, by Okabe and Ito for colour-blind readers, and greys."""
DARK = (0, 2, 4, 7)  # places of the colours on which white letters read better than black ones
LETTERED = 0.06  # share of the chart's width from which a part of a bar has room for its letter


@dataclass(frozen=True, kw_only=True)
class BarPart:
    """Part of a bar."""

    name: str  # name in the legend
    size: float  # in the unit of the chart
    colour: int  # index in `COLOURS`
    words: str = ""  # its size in words; empty where the bar has a single part


@dataclass(frozen=True, kw_only=True)
class Bar:
    """Bar of stacked parts, with its words above it."""

    head: str  # what the bar stands for
    figure: str  # its value in words
    parts: tuple[BarPart, ...]  # from left to right
    low: float | None = None  # lower end of the range drawn over it; None for no range
    high: float | None = None  # upper end of the range
    limit: float | None = None  # position of the mark; None for no mark
    note: str = ""  # words below it

    @property
    def end(self) -> float:
        """Rightmost end of the bar, of its range and of its mark, in the chart's unit."""
        ends = (sum(part.size for part in self.parts), self.high, self.limit)
        return max(end for end in ends if end is not None)


@dataclass(frozen=True, kw_only=True)
class BarChart:
    """Horizontal bars."""

    name: str  # unique within a file
    title: str  # heading of the chart
    alt: str  # text for readers who cannot see it
    bars: tuple[Bar, ...]  # from the top
    unit: str  # unit of the sizes
    mark: str = ""  # meaning of the mark; empty without marks

    @property
    def letters(self) -> dict[str, str]:
        """Letter for each name in the legend, for prints without colours."""
        return {name: chr(ord("A") + index % 26) for index, (name, _) in enumerate(self.keys)}

    @property
    def end(self) -> float:
        """Right end of the longest bar; 1 where all are empty."""
        return max((bar.end for bar in self.bars), default=0.0) or 1.0

    @property
    def keys(self) -> tuple[tuple[str, int], ...]:
        """Names and colours of the parts for a legend; empty where every bar has a single part."""
        if all(len(bar.parts) < 2 for bar in self.bars):
            return ()
        parts = sorted((part for bar in self.bars for part in bar.parts), key=lambda p: p.colour)
        return tuple(dict.fromkeys((part.name, part.colour) for part in parts))


@dataclass(frozen=True, kw_only=True)
class Line:
    """Line of a chart."""

    name: str  # name in the legend
    x: tuple[float, ...]  # positions
    y: tuple[float, ...]  # values at the positions
    colour: int  # index in `COLOURS`


@dataclass(frozen=True, kw_only=True)
class Note:
    """Remark at a position of a chart, above its horizontal axis."""

    x: float
    text: str


@dataclass(frozen=True, kw_only=True)
class LineChart:
    """Lines over one pair of axes."""

    name: str  # unique within a file
    title: str  # heading of the chart
    alt: str  # text for readers who cannot see it
    lines: tuple[Line, ...]  # in the order of their colours
    x_label: str  # label with its unit
    y_label: str  # label with its unit
    x_powers: bool  # the horizontal axis is logarithmic
    y_powers: bool  # the vertical axis is logarithmic
    notes: tuple[Note, ...] = ()  # remarks at points

    def axes(self, level: float | None = None) -> "tuple[Scale, Scale]":
        """Both axes, with room for all lines, notes and a level of the vertical one."""
        across = [*(x for line in self.lines for x in line.x), *(note.x for note in self.notes)]
        up = [y for line in self.lines for y in line.y] + ([] if level is None else [level])
        return (
            scale_of(across, powers=self.x_powers),
            scale_of(up, powers=self.y_powers, from_zero=not self.y_powers),
        )


MEMORY_COLOURS = dict(zip(document.MEMORY_PARTS, (0, 1, 6), strict=True))
WIDE = 100.0  # largest over smallest, from which an axis counts in powers of ten
Item = TypeVar("Item")


Names = Mapping[document.PlacementKey, str]
"""Names of placements."""


def memory_use(uses: Sequence[document.TierUse], names: Names = document.PLACEMENTS) -> BarChart:
    """Chart of the bytes in each tier of memory by placement, with the capacity of the tier
    [GiB].
    """
    groups = grouped((use for use in uses if use.bytes), lambda use: (use.placement, use.tier))
    bars = tuple(_tier_bar(group, names) for group in groups)
    return bar_chart("memory", "Where the bytes are", bars, "GB", mark="what it can hold")


def token_time(parts: Sequence[document.TimePart], names: Names = document.PLACEMENTS) -> BarChart:
    """Chart of the shares of a token's time in each placement [%]."""
    groups = grouped((part for part in parts if part.seconds), lambda part: part.placement)
    colours = _time_colours(part.part for part in parts)
    bars = tuple(_time_bar(group, colours, names) for group in groups)
    return bar_chart("time", "Where the time of a token goes", bars, "%")


def layers(series: document.SweepSeries) -> LineChart:
    """Speed against layers on the GPU, with the point at which VRAM is full."""
    last = [Note(x=x, text=f"VRAM ends at {x:.0f} layers") for x in series.x[-1:]]
    return _line_chart("layers", "Speed against layers on the GPU", [series], tuple(last))


def turns(series: Sequence[document.SweepSeries]) -> LineChart:
    """Speed of replies and prompts as a conversation grows."""
    return _line_chart("turns", "Speed over the turns of the session", series, ())


def costs(series: Sequence[document.SweepSeries]) -> LineChart:
    """Monthly cost against tokens generated per month, waiting included."""
    point = crossing(series)
    if point is None:
        text = ""
    else:
        text = f"pays from {formatting.short(point)} tokens"
    note = () if point is None else (Note(x=point, text=text),)
    lines = [in_shown_currency(line) for line in series]
    return _line_chart("costs", "Cost of a month, waiting included", lines, note)


def in_shown_currency(series: document.SweepSeries) -> document.SweepSeries:
    """Line of costs in the display currency; other lines unchanged."""
    paid = formatting.shown_currency()
    if not series.y_label.startswith(formatting.US_DOLLAR.code):
        return series
    label = series.y_label.replace(formatting.US_DOLLAR.code, paid.code, 1)
    return replace(series, y_label=label, y=tuple(cost / paid.usd for cost in series.y))


def sensitivity(rows: Sequence[document.SensitivityRow]) -> BarChart:
    """Chart of the effect of each input on an option's gain per month, the largest first."""
    paid = formatting.shown_currency()
    bars = tuple(
        Bar(
            head=f"{document.input_name(row)}, {document.interval(row)}",
            figure=" to ".join(map(formatting.money, (row.gain_low_usd, row.gain_high_usd)))
            + " more a month",
            parts=(
                BarPart(
                    name="difference a month",
                    size=abs(row.gain_high_usd - row.gain_low_usd) / paid.usd,
                    colour=0,
                ),
            ),
        )
        for row in rows
    )
    return bar_chart("sensitivity", "What the verdict depends on", bars, f"{paid.code} a month")


def crossing(lines: Sequence[document.SweepSeries]) -> float | None:
    """Number of tokens from which the first of two straight lines costs more than the second."""
    if len(lines) < 2 or len(lines[0].x) != len(lines[1].x):
        return None
    ahead = np.subtract(lines[0].y, lines[1].y)
    there = ahead.size > 0 and ahead[0] < 0 <= ahead[-1]
    if there:
        return float(np.interp(0.0, ahead, lines[0].x))
    return None


def speed_words(row: document.PlacementCard | document.OptionRow) -> str:
    """Speed with its range, or the reason why there is none."""
    if isinstance(row, document.PlacementCard) and not row.fits:
        return row.obstacle
    if row.decode_tps is None:
        if isinstance(row, document.PlacementCard):
            return units.UNKNOWN
        if row.kind == "api":
            return "speed not published"
        return "does not fit"
    text = units.tokens_per_second(row.decode_tps)
    return with_range(text, row.decode_tps_low, row.decode_tps_high)


def with_range(
    text: str, low: float | None, high: float | None, say: Callable[[float], str] = number
) -> str:
    """Figure with its range in brackets, where there is a range."""
    if low is None or high is None:
        return text
    return f"{text} ({range_of(low, high, say)})"


def option_name(row: document.OptionRow) -> str:
    """Kind and name of an option: "rent: L40S"."""
    if row.kind == "change":
        return row.name
    return f"{document.OPTIONS[row.kind]}: {row.name}"


def cost_words(row: document.OptionRow) -> str:
    """Cost of an option: "$700 once, $40 a month"; empty without a known price."""
    if row.upfront_usd:
        once = f"{formatting.money(row.upfront_usd)} once"
    else:
        once = ""
    free = row.monthly_usd == 0 and not once
    if row.monthly_usd is None:
        month = ""
    else:
        month = f"{formatting.money(row.monthly_usd)} a month"
    per_token = row.usd_per_million_tokens
    if per_token is None or month:
        tokens = ""
    else:
        tokens = f"{formatting.money(per_token)} per million tokens"
    if free:
        return "free"
    return ", ".join(filter(None, (once, month, tokens)))


def _tier_bar(uses: Sequence[document.TierUse], names: Names) -> Bar:
    total = sum(use.bytes for use in uses)
    room = next((use.capacity_bytes for use in uses if use.capacity_bytes is not None), None)
    return Bar(
        head=f"{names[uses[0].placement]}, {document.TIERS[uses[0].tier]}",
        figure=units.memory(total) + (f" of {units.memory(room)}" if room else ""),
        parts=tuple(
            BarPart(
                name=use.part,
                size=use.bytes / GIB,
                colour=MEMORY_COLOURS.get(use.part, 7),
                words=units.memory(use.bytes),
            )
            for use in uses
        ),
        limit=room / GIB if room else None,
    )


def _time_colours(names: Iterable[str]) -> dict[str, int]:
    """Indices in `COLOURS`: fixed for known parts of time, the free ones for others."""
    there = dict.fromkeys(names)
    colours = {key: index for index, key in enumerate(document.TIME_PARTS) if key in there}
    left = [index for index in range(len(COLOURS)) if index not in colours.values()]
    others = [name for name in there if name not in colours]
    return colours | {
        name: (left or [len(COLOURS) - 1])[index % max(1, len(left))]
        for index, name in enumerate(others)
    }


def _time_bar(parts: Sequence[document.TimePart], colours: Mapping[str, int], names: Names) -> Bar:
    total = sum(part.seconds for part in parts)
    largest = max(parts, key=lambda part: part.seconds)
    share = f"{100 * largest.seconds / total:.0f} % {document.time_part(largest.part)}"
    return Bar(
        head=names[parts[0].placement],
        figure=f"{units.seconds(total)} a token, {share}",
        parts=tuple(
            BarPart(
                name=document.time_part(part.part),
                size=100 * part.seconds / total,
                colour=colours[part.part],
                words=units.seconds(part.seconds),
            )
            for part in sorted(parts, key=lambda part: colours[part.part])
        ),
    )


def bar_chart(name: str, title: str, bars: tuple[Bar, ...], unit: str, mark: str = "") -> BarChart:
    """Bar chart with its alternative text."""
    words = "; ".join(f"{bar.head}: {bar.figure}" for bar in bars)
    if any(bar.limit is not None for bar in bars):
        marked = mark
    else:
        marked = ""
    return BarChart(
        name=name, title=title, alt=f"{title}. {words}.", bars=bars, unit=unit, mark=marked
    )


def _line_chart(
    name: str, title: str, series: Sequence[document.SweepSeries], notes: tuple[Note, ...]
) -> LineChart:
    axes = "; ".join(dict.fromkeys(f"{curve.y_label} against {curve.x_label}" for curve in series))
    names = ", ".join(curve.name for curve in series)
    return LineChart(
        name=name,
        title=title,
        alt=f"{title}. {axes}: {names}.",
        lines=tuple(
            Line(name=curve.name, x=curve.x, y=curve.y, colour=index % len(COLOURS))
            for index, curve in enumerate(series)
        ),
        x_label=series[0].x_label if series else "",
        y_label=series[0].y_label if series else "",
        x_powers=_wide([x for curve in series for x in curve.x]),
        y_powers=_wide([y for curve in series for y in curve.y]),
        notes=notes,
    )


def _wide(values: Sequence[float]) -> bool:
    return bool(values) and min(values) > 0 and WIDE <= max(values) / min(values) < math.inf


def grouped(items: Iterable[Item], key: Callable[[Item], Hashable]) -> list[list[Item]]:
    """Items with equal keys together, in the order in which the keys first occur."""
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


# Axes: where values lie, and which of them are written.

DASHES = ("", "9 5", "2 4", "9 4 2 4")
"""Dashes of lines that differ in colour, for who cannot tell colours [pixels]."""
MOST_TICKS = 8
SMALLEST = 1e-300  # size below which numbers count as 0


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
    first = math.ceil(round(low / step, 9))
    last = math.floor(round(high / step, 9))
    return [step * count for count in range(first, last + 1)]


def scale_of(values: Iterable[float], *, powers: bool = False, from_zero: bool = False) -> Scale:
    """Axis with room for all values, also for a single one.

    It is logarithmic for positive values if powers are asked for, and begins at zero if asked for,
    unless a value is negative.
    """
    known = [value for value in values if math.isfinite(value)]
    low = min(known, default=1.0)
    high = max(known, default=1.0)
    if powers:
        room = max((high / low) ** 0.06, 1.15)
        return Scale(low=low / room, high=high * room, powers=True)
    if from_zero:
        low = min(low, 0.0)
        high = max(high, 0.0)
    size = max(abs(low), abs(high))
    length = 1.0
    if high - low > max(1e-9 * size, SMALLEST):
        length = high - low
    elif size > SMALLEST:
        length = size
    room = 0.05 * length
    return Scale(low=low if from_zero and low == 0 else low - room, high=high + room)


def tick_words(tick: float) -> str:
    """Number at a tick: 1,350 in full, 250k shortened."""
    if 0.001 <= abs(tick) < 10_000:
        return f"{tick:,g}"
    return formatting.short(tick)
