"""Parameters, caches and attention work against published totals and numbers worked by hand."""

from dataclasses import replace

import pytest

from advisor.errors import DataError, Refusal
from advisor.model.architecture import Group, LayerCache, Tensor
from advisor.model.build import build
from advisor.model.catalog import architecture, model, model_rows

# Parameter counts as the Hugging Face API (`safetensors.total`), model cards or GGUF loaders report
# them, without vision towers and multi-token prediction layers.
EXACT = {
    "Llama-2-7B": 6_738_415_616,
    "Llama-2-13B": 13_015_864_320,
    "Llama-2-70B": 68_976_648_192,
    "Llama-3-8B": 8_030_261_248,
    "Llama-3.1-8B": 8_030_261_248,
    "Llama-3.1-70B": 70_553_706_496,
    "Llama-3.1-405B": 405_853_388_800,
    "Llama-3.2-1B": 1_235_814_400,
    "Llama-3.2-3B": 3_212_749_824,
    "Llama-3.3-70B": 70_553_706_496,
    "LLaMA-30B": 32_528_943_616,
    "TinyLlama-1.1B": 1_100_048_384,
    "CodeLlama-34B": 33_743_970_304,
    "Mistral-7B-v0.1": 7_241_732_096,
    "Mistral-7B": 7_248_023_552,
    "Mistral-Nemo-12B": 12_247_782_400,
    "Mistral-Small-24B": 23_572_403_200,
    "Mistral-Large-2407": 122_610_069_504,
    "Mixtral-8x7B": 46_702_792_704,
    "Mixtral-8x22B": 140_620_634_112,
    "Qwen2.5-0.5B": 494_032_768,
    "Qwen2.5-1.5B": 1_543_714_304,
    "Qwen2.5-3B": 3_085_938_688,
    "Qwen2.5-7B": 7_615_616_512,
    "Qwen2.5-14B": 14_770_033_664,
    "Qwen2.5-32B": 32_763_876_352,
    "Qwen2.5-72B": 72_706_203_648,
    "Qwen3-0.6B": 596_049_920,
    "Qwen3-1.7B": 1_720_574_976,
    "Qwen3-4B": 4_022_468_096,
    "Qwen3-8B": 8_190_735_360,
    "Qwen3-14B": 14_768_307_200,
    "Qwen3-32B": 32_762_123_264,
    "Qwen3-30B-A3B": 30_532_122_624,
    "Qwen3-235B-A22B": 235_093_634_560,
    "Qwen3-Coder-480B-A35B": 480_154_875_392,
    "Gemma-2-2B": 2_614_341_888,
    "Gemma-2-9B": 9_241_705_984,
    "Gemma-2-27B": 27_227_128_320,
    "Gemma-3-1B": 999_885_952,
    "gpt-oss-20b": 20_914_757_184,
    "gpt-oss-120b": 116_829_156_672,
    "DeepSeek-V2-Lite": 15_706_484_224,
    "DeepSeek-V3": 671_026_419_200,
    "Phi-3.5-mini": 3_821_079_552,
    "Phi-4": 14_659_507_200,
    "Nemotron-3-Nano-30B-A3B": 31_577_937_344,
    "OPT-1.3B": 1_315_758_080,
    "OPT-6.7B": 6_658_473_984,
    "BLOOM-176B": 176_247_271_424,
    "GPT-J-6B": 6_050_882_784,
    "GPT-NeoX-20B": 20_554_567_680,
    "Falcon-40B": 41_303_293_952,
    "Falcon-180B": 179_522_565_120,
    "Yi-34B": 34_388_917_248,
}

