"""Formats of published rows: as stated, as the model's name says, or as the runtime usually has."""

import pytest

from advisor.cost_model.runtime import Runtime
from advisor.evidence.published.engines import engine
from advisor.evidence.published.model import stated_model
from advisor.evidence.published.row import PublishedRow
from advisor.runtimes import KTRANSFORMERS, LLAMA_CPP, MLX, VLLM


@pytest.mark.parametrize(
    ("runtime", "model", "quant", "form"),
    [
        (LLAMA_CPP, "Meta-Llama-3.1-8B-Instruct-Q8_0.gguf", "", "Q8_0"),
        (LLAMA_CPP, "llama-2-13b-chat.ggmlv3.q4_1.bin", "", "Q4_1"),
        (LLAMA_CPP, "Meta-Llama-3.1-8B-Instruct-Q8_0.gguf", "Q4_0", "Q4_0"),
        (LLAMA_CPP, "Llama-3.1-8B", "", "Q4_K_M"),
        # https://ollama.com/library/llama3.2: the tag 1b is Q8_0.
        (LLAMA_CPP, "llama3.2:1b", "", "Q8_0"),
        # Ollama and llama.cpp run gpt-oss in the format of its maker (arXiv 2508.10925, section 2).
        (LLAMA_CPP, "gpt-oss:20b", "", "MXFP4"),
        # GGUF has neither AWQ nor GPTQ.
        (LLAMA_CPP, "Llama-2-7B", "4-bit", "Q4_K_M"),
        (LLAMA_CPP, "Llama-2-7B", "int8", "Q8_0"),
        (VLLM, "Llama-2-7B", "int4", "AWQ"),
        (VLLM, "Qwen3.6-27B-AWQ-INT4", "", "AWQ"),
        (VLLM, "Qwen/Qwen3-8B", "", "BF16"),
        # DeepSeek-V3's config.json: quantization_config fp8.
        (VLLM, "deepseek-ai/DeepSeek-V3", "", "FP8"),
        (MLX, "mlx-community/Llama-3.1-8B-Instruct-4bit", "", "Q4_0"),
        (MLX, "Qwen3-8B", "8bit", "Q8_0"),
        # llama.cpp's MXFP4 is for experts; MLX has it for any weights.
        (MLX, "gemma-4-31b-it-mxfp4", "", "Q4_0"),
        (MLX, "gpt-oss-20b-MXFP4-Q8", "", "MXFP4"),
    ],
)
def test_the_format_is_that_of_the_cell_the_name_or_the_runtime(
    runtime: Runtime, model: str, quant: str, form: str
) -> None:
    row = PublishedRow({"category": "resident", "model": model, "quant": quant})
    assert stated_model(row, runtime).format == form


def test_an_assumed_format_is_noted() -> None:
    row = PublishedRow({"category": "resident", "model": "Llama-3.1-8B"})
    stated_model(row, LLAMA_CPP)
    assert "no format is stated: Q4_K_M is assumed" in row.notes


@pytest.mark.parametrize(
    ("stated", "known"),
    [
        ("mlx_lm", MLX),
        ("MLX-LM: 0.24.0", MLX),
        ("omlx-0.3.4", MLX),
        ("kt-kernel + SGLang", KTRANSFORMERS),
        ("ollama", LLAMA_CPP),
    ],
)
def test_engines_are_known_by_the_names_that_people_use(stated: str, known: Runtime) -> None:
    assert engine(stated, "moe_offload") is known


def test_a_size_alone_is_a_model_of_the_time_of_the_run() -> None:
    """gpt-oss-120b is of 2025: a row of 2022 cannot be like it."""
    old, new = (
        stated_model(PublishedRow({"model": "120B", "quant": "Q4_0", "date": date}), LLAMA_CPP)
        for date in ("2022-11-12", "2026-03-12")
    )
    assert not old.has_experts
    assert new.has_experts


@pytest.mark.parametrize(
    ("cells", "name", "form"),
    [
        ({"model": "deepseek-R1/Q4_K_M"}, "DeepSeek-R1", "Q4_K_M"),
        ({"model": "Qwen/Qwen3-8B", "quant": "Q8_0"}, "Qwen3-8B", "Q8_0"),
        ({"model": "65B", "quant": "Q4_0", "date": "2023-07-18"}, "LLaMA-65B", "Q4_0"),
        ({"model": "7B q4", "quant": "Q4_0", "date": "2023-05"}, "Llama-2-7B", "Q4_0"),
        ({"model": "7B", "quant": "Q4_0", "date": "2024-05", "params_b": "7"}, "7B", "Q4_0"),
    ],
)
def test_a_folder_of_formats_and_sizes_of_the_first_llama_are_names(
    cells: dict[str, str], name: str, form: str
) -> None:
    model = stated_model(PublishedRow(cells), LLAMA_CPP)
    assert (model.name, model.format) == (name, form)
