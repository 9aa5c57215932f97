"""Description of a chart (series, words, colours, ranges), independent of what draws it.

A painter adds neither words nor numbers. Every bar carries its numbers in words, so that nothing
depends on colour alone.
"""

from dataclasses import dataclass

COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a9099", "#4d5560",
)  # fmt: skip
"""Colours on a light page, by Okabe and Ito for colour-blind readers, and greys."""
DARK = (0, 2, 4, 7)
"""Places of the colours on which white letters read better than black ones."""
LETTERED = 0.06
"""Share of the chart's width from which a part of a bar has room for its letter."""


@dataclass(frozen=True, kw_only=True)
class BarPart:
    """Part of a bar.

    Attributes:
        name: name in the legend.
        size: in the unit of the chart.
        colour: index in `COLOURS`.
    """

    name: str
    size: float
    colour: int


@dataclass(frozen=True, kw_only=True)
class Bar:
    """Bar of stacked parts, with its words above it.

    Attributes:
        head: what the bar stands for.
        figure: its value in words.
        parts: from left to right.
        low: lower end of the range drawn over it; None for no range.
        high: upper end of the range.
        limit: position of the mark; None for no mark.
    """

    head: str
    figure: str
    parts: tuple[BarPart, ...]
    low: float | None = None
    high: float | None = None
    limit: float | None = None

    @property
    def end(self) -> float:
        """Right end of the bar, its range and its mark."""
        ends = (sum(part.size for part in self.parts), self.high, self.limit)
        return max(end for end in ends if end is not None)


@dataclass(frozen=True, kw_only=True)
class BarChart:
    """Horizontal bars.

    Attributes:
        name: unique within a file.
        title: heading of the chart.
        alt: text for readers who cannot see it.
        bars: from the top.
        unit: unit of the sizes.
        mark: meaning of the mark; empty without marks.
    """

    name: str
    title: str
    alt: str
    bars: tuple[Bar, ...]
    unit: str
    mark: str = ""

    @property
    def letters(self) -> dict[str, str]:
        """One letter per name in the legend, for prints without colours."""
        return {name: chr(ord("A") + place % 26) for place, (name, _) in enumerate(self.keys)}

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
    """Line of a chart.

    Attributes:
        name: name in the legend.
        x: positions.
        y: values at the positions.
        colour: index in `COLOURS`.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    colour: int


@dataclass(frozen=True, kw_only=True)
class Note:
    """Remark at a point of a chart; without a height it stands above the horizontal axis."""

    x: float
    y: float | None
    text: str


@dataclass(frozen=True, kw_only=True)
class LineChart:
    """Lines over one pair of axes.

    Attributes:
        name: unique within a file.
        title: heading of the chart.
        alt: text for readers who cannot see it.
        lines: in the order of their colours.
        x_label: label with its unit.
        y_label: label with its unit.
        x_powers: the horizontal axis is logarithmic.
        y_powers: the vertical axis is logarithmic.
        notes: remarks at points.
    """

    name: str
    title: str
    alt: str
    lines: tuple[Line, ...]
    x_label: str
    y_label: str
    x_powers: bool
    y_powers: bool
    notes: tuple[Note, ...] = ()
