"""Second line of a verdict: what is free comes first, what a budget buys, what would do as well."""

import re

import pytest

from advisor.advice.advise import answer
from advisor.advice.table.choice import FASTER
from advisor.advice.table.option import OptionKind
from advisor.advice.words.verdict import Advice
from advisor.request.request import Request
from advisor.units import number

OWNER = {"machine": "RTX 3060 12GB, Ryzen 7 5700X, 32 GB DDR4", "model": "Qwen3.8-27B"}
NOBODY = {"cards_owned": "nothing", "texts": "house"}

DOCKED = "RTX 3090 in a dock"


def advised(**asks: object) -> Advice:
    return answer(Request(**asks).nouns()).advice


def test_a_purchase_is_told_with_the_free_setting_that_comes_before_it() -> None:
    advice = advised(**OWNER, think="long", replies_per_day=60.0)
    assert advice.choice.safe is not None
    assert advice.choice.safe.upfront
    assert "Free first: thinking off and drafting by its own MTP layers" in advice.verdict


def test_what_a_budget_buys_stands_beside_a_free_setting() -> None:
    advice = advised(**OWNER, think="short", max_usd=700.0, texts="house", replies_per_day=10.0)
    assert advice.choice.safe is not None
    assert advice.choice.safe.is_free_setting
    assert "Within $700: RTX" in advice.verdict


def test_a_faster_engine_is_named_beside_what_is_decided() -> None:
    advice = advised(
        machine="RTX 3060 12GB, 32 GB DDR4", model="Qwen3-14B", users=4, runtime="ollama"
    )
    assert advice.choice.safe is not None
    assert advice.choice.safe.name == "thinking off"
    assert re.search(r"\w+ would give [\d.]+ here\. Free: thinking off", advice.summary.way)


def test_a_team_is_told_the_slots_that_it_is_counted_with() -> None:
    asks = {"machine": "RTX 3090, 64 GB DDR5", "model": "Qwen3-14B", "think": "off", "users": 4}
    assert "Free: OLLAMA_NUM_PARALLEL=4" in advised(**asks, runtime="ollama").verdict
    assert "Free: -np 4" in advised(**asks, runtime="llama.cpp").verdict
    alone = advised(**(asks | {"users": 1}), runtime="ollama")
    assert "OLLAMA_NUM_PARALLEL" not in alone.verdict


def test_a_card_that_stands_idle_is_left_out_switched_off_or_sold() -> None:
    # 12 GB of gpt-oss-20b lie in the 24 GB of the faster card
    advice = advised(machine="RTX 3090 + P40, Ryzen 7 3700X, 32 GB DDR4", model="gpt-oss-20b")
    (remark,) = advice.summary.remarks
    assert remark.startswith("Leave P40 out of the run, where it stands idle: switch it off, or ")


def test_a_cheaper_purchase_with_a_drawback_stands_beside_the_tidy_one() -> None:
    # 63 GB and 12 conversations: four 3090 hold them in a PC that takes two large cards
    advice = advised(
        machine="2x RTX 3090, Ryzen 9 7950X, 64 GB DDR5",
        model="gpt-oss-120b",
        texts="house",
        users=12,
        requests_per_hour=240.0,
        user_tps=20.0,
        first_token_within=3.0,
        prompt=2000,
        output=400,
        context=8192,
        replies_per_day=1900.0,
        days_per_week=5.0,
    )
    safe = advice.choice.safe
    drawback = advice.decision.drawback
    assert safe is not None
    assert drawback is not None
    assert not safe.odd
    assert advice.case.demand.met_by(safe)
    assert advice.case.demand.met_by(drawback)
    assert (drawback.upfront or 0.0) <= 0.75 * (safe.upfront or 0.0)
    assert "A third card hangs on a riser" in advice.verdict
    now = advice.options[0].speed
    assert now is not None
    assert f"{number(now.decode)} tokens a second to each" in advice.summary.gives


def test_agents_with_fewer_slots_are_judged_by_what_the_machine_gives_to_all() -> None:
    asks = {
        "machine": "5070 ti 64gb", "model": "Mistral-Small-3.2-24B", "context": 32768,
        "session": "swe-bench", "users": 3, "thinking_tokens": 1000,
    }  # fmt: skip
    decided = [advised(**asks, slots=slots).decision for slots in (1, 3)]
    assert decided[0].rule == decided[1].rule
    assert decided[0].option is not None
    assert decided[1].option is not None
    assert decided[0].option.name == decided[1].option.name


