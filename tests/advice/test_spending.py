"""What is bought where waiting alone does not decide: for a speed that is asked for, in place of a
rent, by a team that states no speed, and by several machines that share a batch.
"""

import re
from dataclasses import replace

import pytest

from advisor.advice.advise import answer
from advisor.advice.decision import ASKED_SPEED, for_all_at_once
from advisor.advice.table.choice import is_bought
from advisor.advice.table.demand import Crowd
from advisor.advice.table.option import OptionKind
from advisor.request.request import Request

READER = {
    "model": "Qwen3-14B",
    "machine": "RTX 3060 12GB, Ryzen 5 5600, 32 GB DDR4",
    "thinking_tokens": 0.0,
    "replies_per_day": 60.0,
}
RENTER = {
    "model": "Llama-3.1-8B",
    "machine": "rented A100 80GB",
    "rented_hours_per_day": 24.0,
    "replies_per_day": 300.0,
}


def advised(**words):
    return answer(Request(**words).nouns()).advice


def test_a_speed_that_is_asked_for_is_bought_though_waiting_does_not_repay_it() -> None:
    """8.99 GB read at 360 GB/s are at most 40 tokens/s, at 936 GB/s at most 104."""
    advice = advised(**READER, user_tps=60.0)
    assert advice.decision.rule == ASKED_SPEED
    assert advice.decision.option.decode >= 60.0
    assert advice.decision.option.pays is False
    assert not any(map(is_bought, filter(None, [advised(**READER).decision.option])))


def test_a_speed_that_a_budget_does_not_reach_is_not_bought() -> None:
    small = advised(**READER, user_tps=60.0, max_usd=100.0)
    assert small.decision.rule != ASKED_SPEED


def test_a_rent_of_hundreds_a_month_is_left_for_a_machine_that_costs_half() -> None:
    """An 8B of 4.9 GB fits in whatever has 8 GB; 24 hours a day of an A100 are 730 a month."""
    advice = advised(**RENTER, texts="house")
    bought = advice.decision.option
    assert is_bought(bought)
    assert bought.monthly <= 0.5 * advice.options[0].monthly
    assert "of rent a month" in advice.summary.way
    elsewhere = advised(**RENTER).decision.option
    assert elsewhere.kind is OptionKind.RENT
    assert elsewhere.monthly <= 0.5 * advice.options[0].monthly


def test_a_team_that_states_no_speed_gets_what_serves_it_at_the_mean_load() -> None:
    """48 GB hold 42.5 GB of weights and the caches of five users with 768 tokens each; two cards
    of 24 GB that cost three times as much read the prompts of all five at once sooner.
    """
    words = {
        "model": "Llama-3.3-70B",
        "machine": "RTX 3090, Ryzen 9 5950X, 64 GB DDR4",
        "users": 5,
        "texts": "house",
    }
    advice = advised(**words)
    bought = advice.decision.option
    whole = for_all_at_once(advice.case)
    assert bought.name == "RTX 3090, 2 in all"
    assert bought.monthly <= 0.75 * whole.monthly
    assert "Where all of them ask at the same moment" in advice.verdict
    stated = advised(**words, user_tps=20.0, first_token_within=2.0)
    assert not stated.case.nearly


def test_machines_that_share_a_batch_have_each_their_part_of_it() -> None:
    """Three machines: a third of the load, three times the price and the month."""
    words = {"model": "Qwen3-8B", "gpu": "RTX 3060", "thinking_tokens": 0.0}
    advice = advised(**words, replies_per_day=100_000.0, answer_hours=8.0)
    demand = advice.case.demand
    assert demand.crowd is Crowd.BATCH
    machine = next(each for each in advice.options if each.kind is OptionKind.MACHINE and each.cost)
    three = machine.times(3)
    assert demand.load(three) == pytest.approx(demand.load(machine) / 3)
    assert three.upfront == pytest.approx(3 * machine.upfront)
    assert three.monthly == pytest.approx(3 * machine.monthly)
    assert three.price.usd == pytest.approx(3 * machine.price.usd)
    assert three.name.startswith("3 machines")


