"""Second line of a verdict: what is free comes first, what a budget buys, what would do as well."""

import re

import pytest

from advisor.advice.advise import answer
from advisor.advice.table.option import OptionKind
from advisor.advice.words.verdict import Advice
from advisor.request.request import Request

OWNER = {"machine": "RTX 3060 12GB, Ryzen 7 5700X, 32 GB DDR4", "model": "Qwen3.8-27B"}
NOBODY = {"cards_owned": "nothing", "texts": "house"}


def advised(**asks: object) -> Advice:
    return answer(Request(**asks).nouns()).advice


def test_a_purchase_is_told_with_the_free_setting_that_comes_before_it() -> None:
    advice = advised(**OWNER, think="long", replies_per_day=60.0)
    assert advice.choice.safe is not None
    assert advice.choice.safe.upfront
    assert "Free first: Q3_K_M." in advice.verdict


def test_what_a_budget_buys_stands_beside_a_free_setting() -> None:
    advice = advised(**OWNER, think="short", max_usd=700.0, texts="house")
    assert advice.choice.safe is not None
    assert advice.choice.safe.is_free_setting
    assert "Within $700: RTX" in advice.verdict


def test_what_would_do_as_well_is_named() -> None:
    # an office PC of about reading speed: a card of 75 W, or none
    asks = {"machine": "OptiPlex 7060 i5-8500 16GB", "model": "Qwen3-8B", "think": "off"}
    advice = advised(**asks, replies_per_day=30.0)
    rival = advice.decision.rival
    assert rival is not None
    assert not rival.odd
    assert re.search(r"It is close: RTX \S+ 6GB added for \$\d+ would do as well\.", advice.verdict)


def test_a_task_of_an_agent_is_told_after_the_setting_that_saves_most() -> None:
    advice = advised(
        machine="RTX 4060 Ti 16GB, Ryzen 7 7700X, 32 GB DDR5",
        model="Qwen3-Coder-30B-A3B",
        session="coding-session",
        users=4,
        slots=1,
    )
    task = advice.task
    assert task is not None
    assert task.saves[0].seconds > task.seconds / 3
    assert re.search(r"Free: .+, a task in \d+ hours\.", advice.verdict)


def test_who_counts_the_resale_of_a_dear_card_is_told_what_a_cheap_one_leaves_over() -> None:
    # 8B at Q4_K_M reads 4.9 GB a token: 360 GB/s and more write faster than four times reading
    advice = advised(
        machine="RTX 5090, Ryzen 7 7700X, 32 GB DDR5",
        model="Llama-3.1-8B",
        resale_counts=True,
        texts="house",
    )
    safe = advice.choice.safe
    assert advice.decision.rule == "sale"
    assert safe is not None
    assert safe.decode >= 24
    assert "are left over" in advice.verdict


def test_whose_texts_stay_in_the_house_is_not_told_to_rent() -> None:
    advice = advised(**NOBODY, model="DeepSeek-V3.1", replies_per_day=30.0)
    assert "rent" not in advice.verdict
    assert not {option.kind for option in advice.options} & {OptionKind.RENT, OptionKind.API}


def test_the_usual_format_is_tried_beside_one_twice_as_large() -> None:
    advice = advised(
        machine="RTX 4070, Ryzen 7 7700X, 32 GB DDR5", model="Mistral-Small-24B", format="Q8_0"
    )
    assert "Q4_K_M instead of Q8_0" in {edit.words for edit in advice.what_ifs}


@pytest.mark.parametrize("users", [1, 10])
@pytest.mark.parametrize("machine", ["RTX 3090, Ryzen 9 5950X, 64 GB DDR4", "n100 16gb"])
def test_no_sentence_of_a_verdict_is_cut_off(machine: str, users: int) -> None:
    advice = advised(
        machine=machine,
        model="Qwen3.8-27B",
        session="coding-session",
        users=users,
        slots=users,
        think="off",
        texts="house",
    )
    assert [line for line in advice.verdict.splitlines() if not line.endswith(".")] == []
