"""Families built layer by layer, against arithmetic on their published configurations."""

from dataclasses import replace

import numpy as np
import pytest

from advisor.errors import Refusal
from advisor.model import catalog
from advisor.model.by_name.named import named
from advisor.model.config.read import describe


def kv_values(architecture: object, tokens: float) -> float:
    """Cached values of 16 bits at a context, without what does not grow with it."""
    model = catalog.in_format(architecture, "BF16-hf")  # type: ignore[arg-type]
    grown = float(np.sum(model.kv_bytes(2 * tokens, "f16")))
    return (grown - float(np.sum(model.kv_bytes(tokens, "f16")))) / 2


def test_four_layers_of_deepseek_v4_1_keep_the_cache_of_all() -> None:
    """Layers 2, 8 and 14 keep one entry of 512 values and 128 of index keys for two tokens, layer
    20 one for each; two tables of 384 million rows of 256 are read by row, not passed through
    (transformers, configuration_deepseek_v41.py).
    """
    built = describe({"model_type": "deepseek_v41"}, "x").architecture
    assert kv_values(built, 1e6) == pytest.approx((3 * 640 / 2 + 640) * 1e6)
    tables = (384_006_168 + 384_016_682) * 256
    routed = 40 * 384 * 3 * 5120 * 2304
    assert built.params - tables - routed < 8.5e9
    # 763.2e9 weights with three drafting layers of 128 experts, 14.1e9 (its model card).
    assert built.params == pytest.approx(763.2e9 - 3 * 128 * 3 * 5120 * 2304, rel=0.005)
    assert built.active_params < 17e9


def test_k2_horizon_routes_its_values_in_layers_with_experts() -> None:
    """MoVA-36B-A4B: three dense layers, then 100 experts and 64 value projections of 2560 x 1024
    in each of 45; its stated total is 37,444,792,020.
    """
    mova = named("IFM/K2-Horizon-MoVA-36B-A4B").architecture
    assert mova.params == pytest.approx(37_444_792_020, rel=0.001)
    values = [tensor for tensor in mova.tensors if tensor.role == "attn_v_exps"]
    assert len(values) == 45
    assert values[0].params == 64 * 2560 * 8 * 128
    assert kv_values(mova, 1e5) == 48 * 2 * 8 * 128 * 1e5


def test_a_dense_k2_horizon_is_a_llama() -> None:
    dense = named("IFM/K2-Horizon-7B").architecture
    layer = 4096 * (4096 * 2 + 1024 * 2) + 3 * 4096 * 12288
    assert dense.params == pytest.approx(36 * layer + 2 * 250_624 * 4096, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "total", "active"),
    [
        ("tencent/Hunyuan-A13B-Instruct", 80.4e9, 13e9),
        ("baidu/ERNIE-4.5-21B-A3B-PT", 21.8e9, 3e9),
        ("inclusionAI/Ling-mini-2.0", 16.3e9, 1.4e9),
        ("inclusionAI/Ling-1T", 1000e9, 50e9),
        ("Qwen/Qwen-72B", 72.3e9, 72.3e9),
        ("bigcode/starcoder2-7b", 7.17e9, 7.17e9),
        ("Zyphra/Zamba2-7B", 7.36e9, 7.36e9),
    ],
)
def test_families_of_the_list_have_their_published_sizes(
    name: str, total: float, active: float
) -> None:
    """As their makers' model cards say."""
    built = named(name).architecture
    assert built.params == pytest.approx(total, rel=0.01)
    assert built.active_params == pytest.approx(active, rel=0.2)


def test_weights_that_llamas_layers_do_not_explain_are_not_left_out() -> None:
    """Molmo-7B-D: 8.02e9 weights in its files, of which Llama's layers would be 13.3."""
    stated = named("allenai/Molmo-7B-D-0924")
    assert stated.architecture.params == pytest.approx(8.02e9, rel=0.01)
    assert not stated.known
    assert "8.02 B" in stated.notes[0]


@pytest.mark.parametrize(
    "name", ["Phi-4-mini-flash-reasoning", "somebody/Mamba-9B-Chat", "somebody/Zamba-3B-Chat"]
)
def test_layers_that_keep_a_state_are_not_counted_as_those_of_llama(name: str) -> None:
    with pytest.raises(Refusal, match="keep a state"):
        named(name)


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("state-spaces/mamba-2.8b-hf", 2.768e9),
        ("tiiuae/falcon-mamba-7b", 7.273e9),
        ("mistralai/Mamba-Codestral-7B-v0.1", 7.285e9),
        ("RWKV/RWKV7-G1j-13.3B-20260831", 13.27e9),
    ],
)
def test_a_recurrent_model_keeps_as_much_of_any_text(name: str, total: float) -> None:
    """Totals as the list counts the files of these repositories."""
    built = named(name).architecture
    assert built.params == pytest.approx(total, rel=0.01)
    assert kv_values(built, 1e3) == kv_values(built, 1e6)
    assert built.max_context is None


