"""Cost of each option, worked by hand, and properties of all options over the catalogue."""

from dataclasses import replace
from datetime import date, timedelta
from functools import cache

import numpy as np
import pytest

from advisor.advice.advise import advise
from advisor.advice.edits.changes import faster_changes
from advisor.advice.prices.power import PowerDraw, desktop_parts, draw_of, parts_for, smallest
from advisor.advice.prices.price import Price, bought, rented, selling_price, sold
from advisor.advice.prices.rows import last_day, rows_for_sale
from advisor.advice.speeds import Speed, speed_of
from advisor.advice.table.choice import choice_of
from advisor.advice.table.cost import Use
from advisor.advice.table.option import Option, OptionKind, Question, folded, rank
from advisor.advice.table.options import apis, cards_held, keep, options, rents
from advisor.advice.table.rules import counts_in
from advisor.advice.table.stack import ROUNDING, Stack, most_tokens
from advisor.advice.table.timed_machines import VALUED, TimedStack, card_stack
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine import from_catalog, from_spec
from advisor.machine.catalog import GPUS
from advisor.machine.machine import Form, Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.money import MoneyInputs, Ownership
from advisor.runtimes import LLAMA_CPP, VLLM
from advisor.runtimes.compare import compare, usable

TODAY = date(2026, 11, 22)
WORK = Workload(output=200)
MONEY = MoneyInputs(usd_per_kwh=0.20, reading_tps=10.0)
SLOW = Speed(
    strategy=PlacementStrategy.CPU_OFFLOAD,
    format="Q4_K_M",
    decode=5,
    low=4,
    high=6,
    first_token=2,
    load=60,
)
METERED = PowerDraw(idle=90, busy=760)
USE = Use(work=WORK, money=MONEY)


@cache
def ask(gpu: str = "RTX 3090", model: str = "Llama-3.1-70B", **owned: object) -> Question:
    own = {"gpu": gpu} if gpu else {}
    machine = from_spec.machine(MachineSpec(ram_gb=64, **own))
    return Question(
        model=catalog.model(model, "Q4_K_M"),
        machine=machine,
        work=Workload(),
        runtimes=(LLAMA_CPP,),
        money=MoneyInputs(),
        today=TODAY,
        ownership=Ownership(**{"form": machine.form, **owned}),
    )


def all_of(question: Question) -> tuple[Option, ...]:
    estimates = compare(question.model, question.machine, question.work, runtimes=(LLAMA_CPP,))
    best = next(iter(usable(estimates)), None)
    changes = faster_changes(question.model, question.machine, question.work, best)
    return options(question, speed_of(best) if best else None, changes)


def of_kind(options: tuple[Option, ...], kind: OptionKind) -> list[Option]:
    return [option for option in options if option.kind is kind]


def test_hours_by_hand() -> None:
    # waits 2 + 200 / 5 - 200 / 10 = 22 s a reply; 40 x 30.4375 x 22 / 3600 = 7.4403 h
    assert USE.hours_lost(SLOW) == pytest.approx(40 * 30.4375 * 22 / 3600)
    # busy 2 + 40 = 42 s a reply: 14.2042 h
    assert USE.busy_hours(SLOW) == pytest.approx(40 * 30.4375 * 42 / 3600)


def test_the_present_machine_costs_its_power_and_resale_value() -> None:
    # on 243.5 h, busy 14.2042 h: 229.2958 h x 90 W x 0.20 = 4.1273; 14.2042 h x 760 W x 0.20 =
    # 2.1590 USD; 720 USD tied up over 36 months are 20 USD
    cost = USE.owned(METERED, SLOW, tied_up=720)
    assert cost.idle_power == pytest.approx(4.1273, abs=1e-4)
    assert cost.busy_power == pytest.approx(2.1590, abs=1e-4)
    assert cost.total == pytest.approx(26.2863, abs=1e-3)


def test_who_rents_today_pays_by_use() -> None:
    # a turn takes 2 + max(40, 20) = 42 s, a start 5 min and 60 s of loading:
    # 30.4375 x (200 x 42 + 360) / 3600 = 74.0646 h, at 0.50 USD: 37.0323 USD
    often = Use(work=WORK, money=replace(MONEY, replies_per_day=200))
    assert often.rented(0.50, SLOW).total == pytest.approx(37.0323, abs=1e-4)
    typed = Use(work=WORK, money=replace(MONEY, rented_hours_per_day=24.0))
    assert typed.rented(0.50, SLOW).total == pytest.approx(0.50 * 24 * 30.4375)


