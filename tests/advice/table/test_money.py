"""Money by hand. A month has 365.25 / 12 = 30.4375 days and 730.5 hours."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.advice.table import cost as money
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.request.money import MoneyInputs

AMOUNT = st.floats(min_value=0.01, max_value=1e6)


def test_rent_around_the_clock() -> None:
    # 2 USD x 24 h x 30.4375 days = 1,461 USD
    assert money.monthly_rent(2.0) == pytest.approx(1461)


def test_rent_for_working_hours() -> None:
    # 0.40 USD x 8 h x 30.4375 days = 97.40 USD
    assert money.monthly_rent(0.4, 8) == pytest.approx(97.4)


def test_a_purchase_is_spread() -> None:
    use = money.Use(work=Workload(), money=MoneyInputs(purchase_months=36))
    assert use.spread(1800) == 50


@pytest.mark.parametrize("months", [0, -1])
def test_a_purchase_over_no_time(months) -> None:
    with pytest.raises(InputError, match="Months of use"):
        MoneyInputs(purchase_months=months)


def test_power() -> None:
    # 450 W for 100 h are 45 kWh, at 0.20 USD each 9 USD
    assert money.monthly_energy(450, 100, 0.2) == pytest.approx(9)


def test_hours_of_waiting() -> None:
    # 60 s x 40 replies x 30.4375 days = 73,050 s = 20.29 h
    assert money.monthly_hours(60, 40) == pytest.approx(20.2917, abs=1e-4)


def test_the_worth_of_an_hour_from_which_an_upgrade_pays() -> None:
    assert money.worth_per_hour(97.4, 20) == pytest.approx(4.87)


@pytest.mark.parametrize("saved", [0, -3])
def test_nothing_saved_never_pays(saved: float) -> None:
    assert money.worth_per_hour(100, saved) == math.inf


def test_tokens_to_break_even() -> None:
    # From 5 to 20 tokens/s a token saves 0.2 - 0.05 = 0.15 s; at 24 USD an hour that is worth
    # 0.15 / 3600 x 24 = 0.001 USD, so 120 USD are paid by 120,000 tokens.
    assert money.break_even_tokens(120, 5, 20, 24) == pytest.approx(120_000)


@pytest.mark.parametrize(("slow", "fast", "hour"), [(20, 20, 24), (20, 5, 24), (5, 20, 0)])
def test_an_option_without_savings_never_breaks_even(slow: float, fast: float, hour: float) -> None:
    assert money.break_even_tokens(120, slow, fast, hour) == math.inf


def test_share_of_the_month() -> None:
    assert money.busy_share(73.05) == pytest.approx(0.1)


def test_arrays_answer_point_by_point() -> None:
    assert money.worth_per_hour(100.0, np.array([0, 10, 20])) == pytest.approx([np.inf, 10, 5])
    assert money.monthly_rent(np.array([1.0, 2.0])) == pytest.approx([730.5, 1461])
    both = money.break_even_tokens(np.array([120.0, 240.0]), 5, 20, 24)
    assert both == pytest.approx([120_000, 240_000])


@given(cost=AMOUNT, slow=AMOUNT, faster=st.floats(min_value=1.01, max_value=100), hour=AMOUNT)
def test_at_break_even_both_machines_cost_alike(cost, slow, faster, hour) -> None:
    tokens = money.break_even_tokens(cost, slow, slow * faster, hour)
    here, there = (tokens / tps / 3600 * hour for tps in (slow, slow * faster))
    assert here == pytest.approx(cost + there, rel=1e-6)


@given(cost=AMOUNT, saved=AMOUNT)
def test_at_its_worth_an_hour_pays_the_cost(cost: float, saved: float) -> None:
    assert money.worth_per_hour(cost, saved) * saved == pytest.approx(cost)
