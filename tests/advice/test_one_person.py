"""What one person is told who states a budget, a house, a maker: what is bought, where the model
then lies, and which limits that keeps.
"""

import re

import pytest

from advisor.advice.advise import answer
from advisor.advice.edits.in_tiers import SAME_MODEL
from advisor.advice.table.choice import is_bought, reads_drive
from advisor.advice.table.option import OptionKind
from advisor.advice.table.rules import of_makers
from advisor.errors import UnknownName
from advisor.formatting import Currency, in_shown_currency, money_shown_in
from advisor.request.request import Request

GAMER = Request(
    model="gpt-oss-120b",
    gpu="RTX 5070 Ti",
    cpu="Ryzen 9 7900",
    ram_gb=32.0,
    prompt=2000,
    output=600,
    replies_per_day=40.0,
    texts="house",
    max_usd=1200.0,
)


def advised(request: Request = GAMER, **changed):
    return answer(Request(**{**request.stated(), **changed}).nouns()).advice


def test_ram_is_bought_that_holds_what_is_read_from_the_drive_now() -> None:
    """63 GB of weights against 16 of the card and 32 of RAM."""
    advice = advised()
    bought = advice.decision.option
    assert reads_drive(advice.options[0])
    assert bought.kind is OptionKind.CHANGE
    assert bought.name.startswith("64 GB of RAM")
    assert not reads_drive(bought)
    assert any("64 GB DDR5 kit" in sentence for sentence in advice.summary.purchases)


def test_limits_that_a_purchase_keeps_are_said_again() -> None:
    told = " ".join(advised().summary.purchases)
    assert re.search(r"Your limits are kept: \$[\d,]+ of \$1,200, nothing leaves the house\.", told)


def test_a_budget_is_what_is_paid_before_anything_is_sold() -> None:
    advice = advised(model="Qwen3.6-27B", max_usd=700.0)
    sold = [option for option in advice.options if option.assumed_resale]
    assert sold
    assert all(option.paid_first > (option.upfront or 0.0) for option in sold)
    assert all(option.paid_first <= 700.0 for option in advice.options)


def test_the_least_that_holds_a_model_is_named_beyond_a_budget() -> None:
    nothing = {"cards_owned": "nothing", "model": "Qwen3-8B", "max_usd": 300.0, "texts": "house"}
    advice = answer(Request(**nothing).nouns()).advice
    assert not any(map(is_bought, advice.options))
    assert advice.case.beyond.paid_first > 300.0
    assert "Nothing within $300 holds it: the least that does is " in advice.verdict


def test_an_engine_that_nobody_reported_on_a_card_is_no_free_step() -> None:
    advice = advised(model="Qwen3.6-35B-A3B", gpu="RTX 5060", ram_gb=64.0, think="off")
    engines = [option for option in advice.options if option.name.startswith(SAME_MODEL)]
    assert all(option.loss is None for option in engines if option.unreported)
    assert not any(option is advice.case.step for option in engines if option.unreported)


def test_an_engine_that_only_its_makers_reported_is_named_with_that() -> None:
    # An RTX 5070 beside 64 GB: Strata's makers timed it, and nobody else did.
    request = Request(
        model="Qwen3.8-Flash-Next",
        format="IQ3_XXS",
        gpu="RTX 5070",
        cpu="Ryzen 5 7600",
        ram_gb=64.0,
        disk_gbs=7.0,
    )
    told = answer(request.nouns()).advice
    engine = next(option for option in told.options if option.name.startswith(SAME_MODEL))
    assert engine.unreported
    way = told.summary.way
    assert f"Free: {engine.name}, about" in way
    assert "; only its makers reported it on an RTX 5070." in way


@pytest.mark.parametrize(("machine", "named"), [("3090 64gb", False), ("Raspberry Pi 5 8GB", True)])
def test_a_developers_board_is_for_owners_of_boards(machine: str, named: bool) -> None:
    advice = answer(Request(model="Qwen3.5-4B", machine=machine).nouns()).advice
    assert any("Jetson" in option.name for option in advice.options) is named


def test_who_states_a_maker_finds_nothing_odd_about_it() -> None:
    question = {"model": "Gemma-4-31B", "gpu": "Arc B580", "think": "off"}
    odd = [text for option in advised(**question).options for text in option.odd]
    assert any(map(of_makers, odd))
    wanted = [text for option in advised(**question, maker="Intel").options for text in option.odd]
    assert not any(map(of_makers, wanted))