def test_a_rent_for_typed_hours_is_fixed_so_that_few_replies_save_none_of_it() -> None:
    # rented 10 hours a day at 2.50 USD: 760.94 USD; a desktop of 3,600 USD: 100 USD a month
    money = replace(MONEY, rented_hours_per_day=10.0)
    base = replace(ask(), work=WORK, money=money)
    use = Use(work=WORK, money=money)
    kept = base.option(OptionKind.KEEP, "kept", SLOW, use.rented(2.50, SLOW))
    assert kept.monthly == pytest.approx(2.50 * 10 * 30.4375)
    price = bought("RTX 3090", 1, (("RTX 3090", 3600.0),))
    cost = use.owned(METERED, SLOW, usd=3600)
    desktop = base.option(OptionKind.MACHINE, "desktop", SLOW, cost, price)
    desktop = replace(desktop, kept=kept)
    # as fast, and cheaper before the first token
    assert desktop.break_even_tokens == 0
    by_use = replace(base, money=MONEY).option(
        OptionKind.KEEP, "kept", SLOW, USE.rented(2.50, SLOW)
    )
    later = replace(desktop, kept=by_use)
    assert later.break_even_tokens is None or later.break_even_tokens > 0


def test_starting_a_rented_machine_is_waited_for() -> None:
    # 360 s once a day: 30.4375 x 0.1 h
    assert USE.hours_starting(SLOW) == pytest.approx(3.04375)
    always_on = Use(work=WORK, money=replace(MONEY, rented_hours_per_day=24.0))
    assert always_on.hours_starting(SLOW) == 0


def test_add_against_replace_with_resale_by_hand() -> None:
    # One RTX 3090, 700 USD if sold. A second one: 900 typed + 239 for a 1200 W supply (700 + 400 W
    # do not fit the 750 W that one card has). An RTX 5090 instead: 2500 typed + a 1000 W supply at
    # 199.90, less 700.
    question = replace(
        ask(resale=700.0),
        money=MoneyInputs(
            own_price=(("RTX 3090", 900.0), ("RTX 5090", 2500.0)), resale_counts=True
        ),
    )
    by_kind = {(option.kind, option.name): option for option in all_of(question)}
    add = by_kind[OptionKind.ADD, "RTX 3090, 2 in all"]
    swap = by_kind[OptionKind.REPLACE, "RTX 5090"]
    assert add.upfront == pytest.approx(900 + 239)
    assert swap.upfront == pytest.approx(2500 + 199.9 - 700)
    assert add.cost is not None
    assert swap.cost is not None
    assert add.cost.purchase == pytest.approx(1139 / 36)
    assert add.cost.tied_up == pytest.approx(700 / 36)
    assert swap.cost.purchase == pytest.approx(2699.9 / 36)
    assert swap.cost.tied_up == 0
    # What is owned costs its power alone unless its value is to count; it counts where it is sold.
    plain = replace(question, money=replace(question.money, resale_counts=False))
    by_kind = {(option.kind, option.name): option for option in all_of(plain)}
    add = by_kind[OptionKind.ADD, "RTX 3090, 2 in all"]
    swap = by_kind[OptionKind.REPLACE, "RTX 5090"]
    assert add.cost is not None
    assert swap.cost is not None
    assert add.cost.tied_up == 0
    assert swap.cost.purchase == pytest.approx((2699.9 - 700) / 36)


