"""Sentences of one answer agree with each other and with its table: the worth of an hour, a price
before and after a sale, the speed behind a purchase, the engine, what is free, what pays.
"""

import re
from dataclasses import replace
from functools import cache

import pytest

from advisor.advice.advise import answer
from advisor.advice.table.choice import is_bought
from advisor.advice.table.option import OptionKind
from advisor.advice.table.turning import of_an_hour, turning_points
from advisor.advice.words.phrases import (
    NOT_NEEDED,
    SAVES_LITTLE,
    in_engine,
    price_at_once,
    why_kept,
)
from advisor.advice.words.verdict import Advice
from advisor.cli.advise import advice_text
from advisor.request.request import Request
from advisor.runtimes import RUNTIMES
from advisor.units import number

OFFICE = {"texts": "house", "think": "off", "system": "linux"}
LAPTOP = {
    "model": "Qwen3.5-27B",
    "machine": "MacBook Air M4",
    "ram_gb": 24.0,
    "maker": "Apple",
    "user_tps": 15.0,
    "max_usd": 3500.0,
    "replies_per_day": 60.0,
    "prompt": 800,
    "output": 400,
    "texts": "house",
    "think": "off",
}
CONTRACTS = {
    "model": "Qwen3.5-27B",
    "machine": "Mac mini M4 Pro",
    "ram_gb": 48.0,
    "context": 45_000,
    "prompt": 40_000,
    "output": 600,
    "replies_per_day": 40.0,
    "days_per_week": 5.0,
    "texts": "house",
    "think": "off",
    "max_usd": 4000.0,
    "resale": 1300.0,
}
MORE_RAM = {
    "model": "gpt-oss-120b",
    "gpu": "RTX 5070",
    "cpu": "Ryzen 7 7700",
    "ram_gb": 32.0,
    "ram_mts": 5600.0,
    "system": "linux",
    "replies_per_day": 60.0,
    "prompt": 800,
    "output": 400,
    "texts": "house",
    "max_usd": 1000.0,
}
REPORTS = OFFICE | {
    "model": "GLM-4.5-Air",
    "gpu": "RTX 3090",
    "cpu": "Ryzen 9 7900",
    "ram_gb": 96.0,
    "ram_mts": 5600.0,
    "context": 32_768,
    "prompt": 30_000,
    "output": 500,
    "replies_per_day": 15.0,
    "max_usd": 6000.0,
}
SERVER = OFFICE | {
    "model": "Qwen3-235B-A22B",
    "gpu": "4x RTX 3090",
    "cpu": "EPYC 7532",
    "ram_gb": 256.0,
    "ram_mts": 3200.0,
    "ram_channels": 8,
    "replies_per_day": 80.0,
    "prompt": 1000,
    "output": 400,
    "max_usd": 20_000.0,
}
TEAM = OFFICE | {
    "model": "Qwen3-14B",
    "gpu": "RTX 4090",
    "cpu": "Ryzen 9 7950X",
    "ram_gb": 64.0,
    "runtime": "llama.cpp",
    "users": 30,
    "context": 2048,
    "prompt": 800,
    "output": 300,
    "user_tps": 15.0,
    "first_token_within": 3.0,
}
FIRM = OFFICE | {
    "model": "Qwen3-32B",
    "cards_owned": "nothing",
    "users": 40,
    "requests_per_hour": 600.0,
    "prompt": 1200,
    "output": 400,
    "context": 4096,
    "user_tps": 15.0,
    "first_token_within": 3.0,
    "days_per_week": 5.0,
}
DRAWER = OFFICE | {
    "model": "Mistral-Small-24B",
    "gpu": "RTX 3060 12GB",
    "cpu": "Ryzen 5 5600",
    "ram_gb": 32.0,
    "cards_owned": "2x RTX 3060 12GB",
    "replies_per_day": 60.0,
    "prompt": 600,
    "output": 350,
}


@cache
def _advised(asks: tuple[tuple[str, object], ...]) -> Advice:
    return answer(Request(**dict(asks)).nouns()).advice


def advised(asks: dict[str, object]) -> Advice:
    return _advised(tuple(asks.items()))


def test_an_hour_has_one_break_even_in_an_answer() -> None:
    advice = advised(LAPTOP)
    option = advice.choice.safe
    assert option is not None
    compared = advice.beside_free(option)
    # money of a month more than beside the free setting, over the hours that it saves beside it
    step = advice.case.step
    assert step is not None
    hours = step.hours_lost - option.hours_lost
    worth = (option.monthly - step.monthly) / hours
    assert compared.worth_from == pytest.approx(worth)
    (turn,) = (point for point in turning_points(compared) if point.name == "worth of an hour")
    assert turn.value == pytest.approx(worth, rel=1e-6)
    told = re.findall(
        r"(?:hour is worth|hour were worth) \w+ than (\$[\d.,]+\d)", str(advice.verdict)
    )
    told += re.findall(r"hour were worth less than (\$[\d.,]+\d)", advice.what_changes)
    assert told == [of_an_hour(worth)] * 2


