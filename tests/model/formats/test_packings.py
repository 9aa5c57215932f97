"""Any stated bits and group give bytes; what a quantizer leaves in 16 bits is counted so."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_config import LLAMA

from advisor.errors import AdvisorError, InputError, Refusal
from advisor.model import resolve
from advisor.model.config.read import describe
from advisor.model.config.stored_format import published_formats
from advisor.model.formats import Format
from advisor.model.modules import ModulePatterns, module_paths
from advisor.model.packings import Packing, packing_named, tools
from advisor.runtimes.format_support import kinds, nearest

HIDDEN = LLAMA["hidden_size"]
WIDTH = LLAMA["intermediate_size"]
VOCAB = LLAMA["vocab_size"]
LAYERS = LLAMA["num_hidden_layers"]


def linear_and_outside() -> tuple[int, int]:
    """Weights of the test model's matrices in layers, and of its table and head."""
    architecture = describe(LLAMA, "test").architecture
    inside = sum(t.params for t in architecture.tensors if t.layer is not None and t.rows > 1)
    return inside, 2 * VOCAB * HIDDEN


def stored_bytes(quantization: dict[str, Any]) -> float:
    told = json.dumps({**LLAMA, "quantization_config": quantization})
    return resolve.from_config(told).model.file_bytes


GROUP_METHODS = ["gptq", "awq", "auto-round", "hqq", "compressed", "torchao", "sinq", "bitblas"]


def spelled(method: str, bits: int, group: int) -> dict[str, Any]:
    """One statement of bits and a group, as different toolkits write it."""
    if method == "hqq":
        inner = {"weight_quant_params": {"nbits": bits, "group_size": group}}
        return {"quant_method": "hqq", "quant_config": inner}
    if method == "compressed":
        weights = {"num_bits": bits, "type": "int", "group_size": group}
        groups = {"group_0": {"targets": ["Linear"], "weights": weights}}
        return {"quant_method": "compressed-tensors", "config_groups": groups}
    return {"quant_method": method, "bits": bits, "group_size": group}


@pytest.mark.parametrize(
    ("method", "bits", "group"), list(product(GROUP_METHODS, [2, 3, 4, 5, 6, 8], [32, 64, 128]))
)
def test_stated_bits_and_groups_give_bytes(method: str, bits: int, group: int) -> None:
    inside, outside = linear_and_outside()
    size = stored_bytes(spelled(method, bits, group))
    # Packed weights alone, and with a scale and an offset of 16 bits each for a group.
    least = inside * bits / 8 + outside * 2
    most = inside * (bits + 32 / group) / 8 + outside * 2
    assert least < size < 1.01 * most


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 8])
@pytest.mark.parametrize("key", ["quantization", "quantization_config"])
def test_mlx_packs_the_table_and_the_head_too(bits: int, key: str) -> None:
    told = {**LLAMA, key: {"bits": bits, "group_size": 64, "quant_method": "mlx"}}
    inside, outside = linear_and_outside()
    size = resolve.from_config(json.dumps(told)).model.file_bytes
    # mlx: a scale and a bias of 16 bits for each 64 weights.
    assert size == pytest.approx((inside + outside) * (bits + 0.5) / 8, rel=0.01)


@given(st.floats(1, 8), st.integers(4, 8))
def test_exl3_has_the_bits_that_its_name_states(bits: float, head: int) -> None:
    bits = round(bits, 2)
    packing = Packing.stated("EXL3", bits, head=head)
    assert packing_named(packing.name) == packing
    assert Format.meant(packing.name).name == packing.name
    assert packing.stored_bits == bits
    assert Format.meant(f"EXL3 {bits}bpw").name == Packing.stated("EXL3", bits).name


@given(
    st.sampled_from(sorted(tools())),
    st.integers(1, 16),
    st.sampled_from([0, 16, 32, 64, 128]),
)
def test_every_packing_is_a_format_by_its_name(tool: str, bits: int, group: int) -> None:
    packing = Packing.stated(tool, bits, group)
    assert packing_named(packing.name) == packing
    assert Format.named(packing.name).name == packing.name
    assert kinds(packing.name)
    assert nearest(packing.name)[0] == packing.name
    assert packing.stored_bits >= bits


