"""Types of the cache, one of keys and one of values, as people and engines write them."""

import numpy as np
import pytest

from advisor.catalog.csv_tables import texts as table
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.model import resolve
from advisor.model.model import Model
from advisor.request import texts
from advisor.request.cache_types import cache_type
from advisor.request.estimates import estimates_of
from advisor.request.lists import takes
from advisor.request.request import Request


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("q8_0/q4_0", "q8_0/q4_0"),
        ("Q8_0,Q4_0", "q8_0/q4_0"),
        ("-ctk q8_0 -ctv q4_0", "q8_0/q4_0"),
        ("--cache-type-v q4_0 --cache-type-k q8_0", "q8_0/q4_0"),
        ("K=Q8_0, V=Q4_0", "q8_0/q4_0"),
        ("-ctk q8_0", "q8_0/f16"),  # llama.cpp leaves the other in f16
        ("-ctv q8_0", "f16/q8_0"),
        ("q4_0/q4_0", "q4_0"),
        ("8,4", "q8_0/q4_0"),  # TabbyAPI's cache_mode
        ("Q8", "q8_0"),
        ("K8V4", "q8_0/q4_0"),
        ("LLAMA_ARG_CACHE_TYPE_K=q8_0 LLAMA_ARG_CACHE_TYPE_V=q5_1", "q8_0/q5_1"),
        ("cache_type_v=q4_0, cache_type_k=q8_0", "q8_0/q4_0"),
        ("8bit", "q8_0"),
        ("8,6", "q8_0/q6_0"),
        ("Q6", "q6_0"),  # TabbyAPI's former name
        ("fp8_e4m3", "fp8"),  # vLLM
        ("auto", "f16"),
        ("tq3_0", "tq3_0"),  # a fork's own, not known
        ("q8_0/q4_0/q4_0", "q8_0/q4_0/q4_0"),
    ],
)
def test_spellings(text: str, kind: str) -> None:
    assert cache_type(text) == kind


def test_spellings_lead_to_known_types() -> None:
    spellings = table("request/cache_types.csv", "spelling", "type")
    assert set(spellings.values()) <= Model.KV_BYTES_PER_VALUE.keys()
    assert not spellings.keys() & Model.KV_BYTES_PER_VALUE.keys()


@pytest.mark.parametrize("keys", Model.KV_BYTES_PER_VALUE)
@pytest.mark.parametrize("values", Model.KV_BYTES_PER_VALUE)
def test_every_pair_is_counted_part_by_part(keys: str, values: str) -> None:
    model = resolve.from_name("Qwen3-8B", "Q4_K_M").model
    kind = cache_type(f"{keys}/{values}")
    assert takes("kv_type", kind)
    # 36 layers of 8 heads of 128 values, as many of keys as of values
    part = 36 * 8 * 128 * 8192
    sizes = Model.KV_BYTES_PER_VALUE
    expected = part * (sizes[keys] + sizes[values])
    assert float(np.sum(model.kv_bytes(8192, kind))) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("runtime", "form", "options"),
    [
        ("ik_llama.cpp", "Q4_K_M", "-ctk q8_0 -ctv q6_0"),
        ("ExLlamaV3", "EXL3 4.0bpw", "--cache-mode 8,6"),
    ],
)
def test_a_cache_in_six_bits_is_of_engines_that_have_it(
    runtime: str, form: str, options: str
) -> None:
    # ik_llama.cpp's pull request 101: Q8_0 and Q6_0 have 7.5 bits a value; blocks of 32 in 26 bytes
    given = {"model": "Qwen3-8B", "gpu": "RTX 3090", "ram_gb": 64, "placement": "gpu-resident"}
    request = Request(**given, format=form, runtime=runtime, kv_type="q8_0/q6_0")  # type: ignore[arg-type]
    (answer,) = estimates_of(request.nouns())
    assert options in answer.command
    assert Model.KV_BYTES_PER_VALUE["q8_0"] + Model.KV_BYTES_PER_VALUE["q6_0"] == 2 * 7.5 / 8


def test_a_latent_cache_counts_as_keys() -> None:
    model = resolve.from_name("DeepSeek-V2-Lite", "Q4_K_M").model
    whole = model.kv_bytes(8192, "q8_0")
    assert np.array_equal(model.kv_bytes(8192, "q8_0/q4_0"), whole)


def test_unknown_types_are_refused_at_every_door() -> None:
    with pytest.raises(InputError, match="tq3_0"):
        Workload(kv_type="tq3_0")
    with pytest.raises(InputError, match="q8_0/tq3_0"):
        Workload(kv_type="q8_0/tq3_0")
    opened = texts.from_address({"kv_type": "q8_0/tq3_0"})
    assert opened.request.kv_type is None
    assert "q8_0/tq3_0" in " ".join(opened.problems)
    assert texts.from_address({"kv_type": "Q8_0 / Q4_0"}).request.kv_type == "q8_0/q4_0"


@pytest.mark.parametrize(
    ("runtime", "form", "words"),
    [
        ("llama.cpp", "Q4_K_M", "-ctk q8_0 -ctv q4_0"),
        ("ik_llama.cpp", "Q4_K_M", "-ctk q8_0 -ctv q4_0"),
        ("LM Studio", "Q4_K_M", "K Cache Quantization Type q8_0, V Cache Quantization Type q4_0"),
        ("ExLlamaV3", "EXL3", "--cache-mode 8,4"),
    ],
)
def test_commands_name_both(runtime: str, form: str, words: str) -> None:
    request = Request(
        model="Qwen3-8B",
        format=form,
        gpu="RTX 4090",
        ram_gb=64,
        runtime=runtime,
        kv_type="q8_0/q4_0",
        placement="gpu-resident",
    )
    assert words in estimates_of(request.nouns())[0].command
