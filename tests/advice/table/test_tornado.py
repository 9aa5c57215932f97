"""Bars of a tornado by hand."""

import pytest

from advisor.advice.table.turning import tornado
from advisor.cost_model.uncertainty import Range

SPEED = Range(value=10, low=8, high=12.5)


def test_bars_of_a_tornado_are_the_outcome_at_both_ends_the_widest_first() -> None:
    # 100 / speed - price at speed 8 and 12.5, price 3 and 4: 10 - 3.5, ... at the other's value
    inputs = {"price": Range(value=3.5, low=3, high=4), "speed": SPEED}
    bars = tornado(inputs, lambda at: 100 / at["speed"] - at["price"])
    assert [bar.name for bar in bars] == ["speed", "price"]
    assert (bars[0].low, bars[0].high) == pytest.approx((12.5 - 3.5, 8 - 3.5))
    assert (bars[1].low, bars[1].high) == pytest.approx((7, 6))
    assert bars[1].swing == pytest.approx(1)