# K and V values per token: (layers that keep all tokens, layers that keep a window). The product
# is 2 x kv_heads x head_dim x layers of the kind, for MLA 576 x layers, with 128 more per indexer.
CACHED = {
    "Llama-2-7B": (262144, 0),
    "Llama-2-13B": (409600, 0),
    "Llama-2-70B": (163840, 0),
    "Llama-3.1-8B": (65536, 0),
    "Llama-3.1-70B": (163840, 0),
    "Llama-3.1-405B": (258048, 0),
    "Llama-3.2-1B": (16384, 0),
    "Llama-3.2-3B": (57344, 0),
    "Llama-4-Scout": (24576, 73728),
    "Llama-4-Maverick": (24576, 73728),
    "Mistral-7B-v0.1": (0, 65536),
    "Mixtral-8x7B": (65536, 0),
    "Mixtral-8x22B": (114688, 0),
    "Mistral-Small-24B": (81920, 0),
    "Qwen2.5-7B": (28672, 0),
    "Qwen2.5-14B": (98304, 0),
    "Qwen2.5-32B": (131072, 0),
    "Qwen2.5-72B": (163840, 0),
    "Qwen3-0.6B": (57344, 0),
    "Qwen3-1.7B": (57344, 0),
    "Qwen3-4B": (73728, 0),
    "Qwen3-8B": (73728, 0),
    "Qwen3-14B": (81920, 0),
    "Qwen3-32B": (131072, 0),
    "Qwen3-30B-A3B": (49152, 0),
    "Qwen3-235B-A22B": (96256, 0),
    "Qwen3-Coder-480B-A35B": (126976, 0),
    "Qwen3-Next-80B-A3B": (12288, 0),
    "Qwen3.5-27B": (32768, 0),
    "Qwen3.5-35B-A3B": (10240, 0),
    "Qwen3.5-122B-A10B": (12288, 0),
    "Qwen3.5-397B-A17B": (15360, 0),
    "Qwen3.6-27B": (32768, 0),
    "Qwen3.6-35B-A3B": (10240, 0),
    "Gemma-2-9B": (86016, 86016),
    "Gemma-2-27B": (94208, 94208),
    "Gemma-3-4B": (10240, 59392),
    "Gemma-3-12B": (32768, 163840),
    "Gemma-3-27B": (40960, 212992),
    "Gemma-4-26B-A4B": (10240, 102400),
    "Gemma-4-31B": (40960, 409600),
    "gpt-oss-20b": (12288, 12288),
    "gpt-oss-120b": (18432, 18432),
    "DeepSeek-V2-Lite": (15552, 0),
    "DeepSeek-V3": (35136, 0),
    "DeepSeek-R1": (35136, 0),
    "DeepSeek-V3.2": (35136 + 61 * 128, 0),
    "GLM-4.5": (188416, 0),
    "GLM-4.5-Air": (94208, 0),
    "GLM-5.2": (44928 + 21 * 128, 0),
    "Kimi-K2": (35136, 0),
    "Kimi-K2.5": (35136, 0),
    "MiniMax-M2.5": (126976, 0),
    "Phi-4": (102400, 0),
    "Nemotron-H-56B": (20480, 0),
    "Nemotron-3-Nano-30B-A3B": (3072, 0),
    "OPT-6.7B": (262144, 0),
    "OPT-30B": (688128, 0),
    "OPT-66B": (1179648, 0),
    "OPT-175B": (2359296, 0),
    "BLOOM-176B": (2007040, 0),
    "GPT-J-6B": (229376, 0),
    "GPT-NeoX-20B": (540672, 0),
}


def tensors(name: str, role: str) -> tuple[Tensor, ...]:
    return tuple(tensor for tensor in architecture(name).tensors if tensor.role == role)


def params_of(name: str, *groups: Group) -> int:
    return sum(tensor.params for tensor in architecture(name).tensors if tensor.group in groups)


def kept(entry: LayerCache) -> int:
    return entry.key_values + entry.value_values


def published(column: str) -> list[tuple[str, float]]:
    rows = [model_rows()[name] for name in DERIVABLE]
    return [(row.name, getattr(row, column)) for row in rows if getattr(row, column) is not None]


DERIVABLE = sorted(model_rows())


def test_names_and_aliases_mean_one_model() -> None:
    meant: dict[str, str] = {}
    for row in model_rows().values():
        spellings = {row.name, row.hf_id, *row.aliases.split("; ")} - {""}
        for spelling in spellings:
            assert meant.setdefault(spelling.casefold(), row.name) == row.name


def test_every_row_has_a_dated_public_source(subtests: pytest.Subtests) -> None:
    for name in model_rows():
        with subtests.test(str(name)):
            row = model_rows()[name]
            assert row.source.startswith("https://")
            assert row.source_date[:2] == "20"


def test_parameters_match_published_totals(subtests: pytest.Subtests) -> None:
    for name in EXACT:
        with subtests.test(str(name)):
            assert architecture(name).params == pytest.approx(EXACT[name], rel=0.005)


def test_parameters_match_published_labels(subtests: pytest.Subtests) -> None:
    for name, label in published("published_params_b"):
        with subtests.test(f"{name} {label}"):
            assert architecture(name).params == pytest.approx(label * 1e9, rel=0.05)


def test_active_parameters_match_published_labels(subtests: pytest.Subtests) -> None:
    for name, label in published("published_active_b"):
        with subtests.test(f"{name} {label}"):
            # Makers count the embedding and the head or leave them out, and round down in names
            # (A3B).
            active = architecture(name).active_params
            without_tables = active - params_of(name, Group.EMBEDDING, Group.OUTPUT)
            assert 0.9 * without_tables <= label * 1e9 <= 1.05 * active


