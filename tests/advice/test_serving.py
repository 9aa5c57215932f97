"""Machines that serve many users: by hand, beside an exhaustive search, and what must hold."""

from dataclasses import replace
from datetime import date
from functools import cache
from itertools import product

import pytest

from advisor.advice.prices.price import Price
from advisor.advice.serving import (
    Replicas,
    Servers,
    ServingFleet,
    Yours,
    cheapest_cover,
    cost,
    divided,
    lines,
    machines,
    servers_on_offer,
    serving_fleets,
)
from advisor.advice.table.cost import MonthlyCost
from advisor.advice.table.option import Question
from advisor.advice.table.rules import counts_in
from advisor.advice.table.timed_machines import VALUED
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.money import MoneyInputs, Ownership
from advisor.request.request import Request
from advisor.runtimes import VLLM


def question_of(users: int, **money: object) -> Question:
    return Question(
        model=catalog.model("Qwen3-32B", "FP8"),
        machine=machine(MachineSpec(gpu="L40S")),
        work=Workload(users=users, prompt=1000, output=200),
        runtimes=VALUED,
        money=MoneyInputs(**money),
        ownership=Ownership(),
        today=date(2026, 11, 22),
    )


@cache
def served(users: int) -> tuple[ServingFleet, ...]:
    question = question_of(users)
    return serving_fleets(question, Request())


def test_gpus_are_divided_among_copies_that_serve_most_by_hand() -> None:
    # A copy on 1, 2 or 4 GPUs serves 3, 8 or 14 users: 4 GPUs as 2 + 2 serve 16, 3 as 2 + 1 serve
    # 11, 8 as four times 2 serve 32.
    users = {1: 3, 2: 8, 4: 14, 8: 20}
    assert divided(4, users.__getitem__) == (16, (2, 2))
    assert divided(3, users.__getitem__) == (11, (2, 1))
    assert divided(8, users.__getitem__) == (32, (2, 2, 2, 2))
    # Where only 4 GPUs hold the model, 6 have two to spare; of equals, fewer copies.
    assert divided(6, lambda gpus: 5 if gpus == 4 else 0) == (5, (4,))
    assert divided(2, lambda gpus: 4 * gpus) == (8, (2,))
    assert divided(1, lambda _: 0) == (0, ())


def test_the_cheapest_cover_by_hand() -> None:
    # 10 users; a machine of 100 USD serves 7, one of 40 USD serves 2: 100 + 2 x 40 = 180 is less
    # than 2 x 100 = 200 and 5 x 40 = 200.
    assert cheapest_cover(10, [7, 2], [100.0, 40.0]) == [1, 2]


@pytest.mark.parametrize("users", [1, 5, 17, 40])
def test_the_cheapest_cover_is_that_of_every_combination(users: int) -> None:
    each = [13, 5, 2]
    costs = [90.0, 37.0, 16.0]
    chosen = cheapest_cover(users, each, costs)
    every = (
        sum(number * cost for number, cost in zip(numbers, costs, strict=True))
        for numbers in product(range(21), repeat=3)
        if sum(number * own for number, own in zip(numbers, each, strict=True)) >= users
    )
    assert sum(n * own for n, own in zip(chosen, each, strict=True)) >= users
    assert sum(n * cost for n, cost in zip(chosen, costs, strict=True)) == min(every)


def test_fleets_serve_all_users_cheapest_first_rented_and_built() -> None:
    fleets = served(40)
    assert all(fleet.users >= 40 for fleet in fleets)
    assert [fleet.compared for fleet in fleets] == sorted(fleet.compared for fleet in fleets)
    kinds = {part.kind for fleet in fleets for part in fleet.parts}
    assert kinds == {"rented", "built"}
    for fleet in fleets:
        for part in fleet.parts:
            assert sum(part.copies) <= part.count
            assert part.price.dated


def test_more_users_never_cost_less() -> None:
    assert served(4)[0].compared <= served(40)[0].compared


def test_no_bound_is_below_what_is_simulated() -> None:
    question = question_of(30)
    replicas = Replicas(question, Request())
    for gpu, gpus in (("L40S", 1), ("RTX 3090", 2), ("H100 SXM", 1), ("RTX 4090", 4)):
        assert replicas.bound(gpu, gpus) >= replicas.simulated(gpu, gpus)
        assert replicas.simulated(gpu, gpus) <= 30