def test_gain_worth_and_break_even_follow_from_two_options_by_hand() -> None:
    kept = ask().option(OptionKind.KEEP, "kept", SLOW, USE.owned(METERED, SLOW))
    fast = replace(SLOW, decode=20, low=16, high=25, first_token=1)
    base = replace(ask(), work=WORK, money=MONEY)
    kept = base.option(OptionKind.KEEP, "kept", SLOW, USE.owned(METERED, SLOW))
    cost = USE.owned(METERED, fast, usd=1800)
    price = bought("RTX 3090", 1, (("RTX 3090", 1800.0),))
    other = base.option(OptionKind.REPLACE, "faster", fast, cost, price)
    other = replace(other, kept=kept)
    # waits 22 s now, 1 s then: 40 x 30.4375 x 21 / 3600 = 7.10208 h at 30 USD = 213.0625 USD
    assert other.hours_saved == pytest.approx(7.10208, abs=1e-4)
    # busy 42 s now, 11 s then: 10.48403 h fewer at 760 W, more at 90 W, 0.20 USD: 1.40486 USD less
    saves = 213.0625 + 1.40486
    assert other.gain == pytest.approx(saves - 50, abs=1e-3)
    assert other.pays is True
    # 48.59514 more a month for 7.10208 h
    assert other.worth_from == pytest.approx((50 - 1.40486) / 7.10208, abs=1e-3)
    assert other.break_even_months == pytest.approx(1800 / saves, abs=1e-3)
    # fixed: 50 USD and 10.48403 h more idle at 90 W = 0.18871 USD; by use 10.48403 h less at 760 W
    # = 1.59357 USD and 213.0625 of waiting, over 243,500 tokens
    each = (213.0625 + 1.59357) / 243_500
    assert other.break_even_tokens == pytest.approx(50.18871 / each, rel=1e-4)


def test_an_option_that_costs_no_more_pays_from_the_first_token() -> None:
    base = replace(ask(resale=0.0), work=WORK, money=MONEY)
    kept = base.option(OptionKind.KEEP, "kept", SLOW, USE.owned(METERED, SLOW))
    fast = replace(SLOW, decode=20)
    called = base.option(OptionKind.API, "an API", fast, USE.called(0.5, 1.5))
    called = replace(called, kept=kept)
    # 1217.5 calls x (512 x 0.50 + 200 x 1.50) / 1e6 = 0.67693 USD; per million of 243,500 tokens
    assert called.monthly == pytest.approx(0.67693, abs=1e-5)
    assert called.per_million_tokens == pytest.approx(2.78, abs=1e-3)
    assert (called.worth_from, called.break_even_months, called.break_even_tokens) == (0, 0, 0)


def test_a_rented_machine_exists_as_one() -> None:
    # two single machines at 0.13 USD are not one with two, which costs 2 x 0.22 USD
    price, usd, _ = rented("RTX 3090", 2, MONEY.own_rent) or (None, 0.0, 0)
    assert usd == 0.44
    assert price is not None
    assert "runpod (community), 2x RTX 3090" in price.note
    assert rented("RTX 4070", 1, MONEY.own_rent) is not None
    assert rented("RTX 4070", 2, MONEY.own_rent) is None


def test_a_larger_machine_is_rented_whole() -> None:
    # three RTX 4090: the machine with four, 4 x 0.34 USD
    price, usd, gpus = rented("RTX 4090", 3, MONEY.own_rent) or (None, 0.0, 0)
    assert (usd, gpus) == (1.36, 4)
    assert price is not None
    assert price.note.endswith("with 4")


@pytest.mark.parametrize(
    ("form", "before", "after", "parts"),
    [
        (Form.DESKTOP, 1, 1, []),
        (Form.DESKTOP, 1, 2, [1200]),
        (Form.DESKTOP, 0, 1, [750]),  # a PC without a card has a supply of 625 W
        (Form.DESKTOP, 2, 3, [4, 1, 1600]),  # full tower, riser; the board of two slots stays
        (Form.DESKTOP, 3, 4, [1, 750]),  # 1,800 W: beside the 1,600 W of three, the smallest
        (Form.SERVER, 1, 8, []),
        (Form.DESKTOP, 2, 6, [7, 8, 1, 1, 1, 1, 1, 1, 1600]),
        (Form.LAPTOP, 0, 1, [1, 750]),
        (Form.MAC, 0, 1, []),
    ],
)
def test_further_cards_need_further_parts(form, before, after, parts) -> None:
    # 350 W a card and 400 W: 750, 1100, 1450, 2500 W, of which two cards have 1200 W already
    card = from_catalog.gpu("RTX 3090")
    rows = parts_for(form, (card,) * before, (card,) * after)
    assert [part.size for part in rows] == parts


def test_three_cards_on_a_board_for_two_need_a_riser() -> None:
    # 35 USD on record, 45 as typed
    def three(**money: object) -> Option:
        options = all_of(replace(ask("Apple M4 Max 40c"), money=MoneyInputs(**money)))
        return next(option for option in options if option.name == "New desktop with 3x RTX 4080")

    on_record = three()
    typed = three(own_price=(("riser", 45.0),))
    assert "PCIe 4.0 riser of 16 lanes $35" in on_record.price.note
    assert on_record.may_win
    assert typed.upfront == pytest.approx((on_record.upfront or 0.0) + 10)


