"""Machines that take no card, or a small one, under use so heavy that keeping hides nothing."""

from functools import cache

import pytest

from advisor.advice.advise import answer
from advisor.advice.table.option import OptionKind
from advisor.advice.table.rules import half_height
from advisor.machine.catalog import GPUS
from advisor.machine.machine import Form
from advisor.request.request import Request

CARDS = (OptionKind.ADD, OptionKind.REPLACE)
SMALL = ("n100 16gb", "n150 16gb", "i3-n305 32gb", "celeron n5105 16gb", "raspberry pi 5 16gb")
THIN = ("i5-8250u 16gb", "ryzen 5 5500u 16gb", "i5-8200y 16gb", "thinkpad t14 ryzen 5 5650u 32gb")
WITHOUT_PORT = ("beelink ser5 5800h 32gb", "thinkcentre m900 tiny 16gb", *THIN, *SMALL)
WITH_PORT = ("minisforum um790 pro 32gb", "nuc 11 i7-1165g7 32gb", "i7-1360p 32gb")
OFFICE = ("optiplex 7050 32gb", "hp elitedesk 800 g4 i5-8500 32gb", "office pc i5-9500 32gb")


@cache
def heavy(machine: str):
    """Answers that are worth a lot of waiting: 400 a day at 60 dollars an hour."""
    use = {"replies_per_day": 400.0, "usd_per_hour_of_time": 60.0, "think": "off"}
    return answer(Request(model="Qwen3.5-27B", machine=machine, **use).nouns()).advice


@pytest.mark.parametrize("machine", WITHOUT_PORT)
def test_what_has_no_slot_and_no_port_gets_no_card(machine) -> None:
    advice = heavy(machine)
    assert not [option for option in advice.options if option.kind in CARDS]
    safe = advice.choice.safe
    assert safe is None or safe.kind not in CARDS


@pytest.mark.parametrize("machine", THIN)
def test_thin_chips_are_in_laptops(machine) -> None:
    assert heavy(machine).question.ownership.form is Form.LAPTOP


@pytest.mark.parametrize("machine", SMALL)
def test_soldered_chips_are_in_small_machines(machine) -> None:
    assert heavy(machine).question.ownership.form is Form.MINI


@pytest.mark.parametrize("machine", WITH_PORT)
def test_a_dock_goes_where_the_processor_has_the_port(machine) -> None:
    """Thunderbolt 4 from the 11th generation on, USB4 from Ryzen 6000 on."""
    docked = [option for option in heavy(machine).options if option.kind is OptionKind.ADD]
    assert docked
    assert all(option.name.endswith("in a dock") for option in docked)


@pytest.mark.parametrize("machine", OFFICE)
def test_an_office_pc_takes_what_its_supply_feeds(machine) -> None:
    """Without a plug for cards, the slot gives 75 W."""
    advice = heavy(machine)
    assert advice.question.ownership.form is Form.OFFICE
    added = [option for option in advice.options if option.kind in CARDS]
    assert added
    for option in added:
        watts = sum(card.board_power or 0.0 for card in option.bought)
        assert (watts > 75) <= bool(option.odd), option
        assert len(option.bought) == 1
    safe = advice.choice.safe
    if safe is not None and safe.kind in CARDS:
        assert sum(card.board_power or 0.0 for card in safe.bought) <= 75


def test_where_no_card_goes_something_else_is_found() -> None:
    for machine in ("n100 16gb", "i5-8250u 16gb"):
        safe = heavy(machine).choice.safe
        assert safe is not None
        assert safe.kind in (OptionKind.MACHINE, OptionKind.RENT, OptionKind.API)


SLIM = (
    "HP EliteDesk 800 G3 SFF i5-6500 32GB", "ThinkCentre M720s i5-8500 32GB",
    "Dell OptiPlex 7050 SFF i7-7700 32GB",
)  # fmt: skip


@pytest.mark.parametrize("machine", SLIM)
def test_a_slim_pc_takes_cards_of_half_height_alone(machine) -> None:
    """As vendors' pages say of each; others are odd up to 75 W, and out above."""
    advice = heavy(machine)
    assert advice.question.ownership.form is Form.SLIM
    added = [option for option in advice.options if option.kind in CARDS]
    for option in added:
        assert sum(card.board_power or 0.0 for card in option.bought) <= 75
        assert (option.bought[0].name in half_height()) or option.odd
    safe = advice.choice.safe
    if safe is not None and safe.kind in CARDS:
        assert safe.bought[0].name in half_height()


@pytest.mark.parametrize(
    ("machine", "form"),
    [
        ("HP Z2 Mini G9, i7-13700, 32 GB", Form.SLIM),
        ("HP Z2 SFF G9, i7-13700, 32 GB", Form.SLIM),
        ("Dell Precision 3260 Compact, i7-13700, 32 GB", Form.SLIM),
        ("ThinkStation P3 Tiny, i7-13700, 32 GB", Form.SLIM),
        ("HP Z2 Mini G1a 128GB", Form.MINI),
        ("HP Z2 Tower G9, i7-13700, 32 GB", Form.DESKTOP),
    ],
)
def test_a_small_workstation_is_no_tower(machine, form) -> None:
    """The slot of a ThinkStation P3 Tiny holds an RTX A1000, a card of half height
    (https://www.servethehome.com/lenovo-thinkstation-p3-tiny-gen2-review-nvidia-gpu-intel).
    """
    assert Request(machine=machine, model="gemma-3-12b").nouns().ownership.form is form


def test_every_card_of_half_height_draws_no_more_than_a_slot_gives() -> None:
    """75 W of a slot (PCI Express Card Electromechanical Specification)."""
    for name in half_height():
        assert (GPUS.rows()[name].board_power_w or 0.0) <= 75, name


def test_what_a_slim_pc_takes_is_said() -> None:
    words = {"machine": SLIM[0], "model": "gemma-3-12b", "max_usd": 300.0, "prompt": 800}
    advice = answer(Request(**words, output=250, texts="house").nouns()).advice
    option = advice.decision.option
    assert option is not None
    assert option.kind is OptionKind.ADD
    assert any(
        "half height, as the case needs: its 70 W" in line for line in advice.summary.purchases
    )
