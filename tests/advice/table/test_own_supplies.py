"""Workstations whose maker made their power supply: cards are judged by it, none is bought."""

import pytest

from advisor.advice.advise import answer
from advisor.advice.table.rules import OWN_SUPPLY
from advisor.machine.identify import machine_by_name, supply_rows
from advisor.request.request import Request
from advisor.units import GIB

LLAMA = {"model": "Llama-3.3-70B", "texts": "house"}


@pytest.mark.parametrize(
    ("name", "watts"),
    [
        ("HP Z440 Xeon E5-2690 v4, 128 GB DDR4, RTX 3090", 700),
        ("Lenovo ThinkStation P900, 2x Xeon E5-2680 v3, RTX 3090", 1400),
        ("HP Z840, 2x Xeon E5-2680 v4, RTX 3090", 0),
        ("Dell Precision T7810, 2x Xeon E5-2680 v4, RTX 3090", 0),
        ("thinkstation p310", 210),
        ("Dell Precision 5810, RTX 3090", 0),
        ("RTX 3090, Ryzen 7 5800X, 64 GB DDR4", None),
        ("Ryzen Z1 Extreme, 16 GB", None),
    ],
)
def test_a_supply_is_that_of_the_machine(name: str, watts: float | None) -> None:
    supply = machine_by_name(name).supply
    assert (supply and supply.watts) == watts
    assert supply is None or supply.proprietary


@pytest.mark.parametrize(
    ("words", "watts"),
    [
        ("850W PSU", 850),
        ("850 watt psu", 850),
        ("1000 W power supply", 1000),
        ("PSU: Corsair RM850x 850W", 850),
        ("psu 1200w", 1200),
        ("750w gold", 750),
        ("1600 W 80+ Titanium PSU", 1600),
        ("750w netzteil", 750),
        ("alimentation 650 W", 650),
        ("650w fuente de alimentación", 650),
        ("блок питания 850w", 850),
        ("850w电源", 850),
        ("at 250 W", None),  # a limit of power
        ("65 W adapter", None),
    ],
)
def test_a_supply_is_read_from_the_words_of_a_machine(words: str, watts: float | None) -> None:
    for name in (
        f"RTX 3090, Ryzen 7 5800X, 64 GB DDR4, {words}",
        f"ryzen 7 5800x rtx 3090 64gb {words}",
    ):
        machine = machine_by_name(name)
        assert (machine.supply and machine.supply.watts) == watts, name
        assert [gpu.name for gpu in machine.gpus] == ["RTX 3090"]
        assert machine.host.memory.value == 64 * GIB
        limited = any("limit of power" in note for note in machine.notes)
        assert limited == (words == "at 250 W"), machine.notes


def odd_second_card(machine: str) -> str:
    """What is odd about a second RTX 3090, of its supply."""
    advice = answer(Request(**LLAMA, machine=machine).nouns()).advice
    (second,) = (each for each in advice.options if each.name == "RTX 3090, 2 in all")
    assert not any(part.part == "psu" for part in second.parts)
    return next((each for each in second.odd if each.startswith(OWN_SUPPLY)), "")


def test_a_second_card_is_judged_by_the_supply_by_hand() -> None:
    # 2 x 350 W, 150 of a processor and 100 of the rest are 950 W
    of_700 = odd_second_card("HP Z440 Xeon E5-2690 v4, 128 GB DDR4, RTX 3090")
    assert "gives 700 W, 950 W are needed" in of_700
    assert "950 W: look it up" in odd_second_card("Dell Precision T7810, 128 GB DDR4, RTX 3090")
    assert odd_second_card("Lenovo ThinkStation P900, 128 GB DDR4, RTX 3090") == ""


def test_a_supply_of_210_w_gets_no_card_of_165_w() -> None:
    asks = {"model": "Gemma-3-12B", "texts": "house", "machine": "thinkstation p310 16gb"}
    advice = answer(Request(**asks).nouns()).advice
    safe = advice.choice.safe
    assert safe is None or "RTX 4060 Ti" not in safe.name
    (card,) = (each for each in advice.options if each.name == "RTX 4060 Ti 16GB")
    assert any("210 W" in each for each in card.odd)


def test_one_card_needs_no_more_than_such_a_supply_gives() -> None:
    # 350 + 150 + 100 W of 700
    advice = answer(Request(model="Qwen3-32B", machine="HP Z440, 64 GB", texts="house").nouns())
    (first,) = (each for each in advice.advice.options if each.name == "RTX 3090")
    assert not any(each.startswith(OWN_SUPPLY) for each in first.odd)


def test_a_usual_supply_is_bought() -> None:
    asks = LLAMA | {"machine": "RTX 3090, Ryzen 7 5800X, 128 GB DDR4"}
    advice = answer(Request(**asks).nouns()).advice
    (second,) = (each for each in advice.options if each.name == "RTX 3090, 2 in all")
    assert [part.size for part in second.parts if part.part == "psu"] == [1200]


@pytest.mark.parametrize(("watts", "bought"), [(1000, [1200]), (1200, []), (1600, [])])
def test_no_supply_is_bought_where_ones_own_is_large_enough(
    watts: float, bought: list[int]
) -> None:
    # two of 350 W and 400 W for the host and for peaks are 1,100 W
    asks = LLAMA | {"machine": f"RTX 3090, Ryzen 7 5800X, 128 GB DDR4, {watts} W PSU"}
    advice = answer(Request(**asks).nouns()).advice
    (second,) = (each for each in advice.options if each.name == "RTX 3090, 2 in all")
    assert [part.size for part in second.parts if part.part == "psu"] == bought


def test_every_supply_has_a_page() -> None:
    for row in supply_rows():
        assert row.source.startswith("https://"), row.machine
        assert row.source_date
        assert row.watts is None or 200 <= row.watts <= 2000