def test_a_laptop_takes_a_card_in_a_dock_and_nothing_else() -> None:
    question = replace(ask("RTX 4090 Laptop 16GB"), ownership=Ownership(form=Form.LAPTOP))
    options = all_of(question)
    added = of_kind(options, OptionKind.ADD)
    assert added
    assert all("in a dock" in option.name for option in added)
    # a dock of 299 USD and a supply for the card alone: 360 + 400 W take 850 W, 134.94 USD
    (card,) = [option for option in added if option.name == "RTX 5080 in a dock"]
    alone = selling_price("RTX 5080")
    assert alone is not None
    assert card.upfront == pytest.approx(alone.usd + 299 + 134.94)
    assert not of_kind(options, OptionKind.REPLACE)


def test_a_mac_takes_no_card() -> None:
    options = all_of(ask("Apple M4 Max 40c"))
    assert not of_kind(options, OptionKind.ADD)
    assert not of_kind(options, OptionKind.REPLACE)
    assert of_kind(options, OptionKind.RENT)


def test_a_cable_is_slower_than_a_slot() -> None:
    # a prompt's weights are copied over it: 4 lanes in place of 16
    dock = replace(ask(""), ownership=Ownership(form=Form.MINI))
    docked = {option.name: option for option in of_kind(all_of(dock), OptionKind.ADD)}
    slotted = {option.name: option for option in of_kind(all_of(ask("")), OptionKind.ADD)}
    slow = docked["RTX 5080 in a dock"].speed
    fast = slotted["RTX 5080"].speed
    assert slow is not None
    assert fast is not None
    assert slow.first_token > fast.first_token


def test_the_present_machine_comes_first_and_is_compared_with_nothing() -> None:
    options = all_of(ask())
    assert options[0].kind is OptionKind.KEEP
    assert options[0].upfront == 0
    assert options[0].pays is None
    assert all(option.kept is options[0] for option in options[1:])
    ranks = [rank(option) for option in options[1:]]
    assert ranks == sorted(ranks)


def test_every_kind_is_there_for_a_card_that_offloads() -> None:
    assert {option.kind for option in all_of(ask())} == set(OptionKind)


def test_one_more_card_is_answered_even_without_a_gain() -> None:
    # an 8B model lies in one RTX 3090: a second one is an expense and nothing else
    options = all_of(ask(model="Llama-3.1-8B"))
    (second,) = [option for option in options if option.name == "RTX 3090, 2 in all"]
    assert second.pays is False
    assert second.break_even_months is None


def test_without_cards_several_are_added_and_none_replaced() -> None:
    options = all_of(ask(""))
    assert not of_kind(options, OptionKind.REPLACE)
    added = [option.name for option in of_kind(options, OptionKind.ADD)]
    assert len(added) == len(set(added))
    assert any(name.startswith("2x ") for name in added)


def test_a_rented_machine_leaves_the_owned_one_and_its_value() -> None:
    # 720 USD over 36 months stay tied up; by the month 730.5 h at 0.44 USD, and no start
    by_name = {
        option.name: option
        for option in all_of(replace(ask(resale=720.0), money=MoneyInputs(resale_counts=True)))
        if option.kind is OptionKind.RENT
    }
    by_use = by_name["2x RTX 3090"]
    monthly = by_name["2x RTX 3090, by the month"]
    for option in (by_use, monthly):
        assert option.upfront == 0
        assert option.standing == pytest.approx(20)
        assert option.cost is not None
        assert option.cost.tied_up == 0
        assert option.kept is not None
        # what is owned is worth as much to its owner either way
        more = option.cost.total + 20 - (option.kept.monthly or 0.0)
        assert option.hours_saved is not None
        assert option.gain == pytest.approx(30 * option.hours_saved - more)
    assert monthly.cost is not None
    assert monthly.cost.rent == pytest.approx(0.44 * 730.5)
    assert by_use.hours_lost is not None
    assert monthly.hours_lost is not None
    assert by_use.hours_lost > monthly.hours_lost


def fastest_in_vllm(machines: list[Machine]) -> list[Speed | None]:
    model = catalog.model("Qwen3-14B", "Q4_K_M")
    timed = TimedStack(Stack(machines), model, Workload(), (VLLM,))
    return list(timed.fastest(strategies=(PlacementStrategy.GPU_RESIDENT,)))


