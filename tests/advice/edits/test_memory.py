"""RAM that is advised: the least size in which it is sold that holds what the GPU does not."""

import pytest

from advisor.advice.advise import answer
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