def test_several_machines_do_a_batch_that_none_does_alone() -> None:
    """A third of the replies that one machine does in time, times four, want at least two."""
    words = {"model": "Llama-3.3-70B", "cards_owned": "nothing", "texts": "house"}
    batch = {"prompt": 1500, "output": 500, "answer_hours": 10.0, "replies_per_day": 150_000.0}
    advice = advised(**words, **batch)
    option = advice.decision.option
    assert advice.case.demand.met_by(option)
    assert not advice.case.demand.met_by(replace(option, sharing=1))
    assert option.machines == option.sharing > 1


AGENT = {
    "model": "Qwen3-Coder-30B-A3B",
    "machine": "RX 580 8GB, Ryzen 5 3600, 32 GB DDR4",
    "session": "swe-bench",
}


ALL_DAY = {"replies_per_day": 4 * 36.0}


def test_an_agent_is_judged_by_its_wait_and_not_by_reading() -> None:
    """A turn is waited for to its last word: t_first + n / S, however fast n is read."""
    kept = advised(**AGENT).options[0]
    turn = kept.speed.first_token + float(kept.use.work.output) / kept.speed.decode
    assert kept.decode > 6.0
    assert kept.hours_lost == pytest.approx(turn * kept.use.replies / 3600)


def test_agents_who_work_all_day_get_a_faster_card() -> None:
    """A task of 36 turns takes minutes on a card of 2017: four a day are half an hour and more."""
    few = advised(**AGENT)
    assert few.decision.option is None
    assert "turns a day a bigger GPU would save little" in few.verdict
    assert "turns of an agent a day" in few.summary.assumptions
    many = advised(**AGENT, **ALL_DAY)
    bought = many.decision.option
    assert is_bought(bought)
    assert bought.hours_saved >= 5.0


def test_a_format_that_one_reads_along_with_comes_before_one_that_loses_less() -> None:
    """Of 64 GB a Mac's GPU takes 48: 50 GB in Q5_K_M nearly, 58 GB in Q6_K not."""
    advice = advised(model="Llama-3.3-70B", machine="Mac Studio M2 Max 64GB", format="Q8_0")
    step = advice.case.step
    assert step.decode >= 6.0
    assert any(each.loss < step.loss for each in advice.options if each.name.startswith("Q6_K"))
    assert advice.decision.option is step


def test_the_first_line_says_how_long_a_model_thinks_however_slowly_it_writes() -> None:
    """1.5 to 3 thousand tokens of thought at less than reading speed are minutes."""
    advice = advised(model="Qwen3.6-27B", machine="RTX 3060 12GB, Ryzen 5 5600, 32 GB DDR4")
    assert advice.options[0].decode < 6.0
    assert advice.summary.gives.startswith("It runs, but thinks for")
    assert "of it thinking" not in advice.verdict


def test_where_an_api_and_a_purchase_cost_nearly_the_same_either_is_said_to_do() -> None:
    """Between a use for which an API is called and a tenth more, for which a machine is bought, the
    months of both differ by less than predictions err.
    """
    words = {
        "model": "Qwen3-8B",
        "machine": "n100 16gb",
        "context": 32768,
        "prompt": 200,
        "output": 128,
        "thinking_tokens": 0.0,
        "usd_per_hour_of_time": 10.0,
        "texts": "anywhere",
    }
    uses = [10.0 * 1.1**step for step in range(25, 40)]
    advices = [advised(**words, replies_per_day=use) for use in uses]
    bought = [is_bought(advice.decision.option) for advice in advices]
    assert bought == sorted(bought)
    assert {True, False} == set(bought)
    turn = bought.index(True)
    near = [advice.decision for advice in advices[turn - 1 : turn + 1]]
    assert any(each.rival is not None for each in near)
    assert any("It is close: " in advice.verdict for advice in advices[turn - 1 : turn + 1])


