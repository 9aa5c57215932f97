"""Models from their config.json: real files, every spelling, refusals and hostile input."""

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from advisor.catalog.csv_tables import texts
from advisor.errors import AdvisorError, InputError, Refusal
from advisor.model import catalog
from advisor.model.architecture import Architecture, ArchitectureSpec, Group
from advisor.model.build import build
from advisor.model.config.read import describe, facts_of
from advisor.model.config.values import FILE, families, language_config
from advisor.model.formats import known_format

SAMPLES = Path(__file__).parents[2] / "samples" / "configs"
# Published files, beside the repository or in it where someone keeps them; they are not part of it.
REAL = [Path(__file__).parents[up] / "shared" / "facts" / "configs" for up in (3, 4)]

# Parameters as the Hugging Face API or the makers' papers count them, without vision towers and
# multi-token prediction layers; values of K and V per token as (layers that keep all tokens,
# layers that keep a window), by hand: 2 x kv_heads x head_dim x layers, for MLA 576 x layers, with
# 128 more per indexer.
REAL_FILES: dict[str, tuple[str, int | None, tuple[int, int]]] = {
    "MiniMaxAI--MiniMax-M2.5": ("MiniMax-M2.5", None, (126976, 0)),
    "Qwen--Qwen3-30B-A3B": ("Qwen3-30B-A3B", 30_532_122_624, (49152, 0)),
    "Qwen--Qwen3-8B": ("Qwen3-8B", 8_190_735_360, (73728, 0)),
    "Qwen--Qwen3.5-35B-A3B": ("Qwen3.5-35B-A3B", None, (10240, 0)),
    "deepseek-ai--DeepSeek-V3": ("DeepSeek-V3", 671_026_419_200, (35136, 0)),
    "deepseek-ai--DeepSeek-V3.2": ("DeepSeek-V3.2", None, (61 * (576 + 128), 0)),
    "google--gemma-4-26B-A4B": ("Gemma-4-26B-A4B", None, (10240, 102400)),
    "meta-llama--Llama-4-Scout-17B-16E-Instruct": ("Llama-4-Scout", None, (24576, 73728)),
    "meta-llama--Meta-Llama-3.1-8B": ("Llama-3.1-8B", 8_030_261_248, (65536, 0)),
    "mistralai--Mixtral-8x7B-v0.1": ("Mixtral-8x7B", 46_702_792_704, (65536, 0)),
    "moonshotai--Kimi-K2-Instruct": ("Kimi-K2", None, (35136, 0)),
    "nvidia--Llama-3.1-70B-Instruct-FP8": ("Llama-3.1-70B", 70_553_706_496, (163840, 0)),
    "nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": (
        "Nemotron-3-Nano-30B-A3B",
        31_577_937_344,
        (3072, 0),
    ),
}
NOT_SIZES = {
    *("name", "hf_id", "aliases", "layer_pattern", "published_params_b", "published_active_b"),
    *("released", "source", "source_date", "note"),
}
# A sample without these keys takes the default of its family, which is not the model's.
CONTEXT_LEFT_OUT = {"Falcon-7B", "Falcon-40B", "Gemma-3-27B"}

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": False,
}
MIXTURE: dict[str, Any] = {
    **LLAMA,
    "model_type": "deepseek_v3",
    "kv_lora_rank": None,
    "n_routed_experts": 16,
    "num_experts_per_tok": 4,
    "moe_intermediate_size": 128,
    "n_shared_experts": 1,
    "first_k_dense_replace": 1,
}


def samples() -> list[Path]:
    return sorted(SAMPLES.glob("*.json"))