def test_codebooks_and_types_in_words() -> None:
    inside, outside = linear_and_outside()
    books = {"in_group_size": 8, "nbits_per_codebook": 16, "num_codebooks": 1, "out_group_size": 1}
    # AQLM, arXiv 2401.06118: 1 codebook x 16 bits over 8 weights is 2 bits.
    size = stored_bytes({"quant_method": "aqlm", **books})
    assert size == pytest.approx(inside * 2 / 8 + outside * 2, rel=0.01)
    words = [
        {"quant_method": "eetq", "weights": "int8"},
        {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "int8"}}},
        {"quant_method": "torchao", "quant_type": "int8_weight_only"},
        {"quant_method": "modelopt", "quant_algo": "W8A16"},
    ]
    for told in words:
        assert stored_bytes(told) == pytest.approx(inside + outside * 2, rel=0.01)


@pytest.mark.parametrize(
    "told",
    [
        {"quant_method": "unheard-of"},
        {"quant_method": "vptq", "config_for_layers": {}},
        {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"},
        {"quant_method": "compressed-tensors"},
    ],
)
def test_bits_that_are_not_stated_are_refused_with_a_range(told: dict[str, Any]) -> None:
    with pytest.raises(Refusal, match="do not say in how many bits"):
        stored_bytes(told)


@pytest.mark.parametrize("bits", [-1, 0, 17, 1e9])
def test_bits_that_cannot_be_are_refused(bits: float) -> None:
    with pytest.raises(InputError, match="no packing"):
        stored_bytes({"quant_method": "gptq", "bits": bits})


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers(-9, 99) | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "bits",
                        "group_size",
                        "quant_method",
                        "config_groups",
                        "weights",
                        "num_bits",
                        "targets",
                        "ignore",
                        "quantized_layers",
                        "dynamic",
                        "a.b",
                        "extra_config",
                        "quant_algo",
                        "dtype",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
    )
)
def test_any_statement_ends_in_a_size_or_a_sentence(told: object) -> None:
    try:
        model = resolve.from_config(json.dumps({**LLAMA, "quantization_config": told})).model
    except AdvisorError:
        return
    assert model.file_bytes > 0


# Modules in 16 bits.

PATTERNS = [
    "model.layers.0.self_attn*",
    "model.layers.0.self_attn",
    "re:.*layers\\.0\\.self_attn.*",
    "*layers.0.self_attn*",
    "layers.0.self_attn",
    "language_model.model.layers.0.self_attn",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("key", ["ignore", "modules_to_not_convert", "exclude_modules"])
def test_modules_left_in_16_bits_count_16_bits(pattern: str, key: str) -> None:
    weights = {"num_bits": 4, "type": "float", "group_size": 16}
    groups = {"group_0": {"targets": ["Linear"], "weights": weights}}
    whole = {"quant_method": "compressed-tensors", "config_groups": groups}
    attention = sum(
        tensor.params
        for tensor in describe(LLAMA, "test").architecture.tensors
        if tensor.layer == 0 and tensor.rows > 1 and tensor.role.startswith("attn")
    )
    more = stored_bytes({**whole, key: [pattern]}) - stored_bytes(whole)
    # NVFP4 has 4.5 bits with its scales; 11.5 more make 16.
    assert more == pytest.approx(attention * 11.5 / 8)


def test_layers_of_other_networks_are_not_those_of_the_model() -> None:
    patterns = ModulePatterns(meanings=dict.fromkeys(["mtp.layers.0*", "vision.layers.0"], "16"))
    assert patterns.of(["layers.0.self_attn.q_proj"]) is None


def test_expressions_that_take_long_are_passed_over() -> None:
    patterns = ModulePatterns(meanings={"re:(a+)+$": "16", "re:.*.*.*.*.*.*b": "16"})
    assert patterns.of(["a" * 60]) is None


def test_a_file_beside_a_local_config_tells_its_format(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    alone = resolve.find(str(tmp_path)).model
    algorithm = {"quant_algo": "FP8", "exclude_modules": ["lm_head"]}
    (tmp_path / "hf_quant_config.json").write_text(json.dumps({"quantization": algorithm}))
    beside = resolve.find(str(tmp_path)).model
    assert (alone.format, beside.format) == ("BF16-hf", "FP8")
    assert beside.file_bytes < 0.8 * alone.file_bytes


@pytest.mark.parametrize(
    ("file", "content", "form"),
    [
        ("quantize_config.json", {"bits": 4, "group_size": 128, "desc_act": True}, "GPTQ"),
        ("quant_config.json", {"w_bit": 4, "q_group_size": 128, "zero_point": True}, "AWQ"),
        ("quantize_config.json", {"bits": 3, "group_size": 64}, "GPTQ-3bit-g64"),
    ],
)
def test_files_of_quantizers_beside_a_local_config_count(
    tmp_path: Path, file: str, content: dict[str, Any], form: str
) -> None:
    # AutoGPTQ and AutoAWQ wrote their keys into files of their own first.
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    (tmp_path / file).write_text(json.dumps(content))
    assert resolve.find(str(tmp_path)).model.format == form


def test_what_no_group_of_a_file_takes_stays_as_it_is() -> None:
    weights = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128}
    group = {"targets": ["re:.*mlp.*"], "weights": weights}
    told = {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}}
    forward = 3 * LAYERS * HIDDEN * WIDTH
    inside, outside = linear_and_outside()
    bits = 16 * (inside - forward + outside) + 4.25 * forward
    assert stored_bytes(told) == pytest.approx(bits / 8, rel=0.01)


