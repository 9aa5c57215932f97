"""Encoders of images beside a language model."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_config import LLAMA

from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError
from advisor.model import catalog, resolve
from advisor.model.by_name.named import named
from advisor.model.config.towers import tower_weights
from advisor.runtimes.llama_cpp.buffers import kv_cache_bytes

TOWERS: list[tuple[dict[str, Any], int, float]] = [
    # Qwen2.5-VL-7B: 8.29 B of files less 7.62 B of text.
    (
        {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "hidden_act": "silu",
         "spatial_merge_size": 2},
        3584, 676.5e6,
    ),
    # Gemma 3: SigLIP So400m, "417M vision encoder" (arXiv 2503.19786, table 1).
    ({"num_hidden_layers": 27, "hidden_size": 1152, "intermediate_size": 4304}, 5376, 417e6),
    # Pixtral: a 400M vision encoder (arXiv 2410.07073, table 1).
    (
        {"num_hidden_layers": 24, "hidden_size": 1024, "intermediate_size": 4096,
         "hidden_act": "silu"},
        5120, 405e6,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("vision", "hidden", "weights"), TOWERS)
def test_towers_have_their_published_size(
    vision: dict[str, Any], hidden: int, weights: float
) -> None:
    assert tower_weights("test", {"vision_config": vision}, hidden) == pytest.approx(
        weights, rel=0.02
    )


@pytest.mark.parametrize(("form", "held"), [("AWQ", True), ("BF16", True), ("Q4_K_M", False)])
def test_a_checkpoint_holds_the_tower_in_16_bits(form: str, held: bool) -> None:
    vision = TOWERS[1][0]
    with_it = {**LLAMA, "text_config": LLAMA, "vision_config": vision}
    weights = tower_weights("test", with_it, LLAMA["hidden_size"])
    sizes = [
        resolve.from_config(json.dumps(config), form=form).model for config in (with_it, LLAMA)
    ]
    assert sizes[0].file_bytes - sizes[1].file_bytes == (2 * weights if held else 0)
    assert sizes[0].architecture.params == sizes[1].architecture.params


def test_llama_vision_has_its_published_total() -> None:
    # vLLM issue 10569: loading took 19.9 GiB, 10.67e9 weights; 8 of 40 layers attend to images.
    architecture = named("Llama-3.2-11B-Vision").architecture
    assert architecture.params + architecture.tower == pytest.approx(10.67e9, rel=0.005)
    assert catalog.in_format(architecture, "BF16").file_bytes == pytest.approx(
        19.9 * 2**30, rel=0.01
    )
    assert sum(1 for layer in architecture.cache if layer.key_values) == 32


def test_layers_that_attend_to_an_image_cache_its_tokens() -> None:
    # 8 of 40 layers, of 8 heads of 128 keys and 128 values for 4 tiles of 1,601 tokens; in 16 bits,
    # and in 32 in Ollama (fs/ggml/ggml.go, "mllama": 4 B x 8 x 256 x 1,601 x 4 for each layer)
    model = resolve.from_name("Llama-3.2-11B-Vision", "Q4_K_M").model
    of_image = 8 * 8 * 256 * 1601 * 4
    of_text = 32 * 8 * 256 * 8192 * 2
    assert float(np.sum(model.kv_bytes(8192, "f16"))) == of_text + 2 * of_image
    assert float(np.sum(model.kv_bytes(0, "q8_0"))) == 2 * of_image
    assert float(np.sum(kv_cache_bytes(model, Workload()))) == of_text + 4 * of_image


@given(
    st.dictionaries(
        st.sampled_from(["depth", "hidden_size", "intermediate_size", "hidden_act", "width"]),
        st.none() | st.integers(-5, 10**12) | st.text(max_size=5) | st.booleans(),
    )
)
def test_any_vision_part_ends_in_a_number_or_a_sentence(vision: dict[str, Any]) -> None:
    try:
        weights = tower_weights("test", {"vision_config": vision}, 4096)
    except AdvisorError:
        return
    assert weights >= 0


# Totals of safetensors files on huggingface.co, with towers and without drafting layers, and the
# weights of 16-bit checkpoints that they make.
TOTALS = {
    "Gemma-3-4B": 4_300_079_472,
    "Gemma-3-12B": 12_187_325_040,
    "Gemma-3-27B": 27_432_406_640,
    "Llama-4-Scout": 108_641_793_536,
    "Gemma-4-31B": 31_273_088_876,
}


@pytest.mark.parametrize("name", TOTALS)
def test_checkpoints_of_the_catalogue_hold_their_towers(name: str) -> None:
    assert catalog.model(name, "BF16").file_bytes == pytest.approx(2 * TOTALS[name], rel=0.002)


def test_each_catalogued_tower_has_a_source() -> None:
    for row in catalog.vision_rows().values():
        assert bool(row.tower) == bool(row.tower_source), row.model
        catalog.find_model(row.model)
