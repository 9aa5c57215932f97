"""Accelerate's own placement, block by block, against ours."""

import importlib.util
import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor import catalog
from advisor.describe.config import facts_from_config
from advisor.model import Model
from advisor.runtimes.device_map import HEAD, NORM, TABLE, blocks, blocks_that_fit, device_map
from advisor.tensors import build

needs_transformers = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("accelerate", "transformers", "torch")),
    reason="accelerate, transformers and torch are not installed (requirements-oracles.txt)",
)

CONFIGS: Mapping[str, Mapping[str, Any]] = {
    "llama": {"hidden_size": 1024, "intermediate_size": 2816, "num_attention_heads": 8,
              "num_key_value_heads": 4, "tie_word_embeddings": False},
    "qwen2": {"hidden_size": 896, "intermediate_size": 4864, "num_attention_heads": 14,
              "num_key_value_heads": 2, "tie_word_embeddings": True},
    "qwen3": {"hidden_size": 1024, "intermediate_size": 3072, "num_attention_heads": 16,
              "num_key_value_heads": 8, "head_dim": 128, "tie_word_embeddings": False},
    "mistral": {"hidden_size": 768, "intermediate_size": 6144, "num_attention_heads": 12,
                "num_key_value_heads": 4, "tie_word_embeddings": False},
    "mixtral": {"hidden_size": 512, "intermediate_size": 1792, "num_attention_heads": 8,
                "num_key_value_heads": 4, "num_local_experts": 8, "tie_word_embeddings": False},
    "gemma": {"hidden_size": 1024, "intermediate_size": 8192, "num_attention_heads": 8,
              "num_key_value_heads": 1, "head_dim": 128, "tie_word_embeddings": True},
    "phi3": {"hidden_size": 1024, "intermediate_size": 2816, "num_attention_heads": 8,
             "num_key_value_heads": 8, "tie_word_embeddings": False, "pad_token_id": 0},
}  # fmt: skip
"""Small models of seven architectures; of each 12 layers and 32,000 tokens."""

LIMITS = [(0.2, 0.3), (0.4, 0.3), (0.5, 10.0), (0.8, 0.05), (0.97, 10.0), (2.0, 10.0), (0.05, 0.5)]
"""Shares of the model's size that one GPU and RAM may hold."""


@cache
def config(kind: str) -> Any:
    from transformers import AutoConfig

    return AutoConfig.for_model(
        kind, num_hidden_layers=12, vocab_size=32_000, dtype="bfloat16", **CONFIGS[kind]
    )


@cache
def ours(kind: str) -> Model:
    facts = facts_from_config(json.loads(config(kind).to_json_string()), kind)
    return catalog.in_format(build(facts), "BF16-hf")


@cache
def theirs(kind: str) -> Any:
    """The model itself, without its weights, its head tied where it is."""
    import torch
    from accelerate import init_empty_weights
    from transformers import AutoModelForCausalLM

    with init_empty_weights():
        model = AutoModelForCausalLM.from_config(config(kind), dtype=torch.bfloat16)
    model.tie_weights()
    return model


def block_of(module: str) -> str | None:
    """Our name for a module of theirs; None for buffers of a few bytes."""
    layer = re.search(r"layers\.(\d+)", module)
    if layer:
        return layer[1]
    names = {"embed_tokens": TABLE, "norm": NORM, "lm_head": HEAD}
    return names.get(module.split(".")[-1])


def their_map(kind: str, limits: Mapping[int | str, int]) -> dict[str, int | str]:
    """What `device_map="auto"` makes of limits, for every block."""
    from accelerate import infer_auto_device_map

    model = theirs(kind)
    found = infer_auto_device_map(
        model,
        max_memory={**limits, "disk": 10**15},
        no_split_module_classes=model._no_split_modules,
        clean_result=False,
        offload_buffers=True,
    )
    whole: dict[str, int | str] = {}
    for module, device in found.items():
        names = [name for name, _ in model.named_modules() if f"{name}.".startswith(f"{module}.")]
        blocks_there = {block_of(name) for name in names if name.count(".") <= 2}
        whole |= dict.fromkeys(blocks_there - {None}, device)  # type: ignore[arg-type]
    return whole


@needs_transformers
@pytest.mark.parametrize("kind", CONFIGS)
def test_blocks_are_as_large_as_theirs(kind: str) -> None:
    from accelerate.utils import compute_module_sizes

    sizes = compute_module_sizes(theirs(kind))
    for module, size in sizes.items():
        name = block_of(module) if module.count(".") <= 2 else None
        found = blocks(ours(kind))
        if name in found.names and size:
            # Gemma keeps a factor of two bytes beside its table.
            assert found.sizes[found.names.index(name)] == pytest.approx(size, abs=2), module


@needs_transformers
@pytest.mark.parametrize("shares", LIMITS, ids=str)
@pytest.mark.parametrize("kind", CONFIGS)
def test_every_block_lies_where_accelerate_puts_it(kind: str, shares: tuple[float, float]) -> None:
    model = ours(kind)
    gpu, ram = (int(share * model.file_bytes) for share in shares)
    assert device_map(model, [gpu], ram) == their_map(kind, {0: gpu, "cpu": ram})


@needs_transformers
@pytest.mark.parametrize("kind", ["llama", "qwen2"])
def test_two_gpus_are_filled_one_after_the_other(kind: str, monkeypatch: Any) -> None:
    from accelerate.utils import modeling

    monkeypatch.setattr(modeling, "get_max_memory", lambda limits: dict(limits))
    model = ours(kind)
    gpu, ram = int(0.45 * model.file_bytes), int(0.2 * model.file_bytes)
    expected = their_map(kind, {0: gpu, 1: gpu, "cpu": ram})
    assert device_map(model, [gpu, gpu], ram) == expected
    assert {0, 1} <= set(expected.values())


def test_by_hand() -> None:
    """Table 4, layers 3, 3, 3, norm 0, head 4; of 14: 4 + 3 and 4 for the head are 11, another 3
    makes 14, another 17. Of 9 in RAM 3 + 0 + 4 fit.
    """
    sizes = np.array([4.0, 3, 3, 3, 0, 4])
    assert float(blocks_that_fit(sizes, 14.0, keeps_room=True)) == 3
    assert float(blocks_that_fit(sizes, 14.0, keeps_room=False)) == 5
    assert float(blocks_that_fit(sizes[3:], 9.0, keeps_room=True)) == 3
    assert list(blocks_that_fit(sizes, np.array([0.0, 14.0, 100.0]), keeps_room=True)) == [0, 3, 6]


@given(st.floats(1e8, 4e11), st.floats(0, 4e11))
def test_more_room_never_moves_a_block_outwards(gpu: float, ram: float) -> None:
    model = catalog.model("Llama-3.1-8B", "BF16-hf")
    order: list[int | str] = [0, "cpu", "disk"]
    small = device_map(model, [gpu], ram)
    large = device_map(model, [1.5 * gpu], ram)
    assert small.keys() == {TABLE, *map(str, range(32)), NORM, HEAD}
    assert all(order.index(large[name]) <= order.index(small[name]) for name in (TABLE, "0"))
    counted = [list(found.values()).count(0) for found in (small, large)]
    assert counted[0] <= counted[1]


def test_a_tied_head_lies_with_its_table() -> None:
    model = catalog.model("Qwen3-0.6B", "BF16-hf")
    placed = device_map(model, [0.5 * model.file_bytes], 1e12)
    assert placed[HEAD] == placed[TABLE] == 0
    assert "cpu" in placed.values()
