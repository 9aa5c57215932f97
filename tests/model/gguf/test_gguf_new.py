"""Models of this morning from their GGUF alone: loops, tables, indexers, and keys that are new."""

import math
from pathlib import Path
from typing import Any

import pytest
from gguf_files import F32, LLAMA_KEYS, heads, layered, llama_tensors, table, write

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
    # an index pools its keys by blocks anew, so that the list of ratios changes nothing kept
    assert not any("attention.compress_ratios" in note for note in file.notes)
    assert float(model.bytes_per_layer[Group.ATTENTION][1]) == F32_BYTES * (
        64 * (128 + 16 + 16 + 32 + 8 + 256) + 256 * 8
    )


# DeepSeek-V4: one key for all heads, kept compressed behind a window.

HEAD = 128
WINDOW = 16
RATIOS = (0, 4, 128, 4)
V4_KEYS = {
    "block_count": 4, "embedding_length": 64, "context_length": 4096, **heads(4, 1, HEAD),
    "attention.q_lora_rank": 24, "attention.sliding_window": WINDOW,
    "attention.compress_ratios": list(RATIOS), "attention.indexer.key_length": 8,
    "attention.indexer.head_count": 2, "attention.output_group_count": 2,
    "attention.output_lora_rank": 16, "hyper_connection.count": 4, "hash_layer_count": 1,
    "expert_count": 8, "expert_used_count": 2, "expert_feed_forward_length": 48,
}  # fmt: skip
"""Keys as llama.cpp reads them (src/models/deepseek4.cpp at 00395eb28)."""


def v4_layer(ratio: int) -> dict[str, tuple[int, ...]]:
    """Tensors of a layer as llama.cpp loads them, with a compressor and an index where it has
    them.
    """
    wide = HEAD * (2 if ratio == 4 else 1)
    compressor = {
        "attn_compressor_kv.weight": (64, wide), "attn_compressor_gate.weight": (64, wide),
        "attn_compressor_ape.weight": (wide, ratio), "attn_compressor_norm.weight": (HEAD,),
    }  # fmt: skip
    index = {
        "indexer.proj.weight": (64, 2), "indexer.attn_q_b.weight": (24, 16),
        "indexer_compressor_kv.weight": (64, 16), "indexer_compressor_gate.weight": (64, 16),
        "indexer_compressor_ape.weight": (16, 4), "indexer_compressor_norm.weight": (8,),
    }  # fmt: skip
    return {
        "attn_norm.weight": (64,),
        "attn_sinks.weight": (4,),
        "attn_q_a.weight": (64, 24),
        "attn_q_a_norm.weight": (24,),
        "attn_q_b.weight": (24, 4 * HEAD),
        "attn_kv.weight": (64, HEAD),
        "attn_kv_a_norm.weight": (HEAD,),
        "attn_output_a.weight": (2 * HEAD, 32),
        "attn_output_b.weight": (32, 64),
        "hc_attn_fn.weight": (256, 24),
        "hc_attn_base.weight": (24,),
        "hc_attn_scale.weight": (3,),
        "hc_ffn_fn.weight": (256, 24),
        "hc_ffn_base.weight": (24,),
        "hc_ffn_scale.weight": (3,),
        "ffn_gate_inp.weight": (64, 8),
        "ffn_norm.weight": (64,),
        "ffn_gate_exps.weight": (64, 48, 8),
        "ffn_up_exps.weight": (64, 48, 8),
        "ffn_down_exps.weight": (48, 64, 8),
        "ffn_gate_shexp.weight": (64, 48),
        "ffn_up_shexp.weight": (64, 48),
        "ffn_down_shexp.weight": (48, 64),
        **(compressor if ratio else {}),
        **(index if ratio == 4 else {}),
    }


