"""Rules of a decision: order, stability under more use, and wishes that bind."""

import random

import pytest

from advisor.advice.advise import answer
from advisor.advice.decision import RULES
from advisor.advice.situation import STOPS_THINKING, WORKING_DAY
from advisor.advice.table.choice import BOUGHT
from advisor.advice.table.option import OptionKind
from advisor.request.request import Request

MACHINES = (
    "RTX 3060 12GB, Ryzen 5 7600, 32 GB DDR5",
    "RTX 3090, Ryzen 9 5950X, 64 GB DDR4",
    "i5-12400, 32 GB DDR4, no GPU",
    "Mac mini M4 16GB",
)
MODELS = ("Llama-3.1-8B", "Gemma-3-27B", "Qwen3.6-27B", "Llama-3.3-70B")
SEED = 46


def decided(**asks: object):
    return answer(Request(**asks).nouns()).advice


def test_each_rule_has_a_name_of_its_own() -> None:
    names = [rule.name for rule in RULES]
    assert len(names) == len(set(names))


def test_more_answers_a_day_never_buy_less() -> None:
    draw = random.Random(SEED)
    for _ in range(6):
        asks = {"machine": draw.choice(MACHINES), "model": draw.choice(MODELS)}
        bought = [
            choice is not None and choice.kind in BOUGHT
            for day in (5.0, 60.0, 400.0)
            for choice in [decided(**asks, replies_per_day=day).choice.safe]
        ]
        assert bought == sorted(bought), asks


def test_thinking_is_stopped_before_anything_is_bought() -> None:
    advice = decided(machine=MACHINES[0], model="Qwen3.6-27B")
    assert advice.choice.safe is not None
    assert advice.choice.safe.name == STOPS_THINKING
    assert advice.choice.safe.kind is OptionKind.CHANGE
    # 2,500 tokens at the speed now
    kept = advice.options[0]
    assert kept.thinking_seconds == pytest.approx(2500 / kept.decode)
    off = decided(machine=MACHINES[0], model="Qwen3.6-27B", think="off")
    assert "think" not in off.verdict


STATED = {"machine": MACHINES[0], "model": "Qwen3.6-27B", "replies_per_day": 30.0}


@pytest.mark.parametrize("stated", [{"think": "long"}, {"thinking_tokens": 2500}])
def test_thinking_that_somebody_states_is_offered_off_as_well(stated: dict[str, object]) -> None:
    advice = decided(**STATED, **stated)
    kept = advice.options[0]
    assert kept.thinking_seconds == pytest.approx(2500 / kept.decode)
    off = advice.choice.safe
    assert off is not None
    assert off.name == STOPS_THINKING
    assert kept.answer_seconds - off.answer_seconds == pytest.approx(kept.thinking_seconds)
    assert f"Free: {STOPS_THINKING}" in advice.summary.way
    assert "hard maths and code get worse" in advice.verdict
    assert any("To keep its thinking" in each for each in advice.summary.purchases)


def test_a_budget_for_stated_thinking_buys_and_thinking_off_comes_first_in_the_sentence() -> None:
    advice = decided(**STATED, think="long", max_usd=1500.0)
    assert advice.choice.safe is not None
    assert advice.choice.safe.kind in BOUGHT
    assert f"Free first: {STOPS_THINKING}" in advice.verdict


def test_who_would_wait_all_day_for_a_stated_thought_needs_a_machine_for_it() -> None:
    # 6 minutes each: 30 are 3 hours a day, 150 are 15
    few, many = (
        decided(**(STATED | {"replies_per_day": day}), think="long") for day in (30.0, 150.0)
    )
    seconds = few.options[0].thinking_seconds
    assert 30 * seconds / 3600 < WORKING_DAY < 150 * seconds / 3600
    assert few.decision.keeps
    assert not many.decision.keeps


def test_a_model_that_always_thinks_is_told_to_think_for_less() -> None:
    slow = decided(machine="N100, 32 GB DDR4", model="gpt-oss-20b")
    assert slow.options[0].thinking_seconds >= 30
    assert "Reasoning: low" in slow.verdict
    assert STOPS_THINKING not in slow.verdict
    fast = decided(machine="RTX 4090, 64 GB DDR5", model="gpt-oss-20b")
    assert "Reasoning: low" not in fast.verdict


def test_what_stays_in_the_house_is_neither_rented_nor_called() -> None:
    house = decided(machine=MACHINES[1], model="Llama-3.3-70B", texts="house")
    assert not {each.kind for each in house.options} & {OptionKind.RENT, OptionKind.API}
    anywhere = decided(machine=MACHINES[1], model="Llama-3.1-405B", texts="anywhere")
    assert anywhere.choice.safe is not None
    assert anywhere.choice.safe.kind is OptionKind.API


def test_what_is_kept_is_not_beside_a_purchase_that_is_chosen() -> None:
    """A model that is rated as high is free and fast: nothing is bought, whatever would pay."""
    machine = "RTX 3090, Ryzen 9 5950X, 128 GB DDR4"
    for day in (5.0, 40.0, 200.0):
        advice = decided(machine=machine, model="gpt-oss-120b", gpu_layers=20, replies_per_day=day)
        safe = advice.choice.safe
        if advice.decision.keeps and advice.decision.option is None:
            assert safe is None or not safe.upfront, day


def test_a_budget_and_a_maker_bind() -> None:
    advice = decided(machine=MACHINES[1], model="Llama-3.3-70B", max_usd=1500.0, maker="NVIDIA")
    for option in advice.options[1:]:
        if option.kind in BOUGHT:
            assert (option.upfront or 0.0) <= 1500
            assert {card.vendor for card in option.bought} <= {"NVIDIA"}