def test_llama_3_1_8b_by_hand() -> None:
    # Embedding and head:      2 x 128256 x 4096                       = 1,050,673,152
    # Q and output per layer:  2 x 4096 x 4096                         =    33,554,432
    # K and V per layer:       2 x 4096 x (8 x 128)                    =     8,388,608
    # Feed-forward per layer:  3 x 4096 x 14336                        =   176,160,768
    # Norms per layer:         2 x 4096                                =         8,192
    # 32 layers x 218,112,000 + 1,050,673,152 + final norm 4,096       = 8,030,261,248
    assert architecture("Llama-3.1-8B").params == 8_030_261_248


def test_mixtral_8x7b_by_hand() -> None:
    # Embedding and head:      2 x 32000 x 4096                        =   262,144,000
    # Attention per layer:     2 x 4096 x 4096 + 2 x 4096 x 1024       =    41,943,040
    # Experts per layer:       8 x 3 x 4096 x 14336                    = 1,409,286,144
    # Router and norms:        4096 x 8 + 2 x 4096                     =        40,960
    # 32 x 1,451,270,144 + 262,144,000 + 4,096                         = 46,702,792,704
    # A token uses 2 of 8 experts: 6/8 x 32 x 1,409,286,144 fewer      = 12,879,925,248
    assert architecture("Mixtral-8x7B").params == 46_702_792_704
    assert architecture("Mixtral-8x7B").active_params == 12_879_925_248


@pytest.mark.parametrize(
    ("name", "experts", "attention", "tables", "active"),
    [("gpt-oss-120b", 114.71, 0.96, 1.16, 5.13), ("gpt-oss-20b", 19.12, 0.64, 1.16, 3.61)],
)
def test_gpt_oss_parts_match_its_model_card(
    name: str, experts: float, attention: float, tables: float, active: float
) -> None:
    # arXiv:2508.10925, table 1 [1e9]; its active parameters leave out the embedding.
    embedding = params_of(name, Group.EMBEDDING)
    assert params_of(name, Group.ROUTED_EXPERTS, Group.ROUTER) / 1e9 == pytest.approx(
        experts, abs=0.005
    )
    assert params_of(name, Group.ATTENTION) / 1e9 == pytest.approx(attention, abs=0.005)
    assert (embedding + params_of(name, Group.OUTPUT)) / 1e9 == pytest.approx(tables, abs=0.005)
    assert (architecture(name).active_params - embedding) / 1e9 == pytest.approx(active, abs=0.005)


def test_cached_values_per_token(subtests: pytest.Subtests) -> None:
    for name in CACHED:
        with subtests.test(str(name)):
            cache_of = architecture(name).cache
            unlimited = sum(kept(entry) for entry in cache_of if entry.window is None)
            windowed = sum(kept(entry) for entry in cache_of if entry.window is not None)
            assert (unlimited, windowed) == CACHED[name]


@pytest.mark.parametrize(
    ("name", "windows"),
    [
        ("gpt-oss-20b", {128, None}),
        ("Gemma-3-27B", {1024, None}),
        ("Llama-4-Scout", {8192, None}),
        ("Mistral-7B-v0.1", {4096}),
        ("Mistral-7B", {None}),
    ],
)
def test_windows(name: str, windows: set[int | None]) -> None:
    assert {entry.window for entry in architecture(name).cache} == windows


def test_gemma_3_keeps_every_sixth_layer_whole() -> None:
    whole = [i for i, entry in enumerate(architecture("Gemma-3-4B").cache) if entry.window is None]
    assert whole == [5, 11, 17, 23, 29]


def test_head_size_is_not_hidden_over_heads() -> None:
    # Qwen3-0.6B: 16 heads of 128 on 1024, not of 64. Mistral Small: 32 of 128 on 5120, not 160.
    assert tensors("Qwen3-0.6B", "attn_q")[0].rows == 2048
    assert architecture("Qwen3-0.6B").cache[0].key_values == 8 * 128
    assert tensors("Mistral-Small-24B", "attn_output")[0].width == 4096
    assert architecture("Mistral-Small-24B").cache[0].key_values == 8 * 128


@pytest.mark.parametrize(
    ("name", "attending", "layers"),
    [
        ("Qwen3-Next-80B-A3B", 12, 48),
        ("Qwen3.5-27B", 16, 64),
        ("Nemotron-H-56B", 10, 118),
        ("Nemotron-3-Nano-30B-A3B", 6, 52),
    ],
)
def test_hybrids_cache_on_their_attention_layers_only(
    name: str, attending: int, layers: int
) -> None:
    built = architecture(name)
    assert len(built.cache) == len(built.attention_values) == layers
    assert sum(kept(entry) > 0 for entry in built.cache) == attending
    assert sum(values > 0 for values in built.attention_values) == attending


def test_latent_attention_caches_576_values() -> None:
    entry = architecture("DeepSeek-V3").cache[0]
    assert (entry.key_values, entry.value_values) == (512 + 64, 0)
    # Absorbed: 128 heads over 576 values of K and 512 of V.
    assert architecture("DeepSeek-V3").attention_values[0] == 128 * (576 + 512)


