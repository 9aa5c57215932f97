"""Chart of speed against monthly cost, with the Pareto front marked."""

from collections.abc import Sequence

from advisor.advice.finder.search import Hit
from advisor.formatting import money, number, shown_currency, tokens_per_second
from advisor.ui.parts.points import Point, PointChart, PointGroup

SHAPES = {"bought": "circle", "rented": "triangle"}
"""Shapes of bought and rented machines, so that nothing depends on colour alone."""
UNDATED = "without a dated price"
"""Group of machines whose price has no date, so that they are not on the front."""


def cost_against_speed(hits: Sequence[Hit], front: Sequence[Hit]) -> PointChart:
    """Machines with a price, and a line along the front."""
    paid = shown_currency()
    return PointChart(
        alt=words(front),
        groups=_groups(hits),
        x_label=f"{paid.code} a month",
        y_label="tokens/s",
        x_sign=paid.sign,
        stairs=[((hit.monthly or 0.0) / paid.usd, hit.speed.decode) for hit in front],
        height=340,
    )


def _groups(hits: Sequence[Hit]) -> list[PointGroup]:
    priced = [hit for hit in hits if hit.monthly]
    groups = [
        _group(offer, shape, at, [hit for hit in priced if hit.offer == offer and hit.may_win])
        for at, (offer, shape) in enumerate(SHAPES.items())
    ]
    undated = [hit for hit in priced if not hit.may_win]
    return [*groups, _group(UNDATED, "cross", len(groups), undated)] if undated else groups


def _group(name: str, shape: str, colour: int, hits: Sequence[Hit]) -> PointGroup:
    points = [
        Point(
            x=(hit.monthly or 0.0) / shown_currency().usd,
            y=hit.speed.decode,
            tip=f"{hit.title}, {hit.speed.format}: {number(hit.speed.decode, 3)} tokens/s, "
            f"{hit.offer} for {money(hit.monthly or 0.0)} a month"
            f"{f', {hit.aged}' if hit.aged else ''}",
        )
        for hit in hits
    ]
    return PointGroup(name=name, shape=shape, colour=colour, points=points)


def words(front: Sequence[Hit]) -> str:
    """Front in words, as the alternative text."""
    return "Nothing beats in both: " + "; ".join(
        f"{hit.title} {hit.offer}, {tokens_per_second(hit.speed.decode)} for "
        f"{money(hit.monthly or 0.0)} a month{f', {hit.aged}' if hit.aged else ''}"
        for hit in front
    )
