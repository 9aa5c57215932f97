"""Prices of host parts and of rented machines in options, worked by hand."""

from dataclasses import replace
from datetime import date

import pytest

from advisor.advice.edits.changes import FAST_RAM
from advisor.advice.edits.edit import Edited
from advisor.advice.prices.power import parts_for
from advisor.advice.prices.price import bought, rented, rents
from advisor.advice.speeds import Speed
from advisor.advice.table.choice import choice_of
from advisor.advice.table.option import Option, Question
from advisor.advice.table.options import cards_held, changes, keep, machine_speed, options, replaced
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine import from_catalog, from_spec
from advisor.machine.machine import Form
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.money import MoneyInputs, Ownership, slots
from advisor.runtimes import LLAMA_CPP, VLLM
from advisor.units import GIB

FASTER = Speed(
    strategy=PlacementStrategy.CPU_OFFLOAD,
    format="Q4_K_M",
    decode=6,
    low=5,
    high=7,
    first_token=2,
    load=60,
)
SLOWER = replace(FASTER, decode=2.7, low=2, high=3.5)
FAST_MEMORY = Edited(
    words="RAM 25 % faster", cost="your price", gain=1.2, speed=FASTER, part=FAST_RAM
)


def faster_memory(
    ram_gb: float = 32, form: Form = Form.DESKTOP, money: MoneyInputs | None = None, **spec: object
) -> Option:
    question = Question(
        model=catalog.model("Llama-3.1-70B", "Q4_K_M"),
        machine=from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=ram_gb, **spec)),
        work=Workload(),
        runtimes=(LLAMA_CPP,),
        money=money or MoneyInputs(),
        ownership=Ownership(form=form),
        today=date(2026, 11, 22),
    )
    (option,) = changes(question, [FAST_MEMORY])
    return option


def test_faster_memory_is_a_pair_of_modules_by_hand() -> None:
    # two modules of 24 GB at 248.97; DDR5-7200 is 1.29 times the DDR5-5600 of a usual desktop
    option = faster_memory()
    assert option.upfront == pytest.approx(2 * 248.97)
    assert option.price.date == "2026-07-28"


def test_faster_memory_that_nobody_sells_as_a_pair_has_no_price() -> None:
    for option in (
        faster_memory(ram_gb=64),  # a pair holds 48
        faster_memory(cpu="Desktop DDR4-3200 dual-channel (typical)"),
        faster_memory(cpu="Desktop DDR5-6400 dual-channel (typical)"),  # would take DDR5-8000
        faster_memory(form=Form.LAPTOP),
    ):
        assert option.upfront is None
        assert not option.may_win


def test_a_typed_price_of_faster_memory_is_for_all_of_it() -> None:
    typed = MoneyInputs(own_price=((FAST_RAM, 300.0),))
    for ram_gb in (32.0, 64.0):
        option = faster_memory(ram_gb=ram_gb, money=typed)
        assert option.upfront == 300
        assert option.price.typed


def test_eight_cards_have_a_price_by_hand() -> None:
    # 7 cards at 1120; board with processor and memory 5520, frame 115, 8 risers 35; from the
    # 750 W of one card to 8 x 350 + 400 = 3200 W: two supplies of 1600 W hold 2450 more
    card = from_catalog.gpu("RTX 3090")
    parts = parts_for(Form.DESKTOP, (card,), (card,) * 8)
    supplies = [part.size for part in parts if part.part == "psu"]
    assert sum(supplies) + 750 >= 3200
    price = bought("RTX 3090", 7, (), parts)
    psu = sum(part.usd or 0.0 for part in parts if part.part == "psu")
    assert price.usd == pytest.approx(7 * 1120 + 5520 + 115 + 8 * 35 + psu)
    assert price.date == "2026-02-18"  # of the board: 5520 are 41 % of it and the cards


def test_dated_rents_come_before_undated_ones_which_never_win() -> None:
    for gpu in {"RTX 3090", "RTX 4090", "RTX A6000", "H100 SXM", "B200"}:
        dated = [bool(row.date) for row in rents(gpu)]
        assert dated == sorted(dated, reverse=True)
    # only a catalogue without a date has eight
    undated = rented("V100 SXM2 16GB", 8)
    assert undated is not None
    assert undated[0].date == ""
    question = Question(
        model=catalog.model("Llama-3.1-70B", "Q4_K_M"),
        machine=from_spec.machine(MachineSpec()),
        work=Workload(),
        runtimes=(LLAMA_CPP,),
        money=MoneyInputs(),
        ownership=Ownership(nothing=True),
        today=date(2026, 11, 22),
    )
    kept = keep(question, None)
    cost = question.use.rented(0.01, FASTER)
    free = question.option(kept.kind, "8x V100 SXM2 16GB", FASTER, cost, undated[0])
    free = replace(free, kept=kept)
    assert not free.may_win
    assert choice_of((kept, free), 6.0, 20.0).cheapest is None


FORMS = (Form.DESKTOP, Form.SERVER)


@pytest.mark.parametrize("gpu", ["RTX 3090", "RTX 3060 12GB", "RTX 5090", "RX 7900 XTX", "P40"])
@pytest.mark.parametrize("form", FORMS)
def test_adding_to_owned_cards_never_costs_more_than_buying_all(gpu: str, form: Form) -> None:
    card = from_catalog.gpu(gpu)
    counts = (1, 2, 3, 4, 6, 8)
    for have in counts:
        for total in (count for count in counts if count > have):
            grown = parts_for(form, (card,) * have, (card,) * total)
            add = bought(gpu, total - have, (), grown)
            every = bought(gpu, total, (), parts_for(form, (), (card,) * total))
            assert (add.usd is None) <= (every.usd is None)
            if add.usd is not None and every.usd is not None:
                assert add.usd <= every.usd


