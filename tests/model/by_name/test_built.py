"""Models of families that no rule describes, as transformers builds them, and their names."""

import json

import pytest

from advisor.errors import AdvisorError, Refusal
from advisor.model import catalog
from advisor.model.by_name.hub_list import as_fetched, hub_list
from advisor.model.by_name.listed import configured
from advisor.model.by_name.named import named
from advisor.model.by_name.readings import UnknownModel
from advisor.model.config.by_tensors import from_text
from advisor.model.config.read import describe
from advisor.model.config.values import built_models

ROWS = built_models()


@pytest.mark.parametrize("name", ROWS)
def test_every_tensor_is_counted_once(name: str) -> None:
    row = ROWS[name]
    total = sum(tensor.params for tensor in from_text(row.tensors))
    built = configured(as_fetched(row)).architecture
    # learned scales are read as those of packed weights, and left out
    assert built.params + built.tower == pytest.approx(total, rel=1e-4)
    assert any(layer.key_values or layer.state_values for layer in built.cache)
    assert catalog.in_format(built, "Q4_K_M").file_bytes > 0


@pytest.mark.parametrize("name", ROWS)
def test_the_tensors_are_those_of_the_files_as_the_list_counts_them(name: str) -> None:
    row = ROWS[name]
    listed = hub_list().named(row.name)
    total = sum(tensor.params for tensor in from_text(row.tensors))
    if listed is not None and not named(name).name.startswith(("adept", "dots-studio")):
        # A.X-K2, Aria, Granite Vision and Hy4-preview have layers that draft, or part of a tower
        assert total == pytest.approx(listed.parameters, rel=0.016)


@pytest.mark.parametrize(
    ("text", "billions", "active", "layers"),
    [
        # huggingface.co/docs/transformers/model_doc/hy_v4 and the sizes of their names
        ("tencent/Hy4", 770, 49, 78),
        ("Hy4", 770, 49, 78),
        ("Hy4-preview-Q4_K_M.gguf", 769, 48, 78),
        ("Mistral Large 4", 1050, 52, 72),
        ("mistralai/Mistral-Large-4-1T-A52B", 1050, 52, 72),
        ("Muse Spark Open", 820, 45, 62),
        ("LiquidAI/LFM3-1.7B", 1.73, 1.73, 24),
        ("lfm3 1.7b", 1.73, 1.73, 24),
        ("thinkingmachines/Inkling-2-Small-MXFP8", 594, 18.9, 48),
        ("swiss-ai/Apertus-v1.5-8B", 8.6, 8.6, 32),
        ("RedHatAI/Apertus-v1.5-8B-FP8-dynamic", 8.6, 8.6, 32),
        ("RecursiveSI/flint", 39.8, 2.8, 49),
        ("flint", 39.8, 2.8, 49),
        ("Beam 1.0", 501, 23.4, 52),
        ("Beam-1.0-501B", 501, 23.4, 52),
        ("Kolibri 1", 78.1, 3.79, 50),
        ("translated/Lara-4-Mini-Base", 7.28, 0.65, 34),
        ("reflection/Beam-1.0-501B-A23B", 501, 23.4, 52),
        ("Zyphra/ZAYA1-base", 8.84, 1.29, 40),
        # sizes that makers state: github.com/Tencent-Hunyuan/Hy4-flash/wiki, unsloth.ai/docs
        ("Hy4 Flash", 220, 12, 42),
        ("tencent/Hy4-flash", 220, 12, 42),
        ("Hy4-flash-220B-A12B", 220, 12, 42),
        ("MiniMax-M3.1-Flash", 428, 23, 60),
        # a new version of a model of the same size has its layers
        ("Nemotron-3.5-Super-120B-A12B", 120, 12, 88),
        ("NVIDIA-Nemotron-3.5-Super-VL-120B-A12B-BF16", 120, 12, 88),
        # names and totals that sizes of a list contradict
        ("atbender/Qwen3.6-VL-REAP-26B-A3B-W4A16", 26, 3, 40),
        ("monology/NVIDIA-Nemotron-Labs-3-Elastic-12B-A2B-FP8", 12, 2, 52),
        ("unsloth/Inkling-Small", 264, 12.2, 42),
        ("ai-sage/GigaChat3.5-432B-A28B-Reasoning", 426, 28, 40),
        # packs of engines
        ("GLM-5.3-Flash Maya-S", 313, 17.4, 45),
    ],
)  # fmt: skip
def test_names_of_this_autumn_have_their_sizes(
    text: str, billions: float, active: float, layers: int
) -> None:
    built = named(text).architecture
    assert built.params / 1e9 == pytest.approx(billions, rel=0.03)
    assert built.active_params / 1e9 == pytest.approx(active, rel=0.03)
    assert built.layers == layers