def test_speeds_that_are_asked_for_later_join_those_known() -> None:
    machines = [from_spec.machine(MachineSpec(gpu=gpu)) for gpu in ("RTX 3090", "RTX 4090")]
    timed = TimedStack(Stack(machines), catalog.model("Qwen3-14B", "Q4_K_M"), Workload(), (VLLM,))
    first, nothing = timed.fastest(np.array([True, False]), (PlacementStrategy.GPU_RESIDENT,))
    assert nothing is None
    both = list(timed.fastest())
    assert both[0] == first
    assert both == fastest_in_vllm(machines)


def test_cards_of_two_kinds_are_as_fast_as_alone() -> None:
    # vLLM divides layers evenly: two cards wait for the slower, 360 GB/s of 936
    pairs = [f"RTX 3090 + {other}" for other in ("RTX 3060 12GB", "RTX 5080", "RTX 4070")]
    machines = [from_spec.machine(MachineSpec(gpu=pair, ram_gb=64)) for pair in pairs]
    together = fastest_in_vllm(machines)
    for machine, speed in zip(machines, together, strict=True):
        (alone,) = fastest_in_vllm([machine])
        assert alone is not None
        assert speed is not None
        assert speed.decode == pytest.approx(alone.decode, rel=1e-12)


@pytest.mark.parametrize("users", [1, 8])
@pytest.mark.parametrize("name", ["Llama-3.1-70B", "Qwen3-30B-A3B"])
def test_bounds_leave_out_no_runtime_that_is_fastest(name: str, users: int) -> None:
    """Runtimes together give the largest speed of each alone, which no bound leaves out."""
    gpus = ["RTX 3090", "2x RTX 3090", "RTX 3090 + RTX 3060 12GB", "RTX 5090", "2x RTX 4090"]
    machines = [from_spec.machine(MachineSpec(gpu=gpu, ram_gb=64)) for gpu in gpus]
    fleet = Stack(machines)
    model = catalog.model(name, "Q4_K_M")
    work = Workload(users=users)
    every = np.ones(len(gpus), dtype=bool)
    together = TimedStack(fleet, model, work, VALUED)
    for strategies in ((PlacementStrategy.CPU_OFFLOAD,), tuple(PlacementStrategy)):
        each = [
            TimedStack(fleet, model, work, (runtime,)).fastest(every, strategies)
            for runtime in VALUED
        ]
        expected = [
            max(
                (
                    speed
                    for speed, runtime in zip(speeds, VALUED, strict=True)
                    if speed is not None and counts_in(machine, runtime.engine)
                ),
                key=lambda speed: speed.decode,
                default=None,
            )
            for machine, *speeds in zip(machines, *each, strict=True)
        ]
        assert list(together.fastest(every, strategies)) == expected


@pytest.mark.parametrize("users", [1, 3, 40])
@pytest.mark.parametrize("name", ["Llama-3.1-70B", "gpt-oss-120b"])
def test_no_part_outside_the_gpus_is_faster_than_its_bound(name: str, users: int) -> None:
    """Cards on links of 16 and of 8 lanes: the slower card may have the faster link."""
    gpus = ["RTX 3060 12GB + RTX 4060 Ti 16GB", "RTX 3090 + RTX 4060 Ti 16GB", "RTX 5090", "none"]
    model = catalog.model(name, "Q4_K_M")
    work = Workload(users=users)
    tried = 0
    for gpu in gpus:
        machine = from_spec.machine(MachineSpec(gpu=gpu, ram_gb=128))
        for own in compare(model, machine, work, runtimes=VALUED):
            if own.strategy is PlacementStrategy.GPU_RESIDENT or own.constants is None:
                continue
            bound = most_tokens(own.model, machine, own.work, own.runtime, own.constants)
            assert own.decode_tps is not None
            assert float(own.decode_tps) <= float(bound) * ROUNDING, own.runtime.name
            tried += 1
    assert tried > 10


def test_six_cards_take_a_server_board_with_its_processor_by_hand() -> None:
    # board with processor and memory 5520, frame 115, 6 risers 35, 2 TB 290; 2500 W take
    # 1600 and 1000 W, 599.99 + 199.90
    parts = desktop_parts((from_catalog.gpu("RTX 3090"),) * 6)
    known = [part.usd or 0.0 for part in parts]
    assert sum(known) == pytest.approx(5520 + 115 + 6 * 35 + 290 + 599.99 + 199.9)


