"""RAM that is advised: the least size in which it is sold that holds what the GPU does not."""

from dataclasses import replace

import pytest

from advisor.advice.advise import answer
from advisor.advice.prices.power import desktop_parts
from advisor.advice.table.options import ram_price
from advisor.machine.machine import Form
from advisor.request.request import Request
from advisor.runtimes import runtime
from advisor.runtimes.compare import compare, usable
from advisor.units import GIB


def sizes(machine: str) -> list[float]:
    advice = answer(Request(model="gpt-oss-120b", machine=machine).nouns()).advice
    return [edit.ram / GIB for edit in advice.what_ifs if edit.ram]


def test_ram_is_sized_by_what_the_gpu_does_not_hold() -> None:
    """59 GiB of weights: beside 32 GiB of a GPU, 32 GB of RAM do; beside none, 64 GB."""
    (with_card,) = sizes("5090 16gb")
    (without,) = sizes("ryzen 7600 32gb")
    assert with_card == 32
    assert without == 64


@pytest.mark.parametrize("name", ["llama.cpp", "vLLM"])
def test_unlike_cards_wait_for_the_slower(name: str) -> None:
    """A prompt on a pair is read no sooner than on two of the faster, no later than on two of the
    slower card.
    """
    pairs = ("2x RTX 3090", "RTX 3090 + RTX PRO 4000 Blackwell", "2x RTX PRO 4000 Blackwell")
    waits = []
    for gpu in pairs:
        nouns = Request(model="Llama-3.3-70B", gpu=gpu, prompt=12000, context=16384).nouns()
        runs = usable(compare(nouns.model, nouns.machine, nouns.work, runtimes=(runtime(name),)))
        waits.append(float(runs[0].first_token_seconds))
    alike = sorted((waits[0], waits[2]))
    assert 0.97 * alike[0] <= waits[1] <= 1.1 * alike[1]


def test_ram_is_sold_in_pairs_and_the_present_modules_leave() -> None:
    asks = {"machine": "RTX 4060 Ti 16GB, Ryzen 7 5700X, 32 GB DDR4", "model": "gpt-oss-120b"}
    advice = answer(Request(**asks).nouns()).advice
    (bought,) = (each for each in advice.summary.purchases if "Bought" in each)
    assert "Bought: 64 GB DDR4 kit (2x 32 GB), in place of the present modules of 32 GB." in bought


def test_a_board_of_two_slots_takes_one_pair() -> None:
    machine = "laptop RTX 4060 8GB, 32 GB DDR5"
    question = answer(Request(machine=machine, model="gpt-oss-120b").nouns()).advice.question
    assert ram_price(question, 64 * GIB).usd == 900
    two = ram_price(question, 128 * GIB)
    assert two.usd is None
    assert "2 slots" in two.note
    tower = replace(question, ownership=replace(question.ownership, form=Form.DESKTOP))
    assert ram_price(tower, 128 * GIB).usd == 2 * 900


def test_a_new_desktop_gets_the_memory_of_its_board() -> None:
    (ram,) = (part for part in desktop_parts(()) if part.part == "ram")
    assert "DDR5" in ram.name


def test_memory_so_tight_that_an_engine_streams_is_held_by_more_ram() -> None:
    """Llama 3.3 70B, 43 GB, with 12 GB of VRAM and 32 GB of RAM less the system's: llama.cpp needs
    more, and then computes what vLLM copies for each token.
    """
    asks = {"machine": "RTX 4070 12GB, Ryzen 7 7700, 32 GB DDR5", "model": "Llama-3.3-70B"}
    advice = answer(Request(**asks).nouns()).advice
    assert advice.best.tight
    assert not advice.best.runtime.computes_in_ram
    (option,) = (each for each in advice.options if "GB of RAM" in each.name)
    assert option.upfront == 900
    assert option.decode > 2 * advice.options[0].decode


def test_a_board_holds_as_many_kits_as_it_has_slots_for() -> None:
    # two channels of an AM5 processor are four slots, two kits of 2 x 32 GB; four channels of a
    # Threadripper are eight
    usual = answer(Request(machine="RTX 4090, Ryzen 9 7950X", model="Qwen3-32B").nouns()).advice
    assert ram_price(usual.question, 128 * GIB).usd == 2 * 900
    beyond = ram_price(usual.question, 256 * GIB)
    assert beyond.usd is None
    assert "4 slots" in beyond.note
    words = "RTX 4090, Threadripper 7960X"
    larger = answer(Request(machine=words, model="Qwen3-32B").nouns()).advice
    assert ram_price(larger.question, 256 * GIB).usd == 4 * 900
