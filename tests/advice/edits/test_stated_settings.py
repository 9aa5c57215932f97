"""Settings that somebody states although an engine left alone would do better."""

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
        "context of 8,192 tokens"
    )


def test_a_prefix_cache_that_is_off_is_what_an_agent_switches_on() -> None:
    agent = {"model": "Qwen3-Coder-30B-A3B", "format": "AWQ", "gpu": "RTX 3090", "gpu_count": 2}
    nouns = Request(**agent, runtime="vLLM", session="swe-bench", cached_share=0.0).nouns()
    task = answer(nouns).advice.task
    assert task is not None
    assert task.notable is not None
    assert task.notable.edit.words == "vLLM's prefix cache on"
