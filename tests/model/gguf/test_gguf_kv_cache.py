"""Cache of the layers of GGUF models, worked by hand from the models' published sizes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from gguf_files import F32, heads, table, write

from advisor.model.architecture import LayerCache
from advisor.model.catalog import architecture
from advisor.model.gguf.keys import architectures
from advisor.model.gguf.read import COMPANIONS, describe_path


@dataclass(frozen=True, kw_only=True)
class Case:
    """An architecture's keys, the tensors of its layers, and what these must keep."""

    name: str
    arch: str
    layers: int
    keys: Mapping[str, Any]
    cache: Mapping[int, LayerCache]
    attended: Mapping[int, int]
    hidden: int = 64
    roles: tuple[str, ...] = ("attn_q.weight", "attn_k.weight")
    others: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    note: str = ""


def ssm(inner: int, state: int, groups: int, taps: int = 4) -> dict[str, Any]:
    return {
        "ssm.inner_size": inner,
        "ssm.state_size": state,
        "ssm.group_count": groups,
        "ssm.conv_kernel": taps,
    }


def gqa(values: int, window: int | None = None) -> LayerCache:
    return LayerCache(key_values=values, value_values=values, window=window)


def every(layers: int, period: int, full: int, values: int, window: int) -> dict[int, LayerCache]:
    """Windowed layers but one in each period."""
    return {
        layer: gqa(values, None if layer % period == full else window) for layer in range(layers)
    }


def same(layers: int, value: Any) -> dict[int, Any]:
    return dict.fromkeys(range(layers), value)


MAMBA = ("ssm_in.weight", "ssm_conv1d.weight", "ssm_a", "ssm_out.weight")
DELTA = ("attn_qkv.weight", "attn_gate.weight", "ssm_conv1d.weight", "ssm_beta.weight", "ssm_a")
MLA = ("attn_q_a.weight", "attn_q_b.weight", "attn_kv_a_mqa.weight", "attn_k_b.weight")
SWA = "attention.sliding_window"
V3 = {"attention.kv_lora_rank": 512, "attention.q_lora_rank": 1536, "rope.dimension_count": 64}
V3_LATENT = {
    **V3,
    **heads(128, 1, 576, 512),
    "attention.key_length_mla": 192,
    "attention.value_length_mla": 128,
}

