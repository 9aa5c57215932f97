"""Models of this morning from their GGUF alone: loops, tables, indexers, and keys that are new."""

from pathlib import Path
from typing import Any

import pytest
from gguf_files import LLAMA_KEYS, heads, layered, llama_tensors, table, write

from advisor.catalog.csv_tables import texts
from advisor.errors import InputError
from advisor.model.architecture import Group
from advisor.model.gguf.read import describe_path
from advisor.model.model import Described, Model

F32_BYTES = 4


def described(path: Path, arch: str, keys: dict[str, Any], tensors: Any) -> tuple[Described, Model]:
    file = describe_path(write(path / "m.gguf", arch, keys, tensors))
    assert file.model is not None
    return file, file.model


# Two stacks that think in cycles (HRM-Text): block_count counts every pass, tensors are there once.

CYCLES = {"hrm.layers_per_stack": 1, "hrm.h_cycles": 2, "hrm.l_cycles": 3}


def test_layers_of_cycles_are_read_and_cached_each_time(tmp_path: Path) -> None:
    """2 x (3 + 1) passes of two layers: the lower runs 6 times, the upper twice."""
    _, single = described(tmp_path, "llama", LLAMA_KEYS, llama_tensors())
    keys = {**LLAMA_KEYS, "block_count": 8, **CYCLES}
    many, looped = described(tmp_path, "hrm-text", keys, llama_tensors())
    assert looped.file_bytes == single.file_bytes
    assert many.architecture.layers == 2
    assert many.architecture.visits == (6, 2)
    layer = F32_BYTES * (256 * 256 * 2 + 256 * 128 * 2 + 256 * 512 * 3 + 2 * 256)
    outside = F32_BYTES * (96 * 256 + 256 + 256)  # head, norm and a row of the table
    assert single.read_bytes_per_token == 2 * layer + outside
    assert looped.read_bytes_per_token == 8 * layer + outside
    # 2 key heads of 64 values, K and V, in each of the eight passes
    assert float(sum(looped.per_layer.kv_values)) == 8 * 2 * 2 * 64
    assert any("several times" in note for note in many.notes)


@pytest.mark.parametrize(
    "change",
    [{"block_count": 7}, {"hrm.h_cycles": 0}, {"hrm.l_cycles": 65}, {"hrm.layers_per_stack": 3}],
)
def test_cycles_that_do_not_make_the_blocks_are_refused(tmp_path: Path, change: Any) -> None:
    keys = {**LLAMA_KEYS, "block_count": 8, **CYCLES, **change}
    with pytest.raises(InputError, match="cycles"):
        described(tmp_path, "hrm-text", keys, llama_tensors())


# Tables of which a token reads some rows, within a layer.


@pytest.mark.parametrize(
    "role", ["engram_mhe.weight", "ngram_embd.weight", "ple_table.weight", "memory_embed.weight"]
)
def test_a_table_within_a_layer_is_held_and_not_read(tmp_path: Path, role: str) -> None:
    _, plain = described(tmp_path, "brandnew", LLAMA_KEYS, llama_tensors())
    tensors = {**llama_tensors(), **layered(1, {role: (64, 4096)})}
    _, with_table = described(tmp_path, "brandnew", LLAMA_KEYS, tensors)
    size = F32_BYTES * 64 * 4096
    assert with_table.file_bytes == plain.file_bytes + size
    assert with_table.embedding == plain.embedding + size
    assert with_table.read_bytes_per_token - plain.read_bytes_per_token < size / 90  # a row of 96


@pytest.mark.parametrize("role", ["engram_key_proj.weight", "table_norm.weight", "future.weight"])
def test_what_reads_a_table_is_no_table(tmp_path: Path, role: str) -> None:
    tensors = {**llama_tensors(), **layered(1, {role: (64, 4096)})}
    _, plain = described(tmp_path, "brandnew", LLAMA_KEYS, llama_tensors())
    _, more = described(tmp_path, "brandnew", LLAMA_KEYS, tensors)
    assert more.read_bytes_per_token - plain.read_bytes_per_token == F32_BYTES * 64 * 4096


