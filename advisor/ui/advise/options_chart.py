"""Chart of monthly cost against speed, with the Pareto front marked."""

import math
from collections.abc import Sequence

import numpy as np

from advisor.advice.options.option import Option, OptionKind
from advisor.advice.options.pareto import on_front
from advisor.formatting import money, shown_currency, tokens_per_second
from advisor.ui.parts.plot import Figure, Palette, line_layout, palette

SYMBOLS = {
    OptionKind.KEEP: ("star", "keep"),
    OptionKind.CHANGE: ("diamond", "change"),
    OptionKind.ADD: ("circle", "add"),
    OptionKind.REPLACE: ("square", "replace"),
    OptionKind.MACHINE: ("pentagon", "machine"),
    OptionKind.RENT: ("triangle-up", "rent"),
    OptionKind.API: ("x", "API"),
}
"""Shape and word of each kind, so that nothing depends on colour alone."""


def _known(options: Sequence[Option]) -> list[tuple[Option, float, float]]:
    """Options with a cost above zero and a speed, as logarithmic axes require."""
    unit = shown_currency().usd
    return [
        (option, option.monthly / unit, option.speed.decode)
        for option in options
        if option.speed is not None and option.monthly
    ]


def _front(rows: Sequence[tuple[Option, float, float]]) -> list[bool]:
    cost = np.array([monthly for _, monthly, _ in rows])
    speed = np.array([decode for _, _, decode in rows])
    return [bool(is_front) for is_front in on_front(cost, speed)]


def cost_against_speed(options: Sequence[Option]) -> Figure:
    """Chart with a shape per kind of option and a line along the front."""
    look, rows, paid = palette(), _known(options), shown_currency()
    front = sorted(
        (monthly, decode) for (_, monthly, decode), on in zip(rows, _front(rows), strict=True) if on
    )
    line = {
        "type": "scatter", "mode": "lines", "name": "front", "hoverinfo": "skip",
        "x": [monthly for monthly, _ in front], "y": [decode for _, decode in front],
        "line": {"color": look.soft, "dash": "dot", "width": 1.5, "shape": "hv"},
    }  # fmt: skip
    kinds = [_points(look, rows, kind, at) for at, kind in enumerate(OptionKind)]
    layout = line_layout(look, height=380)
    layout |= {"showlegend": True, "legend": {"orientation": "h", "y": -0.22}}
    layout["xaxis"] |= {"type": "log", "title": {"text": f"{paid.code} a month"}}
    layout["xaxis"]["tickprefix"] = paid.sign
    layout["yaxis"] |= {"type": "log", "title": {"text": "tokens/s"}}
    return {"data": [line, *(kind for kind in kinds if kind["x"])], "layout": layout}


def _points(
    look: Palette, rows: Sequence[tuple[Option, float, float]], kind: OptionKind, at: int
) -> Figure:
    own = [row for row in rows if row[0].kind is kind]
    symbol, word = SYMBOLS[kind]
    size = 15 if kind is OptionKind.KEEP else 8
    return {
        "type": "scatter", "mode": "markers", "name": word,
        "x": [monthly for _, monthly, _ in own], "y": [decode for _, _, decode in own],
        "text": [option.name for option, _, _ in own],
        "marker": {"symbol": symbol, "size": size, "color": look.series[at % 7]},
        "hovertemplate": f"%{{text}}: %{{y:.3g}} tokens/s, {shown_currency().sign}%{{x:,.2f}} a "
        "month<extra></extra>",
    }  # fmt: skip


def words(options: Sequence[Option]) -> str:
    """Front in words, as the alternative text."""
    rows, unit = _known(options), shown_currency().usd
    on = [row for row, front in zip(rows, _front(rows), strict=True) if front]
    return "Nothing beats in both: " + "; ".join(
        f"{option.name}, {tokens_per_second(decode)} for {money(monthly * unit)} a month"
        for option, monthly, decode in sorted(on, key=lambda row: row[1])
        if math.isfinite(monthly)
    )