@pytest.mark.parametrize(
    ("name", "total", "values"),
    [
        # MiniMax-01, arXiv 2501.08313: 10 of 80 layers attend, with 8 key heads of 128.
        ("MiniMaxAI/MiniMax-Text-01", 456e9, 10 * 2 * 8 * 128),
        # MiniCPM3-4B's config.json: a latent of 256 and a rotary key of 32 in 62 layers.
        ("MiniCPM3-4B", 4.07e9, 62 * (256 + 32)),
        # Step-3, arXiv 2507.19427: one key and value head of 256 in 61 layers.
        ("Step3", 321e9, 61 * 2 * 256),
    ],
)
def test_caches_that_are_not_those_of_llama(name: str, total: float, values: float) -> None:
    built = named(name).architecture
    assert built.params == pytest.approx(total, rel=0.02)
    assert kv_values(built, 2e5) - kv_values(built, 1e5) == pytest.approx(1e5 * values)


@pytest.mark.parametrize(
    ("name", "total"),
    [("ai-sage/GigaChat3.5-432B-A28B-Reasoning", 438e9), ("XingChen-AGI/Xing4.0-29B-A4B", 31.2e9)],
)
def test_signs_of_a_latent_cache_in_an_unknown_family(name: str, total: float) -> None:
    """Their files count what layers as DeepSeek-V3's would hold; as Llama's they would cache 18 to
    40 times as much.
    """
    model = named(name)
    built = model.architecture
    assert built.params == pytest.approx(total, rel=0.07)
    assert kv_values(built, 1e5) == built.layers * 576 * 1e5
    assert built.shape_uncertainty > 0
    assert "latent" in " ".join(model.notes)


@pytest.mark.parametrize(
    ("name", "visits"),
    [
        ("ByteDance/Ouro-1.4B", 4 * 24),  # total_ut_steps of its config.json
        ("Inkling-2-Mini", 6 + 3 * 12 + 6),  # layers 6 to 17 are passed three times
    ],
)
def test_layers_that_are_passed_several_times_are_read_and_cached_so(
    name: str, visits: int
) -> None:
    built = named(name).architecture
    looped = catalog.in_format(built, "BF16")
    once = catalog.in_format(replace(built, visits=()), "BF16")
    assert sum(built.visits) == visits
    assert looped.file_bytes == once.file_bytes
    layers = once.read_bytes_per_token - once.output
    assert looped.read_bytes_per_token - looped.output == pytest.approx(
        layers * visits / built.layers, rel=0.01
    )
    assert np.sum(looped.kv_bytes(1000, "f16")) == pytest.approx(
        np.sum(once.kv_bytes(1000, "f16")) * visits / built.layers
    )


def test_shared_blocks_of_zamba2_are_held_once_and_read_at_each_use() -> None:
    """Zamba2-7B (Zyphra/Zamba2-7B, 7.36 B weights): two blocks before 13 of 81 layers."""
    config = {
        "model_type": "zamba2",
        "hidden_size": 3584,
        "attention_hidden_size": 7168,
        "attention_head_dim": 224,
        "intermediate_size": 14336,
        "num_hidden_layers": 81,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
        "num_mem_blocks": 2,
        "mamba_d_state": 64,
        "mamba_d_conv": 4,
        "mamba_expand": 2,
        "mamba_headdim": 64,
        "n_mamba_heads": 112,
        "mamba_ngroups": 2,
        "adapter_rank": 128,
        "hybrid_layer_ids": [6, 11, 17, 23, 29, 35, 41, 47, 53, 59, 65, 71, 77],
        "vocab_size": 32000,
        "tie_word_embeddings": True,
    }
    built = describe(config, "Zamba2-7B").architecture
    assert built.params == pytest.approx(7.36e9, rel=2e-3)
    assert built.visits[-2:] == (7, 6)
    # attention of 3 x 7168 x 7168 + 7168 x 3584 weights, feed-forward of 3 x 3584 x 14336
    block = 3 * 7168 * 7168 + 7168 * 3584 + 3 * 3584 * 14336
    stored = catalog.in_format(built, "BF16-hf")
    assert stored.read_bytes_per_token == pytest.approx(2 * (built.params + 11 * block), rel=2e-3)
    # keys and values of 7168 at each of 13 uses
    assert kv_values(built, 1000) == 13 * 2 * 7168 * 1000
