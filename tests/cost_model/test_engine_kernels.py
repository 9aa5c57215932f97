"""Kernels of serving engines: arithmetic by hand, effects of more bytes and better cards."""

from itertools import pairwise

import numpy as np
import pytest

from advisor.catalog.constants import ConstantRow, Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.kernels import (
    EngineKernels,
    attention_seconds,
    empty_rows,
    generation,
    launch_seconds,
    peak_flops,
    product_seconds,
)
from advisor.cost_model.loads import ForwardPass, Load
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.machine.catalog import GPUS
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import SGLANG, VLLM
from advisor.runtimes.compare import as_run
from advisor.runtimes.parallelism import attention_work, cache_read
from advisor.runtimes.serving import engine_formats


def constants(**values: float) -> Constants:
    rows = (
        ConstantRow(constant=name, value=value, unit="share", kind="assumed", source="a test")
        for name, value in values.items()
    )
    return Constants(rows)


def gpu(name: str):
    return machine(MachineSpec(gpu=name)).gpus[0]


def load(**parts: float) -> Load:
    names = (
        "tokens", "sequence_tokens", "weights", "experts", "kv", "flops", "attention_flops",
        "expert_flops", "layers", "matrices", "expert_layers", "state_layers",
    )  # fmt: skip
    return Load(**{name: parts.get(name, 0.0) for name in names})


def run(
    name: str,
    form: str,
    card: str,
    users: int = 1,
    runtime: Runtime = VLLM,
    prompt: int = 1024,
    count: int = 1,
) -> Estimate:
    where = machine(MachineSpec(gpu=card, gpu_count=count, ram_gb=512))
    model = as_run(catalog.model(name, form), runtime, where)
    work = Workload(prompt=prompt, output=256, context=prompt + 256, users=users)
    return estimate(model, where, work, runtime, PlacementStrategy.GPU_RESIDENT, Constants.fitted())


def step_seconds(estimate: Estimate) -> float:
    assert estimate.step is not None, estimate.refusal
    return float(estimate.step.total)


def prompt_seconds(estimate: Estimate) -> float:
    assert estimate.prompt is not None, estimate.refusal
    return float(estimate.prompt.total)


def test_a_product_that_only_reads_by_hand() -> None:
    """3.35 GB at 0.8 of 3.35 TB/s is 1.25 ms."""
    shares = constants(dense_f16_read_share=0.8, dense_f16_flop_share=0.5)
    array = product_seconds(3.35e9, 0.0, gpu("H100 SXM"), "dense_f16", shares)
    assert array == pytest.approx(1.25e-3)


def test_a_product_that_only_computes_by_hand() -> None:
    """989.4 TFLOP at half the peak of as many a second take 2 s; FP8 has twice the peak."""
    shares = constants(
        dense_f16_read_share=0.8,
        dense_f16_flop_share=0.5,
        dense_fp8_read_share=0.8,
        dense_fp8_flop_share=0.5,
    )
    card = gpu("H100 SXM")
    assert product_seconds(0.0, 989.4e12, card, "dense_f16", shares) == pytest.approx(2.0)
    assert product_seconds(0.0, 989.4e12, card, "dense_fp8", shares) == pytest.approx(1.0, rel=1e-3)


def test_at_the_corner_a_product_takes_a_quarter_more() -> None:
    """Both of 1 s: 2 to the power of a third."""
    shares = constants(dense_f16_read_share=1.0, dense_f16_flop_share=1.0)
    card = gpu("H100 SXM")
    both = product_seconds(3.35e12, 989.4e12, card, "dense_f16", shares)
    assert both == pytest.approx(2.0 ** (1 / 3), rel=1e-3)


def test_attention_by_hand() -> None:
    """1 s of reading at half of the bandwidth, and 1 s of work at half of the peak."""
    shares = constants(attention_read_share=0.5, attention_flop_share=0.5)
    question = load(kv=1.675e12, attention_flops=494.7e12)
    assert attention_seconds(question, gpu("H100 SXM"), shares) == pytest.approx(2.0, rel=1e-3)


