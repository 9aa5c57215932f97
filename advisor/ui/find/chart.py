"""Chart of speed against monthly cost, with the Pareto front marked."""

from collections.abc import Sequence

from advisor.advice.finder.target import Hit
from advisor.formatting import money, number, shown_currency, tokens_per_second
from advisor.ui.parts.points import Point, PointChart, PointGroup

SHAPES = {"bought": "circle", "rented": "triangle"}
"""Shapes of bought and rented machines, so that nothing depends on colour alone."""


def cost_against_speed(hits: Sequence[Hit], front: Sequence[Hit]) -> PointChart:
    """Machines with a price, and a line along the front."""
    paid = shown_currency()
    return PointChart(
        alt=words(front),
        groups=[_group(hits, offer, at) for at, offer in enumerate(SHAPES)],
        x_label=f"{paid.code} a month",
        y_label="tokens/s",
        x_sign=paid.sign,
        stairs=[((hit.monthly or 0.0) / paid.usd, hit.speed.decode) for hit in front],
        height=340,
    )


def _group(hits: Sequence[Hit], offer: str, colour: int) -> PointGroup:
    points = [
        Point(
            x=hit.monthly / shown_currency().usd,
            y=hit.speed.decode,
            tip=f"{hit.title}, {hit.speed.format}: {number(hit.speed.decode, 3)} tokens/s, "
            f"{money(hit.monthly)} a month{f', {hit.aged}' if hit.aged else ''}",
        )
        for hit in hits
        if hit.monthly and hit.offer == offer
    ]
    return PointGroup(name=offer, shape=SHAPES[offer], colour=colour, points=points)


def words(front: Sequence[Hit]) -> str:
    """Front in words, as the alternative text."""
    return "Nothing beats in both: " + "; ".join(
        f"{hit.title} {hit.offer}, {tokens_per_second(hit.speed.decode)} for "
        f"{money(hit.monthly or 0.0)} a month{f', {hit.aged}' if hit.aged else ''}"
        for hit in front
    )
