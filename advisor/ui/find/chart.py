"""Chart of speed against monthly cost, with the Pareto front marked."""

from collections.abc import Sequence

from advisor.advice.finder.target import Hit
from advisor.formatting import money, shown_currency, tokens_per_second
from advisor.ui.parts.plot import Figure, line_layout, palette

SHAPES = {"bought": "circle", "rented": "triangle-up"}
"""Shapes of bought and rented machines, so that nothing depends on colour alone."""


def cost_against_speed(hits: Sequence[Hit], front: Sequence[Hit]) -> Figure:
    """Machines with a price, and a line along the front."""
    look, unit, sign = palette(), shown_currency().usd, shown_currency().sign
    priced = [hit for hit in hits if hit.monthly]
    line = {
        "type": "scatter", "mode": "lines", "name": "front", "hoverinfo": "skip",
        "x": [(hit.monthly or 0.0) / unit for hit in front],
        "y": [hit.speed.decode for hit in front],
        "line": {"color": look.ink, "dash": "dot", "width": 1.5, "shape": "hv"},
    }  # fmt: skip
    points = [
        {
            "type": "scatter", "mode": "markers", "name": offer,
            "x": [(hit.monthly or 0.0) / unit for hit in priced if hit.offer == offer],
            "y": [hit.speed.decode for hit in priced if hit.offer == offer],
            "text": [f"{hit.title}, {hit.speed.format}" for hit in priced if hit.offer == offer],
            "marker": {"symbol": shape, "size": 8, "color": look.series[at], "opacity": 0.75},
            "hovertemplate": f"%{{text}}: %{{y:.3g}} tokens/s, {sign}%{{x:,.2f}} a month"
            "<extra></extra>",
        }
        for at, (offer, shape) in enumerate(SHAPES.items())
    ]  # fmt: skip
    layout = line_layout(look, height=420)
    layout |= {"showlegend": True, "legend": {"orientation": "h", "y": -0.2}}
    layout["xaxis"] |= {
        "type": "log", "title": {"text": f"{shown_currency().code} a month"}, "tickprefix": sign,
    }  # fmt: skip
    layout["yaxis"] |= {"type": "log", "title": {"text": "tokens/s"}}
    return {"data": [line, *points], "layout": layout}


def words(front: Sequence[Hit]) -> str:
    """Front in words, as the alternative text."""
    return "Nothing beats in both: " + "; ".join(
        f"{hit.title} {hit.offer}, {tokens_per_second(hit.speed.decode)} for "
        f"{money(hit.monthly or 0.0)} a month"
        for hit in front
    )
