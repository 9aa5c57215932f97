"""Names as publishers write them, on their model cards."""

import pytest

from advisor.advice.finder.runnable import ranked_models
from advisor.model.by_name.names import written


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("google/gemma-4-12B-it", "Gemma 4 12B"),
        ("unsloth/gemma-3n-E4B-it", "Gemma 3n E4B"),
        ("Gemma-2-2B", "Gemma 2 2B"),
        ("ibm-granite/granite-4.1-8b", "Granite 4.1 8B"),
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", "Llama 3.1 8B"),
        ("LLaMA-30B", "LLaMA 30B"),
        ("nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-BF16", "Nemotron 3.5 Lightning 30B A3B"),
        ("nvidia/Llama-3_3-Nemotron-Super-49B-v1_5", "Llama 3.3 Nemotron Super 49B v1.5"),
        ("mistralai/Mistral-Small-3.2-24B-Instruct-2506", "Mistral Small 3.2 24B 2506"),
        ("Kimi-K2-Thinking", "Kimi K2 Thinking"),
        ("openai/gpt-oss-20b", "gpt-oss-20b"),
        ("Qwen/Qwen3-VL-235B-A22B-Instruct", "Qwen3-VL-235B-A22B"),
        ("zai-org/GLM-5.3-Flash", "GLM-5.3-Flash"),
        ("deepseek-ai/DeepSeek-V4.1-Flash", "DeepSeek-V4.1-Flash"),
        ("microsoft/phi-4", "Phi-4"),
        ("owner/Model-7B-AWQ", "Model 7B"),
        ("it", "it"),
    ],
)
def test_a_name_reads_as_its_publisher_writes_it(name: str, shown: str) -> None:
    assert written(name) == shown


def test_every_ranked_model_has_a_name_of_its_own() -> None:
    names = [written(name) for name in ranked_models()]
    assert all(name and not name.startswith(" ") for name in names)
    assert len(set(names)) > 0.97 * len(names)
