"""Probability that one option is better than another, against closed forms."""

import math
from dataclasses import replace
from datetime import date

import pytest

from advisor.advice.prices.price import Price
from advisor.advice.speeds import Speed
from advisor.advice.table.cost import MonthlyCost
from advisor.advice.table.option import Option, OptionKind
from advisor.advice.table.question import Question
from advisor.advice.table.sensitivity import chance_ahead
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine import from_spec
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.money import MoneyInputs
from advisor.request.ownership import Ownership
from advisor.runtimes import LLAMA_CPP

MONEY = MoneyInputs(reading_tps=10.0)
QUESTION = Question(
    model=catalog.model("Llama-3.1-70B", "Q4_K_M"), machine=from_spec.machine(MachineSpec()),
    work=Workload(), runtimes=(LLAMA_CPP,), money=MONEY, ownership=Ownership(),
    today=date(2026, 11, 22),
)  # fmt: skip
SLOW = Speed(
    strategy=PlacementStrategy.CPU_OFFLOAD, format="Q4_K_M", decode=2, low=1.5, high=3,
    first_token=2, load=60,
)  # fmt: skip
FAST = replace(SLOW, decode=30, low=30, high=30)
KEPT = QUESTION.option(OptionKind.KEEP, "kept", SLOW, MonthlyCost())


def bought(monthly: float, day: str = "2026-11", listed: bool = False) -> Option:
    usd = 36 * monthly
    price = Price(usd=usd, date=day, sources=("a page",), at_launch=usd if listed else 0.0)
    cost = MonthlyCost(purchase=monthly)
    return QUESTION.option(OptionKind.REPLACE, "cards", FAST, cost, price, kept=KEPT)


def normal(z: float) -> float:
    return 0.5 * (1 + math.erf(z / math.sqrt(2)))


def test_two_prices_against_the_closed_form() -> None:
    # ln price is normal with ln(1.15) / 1.2816 and, where old, ln(1.4) / 1.2816 as its deviation:
    # P(100 < 120) = N(ln 1.2 / sqrt(0.10906^2 + 0.26255^2)) = N(0.6413) = 0.739
    deviation = math.hypot(math.log(1.15), math.log(1.4)) / 1.2815515655
    expected = normal(math.log(1.2) / deviation)
    assert expected == pytest.approx(0.739, abs=5e-4)
    ahead = chance_ahead(bought(100), bought(120, day="2025-01"), KEPT, MONEY)
    assert ahead == pytest.approx(expected, abs=0.02)  # 4,096 draws: 3 deviations are 0.0206


def test_equal_options_are_even_and_a_far_cheaper_one_is_certain() -> None:
    assert chance_ahead(bought(100), bought(100), KEPT, MONEY) == pytest.approx(0.5, abs=0.025)
    assert chance_ahead(bought(10), bought(1000), KEPT, MONEY) == 1.0
    assert chance_ahead(bought(1000), bought(10), KEPT, MONEY) == 0.0


def test_a_launch_price_counts_half_as_much_again() -> None:
    # 1.5 x 100 lies above 120, of which the deviation is 0.10906 sqrt(2): about N(-1.45)
    listed = chance_ahead(bought(100, listed=True), bought(120), KEPT, MONEY)
    street = chance_ahead(bought(100), bought(120), KEPT, MONEY)
    assert listed < 0.15 < 0.8 < street