@pytest.mark.parametrize(("name", "heads"), [("DeepSeek-V2-Lite", 16), ("DeepSeek-R1", 128)])
def test_heads_of_latent_attention_have_1088_values_in_its_space(name: str, heads: int) -> None:
    # A query of 512 + 64 and a result of 512 values for each head, in every layer.
    values = model(name, "Q4_K_M").per_layer.latent_values
    assert set(values) == {heads * (512 + 64 + 512)}


def test_only_latent_attention_has_values_in_the_space_of_a_cache() -> None:
    assert not model("Llama-3.1-8B", "Q4_K_M").per_layer.latent_values.any()


@pytest.mark.parametrize(
    ("name", "heads"),
    [
        ("Llama-3.1-8B", 32),
        ("Qwen3-30B-A3B", 32),
        ("DeepSeek-R1", 128),  # of latent attention, whose keys are wider than its values
        ("GLM-5", 64),
        ("Gemma-4-26B-A4B", 16),  # heads of 512 values in full layers, of 256 in the others
    ],
)
def test_a_token_has_a_score_for_each_query_head(name: str, heads: int) -> None:
    assert set(model(name, "Q4_K_M").per_layer.query_heads) == {heads}


def test_latent_attention_keeps_llama_cpp_shapes() -> None:
    # ne[0] is qk_nope for K's up-projection and the rank for V's.
    key = tensors("DeepSeek-V3", "attn_k_b")[0]
    value = tensors("DeepSeek-V3", "attn_v_b")[0]
    assert (key.width, key.rows) == (128, 512 * 128)
    assert (value.width, value.rows) == (512, 128 * 128)


def test_indexer_sits_on_its_own_layers_only() -> None:
    assert len(tensors("DeepSeek-V3.2", "indexer.attn_k")) == 61
    assert len(tensors("GLM-5.2", "indexer.attn_k")) == 21


def test_states_that_do_not_grow() -> None:
    # Qwen3.5-35B-A3B: 32 x 128 x 128 + 3 taps x (2 x 16 x 128 + 32 x 128).
    assert architecture("Qwen3.5-35B-A3B").cache[0] == LayerCache(state_values=548_864)
    # Nemotron-3-Nano: 64 x 64 x 128 + 3 taps x (64 x 64 + 2 x 8 x 128).
    assert architecture("Nemotron-3-Nano-30B-A3B").cache[0] == LayerCache(state_values=542_720)


def test_gemma_4_full_layers_have_heads_of_their_own() -> None:
    built = architecture("Gemma-4-31B")
    assert kept(built.cache[5]) == 2 * 4 * 512
    assert kept(built.cache[0]) == 2 * 16 * 256
    assert built.attention_values[5] == 2 * 32 * 512
    assert {tensor.layer for tensor in tensors("Gemma-4-31B", "attn_v")}.isdisjoint({5, 11, 17})


def test_llama_4_maverick_has_experts_in_every_second_layer() -> None:
    routed = [tensor.layer for tensor in tensors("Llama-4-Maverick", "ffn_up_exps")]
    dense = [tensor.layer for tensor in tensors("Llama-4-Maverick", "ffn_up")]
    assert routed == list(range(1, 48, 2))
    assert dense == list(range(0, 48, 2))


def test_bloom_is_not_gpt_3() -> None:
    assert (architecture("BLOOM-176B").layers, architecture("BLOOM-176B").hidden) == (70, 14336)


def test_tensors_are_whole(subtests: pytest.Subtests) -> None:
    for name in DERIVABLE:
        with subtests.test(str(name)):
            built = architecture(name)
            assert all(tensor.rows > 0 and tensor.width > 0 for tensor in built.tensors)
            assert len(tensors(name, "output")) == (0 if built.tied else 1)
            places = [(tensor.layer, tensor.role) for tensor in built.tensors]
            assert len(set(places)) == len(places)
            assert {tensor.layer for tensor in built.tensors} == {None, *range(built.layers)}
            assert (built.experts is None) == (params_of(name, Group.ROUTED_EXPERTS) == 0)


def test_a_row_that_nobody_can_derive_says_why() -> None:
    row = replace(model_rows()["Llama-3.1-8B"], layers=0, note="its layers are secret")
    with pytest.raises(Refusal, match="cannot be derived: its layers are secret"):
        build(row)


def test_unknown_layer_letters_are_named() -> None:
    with pytest.raises(DataError, match="FXF"):
        build(replace(model_rows()["Llama-3.1-8B"], layer_pattern="FXF"))


@pytest.mark.parametrize("column", ["hidden", "vocab"])
def test_missing_sizes_are_named(column: str) -> None:
    facts = replace(model_rows()["Llama-3.1-8B"], **{column: 0})  # type: ignore[arg-type]
    with pytest.raises(DataError, match=column):
        build(facts)
