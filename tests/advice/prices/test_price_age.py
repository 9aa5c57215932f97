"""Old prices: marked after 90 days, leading nothing after 180, out of advice after a year."""

from datetime import date

import pytest

from advisor.advice.prices.price import cards_for_sale, selling_price
from advisor.advice.prices.rows import LAPSED_DAYS, is_lapsed, last_day, machines_for_sale
from advisor.advice.table.option import OptionKind, Question
from advisor.advice.table.options import options
from advisor.advice.table.timed_machines import VALUED
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.request.money import MoneyInputs, Ownership

TODAY = date(2026, 11, 28)
BOUGHT = (OptionKind.ADD, OptionKind.REPLACE, OptionKind.MACHINE)


def question(*typed: tuple[str, float], today: date = TODAY) -> Question:
    return Question(
        model=catalog.model("Qwen3-32B", "Q4_K_M"),
        machine=machine(MachineSpec(gpu="RTX 3060 12GB")),
        work=Workload(),
        runtimes=VALUED,
        money=MoneyInputs(own_price=typed),
        ownership=Ownership(),
        today=today,
    )


@pytest.mark.parametrize(
    ("when", "lapsed"),
    [("2025-11-28", False), ("2025-11-27", True), ("2025-11", False), ("2024", True), ("", False)],
)
def test_a_price_lapses_after_a_year(when: str, lapsed: bool) -> None:
    row = selling_price("RTX 3090")
    assert row is not None
    old = type(row)(**{name: getattr(row, name) for name in row.__slots__} | {"date": when})
    assert is_lapsed(old, TODAY) is lapsed


def test_no_option_rests_on_a_price_of_over_a_year() -> None:
    for option in options(question(), None, ()):
        if option.kind in BOUGHT and option.bought:
            whole = machines_for_sale().get(option.name)
            row = whole.price if whole else selling_price(option.bought[0].name)
            day = last_day(row.date)
            assert day is None or (TODAY - day).days <= LAPSED_DAYS, option


def test_a_typed_price_brings_a_card_back() -> None:
    """The newest price on record of the RTX 5000 Ada is of July 2025."""
    assert "RTX 5000 Ada" not in cards_for_sale((), TODAY)
    asked_for = question(("RTX 5000 Ada", 3000.0))
    names = {card.name for option in options(asked_for, None, ()) for card in option.bought}
    assert "RTX 5000 Ada" in names


def test_an_earlier_day_still_knows_it() -> None:
    assert "RTX 5000 Ada" in cards_for_sale((), date(2026, 7, 23))


def test_what_leads_has_a_price_of_half_a_year() -> None:
    for option in options(question(), None, ()):
        row = selling_price(option.bought[0].name) if option.bought else None
        day = last_day(row.date) if row else None
        if option.kind in BOUGHT and not option.parts and day and (TODAY - day).days > 180:
            assert option.odd or option.price.listed, option
