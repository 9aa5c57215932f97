"""Words on money that somebody states: a price of a card, an API, a budget."""

from dataclasses import replace

import pytest

from advisor.advice.advise import answer
from advisor.advice.table.option import OptionKind
from advisor.advice.table.rules import card_rules, unpowered
from advisor.advice.words.phrases import price_at_once, stated_price
from advisor.request.request import Request

CARD = Request(
    model="Qwen3.6-27B",
    format="Q6_K",
    gpu="RTX 4060 Ti 16GB",
    cpu="Ryzen 9 7950X",
    ram_gb=64.0,
    own_price=(("RTX 5090", 3600.0),),
)
API = Request(
    model="Qwen3.6-27B",
    cards_owned="nothing",
    texts="anywhere",
    api_usd_in=0.15,
    api_usd_out=1.0,
    api_tps=80.0,
    also=("RTX 5090",),
)


def test_a_stated_price_stands_beside_the_sum_that_parts_make_of_it() -> None:
    options = answer(CARD.nouns()).advice.options
    into_mine = (OptionKind.ADD, OptionKind.REPLACE)
    bought = [
        option
        for option in options
        if option.kind in into_mine and [gpu.name for gpu in option.bought] == ["RTX 5090"]
    ]
    assert bought
    for option in bought:
        assert option.price.stated == pytest.approx(3600.0)
        assert price_at_once(option).endswith(", at your price of $3,600")
    others = [option for option in options if option.price.stated is None]
    assert {stated_price(option) for option in others} == {""}
    alone = replace(bought[0], price=replace(bought[0].price, stated=bought[0].upfront))
    assert stated_price(alone) == ""


def test_ones_own_api_is_called_ones_own_and_is_the_reason_against_a_purchase() -> None:
    words = answer(API.nouns()).advice.verdict
    assert "Your API answers for $" in words
    assert "Your API by" not in words
    assert "An API does it for $" in words


def test_a_budget_buys_nothing_beside_a_free_step_that_is_enough() -> None:
    stated = Request(
        model="Qwen3.5-9B",
        gpu="RTX 3060 12GB",
        cpu="Ryzen 5 3600",
        ram_gb=32.0,
        gpu_layers=16,
        think="off",
        reading_tps=30.0,
        max_usd=800.0,
    )
    advice = answer(stated.nouns()).advice
    assert "A free change gives" in advice.summary.way
    assert "Within $800" not in advice.summary.way


def test_no_drawback_is_a_supply_that_cannot_power_the_card() -> None:
    (sentence,) = {row.sentence for row in card_rules() if row.rule == "office supply"}
    assert unpowered((sentence,))
    assert not unpowered(("A third card hangs on a riser beside the case.",))
    team = Request(
        model="Gemma-4-26B-A4B",
        machine="office PC i5-10400",
        ram_gb=16.0,
        users=2,
        replies_per_day=150.0,
        max_usd=2500.0,
    )
    assert sentence not in answer(team.nouns()).advice.verdict
