"""Smaller formats as free steps: the one that fits in the GPU and loses least."""

from advisor.advice.advise import answer
from advisor.request.request import Request


def test_sixteen_bits_are_left_for_the_largest_format_that_the_gpu_holds() -> None:
    """Llama 3.1 8B in 8 GB: 16.1 GB of F16 spill, 8.5 GB of Q8_0 too; 6.6 GB of Q6_K and 1.1 GB of
    cache do not.
    """
    nouns = Request(
        machine="RTX 4060 8GB, 32 GB DDR5", model="Llama-3.1-8B", format="F16", system="linux"
    ).nouns()
    advice = answer(nouns).advice
    option = advice.choice.safe
    assert option is not None
    assert option.name == "Q6_K instead of F16"
    assert option.speed is not None
    assert option.speed.whole
