"""Settings that somebody states although an engine left alone would do better."""

import re

from advisor.advice.advise import answer
from advisor.request.request import Request


def free_step(**stated: object) -> str:
    advice = answer(Request(**stated).nouns()).advice
    assert advice.case.step is not None
    return advice.case.step.name


def test_what_is_switched_off_is_left_on() -> None:
    """A 3090 Ti (24 GB) holds Gemma 3 27B in Q4_K_M (16.5 GB) and its cache: 10 of 62 layers see
    32,768 tokens, 52 see 1,024, each 16 heads x 128 x 2 values of 2 bytes: 2.9 + 0.5 GB.
    """
    machine = {"model": "Gemma-3-27B", "format": "Q4_K_M", "gpu": "RTX 3090 Ti"}
    use = {"context": 32768.0, "prompt": 16000.0, "output": 500.0}
    step = free_step(**machine, **use, kv_in_ram=True, flash_attention=False)
    assert step.startswith("flash attention on and the KV cache in the GPU")


def test_a_context_many_times_a_request_is_shortened_first() -> None:
    """65,536 tokens of Llama 3.1 8B are 8 heads x 128 x 2 x 2 bytes x 32 layers: 8.6 GB, more than
    an RTX 3070 (8 GB) has beside 4.9 GB of weights; a request takes 2,000.
    """
    machine = {"model": "Llama-3.1-8B", "format": "Q4_K_M", "gpu": "RTX 3070"}
    assert free_step(**machine, context=65536.0, prompt=1500.0, output=500.0, reading_tps=50.0) == (
        "context of 8,192 tokens, if that is enough"
    )


def test_a_prefix_cache_that_is_off_is_what_an_agent_switches_on() -> None:
    agent = {"model": "Qwen3-Coder-30B-A3B", "format": "AWQ", "gpu": "RTX 3090", "gpu_count": 2}
    nouns = Request(**agent, runtime="vLLM", session="swe-bench", cached_share=0.0).nouns()
    task = answer(nouns).advice.task
    assert task is not None
    assert task.notable is not None
    assert task.notable.edit.words == "vLLM's prefix cache on"


def test_the_whole_context_of_windowed_layers_is_taken_back_before_a_card_is_bought() -> None:
    """Gemma 3 12B keeps 48 layers x 8 heads x 256 x 2 values of 2 bytes for 32,768 tokens with
    `--swa-full`, 12.9 GB; without, 8 of its layers do, and 40 keep 1,024 tokens: 2.5 GB. An
    RTX 3060 (12 GB) holds that beside 7.3 GB of weights.
    """
    spilling = Request(
        model="gemma-3-12b",
        format="Q4_K_M",
        machine="Ryzen 5 5600, RTX 3060 12GB, 32GB DDR4-3200",
        context=32768.0,
        prompt=6000.0,
        output=500.0,
        reading_tps=20.0,
        swa_full=True,
        max_usd=1000.0,
    )
    advice = answer(spilling.nouns()).advice
    assert advice.decision.rule == "setting undone"
    assert advice.decision.option.name == (
        "a KV cache of the sliding windows alone (without --swa-full)"
    )
    assert advice.decision.option.speed.whole


def test_layers_that_somebody_states_are_left_to_the_engine_before_a_card_is_bought() -> None:
    """With ten whole layers of 48 in the GPU, attention and caches of the others stay outside."""
    split = Request(
        model="qwen3-coder-next",
        format="Q4_K_M",
        machine="Core i7-12700, RTX 3060 12GB, 64GB DDR4-3200",
        gpu_layers=10.0,
        context=32768.0,
        reading_tps=25.0,
        max_usd=900.0,
    )
    advice = answer(split.nouns()).advice
    assert advice.decision.rule == "setting undone"
    assert "all layers in the GPU" in advice.decision.option.name
    assert advice.decision.within or advice.decision.rival  # a purchase is named beside it


def test_layers_are_left_to_the_engine_also_where_one_can_read_along() -> None:
    """Twelve of 36 layers on the card are as fast as one reads; with experts alone in RAM half as
    fast again, the same text.
    """
    nouns = Request(
        machine="RTX 3090, Ryzen 9 5950X, 128 GB DDR4", model="gpt-oss-120b", gpu_layers=12
    ).nouns()
    advice = answer(nouns).advice
    option = advice.choice.safe
    assert option is not None
    assert option.undoes
    assert option.decode > 1.25 * advice.options[0].decode
    assert "in RAM only the experts that do not fit" in advice.verdict or "left open" in (
        advice.verdict
    )


