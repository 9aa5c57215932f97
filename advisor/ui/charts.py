"""The charts of a comparison, drawn from its report document, in one theme.

Colours are those of Okabe and Ito, lighter on the dark page. Bars carry their numbers and lines
their names, so that nothing depends on colour alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from advisor.reports.document import PlacementCard, ReportDocument, SweepSeries, TierUse, TimePart
from advisor.units import GIB
from advisor.wording import memory, money, range_of, seconds, short, tokens_per_second

Figure = dict[str, Any]
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


@dataclass(frozen=True, kw_only=True)
class Palette:
    """Colours of one appearance of the page."""

    ink: str
    soft: str
    line: str
    series: tuple[str, ...]


LIGHT = Palette(
    ink="#1b1f24", soft="#5b6470", line="#dfe2e7",
    series=("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a9099"),
)  # fmt: skip
DARK = Palette(
    ink="#e8eaed", soft="#a7b0bb", line="#343a42",
    series=("#56b4e9", "#e69f00", "#2fc39a", "#e39ac4", "#ff8a4d", "#8fd0f5", "#9aa2ac"),
)  # fmt: skip


def palette() -> Palette:
    """That of the page the person looks at."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def draw(figure: Figure, *, key: str, alt: str) -> None:
    """Put a chart on the page."""
    st.plotly_chart(
        figure, key=key, alt=alt, theme=None, config={"displayModeBar": False, "responsive": True}
    )


def speed(cards: Sequence[PlacementCard]) -> Figure:
    """Speed of each placement with its range [tokens/s], on a logarithmic axis."""
    look = palette()
    shown = [card for card in cards if card.fits and card.decode_tps][::-1]
    values = [card.decode_tps or 0.0 for card in shown]
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": [PLACEMENT_NAMES[card.placement] for card in shown],
        "x": values,
        "marker": {"color": look.series[0]},
        "width": 0.5,
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [(card.decode_tps_high or 0) - (card.decode_tps or 0) for card in shown],
            "arrayminus": [(card.decode_tps or 0) - (card.decode_tps_low or 0) for card in shown],
            "color": look.ink,
            "thickness": 1.5,
        },
        "hovertemplate": "%{y}: %{x:.3g} tokens/s<extra></extra>",
    }
    notes = [
        {
            "x": max(card.decode_tps_high or 0, card.decode_tps or 0),
            "y": PLACEMENT_NAMES[card.placement],
            "text": speed_words(card),
            "showarrow": False,
            "xanchor": "left",
            "xshift": 8,
        }
        for card in shown
    ]
    top = max((card.decode_tps_high or 0 for card in shown), default=1.0)
    layout = _layout(look, height=70 + 58 * max(len(shown), 1), left=120)
    layout |= {"annotations": notes, "bargap": 0.4}
    layout["xaxis"] |= {"range": [0, top * 1.75], "visible": False}
    return {"data": [bars], "layout": layout}


def speed_words(card: PlacementCard) -> str:
    """Speed and range of a card."""
    low, high = card.decode_tps_low or 0.0, card.decode_tps_high or 0.0
    return f"{tokens_per_second(card.decode_tps or 0.0)} ({range_of(low, high)})"


def memory_use(uses: Sequence[TierUse]) -> Figure:
    """What each tier holds in each placement, beside what it can hold [GiB]."""
    look = palette()
    rows = list(dict.fromkeys((use.placement, use.tier) for use in uses))
    held = {row: sum(use.bytes for use in uses if (use.placement, use.tier) == row) for row in rows}
    rows = [row for row in rows if held[row] > 0][::-1]
    room = {(use.placement, use.tier): use.capacity_bytes for use in uses}
    labels = [f"{PLACEMENT_NAMES[place]}, {tier}" for place, tier in rows]
    colours = dict(zip(("weights", "KV cache", "buffers"), (0, 1, 6), strict=True))
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": part,
            "y": labels,
            "x": [
                sum(use.bytes for use in uses if (use.placement, use.tier, use.part) == (*row, part))
                / GIB
                for row in rows
            ],
            "marker": {"color": look.series[colour]},
            "hovertemplate": "%{y}, " + part + ": %{x:.1f} GiB<extra></extra>",
        }
        for part, colour in colours.items()
    ]
    data.append(_capacity_marks(look, labels, [room[row] for row in rows]))
    ends = [max(held[row], room[row] or 0.0) / GIB for row in rows]
    notes = [
        {"x": end, "y": label, "text": _of(held[row], room[row]), "showarrow": False,
         "xanchor": "left", "xshift": 10}
        for row, label, end in zip(rows, labels, ends, strict=True)
    ]  # fmt: skip
    layout = _layout(look, height=90 + 34 * max(len(rows), 1), left=160, legend=True)
    layout |= {"annotations": notes, "barmode": "stack", "bargap": 0.35}
    layout["xaxis"] |= {"range": [0, max(ends, default=1.0) * 1.45], "visible": False}
    return {"data": data, "layout": layout}


