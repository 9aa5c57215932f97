"""A split that somebody states: an engine that can be told it answers, and the split by itself is a
free step.
"""

import pytest

from advisor.advice.advise import answer
from advisor.cost_model.placement import Settings
from advisor.request.request import Request

STATED = Request(
    model="Qwen3.5-9B", gpu="RTX 3060 12GB", cpu="Ryzen 5 3600", ram_gb=32.0, gpu_layers=16
)
BY_ITSELF = "as many layers in the GPU as fit (--gpu-layers left open)"


def test_settings_say_where_parts_lie_that_the_model_has() -> None:
    dense = Request(model="Qwen3.5-9B", gpu="RTX 3090", ram_gb=64.0).nouns().model
    experts = Request(model="Qwen3-30B-A3B", gpu="RTX 3090", ram_gb=64.0).nouns().model
    assert Settings(gpu_layers=16.0).says_where(dense)
    assert Settings(kv_in_ram=True).says_where(experts)
    assert Settings(cpu_moe=16.0).says_where(experts)
    assert not Settings(cpu_moe=16.0).says_where(dense)
    assert not Settings(load_mode="mlock", page_cache=4e9).says_where(dense)


def test_an_engine_that_can_be_told_answers_though_another_is_faster() -> None:
    advice = answer(STATED.nouns()).advice
    assert advice.best is not None
    assert advice.best.runtime.name == "llama.cpp"


def test_the_split_by_itself_is_as_fast_as_where_nothing_is_stated() -> None:
    advice = answer(STATED.nouns()).advice
    (step,) = [option for option in advice.options if option.name == BY_ITSELF]
    free = Request(
        model="Qwen3.5-9B",
        gpu="RTX 3060 12GB",
        cpu="Ryzen 5 3600",
        ram_gb=32.0,
        runtime="llama.cpp",
    )
    unstated = answer(free.nouns()).advice.options[0]
    assert step.decode == pytest.approx(unstated.decode)
    assert BY_ITSELF not in [option.name for option in answer(free.nouns()).advice.options]