def v4_tensors() -> dict[str, Any]:
    tensors = {**table(tied=False), "output_hc_fn.weight": ((256, 4), F32)}
    tensors |= {"output_hc_base.weight": ((4,), F32), "output_hc_scale.weight": ((1,), F32)}
    for at, ratio in enumerate(RATIOS):
        tensors |= {f"blk.{at}.{role}": (shape, F32) for role, shape in v4_layer(ratio).items()}
    tensors["blk.0.ffn_gate_tid2eid.weight"] = ((2, 96), F32)
    tensors |= {f"blk.{at}.exp_probs_b.bias": ((8,), F32) for at in (1, 2, 3)}
    return tensors


@pytest.mark.parametrize("arch", ["deepseek4", "brandnew"])
def test_a_shared_key_is_kept_compressed_behind_a_window(tmp_path: Path, arch: str) -> None:
    file, model = described(tmp_path, arch, V4_KEYS, v4_tensors())
    first, sparse, coarse, last = file.architecture.cache
    assert (first.key_values, first.value_values, first.window) == (HEAD, 0, WINDOW)
    # an entry and an index key of 8 values for each 4 tokens; an entry for each 128
    assert sparse == last
    assert (sparse.key_values, sparse.value_values, sparse.window) == ((HEAD + 8) // 4, 0, None)
    assert (coarse.key_values, coarse.window) == (HEAD // 128, None)
    # 16 tokens of 128 values in 16 bits are half as many values in 32
    assert sparse.state_values == coarse.state_values == WINDOW * HEAD // 2
    # a query meets an index of 2 heads x 8 values at each fourth token, or all heads' K and V
    assert file.architecture.attention_values == (2 * 4 * HEAD, 16 // 4, 2 * 4 * HEAD // 128, 4)
    numbers = sum(math.prod(shape) for shape, _ in v4_tensors().values())
    assert model.file_bytes == F32_BYTES * numbers
    assert not any("unknown names" in note or "window" in note for note in file.notes)
    assert not any("compress_ratios" in note for note in file.notes)


def test_the_experts_of_each_token_are_looked_up_in_a_table(tmp_path: Path) -> None:
    tensors = v4_tensors()
    _, model = described(tmp_path, "deepseek4", V4_KEYS, tensors)
    del tensors["blk.0.ffn_gate_tid2eid.weight"]
    _, without = described(tmp_path, "deepseek4", V4_KEYS, tensors)
    assert model.file_bytes - without.file_bytes == F32_BYTES * 2 * 96
    assert model.read_bytes_per_token - without.read_bytes_per_token <= F32_BYTES * 2


# Latent caches whose ranks differ by layer.


@pytest.mark.parametrize(
    ("lengths", "kept"),
    [(24, (24, 16)), ([24, 20], (24, 20))],
    ids=["one rotary part", "stated"],
)
def test_each_layer_keeps_a_latent_of_its_own_rank(
    tmp_path: Path, lengths: Any, kept: tuple[int, int]
) -> None:
    layer = {
        "attn_q.weight": (64, 96), "attn_kv_a_mqa.weight": (64, 24),
        "attn_kv_a_norm.weight": (16,), "attn_k_b.weight": (16, 16, 4),
        "attn_v_b.weight": (16, 16, 4), "attn_output.weight": (64, 64),
        "ffn_gate.weight": (64, 96), "ffn_up.weight": (64, 96), "ffn_down.weight": (96, 64),
    }  # fmt: skip
    keys = {
        "block_count": 2, "embedding_length": 64, **heads(4, 1, 24, 16),
        "attention.key_length": lengths, "attention.kv_lora_rank": [16, 8],
        "attention.key_length_mla": 24, "attention.value_length_mla": 16,
    }  # fmt: skip
    file, _ = described(tmp_path, "brandnew", keys, {**table(), **layered(2, layer)})
    assert tuple(each.key_values for each in file.architecture.cache) == kept
    # 4 heads meet the latent with its rotary key, and the latent as value
    assert file.architecture.attention_values == (4 * (kept[0] + 16), 4 * (kept[1] + 8))


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