def test_a_new_desktop_is_its_parts() -> None:
    # 2x RTX 3090 at 1120, 8 cores 188.99, 64 GB 900, 2 TB 290, board 244.94, case 124.99, 1200 W
    # 239
    by_name = {option.name: option for option in all_of(ask("Apple M2 Max 38c"))}
    desktop = by_name["New desktop with 2x RTX 3090"]
    assert desktop.kind is OptionKind.MACHINE
    parts = 188.99 + 900 + 290 + 244.94 + 124.99 + 239
    assert desktop.upfront == pytest.approx(2 * 1120 + parts)
    assert desktop.price.date == "2026-09-09"  # of the card: supply and case are small parts
    assert not any(
        "desktop" in option.name for option in all_of(ask()) if option.kind is OptionKind.MACHINE
    )


def test_an_overloaded_option_pays_nothing_and_loses_at_most_all_hours() -> None:
    busy = replace(ask(), money=MoneyInputs(replies_per_day=200_000))
    for option in all_of(busy):
        if not option.keeps_up:
            assert option.pays in (False, None)
        assert option.hours_lost is None or option.hours_lost <= 365.25 * 2 + 365.25 * 2


def test_an_api_of_unknown_speed_pays_only_if_it_is_cheaper_without_any_waiting() -> None:
    kept = ask().option(OptionKind.KEEP, "kept", SLOW, USE.owned(METERED, SLOW))
    assert kept.with_waiting is not None
    for usd, pays in ((1.0, None), (1e6, False)):
        called = ask().option(OptionKind.API, "an API", None, USE.called(usd, usd))
        called = replace(called, kept=kept)
        assert called.pays is pays


def test_an_apis_first_token_is_a_measured_or_a_usual_time() -> None:
    # groq's median for Llama-3.3-70B is 0.12 s; a typed API has none, so it is half a second
    question = replace(
        ask("RTX 3090", "Llama-3.3-70B"),
        money=MoneyInputs(api_usd_in=0.1, api_usd_out=0.4, api_tps=100.0),
    )
    firsts = {option.name: option.speed.first_token for option in apis(question) if option.speed}
    assert firsts["groq: llama-3.3-70b-versatile"] == 0.12
    assert firsts["Your API"] == 0.5
    # 0.5 s are lost 1217.5 times a month, and nothing else at 100 tokens/s
    (own,) = [option for option in apis(question) if option.name == "Your API"]
    assert own.hours_lost == pytest.approx(1217.5 * 0.5 / 3600)


def test_an_api_without_a_published_speed_has_its_models_median_by_hand() -> None:
    # Qwen3.6-27B on 2026-08-22: 59.35 tokens/s after 1.46 s, and a quarter to four times of it
    question = ask("RTX 3090", "Qwen3.6-27B")
    (call,) = apis(question)
    assert call.speed is not None
    assert (call.speed.low, call.speed.high) == pytest.approx((59.35 / 4, 59.35 * 4))
    assert (call.speed.decode, call.speed.first_token) == (59.35, 1.46)
    assert call.price.note.endswith("at the median speed of the model's providers on 2026-08-22")
    typed = replace(question, money=MoneyInputs(api_tps=30.0))
    (call,) = apis(typed)
    assert call.speed is not None
    assert call.speed.decode == call.speed.high == 30
    published = ask("RTX 3090", "Llama-3.3-70B")
    speeds = {call.name: call.speed for call in apis(published)}
    groq = speeds["groq: llama-3.3-70b-versatile"]
    assert groq is not None
    assert groq.decode == groq.low == 280
    older = ask("RTX 3090", "DeepSeek-R1")
    assert [call.speed for call in apis(older)] == [None]


def test_a_part_without_a_price_on_record_is_typed() -> None:
    money = MoneyInputs(own_price=(("dock", 110.0), ("RTX 5080", 1000.0)))
    docked = replace(ask("RTX 4090 Laptop 16GB"), money=money)
    docked = replace(docked, ownership=Ownership(form=Form.LAPTOP))
    (card,) = [option for option in all_of(docked) if option.name == "RTX 5080 in a dock"]
    # and a supply of 850 W, 134.94 USD
    assert card.upfront == pytest.approx(1110 + 134.94)
    assert card.price.date == "2025-07-23"