def test_a_stated_budget_is_spent_where_a_lossy_format_only_just_keeps_up() -> None:
    """IQ4_XS writes hardly more than the six tokens a second that one reads, and may write less."""
    words = {
        "model": "Mistral-Small-3.2-24B",
        "machine": "RTX 3080 10GB, i7-12700K, 32 GB DDR4",
        "replies_per_day": 100.0,
        "prompt": 4000,
        "output": 600,
    }
    advice = advised(**words, max_usd=1200.0)
    step = advice.case.step
    assert step.loss
    assert step.speed.low < 6.0 <= step.decode
    assert is_bought(advice.decision.option)
    assert advice.decision.option.paid_first <= 1200.0


def test_a_stated_budget_above_the_least_rent_is_no_reason_to_rent_first() -> None:
    """42.5 GB at 256 GB/s are at most six tokens a second, at 614 GB/s at most fourteen."""
    words = {"model": "Llama-3.3-70B", "cards_owned": "nothing", "texts": "house"}
    advice = advised(**words, replies_per_day=60.0, max_usd=4000.0)
    assert advice.decision.option.decode >= 6.0
    assert advice.decision.option.paid_first > 3000.0


def test_thinking_that_somebody_states_is_shortened_before_it_is_switched_off() -> None:
    words = {"model": "Qwen3.6-27B", "machine": "RTX 3090, Ryzen 9 5900X, 64 GB DDR4"}
    advice = advised(**words, think="long", replies_per_day=80.0)
    assert advice.decision.option is advice.case.step
    assert advice.decision.option.use.money.thinking_tokens > 0
    assert "thinking off" in advice.verdict


def test_an_api_that_saves_hours_is_called_where_texts_may_leave() -> None:
    """A prompt of 1,000 tokens takes a processor many seconds: of 150 answers a day more than five
    hours of a month.
    """
    words = {"model": "Qwen3-8B", "machine": "laptop Core i7-13700H, 32 GB DDR5"}
    waits = {"prompt": 1000, "replies_per_day": 150.0, "thinking_tokens": 0.0}
    option = advised(**words, **waits, texts="anywhere").decision.option
    assert option.kind is OptionKind.API
    assert option.hours_saved >= 5.0


def test_the_time_of_an_agents_task_is_told_with_a_purchase() -> None:
    assert re.search(r"A task then takes .+ instead of", advised(**AGENT, **ALL_DAY).verdict)


def test_the_time_with_the_free_setting_beside_a_purchase_is_told_too() -> None:
    """A model of states is read again each turn, for 78 turns, until its prefix is kept."""
    words = {"machine": "RTX 4060, Ryzen 5 5600X, 16 GB", "model": "Qwen3.6-27B", "think": "off"}
    asks = {**words, "session": "swe-bench-pro", "replies_per_day": 468.0, "max_usd": 1500.0}
    verdict = advised(**asks, texts="house").verdict
    then = re.search(
        r"A task then takes (\d+) minutes, (\d+) minutes with the prefix kept", verdict
    )
    assert then is not None
    assert int(then[2]) < int(then[1]) / 2


def test_an_api_that_does_the_work_is_named_beside_a_purchase() -> None:
    # 20,000 answers a night, 30.44 nights a month: 24 dollars to read them and 15 to write them
    words = {"machine": "RTX 4060 Ti 16GB, Ryzen 5 5600, 32 GB", "model": "Mistral-Small-24B"}
    batch = {"replies_per_day": 20_000.0, "answer_hours": 8.0, "prompt": 800, "output": 300}
    verdict = advised(**words, **batch, texts="anywhere").verdict
    assert "With nothing bought, an API answers for $39 a month: openrouter" in verdict
    assert "With nothing bought" not in advised(**words, **batch, texts="house").verdict


def test_who_states_a_dearer_hour_buys_for_fewer_of_them() -> None:
    """Half an hour a day at $30 is worth as much as eleven minutes at $80."""
    words = {
        "model": "Mistral-Small-3.2-24B",
        "machine": "RTX 4070 Super, i5-13600K, 32 GB DDR5",
        "prompt": 16000,
        "context": 24000,
        "output": 600,
        "replies_per_day": 50.0,
    }
    usual = advised(**words).decision.option
    dear = advised(**words, usd_per_hour_of_time=80.0).decision.option
    assert not is_bought(usual)
    assert is_bought(dear)
    assert dear.hours_saved >= 5.0
