"""Storage types against the `gguf` package, recipes against the sizes of published files."""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest
from gguf import GGML_QUANT_SIZES

from advisor.errors import Refusal, UnknownName
from advisor.model.architecture import Architecture, ArchitectureSpec, Experts, Group, Tensor
from advisor.model.build import build
from advisor.model.formats import (
    UNQUANTIZED,
    Format,
    RecipeRow,
    StorageType,
    category,
    formats,
    heads_per_value_head,
)
from advisor.units import GB, GIB

ROOT = Path(__file__).parents[3]
MEASUREMENTS = ROOT.parent / "shared" / "measurements" / "llama_cpp.csv"


def read_rows(name: str) -> list[dict[str, str]]:
    with (ROOT / "data" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def storage(row: dict[str, str]) -> StorageType:
    numbers: dict[str, Any] = {
        "block_weights": int(row["block_weights"]),
        "block_bytes": float(row["block_bytes"]),
        "bits_per_weight": float(row["bits_per_weight"]),
    }
    return StorageType(**{**row, **numbers})


TYPES = {row["name"]: storage(row) for row in read_rows("models/quants.csv")}
RECIPES = [RecipeRow(**row) for row in read_rows("models/recipes.csv")]
FORMATS = formats(RECIPES)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A model's numbers from its config.json, so that recipes are tested without our builder."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head: int
    ffn: int
    vocab: int
    tied: bool = False
    experts: int = 0
    used: int = 0


def matrix(role: str, group: Group, layer: int | None, rows: int, width: int) -> Tensor:
    return Tensor(role=role, group=group, layer=layer, rows=rows, width=width)


def feed_forward(shape: Shape, layer: int) -> Iterator[Tensor]:
    many, suffix = (shape.experts, "_exps") if shape.experts else (1, "")
    if shape.experts:
        group = Group.ROUTED_EXPERTS
    else:
        group = Group.DENSE_FFN
    if shape.experts:
        yield matrix("ffn_gate_inp", Group.ROUTER, layer, shape.experts, shape.hidden)
    for part in ("ffn_gate", "ffn_up"):
        yield matrix(part + suffix, group, layer, many * shape.ffn, shape.hidden)
    yield matrix("ffn_down" + suffix, group, layer, many * shape.hidden, shape.ffn)


def transformer(name: str, shape: Shape) -> Architecture:
    """A Llama-like model, dense or with experts in every layer."""
    query = shape.heads * shape.head
    key = shape.kv_heads * shape.head
    tensors = [matrix("token_embd", Group.EMBEDDING, None, shape.vocab, shape.hidden)]
    for layer in range(shape.layers):
        tensors += [
            matrix("attn_norm", Group.NORMS, layer, 1, shape.hidden),
            matrix("attn_q", Group.ATTENTION, layer, query, shape.hidden),
            matrix("attn_k", Group.ATTENTION, layer, key, shape.hidden),
            matrix("attn_v", Group.ATTENTION, layer, key, shape.hidden),
            matrix("attn_output", Group.ATTENTION, layer, shape.hidden, query),
            matrix("ffn_norm", Group.NORMS, layer, 1, shape.hidden),
            *feed_forward(shape, layer),
        ]
    tensors.append(matrix("output_norm", Group.NORMS, None, 1, shape.hidden))
    if not shape.tied:
        tensors.append(matrix("output", Group.OUTPUT, None, shape.vocab, shape.hidden))
    return Architecture(
        name=name,
        layers=shape.layers,
        hidden=shape.hidden,
        vocab=shape.vocab,
        tied=shape.tied,
        max_context=None,
        tensors=tuple(tensors),
        cache=(),
        attention_values=(),
        experts=Experts(total=shape.experts, used=shape.used) if shape.experts else None,
        source="shape written in the test",
    )


def shape(*numbers: int, tied: bool = False, experts: int = 0, used: int = 0) -> Shape:
    names = ("layers", "hidden", "heads", "kv_heads", "head", "ffn", "vocab")
    given = dict(zip(names, numbers, strict=True))
    return Shape(**given, tied=tied, experts=experts, used=used)


SHAPES = {
    "Llama-2-7B": shape(32, 4096, 32, 32, 128, 11008, 32000),
    "Llama-2-70B": shape(80, 8192, 64, 8, 128, 28672, 32000),
    "Llama-3.1-8B": shape(32, 4096, 32, 8, 128, 14336, 128256),
    "Llama-3.1-70B": shape(80, 8192, 64, 8, 128, 28672, 128256),
    "Llama-3.1-405B": shape(126, 16384, 128, 8, 128, 53248, 128256),
    "Llama-3.2-1B": shape(16, 2048, 32, 8, 64, 8192, 128256, tied=True),
    "Llama-3.2-3B": shape(28, 3072, 24, 8, 128, 8192, 128256, tied=True),
    "Mistral-7B": shape(32, 4096, 32, 8, 128, 14336, 32768),
    "Mistral-Small-24B": shape(40, 5120, 32, 8, 128, 32768, 131072),
    "Mixtral-8x22B": shape(56, 6144, 48, 8, 128, 16384, 32000, experts=8, used=2),
    "Qwen2.5-14B": shape(48, 5120, 40, 8, 128, 13824, 152064),
    "Qwen2.5-32B": shape(64, 5120, 40, 8, 128, 27648, 152064),
    "Qwen3-8B": shape(36, 4096, 32, 8, 128, 12288, 151936),
    "Qwen3-14B": shape(40, 5120, 40, 8, 128, 17408, 151936),
    "Qwen3-32B": shape(64, 5120, 64, 8, 128, 25600, 151936),
    "Qwen3-30B-A3B": shape(48, 2048, 32, 4, 128, 768, 151936, experts=128, used=8),
    "Qwen3-235B-A22B": shape(94, 4096, 64, 4, 128, 1536, 151936, experts=128, used=8),
    "Gemma-3-12B": shape(48, 3840, 16, 8, 256, 15360, 262144, tied=True),
    "Gemma-3-27B": shape(62, 5376, 32, 16, 128, 21504, 262144, tied=True),
    "gpt-oss-20b": shape(24, 2880, 64, 8, 64, 2880, 201088, experts=32, used=4),
    "gpt-oss-120b": shape(36, 2880, 64, 8, 64, 2880, 201088, experts=128, used=4),
}
FACTS = (
    ArchitectureSpec(
        name="DeepSeek-R1",
        layers=61,
        hidden=7168,
        vocab=129280,
        heads=128,
        q_lora_rank=1536,
        kv_lora_rank=512,
        qk_nope_dim=128,
        qk_rope_dim=64,
        v_head_dim=128,
        intermediate=18432,
        experts=256,
        experts_per_token=8,
        moe_intermediate=2048,
        shared_experts=1,
        first_dense=3,
    ),
    ArchitectureSpec(
        name="Llama-4-Scout",
        layers=48,
        hidden=5120,
        vocab=202048,
        heads=40,
        kv_heads=8,
        head_dim=128,
        experts=16,
        experts_per_token=1,
        moe_intermediate=8192,
        shared_experts=1,
    ),
)
ARCHITECTURES = {name: transformer(name, shape) for name, shape in SHAPES.items()}
ARCHITECTURES |= {facts.name: build(facts) for facts in FACTS}

SAME_SHAPE = {
    "Llama-3-8B": "Llama-3.1-8B",
    "Llama-3-70B": "Llama-3.1-70B",
    "Llama-3.3-70B": "Llama-3.1-70B",
    "DeepSeek-R1-Distill-Qwen-14B": "Qwen2.5-14B",
    "Qwen2.5-Coder-14B": "Qwen2.5-14B",
}


def file_bytes(architecture: Architecture, form: Format) -> float:
    """Bytes of all tensors in a format."""
    kinds = form.tensor_types(architecture)
    pairs = zip(architecture.tensors, kinds, strict=True)
    return sum(kind.bytes_of(tensor) for tensor, kind in pairs)


def deviation(model: str, name: str, size: float) -> float:
    """Our size over the published one, less one."""
    return file_bytes(ARCHITECTURES[model], FORMATS[name]) / size - 1


def tensor(role: str, *, rows: int = 256, width: int = 256) -> Tensor:
    return matrix(role, Group.ATTENTION, 0, rows, width)


def only(architecture: Architecture, role: str, name: str) -> list[str]:
    """Type names that a format gives to the tensors of one role, by layer."""
    kinds = FORMATS[name].tensor_types(architecture)
    pairs = zip(architecture.tensors, kinds, strict=True)
    return [kind.name for tensor, kind in pairs if tensor.role == role]


def test_every_gguf_type_has_the_bytes_of_the_gguf_package() -> None:
    for kind, (weights, size) in GGML_QUANT_SIZES.items():
        ours = TYPES[kind.name]
        assert (ours.block_weights, ours.block_bytes) == (weights, size), kind.name
        three_rows = ours.bytes_of(tensor("attn_q", rows=3, width=1024))
        assert three_rows == 3 * 1024 / weights * size, kind.name


def test_every_type_states_its_rate_class_and_source() -> None:
    classes = {
        "f32",
        "f16",
        "bf16",
        "q8",
        "q4_legacy",
        "k",
        "iq4",
        "iq",
        "fp4",
        "fp8",
        "int4",
        "nf4",
    }
    for entry in TYPES.values():
        rate = 8 * entry.block_bytes / entry.block_weights
        assert entry.bits_per_weight == pytest.approx(rate, rel=1e-5), entry.name
        assert entry.family in {"gguf", "safetensors", "any"}, entry.name
        assert entry.decode_class in classes | {"none"}, entry.name
        assert entry.source, entry.name
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry.source_date), entry.name


