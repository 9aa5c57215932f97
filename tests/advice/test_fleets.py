"""Teams: the cheapest machines that serve all of them are the safe choice."""

from functools import cache

import numpy as np
import pytest

from advisor.advice.advise import answer
from advisor.advice.arrivals.load import load_on
from advisor.advice.arrivals.server import of_users, simulate
from advisor.advice.serving import serving_fleets
from advisor.advice.speeds import of_numbers
from advisor.advice.table.demand import first_word_of, mean_first_word
from advisor.advice.table.option import OptionKind
from advisor.cost_model.placement import PlacementStrategy
from advisor.request.request import Request


@cache
def advice_for(**words):
    return answer(Request(**words).nouns()).advice


def waits(users: float, output: float, decode: float, all_prompts: float) -> float:
    numbers = (decode, decode, decode, all_prompts, 1.0, 0.0)
    speed = of_numbers(PlacementStrategy.GPU_RESIDENT, "vLLM", "AWQ", numbers)
    return mean_first_word(speed, users, output)


def test_two_users_wait_by_hand() -> None:
    """Prompts of a second, replies of a second: alone a user is read half of the time, so the other
    meets half a prompt in the queue, of which half of what is read is done: 1 + 1/2 - 1/4 s.
    """
    assert waits(2, 10, 10.0, 2.0) == pytest.approx(1.25)


def test_where_reading_takes_all_the_time_prompts_wait_for_the_others() -> None:
    """Ten prompts of a second each and a reply of a second: each waits for nearly all others."""
    assert 8.0 < waits(10, 10, 10.0, 10.0) <= 10.0


def test_one_user_waits_for_nobody() -> None:
    assert waits(1, 990, 10.0, 1.0) == pytest.approx(1.0)


def test_more_users_wait_no_less() -> None:
    """Each adds a prompt of a second."""
    rows = [waits(users, 190, 10.0, float(users)) for users in (1, 2, 5, 10, 20, 40)]
    assert rows == sorted(rows)


def test_the_mean_wait_is_near_that_of_simulated_requests() -> None:
    """Little is read beside much writing, so that one barely slows the other."""
    request = Request(model="Qwen3-32B", gpu="RTX 4090", users=12)
    best = answer(request.nouns()).advice.best
    load = load_on([best], request)
    served = simulate(load.server, of_users(12, 120, load.lengths))
    assert first_word_of(best) == pytest.approx(float(np.mean(served.waits[12:])), rel=0.3)


def test_sixty_users_get_what_serves_them_at_the_speed_and_wait_of_servers() -> None:
    advice = advice_for(model="Qwen3-32B", machine="RTX 4090 64gb", users=60)
    safe = advice.choice.safe
    assert advice.decision.rule == "serves all"
    assert advice.case.demand.as_wished.met_by(safe)
    assert safe.speed.low >= 6.0
    assert safe.decode >= 20.0


def test_what_no_machine_alone_serves_is_a_fleet() -> None:
    """200 users of a 70B with 2,256 tokens each hold 148 GB of cache beside 40 GB of weights."""
    words = {"model": "Llama-3.1-70B", "machine": "2x 3090", "users": 200, "prompt": 2000}
    advice = advice_for(**words)
    safe = advice.choice.safe
    assert safe.name.startswith(f"{safe.name.split()[0]} machines with ")
    assert "a month" in advice.summary.way
    assert not safe.speed.waiting


def test_texts_that_stay_rent_nothing() -> None:
    words = {"model": "Llama-3.1-70B", "machine": "2x 3090", "users": 200, "texts": "house"}
    safe = advice_for(**words).choice.safe
    assert safe is None or safe.kind is not OptionKind.RENT
    nouns = Request(**words).nouns()
    fleets = serving_fleets(advice_for(**words).question, nouns.request)
    assert {part.kind for fleet in fleets for part in fleet.parts} <= {"built"}


def test_with_nothing_owned_the_sentence_names_a_machine() -> None:
    words = {"model": "Qwen3-32B", "cards_owned": "nothing", "users": 30, "runtime": "vLLM"}
    advice = advice_for(**words)
    assert "would give" not in advice.verdict
    assert "30 users" in advice.summary.way


def test_a_team_that_reads_along_buys_nothing() -> None:
    advice = advice_for(model="Qwen3-8B", machine="RTX 5090 64gb", users=4)
    assert advice.case.fleets is None
    assert advice.choice.safe is None


def test_a_fleet_says_what_it_is_assumed_to_be() -> None:
    choice = advice_for(model="Llama-3.1-70B", machine="2x 3090", users=200, prompt=2000).choice
    assert "Machines of one kind in one engine share the users evenly" in choice.reason
    assert "mixture of kinds" in choice.reason


def test_whoever_owns_what_a_team_is_told_to_buy_has_enough() -> None:
    words = {
        "model": "Qwen3-32B", "users": 8, "user_tps": 15.0, "first_token_within": 5.0,
        "prompt": 3000, "output": 500, "context": 8192, "replies_per_day": 600.0,
        "days_per_week": 5.0, "think": "off", "texts": "house",
    }  # fmt: skip
    nothing = advice_for(**words, cards_owned="nothing")
    safe = nothing.choice.safe
    assert safe is not None
    cards = safe.name.removeprefix("New desktop with ")
    owned = advice_for(**words, gpu=cards, ram_gb=64.0)
    assert owned.choice.safe is None
    assert owned.case.demand.met_by(owned.options[0])
    assert "to each of 8 users" in owned.summary.gives