CASES = [
    Case(
        name="Llama-3.1-8B: 8 key heads of 128, head size from 4096 / 32",
        arch="llama",
        layers=4,
        hidden=4096,
        keys={"attention.head_count": 32, "attention.head_count_kv": 8},
        cache=same(4, gqa(1024)),
        attended=same(4, 32 * 256),
    ),
    Case(
        name="without head_count_kv every head has its own keys",
        arch="gpt2",
        layers=2,
        hidden=768,
        roles=("attn_qkv.weight",),
        keys={"attention.head_count": 12},
        cache=same(2, gqa(768)),
        attended=same(2, 12 * 128),
    ),
    Case(
        name="Phi-3-mini: llama.cpp does not use the window the file names",
        arch="phi3",
        layers=2,
        hidden=3072,
        roles=("attn_qkv.weight",),
        keys={"attention.head_count": 32, "attention.head_count_kv": 32, SWA: 2047},
        cache=same(2, gqa(3072)),
        attended=same(2, 32 * 192),
        note="does not use it",
    ),
    Case(
        name="DeciLM: heads by layer, layers without attention",
        arch="deci",
        layers=3,
        hidden=8192,
        others={1: ("ffn_norm.weight",), 2: ()},
        keys={"attention.head_count": [64, 0, 0], "attention.head_count_kv": [8, 0, 0]},
        cache={0: gqa(1024), 1: LayerCache(), 2: LayerCache()},
        attended={0: 64 * 256, 1: 0, 2: 0},
    ),
    Case(
        name="Gemma 2 9B: even layers see 4096 tokens",
        arch="gemma2",
        layers=42,
        keys=heads(16, 8, 256),
        cache=every(42, 2, 1, 2048, 4096),
        attended=same(42, 16 * 512),
    ),
    Case(
        name="Gemma 3 27B: every sixth layer is full, 10 of 62",
        arch="gemma3",
        layers=62,
        keys={**heads(32, 16, 128), SWA: 1024},
        cache=every(62, 6, 5, 2048, 1024),
        attended=same(62, 32 * 256),
    ),
    Case(
        name="Gemma 3 without a window is full",
        arch="gemma3",
        layers=7,
        keys=heads(4, 1, 256),
        cache=same(7, gqa(256)),
        attended=same(7, 4 * 512),
    ),
    Case(
        name="Gemma 3n E2B: 20 layers with a cache, the last 10 reuse it; every fifth is full",
        arch="gemma3n",
        layers=30,
        keys={**heads(8, 2, 256), SWA: 512},
        cache={
            layer: LayerCache(
                key_values=512 if layer < 20 else 0,
                value_values=512 if layer < 20 else 0,
                window=None if layer % 5 == 4 else 512,
            )
            for layer in range(30)
        },
        attended=same(30, 8 * 512),
        note="last 10 layers reuse",
    ),
    Case(
        name="Gemma 4: a list of windows, other heads in full layers, shared caches",
        arch="gemma4",
        layers=6,
        keys={
            **heads(8, [2, 2, 1, 2, 2, 1], 512),
            "attention.key_length_swa": 256,
            "attention.value_length_swa": 256,
            "attention.shared_kv_layers": 2,
            "attention.sliding_window_pattern": [True, True, False, True, True, False],
            SWA: 512,
        },
        cache={
            0: gqa(512, 512),
            1: gqa(512, 512),
            2: gqa(512),
            3: gqa(512, 512),
            4: LayerCache(window=512),
            5: LayerCache(),
        },
        attended={0: 8 * 512, 1: 8 * 512, 2: 8 * 1024, 3: 8 * 512, 4: 8 * 512, 5: 8 * 1024},
        note="last 2 layers reuse",
    ),
    Case(
        name="Command R7B: every fourth layer is full",
        arch="cohere2",
        layers=8,
        keys={**heads(32, 8, 128), SWA: 4096},
        cache=every(8, 4, 3, 1024, 4096),
        attended=same(8, 32 * 256),
    ),
    Case(
        name="Cohere 2 MoE: the first of four is full",
        arch="cohere2moe",
        layers=8,
        keys={**heads(32, 8, 128), SWA: 4096},
        cache=every(8, 4, 0, 1024, 4096),
        attended=same(8, 32 * 256),
    ),
    Case(
        name="Llama 4 Scout: chunks of 8192, every fourth layer is full",
        arch="llama4",
        layers=8,
        keys=heads(40, 8, 128),
        cache=every(8, 4, 3, 1024, 8192),
        attended=same(8, 40 * 256),
    ),
    Case(
        name="a Llama 4 file with window 0 has no chunks",
        arch="llama4",
        layers=4,
        keys={**heads(16, 4, 64), SWA: 0},
        cache=same(4, gqa(256)),
        attended=same(4, 16 * 128),
    ),
    Case(
        name="gpt-oss-20b: even layers see 128 tokens",
        arch="gpt-oss",
        layers=24,
        keys={**heads(64, 8, 64), SWA: 128},
        cache=every(24, 2, 1, 512, 128),
        attended=same(24, 64 * 128),
    ),
    Case(
        name="a period in the file replaces the usual one",
        arch="gpt-oss",
        layers=6,
        keys={**heads(64, 8, 64), SWA: 128, "attention.sliding_window_pattern": 3},
        cache=every(6, 3, 2, 512, 128),
        attended=same(6, 64 * 128),
    ),
    Case(
        name="period 0: all layers have the window",
        arch="plamo3",
        layers=3,
        keys={**heads(16, 2, 128), SWA: 2048, "attention.sliding_window_pattern": 0},
        cache=same(3, gqa(256, 2048)),
        attended=same(3, 16 * 256),
    ),
    Case(
        name="EXAONE 4.0 32B: 64 layers, every fourth is full",
        arch="exaone4",
        layers=64,
        keys=heads(40, 8, 128),
        cache=every(64, 4, 3, 1024, 4096),
        attended=same(64, 40 * 256),
    ),
    Case(
        name="EXAONE 4.0 1.2B has no windows",
        arch="exaone4",
        layers=30,
        keys=heads(32, 8, 64),
        cache=same(30, gqa(512)),
        attended=same(30, 32 * 128),
    ),
    Case(
        name="K-EXAONE: 128 tokens, every fourth layer is full",
        arch="exaone-moe",
        layers=8,
        keys=heads(64, 8, 128),
        cache=every(8, 4, 3, 1024, 128),
        attended=same(8, 64 * 256),
    ),
    Case(
        name="OLMo 3 7B: every fourth layer is full",
        arch="olmo2",
        layers=8,
        keys={**heads(32, 32, 128), SWA: 4096},
        cache=every(8, 4, 3, 4096, 4096),
        attended=same(8, 32 * 256),
    ),
    Case(
        name="OLMo 2 has no windows",
        arch="olmo2",
        layers=2,
        keys=heads(32, 32, 128),
        cache=same(2, gqa(4096)),
        attended=same(2, 32 * 256),
    ),
    Case(
        name="SmallThinker: the first of four is full, 4096 whatever the file says",
        arch="smallthinker",
        layers=8,
        keys={**heads(28, 4, 128), SWA: 1},
        cache=every(8, 4, 0, 512, 4096),
        attended=same(8, 28 * 256),
    ),
    Case(
        name="MiMo-V2: keys of 192, values of 128, a list of windows",
        arch="mimo2",
        layers=2,
        keys={
            **heads(64, [4, 8], 192, 128),
            SWA: 128,
            "attention.sliding_window_pattern": [False, True],
        },
        cache={
            0: LayerCache(key_values=768, value_values=512),
            1: LayerCache(key_values=1536, value_values=1024, window=128),
        },
        attended=same(2, 64 * 320),
    ),
    Case(
        name="DeepSeek-V3: 512 latent and 64 rotary values; absorbed, heads x (576 + 512)",
        arch="deepseek2",
        layers=2,
        keys=V3_LATENT,
        roles=MLA,
        cache=same(2, LayerCache(key_values=576)),
        attended=same(2, 128 * 1088),
    ),
    Case(
        name="a DeepSeek-V3 file of early 2025: expanded, 128 x 192 and 128 x 128",
        arch="deepseek2",
        layers=2,
        keys={**V3, **heads(128, 128, 192, 128)},
        roles=("attn_q_a.weight", "attn_kv_a_mqa.weight", "attn_kv_b.weight"),
        cache=same(2, LayerCache(key_values=24_576, value_values=16_384)),
        attended=same(2, 128 * 320),
        note="expanded keys",
    ),
    Case(
        name="DeepSeek-V3.2: 128 values more for the indexer's key",
        arch="deepseek32",
        layers=2,
        roles=(*MLA, "indexer.attn_k.weight"),
        keys={**V3_LATENT, "attention.indexer.key_length": 128},
        cache=same(2, LayerCache(key_values=704)),
        attended=same(2, 128 * 1088),
    ),
    Case(
        name="GLM-5.2: only some layers have an indexer of their own",
        arch="glm-dsa",
        layers=2,
        roles=(*MLA, "indexer.attn_k.weight"),
        others={1: MLA},
        keys={**V3_LATENT, "attention.indexer.key_length": 128},
        cache={0: LayerCache(key_values=704), 1: LayerCache(key_values=576)},
        attended=same(2, 128 * 1088),
    ),
    Case(
        name="MiniCPM3: MLA that llama.cpp caches expanded, 40 x 96 and 40 x 64",
        arch="minicpm3",
        layers=2,
        hidden=2560,
        roles=MLA,
        keys={
            "attention.head_count": 40,
            "attention.head_count_kv": 40,
            "attention.key_length": 96,
            "attention.kv_lora_rank": 256,
        },
        cache=same(2, LayerCache(key_values=3840, value_values=2560)),
        attended=same(2, 40 * 160),
    ),
    Case(
        name="Mamba 2.8B: 5120 x 16 states, 3 past inputs of 5120",
        arch="mamba",
        layers=2,
        roles=MAMBA,
        keys={
            "ssm.inner_size": 5120,
            "ssm.state_size": 16,
            "ssm.conv_kernel": 4,
            "attention.head_count": 0,
        },
        cache=same(2, LayerCache(state_values=5120 * 16 + 3 * 5120)),
        attended=same(2, 0),
    ),
    Case(
        name="Mamba-2 2.7B: 5120 x 128 states, 3 past inputs of 5120 + 2 x 128",
        arch="mamba2",
        layers=2,
        roles=MAMBA,
        keys=ssm(5120, 128, 1),
        cache=same(2, LayerCache(state_values=671_488)),
        attended=same(2, 0),
    ),
    Case(
        name="Nemotron-H 8B: Mamba-2, feed-forward alone, attention alone",
        arch="nemotron_h",
        layers=3,
        roles=MAMBA,
        others={1: ("ffn_up.weight",), 2: ("attn_q.weight", "attn_k.weight")},
        keys={**heads(32, [0, 0, 8], 128), **ssm(8192, 128, 8)},
        # 8192 x 128 + 3 x (8192 + 2 x 8 x 128) = 1,079,296
        cache={0: LayerCache(state_values=1_079_296), 1: LayerCache(), 2: gqa(1024)},
        attended={0: 0, 1: 0, 2: 32 * 256},
    ),
    Case(
        name="Granite 4 hybrid: Mamba-2 but where there are key heads",
        arch="granitehybrid",
        layers=2,
        roles=MAMBA,
        others={1: ("attn_q.weight", "attn_k.weight")},
        keys={**heads(32, [0, 8], 128), **ssm(8192, 128, 1)},
        # 8192 x 128 + 3 x (8192 + 256) = 1,073,920
        cache={0: LayerCache(state_values=1_073_920), 1: gqa(1024)},
        attended={0: 0, 1: 8192},
    ),
    Case(
        name="Falcon-H1 7B: attention and Mamba-2 in every layer",
        arch="falcon-h1",
        layers=2,
        roles=(*MAMBA, "attn_q.weight", "attn_k.weight"),
        keys={**heads(12, 2, 128), **ssm(3072, 256, 1)},
        # 3072 x 256 + 3 x (3072 + 512) = 797,184
        cache=same(2, LayerCache(key_values=256, value_values=256, state_values=797_184)),
        attended=same(2, 12 * 256),
    ),
    Case(
        name="Jamba 1.5 Mini: Mamba without groups",
        arch="jamba",
        layers=2,
        roles=MAMBA,
        others={1: ("attn_q.weight", "attn_k.weight")},
        keys={
            **heads(32, [0, 8], 128),
            "ssm.inner_size": 8192,
            "ssm.state_size": 16,
            "ssm.conv_kernel": 4,
        },
        cache={0: LayerCache(state_values=8192 * 19), 1: gqa(1024)},
        attended={0: 0, 1: 8192},
    ),
    Case(
        name="Qwen3-Next-80B: 32 x 128 x 128 and 3 x 8192 in linear layers, 2 key heads of 256",
        arch="qwen3next",
        layers=4,
        roles=("ssm_in.weight", "ssm_conv1d.weight", "ssm_ba.weight"),
        others={3: ("attn_q.weight", "attn_k.weight")},
        keys={**heads(16, 2, 256), **ssm(4096, 128, 16)},
        cache={**same(3, LayerCache(state_values=524_288 + 24_576)), 3: gqa(512)},
        attended={**same(3, 0), 3: 16 * 512},
    ),
    Case(
        name="Qwen3.5: linear layers name their projection attn_qkv",
        arch="qwen35",
        layers=4,
        roles=DELTA,
        others={3: ("attn_q.weight", "attn_k.weight")},
        keys={**heads(24, 4, 256), **ssm(6144, 128, 16)},
        # 48 x 128 x 128 + 3 x (6144 + 2 x 16 x 128) = 786,432 + 30,720
        cache={**same(3, LayerCache(state_values=817_152)), 3: gqa(1024)},
        attended={**same(3, 0), 3: 24 * 512},
    ),
    Case(
        name="Kimi Linear 48B: 32 x 128 x 128 and 3 x 3 x 4096; MLA between",
        arch="kimi-linear",
        layers=2,
        roles=("attn_q.weight", "attn_k.weight", "ssm_conv1d_q.weight", "ssm_beta.weight"),
        others={1: ("attn_q.weight", "attn_kv_a_mqa.weight", "attn_k_b.weight")},
        keys={
            **heads(32, [0, 1], 576, 512),
            "attention.kv_lora_rank": 512,
            "kda.head_dim": 128,
            "attention.key_length_mla": 192,
            "attention.value_length_mla": 128,
            "ssm.conv_kernel": 4,
        },
        cache={0: LayerCache(state_values=524_288 + 36_864), 1: LayerCache(key_values=576)},
        attended={0: 0, 1: 32 * 1088},
    ),
    Case(
        name="LFM2 1.2B: short convolutions keep 2 inputs of 2048",
        arch="lfm2",
        layers=2,
        hidden=2048,
        roles=("shortconv.conv.weight",),
        others={1: ("attn_q.weight", "attn_k.weight")},
        keys={
            "attention.head_count": 32,
            "attention.head_count_kv": [0, 8],
            "shortconv.l_cache": 3,
        },
        cache={0: LayerCache(state_values=4096), 1: gqa(512)},
        attended={0: 0, 1: 32 * 128},
    ),
    Case(
        name="RWKV-7 2.9B: 2 shifted tokens and 40 heads of 64 x 64",
        arch="rwkv7",
        layers=2,
        hidden=2560,
        roles=("time_mix_key.weight",),
        keys={"wkv.head_size": 64, "attention.head_count": 0},
        cache=same(2, LayerCache(state_values=2560 * 66)),
        attended=same(2, 0),
    ),
]