def test_rates_of_other_runtimes_worked_by_hand() -> None:
    bits = {name: entry.bits_per_weight for name, entry in TYPES.items()}
    group_of_128 = 4 + (16 + 4) / 128  # f16 scale and 4-bit zero
    assert bits["AWQ-int4-g128"] == bits["GPTQ-int4-g128"] == pytest.approx(group_of_128)
    assert bits["NVFP4-g16"] == pytest.approx(4 + 8 / 16)
    assert bits["MXFP4-g32"] == pytest.approx(4 + 8 / 32)
    assert bits["FP8-block128"] == pytest.approx(8 + 32 / 128**2)
    # QLoRA (arXiv 2305.14314, section 3): 8/64 + 32/(64 * 256) = 0.127 bit per weight.
    assert bits["NF4-g64-double"] == pytest.approx(4.127, abs=5e-4)


def test_columns_are_the_fields_of_the_dataclasses() -> None:
    assert list(read_rows("models/quants.csv")[0]) == [field.name for field in fields(StorageType)]
    assert list(read_rows("models/recipes.csv")[0]) == [field.name for field in fields(RecipeRow)]


def test_every_recipe_names_known_types_and_sources() -> None:
    for row in RECIPES:
        assert row.type in TYPES, row
        if "+" in row.format:
            mixed = {"gguf"}
        else:
            mixed = set()
        assert TYPES[row.type].family in {row.family, "any"} | mixed, row
        assert row.source, row
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", row.source_date), row