def test_launches_by_hand() -> None:
    """64 layers of 20 us, 60 that attend of 10 us, 48 of experts of 30 us, 4 of a state of 5 us, 10
    with a latent of 7 us, 2 with an index of 40 us; half of each layer's products are experts.
    """
    shares = constants(
        dense_layer=20e-6,
        attention_layer=10e-6,
        attention_prompt_layer=50e-6,
        experts_layer=30e-6,
        state_layer=5e-6,
        latent_layer=7e-6,
        indexed_layer=40e-6,
        engine_sequence=1e-6,
    )
    kernels = EngineKernels(
        sequences=8.0,
        attention_layers=60.0,
        latent_layers=10.0,
        indexed_layers=2.0,
        products_per_layer=0.5,
    )
    work = load(layers=64, expert_layers=48, state_layers=4)
    array = launch_seconds(work, gpu("H100 SXM"), kernels, shares)
    assert array == pytest.approx((640 + 600 + 1440 + 20 + 70 + 80 + 8) * 1e-6)


@pytest.mark.parametrize(
    ("tokens", "empty"), [(1.0, 15.0), (8.0, 8.0), (32.0, 8.0), (64.0, 16.0), (4096.0, 16.0)]
)
def test_empty_rows_of_an_expert_s_tiles_by_hand(tokens: float, empty: float) -> None:
    """A tile of 16 that one token fills has 15 empty rows; large tiles a quarter of 64."""
    assert float(empty_rows(tokens, 16.0)) == empty


def test_kinds_of_layers() -> None:
    """DeepSeek-V3: MLA in all 61 layers, of which 3 are dense; GLM-5 indexes all. A feed-forward of
    experts leaves half of a layer's products, shared experts beside them or not.
    """
    deepseek, indexed, experts, dense = (
        catalog.model(name, "BF16-hf").per_layer
        for name in ("DeepSeek-V3", "GLM-5", "Qwen3-30B-A3B", "Qwen3-32B")
    )
    assert deepseek.latent.sum() == 61
    assert deepseek.indexed.sum() == 0
    assert indexed.indexed.sum() == len(indexed.latent) == indexed.latent.sum()
    assert set(experts.products.tolist()) == {0.5}
    assert set(dense.products.tolist()) == {1.0}
    assert deepseek.products.tolist() == [1.0] * 3 + [0.5] * 58


def test_a_prompt_unfolds_latents_and_a_token_does_not() -> None:
    """DeepSeek-V3: 128 heads of 576 + 512 values for a token, of 192 + 128 for a prompt."""
    model = catalog.model("DeepSeek-V3", "FP8")
    whole = np.ones(model.layers)
    token, prompt = (
        ForwardPass(tokens=tokens, sequences=1.0, depth=100.0, kv_type="f16")
        for tokens in (1.0, 200.0)
    )
    assert attention_work(model, whole, token) == 61 * 2 * 128 * (576 + 512) * 100
    assert attention_work(model, whole, prompt) == 61 * 2 * 128 * (192 + 128) * 100 * 200


def test_an_index_bounds_what_a_token_attends_to() -> None:
    """GLM-5: 78 layers, latents of 576 values beside index keys of 128, 2,048 tokens chosen."""
    model = catalog.model("GLM-5", "FP8")
    step = ForwardPass(tokens=1.0, sequences=1.0, depth=8192.0, kv_type="f16")
    read = cache_read(model, np.ones(model.layers), step)
    assert read == pytest.approx(78 * 2 * (128 * 8192 + 576 * 2048))
    work = attention_work(model, np.ones(model.layers), step)
    assert work == pytest.approx(78 * 2 * (69632 * 2048 + 32 * 128 * 8192))


def test_heads_of_latent_attention_are_divided_among_gpus() -> None:
    """Each of eight GPUs keeps the whole latent, and computes an eighth of the heads."""
    loads = {}
    for count in (1, 8):
        answer = run("DeepSeek-V3", "FP8", "H200 SXM", count=count)
        assert answer.phases is not None
        (flow,) = (flow for flow in answer.phases.decode.stages[0] if flow.load is not None)
        loads[count] = flow.load
    assert loads[8].kv == pytest.approx(loads[1].kv)
    assert loads[8].attention_flops == pytest.approx(loads[1].attention_flops / 8)


@pytest.mark.parametrize(
    ("name", "form", "kernels"),
    [
        ("Qwen3-32B", "BF16-hf", ("f16", "f16")),
        ("Qwen3-32B", "FP8", ("fp8", "f16")),
        ("Qwen3-30B-A3B", "FP8", ("fp8", "fp8")),
        ("Qwen3-30B-A3B", "NVFP4", ("nvfp4", "nvfp4")),
        ("gpt-oss-120b", "MXFP4-hf", ("f16", "mxfp4")),
        ("Qwen3-30B-A3B", "AWQ", ("int4", "int4")),
    ],
)
def test_formats_by_part(name: str, form: str, kernels: tuple[str, str]) -> None:
    assert engine_formats(catalog.model(name, form)) == kernels


