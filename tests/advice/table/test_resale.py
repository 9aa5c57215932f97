"""Resale value of what is owned: as typed, else the used price of its cards."""

from dataclasses import replace
from datetime import date

import pytest

from advisor.advice.prices.power import PowerDraw
from advisor.advice.prices.price import Price, bought, sold, used_value
from advisor.advice.speeds import Speed
from advisor.advice.table.choice import choice_of
from advisor.advice.table.cost import Use
from advisor.advice.table.option import Option, OptionKind, Question
from advisor.advice.table.options import keep
from advisor.advice.words.phrases import ONLY_SOLD, pays_when
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine import from_spec
from advisor.machine.catalog import GPUS
from advisor.machine.machine import Form
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.money import MoneyInputs, Ownership
from advisor.runtimes import LLAMA_CPP

MONEY = MoneyInputs()
FAST = Speed(
    strategy=PlacementStrategy.GPU_RESIDENT,
    format="Q4_K_M",
    decode=50,
    low=45,
    high=55,
    first_token=1,
    load=10,
)
SLOWER = replace(FAST, decode=40)
USE = Use(work=Workload(), money=MONEY)
NO_POWER = PowerDraw(idle=0, busy=0)


def question(gpu: str = "RTX 4090", **owned: object) -> Question:
    machine = from_spec.machine(MachineSpec(gpu=gpu, ram_gb=64))
    return Question(
        model=catalog.model("Llama-3.1-8B", "Q4_K_M"),
        machine=machine,
        work=Workload(),
        runtimes=(LLAMA_CPP,),
        money=MONEY,
        today=date(2026, 11, 22),
        ownership=Ownership(**{"form": machine.form, **owned}),
    )


def counted(of: Question) -> Question:
    """A question in which a resale value counts while it is kept."""
    return replace(of, money=replace(of.money, resale_counts=True))


def test_used_prices_add_up_by_hand() -> None:
    # 1,120 and 2,360 USD in September 2026, less 15 %: two of the first and one of the second
    value = used_value(("RTX 3090", "RTX 3090", "RTX 4090"), ())
    assert value.usd == pytest.approx(0.85 * (2 * 1120 + 2360))
    assert value.date == "2026-09-09"
    assert "2x RTX 3090 at the used price of 2026-09-09 less 15%, $1,904" in value.note


def test_a_card_without_a_used_price_adds_nothing_and_says_so() -> None:
    value = used_value(("RTX 3090", "RTX 4060 Ti 16GB"), ())
    assert value.usd == pytest.approx(0.85 * 1120)
    assert value.note.endswith("RTX 4060 Ti 16GB: no used price on record")


def test_nobody_sells_above_the_price_they_typed_for_buying() -> None:
    assert used_value(("RTX 3090",), (("RTX 3090", 600.0),)).usd == 0.85 * 600


def test_a_used_card_never_costs_more_than_it_is_bought_for(subtests: pytest.Subtests) -> None:
    for gpu in sorted(name for name in sold() if not GPUS.find(name).unified):
        with subtests.test(str(gpu)):
            price = bought(gpu, 1, MONEY.own_price).usd
            assert price is not None
            assert (used_value((gpu,), ()).usd or 0.0) <= price


def test_keeping_ties_up_the_used_price_unless_another_is_typed() -> None:
    # 2,360 USD less 15 % over 36 months, where the value is to count
    alone = keep(question(), FAST)
    assert alone.cost is not None
    assert (alone.cost.tied_up, alone.price.date) == (0, "")
    kept = keep(counted(question()), FAST)
    assert kept.cost is not None
    assert kept.cost.tied_up == pytest.approx(0.85 * 2360 / 36)
    assert kept.price.date == "2026-09-09"
    assert "type what yours would sell for (--resale)" in kept.price.note
    for amount in (0.0, 1800.0):
        typed = keep(counted(question(resale=amount)), FAST)
        assert typed.cost is not None
        assert typed.cost.tied_up == pytest.approx(amount / 36)
        assert typed.price.note == ""


@pytest.mark.parametrize(
    ("gpu", "owned"),
    [("RTX 4090", {"rented_at": 0.5}), ("RTX 4090", {"nothing": True}),
     ("RTX 4090 Laptop", {}), ("Apple M4 Max 40c", {}), ("RTX 4090", {"resale": 0.0})],
)  # fmt: skip
def test_what_is_rented_or_not_sold_alone_ties_up_nothing(
    gpu: str, owned: dict[str, object]
) -> None:
    assert question(gpu, **owned).resale_usd == 0


def swap(own: Question, usd: float, speed: Speed) -> tuple[Option, Option]:
    """Kept machine, and another for an amount, without electricity."""
    kept = own.option(
        OptionKind.KEEP, "kept", FAST, USE.owned(NO_POWER, FAST, tied_up=own.resale_usd)
    )
    price = Price(usd=usd, date="2026-11", note="a shop", sources=("a page",))
    cost = USE.owned(NO_POWER, speed, usd=usd)
    option = own.option(OptionKind.MACHINE, "m", speed, cost, price, sells=True)
    return kept, replace(option, kept=kept)


def test_what_is_bought_costs_less_the_used_price_and_is_as_old_by_hand() -> None:
    # 3,000 - 0.85 x 2,360 USD; the older of November and September 2026
    _, option = swap(question(), 3000, replace(FAST, decode=80))
    assert option.upfront == pytest.approx(3000 - 2006)
    assert option.price.date == "2026-09-09"
    assert not option.stale
    assert option.price.note.endswith(
        "less what you sell: RTX 4090 at the used price of 2026-09-09 less 15%, $2,006"
    )
    _, cheap = swap(question(), 1250, SLOWER)
    assert cheap.upfront == pytest.approx(1250 - 2006)


def test_a_slower_machine_wins_only_by_a_resale_value_that_somebody_stated() -> None:
    # both are faster than reading: 500 USD instead of 2,006 over 36 months
    kept, option = swap(question(), 500, SLOWER)
    assert option.gain == pytest.approx((2006 - 500) / 36)
    assert option.rests_on_resale
    assert choice_of([kept, option], 6.0, 20.0).cheapest is None
    assert pays_when(option) == ONLY_SOLD
    kept, option = swap(question(resale=1400.0), 500, SLOWER)
    assert not option.rests_on_resale
    assert choice_of([kept, option], 6.0, 20.0).cheapest is option


def test_a_laptop_takes_a_typed_resale_value_of_the_whole() -> None:
    assert question("RTX 4090 Laptop", form=Form.LAPTOP, resale=900.0).resale_usd == 900
