"""The description of a chart: series, words, colours and ranges, for any painter.

A painter adds neither words nor numbers. Every bar carries its numbers in words, so that nothing
depends on colour alone.
"""

from dataclasses import dataclass

COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a9099", "#4d5560",
)  # fmt: skip
"""On a light page: the colours of Okabe and Ito, told apart by colour-blind readers, and greys."""
DARK = (0, 2, 4, 7)
"""Places of the colours on which white letters read better than black ones."""
LETTERED = 0.06
"""Share of the chart's width from which a part of a bar has room for its letter."""


@dataclass(frozen=True, kw_only=True)
class BarPart:
    """A part of a bar.

    Attributes:
        name: in words.
        size: in the unit of the chart.
        colour: place in `COLOURS`.
    """

    name: str
    size: float
    colour: int


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A bar made of parts, with its words above it.

    Attributes:
        head: what it is of.
        figure: its number in words.
        parts: from left to right.
        low: lower end of a range drawn over it; None for no range.
        high: upper end.
        limit: where a mark stands; None for no mark.
    """

    head: str
    figure: str
    parts: tuple[BarPart, ...]
    low: float | None = None
    high: float | None = None
    limit: float | None = None

    @property
    def end(self) -> float:
        """Right end of all that is drawn."""
        ends = (sum(part.size for part in self.parts), self.high, self.limit)
        return max(end for end in ends if end is not None)


@dataclass(frozen=True, kw_only=True)
class BarChart:
    """Bars one under the other.

    Attributes:
        name: different for each chart of a file.
        title: above it.
        alt: what it shows, for those who cannot see it.
        bars: from the top.
        unit: of the sizes.
        mark: what the mark stands for; empty where no bar has one.
    """

    name: str
    title: str
    alt: str
    bars: tuple[Bar, ...]
    unit: str
    mark: str = ""

    @property
    def letters(self) -> dict[str, str]:
        """A letter for each name among the keys, so that a print without colours can be read."""
        return {name: chr(ord("A") + place % 26) for place, (name, _) in enumerate(self.keys)}

    @property
    def end(self) -> float:
        """Right end of the longest bar; 1 where all are empty."""
        return max((bar.end for bar in self.bars), default=0.0) or 1.0

    @property
    def keys(self) -> tuple[tuple[str, int], ...]:
        """Names and colours of the parts, for a legend; empty where bars have one part each."""
        if all(len(bar.parts) < 2 for bar in self.bars):
            return ()
        parts = sorted((part for bar in self.bars for part in bar.parts), key=lambda p: p.colour)
        return tuple(dict.fromkeys((part.name, part.colour) for part in parts))


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a chart.

    Attributes:
        name: in words.
        x: positions.
        y: values, as many.
        colour: place in `COLOURS`.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    colour: int


@dataclass(frozen=True, kw_only=True)
class Note:
    """A remark at a place of a chart, above the horizontal axis where it has no height."""

    x: float
    y: float | None
    text: str


@dataclass(frozen=True, kw_only=True)
class LineChart:
    """Lines over one pair of axes.

    Attributes:
        name: different for each chart of a file.
        title: above it.
        alt: what it shows, for those who cannot see it.
        lines: in the order of their colours.
        x_label: with its unit.
        y_label: with its unit.
        x_powers: the horizontal axis counts in powers of ten.
        y_powers: the vertical axis does.
        notes: remarks at places.
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
