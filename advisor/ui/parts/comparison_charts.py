"""The charts of a comparison, drawn from its report document.

Bars carry their numbers and lines
their names, so that nothing depends on colour alone.
"""

from collections.abc import Sequence

from markupsafe import Markup

from advisor.formatting import memory, money, range_of, seconds, short, tokens_per_second
from advisor.reports.document import PlacementCard, ReportDocument, SweepSeries, TierUse, TimePart
from advisor.runtimes import RUNTIMES
from advisor.ui.parts.markup import block, joined
from advisor.ui.parts.plot import Figure, Palette, bar_layout, line_layout, one_part, palette
from advisor.units import GIB

PLACEMENT_NAMES = {
    "gpu-resident": "In the GPU",
    "cpu-offload": "Offload to RAM",
    "nvme-offload": "Offload to NVMe",
}
PART_NAMES = {
    "resident": "GPU memory",
    "in_place": "RAM, in place",
    "streamed": "link",
    "paged": "drive",
    "staged": "drive and link",
    "layers": "layers",
    "crossings": "hand-overs",
    "token": "per token",
}
MEMORY_PARTS = {"weights": 0, "KV cache": 1, "buffers": 6}
TIME_PARTS = {
    "resident": 0, "in_place": 1, "streamed": 2, "paged": 3, "staged": 4, "layers": 5,
    "crossings": 6, "token": 7,
}  # fmt: skip
"""Places of the parts in the palette."""


def speed(cards: Sequence[PlacementCard]) -> Figure:
    """Speed of each placement with its range [tokens/s]."""
    look = palette()
    shown = [card for card in cards if card.fits and card.decode_tps]
    low, mid, high = (
        [getattr(card, name) or 0.0 for card in shown]
        for name in ("decode_tps_low", "decode_tps", "decode_tps_high")
    )
    own = one_part(range(len(shown)), mid, "speed", look.series[0])
    own["error_x"] = {
        "type": "data",
        "symmetric": False,
        "array": [top - at for top, at in zip(high, mid, strict=True)],
        "arrayminus": [at - bottom for bottom, at in zip(low, mid, strict=True)],
        "color": look.ink,
        "thickness": 1.5,
    }
    heads = [f"{PLACEMENT_NAMES[card.placement]}: <b>{speed_words(card)}</b>" for card in shown]
    return {"data": [own], "layout": bar_layout(look, heads, max(high, default=1.0) * 1.05)}


def speed_words(card: PlacementCard) -> str:
    """Speed and range of a card."""
    low, high = card.decode_tps_low or 0.0, card.decode_tps_high or 0.0
    return f"{tokens_per_second(card.decode_tps or 0.0)} ({range_of(low, high)})"


def memory_use(uses: Sequence[TierUse]) -> Figure:
    """What each tier holds in each placement, beside what it can hold [GiB]."""
    look = palette()
    held: dict[tuple[str, str], dict[str, float]] = {}
    room: dict[tuple[str, str], float | None] = {}
    for use in uses:
        row = (use.placement, use.tier)
        held.setdefault(row, {})[use.part] = use.bytes
        room[row] = use.capacity_bytes
    rows = [row for row in held if sum(held[row].values()) > 0]
    data = [
        one_part(
            range(len(rows)),
            [held[row].get(part, 0.0) / GIB for row in rows],
            part,
            look.series[at],
        )
        for part, at in MEMORY_PARTS.items()
    ]
    data.append(_capacity_marks(look, [(room[row] or 0.0) / GIB for row in rows]))
    totals = [sum(held[row].values()) for row in rows]
    heads = [
        f"{PLACEMENT_NAMES[place]}, {tier}: <b>{_of(total, room[place, tier])}</b>"
        for (place, tier), total in zip(rows, totals, strict=True)
    ]
    ends = [max(total, room[row] or 0.0) / GIB for row, total in zip(rows, totals, strict=True)]
    return {"data": data, "layout": bar_layout(look, heads, max(ends, default=1.0) * 1.02)}


def _capacity_marks(look: Palette, room: list[float]) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "y": [place for place, size in enumerate(room) if size],
        "x": [size for size in room if size],
        "marker": {"symbol": "line-ns", "size": 18, "line": {"width": 2.5, "color": look.ink}},
        "hovertemplate": "holds %{x:.1f} GiB<extra></extra>",
    }


def _of(held: float, room: float | None) -> str:
    return memory(held) + (f" of {memory(room)}" if room else "")


def token_time(parts: Sequence[TimePart]) -> Figure:
    """Share of a token's time by route, in each placement [%]."""
    look = palette()
    spent: dict[str, dict[str, float]] = {}
    for part in parts:
        spent.setdefault(part.placement, {})[part.part] = part.seconds
    totals = {place: sum(own.values()) for place, own in spent.items()}
    data = [
        one_part(
            range(len(spent)),
            [100 * own.get(name, 0.0) / totals[place] for place, own in spent.items()],
            PART_NAMES[name],
            look.series[at],
        )
        for name, at in TIME_PARTS.items()
        if any(name in own for own in spent.values())
    ]
    heads = [
        f"{PLACEMENT_NAMES[place]}: <b>{seconds(total)} a token</b>, {_mostly(spent[place], total)}"
        for place, total in totals.items()
    ]
    return {"data": data, "layout": bar_layout(look, heads, 100)}