def test_every_format_covers_a_model_with_experts(subtests: pytest.Subtests) -> None:
    for form in FORMATS.values():
        with subtests.test(str(form.name)):
            size = file_bytes(ARCHITECTURES["Qwen3-30B-A3B"], form)
            assert 1.5 < 8 * size / ARCHITECTURES["Qwen3-30B-A3B"].params <= 32


LLAMA_3_1_8B = {
    # GiB; README of llama.cpp's quantize tool, commit 311c2c9, read 2026-11-21.
    "IQ1_S": 1.87,
    "IQ1_M": 2.01,
    "IQ2_XXS": 2.23,
    "IQ2_XS": 2.42,
    "IQ2_S": 2.56,
    "IQ2_M": 2.74,
    "IQ3_XXS": 3.04,
    "IQ3_XS": 3.27,
    "IQ3_S": 3.42,
    "IQ3_M": 3.52,
    "IQ4_XS": 4.17,
    "IQ4_NL": 4.38,
    "Q2_K_S": 2.78,
    "Q2_K": 2.95,
    "Q3_K_S": 3.41,
    "Q3_K_L": 4.02,
    "Q4_K_S": 4.36,
    "Q4_K_M": 4.58,
    "Q5_K_S": 5.21,
    "Q5_K_M": 5.33,
    "Q6_K": 6.14,
    "Q8_0": 7.95,
    "F16": 14.96,
    # GiB; the table of formats in the same tool's quantize.cpp, commit 03161a4.
    "Q3_K_M": 3.74,
    "Q4_0": 4.34,
    "Q4_1": 4.78,
    "Q5_0": 5.21,
    "Q5_1": 5.65,
}

LLAMA_3_1_70B = {
    # GB; bartowski's Llama-3.1-70B GGUF files, listed at
    # https://ozeki.chat/p_8590-understanding-ai-model-files.html, read 2026-11-21.
    "Q8_0": 74.98,
    "Q6_K": 57.89,
    "Q5_K_M": 49.95,
    "Q5_K_S": 48.66,
    "Q4_K_M": 42.52,
    "Q4_K_S": 40.35,
    "Q4_0": 40.12,
    "IQ4_XS": 37.90,
    "Q3_K_L": 37.14,
    "Q3_K_M": 34.27,
    "IQ3_M": 31.94,
    "Q3_K_S": 30.91,
}