def test_a_typed_rent_wins_by_hand() -> None:
    # 0.01 USD an hour for an L40S, 730.5 hours a month: 7.305 USD, whatever else there is.
    question = question_of(2, own_rent=(("L40S", 0.01),))
    fleets = serving_fleets(question, Request(user_tps=10.0), VLLM)
    assert fleets[0].monthly == pytest.approx(7.305)
    assert [part.name for part in fleets[0].parts] == ["L40S"]
    assert fleets[0].parts[0].runtime == "vLLM"


def test_hours_typed_for_a_rented_machine_count_for_all() -> None:
    # 8 hours on 7 days are 243.5 hours a month, a third of all hours.
    rented = [offer for offer in servers_on_offer(question_of(4)) if offer.kind == "rented"]
    typed = servers_on_offer(question_of(4, rented_hours_per_day=8.0))
    shorter = [offer for offer in typed if offer.kind == "rented"]
    for whole, part in zip(rented, shorter, strict=True):
        assert part.cost.total == pytest.approx(whole.cost.total / 3)


def test_nothing_serves_a_wish_beyond_every_machine() -> None:
    question = question_of(4)
    fleets = serving_fleets(question, Request(user_tps=9000.0))
    assert fleets == ()
    assert "lower the speed" in next(iter(lines(fleets)))


def test_words_have_machines_users_copies_and_the_age_of_prices() -> None:
    price = Price(usd=6000.0, date="2025-02", at_launch=6000.0, sources=("a",))
    part = Servers(
        gpu="RTX 5090",
        count=4,
        kind="built",
        cost=MonthlyCost(purchase=250.0),
        price=price,
        machines=3,
        copies=(2, 2),
        users_each=20,
        runtime="vLLM",
        format="FP8",
    )
    assert list(lines([ServingFleet(parts=(part,))])) == [
        "$750 a month, $18,000 at once (launch price of 2025-02): 3 machines with 4x RTX 5090, "
        "built (20 users each in vLLM, FP8, 2 copies on 2 + 2 GPUs)."
    ]


def test_doubt_about_a_speed_stands_in_the_money_by_hand() -> None:
    # 24 users, 8 each though predictions err: three machines; 12 each as predicted: two
    part = Servers(
        gpu="L4",
        count=1,
        kind="rented",
        cost=MonthlyCost(rent=100.0),
        machines=3,
        users_each=8,
        price=Price(typed=True),
        users_likely=12,
    )
    fleet = ServingFleet(parts=(part,))
    assert (fleet.monthly, fleet.monthly_low) == (300.0, 200.0)
    assert cost(fleet) == "$300 a month ($200 if speeds are as predicted)"
    sure = ServingFleet(parts=(replace(part, users_likely=8),))
    assert cost(sure) == "$300 a month"


def test_the_present_machine_counts_beside_others_by_hand() -> None:
    # 20 users: yours serves 12 for 3 USD, a machine of 100 USD the other 8
    part = Servers(
        gpu="L4",
        count=1,
        kind="rented",
        cost=MonthlyCost(rent=100.0),
        users_each=8,
        price=Price(typed=True),
        runtime="vLLM",
        format="AWQ",
    )
    fleet = ServingFleet(parts=(part,), yours=Yours(12, 3.0))
    assert (fleet.users, fleet.users_of_yours, fleet.monthly) == (20, 12, 103.0)
    assert machines(fleet).endswith("beside yours (12 users)")


def test_machines_beside_the_present_one_are_listed_where_they_cost_less() -> None:
    question = question_of(40)
    alone = served(40)
    every = serving_fleets(question, Request(), None, Yours(30, 1.0))
    beside = [fleet for fleet in every if fleet.users_of_yours]
    assert beside
    assert all(fleet.users >= 40 for fleet in every)
    assert max(fleet.compared for fleet in beside) < min(fleet.compared for fleet in alone)


def test_a_server_that_few_measured_is_not_counted_on() -> None:
    replicas = Replicas(question_of(4), Request())
    load = replicas.load("Arc Pro B60", 1)
    assert load is None or counts_in(load.estimate.machine, load.estimate.runtime.engine)
