"""Turning points of a verdict: there the option costs as much as the present machine."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from advisor.advice.advise import advise
from advisor.advice.edits.changes import drafted_work
from advisor.advice.prices.power import PowerDraw
from advisor.advice.prices.price import Price
from advisor.advice.speeds import Speed
from advisor.advice.table.choice import Choice, choice_of, in_question, nearest
from advisor.advice.table.cost import MonthlyCost, Use
from advisor.advice.table.option import Option, OptionKind, Question
from advisor.advice.table.turning import gain, inputs, turning_points, what_changes
from advisor.advice.words.phrases import HARDLY_FASTER, pays_when
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine import from_spec
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.money import MoneyInputs, Ownership
from advisor.runtimes import FLEXGEN, LLAMA_CPP

MONEY = MoneyInputs(usd_per_kwh=0.0, reading_tps=10.0)
USE = Use(work=Workload(output=200), money=MONEY)
NO_POWER = PowerDraw(idle=0, busy=0)


def at_speed(decode: float) -> Speed:
    return Speed(
        strategy=PlacementStrategy.CPU_OFFLOAD,
        format="",
        decode=decode,
        low=0.8 * decode,
        high=1.25 * decode,
        first_token=0.0,
        load=None,
    )


def option(kind: OptionKind, decode: float, usd: float = 0.0, kept: Option | None = None) -> Option:
    speed = at_speed(decode)
    return Option(
        kind=kind,
        name=f"at {decode:g}",
        speed=speed,
        upfront=usd,
        cost=USE.owned(NO_POWER, speed, usd=usd),
        price=Price(usd=usd, date="2026-11-01"),
        use=USE,
        kept=kept,
    )


KEPT = option(OptionKind.KEEP, 5.0)
BOUGHT = option(OptionKind.ADD, 20.0, 1800.0, KEPT)


def test_turning_points_by_hand() -> None:
    # 40 replies of 200 tokens: at 5 tokens/s each waits 40 - 20 = 20 s, at 20 tokens/s nothing;
    # 40 x 30.4375 x 20 / 3600 = 6.7639 h at 30 USD = 202.92 USD against 1800 / 36 = 50 USD.
    # It turns at 50 / 202.92 of the replies or of the hour, at 202.92 / 50 of the price, and where
    # 200 / S - 20 = 20 x 50 / 202.92, so S = 200 / 24.928 = 8.0231 tokens/s; at its own speed then
    # a wait of 20 - 4.928 = 15.072 s, 200 / 35.072 = 5.7025 tokens/s.
    points = {point.name: point for point in turning_points(BOUGHT)}
    share = 50 / 202.9167
    assert points["replies a day"].value == pytest.approx(40 * share, rel=1e-4)
    assert points["worth of an hour"].value == pytest.approx(30 * share, rel=1e-4)
    assert points["price"].share == pytest.approx(1 / share, rel=1e-4)
    assert points["speed now"].value == pytest.approx(8.0231, rel=1e-4)
    assert points["speed then"].value == pytest.approx(5.7025, rel=1e-4)
    above = {name for name, point in points.items() if point.above}
    assert above == {"replies a day", "worth of an hour", "speed then"}


def test_the_gain_is_nothing_at_a_turning_point() -> None:
    known = {name: np.asarray(entry.value) for name, entry in inputs(BOUGHT).items()}
    points = turning_points(BOUGHT)
    assert points
    for point in points:
        left = gain({**known, point.name: np.asarray(point.value)}, BOUGHT)
        assert float(left) == pytest.approx(0, abs=1e-6)


def test_it_is_said_which_way() -> None:
    words = what_changes(BOUGHT)
    assert words.startswith(f"{BOUGHT.name} pays. It would not ")
    assert "tokens/s" not in words  # 8.0 and 5.7 are outside of 4 to 6.25 and of 16 to 25
    # 50 / 202.92 of the replies are enough, so a tenth is not; at 180 USD, 5 / 202.92 are
    by_far = option(OptionKind.ADD, 20.0, 180.0, KEPT)
    assert what_changes(by_far) == f"{by_far.name} pays, and would with a tenth of the answers."
    dear = option(OptionKind.ADD, 20.0, 18_000.0, KEPT)
    assert what_changes(dear).startswith(f"{dear.name} does not pay. It would ")
    # 500 USD a month against 202.92: from 40 x 500 / 202.92 = 98.56 replies
    assert "from 99 answers a day" in what_changes(dear)
    assert nearest((KEPT, dear, BOUGHT)) is dear


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_at_the_edge_no_value_is_named_that_is_the_present_one(share: float) -> None:
    # 202.92 USD of waiting a month for 36 months: 7,305 USD
    even = option(OptionKind.ADD, 20.0, share * 202.9167 * 36, KEPT)
    assert what_changes(even) == f"{even.name} saves about what it costs, no more."


def test_what_is_odd_is_in_question_only_where_nothing_else_would_pay() -> None:
    odd = replace(BOUGHT, odd=("Few run it.",))
    dear = option(OptionKind.ADD, 20.0, 18_000.0, KEPT)
    choice = Choice(safe=None, reason="", cheapest=odd)
    assert in_question((KEPT, odd, dear), choice) is dear
    assert in_question((KEPT, odd), choice) is odd
    assert in_question((KEPT, BOUGHT, dear), replace(choice, cheapest=BOUGHT)) is BOUGHT


def test_what_is_odd_gives_way_to_a_purchase_that_pays() -> None:
    odd = replace(BOUGHT, odd=("Few run it.",))
    sound = option(OptionKind.ADD, 20.0, 180.0, KEPT)
    choice = Choice(safe=None, reason="", cheapest=odd)
    assert in_question((KEPT, odd, sound), choice) is sound


def test_a_slow_machine_turns_on_what_one_reads_along_with() -> None:
    slow = option(OptionKind.ADD, 7.0, 60.0, KEPT)
    fast = option(OptionKind.ADD, 20.0, 180.0, KEPT)
    choice = Choice(safe=None, reason="", cheapest=slow)
    assert in_question((KEPT, slow, fast), choice, reading_tps=10.0) is fast
    assert in_question((KEPT, slow, fast), choice, reading_tps=5.0) is slow


def test_what_is_rented_is_called_so() -> None:
    rented = replace(BOUGHT, kind=OptionKind.RENT, name="RTX 3090, by the month")
    assert what_changes(rented).startswith("RTX 3090, rented, pays.")


def test_a_name_with_a_comma_is_set_off_by_another() -> None:
    several = replace(option(OptionKind.ADD, 20.0, 180.0, KEPT), name="RTX 3090, 2 in all")
    assert what_changes(several).startswith("RTX 3090, 2 in all, pays")


def test_what_is_hardly_faster_is_no_reason_to_pay() -> None:
    # waits of 20 s now; 200 / 5.3 - 20 = 17.74 s, 1.128 times less, and 200 / 5.5 - 20 = 16.36 s,
    # 1.222 times less; 40 x 30.4375 x 2.264 / 3600 x 30 = 22.97 USD repay 360 / 36 = 10 USD
    hardly, clearly = (option(OptionKind.ADD, tps, 360.0, KEPT) for tps in (5.3, 5.5))
    assert hardly.gain == pytest.approx(22.97 - 10, abs=0.01)
    assert pays_when(hardly) == HARDLY_FASTER
    assert choice_of([KEPT, hardly], 6.0, 40.0).cheapest is None
    assert choice_of([KEPT, hardly, clearly], 6.0, 40.0).cheapest is clearly
    cheaper = option(OptionKind.ADD, 5.3, 0.0, KEPT)
    assert not cheaper.rests_on_little


def test_options_without_effect_are_not_listed() -> None:
    slower = option(OptionKind.ADD, 4.0, 1800.0, KEPT)
    names = {point.name for point in turning_points(slower)}
    assert "replies a day" not in names
    assert nearest((KEPT, slower)) is None


def test_a_model_with_drafting_layers_drafts_where_its_runtime_can() -> None:
    work = Workload()
    able = catalog.model("DeepSeek-V3", "Q4_K_M")
    drafted = drafted_work(able, work, LLAMA_CPP)
    assert drafted is not None
    assert (drafted.drafted, drafted.acceptance) == (2, 0.85)  # acceptance of DeepSeek-V3
    assert drafted_work(catalog.model("Llama-3.1-8B", "Q4_K_M"), work, LLAMA_CPP) is None
    assert drafted_work(able, work, FLEXGEN) is None
    assert drafted_work(able, replace(work, draft="ngram"), LLAMA_CPP) is None


def test_drafts_are_offered_of_every_model_whose_config_counts_drafting_layers() -> None:
    """mtp_num_hidden_layers is 1 in the configs of Qwen3.6-27B and Qwen3.6-35B-A3B, and
    num_nextn_predict_layers in that of GLM-4.5-Air (huggingface.co, 2026-11-29).
    """
    for name in ("Qwen3.6-27B", "Qwen3.6-35B-A3B", "GLM-4.5-Air"):
        assert drafted_work(catalog.model(name, "Q4_K_M"), Workload(), LLAMA_CPP) is not None


def test_starts_are_fixed_so_that_few_replies_pay_no_rent_by_hand() -> None:
    # A session of an hour a day is 30.4375 h a month, at 0.50 USD 15.21875 USD; a start takes 5 min
    # and 60 s of loading, 3.04375 h a month, at 30 USD of waiting 91.3125 USD: 106.53125 USD,
    # however many replies there are. A reply waits 22 s now and 1 + 200 / 20 - 200 / 10 < 1, so
    # 1 s, then: 21 s at 30 USD/h are 0.175 USD less; its turn fits the hour.
    slow = Speed(
        strategy=PlacementStrategy.CPU_OFFLOAD,
        format="Q4_K_M",
        decode=5,
        low=4,
        high=6,
        first_token=2,
        load=60,
    )
    fast = replace(slow, decode=20, low=16, high=25, first_token=1)
    money = MoneyInputs(usd_per_kwh=0.0, reading_tps=10.0)
    use = Use(work=Workload(output=200), money=money)
    base = Question(
        model=catalog.model("Llama-3.1-70B", "Q4_K_M"),
        machine=from_spec.machine(MachineSpec()),
        work=Workload(output=200),
        runtimes=(LLAMA_CPP,),
        money=money,
        ownership=Ownership(resale=0.0),
        today=date(2026, 11, 22),
    )
    kept = base.option(OptionKind.KEEP, "kept", slow, MonthlyCost())
    price = Price(date="2026-11", note="a cloud", sources=("a page",))
    rent = base.option(OptionKind.RENT, "r", fast, use.rented(0.50, fast), price)
    rent = replace(rent, kept=kept)
    replies_a_month = 106.53125 / 0.175
    assert rent.break_even_tokens == pytest.approx(200 * replies_a_month)
    # that is 20 replies a day, also where the tornado's turning points are found
    (replies,) = (point for point in turning_points(rent) if point.name == "replies a day")
    assert replies.value == pytest.approx(replies_a_month / 30.4375)
    assert replies.value == pytest.approx(20)


@pytest.mark.parametrize("gpu", ["RTX 3090", "RTX 4060 Ti 16GB", "Apple M4 Max 40c"])
def test_replies_at_the_turning_point_are_those_of_the_break_even(gpu: str) -> None:
    machine = from_spec.machine(MachineSpec(gpu=gpu, ram_gb=64))
    options = advise(catalog.model("Llama-3.1-70B", "Q4_K_M"), machine, Workload()).options
    money = MoneyInputs()
    compared = 0
    for option in options[1:]:
        for point in turning_points(option):
            if point.name == "replies a day" and option.break_even_tokens:
                replies = option.break_even_tokens / option.tokens * money.replies_per_day
                assert point.value == pytest.approx(replies)
                compared += 1
    assert compared >= 5


def test_a_turning_point_beyond_ten_times_what_is_stated_is_not_named() -> None:
    dear = option(OptionKind.ADD, 20.0, 180_000.0, KEPT)
    # 5,000 USD a month against 202.92: from 25 times the replies; no speed mends that
    (replies,) = (point for point in turning_points(dear) if point.name == "replies a day")
    assert replies.share == pytest.approx(5000 / 202.92, rel=0.01)
    assert "replies a day" not in what_changes(dear)
