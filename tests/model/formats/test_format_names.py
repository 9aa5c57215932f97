"""Formats in the spellings of packers, tools and papers."""

import pytest

from advisor.catalog.csv_tables import texts
from advisor.errors import UnknownName
from advisor.model import resolve
from advisor.model.by_name.names import format_in_name
from advisor.model.formats import Format, known_format

SPELLED = {
    "Q4_K_M": "Q4_K_M", "q4_k_m": "Q4_K_M", "q4km": "Q4_K_M", "Q4_K_M (medium)": "Q4_K_M",
    "Q4_K - Medium": "Q4_K_M", "Q5_K - Small": "Q5_K_S", "GGUF Q4_K_M": "Q4_K_M",
    "UD-Q4_K_XL": "UD-Q4_K_XL", "ud_q4_k_xl": "UD-Q4_K_XL", "UD-Q8_K_XL": "Q8_0",
    "UD-Q6_K_XL": "Q6_K", "UD-Q5_K_XL": "Q5_K_M", "UD-IQ1_S": "IQ1_S", "Q6_K_L": "Q6_K",
    "Q5_K_L": "Q5_K_M", "i1-IQ3_XXS": "IQ3_XXS", "IQ2_K_R4": "IQ2_XS", "IQ4_KS": "IQ4_XS",
    "4bit": "AWQ", "4-bit": "AWQ", "int4": "AWQ", "w4a16": "AWQ", "AWQ-INT4": "AWQ",
    "gptq-int4": "GPTQ", "GPTQ 4-bit": "GPTQ", "autoround-int4": "GPTQ", "nf4": "bnb-nf4",
    "mlx-4bit": "Q4_0", "MLX 8bit": "Q8_0", "NVFP4": "NVFP4", "mxfp4": "MXFP4",
    "fp8": "FP8", "fp8-dynamic": "FP8", "FP8_static": "FP8", "int8-w8a8": "FP8",
    "bf16": "BF16", "fp16": "F16", "Q8": "Q8_0", "q4": "Q4_K_M", "8.5bpw": "Q8_0",
}  # fmt: skip


def test_a_spelling_means_its_format(subtests: pytest.Subtests) -> None:
    for text, name in SPELLED.items():
        with subtests.test(f"{text} {name}"):
            assert Format.meant(text).name == name


def test_words_around_a_spelling_are_passed_by_in_remarks_alone() -> None:
    text = "IQ4_XS experts/Q5_K attn"
    assert Format.meant(text, remark=True).name == "IQ4_XS"
    for unclear in (text, "Q4_KX"):
        with pytest.raises(UnknownName):
            Format.meant(unclear)


def test_the_match_of_a_spelling_is_reported() -> None:
    assert "Format int4 is taken as AWQ." in resolve.find("Llama-3.1-8B", "int4").notes
    plain = resolve.find("Llama-3.1-8B", "q4_k_m")
    assert not [note for note in plain.notes if "taken as" in note]


def test_every_format_means_itself() -> None:
    known = Format.by_name()
    assert {name: Format.meant(name).name for name in known} == {name: name for name in known}


def test_spellings_name_known_formats() -> None:
    meant = texts("models/format_spellings.csv", "spelling", "format").values()
    assert all(known_format(name) for name in meant)


@pytest.mark.parametrize("text", ["", "qwen", "banana", "99bpw", "_XL", "native"])
def test_an_unknown_format_is_not_guessed(text: str) -> None:
    with pytest.raises(UnknownName):
        Format.meant(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("qwen3:30b-a3b-q4_K_M", "Q4_K_M"),
        ("hf.co/unsloth/Qwen3-4B-GGUF:UD-Q4_K_XL", "UD-Q4_K_XL"),
        ("Qwen3.6-27B-AWQ-INT4", "AWQ"),
        ("nvidia/Qwen3.6-27B-NVFP4", "NVFP4"),
        ("gemma-4-26B-A4B-it-qat-GGUF", "Q4_0"),
        ("Qwen3-8B", None),
        ("unsloth/Qwen3-8B-unsloth-bnb-4bit", "bnb-nf4"),
        ("Qwen/Qwen3-8B-GPTQ-Int8", "FP8"),  # 8 bits, not the packer's usual four
        ("cpatonn/Qwen3-VL-8B-Instruct-AWQ-8bit", "FP8"),
        ("01-ai/Yi-34B-Chat-8bits", "FP8"),
        ("LoneStriker/Mixtral-8x7B-Instruct-v0.1-3.5bpw-h6-exl2", "EXL2-3.5bit-h6"),
        ("bartowski/Meta-Llama-3.1-8B-Instruct-exl2_5_0", "EXL2-5bit-h6"),
        ("bartowski/Qwen2.5-32B-Instruct-exl2:4_25", "EXL2-4.25bit-h6"),
        ("turboderp/Qwen2.5-72B-Instruct-exl2:5.0bpw_H8", "EXL2-5bit-h8"),
        ("turboderp/Qwen3-8B-exl3@3.0bpw", "EXL3-3bit-h6"),
        ("Qwen3-30B-A3B-Instruct-2507-Q4_K_S-3.61bpw.gguf", "Q3_K_M"),
        ("mlx-community/GLM-5.1-DQ4plus-q8", "Q4_0"),
        ("gemma-2-9b-it-q4f16_1-MLC", "Q4_0"),
        ("nvidia/DeepSeek-R1-FP4", "NVFP4"),
        ("QuantTrio/GLM-4.5-Air-GPTQ-Int4-Int8Mix", "GPTQ"),
    ],
)
def test_names_may_carry_their_format(text: str, name: str | None) -> None:
    form = format_in_name(text)
    assert (form and form.name) == name


def test_a_branch_of_the_hub_states_its_bits_and_a_name_without_bits_is_told() -> None:
    # Branches of bartowski/Qwen2.5-32B-Instruct-exl2 on the Hub: 3_5, 4_25, 5_0, 6_5, 8_0.
    branch = resolve.find("https://huggingface.co/bartowski/Qwen2.5-32B-Instruct-exl2/tree/6_5")
    assert branch.model.format == "EXL2-6.5bit-h6"
    assert not [note for note in branch.notes if "bits per weight" in note]
    (told,) = [
        note
        for note in resolve.find("bartowski/Qwen2.5-32B-Instruct-exl2").notes
        if "states no bits per weight" in note
    ]
    assert "4 are counted" in told


@pytest.mark.parametrize(
    ("text", "bits"),
    # ik_llama.cpp, examples/quantize/quantize.cpp: "IQ3_KL - 4 bpw", "IQ2_BN - 2.00 bpw Bitnet"
    # and block_q6_0 of ggml-common.h, 26 bytes for 32 weights.
    [("IQ3_KL", 4.0), ("IQ2_BN", 2.0), ("IQ2_BN_R4", 2.0), ("Q6_0", 6.5), ("Q8_KV", 8.0)],
)
def test_formats_of_ik_llama_count_as_the_nearest_and_say_so(text: str, bits: float) -> None:
    resolved = resolve.find("Qwen3-8B", text)
    counted = [
        tensor.bits_per_weight
        for tensor in Format.named(resolved.model.format).tensor_types(resolved.model.architecture)
    ]
    assert min(abs(size / bits - 1) for size in counted) < 0.13
    assert [note for note in resolved.notes if f"Format {text} is taken as" in note]