def test_a_price_after_a_sale_stands_beside_the_price_before_it() -> None:
    advice = advised(CONTRACTS)
    option = advice.choice.safe
    assert option is not None
    # the owner's 1,300 dollars for the mini are taken off what the machine costs
    assert option.sold == pytest.approx(1300.0)
    assert option.full_price == pytest.approx(option.upfront + 1300.0)
    full, net = (f"${usd:,.0f}" for usd in (option.full_price, option.upfront))
    assert price_at_once(option).startswith(f"{full}, {net} once yours is sold")
    assert f"{full}, {net} with yours sold" in advice.summary.way
    assert f"{full} less $1,300 for yours, of $4,000" in advice.verdict
    for sentence in advice.verdict.split("\n"):
        assert net not in sentence or full in sentence


def test_nothing_is_taken_off_where_nothing_is_sold() -> None:
    advice = advised(CONTRACTS | {"resale": 0.0})
    for option in filter(is_bought, advice.options[1:]):
        assert option.sold == pytest.approx(0.0)
        assert "sold" not in price_at_once(option)


@pytest.mark.parametrize(
    "asks", [LAPTOP, CONTRACTS, MORE_RAM, REPORTS], ids=lambda asks: asks["model"]
)
def test_a_purchase_is_named_with_its_tokens_a_second(asks: dict[str, object]) -> None:
    advice = advised(asks)
    option = advice.decision.option
    assert option is not None
    assert is_bought(option)
    assert re.search(rf"\b{re.escape(number(option.decode))} tokens(/s| a second)", advice.verdict)


def test_more_ram_behind_a_free_model_is_told_with_its_speed() -> None:
    advice = advised(MORE_RAM)
    assert re.search(r"Then \d+ GB of RAM, \$\d+: \d+ tokens/s\.", advice.summary.way)


def test_a_free_setting_for_the_prompt_is_told_with_the_wait_that_it_leaves() -> None:
    advice = advised(REPORTS)
    step = advice.case.step
    assert step is not None
    minutes = number(step.speed.first_token / 60)
    assert f"Free first: prompts in parts of 2,048 tokens, begins after {minutes}" in advice.verdict
    assert "-ub" not in advice.verdict


def test_an_engine_that_answers_many_at_once_is_named_with_what_it_runs_on() -> None:
    batching = {each.name for each in RUNTIMES if each.at_once is not None}
    advice = advised(FIRM)
    option = advice.decision.option
    assert option is not None
    assert option.speed.runtime in batching
    assert f"to each of 40 users in {option.speed.runtime}, the first word" in advice.summary.way
    alone = replace(option, speed=replace(option.speed, runtime="llama.cpp"))
    assert in_engine(alone) == ""


@pytest.mark.parametrize(("asks", "words"), [(SERVER, SAVES_LITTLE), (TEAM, NOT_NEEDED)])
def test_the_table_says_why_a_purchase_that_pays_is_not_made(
    asks: dict[str, object], words: str
) -> None:
    given = answer(Request(**asks).nouns())
    advice = given.advice
    assert advice.decision.option is None
    assert why_kept(advice) == words
    paying = [each for each in advice.options[1:] if each.pays and is_bought(each)]
    assert paying
    table = advice_text(given, many=False)
    kinds = "|".join((OptionKind.ADD, OptionKind.REPLACE, OptionKind.MACHINE))
    rows = re.findall(rf"^(?:{kinds}) .+$", table, re.MULTILINE)
    assert any(f"  {words} (after" in row for row in rows)
    assert not any("  after " in row or row.endswith("  yes") for row in rows)


def test_where_something_is_bought_the_table_says_when_it_pays() -> None:
    assert why_kept(advised(LAPTOP)) == ""


def test_a_card_that_lies_idle_is_to_be_put_in() -> None:
    advice = advised(DRAWER)
    assert advice.summary.gives.startswith("Put in the RTX 3060 12GB that you own. With what you")
    assert "Put in" not in advised(DRAWER | {"cards_owned": "RTX 3060 12GB"}).verdict
    # a card that is asked about and not owned is none to be put in
    assert "Put in" not in advised(DRAWER | {"cards_owned": "RTX 4090"}).verdict


def test_a_chosen_engine_without_a_queue_is_no_lack_of_memory() -> None:
    given = answer(Request(**TEAM).nouns())
    assert "llama.cpp has no queue of requests" in advice_text(given, many=True)
    assert "fits in the GPUs here in no runtime" not in advice_text(given, many=True)


def test_the_wait_of_a_team_is_told_in_short_where_the_line_is_full() -> None:
    asks = TEAM | {"model": "gpt-oss-120b", "gpu": "RTX 3090", "ram_gb": 128.0, "context": 4096}
    del asks["runtime"], asks["think"]
    advice = advised(asks | {"max_usd": 20_000.0})
    option = advice.decision.option
    assert option is not None
    assert is_bought(option)
    assert re.search(r"to each(?: of 30 users)? in \w+, the first word after", advice.summary.way)


@pytest.mark.parametrize("asks", [LAPTOP, CONTRACTS, REPORTS, SERVER, FIRM, DRAWER])
def test_no_flag_stands_in_the_two_lines_of_a_verdict(asks: dict[str, object]) -> None:
    summary = advised(asks).summary
    for line in (summary.gives, summary.way, *summary.purchases):
        assert not re.search(r"(?<![\w-])--?[a-z][a-z-]*\b", line)