def test_an_api_costs_by_the_task_too_where_a_reply_is_a_turn() -> None:
    advice = advised(
        machine="RTX 4090, 192 GB DDR5",
        model="Qwen3-Coder-480B-A35B",
        session="swe-bench",
        replies_per_day=10.0,
        texts="anywhere",
    )
    option = advice.decision.option
    assert option is not None
    # a month of 30 days is 300 turns; a task has 36
    task = 36 * (option.monthly or 0.0) / 300
    assert f"${task:.2f} a task of 36 turns" in advice.verdict
    assert "at 10 turns a day" in advice.verdict


def test_a_batch_that_even_several_at_once_do_not_finish_says_so() -> None:
    advice = advised(
        machine="RTX 3090, Ryzen 9 5950X, 64 GB DDR4",
        model="Qwen3-32B",
        texts="house",
        think="off",
        replies_per_day=40_000.0,
        answer_hours=12.0,
        prompt=1500,
        output=300,
        context=4096,
    )
    assert "one by one at" in advice.summary.gives
    assert re.search(
        r"Even \d+ at once take \d+ hours\. .+ at once in \w+: done in", advice.verdict
    )


def test_what_is_paid_for_work_that_is_due_is_in_time_though_predictions_err() -> None:
    advice = advised(
        **NOBODY,
        model="Qwen2.5-32B",
        replies_per_day=50_000.0,
        days_per_week=1.0,
        answer_hours=10.0,
        prompt=1000,
        output=300,
        context=2048,
    )
    option = advice.decision.option
    assert option is not None
    assert advice.case.demand.load(option) <= 1 / 1.15


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
    assert re.search(r"Free( first)?: one slot .+, a task in \d+ hours instead of", advice.verdict)


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


CONTRADICTABLE = (
    # a batch that an API finishes in time: 5,000 x 300 / 2.3 tokens a second are 181 hours of 8
    {"machine": "RTX 3090, 64 GB DDR5", "model": "Llama-3.3-70B", "prompt": 3000, "output": 300,
     "replies_per_day": 5000.0, "answer_hours": 8.0, "texts": "anywhere"},
    # users whose limits are met
    {"machine": "RTX 3060 12GB, 32 GB DDR4", "model": "Llama-3.1-8B", "users": 4,
     "requests_per_hour": 40.0, "user_tps": 20.0, "replies_per_day": 300.0, "texts": "house"},
    # a slower runtime that somebody chose
    {"machine": "2x RTX 3090, 64 GB DDR4", "model": "Qwen3-32B", "think": "off", "users": 30,
     "runtime": "Ollama", "requests_per_hour": 300.0, "replies_per_day": 2400.0},
    # a free setting, and a purchase within a budget
    {"machine": "RTX 2060 6GB, 32 GB DDR4", "model": "Qwen3-14B", "think": "off",
     "replies_per_day": 200.0, "condition": "used", "max_usd": 700.0, "texts": "house"},
)  # fmt: skip


@pytest.mark.parametrize("asks", CONTRADICTABLE)
def test_no_other_purchase_is_said_to_pay_beside_what_is_decided(asks: dict[str, object]) -> None:
    advice = advised(**asks)
    assert " pay" not in advice.what_changes


def test_a_model_that_somebody_must_have_is_bought_for_a_price_within_the_budget() -> None:
    asks = {"machine": "RTX 3090, 64 GB DDR4", "model": "Llama-3.3-70B"}
    assert re.match(
        r"If it must be Llama-3\.3-70B: .+ for \$[\d,]+ pays", advised(**asks).what_changes
    )
    assert "If it must be" not in advised(**asks, max_usd=0.0).what_changes


def test_memory_beyond_the_budget_is_no_option() -> None:
    asks = {"machine": "RTX 4090, 64 GB DDR5", "model": "MiniMax-M2.5", "max_usd": 0.0}
    assert not [each.name for each in advised(**asks).options if (each.upfront or 0.0) > 0.0]