def sample(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def per_token(built: Architecture) -> tuple[int, int]:
    whole = sum(
        cache.key_values + cache.value_values for cache in built.cache if cache.window is None
    )
    return whole, sum(
        cache.key_values + cache.value_values for cache in built.cache if cache.window is not None
    )


def same_sizes(spec: ArchitectureSpec, row: ArchitectureSpec, *left_out: str) -> None:
    names = [field.name for field in fields(spec) if field.name not in NOT_SIZES | set(left_out)]
    assert {name: getattr(spec, name) for name in names} == {
        name: getattr(row, name) for name in names
    }
    assert letters(spec) == letters(row)


def letters(facts: ArchitectureSpec) -> str:
    return (facts.layer_pattern * facts.layers)[: facts.layers]


def facts_from_config(config: dict[str, Any], name: str) -> ArchitectureSpec:
    return facts_of(*language_config(name, config))


def facts(**keys: Any) -> ArchitectureSpec:
    return facts_from_config({**LLAMA, **keys}, "test")


def mixture(**keys: Any) -> ArchitectureSpec:
    return facts_from_config({**MIXTURE, **keys}, "test")


def without(config: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in keys}


@pytest.mark.parametrize("name", REAL_FILES)
def test_real_files_match_published_totals_and_the_catalogue(name: str) -> None:
    path = next((path / f"{name}.json" for path in REAL if path.is_dir()), None)
    if path is None:
        pytest.skip("the published config.json files are not part of the repository")
    row, params, cached = REAL_FILES[name]
    text = path.read_text(encoding="utf-8")
    built = describe(text, name).architecture
    assert per_token(built) == cached
    if params:
        assert built.params == pytest.approx(params, rel=0.005)
    same_sizes(facts_from_config(json.loads(text), name), catalog.find_model(row))


def test_samples_match_published_totals_and_the_catalogue(subtests: pytest.Subtests) -> None:
    for path in samples():
        with subtests.test(str(path.stem)):
            told = sample(path)
            built = describe(told["config"], path.stem).architecture
            if "params" in told:
                assert built.params == pytest.approx(told["params"], rel=0.005)
            assert per_token(built) == tuple(told["cached"])
            if "catalogue" in told:
                if path.stem in CONTEXT_LEFT_OUT:
                    left_out = ("max_context",)
                else:
                    left_out = ()
                spec = facts_from_config(told["config"], path.stem)
                same_sizes(spec, catalog.find_model(told["catalogue"]), *left_out)


@pytest.mark.parametrize("kind", [kind for kind, row in families().items() if row.refused])
def test_a_case_outside_the_rules_is_refused_by_name(kind: str) -> None:
    with pytest.raises(Refusal, match=re.escape(families()[kind].refused)):
        describe({"model_type": kind}, "test")


def test_there_are_enough_samples() -> None:
    assert len(samples()) >= 38


def test_samples_say_where_they_come_from(subtests: pytest.Subtests) -> None:
    for path in sorted(SAMPLES.glob("*.json")):
        with subtests.test(str(path.stem)):
            assert (
                "http" in sample(path)["source"]
                or "data/models/models.csv" in sample(path)["source"]
            )


def test_every_family_row_is_whole() -> None:
    known = {field.name for field in fields(ArchitectureSpec)}
    for column, start in (("source", "https://"), ("source_date", "20")):
        stated = texts(FILE, "model_types", column)
        assert all(value.startswith(start) for value in stated.values())
    for row in families().values():
        assert bool(row.refused) != bool(row.defaults), row.model_types
        facts = {part.split("=")[0].strip() for part in row.facts.split(";") if part.strip()}
        assert facts <= known


def test_every_family_builds_from_its_defaults(subtests: pytest.Subtests) -> None:
    for kind in [kind for kind, row in families().items() if not row.refused]:
        with subtests.test(str(kind)):
            # 96 heads on 4096 is GLM-4.5's default, which no checkpoint uses without head_dim.
            sizes = {"num_hidden_layers": 12, "head_dim": 128, "max_position_embeddings": 4096}
            if kind == "nemotron_h":
                sizes = {"hybrid_override_pattern": "M-M*ME"}  # type: ignore[dict-item]
            if kind in ("nemotron-nas", "deci"):
                sizes["block_configs"] = [[2, 2.0]] * 12  # type: ignore[assignment]
            needed = {"num_experts_per_tok": 2, "hidden_size": 1024, "num_attention_heads": 8}
            needed |= {"vocab_size": 1000, "intermediate_size": 512, "num_key_value_heads": 8}
            described = describe({"model_type": kind, **needed, **sizes}, kind)
            assert described.architecture.params > 0
            assert described.format == "BF16-hf"


ALIASES = [
    ("layers", 6, "num_hidden_layers", ("n_layer", "n_layers", "num_layers")),
    ("hidden", 512, "hidden_size", ("n_embd", "d_model")),
    ("heads", 16, "num_attention_heads", ("n_head", "n_heads", "num_heads")),
    ("kv_heads", 4, "num_key_value_heads", ("num_kv_heads", "n_head_kv", "multi_query_group_num")),
    ("head_dim", 64, "head_dim", ("attention_head_dim", "kv_channels")),
    ("vocab", 500, "vocab_size", ("padded_vocab_size",)),
    (
        "intermediate",
        640,
        "intermediate_size",
        (
            *("dense_intermediate_size", "intermediate_size_mlp", "ffn_dim", "n_inner"),
            "ffn_hidden_size",
        ),
    ),
    (
        "max_context",
        2048,
        "max_position_embeddings",
        ("n_positions", "max_sequence_length", "seq_length"),
    ),
]
MIXTURE_ALIASES = [
    (
        "experts",
        32,
        "n_routed_experts",
        ("num_experts", "num_local_experts", "moe_num_experts"),
    ),
    (
        "experts_per_token",
        3,
        "num_experts_per_tok",
        ("num_experts_per_token", "top_k_experts", "experts_per_token", "moe_k", "moe_topk"),
    ),
    ("shared_experts", 2, "n_shared_experts", ("num_shared_experts", "moe_num_shared_experts")),
    ("moe_intermediate", 96, "moe_intermediate_size", ("expert_intermediate_size",)),
    ("first_dense", 2, "first_k_dense_replace", ("moe_layer_start_index",)),
]


@pytest.mark.parametrize(("whole", "table"), [(LLAMA, ALIASES), (MIXTURE, MIXTURE_ALIASES)])
def test_every_spelling_of_a_size(whole: dict[str, Any], table: list[Any]) -> None:
    for field, value, usual, others in table:
        for spelling in (usual, *others):
            config = {**without(whole, usual), spelling: value}
            assert getattr(facts_from_config(config, "test"), field) == value, spelling


@pytest.mark.parametrize(
    "spelling",
    [
        *("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size"),
        *("shared_intermediate_size", "share_expert_dim"),
    ],
)
def test_every_spelling_of_a_shared_width(spelling: str) -> None:
    # A width is that of all shared experts together, so there is one.
    spec = mixture(n_shared_experts=None, **{spelling: 320})
    assert (spec.shared_experts, spec.shared_intermediate) == (1, 320)
    assert mixture(n_shared_experts=None, **{spelling: 0}).shared_experts == 0
    assert mixture(n_shared_experts=None, **{spelling: 128}).shared_intermediate == 0


@pytest.mark.parametrize("part", ["text_config", "llm_config", "language_config"])
def test_nested_language_models(part: str) -> None:
    config = {"model_type": "some_vision_model", part: LLAMA, "vision_config": {"depth": 27}}
    assert facts_from_config(config, "test") == facts_from_config(LLAMA, "test")
    assert "towers" in " ".join(describe(config, "test").notes)


def test_the_whole_model_says_whether_the_head_is_tied() -> None:
    inner = without(LLAMA, "tie_word_embeddings")
    assert facts_from_config({"tie_word_embeddings": True, "text_config": inner}, "test").tied
    assert not facts_from_config({"tie_word_embeddings": True, "text_config": LLAMA}, "test").tied


@pytest.mark.parametrize(
    ("keys", "pattern"),
    [
        ({"layer_types": ["sliding_attention", "full_attention"] * 2}, "WF"),
        ({"layer_types": ["chunked_attention"] * 3 + ["full_attention"]}, "WWWF"),
        ({"layer_types": ["local_attention"] * 3 + ["global_attention"]}, "WWWF"),
        ({"sliding_window_pattern": 2}, "WF"),
        ({"_sliding_window_pattern": 4}, "WWWF"),
        ({"sliding_window_pattern": "LLLG"}, "WWWF"),
        ({"use_sliding_window": True, "max_window_layers": 3}, "FFFW"),
        ({"use_sliding_window": False}, "F"),
        ({}, "W"),
        ({"sliding_window": None}, "F"),
        ({"sliding_window": 4096}, "F"),
    ],
)
def test_windows(keys: dict[str, Any], pattern: str) -> None:
    # The last: a window of the whole context never binds, as Phi-3.5 has it.
    spec = facts(**{"sliding_window": 128, **keys})
    assert spec.layer_pattern == pattern
    assert spec.window == (128 if "W" in pattern else 0)


@pytest.mark.parametrize(
    ("keys", "pattern"),
    [
        ({}, "WWWF"),
        ({"no_rope_layers": []}, "WWWF"),
        ({"no_rope_layers": [1, 0, 1, 0]}, "WF"),
        ({"no_rope_layer_interval": 2}, "WF"),
        ({"attention_chunk_size": None}, "F"),
    ],
)
def test_chunked_attention(keys: dict[str, Any], pattern: str) -> None:
    config = {**LLAMA, "model_type": "llama4_text", "attention_chunk_size": 512, **keys}
    spec = facts_from_config({**config, "num_local_experts": 1}, "test")
    assert spec.layer_pattern == pattern


@pytest.mark.parametrize(
    ("keys", "pattern"),
    [
        ({"full_attention_interval": 4}, "LLLF"),
        ({"full_attention_interval": 2}, "LF"),
        ({"layer_types": ["linear_attention"] * 3 + ["full_attention"]}, "LLLF"),
    ],
)
def test_gated_delta_net_layers(keys: dict[str, Any], pattern: str) -> None:
    spec = facts_from_config({**LLAMA, "model_type": "qwen3_5_text", **keys}, "test")
    assert spec.layer_pattern == pattern
    assert (spec.linear_key_heads, spec.linear_value_heads, spec.linear_conv) == (16, 32, 4)


@pytest.mark.parametrize(
    "keys",
    [
        {"hybrid_override_pattern": "ME*-"},
        {"layers_block_type": ["mamba", "moe", "attention", "mlp"]},
        {"layers_block_type": ["linear_attention", "moe", "full_attention", "mlp"]},
        {"hybrid_override_pattern": "ME*-", "num_hidden_layers": None},
    ],
)
def test_single_blocks(keys: dict[str, Any]) -> None:
    config = {**LLAMA, "model_type": "nemotron_h", "moe_intermediate_size": 64, **keys}
    config["moe_shared_expert_intermediate_size"] = 96
    spec = facts_from_config(config, "test")
    assert (spec.layers, spec.layer_pattern) == (4, "ME*-")
    assert (spec.ssm_heads, spec.ssm_groups, spec.ssm_conv) == (128, 8, 4)
    assert (spec.experts, spec.intermediate, spec.shared_intermediate) == (8, 512, 96)


def test_a_pattern_of_another_length_is_named() -> None:
    with pytest.raises(InputError, match=r"4 entries .* for 7 layers"):
        facts_from_config(
            {
                **LLAMA,
                "model_type": "nemotron_h",
                "hybrid_override_pattern": "ME*-",
                "num_hidden_layers": 7,
            },
            "test",
        )
    with pytest.raises(InputError, match="3 entries in layer_types for 4 layers"):
        facts(layer_types=["full_attention"] * 3)


@pytest.mark.parametrize(
    ("keys", "layout"),
    [
        ({"first_k_dense_replace": 0}, (0, 1)),
        ({"first_k_dense_replace": 3}, (3, 1)),
        ({"first_k_dense_replace": 0, "moe_layer_freq": 1}, (0, 1)),
        ({"moe_layer_freq": [0, 0, 1, 1]}, (2, 1)),
        ({"moe_layer_freq": [0, 1, 0, 1]}, (0, 2)),
        ({"mlp_layer_types": ["dense", "sparse", "sparse", "sparse"]}, (1, 1)),
        ({"first_k_dense_replace": 0, "decoder_sparse_step": 2}, (0, 2)),
        ({"first_k_dense_replace": 0, "interleave_moe_layer_step": 2}, (0, 2)),
        ({"first_k_dense_replace": 0, "mlp_only_layers": [0, 1]}, (2, 1)),
        ({"first_k_dense_replace": 2, "moe_layer_interval": 2}, (3, 1)),
        ({"moe_layers": [1, 3]}, (0, 2)),
    ],
)
def test_which_layers_have_experts(keys: dict[str, Any], layout: tuple[int, int]) -> None:
    spec = mixture(**keys)
    assert (spec.first_dense, spec.moe_every) == layout


def test_experts_without_a_regular_step_are_refused() -> None:
    with pytest.raises(Refusal, match="no regular step"):
        mixture(moe_layer_freq=[1, 0, 0, 1])


def test_heads_are_not_hidden_over_heads() -> None:
    # Qwen3-0.6B: 16 heads of 128 on 1024; GLM-4.5: 96 of 128 on 5120; Mistral Small: 128, not 160.
    for name, head_dim in (("Qwen3-0.6B", 128), ("GLM-4.5", 128), ("Mistral-Small-3.1-24B", 128)):
        told = sample(SAMPLES / f"{name}.json")
        spec = facts_from_config(told["config"], name)
        assert spec.head_dim == head_dim != spec.hidden / spec.heads


def test_heads_that_do_not_divide_need_a_size() -> None:
    with pytest.raises(InputError, match="head_dim"):
        facts(num_attention_heads=7, num_key_value_heads=7)


def test_one_key_head_and_none_stated() -> None:
    assert facts(num_key_value_heads=1).kv_heads == 1
    assert facts(num_key_value_heads=None).kv_heads == 8
    assert facts(multi_query=True).kv_heads == 1
    with pytest.raises(InputError, match="multiple"):
        facts(num_key_value_heads=3)


def test_latent_attention_caches_576_values() -> None:
    built = describe(sample(SAMPLES / "DeepSeek-R1.json")["config"], "DeepSeek-R1").architecture
    assert {(cache.key_values, cache.value_values) for cache in built.cache} == {(576, 0)}


def test_hybrids_cache_on_their_attention_layers_only() -> None:
    # Qwen3.5-27B: 16 of 64 layers; charging all of them is four times too much.
    built = describe(sample(SAMPLES / "Qwen3.5-27B.json")["config"], "Qwen3.5-27B").architecture
    assert sum(cache.key_values > 0 for cache in built.cache) == 16


def test_gemma_3_keeps_every_sixth_layer_whole() -> None:
    # Its text_config leaves heads, head_dim and the pattern to transformers' defaults.
    described = describe(sample(SAMPLES / "Gemma-3-4B.json")["config"], "gemma-3-4b")
    whole = [i for i, cache in enumerate(described.architecture.cache) if cache.window is None]
    assert whole == [5, 11, 17, 23, 29]
    assert "vocab_size, num_attention_heads" in " ".join(described.notes)


def test_shared_experts_are_counted() -> None:
    # DeepSeek-V2-Lite: 2 x 3 x 2048 x 1408 in each of 26 layers.
    told = sample(SAMPLES / "DeepSeek-V2-Lite.json")
    built = describe(told["config"], "DeepSeek-V2-Lite").architecture
    shared = sum(tensor.params for tensor in built.tensors if tensor.group is Group.SHARED_EXPERTS)
    assert shared == 26 * 2 * 3 * 2048 * 1408


@pytest.mark.parametrize(
    ("keys", "letters_of_eight"),
    [
        ({}, "IIIIIIII"),
        ({"index_topk_freq": 4, "index_skip_topk_offset": 3}, "IIIFFFIF"),
        ({"indexer_types": ["full"] * 2 + ["shared"] * 6}, "IIFFFFFF"),
    ],
)
def test_indexers(keys: dict[str, Any], letters_of_eight: str) -> None:
    sizes = {"num_hidden_layers": 8, "num_attention_heads": 8}
    config = {"model_type": "glm_moe_dsa", **sizes, **keys}
    assert letters(facts_from_config(config, "test")) == letters_of_eight


def test_layers_that_reuse_a_cache() -> None:
    # Gemma 4 E2B: 15 of 35 layers keep one, 3 of them whole (2 x 1 x 512), 12 a window (2 x 256);
    # a second table of 262144 rows x 35 layers x 256 values; double width from layer 15 on.
    config = sample(SAMPLES / "Gemma-4-E2B.json")["config"]
    described = describe(config, "Gemma-4-E2B")
    built = described.architecture
    assert per_token(built) == (3 * 2 * 512, 12 * 2 * 256)
    assert sum(cache.key_values > 0 for cache in built.cache) == 15
    assert all(built.attention_values)
    assert sum(tensor.role == "attn_k" for tensor in built.tensors) == 15
    table = next(tensor for tensor in built.tensors if tensor.role == "per_layer_token_embd")
    assert table.params == 262144 * 35 * 256
    widths = [tensor.rows for tensor in built.tensors if tensor.role == "ffn_up"]
    assert widths == [6144] * 15 + [12288] * 20
    assert "Layers from 15 on" in " ".join(described.notes)


def test_more_sharing_layers_than_layers() -> None:
    with pytest.raises(InputError, match="num_kv_shared_layers"):
        describe({**LLAMA, "num_kv_shared_layers": 4}, "test")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"model_type": "retnet9000"}, "retnet9000"),
        ({"model_type": ""}, "model_type"),
        ({"model_type": None}, "model_type"),
        ({"layer_types": ["hyena"] * 4}, "hyena"),
        ({"mlp_layer_types": ["kan"] * 4, "num_experts": 8}, "kan"),
        ({"compress_ratios": [4, 128]}, "compress_ratios"),
        ({"block_configs": [{"ffn": 1}]}, "block_configs"),
        ({"use_cla": True}, "use_cla"),
        ({"mamba_d_state": 16}, "mamba_d_state"),
        ({"word_embed_proj_dim": 512}, "word_embed_proj_dim"),
        ({"per_layer_config": {"0": {"head_dim": 64}, "1": {"head_dim": 32}}}, "per_layer_config"),
        ({"model_type": "deepseek_v3", "attention_bias": True}, "biases in its latent"),
        ({"model_type": "glm_moe_dsa", "index_topk_pattern": "FSSS"}, "index_topk_pattern"),
    ],
)
def test_unknown_values_are_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(Refusal, match=message):
        facts(**keys)


