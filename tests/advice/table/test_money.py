"""Money by hand. A month has 365.25 / 12 = 30.4375 days and 730.5 hours."""

import pytest

from advisor.advice.prices.power import PowerDraw
from advisor.advice.speeds import Speed
from advisor.advice.table import cost as money
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.request.money import MoneyInputs


def test_rent_around_the_clock() -> None:
    # 2 USD x 24 h x 30.4375 days = 1,461 USD
    use = money.Use(work=Workload(), money=MoneyInputs())
    assert use.rented_by_the_month(2.0).total == pytest.approx(1461)


def test_rent_for_working_hours() -> None:
    # 0.40 USD x 8 h x 30.4375 days = 97.40 USD, whatever the speed
    use = money.Use(work=Workload(), money=MoneyInputs(rented_hours_per_day=8))
    speed = Speed(
        strategy=PlacementStrategy.GPU_RESIDENT,
        format="",
        decode=9,
        low=8,
        high=10,
        first_token=1,
        load=None,
    )
    assert use.rented(0.4, speed).total == pytest.approx(97.4)


def test_a_purchase_is_spread() -> None:
    use = money.Use(work=Workload(), money=MoneyInputs(purchase_months=36))
    assert use.spread(1800) == 50


@pytest.mark.parametrize("months", [0, -1])
def test_a_purchase_over_no_time(months) -> None:
    with pytest.raises(InputError, match="Months of use"):
        MoneyInputs(purchase_months=months)


def test_power() -> None:
    # 450 W for 100 h are 45 kWh, at 0.20 USD each 9 USD
    use = money.Use(work=Workload(), money=MoneyInputs(usd_per_kwh=0.2))
    assert use.served(PowerDraw(idle=0, busy=450), 0.0, 100).total == pytest.approx(9)


def test_hours_of_waiting() -> None:
    # 60 s x 40 replies x 30.4375 days = 73,050 s = 20.29 h
    assert money.monthly_hours(60, 40) == pytest.approx(20.2917, abs=1e-4)