MIXTRAL_8X22B = {
    # GB; https://huggingface.co/bartowski/Mixtral-8x22B-v0.1-GGUF (build b2636), read 2026-11-21.
    "Q5_K_M": 99.96,
    "Q5_K_S": 96.97,
    "Q4_K_M": 85.58,
    "Q4_K_S": 80.47,
    "IQ4_NL": 80.47,
    "IQ4_XS": 76.35,
    "Q3_K_L": 72.57,
    "Q3_K_M": 67.78,
    "IQ3_M": 64.49,
    "IQ3_S": 61.49,
    "Q3_K_S": 61.49,
    "IQ3_XS": 58.22,
    "Q2_K": 52.10,
}


def farthest(model: str, sizes: Mapping[str, float], unit: float) -> tuple[float, str]:
    """Largest distance from a published size, and the format that has it."""
    return max((abs(deviation(model, name, size * unit)), name) for name, size in sizes.items())


def test_files_have_their_published_sizes() -> None:
    # Mixtral's IQ4 files were made without an importance matrix: 1.2 % larger than today's.
    iq4 = {name: size for name, size in MIXTRAL_8X22B.items() if "IQ4" in name}
    others = {name: size for name, size in MIXTRAL_8X22B.items() if name not in iq4}
    assert farthest("Llama-3.1-8B", LLAMA_3_1_8B, GIB) < (0.01,)
    assert farthest("Llama-3.1-70B", LLAMA_3_1_70B, GB) < (0.005,)
    assert farthest("Mixtral-8x22B", iq4, GB) < (0.015,)
    assert farthest("Mixtral-8x22B", others, GB) < (0.003,)


@pytest.mark.parametrize(
    ("model", "name", "size"),
    [
        # GiB as llama-bench prints them, https://github.com/ggml-org/llama.cpp/discussions/4167.
        ("Llama-2-7B", "Q4_0", 3.56),
        ("Llama-2-7B", "Q8_0", 6.67),
        ("Llama-2-7B", "F16", 12.55),
        # Checkpoint sizes of arXiv 2508.10925, table 1.
        ("gpt-oss-20b", "MXFP4-hf", 12.8),
        ("gpt-oss-120b", "MXFP4-hf", 60.8),
        # https://github.com/ggml-org/llama.cpp/blob/master/benches/dgx-spark.md, read 2026-11-21.
        ("gpt-oss-20b", "MXFP4", 11.27),
        ("gpt-oss-120b", "MXFP4", 59.02),
        # As ik_llama.cpp prints it, https://github.com/ikawrakow/ik_llama.cpp/discussions/201.
        ("DeepSeek-R1", "Q8_0", 664.29),
    ],
)
def test_other_files_have_their_published_size(model: str, name: str, size: float) -> None:
    assert abs(deviation(model, name, size * GIB)) < 0.005


NOT_THE_RECIPE = {
    ("Gemma-3-12B", "Q4_0", 7.2): "Google's QAT file keeps a 16-bit token table",
    ("Qwen3-30B-A3B", "Q4_K_M", 16.49): "the size of the UD-Q4_K_XL file",
}


def measured_sizes() -> Iterator[tuple[str, str, float]]:
    """Model, format and GiB of the measured files whose recipe and shape are known here."""
    if not MEASUREMENTS.exists():
        return
    with MEASUREMENTS.open(newline="") as file:
        for row in csv.DictReader(file):
            model = SAME_SHAPE.get(row["model"], row["model"])
            name = row["quant"].removesuffix(" (ollama default)")
            if model in ARCHITECTURES and name in FORMATS and row["model_size_gib"]:
                yield model, name, float(row["model_size_gib"])


def test_recipes_reproduce_the_sizes_of_measured_files() -> None:
    rows = sorted(set(measured_sizes()) - NOT_THE_RECIPE.keys())
    if not rows:
        pytest.skip("the published measurements lie beside the repository and are not here")
    assert len(rows) > 30
    for model, name, size in rows:
        if name.startswith("UD-"):
            limit = 0.02
        else:
            limit = 0.01
        assert abs(deviation(model, name, size * GIB)) < limit, (model, name, size)


def test_a_tied_token_table_gets_the_type_of_the_head() -> None:
    assert only(ARCHITECTURES["Llama-3.2-1B"], "token_embd", "Q4_K_M") == ["Q6_K"]
    assert only(ARCHITECTURES["Llama-3.1-8B"], "token_embd", "Q4_K_M") == ["Q4_K"]
    assert only(ARCHITECTURES["Llama-3.2-1B"], "token_embd", "IQ2_XXS") == ["Q5_K"]