def test_a_close_family_is_named() -> None:
    with pytest.raises(Refusal, match="qwen3_moe"):
        facts(model_type="qwen3_moee")


QUANTIZATIONS = [
    (None, "BF16-hf", ""),
    ({"quant_method": "awq", "bits": 4, "group_size": 128}, "AWQ", ""),
    ({"quant_method": "awq", "w_bit": 4, "q_group_size": 128}, "AWQ", ""),
    ({"quant_method": "gptq", "bits": 4, "group_size": 128}, "GPTQ", ""),
    ({"quant_method": "gptq", "bits": 4, "group_size": 32}, "GPTQ-4bit-g32", ""),
    ({"quant_method": "gptq", "bits": 8, "group_size": 128}, "GPTQ-8bit-g128", ""),
    ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "FP8", ""),
    ({"quant_method": "fbgemm_fp8"}, "FP8", ""),
    ({"quant_method": "mxfp4"}, "MXFP4-hf", ""),
    ({"load_in_8bit": True, "quant_method": "bitsandbytes"}, "bnb-int8", ""),
    (
        {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": True},
        "bnb-nf4",
        "",
    ),
    ({"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}, "bnb-nf4", "scales are 32-bit"),
    ({"load_in_4bit": True}, "bnb-FP4-4bit-g64", ""),
    ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "NVFP4", ""),
    ({"quant_algo": "FP8"}, "FP8", ""),
    ({"quant_algo": "W4A16_AWQ"}, "AWQ", ""),
    ({"quant_algo": "MIXED_PRECISION"}, "", ""),
    ({"quant_method": "hqq"}, "", ""),
    ({"bits": 4}, "INT-4bit", ""),
    ({"quant_method": "compressed-tensors"}, "", ""),
]


@pytest.mark.parametrize(("told", "form", "note"), QUANTIZATIONS)
def test_stored_formats(told: dict[str, Any] | None, form: str, note: str) -> None:
    described = describe({**LLAMA, "quantization_config": told}, "test")
    assert described.format == form
    assert note in " ".join(described.notes)
    assert not form or known_format(form)


@pytest.mark.parametrize(
    ("weights", "form"),
    [
        ({"num_bits": 8, "type": "float", "strategy": "channel"}, "FP8"),
        ({"num_bits": 4, "type": "float", "group_size": 16}, "NVFP4"),
        ({"num_bits": 4, "type": "float", "group_size": 32}, "MX-4bit-g32"),
        ({"num_bits": 4, "type": "int", "group_size": 128}, "GPTQ"),
        ({"num_bits": 4, "type": "int", "group_size": 32}, "INT-4bit-g32"),
        ({"num_bits": 8, "type": "int"}, "INT-8bit"),
    ],
)
def test_compressed_tensors(weights: dict[str, Any], form: str) -> None:
    groups = {"group_0": {"weights": weights, "targets": ["Linear"]}}
    told = {"quant_method": "compressed-tensors", "config_groups": groups}
    assert describe({**LLAMA, "quantization_config": told}, "test").format == form
    mixed = {**groups, "group_1": {"weights": {"num_bits": 6, "type": "int"}}}
    told = {"quant_method": "compressed-tensors", "config_groups": mixed}
    assert describe({**LLAMA, "quantization_config": told}, "test").format == ""


def test_hf_quant_config_counts_where_config_json_is_silent() -> None:
    beside = {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4"}}
    assert describe(LLAMA, "test", beside).format == "NVFP4"
    beside["quantization"]["exclude_modules"] = ["lm_head", "model.layers.0.self_attn*"]  # type: ignore[index, assignment]
    assert "16 bits" in " ".join(describe(LLAMA, "test", beside).notes)


def test_mlx_files_are_not_taken_for_16_bits() -> None:
    described = describe({**LLAMA, "quantization": {"bits": 4, "group_size": 64}}, "test")
    assert described.format == "MLX-4bit-g64"


def test_an_expert_width_left_out_is_that_of_the_family() -> None:
    # transformers 5.23.0, DeepseekV3Config: moe_intermediate_size 2048, not intermediate_size.
    config = without(MIXTURE, "moe_intermediate_size")
    assert facts_from_config(config, "test").moe_intermediate == 2048
    config = {**LLAMA, "model_type": "llama4_text", "interleave_moe_layer_step": 2}
    assert facts_from_config(config, "test").intermediate == 16384


def test_full_layers_with_heads_of_their_own() -> None:
    # As transformers 5 saves Gemma 4, by layer instead of by global_head_dim.
    override = {"head_dim": 64, "num_key_value_heads": 1}
    config = {**LLAMA, "model_type": "gemma4_text", "attention_k_eq_v": True, "head_dim": 32}
    config |= {
        "hidden_size_per_layer_input": 0,
        "layer_types": ["sliding_attention"] * 3 + ["full_attention"],
    }
    spec = facts_from_config({**config, "per_layer_config": {"3": override}}, "test")
    assert (spec.global_head_dim, spec.global_kv_heads, spec.layer_pattern) == (64, 1, "WWWF")
    with pytest.raises(Refusal, match="per_layer_config"):
        facts(per_layer_config={"3": override})


def test_full_words_are_noted() -> None:
    assert "float32" in " ".join(describe({**LLAMA, "torch_dtype": "float32"}, "test").notes)


HOSTILE = [
    pytest.param("[" * 10_000 + "]" * 10_000, id="nested 10,000 deep"),
    # deeper than any Python's reader goes; 3.14 reads 10,000
    pytest.param('{"a":' * 100_000 + "1" + "}" * 100_000, id="objects nested 100,000 deep"),
    pytest.param('{"model_type": "llama", "x": "' + "a" * 10_000_000 + '"}', id="10 MB"),
    pytest.param('{"hidden_size": ' + "9" * 5000 + "}", id="5,000 digits"),
    pytest.param("", id="empty"),
    pytest.param("not json", id="no JSON"),
    pytest.param("[]", id="a list"),
    pytest.param("null", id="null"),
    pytest.param('"llama"', id="a text"),
    pytest.param(json.dumps(LLAMA)[:-20], id="truncated"),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_end_in_a_sentence(text: str) -> None:
    with pytest.raises(InputError) as error:
        describe(text, "test")
    assert len(str(error.value)) < 500


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hidden_size", 10**30),
        pytest.param("hidden_size", 10**5000, id="5,000 digits"),
        ("hidden_size", -1),
        ("hidden_size", 0),
        ("hidden_size", 4096.5),
        ("hidden_size", float("nan")),
        ("hidden_size", float("inf")),
        ("hidden_size", "4096"),
        ("hidden_size", [4096]),
        ("hidden_size", {"a": 1}),
        ("hidden_size", True),
        ("num_hidden_layers", 10**6),
        ("num_attention_heads", [8]),
        ("num_key_value_heads", 10**4),
        pytest.param("vocab_size", "x" * 10**6, id="a long text"),
        ("tie_word_embeddings", "yes"),
        ("tie_word_embeddings", 1),
        ("model_type", 7),
        ("model_type", ["llama"]),
        ("layer_types", "full_attention"),
        ("layer_types", [1, 2, 3, 4]),
        pytest.param("layer_types", ["full_attention"] * 10**5, id="a long list"),
        ("sliding_window", "4k"),
        ("quantization_config", "awq"),
        ("quantization_config", ["awq"]),
        ("attention_bias", "false"),
        ("hybrid_override_pattern", 5),
        ("moe_layer_freq", ["a"]),
    ],
)
def test_wrong_values_end_in_a_sentence(key: str, value: object) -> None:
    config = {**MIXTURE, **LLAMA, "num_experts": 8, "attention_bias": False, key: value}
    with pytest.raises(InputError, match=key) as error:
        describe(config, "test")
    assert len(str(error.value)) < 500


def test_weights_beyond_every_float_are_refused_with_their_number() -> None:
    # the indexer of a layer of DeepSeek-V4 grows with the share that its cache is compressed to
    config = json.loads((SAMPLES / "DeepSeek-V4-Flash.json").read_text(encoding="utf-8"))["config"]
    config["compress_ratios"][16] = 10**400
    with pytest.raises(InputError, match=r"makes \de\+40\d weights, more than 1e\+15"):
        describe(config, "test")


def test_missing_sizes_are_named() -> None:
    with pytest.raises(InputError, match="qk_nope_head_dim"):
        facts(kv_lora_rank=64)
    with pytest.raises(InputError, match="num_experts_per_tok"):
        facts_from_config(
            without({**MIXTURE, "model_type": "llama"}, "num_experts_per_tok"), "test"
        )


def test_a_language_model_within_itself_is_read_once() -> None:
    config: dict[str, Any] = dict(LLAMA)
    config["text_config"] = config
    assert facts_from_config(config, "test").layers == 4


def test_infinity_in_an_unused_field_does_no_harm() -> None:
    # Nemotron-H writes its time_step_limit so.
    text = json.dumps({**LLAMA, "time_step_limit": [0.0, float("inf")]})
    assert describe(text, "test").architecture.layers == 4


def test_all_refusals_and_errors_are_of_one_tree() -> None:
    for config in ({}, {"model_type": "llama", "vocab_size": []}, {"model_type": "xlstm"}):
        with pytest.raises(AdvisorError):
            describe(config, "test")


def test_derived_values_are_computed_from_the_facts() -> None:
    assert build(facts()).params == describe(LLAMA, "test").architecture.params


UNHEARD_OF = {**LLAMA, "model_type": "unheard_of"}


def test_an_unknown_family_is_counted_by_its_own_sizes_and_says_so() -> None:
    described = describe(UNHEARD_OF, "test")
    assert described.architecture.params == describe(LLAMA, "test").architecture.params
    assert described.architecture.shape_uncertainty > 0
    assert "No rule of its family 'unheard_of'" in described.notes[0]


def test_an_unknown_family_whose_name_begins_as_a_known_one_is_a_guess_too() -> None:
    described = describe({**LLAMA, "model_type": "llama of ours"}, "test")
    assert "No rule of its family 'llama of ours'" in described.notes[0]


@pytest.mark.parametrize("kind", ["", " ", "\t"])
def test_a_file_without_a_family_says_so(kind: str) -> None:
    with pytest.raises(Refusal, match="has no model_type"):
        describe({**LLAMA, "model_type": kind}, "test")


@pytest.mark.parametrize("size", ["hidden_size", "num_hidden_layers", "vocab_size"])
def test_an_unknown_family_without_its_sizes_is_refused(size: str) -> None:
    with pytest.raises(Refusal, match="will not guess"):
        describe(without(UNHEARD_OF, size), "test")


@pytest.mark.parametrize("key", ["mamba_d_state", "conv_kernel", "rwkv_head_size", "lru_width"])
def test_an_unknown_family_with_a_state_is_refused(key: str) -> None:
    with pytest.raises(Refusal, match=key):
        describe({**UNHEARD_OF, key: 64}, "test")


def test_the_first_qwen_counts_both_halves_of_its_feed_forward_block() -> None:
    # safetensors total of huggingface.co/Qwen/Qwen-7B: 7,721,324,544 weights
    config = {
        "model_type": "qwen", "hidden_size": 4096, "intermediate_size": 22016,
        "num_hidden_layers": 32, "num_attention_heads": 32, "kv_channels": 128,
        "vocab_size": 151936, "seq_length": 8192,
    }  # fmt: skip
    assert describe(config, "test").architecture.params == 7_721_324_544


NESTED = {
    # databricks/dbrx-instruct: 132 billion weights by its card; 36 of them used
    "dbrx": (
        {
            "d_model": 6144,
            "n_heads": 48,
            "n_layers": 40,
            "vocab_size": 100352,
            "max_seq_len": 32768,
            "attn_config": {"kv_n_heads": 8, "clip_qkv": 8},
            "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4},
        },
        132e9,
    ),
    # mosaicml/mpt-30b: 48 layers of 12 x 7168^2 weights and a table of 50,432 x 7,168
    "mpt": (
        {
            "d_model": 7168,
            "n_heads": 64,
            "n_layers": 48,
            "expansion_ratio": 4,
            "vocab_size": 50432,
            "max_seq_len": 8192,
            "attn_config": {"attn_type": "multihead_attention", "alibi": True},
        },
        48 * 12 * 7168**2 + 50_432 * 7168,
    ),
}


@pytest.mark.parametrize("family", NESTED)
def test_sizes_in_objects_of_their_own_are_read(family: str) -> None:
    values, total = NESTED[family]
    described = describe({"model_type": family, **values}, family)
    assert described.architecture.params == pytest.approx(total, rel=0.005)
    assert described.architecture.max_context == values["max_seq_len"]