def test_a_cycle_of_two_stacks_passes_each_as_often_as_its_code() -> None:
    built = named("sapientinc/HRM-Text-1B").architecture
    # 2 cycles of 3 passes of the lower 16 layers, then one of the upper 16 (modeling_hrm_text.py)
    assert built.visits == (6,) * 16 + (2,) * 16


def test_hybrid_layers_are_those_of_the_sibling_without_an_encoder() -> None:
    sibling = named("inclusionAI/Ling-3.0-flash").architecture
    seeing = named("inclusionAI/Ling-3.0-flash-VL")
    assert seeing.architecture.cache == sibling.cache
    assert "which has all of its sizes" in " ".join(seeing.notes)


@pytest.mark.parametrize("text", ["Kimi-K3.1", "ERNIE-5.1", "GLM-5.3-FlashX", "Qwen3.8-Omni-Flash"])
def test_what_apis_alone_sell_is_refused_with_that_reason(text: str) -> None:
    with pytest.raises(UnknownModel, match="APIs sell it, but no weights of that name"):
        named(text)


def test_a_name_without_a_size_is_refused_with_that_reason() -> None:
    with pytest.raises(UnknownModel, match="its name states no size"):
        named("Zephyranthes-9-preview")


def test_a_model_that_decides_writes_no_reply() -> None:
    with pytest.raises(Refusal, match="writes no reply"):
        named("APUS-OpenJev-35B-A3B")


@pytest.mark.parametrize("name", ["tencent/hy4", "liquidai/lfm3-1.7b", "sapientinc/hrm-text-1b"])
def test_a_config_alone_of_the_same_sizes_has_the_same_tensors(name: str) -> None:
    row = ROWS[name]
    alone = describe(row.config, "a copy").architecture
    assert alone.params == configured(as_fetched(row)).architecture.params
    assert alone.unknown_kinds


def test_a_config_of_other_sizes_has_not() -> None:
    config = json.loads(ROWS["liquidai/lfm3-1.7b"].config) | {"hidden_size": 1024}
    try:
        other = describe(json.dumps(config), "another").architecture
    except AdvisorError:
        return
    assert other.params != ROWS["liquidai/lfm3-1.7b"].parameters


@pytest.mark.parametrize(
    "text",
    [
        "bartowski/deepseek-ai_DeepSeek-V4.1-Flash-GGUF:Q4_K_M",
        "huihui-ai/Huihui-DeepSeek-V4.1-Flash-abliterated",
        "mlx-community/DeepSeek-V4.1-Flash-4bit",
        "RedHatAI/DeepSeek-V4.1-Flash-NVFP4",
        "DeepSeek-V4.1-Flash-UD-Q4_K_XL.gguf",
        "DeepSeek-V4.1-Flash-Q8_0-00001-of-00003.gguf",
        "deepseek v4.1 flash instruct",
    ],
)
def test_copies_in_any_spelling_have_the_layers_of_their_base(text: str) -> None:
    base = named("deepseek-ai/DeepSeek-V4.1-Flash").architecture
    assert named(text).architecture.params == base.params