def test_norms_and_routers_stay_floats() -> None:
    qwen = ARCHITECTURES["Qwen3-30B-A3B"]
    assert set(only(qwen, "ffn_gate_inp", "Q4_K_M")) == {"F32"}
    assert set(only(qwen, "attn_norm", "Q8_0")) == {"F32"}
    assert set(only(qwen, "attn_norm", "AWQ")) == {"F16"}
    assert set(only(qwen, "ffn_gate_inp", "FP8")) == {"BF16"}
    biases = tensor("ffn_up_exps.bias", rows=32, width=2880)
    assert category(biases, tied=False) == UNQUANTIZED


def test_special_cases_of_llama_cpp() -> None:
    assert set(only(ARCHITECTURES["Mixtral-8x22B"], "attn_v", "Q4_K_M")) == {"Q8_0"}
    assert set(only(ARCHITECTURES["Mixtral-8x22B"], "attn_output", "Q4_K_M")) == {"Q5_K"}
    assert set(only(ARCHITECTURES["Llama-3.1-70B"], "attn_v", "Q4_K_M")) == {"Q5_K", "Q6_K"}
    assert set(only(ARCHITECTURES["Llama-3.1-8B"], "attn_v", "Q4_K_M")) == {"Q4_K", "Q6_K"}
    assert set(only(ARCHITECTURES["Llama-3.1-8B"], "attn_v", "IQ4_XS")) == {"Q5_K"}
    assert set(only(ARCHITECTURES["Llama-2-7B"], "attn_v", "IQ4_XS")) == {"IQ4_XS"}


@pytest.mark.parametrize(
    ("name", "width", "expected"),
    [
        ("Q4_K_S", 2880, "Q5_0"),
        ("Q5_K_S", 2880, "Q5_1"),
        ("Q6_K", 2880, "Q8_0"),
        ("Q3_K_S", 2880, "Q4_0"),
        ("IQ4_XS", 2880, "IQ4_NL"),
        ("IQ2_XXS", 2880, "IQ4_NL"),
        ("Q8_0", 2880, "Q8_0"),
        ("Q4_K_S", 2056, "F16"),
        ("Q8_0", 2056, "F16"),
        ("AWQ", 2056, "AWQ-int4-g128"),
    ],
)
def test_rows_that_do_not_divide_fall_back(name: str, width: int, expected: str) -> None:
    odd = replace(ARCHITECTURES["Llama-2-7B"], tensors=(tensor("attn_q", width=width),))
    assert only(odd, "attn_q", name) == [expected]


def test_positions_of_attention_values_skip_layers_without_them() -> None:
    # Q4_K_S raises the first four; in a hybrid those are not layers 0 to 3.
    llama = ARCHITECTURES["Llama-3.1-8B"]
    hybrid = replace(
        llama,
        tensors=tuple(
            tensor
            for tensor in llama.tensors
            if tensor.role != "attn_v" or (tensor.layer is not None and tensor.layer % 4 == 3)
        ),
    )
    assert only(hybrid, "attn_v", "Q4_K_S") == ["Q5_K"] * 4 + ["Q4_K"] * 4


def test_heads_per_value_head() -> None:
    assert heads_per_value_head(ARCHITECTURES["Llama-2-7B"].tensors) == 1
    assert heads_per_value_head(ARCHITECTURES["Qwen3-30B-A3B"].tensors) == 8
    assert heads_per_value_head(ARCHITECTURES["Gemma-3-12B"].tensors) == 2
    # Phi-4: 40 query and 10 key and value heads of 128 in one matrix.
    fused = (tensor("attn_qkv", rows=(40 + 2 * 10) * 128), tensor("attn_output", width=40 * 128))
    assert heads_per_value_head(fused) == 4
    assert heads_per_value_head(()) == 1


def test_mxfp4_of_a_dense_model_is_refused() -> None:
    with pytest.raises(Refusal, match=r"MXFP4 does not fit Llama-2-7B \(a model without experts\)"):
        file_bytes(ARCHITECTURES["Llama-2-7B"], FORMATS["MXFP4"])


def test_a_recipe_with_a_type_that_is_missing_says_so() -> None:
    rules = tuple(replace(rule, type="Q4_X") for rule in FORMATS["Q4_K_M"].rules)
    with pytest.raises(UnknownName, match="storage type"):
        file_bytes(ARCHITECTURES["Llama-2-7B"], replace(FORMATS["Q4_K_M"], rules=rules))
