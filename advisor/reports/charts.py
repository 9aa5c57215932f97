"""The charts of a report, each as one SVG element.

Colours are those of Okabe and Ito, told apart by colour-blind readers; every bar also carries its
name or number, and lines differ in dashes and markers.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from markupsafe import Markup
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter

from advisor import formatting
from advisor.reports.document import (
    PLACEMENT_NAMES,
    PlacementCard,
    PlacementKey,
    SweepSeries,
    TierUse,
    TimePart,
)
from advisor.reports.svg import INK, LINE, PAPER, SOFT, WIDTH, drawn, shortened
from advisor.units import GIB

GREEN, BLUE, ORANGE = "#009E73", "#0072B2", "#E69F00"
PART_COLOURS = (BLUE, ORANGE, GREEN, "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
PLACEMENT_COLOURS: dict[PlacementKey, str] = {
    "gpu-resident": GREEN,
    "cpu-offload": BLUE,
    "nvme-offload": ORANGE,
}
_DASHES = ("-", "--", "-.", ":")
_MARKERS = "osD^vP"
_LETTERS_PER_INCH = 14.0  # of a label at 8 points
_STACK_MARGIN = 1.3  # right end of a stacked chart over its largest bar: room for the label
_BAR_INCHES = 0.7 * WIDTH / _STACK_MARGIN  # of the largest bar; the labels take the rest
_DARK = 0.45  # brightness up to which white text reads better than black
Item = TypeVar("Item")
_WIDE = 100.0  # largest over smallest, from which an axis counts in powers of ten


@dataclass(frozen=True, kw_only=True)
class Stack:
    """One bar made of parts.

    Attributes:
        label: to the left of the bar.
        parts: name and size of each, from left to right.
        end: to the right of the bar.
        limit: size of the frame around it; None for no frame.
    """

    label: str
    parts: tuple[tuple[str, float], ...]
    end: str
    limit: float | None = None

    @property
    def total(self) -> float:
        """Sum of the parts."""
        return sum(size for _, size in self.parts)


def speed(cards: Sequence[PlacementCard]) -> Markup:
    """Speed of each placement with its range [tokens/s]."""
    largest = max((max(_ends(card)) for card in cards), default=0.0) or 1.0

    def paint(axes: Axes) -> None:
        for row, card in enumerate(cards):
            _speed_bar(axes, row, card, largest)
        _rows(axes, [f"{shortened(one.title)}\n{shortened(one.runtime)}" for one in cards])
        axes.set_xlim(0, largest * 1.6)
        axes.xaxis.set_visible(False)

    return drawn("speed", "Speed of each placement in tokens/s", _height(len(cards), 0.62), paint)


def memory(uses: Sequence[TierUse]) -> Markup:
    """What each tier holds, by part, inside a frame of the tier's size [GiB]."""
    stacks = [_tier_stack(group) for group in _grouped(uses, lambda use: (use.placement, use.tier))]
    return _stacked("memory", "Bytes in each tier of memory", stacks)


def token_time(parts: Sequence[TimePart]) -> Markup:
    """Shares of one token's time, by part [%]."""
    stacks = [_time_stack(group) for group in _grouped(parts, lambda part: part.placement)]
    return _stacked("time", "Shares of the time of one token", stacks)


def layers(series: SweepSeries) -> Markup:
    """Speed against layers on the GPU."""
    return _lines("layers", [series])


def costs(series: Sequence[SweepSeries]) -> Markup:
    """Cost against tokens per month, one line for each way."""
    return _lines("costs", series)


def _ends(card: PlacementCard) -> tuple[float, ...]:
    return tuple(one or 0.0 for one in (card.decode_tps, card.decode_tps_low, card.decode_tps_high))


def _speed_bar(axes: Axes, row: int, card: PlacementCard, largest: float) -> None:
    text, value = speed_label(card), (card.decode_tps or 0.0) if card.fits else 0.0
    axes.barh(row, value, 0.5, color=PLACEMENT_COLOURS[card.placement])
    end = value
    if value and card.decode_tps_low is not None and card.decode_tps_high is not None:
        end = max(value, card.decode_tps_high)
        ends = [card.decode_tps_low, card.decode_tps_high]
        # A line in the colour of the page under the range keeps it visible on its own bar.
        axes.plot(ends, [row, row], color=PAPER, linewidth=3.4, solid_capstyle="butt")
        axes.plot(ends, [row, row], color=INK, linewidth=1.2, marker="|", markersize=7)
    axes.text(end + largest * 0.03, row, text, va="center", weight="bold" if value else "normal")


def speed_label(card: PlacementCard) -> str:
    """Speed and range of a card, or why there is none."""
    if not card.fits:
        return "does not fit"
    if card.decode_tps is None:
        return formatting.UNKNOWN
    text = formatting.tokens_per_second(card.decode_tps)
    if card.decode_tps_low is None or card.decode_tps_high is None:
        return text
    return f"{text}\n({formatting.range_of(card.decode_tps_low, card.decode_tps_high)})"


