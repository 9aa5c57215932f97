"""Demand: what users at the same time and requests at random times want of an option."""

import re
from dataclasses import replace

import pytest

from advisor.advice.advise import answer
from advisor.advice.table.demand import Crowd, Demand, demand_of
from advisor.advice.table.option import Option
from advisor.request import texts
from advisor.request.money import MoneyInputs
from advisor.request.request import Request
from advisor.request.wants import Wants

SERVER = {"machine": "RTX 4090, Ryzen 9 7950X, 64 GB DDR5", "model": "Qwen3-8B", "think": "off"}


def demanded(**wants: object) -> Demand:
    """Demand of sixteen users with some wants."""
    return demand_of(16.0, MoneyInputs(reading_tps=6.0), Wants(**wants))


def at_sixteen(decode: float, first_token: float) -> Option:
    """An option that answers sixteen users at the same time."""
    kept = answer(Request(**SERVER, users=16).nouns()).advice.options[0]
    assert kept.speed is not None
    speed = replace(kept.speed, decode=decode, low=decode, first_token=first_token, waiting=0.0)
    return replace(kept, speed=speed)


def test_the_first_word_of_requests_at_random_times_by_hand() -> None:
    # sixteen prompts take 32 s, one 2 s; 900 an hour are 0.5 of the time: 2 (1 + 0.5 / (2 x 0.5))
    assert demanded(requests_per_hour=900.0).first_word(at_sixteen(20.0, 32.0)) == pytest.approx(
        3.0
    )
    # 1,800 an hour are all of the time, so all wait for all
    assert demanded(requests_per_hour=1800.0).first_word(at_sixteen(20.0, 32.0)) == 32.0


@pytest.mark.parametrize(
    ("wants", "lacks"),
    [
        ({}, []),
        ({"user_tps": 19.0}, []),
        ({"user_tps": 21.0}, ["is too slow for each"]),
        ({"first_token_within": 1.0}, ["begins too late"]),
        (
            {"first_token_within": 1.0, "user_tps": 21.0},
            ["is too slow for each", "begins too late"],
        ),
    ],
)
def test_limits_of_a_user_bind_requests_at_random_times(
    wants: dict[str, float], lacks: list[str]
) -> None:
    # ten requests an hour wait for nobody: the first word comes after 32 / 16 = 2 s
    demand = demanded(requests_per_hour=10.0, **wants)
    assert list(demand.unmet_by(at_sixteen(20.0, 32.0))) == lacks


def test_slower_than_reading_serves_nobody() -> None:
    demand = demanded(requests_per_hour=10.0)
    assert list(demand.unmet_by(at_sixteen(3.3, 32.0))) == ["is too slow for each"]


def test_the_verdict_says_speed_and_first_word_of_requests() -> None:
    verdict = answer(Request(**SERVER, users=16, requests_per_hour=60).nouns()).advice.verdict
    assert "tokens a second to each of 16 users" in verdict
    assert re.search(r"the first word after [\d.]+ seconds at 60 requests an hour", verdict)


def test_a_limit_that_equals_the_usual_one_binds() -> None:
    stated = Request(model="Qwen3-8B", gpu="RTX 3090", user_tps=20.0, first_token_within=2.0)
    wants = stated.nouns().wants
    assert (wants.user_tps, wants.first_token_within) == (20.0, 2.0)
    open_one = Request(model="Qwen3-8B", gpu="RTX 3090")
    assert open_one.nouns().wants.user_tps is None
    assert (open_one.served_tps, open_one.served_within) == (20.0, 2.0)


def test_users_and_how_often_they_ask_bind_together() -> None:
    """Sixteen at once need their speed, and 2,000 prompts of 2 s an hour are more than an hour."""
    assert demanded(requests_per_hour=10.0).crowd is Crowd.TEAM
    assert demanded().crowd is Crowd.TEAM
    assert demand_of(1.0, MoneyInputs(), Wants(requests_per_hour=10.0)).crowd is Crowd.RATE
    often = demanded(requests_per_hour=2000.0)
    assert "cannot keep up" in list(often.unmet_by(at_sixteen(20.0, 32.0)))


def test_a_day_of_a_team_is_that_of_each_user() -> None:
    """Forty answers of each of 25 are a thousand; what is stated is for all."""
    team = Request(model="Qwen3-8B", gpu="RTX 3090", users=25)
    assert team.nouns().money.replies_per_day == 25 * 40
    assert replace(team, replies_per_day=90.0).nouns().money.replies_per_day == 90
    assert replace(team, users=1).nouns().money.replies_per_day == MoneyInputs.replies_per_day
    opened = texts.from_address({"model": "Qwen3-8B", "users": "25", "v": "2026-10"})
    assert opened.request.nouns().money.replies_per_day == 40


@pytest.mark.parametrize(
    ("prompt", "seconds"),
    [(512.0, 2.0), (2048.0, 2.0), (3072.0, 3.0), (6144.0, 6.0), (50_000.0, 6.0)],
)
def test_servers_begin_later_with_longer_prompts(prompt: float, seconds: float) -> None:
    # 2 s for 2,048 tokens, as many more for longer ones, 6 s for long documents
    assert Request(**SERVER, prompt=prompt).served_within == seconds
    assert demand_of(16.0, MoneyInputs(), Wants(), prompt).as_wished.wants.first_token_within == (
        seconds
    )
    stated = Wants(first_token_within=1.0)
    assert demand_of(16.0, MoneyInputs(), stated, prompt).as_wished.wants.first_token_within == 1.0