ENDS = [
    # a file of 4 bits in groups of 32: 4 + (16 + 4) / 32 = 4.625 bits; GPTQModel's `lm_head`
    ({"quant_method": "gptq", "bits": 4, "group_size": 32}, {"lm_head": True}, 16.0, 4.625),
    # AutoRound's `extra_config` names the head with bits of its own: 8 + (16 + 8) / 128
    (
        {"quant_method": "auto-round", "bits": 4, "group_size": 128},
        {"extra_config": {"lm_head": {"bits": 8}}},
        16.0,
        8.1875,
    ),
    # MLX packs both ends, each in bits of its own where the file names it: 6 + 32 / 64
    (
        {"quant_method": "mlx", "bits": 4, "group_size": 64},
        {"model.embed_tokens": {"bits": 6, "group_size": 64}, "lm_head": {"bits": 6}},
        6.5,
        6.5,
    ),
    (
        {"quant_method": "mlx", "bits": 4, "group_size": 64},
        {"language_model.model.embed_tokens": {"bits": 8}, "lm_head": False},
        8.5,
        16.0,
    ),
]


@pytest.mark.parametrize(("whole", "named", "table", "head"), ENDS)
def test_a_token_table_and_a_head_have_the_bits_that_a_file_names(
    whole: dict[str, Any], named: dict[str, Any], table: float, head: float
) -> None:
    plain = 4.5 if whole["quant_method"] == "mlx" else 16.0
    more = stored_bytes({**whole, **named}) - stored_bytes(whole)
    assert more == pytest.approx(VOCAB * HIDDEN * (table + head - 2 * plain) / 8, rel=1e-6)


@pytest.mark.parametrize(
    ("centroids", "residual", "length", "bits"),
    [
        # transformers' docs, quantization/vptq.md: v8-k65536-256 has 16/8 + 8/8 = 3 bits
        (65536, 256, 8, 3.0),
        (65536, -1, 8, 2.0),  # v8-k65536-0
        (65536, 65536, 16, 2.0),
    ],
)
def test_vptq_states_its_bits_by_centroids(
    centroids: int, residual: int, length: int, bits: float
) -> None:
    of_layer = {
        "vector_lens": [-1, length],
        "num_centroids": [-1, centroids],
        "num_res_centroids": [-1, residual],
    }
    named = {
        f"model.layers.{layer}.{module}": of_layer
        for layer in range(LAYERS)
        for module in (
            *(f"self_attn.{name}_proj" for name in "qkvo"),
            *(f"mlp.{name}_proj" for name in ("gate", "up", "down")),
        )
    }
    inside, outside = linear_and_outside()
    told = {"quant_method": "vptq", "config_for_layers": named}
    assert stored_bytes(told) == pytest.approx((bits * inside + 16 * outside) / 8, rel=0.01)


