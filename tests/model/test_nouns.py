"""Workload, figures and models check themselves once, at the edge."""

import numpy as np
import pytest

from advisor.cost_model.workload import Workload
from advisor.errors import InputError, UnknownName, close_names
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.model.model import LAYERED, Model
from advisor.units import Provenance, Quantity


@pytest.mark.parametrize(
    ("name", "value"),
    [("context", 0), ("context", 1e30), ("prompt", -1), ("users", 0), ("output", float("nan")),
     ("ubatch", 1e9), ("users", float("inf"))],
)  # fmt: skip
def test_a_number_out_of_range_is_named_with_its_limits(name: str, value: float) -> None:
    with pytest.raises(InputError, match=rf"\(--{name}\) is .*allowed is"):
        Workload(**{name: value})  # type: ignore[arg-type]


def test_an_unknown_cache_type_lists_those_that_are_known() -> None:
    with pytest.raises(InputError, match="q8_0"):
        Workload(kv_type="q9")


def test_no_more_can_be_cached_than_is_sent() -> None:
    with pytest.raises(InputError, match="more than the prompt"):
        Workload(prompt=10, cached=11)


def test_decoding_happens_at_the_prompt_and_half_the_output() -> None:
    assert Workload(prompt=512, output=256).decode_depth == 640


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_a_figure_is_finite_and_not_negative(value: float) -> None:
    with pytest.raises(InputError, match="not a usable number"):
        Quantity(value=value, kind=Provenance.GIVEN, source="typed in")


def test_close_names_ignore_case() -> None:
    assert close_names("rtx 309", ("RTX 3090", "RTX 4090", "A100"))[0] == "RTX 3090"
    assert "Did you mean" in str(UnknownName("GPU", "rtx 309", ["RTX 3090"]))


def test_a_long_unknown_name_is_cut() -> None:
    assert len(str(UnknownName("model", "x" * 5000, ["a"]))) < 200


def test_cache_of_llama_3_70b_by_hand() -> None:
    # 80 layers x 2 x 8 heads x 128 values x 2 bytes = 327,680 bytes a token.
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    assert float(model.kv_bytes(1.0, "f16").sum()) == 327_680
    assert float(model.kv_bytes(8192.0, "f16").sum()) == 327_680 * 8192
    # q8_0 packs 32 values in 34 bytes.
    assert float(model.kv_bytes(1.0, "q8_0").sum()) == 327_680 / 2 * 34 / 32


def test_window_layers_stop_at_their_window() -> None:
    # Gemma 3 12B: 8 full layers, 40 of 1024 tokens; 8 KV heads of 256 are 8192 bytes a layer.
    model = catalog.model("gemma-3-12b-it", "Q4_K_M")
    full = 8 * 8192
    windowed = 40 * 8192
    assert float(model.kv_bytes(1000.0, "f16").sum()) == (full + windowed) * 1000
    assert float(model.kv_bytes(32_768.0, "f16").sum()) == full * 32_768 + windowed * 1024


def test_cache_formats_take_the_size_of_their_blocks() -> None:
    gguf = pytest.importorskip("gguf")
    assert Model.KV_BYTES_PER_VALUE["q6_0"] == (2 + 32 * 6 / 8) / 32, "ik_llama.cpp's own"
    for name, size in Model.KV_BYTES_PER_VALUE.items():
        if name in ("fp8", "q6_0"):
            continue
        block, packed = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name.upper()]]
        assert size == packed / block, name


def test_a_token_reads_one_row_of_the_embedding() -> None:
    model = catalog.model("Llama-3.1-8B", "F16")
    # 8.030 B less 0.525 B of embedding, 2 bytes each, one row of 4096 values back.
    layered = sum(float(model.bytes_per_layer[group].sum()) for group in LAYERED)
    assert model.read_bytes_per_token == pytest.approx(layered + model.output + 4096 * 2)
    assert model.read_bytes_per_token == pytest.approx((8.030 - 0.525) * 2e9, rel=1e-3)


def test_experts_are_read_by_their_share() -> None:
    model = catalog.model("Qwen3-30B-A3B", "Q8_0")
    assert float(model.expert_share(1)) == pytest.approx(8 / 128)
    # Two tokens that choose evenly: 1 - (1 - 1/16)^2 = 0.1211; they prefer some experts alike.
    assert 8 / 128 < float(model.expert_share(2)) < 0.1211
    even = catalog.model("DeepSeek-V2-Lite", "Q8_0")
    assert float(even.expert_share(2)) == pytest.approx(1 - (1 - 6 / 64) ** 2)
    assert float(even.expert_share(10_000)) == pytest.approx(1.0)
    assert model.read_share(Group.ATTENTION, 1) == 1.0


def test_a_scaled_model_has_the_size_of_its_file() -> None:
    model = Model.scaled(catalog.model("Llama-3.1-8B", "Q4_K_M"), 5e9)
    assert model.file_bytes == pytest.approx(5e9)


def test_prefix_sums_agree_with_the_whole() -> None:
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    assert np.sum(model.layer_bytes) + model.embedding + model.output == pytest.approx(
        model.file_bytes
    )