def _mostly(own: dict[str, float], total: float) -> str:
    name = max(own, key=lambda part: own[part])
    return f"{100 * own[name] / total:.0f} % {PART_NAMES.get(name, name)}"


def memory_keys() -> Markup:
    """What the colours and the mark of the memory chart mean."""
    mark = Markup("<div class='oa-key'><span>\u2502 what it can hold</span></div>")
    return keys(MEMORY_PARTS) + mark


def time_keys(parts: Sequence[TimePart]) -> Markup:
    """What the colours of the time chart mean."""
    there = {part.part for part in parts}
    return keys({name: at for name, at in TIME_PARTS.items() if name in there}, PART_NAMES)


def keys(shown: dict[str, int], names: dict[str, str] | None = None) -> Markup:
    """What the colours of a chart mean.

    Args:
        shown: place in the palette by part.
        names: words for the parts, where they are not words themselves.
    """
    look = palette()
    item = Markup("<span><i style='background:{}'></i>{}</span>")
    return block(
        "oa-key",
        joined(
            item.format(look.series[at], (names or {}).get(part, part))
            for part, at in shown.items()
        ),
    )


def layers(series: SweepSeries) -> Figure:
    """Speed against layers on the GPU, to where VRAM ends."""
    look = palette()
    data = [_line(look, series, 0, "%{x:.0f} layers: %{y:.2g} tokens/s")]
    layout = line_layout(look, height=300)
    layout["xaxis"] |= {"title": {"text": series.x_label}, "showgrid": False, "rangemode": "tozero"}
    layout["yaxis"] |= {"title": {"text": series.y_label}, "rangemode": "tozero"}
    if series.x:
        layout["annotations"] = [
            {"x": series.x[-1], "y": series.y[-1], "showarrow": True,
             "text": f"VRAM ends at {series.x[-1]:.0f} layers",
             "ax": -70, "ay": -28, "arrowcolor": look.soft}
        ]  # fmt: skip
        layout["xaxis"]["range"] = [0, series.x[-1] * 1.12 + 1]
        layout["yaxis"]["range"] = [0, max(series.y) * 1.25]
    return {"data": data, "layout": layout}


def costs(lines: Sequence[SweepSeries]) -> Figure:
    """Cost of a month against tokens generated in it, waiting included."""
    look = palette()
    data = [
        _line(look, line, place, "%{x:,.0f} tokens: $%{y:,.0f}") for place, line in enumerate(lines)
    ]
    layout = line_layout(look, height=300)
    layout["xaxis"] |= {"title": {"text": "tokens a month"}, "showgrid": False}
    layout["yaxis"] |= {"title": {"text": "USD a month"}, "tickprefix": "$", "rangemode": "tozero"}
    layout["annotations"] = [
        {"x": line.x[-1], "y": line.y[-1], "text": line.name, "showarrow": False,
         "xanchor": "right", "yanchor": "bottom", "yshift": 3,
         "font": {"color": look.series[place % 7]}}
        for place, line in enumerate(lines) if line.x
    ]  # fmt: skip
    point = crossing(lines)
    if point:
        layout["shapes"] = [
            {"type": "line", "x0": point[0], "x1": point[0], "yref": "paper", "y0": 0, "y1": 1,
             "line": {"color": look.soft, "dash": "dot", "width": 1.2}}
        ]  # fmt: skip
        layout["annotations"].append(
            {"x": point[0], "y": 0.03, "yref": "paper", "showarrow": False, "xanchor": "left",
             "xshift": 6, "text": f"pays from {short(point[0])} tokens"}
        )  # fmt: skip
    return {"data": data, "layout": layout}


def crossing(lines: Sequence[SweepSeries]) -> tuple[float, float] | None:
    """Tokens and cost where the first line starts to cost more than the second."""
    if len(lines) < 2:
        return None
    first, second = lines[0], lines[1]
    for place in range(1, min(len(first.x), len(second.x))):
        before, now = (second.y[at] - first.y[at] for at in (place - 1, place))
        if before > 0 >= now:
            share = before / (before - now)
            tokens = first.x[place - 1] + share * (first.x[place] - first.x[place - 1])
            return tokens, first.y[place - 1] + share * (first.y[place] - first.y[place - 1])
    return None


def _line(look: Palette, series: SweepSeries, place: int, hover: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": series.name,
        "x": list(series.x),
        "y": list(series.y),
        "line": {
            "color": look.series[place % 7],
            "width": 2.5,
            "dash": ("solid", "dash", "dot")[place % 3],
        },
        "hovertemplate": hover + "<extra></extra>",
    }


def money_at(point: tuple[float, float]) -> str:
    """The crossing of two cost lines in words."""
    return f"{short(point[0])} tokens, {money(point[1])} a month"


def best_cards(document: ReportDocument) -> list[PlacementCard]:
    """Of each placement the fastest that fits, usual runtimes first, else one that says why not.

    Of the runtime that was asked about, where one was.
    """
    usual = {one.name for one in RUNTIMES if one.usual}
    found = []
    for place in PLACEMENT_NAMES:
        meant = (card for card in document.placements if document.runtime in ("", card.runtime))
        own = [card for card in meant if card.placement == place]
        if own:
            found.append(
                max(own, key=lambda one: (one.fits, one.runtime in usual, one.decode_tps or 0.0))
            )
    return found