def test_bitsandbytes_saves_its_flags_under_other_names_too() -> None:
    # transformers 5.23.0, BitsAndBytesConfig.to_dict: `_load_in_4bit` beside `load_in_4bit`
    private = {"quant_method": "bitsandbytes", "_load_in_4bit": True}
    public = {"quant_method": "bitsandbytes", "load_in_4bit": True}
    assert stored_bytes(private) == stored_bytes(public)


def test_published_checkpoints_keep_what_their_files_say() -> None:
    # vLLM issue 40291: Gemma-4-31B-IT-NVFP4 needs about 31 GB, as its attention stays in BF16;
    # vLLM's recipes, pull request 606: Qwen3.6-27B-NVFP4 has about 22 GB on disk.
    sizes = {"nvidia/Gemma-4-31B-IT-NVFP4": 31e9, "nvidia/Qwen3.6-27B-NVFP4": 22e9}
    for name, size in sizes.items():
        assert resolve.from_name(name).model.file_bytes == pytest.approx(size, rel=0.1)


@pytest.mark.parametrize("name", sorted(published_formats()))
def test_every_pattern_of_the_table_names_weights(name: str) -> None:
    architecture = resolve.from_name(name).model.architecture
    paths = [paths for _, paths in module_paths(architecture)]
    for pattern in published_formats()[name].modules:
        alone = ModulePatterns(meanings={pattern: "16"})
        assert any(alone.of(each) for each in paths), pattern


@pytest.mark.parametrize(
    ("words", "name"), [("4.0bpw", "EXL3-4bit"), ("3.5 bpw", "EXL3-3.5bit"), ("6bits", "EXL3-6bit")]
)
def test_bits_alone_are_those_of_a_runtimes_own_files(words: str, name: str) -> None:
    # ExLlamaV3's doc/convert.md calls its files by their bits (-b 4.0).
    assert Format.meant(Packing.of_runtime(words, "ExLlamaV3")).name.startswith(name)
    assert Packing.of_runtime(words, "llama.cpp") == words
    assert Packing.of_runtime("Q4_K_M", "ExLlamaV3") == "Q4_K_M"


@pytest.mark.parametrize("bits", [2.4, 4.25, 4.65, 6.0])
@pytest.mark.parametrize(
    "spelled",
    ["{tool}-{bits}", "{tool}_{bits}bpw", "{bits}bpw-h6-{tool}", "{bits}bpw-{tool}",
     "{tool}-h6-{bits}bpw", "{tool} {bits} bpw"],
)  # fmt: skip
@pytest.mark.parametrize("tool", ["exl2", "EXL3"])
def test_bits_of_exl_files_are_kept_however_repositories_write_them(
    tool: str, spelled: str, bits: float
) -> None:
    packing = packing_named(spelled.format(tool=tool, bits=bits))
    assert packing is not None
    assert (packing.tool, packing.bits, packing.head) == (tool.upper(), bits, 6)


@pytest.mark.parametrize(
    "pattern", [".*down_proj.*", r"model\.layers\.\d+\.mlp\.down_proj", "down_proj"]
)
def test_modules_of_other_bits_are_found_by_name_and_by_expression(pattern: str) -> None:
    """auto-round writes names and expressions into `extra_config` (docs/step_by_step.md)."""
    plain = {"quant_method": "auto-round", "bits": 4, "group_size": 128}
    other = plain | {"extra_config": {pattern: {"bits": 8, "group_size": 128}}}
    down = LAYERS * HIDDEN * WIDTH
    more = stored_bytes(other) - stored_bytes(plain)
    # Four bits more, and an offset of as many bits for each 128 weights.
    assert more == pytest.approx(down * (4 + 4 / 128) / 8, rel=0.01)