RENTED = {
    "machine": "H100 SXM", "ram_gb": 128.0, "model": "gpt-oss-120b", "rented_at": 2.69,
    "rented_hours_per_day": 8.0, "users": 10, "requests_per_hour": 60.0,
    "replies_per_day": 480.0, "prompt": 2000, "output": 500,
}  # fmt: skip


def test_an_api_is_set_against_a_rent_that_does_the_work_in_time() -> None:
    # 480 answers of 2,500 tokens are 26 million in a month of 22 days: some dollars, beside 472
    anywhere = advised(**RENTED, texts="anywhere")
    assert re.search(
        r"An API answers for \$[\d.]+ a month, rent for 8 hours a day is", anywhere.verdict
    )
    assert "unless your texts must stay with you" in advised(**RENTED).verdict
    assert "API" not in advised(**RENTED, texts="house").verdict


def test_an_api_that_costs_less_than_the_power_is_named() -> None:
    advice = advised(
        machine="4x RTX 3090, 128 GB DDR4",
        model="Llama-3.3-70B",
        hours_on_per_day=24.0,
        usd_per_kwh=0.4,
        replies_per_day=20.0,
        texts="anywhere",
    )
    assert advice.decision.rule == "switch off"
    assert re.search(r"An API answers for \$0\.\d+ a month\.", advice.verdict)


def test_a_budget_that_buys_nothing_is_the_reason() -> None:
    asks = {"machine": "2x Tesla P40, 64 GB DDR4", "model": "DeepSeek-R1-Distill-Llama-70B"}
    advice = advised(**asks, replies_per_day=60.0, max_usd=0.0, texts="house")
    assert advice.choice.reason == "Nothing within your budget makes it faster."


def test_a_runtime_of_less_than_a_token_a_second_is_no_way_out() -> None:
    advice = advised(
        machine="RTX 4090, 64 GB DDR5",
        model="Qwen3-Coder-30B-A3B",
        session="coding-session",
        users=8,
        runtime="vLLM",
    )
    assert "FlexGen" not in advice.verdict


def test_a_batch_is_done_by_a_card_that_holds_more_answers_at_once() -> None:
    # 40,000 x 300 tokens in 12 hours are 280 a second; a 3090 holds 3 answers beside 19 GB
    advice = advised(
        machine="RTX 3090, Ryzen 9 5950X, 64 GB DDR4",
        model="Qwen3-32B",
        think="off",
        prompt=1500,
        output=300,
        context=4096,
        replies_per_day=40_000.0,
        answer_hours=12.0,
        texts="house",
    )
    assert re.search(r"\d\d at once in \w+: done in 1[01] hours, \$[\d,]+", advice.verdict)


def test_an_api_that_costs_less_with_its_waiting_stands_for_a_purchase() -> None:
    advice = advised(
        machine="Framework Desktop 128GB",
        model="gpt-oss-120b",
        session="swe-bench",
        context=65_536,
        replies_per_day=600.0,
        texts="anywhere",
    )
    decided = advice.decision.option
    assert decided is not None
    assert decided.kind is OptionKind.API


def test_thinking_off_is_named_where_it_is_most_of_an_answer() -> None:
    advice = advised(
        machine="RTX 4090, 64 GB DDR5", model="Qwen3-32B", prompt=800, output=150, texts="house"
    )
    assert re.search(r"Free: thinking off, [\d.]+ seconds an answer\.", advice.verdict)


def test_a_kind_of_machine_is_read_as_people_say_it() -> None:
    nouns = Request(model="Qwen3-8B", gpu="none", cpu="Core i5-12500", form="office PC").nouns()
    assert nouns.ownership.form == "office"


def test_a_free_setting_is_not_left_out_for_want_of_room() -> None:
    # 163,840 B of cache a token (40 layers x 8 heads x 128 x 2 values of 2 bytes): 5.4 GB beside
    # 9.0 of weights; in q8_0 2.9, so that nearly all lies in 12 GB
    advice = advised(
        machine="RTX 3060 12gb 32gb",
        model="Qwen3-14B",
        context=32768.0,
        prompt=24000.0,
        thinking_tokens=0.0,
    )
    assert advice.decision.option is not None
    assert advice.case.step is not None
    assert "KV cache in q8_0" in advice.case.step.name
    assert "KV cache in q8_0" in advice.verdict.split("\n")[1]