# Qwen 4's attention: linear layers, and full ones with an indexer whose key is kept beside.


def test_an_indexer_keeps_its_key_beside_those_of_the_heads(tmp_path: Path) -> None:
    linear = {
        "attn_qkv.weight": (64, 96), "ssm_conv1d.weight": (4, 96), "ssm_beta.weight": (64, 2),
        "ssm_alpha.weight": (64, 2), "ssm_out.weight": (32, 64),
    }  # fmt: skip
    full = {
        "attn_q.weight": (64, 128), "attn_k.weight": (64, 16), "attn_v.weight": (64, 16),
        "indexer.q_proj.weight": (64, 32), "indexer.k_proj.weight": (64, 8),
        "hc_attn_down.weight": (256, 8), "ple_key.weight": (64, 256),
    }  # fmt: skip
    second = {name.replace("blk.0", "blk.1"): shape for name, shape in layered(1, full).items()}
    tensors = {**table(), **layered(1, linear), **second}
    keys = {
        "block_count": 2, "embedding_length": 64, **heads(4, 1, 16),
        "ssm.conv_kernel": 4, "ssm.inner_size": 32, "ssm.state_size": 16, "ssm.group_count": 2,
        "attention.indexer.key_length": 8, "attention.compress_ratios": [0, 4],
        "hyper_connection.count": 4, "ple.layers": [1],
    }  # fmt: skip
    file, model = described(tmp_path, "qwen4exp", keys, tensors)
    linear_cache, full_cache = file.architecture.cache
    # inner x state, and three inputs of a convolution over inner + 2 groups of state
    assert linear_cache.state_values == 32 * 16 + 3 * (32 + 2 * 2 * 16)
    assert (full_cache.key_values, full_cache.value_values) == (16 + 8, 16)
    assert not any("unknown names" in note for note in file.notes)
    # a list of ratios says that something is compressed, and nobody described how
    assert any("attention.compress_ratios" in note for note in file.notes)
    assert float(model.bytes_per_layer[Group.ATTENTION][1]) == F32_BYTES * (
        64 * (128 + 16 + 16 + 32 + 8 + 256) + 256 * 8
    )


# Keys that nobody knows.


@pytest.mark.parametrize(
    ("key", "value"),
    [("loop_count", 4), ("attention.memory_slots", 512), ("recurrence.depths", [1, 2, 4])],
)
@pytest.mark.parametrize("arch", ["llama", "brandnew"])
def test_a_new_key_is_named(tmp_path: Path, arch: str, key: str, value: Any) -> None:
    file, _ = described(tmp_path, arch, {**LLAMA_KEYS, key: value}, llama_tensors())
    assert any(f"The file states {key}, which" in note for note in file.notes)


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"rope.novel": 4},
        {"novel": 0},
        {"novel": "a word"},
        {"expert_group_count": 4},
        {"attention.sliding_window": 0},
    ],
)
def test_keys_that_change_nothing_are_not_named(tmp_path: Path, keys: dict[str, Any]) -> None:
    file, _ = described(tmp_path, "brandnew", {**LLAMA_KEYS, **keys}, llama_tensors())
    assert not any("not understood here" in note for note in file.notes)


def test_a_window_that_no_list_places_is_named(tmp_path: Path) -> None:
    keys = {**LLAMA_KEYS, "attention.sliding_window": 1024}
    file, _ = described(tmp_path, "brandnew", keys, llama_tensors())
    assert any("attention.sliding_window, which are not understood" in note for note in file.notes)


def test_keys_have_their_source() -> None:
    sources = texts("models/gguf_keys.csv", "key", "source")
    assert all(
        source.startswith("https://github.com/ggml-org/llama.cpp/") for source in sources.values()
    )
