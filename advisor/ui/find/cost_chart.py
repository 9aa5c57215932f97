"""Chart of the page Machines: speed against the cost of a month."""

from collections.abc import Sequence

from advisor.advice.finder.search import Hit
from advisor.advice.table.option import Option
from advisor.formatting import money, shown_currency
from advisor.ui.parts.drawing import Point, PointChart
from advisor.units import number

UNDATED = "without a dated price"
"""Kind of machines whose price has no date, so that they are not on the front."""
YOURS = "yours"  # kind of the machine that one has
SHAPES = {"bought": "circle", "rented": "triangle", UNDATED: "cross", YOURS: "star"}


def cost_against_speed(hits: Sequence[Hit], owned: Option | None = None) -> PointChart:
    """Chart of machines with a price, with the best named, and of the owned machine."""
    paid = shown_currency()
    yours = []
    if owned is not None and owned.speed is not None and owned.monthly:
        tip = f"What you have: {number(owned.decode, 3)} tokens/s, {money(owned.monthly)} a month"
        yours = [
            Point(kind=YOURS, counts=False, x=owned.monthly / paid.usd, y=owned.decode, tip=tip)
        ]
    return PointChart(
        lead="Nothing beats in both",
        shapes=SHAPES,
        x_label=f"{paid.code} a month",
        y_label="tokens/s",
        x_sign=paid.sign,
        height=340,
        large=YOURS,
        points=[
            *yours,
            *(
                Point(
                    kind=hit.offer if hit.priced else UNDATED,
                    counts=hit.priced,
                    x=hit.monthly / paid.usd,
                    y=hit.decode,
                    tip=f"{hit.title}, {hit.speed.format}: {number(hit.decode, 3)} tokens/s, "
                    f"{hit.offer} for {money(hit.monthly)} a month{hit.aged}",
                    name=hit.title.partition(" (")[0],
                )
                for hit in hits
                if hit.monthly
            ),
        ],
    )
