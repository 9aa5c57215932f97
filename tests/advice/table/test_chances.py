"""Draws against closed forms, and bars of a tornado by hand."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from advisor.advice.table.sensitivity import NINETY_PERCENT_POINT, Uncertain, chance, draws, tornado

SPEED = Uncertain(value=10, low=8, high=12.5)


def test_the_interval_holds_four_draws_in_five() -> None:
    assert NormalDist().inv_cdf(0.9) == pytest.approx(NINETY_PERCENT_POINT, abs=1e-12)
    values = draws({"speed": SPEED}, count=200_000)["speed"]
    inside = np.mean((values >= SPEED.low) & (values <= SPEED.high))
    # the standard error of a share of 0.8 in 200,000 draws is 0.0009
    assert inside == pytest.approx(0.8, abs=0.005)
    assert np.median(values) == pytest.approx(10, rel=0.005)


def test_a_chance_is_that_of_the_closed_form() -> None:
    # 30 USD x 20 h / speed exceed 55 USD where speed is below 600 / 55 = 10.909:
    # P = Phi( ln(10.909 / 10) / sigma ), sigma = ln(12.5 / 8) / 2.5631
    sigma = math.log(12.5 / 8) / 2.5631031310892007
    exact = NormalDist().cdf(math.log(600 / 55 / 10) / sigma)
    number = chance({"speed": SPEED}, lambda at: 600 / at["speed"] - 55, count=200_000)
    assert number == pytest.approx(exact, abs=0.005)


def test_two_inputs_are_drawn_apart() -> None:
    # the ratio of two alike is log-normal with sqrt(2) sigma: P(a / b > 1.2) = 1 - Phi(ln 1.2 / s)
    sigma = math.sqrt(2) * math.log(12.5 / 8) / 2.5631031310892007
    exact = 1 - NormalDist().cdf(math.log(1.2) / sigma)
    pair = {"a": SPEED, "b": SPEED}
    number = chance(pair, lambda at: at["a"] / at["b"] - 1.2, count=200_000)
    assert number == pytest.approx(exact, abs=0.005)


def test_the_same_question_has_the_same_answer() -> None:
    first, again = (draws({"speed": SPEED}, count=10, seed=3)["speed"] for _ in range(2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != draws({"speed": SPEED}, count=10, seed=4)["speed"].tolist()


def test_a_certain_number_stays_what_it_is() -> None:
    assert set(draws({"price": Uncertain(value=5, low=5, high=5)})["price"]) == {5.0}


def test_bars_of_a_tornado_are_the_outcome_at_both_ends_the_widest_first() -> None:
    # 100 / speed - price at speed 8 and 12.5, price 3 and 4: 10 - 3.5, ... at the other's value
    inputs = {"price": Uncertain(value=3.5, low=3, high=4), "speed": SPEED}
    bars = tornado(inputs, lambda at: 100 / at["speed"] - at["price"])
    assert [bar.name for bar in bars] == ["speed", "price"]
    assert (bars[0].low, bars[0].high) == pytest.approx((12.5 - 3.5, 8 - 3.5))
    assert (bars[1].low, bars[1].high) == pytest.approx((7, 6))
    assert bars[1].swing == pytest.approx(1)