def _capacity_marks(look: Palette, labels: list[str], room: list[float | None]) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "what it can hold",
        "y": [label for label, size in zip(labels, room, strict=True) if size],
        "x": [size / GIB for size in room if size],
        "marker": {
            "symbol": "line-ns", "size": 18, "color": look.ink,
            "line": {"width": 2, "color": look.ink},
        },
        "hovertemplate": "%{y} holds %{x:.1f} GiB<extra></extra>",
    }  # fmt: skip


def _of(held: float, room: float | None) -> str:
    return memory(held) + (f" of {memory(room)}" if room else "")


def token_time(parts: Sequence[TimePart]) -> Figure:
    """Share of a token's time by route, in each placement [%]."""
    look = palette()
    totals: dict[str, float] = {}
    for part in parts:
        totals[part.placement] = totals.get(part.placement, 0.0) + part.seconds
    places = list(totals)[::-1]
    labels = [PLACEMENT_NAMES[place] for place in places]
    names = [name for name in PART_NAMES if any(part.part == name for part in parts)]
    data = []
    for name in names:
        spent = {part.placement: part.seconds for part in parts if part.part == name}
        shares = [100 * spent.get(place, 0.0) / totals[place] for place in places]
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": PART_NAMES[name],
                "y": labels,
                "x": shares,
                "width": 0.5,
                "text": [f"{PART_NAMES[name]} {share:.0f} %" if share > 22 else "" for share in shares],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "marker": {"color": look.series[list(PART_NAMES).index(name) % 7]},
                "hovertemplate": "%{y}, " + PART_NAMES[name] + ": %{x:.1f} %<extra></extra>",
            }
        )
    notes = [
        {"x": 100, "y": label, "text": f"{seconds(totals[place])} a token", "showarrow": False,
         "xanchor": "left", "xshift": 8}
        for place, label in zip(places, labels, strict=True)
    ]  # fmt: skip
    layout = _layout(look, height=110 + 46 * max(len(places), 1), left=120, legend=True)
    layout |= {"annotations": notes, "barmode": "stack"}
    layout["xaxis"] |= {"range": [0, 142], "visible": False}
    return {"data": data, "layout": layout}


def layers(series: SweepSeries) -> Figure:
    """Speed against layers on the GPU, to where VRAM ends."""
    look = palette()
    data = [_line(look, series, 0, "%{x:.0f} layers: %{y:.2g} tokens/s")]
    layout = _layout(look, height=300)
    layout["xaxis"] |= {"title": {"text": series.x_label}, "showgrid": False, "rangemode": "tozero"}
    layout["yaxis"] |= {"title": {"text": series.y_label}, "rangemode": "tozero"}
    if series.x:
        layout["annotations"] = [
            {"x": series.x[-1], "y": series.y[-1], "text": f"VRAM ends at {series.x[-1]:.0f} layers",
             "showarrow": True, "ax": -70, "ay": -28, "arrowcolor": look.soft}
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
    layout = _layout(look, height=300, legend=True)
    layout["xaxis"] |= {"title": {"text": "tokens a month"}, "showgrid": False}
    layout["yaxis"] |= {"title": {"text": "USD a month"}, "tickprefix": "$", "rangemode": "tozero"}
    point = crossing(lines)
    if point:
        layout["shapes"] = [
            {"type": "line", "x0": point[0], "x1": point[0], "yref": "paper", "y0": 0, "y1": 1,
             "line": {"color": look.soft, "dash": "dot", "width": 1.2}}
        ]  # fmt: skip
        layout["annotations"] = [
            {"x": point[0], "y": 0.97, "yref": "paper", "showarrow": False, "xanchor": "left",
             "xshift": 6, "text": f"pays from {short(point[0])} tokens"}
        ]  # fmt: skip
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
        "line": {"color": look.series[place % 7], "width": 2.5, "dash": ("solid", "dash", "dot")[place % 3]},
        "hovertemplate": hover + "<extra></extra>",
    }


def _layout(look: Palette, *, height: int, left: int = 60, legend: bool = False) -> dict[str, Any]:
    axis = {
        "gridcolor": look.line,
        "zeroline": False,
        "color": look.soft,
        "tickfont": {"color": look.ink},
        "automargin": True,
        "fixedrange": True,
    }
    return {
        "height": height,
        "margin": {"l": left, "r": 10, "t": 10, "b": 40 if legend else 10},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": look.ink, "size": 13, "family": "Source Sans, sans-serif"},
        "showlegend": legend,
        "legend": {"orientation": "h", "y": -0.02, "yanchor": "top", "x": 0, "xanchor": "left"},
        "xaxis": dict(axis),
        "yaxis": dict(axis),
        "hoverlabel": {"font": {"size": 13}},
    }


def money_at(point: tuple[float, float]) -> str:
    """The crossing of two cost lines in words."""
    return f"{short(point[0])} tokens, {money(point[1])} a month"


def best_cards(document: ReportDocument) -> list[PlacementCard]:
    """The fastest fitting card of each placement, else one that says why not."""
    found = []
    for place in PLACEMENT_NAMES:
        own = [card for card in document.placements if card.placement == place]
        if own:
            found.append(max(own, key=lambda card: (card.fits, card.decode_tps or 0.0)))
    return found
