"""Buffers of llama.cpp, against numbers worked by hand and logs of full-size models."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model.catalog import architecture, model
from advisor.runtimes.llama_cpp.buffers import (
    as_built,
    cells,
    compute_buffer,
    input_buffer,
    kv_cache_bytes,
    micro_batch,
    output_buffer,
    spread_cache,
    widths,
)
from advisor.runtimes.llama_cpp.splits import CONTEXT, gpu_buffer
from advisor.units import MIB


def test_llama_3_8b_by_hand() -> None:
    # 512 tokens of 5 x 4096 + 3 x 14336 values in 4 bytes: 124 MiB; 512 x 8192 masked in 2 bytes.
    buffer = compute_buffer(architecture("Llama-3-8B"), Workload(context=8192))
    assert buffer == 4 * 512 * (5 * 4096 + 3 * 14336) + 2 * 512 * 8192
    assert buffer / MIB == 132


def test_scores_without_flash_attention_by_hand() -> None:
    # Queries, keys and values stay below the 32 heads x 512 x 8192 scores in 4 bytes: 512 MiB.
    work = Workload(context=8192, flash_attention=False)
    llama = architecture("Llama-2-7B")
    buffer = compute_buffer(llama, work)
    scores = 4 * 32 * 512 * 8192
    assert buffer == scores + 4 * 512 * (5 + 3) * 4096 + 4 * 512 * 8192


def test_logits_decide_for_many_users() -> None:
    qwen = architecture("Qwen3-0.6B")
    few, many = (compute_buffer(qwen, Workload(users=users)) for users in (1, 256))
    assert many - few > 4 * 256 * 151936 - 4 * 512 * 3 * 3072 - 1
    assert output_buffer(qwen, Workload(users=256)) == 4 * 256 * 151936


@pytest.mark.parametrize(
    ("number", "room"), [(1, 256), (256, 256), (257, 512), (5000, 5120), (8192, 8192)]
)
def test_cells_come_in_multiples_of_256(number: int, room: int) -> None:
    assert cells(Workload(context=number), None) == room


def test_a_window_keeps_a_micro_batch_more() -> None:
    # gpt-oss: 128 + 512 tokens, rounded up to 768; never more than the context.
    assert cells(Workload(context=8192), 128) == 768
    assert cells(Workload(context=300), 128) == 512


def test_a_micro_batch_is_bounded_by_the_context() -> None:
    assert micro_batch(Workload(ubatch=4096)) == 4096
    assert micro_batch(Workload(context=100)) == 100
    assert micro_batch(Workload(context=100, users=4)) == 400


def test_nemotron_3_ultra_as_logged() -> None:
    """Build 9525 logs 189.00 MiB of keys and values in 16128 cells, 1576.50 MiB for 4 states.

    https://github.com/ggml-org/llama.cpp/issues/24175, 2026-06-05.
    """
    ultra = model("Nemotron-3-Ultra-550B-A55B", "Q4_K_M")
    per_layer = kv_cache_bytes(ultra, Workload(context=16128))
    attends = np.array([cache.key_values > 0 for cache in ultra.architecture.cache])
    assert per_layer[attends].sum() / MIB == 189.0
    assert 4 * per_layer[~attends].sum() / MIB == 1576.5


def test_host_buffer_as_logged() -> None:
    """CUDA_Host is 2408 MiB for Qwen3.6-35B-A3B, 150,000 tokens, micro-batch 4096, before masks
    became 16 bits: 4 x 4096 x 150,016 masked and 2 x 4096 x 2048 values in 4 bytes.

    https://github.com/ggml-org/llama.cpp/pull/23861, 2026-05-30.
    """
    qwen = architecture("Qwen3.6-35B-A3B")
    work = Workload(context=150_000, ubatch=4096, flash_attention=False)
    buffer = input_buffer(qwen, work)
    assert buffer / MIB == pytest.approx(2408, rel=0.001)


def test_sweeps_agree_with_single_numbers() -> None:
    gemma = model("Gemma-3-4B", "Q4_K_M")
    contexts = np.array([512.0, 8192.0, 32768.0])
    swept = Workload(context=contexts, ubatch=np.array([64.0, 512.0, 2048.0]))
    buffers = compute_buffer(gemma.architecture, swept)
    caches = kv_cache_bytes(gemma, swept)
    assert caches.shape == (3, gemma.layers)
    for row, (context, ubatch) in enumerate(zip(contexts, (64, 512, 2048), strict=True)):
        single = Workload(context=context, ubatch=ubatch)
        assert np.asarray(buffers)[row] == compute_buffer(gemma.architecture, single)
        assert np.array_equal(caches[row], kv_cache_bytes(gemma, single))


NAMES = ("Llama-3-8B", "Qwen3-30B-A3B", "gpt-oss-20b", "DeepSeek-V3", "Qwen3.5-4B", "Falcon-7B")


@given(
    name=st.sampled_from(NAMES),
    context=st.integers(1, 200_000),
    ubatch=st.integers(1, 2048),
    users=st.integers(1, 64),
)
def test_more_of_anything_never_takes_less(
    name: str, context: int, ubatch: int, users: int
) -> None:
    made = model(name, "Q8_0")
    base = Workload(prompt=0, context=context, ubatch=ubatch, users=users)
    for more in (
        Workload(prompt=0, context=context + 999, ubatch=ubatch, users=users),
        Workload(prompt=0, context=context, ubatch=ubatch + 99, users=users),
        Workload(prompt=0, context=context, ubatch=ubatch, users=users + 9),
    ):
        for fast in (True, False):
            less, most = (
                compute_buffer(made.architecture, replace(work, flash_attention=fast))
                for work in (base, more)
            )
            assert most >= less
        assert np.all(kv_cache_bytes(made, more) >= kv_cache_bytes(made, base))


@given(context=st.integers(1, 200_000), name=st.sampled_from(NAMES))
def test_the_engine_keeps_no_less_than_the_tokens_need(context: int, name: str) -> None:
    made = model(name, "Q8_0")
    needed = made.kv_bytes(context, "f16")
    assert np.all(kv_cache_bytes(made, Workload(prompt=0, context=context)) >= needed)


def test_query_heads_are_those_of_the_published_configuration() -> None:
    # num_attention_heads of each model's config.json; heads of 64 values in the first three
    published = {
        "Llama-3.2-1B": 32, "Qwen2.5-0.5B": 14, "Falcon-7B": 71, "Llama-3.1-8B": 32,
        "Phi-4": 40, "gpt-oss-120b": 64, "Gemma-3-27B": 32, "DeepSeek-V3": 128,
    }  # fmt: skip
    counted = {name: max(widths(architecture(name)).heads.values()) for name in published}
    assert counted == published


@pytest.mark.parametrize("kv_type", ["q4_0", "q8_0"])
def test_cuda_spreads_a_quantized_cache_of_one_layer_to_16_bits(kv_type: str) -> None:
    """4 heads x 256 x 2 values x 2 B per token of Qwen3.6-27B: 512 MiB of 131,072."""
    qwen = model("Qwen3.6-27B", "Q4_K_M")
    work = Workload(context=131072, kv_type=kv_type)
    assert spread_cache(qwen, work) == 512 * MIB
    assert spread_cache(qwen, replace(work, users=2)) == 1024 * MIB
    assert spread_cache(qwen, replace(work, kv_type="f16")) == 0


def test_windowed_layers_spread_their_window_alone() -> None:
    gemma = model("Gemma-3-27B", "Q4_K_M")
    short, long = (
        float(spread_cache(gemma, Workload(context=context, kv_type="q8_0")))
        for context in (2048, 65536)
    )
    assert long == pytest.approx(32 * short)  # full layers decide


@pytest.mark.parametrize(
    ("gpu", "backend", "spreads"),
    [
        ("RTX 3090", "", True),
        ("RTX 3090", "vulkan", False),
        ("RX 7900 XTX", "rocm", True),
        ("RX 7900 XTX", "vulkan", False),
        ("Arc B580", "", False),
    ],
)
def test_backends_of_one_source_spread_it(gpu: str, backend: str, spreads: bool) -> None:
    qwen = model("Qwen3-8B", "Q4_K_M")
    rig = replace(machine(MachineSpec(gpu=gpu, ram_gb=64)), backend=backend)
    work = Workload(context=32768, kv_type="q8_0")
    buffer = gpu_buffer(qwen, rig, work, np.zeros(()), np.zeros(()))
    assert (buffer > CONTEXT) == spreads
    assert buffer - CONTEXT == spreads * spread_cache(qwen, work)


@pytest.mark.parametrize(
    ("month", "values"),
    [("2025-03", 128 * (128 + 64 + 128)), ("2025-10", 576 + 512), ("2026-03", 576), ("", 576)],
)
def test_older_builds_keep_more_of_a_latent_cache(month: str, values: int) -> None:
    # DeepSeek-V3: 61 layers, 128 heads with keys of 128 + 64 and values of 128, a latent of 512
    # and a rotary key of 64 (config.json). 4,096 tokens in 16 bits: 19,520, 518.5 and 274.5 MiB.
    built = as_built(model("DeepSeek-V3", "Q4_K_M"), month)
    whole = float(np.sum(kv_cache_bytes(built, Workload(context=4096))))
    assert whole == pytest.approx(61 * 4096 * values * 2)
    assert built.per_layer.query_heads[5] == 128


def test_a_build_can_be_changed_back() -> None:
    latest = model("DeepSeek-V3", "Q4_K_M")
    older = as_built(as_built(latest, "2025-10"), "2025-03")
    assert older.per_layer.kv_values[5] == 40_960
    assert as_built(older, "").architecture is latest.architecture
    dense = model("Llama-3.1-8B", "Q4_K_M")
    assert as_built(dense, "2025-03") is dense