def test_an_agents_task_is_not_told_of_a_machine_that_nobody_has() -> None:
    asks = {"model": "Qwen3-Coder-30B-A3B", "session": "swe-bench", "max_usd": 1500.0}
    assert advised(machine="RTX 3090", **asks).task is not None
    assert advised(machine="nothing", **asks).task is None


def test_another_model_writes_faster_than_one_reads_where_one_does_and_is_as_good() -> None:
    """Votes rate MiMo-V2.6-Flash-MOPD and Gemma-4-26B-A4B no lower than Llama 3.3 70B; from 128 GB
    beside two P40 the former writes at reading speed, the latter lies in the cards.
    """
    machine = "2x P40 24gb, xeon e5-2690 v4, 128gb"
    advice = advised(machine=machine, model="Llama-3.3-70B")
    another = advice.case.another
    assert another is not None
    assert another.speed.decode >= FASTER * advice.case.pace


def test_a_speed_that_is_asked_for_is_reached_by_what_is_bought_or_said_to_be_missed() -> None:
    asks = {"machine": "RTX 4060 8gb 32gb", "model": "gpt-oss-20b", "thinking_tokens": 0.0}
    advice = advised(**asks, user_tps=80.0)
    assert "below the 80 tokens a second that you ask for" in advice.verdict
    bought = advice.decision.option
    assert bought is not None
    assert bought.decode >= 80.0
    assert "the waiting that it saves does not repay its price" in advice.verdict
    assert "Keep what you have" in advised(**asks).verdict
    dear = advised(**asks | {"model": "Qwen3-14B"}, user_tps=110.0)
    assert re.search(r"For the 110 tokens a second .*: .* for \$[\d,]+, \d+", dear.verdict)
    small = {"machine": "GTX 1660 Super 6GB, 32 GB DDR5", "model": "Gemma-4-31B", "max_usd": 2000.0}
    missed = advised(**small, user_tps=300.0)
    assert missed.decision.option is not None
    assert "Nothing sound within your limits reaches the 300 tokens a second" in missed.verdict


def test_a_stated_port_takes_a_dock() -> None:
    """24 GB hold Qwen3.6-27B in Q4_K_M; 12th generation laptops usually have Thunderbolt, but who
    says so can use a dock in any case.
    """
    asks = {"model": "Qwen3.6-27B", "texts": "house", "thinking_tokens": 0.0, "user_tps": 15.0}
    laptop = "laptop, i7-1260P, 32GB DDR4-3200"
    (unsaid,) = (each for each in advised(machine=laptop, **asks).options if each.name == DOCKED)
    assert any("wants OCuLink or Thunderbolt" in each for each in unsaid.odd)
    stated = advised(machine=f"{laptop}, Thunderbolt 4", **asks)
    (card,) = (each for each in stated.options if each.name == DOCKED)
    assert not card.odd
    assert stated.question.machine.host.bandwidth.value == pytest.approx(51.2e9, rel=0.2)


def test_a_setting_that_loses_nothing_is_said_before_another_model() -> None:
    advice = advised(
        machine="RTX 3090, Ryzen 9 5900X, 64GB DDR4-3600",
        model="Qwen3.6-27B",
        format="Q4_K_M",
        runtime="llama.cpp",
        think="off",
        user_tps=60.0,
    )
    assert advice.decision.model is not None
    assert advice.case.step is not None
    assert advice.case.step.loss == 0
    way = advice.summary.way
    assert "Free: drafting by its own MTP layers" in way
    assert way.index("MTP") < way.index(advice.decision.model.model.name.rpartition("/")[2])


def test_a_card_without_a_price_is_not_worth_it_where_what_one_has_is_enough() -> None:
    """gpt-oss-20b is 13 GB of an L40S's 48: 200 requests of 400 tokens an hour are no load."""
    advice = advised(
        machine="L40S 48GB, EPYC 9124, 128GB DDR5-4800",
        model="gpt-oss-20b",
        runtime="vLLM",
        users=4,
        requests_per_hour=200.0,
        prompt=3000.0,
        output=400.0,
        texts="house",
        also=("H100 80GB",),
    )
    assert "Keep what you have." in advice.verdict
    assert "Not worth it whatever it costs: what you have is enough." in advice.verdict