def test_layers_are_left_to_the_engine_also_where_it_writes_faster_than_one_reads() -> None:
    """Eight whole layers of 48 in the card leave five sixths of 18.6 GB outside; with experts alone
    outside, the card of 16 GB holds most of them.
    """
    nouns = Request(
        machine="RTX 5080, Ryzen 9 7950X, 64GB DDR5-6000",
        model="Qwen3-30B-A3B",
        format="Q4_K_M",
        runtime="llama.cpp",
        gpu_layers=8.0,
        thinking_tokens=0.0,
    ).nouns()
    advice = answer(nouns).advice
    assert advice.options[0].decode > 4.0 * nouns.money.reading_tps
    assert advice.decision.rule == "setting undone"
    told = re.search(r"only the experts that do not fit, those of (\d+) layers", advice.verdict)
    assert told is not None
    assert 5 <= int(told[1]) <= 30  # 18.6 GB less 16 GB are 7 layers' of 48; caches take more


def test_a_card_that_the_stated_backend_leaves_out_is_put_to_work_before_one_is_bought() -> None:
    """An RX 6600 (8 GB, 224 GB/s) holds 5.0 GB of Qwen3 8B in Q4_K_M; two channels of DDR4-3200
    read 51 GB/s at most: at least twice as fast with half of the card's rate.
    """
    nouns = Request(
        machine="RX 6600, Ryzen 5 3600, 16GB DDR4-3200",
        model="Qwen3-8B",
        format="Q4_K_M",
        backend="cpu",
        system="windows",
        thinking_tokens=0.0,
    ).nouns()
    advice = answer(nouns).advice
    assert advice.decision.rule == "setting undone"
    assert advice.decision.option.name == "your idle RX 6600 put to work through Vulkan"
    assert advice.decision.option.decode > 2.0 * advice.options[0].decode
    assert "Then the whole model lies in the GPU" in advice.verdict


def test_a_card_that_is_owned_and_not_put_in_comes_before_a_purchase() -> None:
    """Gemma 3 27B in Q4_K_M (16.5 GB) is too large for a card of 12 GB, and fits in two."""
    stated = {"machine": "RTX 3060 12GB, Ryzen 5 5600, 32GB DDR4-3200", "model": "Gemma-3-27B"}
    nouns = Request(
        **stated, format="Q4_K_M", runtime="llama.cpp", cards_owned="2x RTX 3060 12GB"
    ).nouns()
    advice = answer(nouns).advice
    assert advice.decision.rule == "setting undone"
    assert advice.decision.option.name == "your idle RTX 3060 12GB put to work"
    assert advice.decision.option.speed.whole
    assert not advice.options[0].speed.whole


def test_cards_of_two_makers_work_together_through_vulkan() -> None:
    """Gemma 3 27B in Q4_K_M (16.5 GB) is too large for either of two cards of 12 GB."""
    nouns = Request(
        machine="RTX 3060 12GB, Ryzen 5 5600, 32GB DDR4-3200",
        model="Gemma-3-27B",
        format="Q4_K_M",
        runtime="llama.cpp",
        cards_owned="RTX 3060 12GB + RX 6700 XT",
    ).nouns()
    option = answer(nouns).advice.decision.option
    assert option.name == "your idle RX 6700 XT put to work through Vulkan"
    assert option.speed.whole


def test_a_setting_that_costs_little_is_not_what_is_decided() -> None:
    """At 2,048 tokens attention is a small part of a token's time."""
    short = Request(
        model="Llama-3.1-8B",
        gpu="RTX 3090",
        flash_attention=False,
        context=2048.0,
        reading_tps=300.0,
    )
    assert answer(short.nouns()).advice.decision.rule != "setting undone"


def test_a_cache_in_8_bit_floats_is_a_free_setting_before_cards_are_bought() -> None:
    """65,536 tokens of Qwen3-32B are 64 layers x 8 heads x 128 x 2 values: 17.2 GB in 16 bits,
    beside about 19 GB of weights more than the 34.4 GB of two cards of 16 GB; 8.6 GB in 8 bits.
    """
    machine = {"model": "Qwen3-32B", "machine": "2x RTX 4060 Ti 16GB, 64 GB DDR5"}
    step = free_step(**machine, context=65536.0, prompt=40000.0, thinking_tokens=0.0)
    assert step.startswith(("KV cache in fp8", "KV cache in q8_0"))