def test_a_rented_machine_is_taken_whole() -> None:
    # 671 billion weights in 4 bits need 6 of 80 GB; the smallest machine that exists has 8
    question = replace(
        ask("H100", "DeepSeek-V3"),
        model=catalog.model("DeepSeek-V3", "AWQ"),
        runtimes=(VLLM,),
    )
    names = {option.name: option for option in rents(question, cards_held(question))}
    assert "6x H100 SXM" not in names
    whole = names["8x H100 SXM"]
    assert whole.speed is not None
    here = replace(question.machine, gpus=(from_catalog.gpu("H100 SXM"),) * 8)
    (alone,) = [
        estimate
        for estimate in compare(question.model, here, question.work, runtimes=(VLLM,))
        if estimate.strategy is PlacementStrategy.GPU_RESIDENT
    ]
    assert alone.decode is not None
    assert whole.speed.decode == pytest.approx(float(alone.decode.value), rel=1e-9)


def test_who_rents_adds_and_replaces_nothing() -> None:
    options = all_of(ask(rented_at=0.25))
    assert options[0].cost is not None
    assert options[0].cost.rent > 0
    assert options[0].cost.idle_power == 0
    assert not of_kind(options, OptionKind.ADD)
    assert not of_kind(options, OptionKind.REPLACE)


def test_old_prices_and_launch_prices_are_known_as_such() -> None:
    # in January 2026, when launch prices of 2025 were no year old
    options = all_of(replace(ask(), today=date(2026, 1, 1)))
    assert any(choice.price.listed for choice in options)
    for option in options:
        if option.price.listed:
            assert "launch MSRP" in option.price.note
        if option.kind is OptionKind.RENT:
            assert option.stale == (not option.dated)  # dated ones are of that autumn


def test_a_large_part_that_is_old_makes_the_whole_old() -> None:
    by_name = {option.name: option for option in all_of(replace(ask(), today=date(2026, 7, 31)))}
    add = by_name["RTX 3090, 2 in all"]
    assert add.price.date == "2026-09-09"  # supply of July 2025: 239 of 1,359, 18 %
    assert not add.stale
    cheap = [option for option in by_name.values() if option.kind is OptionKind.ADD]
    halves = [option for option in cheap if _supply(option) > 0.38 * (option.upfront or 0.0)]
    assert halves
    for option in halves:
        assert (option.price.date or "") <= "2025-07-23"
        assert option.stale


def _supply(option: Option) -> float:
    return sum(part.usd or 0.0 for part in option.parts if part.part == "psu")


OWNED = ("RTX 3090", "RTX 4090", "RTX 3060 12GB", "RX 7900 XTX", "")
EACH = pytest.mark.parametrize("gpu", OWNED)


@EACH
def test_nothing_unpriced_undated_or_too_slow_wins(gpu: str) -> None:
    for model in ("Llama-3.1-70B", "Qwen3-30B-A3B", "Llama-3.1-8B", "gpt-oss-120b"):
        options = all_of(ask(gpu, model))
        best = choice_of(options, 6.0, 20.0).cheapest
        if best is not None:
            assert best.monthly is not None
            assert best.price.date or best.price.typed or best.price.usd == 0
            assert best.keeps_up
            assert best.kind is not OptionKind.KEEP


def test_adding_one_to_one_never_costs_more_than_buying_two(subtests: pytest.Subtests) -> None:
    for gpu in sorted(name for name in sold() if not GPUS.find(name).unified):
        with subtests.test(str(gpu)):
            card = from_catalog.gpu(gpu)
            form = Form.DESKTOP
            price = bought(gpu, 1, MONEY.own_price, parts_for(form, (card,), (card, card)))
            two = bought(gpu, 2, MONEY.own_price, parts_for(form, (), (card, card)))
            assert price.usd is None or two.usd is None or price.usd <= two.usd
            assert (price.usd is None) <= (two.usd is None)
            power = [draw_of(replace(ask().machine, gpus=(card,) * count)) for count in (2, 2)]
            assert power[0] == power[1]


@pytest.mark.parametrize("name", ["RTX 3090", "RTX 5090", "RX 7900 XTX", "RTX 4090"])
def test_a_lower_price_never_lowers_a_rank(name: str) -> None:
    places: list[list[int]] = []
    for usd in (4000.0, 2500.0, 1000.0, 400.0, 50.0):
        question = replace(ask(), money=MoneyInputs(own_price=((name, usd),)))
        options = all_of(question)
        mine = [
            at
            for at, option in enumerate(options)
            if name in option.name
            and option.upfront is not None
            and option.kind in (OptionKind.ADD, OptionKind.REPLACE)
        ]
        places.append([mine[0]])
    assert places == sorted(places, reverse=True)