def _tier_stack(uses: Sequence[TierUse]) -> Stack:
    total = sum(use.bytes for use in uses)
    room = next((use.capacity_bytes for use in uses if use.capacity_bytes is not None), None)
    tier = uses[0].tier
    return Stack(
        label=f"{PLACEMENT_NAMES[uses[0].placement]}\n{tier}",
        parts=tuple((use.part, use.bytes / GIB) for use in uses),
        end=formatting.memory(total)
        + (f"\nof {formatting.memory(room)}" if room is not None else ""),
        # A drive is so much larger than the rest that its frame would hide every bar.
        limit=room / GIB if room is not None and tier != "disk" else None,
    )


def _time_stack(parts: Sequence[TimePart]) -> Stack:
    total = sum(part.seconds for part in parts)
    return Stack(
        label=PLACEMENT_NAMES[parts[0].placement],
        parts=tuple((part.part, 100 * part.seconds / (total or 1)) for part in parts),
        end=f"{formatting.seconds(total)}\na token",
    )


def _grouped(items: Iterable[Item], key: Callable[[Item], Hashable]) -> list[list[Item]]:
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def _stacked(name: str, label: str, stacks: Sequence[Stack]) -> Markup:
    names = list(dict.fromkeys(part for stack in stacks for part, _ in stack.parts))
    looks = {part: PART_COLOURS[i % len(PART_COLOURS)] for i, part in enumerate(names)}
    largest = max((max(one.total, one.limit or 0.0) for one in stacks), default=0.0) or 1.0

    def paint(axes: Axes) -> None:
        for row, stack in enumerate(stacks):
            _stack(axes, row, stack, looks, largest)
        _rows(axes, [stack.label for stack in stacks])
        axes.set_xlim(0, largest * _STACK_MARGIN)
        axes.xaxis.set_visible(False)
        _legend(axes, [Patch(color=looks[part], label=shortened(part)) for part in names])

    return drawn(name, label, _height(len(stacks), 0.5) + _legend_height(names), paint)


def _stack(axes: Axes, row: int, stack: Stack, looks: dict[str, str], largest: float) -> None:
    left = 0.0
    for part, size in stack.parts:
        axes.barh(row, size, 0.5, left, color=looks[part], edgecolor=PAPER, linewidth=0.8)
        text = shortened(part)
        if len(text) + 1 < size / largest * _BAR_INCHES * _LETTERS_PER_INCH:
            middle = left + size / 2
            colour = _readable_on(looks[part])
            axes.text(middle, row, text, ha="center", va="center", color=colour, size=8)
        left += size
    if stack.limit is not None:
        axes.barh(row, stack.limit, 0.5, fill=False, edgecolor=SOFT, linewidth=0.9)
    end = max(stack.total, stack.limit or 0.0)
    axes.text(end + largest * 0.02, row, stack.end, va="center")


def _readable_on(colour: str) -> str:
    red, green, blue = to_rgb(colour)
    brightness = 0.299 * red + 0.587 * green + 0.114 * blue
    return "#000000" if brightness > _DARK else "#ffffff"


def _lines(name: str, series: Sequence[SweepSeries]) -> Markup:
    def paint(axes: Axes) -> None:
        for place, one in enumerate(series):
            axes.plot(
                one.x,
                one.y,
                color=PART_COLOURS[place % len(PART_COLOURS)],
                linestyle=_DASHES[place % len(_DASHES)],
                marker=_MARKERS[place % len(_MARKERS)],
                markevery=max(1, len(one.x) // 8),
                markersize=4,
                label=shortened(one.name),
            )
        _scales(axes, series)
        if len(series) > 1:
            _legend(axes, axes.get_legend_handles_labels()[0])

    label = "; ".join(f"{one.name}: {one.y_label} against {one.x_label}" for one in series)
    return drawn(name, label, 2.5 + _legend_height([one.name for one in series]), paint)


def _scales(axes: Axes, series: Sequence[SweepSeries]) -> None:
    for axis, values in (
        (axes.xaxis, [x for one in series for x in one.x]),
        (axes.yaxis, [y for one in series for y in one.y]),
    ):
        wide = bool(values) and min(values) > 0 and max(values) / min(values) >= _WIDE
        scale = axes.set_xscale if axis is axes.xaxis else axes.set_yscale
        scale("log" if wide else "linear")
        axis.set_major_formatter(FuncFormatter(lambda value, _: formatting.short(value)))
        axis.set_minor_formatter(NullFormatter())
    if axes.get_yscale() == "linear":
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.set_xlabel(shortened(series[0].x_label, 60))
    axes.set_ylabel(shortened(series[0].y_label, 40))
    axes.grid(visible=True)


def _rows(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["bottom"].set_visible(False)
    axes.spines["left"].set_color(LINE)


def _legend(axes: Axes, handles: Sequence[Artist]) -> None:
    columns = _legend_columns([str(handle.get_label()) for handle in handles])
    figure = axes.get_figure(root=True)
    if figure is not None:
        figure.legend(handles=handles, loc="outside lower left", ncols=columns)


def _legend_columns(names: Sequence[str]) -> int:
    longest = max((len(shortened(name)) for name in names), default=0)
    return max(1, int(WIDTH * _LETTERS_PER_INCH / (longest + 8)))


def _legend_height(names: Sequence[str]) -> float:
    return 0.2 * -(-len(names) // _legend_columns(names))


def _height(rows: int, each: float) -> float:
    return 0.2 + each * max(rows, 1)