def companions(role: str) -> tuple[tuple[str, ...], ...]:
    """Tensors that a case need not name, since another always has them beside it."""
    return COMPANIONS.get(role.removesuffix(".weight"), ())


def file_of(case: Case, path: Path) -> Path:
    tensors = dict(table(case.hidden, 2))
    for layer in range(case.layers):
        roles = case.others.get(layer, case.roles)
        beside = {needed[0] + ".weight" for role in roles for needed in companions(role)}
        for role in {*roles, *beside}:
            tensors[f"blk.{layer}.{role}"] = ((64, 2), F32)
    keys = {"block_count": case.layers, "embedding_length": case.hidden, **case.keys}
    return write(path / "m.gguf", case.arch, keys, tensors)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cache_of_layers(tmp_path: Path, case: Case) -> None:
    described = describe_path(file_of(case, tmp_path))
    assert dict(enumerate(described.architecture.cache)) == case.cache
    assert dict(enumerate(described.architecture.attention_values)) == case.attended
    assert (case.note in described.notes[0]) if case.note else described.notes == ()


def test_a_catalogue_model_keeps_its_cache() -> None:
    """The same sizes by the other way in this package, from published numbers."""
    for case, name in (("Qwen3-Next-80B", "Qwen3-Next-80B-A3B"), ("DeepSeek-V3:", "DeepSeek-V3")):
        ours = next(sample for sample in CASES if sample.name.startswith(case))
        assert set(ours.cache.values()) == set(architecture(name).cache)


def test_every_window_rule_and_latent_architecture_has_a_case() -> None:
    tested = {case.arch for case in CASES}
    relatives = {"afmoe", "laguna", "mellum", "step35", "mistral4"}  # the same rule as a tested one
    ruled = {row.architecture for row in architectures().values() if row.period is not None}
    latent = {row.architecture for row in architectures().values() if row.latent}
    assert ruled | latent <= tested | relatives