def test_a_price_without_a_date_ranks_behind_all_dated_ones() -> None:
    base = ask()
    kept = base.option(OptionKind.KEEP, "kept", SLOW, USE.owned(METERED, SLOW))
    cost = USE.owned(METERED, SLOW, usd=10)
    sources = ("a page",)
    cheap, dear = (
        replace(
            base.option(
                OptionKind.REPLACE,
                when,
                SLOW,
                USE.owned(METERED, SLOW, usd=usd),
                Price(usd=usd, date=when, sources=sources),
            ),
            kept=kept,
        )
        for when, usd in (("", 10.0), ("2026-11", 9000.0))
    )
    assert cheap.cost == cost
    assert rank(dear) < rank(cheap)
    assert not cheap.may_win
    answers = [rank(option) for option in all_of(ask(model="Llama-3.1-8B"))[1:]]
    assert answers == sorted(answers)


def test_a_beaten_option_is_folded_and_the_present_machine_never_is() -> None:
    options = all_of(ask())
    hidden = folded(options)
    assert not hidden[0]
    assert any(hidden)
    for option, hide in zip(options, hidden, strict=True):
        better = [
            other
            for other in options
            if None not in (option.speed, other.speed, option.monthly, other.monthly)
            and other.speed.decode > option.speed.decode
            and other.monthly < option.monthly
        ]
        worse = option.pays is False and option.speed is not None and options[0].speed is not None
        worse = worse and option.speed.decode < options[0].speed.decode
        assert hide == bool((better or worse) and option is not options[0])


def test_no_replies_no_hours_and_nothing_pays_for_waiting() -> None:
    question = replace(ask(), money=MoneyInputs(replies_per_day=0))
    options = all_of(question)
    assert all(option.hours_lost in (None, 0.0) for option in options)
    assert all(option.per_million_tokens is None for option in options)
    assert options[0].cost is not None
    assert options[0].cost.busy_power == 0


def test_a_machine_that_runs_nothing_is_still_the_present_machine() -> None:
    machine = from_spec.machine(MachineSpec(ram_gb=2))
    question = replace(ask(""), machine=machine)
    options = all_of(question)
    assert options[0].speed is None
    assert options[0].hours_lost is None
    best = choice_of(options, 6.0, 20.0).cheapest
    assert best is not None
    assert best.speed is not None


def test_keeping_says_the_machine() -> None:
    assert keep(ask(), SLOW).name.startswith("RTX 3090")


def test_the_newest_street_price_stands_before_the_launch() -> None:
    row = selling_price("RTX 3090")
    assert row is not None
    assert (row.usd, row.date, row.condition) == (1120, "2026-09-09", "used")
    assert smallest("psu", 5000) is None


def test_several_machines_are_compared_with_fewer_cards_than_machines() -> None:
    """A card in place of two boxes stands in one machine; it was divided between none."""
    boxes = from_spec.machine(MachineSpec(gpu="GB10", gpu_count=2))
    assert boxes.nodes == 2
    made = card_stack(boxes, ("RTX 3090",), ("RTX 3090",)).machines
    assert {len(each.gpus) for each in made} >= {1, 2}
    assert all(len(each.gpus) >= each.nodes for each in made)


def test_a_price_of_half_a_year_ago_is_odd_of_a_year_left_out_and_a_typed_one_neither() -> None:
    model = catalog.model("Llama-3.3-70B", "Q4_K_M")
    here = from_spec.machine(MachineSpec(gpu="RTX 3060 12GB", ram_gb=64))
    newest = last_day(max(row.date for row in rows_for_sale("RTX A5000")))
    assert newest is not None
    typed = (("RTX A5000", 1500.0),)
    for own_price, days, shown, old in (
        ((), 200, True, True),
        ((), 400, False, False),
        (typed, 400, True, False),
    ):
        money = MoneyInputs(own_price=own_price)
        today = newest + timedelta(days=days)
        answer = advise(model, here, Workload(), money=money, today=today)
        pairs = [each for each in answer.options if each.name == "2x RTX A5000"]
        assert bool(pairs) is shown
        assert all(any("newest price" in odd for odd in each.odd) is old for each in pairs)