def test_a_board_with_slots_for_them_is_not_bought_again_by_hand() -> None:
    # a fifth card on a Threadripper PRO with 128 lanes: 790, frame 115, 5 risers 35; the supplies
    # of four RTX 3090, 4 x 350 + 400 W, are 1600 and 750 W, enough for the 285 W of this one
    machine = from_spec.machine(MachineSpec(gpu="4x RTX 3090", cpu="Threadripper PRO 3975WX"))
    fifth = from_catalog.gpu("RTX 4070 Ti Super")
    parts = parts_for(Form.DESKTOP, machine.gpus, (*machine.gpus, fifth), slots(machine))
    price = bought(fifth.name, 1, (), parts)
    assert price.usd == pytest.approx(790 + 115 + 5 * 35)
    usual = parts_for(Form.DESKTOP, machine.gpus, (*machine.gpus, fifth))
    assert [part.part for part in usual if part not in parts] == ["board"]


def test_boards_have_the_slots_that_their_processors_have_lanes_for() -> None:
    # 128 lanes are 8 full slots, of which ATX has room for 7; 24 lanes are shared by two cards
    known = {"Threadripper PRO 3975WX": 7, "Desktop DDR5 dual-channel (typical)": 2}
    for cpu, count in known.items():
        assert slots(from_spec.machine(MachineSpec(gpu="RTX 3090", cpu=cpu))) == count


def test_a_card_that_only_slows_the_others_stays_unused() -> None:
    # vLLM divides each layer among 2 or 4 cards and not among 3
    machine = from_spec.machine(MachineSpec(gpu="2x RTX 3090", ram_gb=64))
    model = catalog.model("Llama-3.1-70B", "AWQ")
    work = Workload()
    question = Question(
        model=model,
        machine=machine,
        work=work,
        runtimes=(VLLM,),
        money=MoneyInputs(),
        ownership=Ownership(),
        today=date(2026, 11, 22),
    )
    now = machine_speed(question)
    assert now is not None
    (third,) = (
        option for option in options(question, now, ()) if option.name == "RTX 3090, 3 in all"
    )
    assert third.speed is not None
    assert third.speed.decode >= now.decode
    assert third.pays is False


@pytest.mark.parametrize(
    ("gpu", "note"),
    [
        ("RTX 5090", "$5,000 (usual price, of 11 figures, new)"),
        ("RTX A6000", "$4,650 (street, new)"),  # the page names no shop
        ("Arc Pro B60", "$599 (launch MSRP, list)"),
    ],
)
def test_a_price_names_its_seller_and_condition(gpu: str, note: str) -> None:
    assert bought(gpu, 1).note == note


def test_a_third_card_on_a_board_for_two_buys_no_board_of_the_same_size_by_hand() -> None:
    # full tower 215.98, riser 35; from 350 + 350 + 400 W, a supply of 1200 W, to 1450 W: 599.99
    card = from_catalog.gpu("RTX 3090")
    price = bought("RTX 3090", 1, (), parts_for(Form.DESKTOP, (card,) * 2, (card,) * 3))
    assert price.usd == pytest.approx(1120 + 215.98 + 35 + 599.99)


def test_a_board_with_four_slots_needs_no_riser() -> None:
    card = from_catalog.gpu("RTX 3090")
    parts = parts_for(Form.DESKTOP, (card,) * 3, (card,) * 4, 4)
    assert [part.part for part in parts] == ["psu"]


def test_no_more_cards_replace_mine_than_a_desktop_houses() -> None:
    # a card that six or eight hold the model with is rented with that many, and no replacement
    question = Question(
        model=catalog.model("Llama-3.1-70B", "Q4_K_M"),
        machine=from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=64)),
        work=Workload(),
        runtimes=(LLAMA_CPP,),
        money=MoneyInputs(),
        ownership=Ownership(),
        today=date(2026, 11, 22),
    )
    held = cards_held(question).holders
    replacing = [option.name for option in replaced(question, SLOWER, held)]
    assert {count for _, count, _ in held} >= {6, 8}
    assert not [name for name in replacing if name.startswith(("6x", "8x"))]
    assert "2x RX 7900 XTX" in replacing


def test_parts_of_a_kind_are_counted_in_the_note() -> None:
    card = from_catalog.gpu("RTX 3090")
    note = bought("RTX 3090", 3, (), parts_for(Form.DESKTOP, (card,), (card,) * 4)).note
    assert "2x PCIe 4.0 riser of 16 lanes $70" in note


@pytest.mark.parametrize(
    ("size_gib", "usd"),
    [
        (64, 900),  # one kit of 64 GB
        (96, 900 + 480),  # and one of 32
        (128, 2 * 900),
        (80, 900 + 480),  # the rest in the smallest kit that holds it
    ],
)
def test_more_memory_is_bought_in_kits_by_hand(size_gib: float, usd: float) -> None:
    question = Question(
        model=catalog.model("Llama-3.1-70B", "Q4_K_M"),
        machine=from_spec.machine(MachineSpec(gpu="RTX 3090", ram_gb=32)),
        work=Workload(),
        runtimes=(LLAMA_CPP,),
        money=MoneyInputs(),
        ownership=Ownership(form=Form.DESKTOP),
        today=date(2026, 11, 22),
    )
    more = Edited(
        words="more RAM",
        cost="your price",
        gain=2.0,
        speed=FASTER,
        part="ram",
        ram=size_gib * GIB,
    )
    (option,) = changes(question, [more])
    assert option.upfront == usd