def test_a_file_of_floats_of_eight_bits_without_a_tool_has_a_byte_for_each_weight() -> None:
    inside, outside = linear_and_outside()
    told = json.dumps(LLAMA | {"torch_dtype": "float8_e4m3fn"})
    described = resolve.from_config(told)
    assert described.model.file_bytes == pytest.approx(inside + 2 * outside, rel=0.01)
    assert any("8-bit floats" in note for note in described.notes)


def test_the_former_key_of_compressed_tensors_is_read_as_todays() -> None:
    weights = {"num_bits": 8, "type": "float"}
    groups = {"group_0": {"targets": ["Linear"], "weights": weights}}
    packed = {"quant_method": "compressed-tensors", "config_groups": groups}
    former = resolve.from_config(json.dumps(LLAMA | {"compression_config": packed}))
    assert former.model.file_bytes == stored_bytes(packed)


def in_attention() -> int:
    """Weights of the test model's matrices of attention."""
    architecture = describe(LLAMA, "test").architecture
    matrices = (t for t in architecture.tensors if t.layer is not None and t.rows > 1)
    return sum(t.params for t in matrices if t.role.startswith("attn_"))


EIGHT = {"_type": "Int8WeightOnlyConfig", "_data": {}}
LEFT_IN_16_BITS = {
    "GPTQ's list of what it packs": {
        "quant_method": "gptq",
        "bits": 8,
        "group_size": -1,
        "modules_in_block_to_quantize": [["mlp.gate_proj", "mlp.up_proj"], ["mlp.down_proj"]],
    },
    "torchao's names of modules": {
        "quant_method": "torchao",
        "quant_type": {
            "default": {
                "_type": "ModuleFqnToConfig",
                "_data": {"module_fqn_to_config": {"_default": EIGHT, "re:.*self_attn.*": None}},
            }
        },
    },
    "the same under its later key": {
        "quant_method": "torchao",
        "quant_type": {
            "default": {
                "_type": "FqnToConfig",
                "_data": {"fqn_to_config": {"_default": EIGHT, "re:.*self_attn.*": None}},
            }
        },
    },
}


@pytest.mark.parametrize("told", LEFT_IN_16_BITS.values(), ids=LEFT_IN_16_BITS)
def test_a_list_of_modules_leaves_the_others_as_they_are(told: dict[str, Any]) -> None:
    """Keys of transformers' `GPTQConfig` and of torchao's `ModuleFqnToConfig`."""
    inside, outside = linear_and_outside()
    plain = in_attention() + outside
    assert stored_bytes(told) == pytest.approx(inside - plain + outside + 2 * plain, rel=0.01)


def test_hqq_packs_the_modules_that_it_names() -> None:
    # transformers 5.23.0, HqqConfig: `dynamic_config`, a configuration for each kind of module
    inner = {"nbits": 8, "group_size": 64}
    names = ("mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")
    told = {"quant_method": "hqq", "quant_config": dict.fromkeys(names, inner)}
    inside, outside = linear_and_outside()
    plain = in_attention() + outside
    packed = inside - in_attention()
    assert stored_bytes(told) == pytest.approx(2 * plain + packed * 8.5 / 8, rel=0.01)


@pytest.mark.parametrize(
    ("kind", "group", "bits"), [("mx_fp", 32, 4.25), ("nv_fp", 16, 4.5), ("mx_fp4", 32, 4.25)]
)
def test_floats_of_auto_round_have_scales_of_eight_bits(kind: str, group: int, bits: float) -> None:
    """`data_type` of intel/auto-round's configuration; OCP MX v1.0 and NVFP4 scale in 8 bits."""
    told = {"quant_method": "auto-round", "bits": 4, "group_size": group, "data_type": kind}
    inside, outside = linear_and_outside()
    assert stored_bytes(told) == pytest.approx(inside * bits / 8 + 2 * outside, rel=0.01)


def test_the_file_of_auto_round_beside_a_config_counts(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    told = {"quant_method": "auto-round", "bits": 8, "group_size": 128}
    (tmp_path / "quantization_config.json").write_text(json.dumps(told))
    assert resolve.from_file(tmp_path).model.file_bytes == stored_bytes(told)