def test_a_card_without_8_bit_floats_multiplies_in_16() -> None:
    assert peak_flops(gpu("A100 SXM 80GB"), "fp8") == 312e12
    assert peak_flops(gpu("H100 SXM"), "fp8") == 1979e12


def test_blackwell_with_fast_memory_is_a_generation_of_its_own() -> None:
    assert generation(gpu("B200")) == "Blackwell HBM"
    assert generation(gpu("RTX PRO 6000 Blackwell")) == "Blackwell"
    assert generation(gpu("RTX 5060 Ti 16GB")) == "Blackwell"


@pytest.mark.parametrize("runtime", [VLLM, SGLANG], ids=lambda runtime: runtime.key)
@pytest.mark.parametrize(
    ("name", "card", "count"),
    [
        ("Llama-3.1-8B", "B200", 1), ("Llama-3.3-70B", "B200", 1), ("Qwen3-30B-A3B", "B200", 1),
        ("Qwen3-235B-A22B", "B200", 4), ("Qwen3-32B", "RTX PRO 6000 Blackwell", 1),
        ("Qwen3-30B-A3B", "RTX PRO 6000 Blackwell", 1), ("Qwen3-8B", "RTX 5090", 1),
    ],
)  # fmt: skip
def test_more_bytes_are_never_faster(runtime: Runtime, name: str, card: str, count: int) -> None:
    for users in (1, 8, 64):
        times = [
            step_seconds(run(name, form, card, users, runtime, count=count))
            for form in ("NVFP4", "FP8", "BF16-hf")
        ]
        assert all(less <= more * 1.0001 for less, more in pairwise(times)), (users, times)


@pytest.mark.parametrize("name", ["Qwen3-0.6B", "Qwen3-8B", "Qwen3-30B-A3B"])
@pytest.mark.parametrize("card", ["H100 SXM", "L40S", "RTX 4090"])
def test_8_bits_are_never_slower_than_16(name: str, card: str) -> None:
    count = 4 if card == "RTX 4090" else 2
    for users in (1, 16):
        less, more = (
            step_seconds(run(name, form, card, users, count=count)) for form in ("FP8", "BF16-hf")
        )
        assert less <= more * 1.0001


def no_worse(gpu: object, other: object) -> bool:
    """A card has at least what another has of everything that counts."""
    peaks = getattr(other, "tensor_flops")  # noqa: B009
    mine = getattr(gpu, "tensor_flops")  # noqa: B009
    return bool(
        np.all(gpu.memory.value >= other.memory.value)  # type: ignore[attr-defined]
        and np.all(gpu.bandwidth.value >= other.bandwidth.value)  # type: ignore[attr-defined]
        and all(mine.get(kind, 0.0) >= peak for kind, peak in peaks.items() if kind != "int8")
    )


HALVED = {("RTX 4090", "A30"), ("RTX 4090 48GB", "A30")}
"""Ada's share of peak in prompts is that of an L40S, whose peak is double that of the same chip in
a GeForce card; 165 TFLOP/s of an A30 are so said to be a fifth faster than those of an RTX 4090."""


def test_a_card_that_is_no_worse_is_never_slower() -> None:
    """Every pair of NVIDIA's cards from Turing on, at one and at 32 users."""
    cards = [
        row.name
        for row in GPUS.rows().values()
        if row.vendor == "NVIDIA"
        and row.family not in ("Pascal", "Volta", "Maxwell", "Rubin")  # no kernels for Rubin yet
        and not row.unified
        and row.memory_gib >= 24
    ]
    known = {name: gpu(name) for name in cards}
    for users in (1, 32):
        times = {}
        for name in cards:
            estimate = run("Llama-3.1-8B", "BF16-hf", name, users, prompt=512)
            if estimate.step is not None and estimate.prompt is not None:
                times[name] = step_seconds(estimate), prompt_seconds(estimate)
        slower = [
            (better, worse)
            for better in times
            for worse in times
            if no_worse(known[better], known[worse])
            and any(a > b * 1.001 for a, b in zip(times[better], times[worse], strict=True))
        ]
        assert not set(slower) - HALVED