def test_a_batch_is_judged_by_its_hours_by_hand() -> None:
    # 100 answers of 300 tokens within 24 hours, nobody waits: no reading speed, no hours lost
    advice = decided(
        machine=MACHINES[1],
        model="Llama-3.3-70B",
        replies_per_day=100.0,
        answer_hours=24.0,
        output=300,
    )
    kept = advice.options[0]
    assert kept.hours_lost == 0
    assert kept.speed is not None
    seconds = kept.speed.first_token + 300 / kept.decode
    assert advice.case.demand.load(kept) == pytest.approx(100 * seconds / 3600 / 24)
    assert advice.choice.safe is None
    assert advice.verdict.startswith("Done in ")


def test_thinking_off_names_the_format_that_it_is_counted_with() -> None:
    slow = decided(machine="laptop 4060 16gb", model="Qwen3-32B", reading_tps=4.0)
    step = slow.case.step
    assert slow.options[0].decode < 4.0 < step.decode  # reading speed is between them
    off = slow.choice.safe
    assert off.name == f"{STOPS_THINKING} and {step.name}"
    assert off.loss == step.loss > 0
    assert f"Free: {STOPS_THINKING} and Q3_K_M" in slow.summary.way
    alone = decided(machine="rtx 3090 64gb", model="Qwen3.6-27B")
    assert alone.choice.safe.name == STOPS_THINKING
    assert alone.choice.safe.loss == 0


def test_a_purchase_saves_less_where_thinking_can_be_switched_off() -> None:
    advice = decided(machine="laptop 4060 16gb", model="Qwen3.6-27B")
    option = advice.in_question
    judged = advice.as_judged(option)
    assert judged.name == option.name
    assert judged.hours_saved < option.hours_saved
    calm = decided(machine="laptop 4060 16gb", model="Qwen3.6-27B", think="off")
    assert calm.as_judged(calm.options[1]) is calm.options[1]


def test_a_batch_stops_thinking_before_anything_is_bought() -> None:
    batch = {"machine": "RTX 4090 64GB", "model": "Qwen3-32B", "answer_hours": 10.0}
    advice = decided(**batch, replies_per_day=20_000.0)
    option = advice.decision.option
    assert not advice.case.demand.met_by(advice.case.kept)
    assert option.name.startswith(STOPS_THINKING)
    assert not option.upfront
    assert advice.case.demand.met_by(option)
    thoughtful = decided(**batch, replies_per_day=20_000.0, think="long")
    assert STOPS_THINKING not in thoughtful.decision.option.name


def test_a_model_as_good_stands_back_for_more_use_by_hand() -> None:
    # Muse-Glimmer-30B writes 22 here, less than four times reading: whoever waits half an hour a
    # day for it buys
    asks = {
        "machine": "mac studio m4 max 64gb",
        "model": "Qwen3.5-27B",
        "context": 16384,
        "prompt": 2000,
        "output": 600,
        "usd_per_hour_of_time": 60.0,
        "thinking_tokens": 0,
    }
    few, many = (decided(**asks, replies_per_day=use) for use in (120.0, 250.0))
    bought = [bool(each.decision.option and each.decision.option.upfront) for each in (few, many)]
    assert bought == sorted(bought)


@pytest.mark.parametrize(
    "asks",
    [
        {"model": "Qwen3.6-27B"},  # thinks
        {"model": "Qwen3-32B", "replies_per_day": 4000.0, "answer_hours": 10.0},
        {"model": "Qwen3-32B", "users": 16},
        {"model": "Qwen3-32B", "requests_per_hour": 500.0},
    ],
)
def test_what_is_judged_is_the_same_option(asks: dict[str, object]) -> None:
    advice = decided(machine=MACHINES[1], **asks)
    for option in advice.options:
        judged = advice.as_judged(option)
        assert (judged.kind, judged.name) == (option.kind, option.name)
        assert judged.use.work is option.use.work


def test_who_states_a_budget_is_told_what_it_buys_first() -> None:
    """GLM-4.7-Flash in 8 GB: another model is rated as high and free, and a card within the budget
    pays for the one that is wanted.
    """
    asks = {
        "machine": "i5-8400, RX 580 8GB, 16GB DDR4-2666", "system": "linux", "texts": "house",
        "model": "glm-4.7-flash", "think": "long", "prompt": 1200, "output": 500,
        "replies_per_day": 30.0, "maker": "AMD", "condition": "new",
    }  # fmt: skip
    within = decided(**asks, max_usd=850.0)
    assert within.decision.option is not None
    assert within.decision.option.kind is OptionKind.ADD
    nothing = decided(**asks, max_usd=0.0).decision
    assert nothing.keeps
    assert nothing.option is not None or nothing.model is not None


def test_ram_holds_what_a_second_card_would_for_more() -> None:
    """Experts of 48 GB beside a card of 16 GB: RAM is the cheap way."""
    asks = {
        "machine": "Ryzen 7 7700X, RTX 4080 16GB, 16GB DDR5-5600, gen4 NVMe", "texts": "house",
        "model": "qwen3-coder-next", "format": "Q4_K_M", "context": 32768, "prompt": 2500,
        "output": 600, "replies_per_day": 50.0,
    }  # fmt: skip
    option = decided(**asks, max_usd=1200.0).decision.option
    assert option is not None
    assert "of RAM" in option.name