def test_a_note_on_a_price_is_in_the_currency_of_the_answer() -> None:
    with money_shown_in(Currency(code="EUR", usd=1.25)):
        assert in_shown_currency("2x 32 GB DDR4 kit $470") == "2x 32 GB DDR4 kit €376"
    assert in_shown_currency("dock $300") == "dock $300"


def test_a_purchase_for_thinking_is_weighed_against_what_thinks_too() -> None:
    advice = answer(Request(model="Qwen3.6-27B", machine="3060 12gb 32gb").nouns()).advice
    assert advice.decision.within is not None
    assert advice.in_question is advice.decision.within
    assert advice.decision.within is not advice.case.choice.safe
    # minutes of thought at 11 tokens a second, its best free setting, become a minute
    assert all(min(bar.low, bar.high) > 0 for bar in advice.what_matters)


SPILLS = {"machine": "RTX 3060 12GB, Ryzen 5 5600, 32 GB", "model": "Qwen3-32B"}
"""20 GB of weights beside a card of 12: another model and smaller formats write faster."""


@pytest.mark.parametrize(
    ("fixed", "model", "formats"), [(None, True, True), ("model", False, True),
                                    ("format", False, False)],
)  # fmt: skip
def test_what_must_stay_is_not_advised_away(fixed, model: bool, formats: bool) -> None:
    advice = answer(Request(**SPILLS, fixed=fixed).nouns()).advice
    assert (advice.another_model is not None) is model
    assert any(edit.of_format for edit in advice.what_ifs) is formats
    assert any("KV cache" in edit.words for edit in advice.what_ifs) is formats
    assert any("instead of Q4_K_M" in option.name for option in advice.options) is formats
    assert advice.what_ifs, "other settings are"


def test_a_part_that_cannot_stay_is_refused_with_those_that_can() -> None:
    with pytest.raises(UnknownName, match="Allowed are model, format"):
        answer(Request(**SPILLS, fixed="cache").nouns())


def test_a_limit_of_watts_counts_the_cards_that_stay() -> None:
    # an RTX 4070 Ti Super of 285 W beside a GTX 1660 Super of 125 W takes 410 W
    words = {"machine": "GTX 1660 Super, Core i5-12400, 16 GB", "model": "Qwen3-32B"}
    options = answer(Request(**words, max_watts=300.0).nouns()).advice.options
    added = [option for option in options if option.kind is OptionKind.ADD]
    replaced = [option for option in options if option.kind is OptionKind.REPLACE]
    assert all(option.card_watts <= 300 for option in (*added, *replaced))
    assert not any(option.name == "RTX 4070 Ti Super" for option in added)
    assert any(option.name == "RTX 4070 Ti Super" for option in replaced)


def test_a_dear_purchase_is_noticed() -> None:
    """A card in a dock beside a Ryzen AI Max shortens an answer by a sixth, for $2,800."""
    words = {"machine": "GMKtec EVO-X2 128 GB", "model": "Llama-3.3-70B", "prompt": 800}
    asks = {**words, "output": 400, "replies_per_day": 70.0, "max_usd": 3000.0, "texts": "house"}
    advice = answer(Request(**asks).nouns()).advice
    option = advice.decision.option
    assert option is None or not is_bought(option)
    assert advice.decision.within is None


def test_what_would_reach_a_speed_is_named_with_its_drawback() -> None:
    """A workstation's own supply is not on record; 27B in 24 GB writes faster than 20."""
    words = {"machine": "Dell Precision T7810, 2x Xeon E5-2680 v4, 128 GB DDR4"}
    asks = {
        **words,
        "model": "Qwen3.6-27B",
        "user_tps": 20.0,
        "condition": "used",
        "max_usd": 1500.0,
        "think": "off",
    }
    summary = answer(Request(**asks).nouns()).advice.summary
    (drawback,) = (line for line in summary.purchases if line.startswith("With a drawback"))
    assert "RTX 3090" in drawback
    assert "power supply" in drawback


def test_a_model_that_tests_rate_higher_may_be_liked_within_the_error_of_votes() -> None:
    # data/models: Qwen3.5-397B-A17B has 1442 points of votes and 34 of tests, Qwen3.8-27B 1438 +- 5
    # and 52
    words = {"machine": "RTX 4090, Ryzen 9 7950X, 64 GB", "model": "Qwen3.5-397B-A17B"}
    advice = answer(Request(**words, texts="house").nouns()).advice
    assert advice.decision.model is not None
    assert advice.decision.model.model.name.endswith("Qwen3.8-27B")
    assert "by votes and by tests" in advice.summary.way
