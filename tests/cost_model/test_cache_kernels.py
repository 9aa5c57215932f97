"""Types of the cache that a backend has no fast kernel for."""

import pytest

from advisor.catalog.constants import Constants
from advisor.cost_model.additions import MIXED, cache_kernels, further_seconds, slow_kernel
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine import backends
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.model.model import Model
from advisor.runtimes import LLAMA_CPP, named

GPUS = {"cuda": "RTX 4090", "rocm": "Radeon AI PRO R9700", "sycl": "Arc Pro B70"}


def run(backend: str, kv_type: str, prompt: int, form: str = "Q4_0", build: str = "") -> Estimate:
    model = resolve.from_name("Qwen3.8-27B", form).model
    where = machine(MachineSpec(gpu=GPUS[backend], ram_gb=64, backend=backend, build=build or None))
    work = Workload(prompt=prompt, output=128, context=prompt + 1024, kv_type=kv_type)
    strategy = PlacementStrategy.GPU_RESIDENT
    return estimate(model, where, work, LLAMA_CPP, strategy, Constants.fitted())


def test_rows_name_backends_types_and_runtimes() -> None:
    names = {runtime.name for runtime in named()}
    for row in cache_kernels():
        assert row.backend in [*backends.Backend]
        assert set(row.types.split()) <= {*Model.KV_BYTES_PER_VALUE, MIXED}
        assert names & set(row.runtimes.split(";"))
        assert min(row.cached, row.drafted, row.prompt) >= 1
        assert "{type}" in row.words


@pytest.mark.parametrize("backend", ["rocm", "sycl"])
@pytest.mark.parametrize("kv_type", ["q8_0", "q4_0", "q4_1", "q5_1", "iq4_nl"])
@pytest.mark.parametrize("prompt", [4096, 32_768])
def test_a_packed_cache_is_no_faster_than_a_plain_one(
    backend: str, kv_type: str, prompt: int
) -> None:
    packed = run(backend, kv_type, prompt)
    plain = run(backend, "f16", prompt)
    assert float(packed.decode_tps) < float(plain.decode_tps)  # type: ignore[arg-type]
    assert kv_type in packed.format_note
    assert plain.format_note == ""


@pytest.mark.parametrize(
    ("kv_type", "slow"),
    [
        ("f16", False),
        ("q8_0", False),
        ("q4_0", False),
        ("q5_0", True),
        ("iq4_nl", True),
        ("q8_0/q4_0", True),
        ("f16/q8_0", True),
    ],
)
def test_cuda_has_kernels_for_the_usual_types(kv_type: str, slow: bool) -> None:
    # llama.cpp, ggml/src/ggml-cuda/fattn.cu, without GGML_CUDA_FA_ALL_QUANTS
    assert (slow_kernel("llama.cpp", "cuda", Workload(kv_type=kv_type)) is not None) == slow


@pytest.mark.parametrize(
    ("backend", "kv_type", "form", "prompt", "measured"),
    [
        ("rocm", "q4_1", "IQ4_XS", 65_536, 14.91),  # llama.cpp issue 27796, a card of 640 GB/s
        ("rocm", "q4_1", "IQ4_XS", 32_768, 20.55),
        ("sycl", "q4_0", "Q4_0", 65_536, 14.09),  # llama.cpp issue 26581
    ],
)
def test_speeds_at_depth_are_near_those_that_were_published(
    backend: str, kv_type: str, form: str, prompt: int, measured: float
) -> None:
    speed = run(backend, kv_type, prompt, form).decode_tps
    assert float(speed) == pytest.approx(measured, rel=0.2)  # type: ignore[arg-type]


def test_prompts_without_a_kernel_are_as_slow_as_measured() -> None:
    # llama.cpp issue 28455: 1,511 tokens/s with q8_0, 197 with q5_1
    fast = run("cuda", "q8_0", 512, build="2026-08").prefill
    slow = run("cuda", "q5_1", 512, build="2026-08").prefill
    assert fast is not None
    assert slow is not None
    assert float(fast.value / slow.value) == pytest.approx(1511 / 197, rel=0.05)


@pytest.mark.parametrize("kv_type", ["q5_1", "q8_0/q4_0"])
def test_prompts_of_todays_builds_stay_on_the_card(kv_type: str) -> None:
    # llama.cpp, pull request 28079 of September 2026: K and V are converted to f16 on the card
    fast = run("cuda", "q8_0", 512).prefill
    slow = run("cuda", kv_type, 512).prefill
    assert fast is not None
    assert slow is not None
    assert float(slow.value) == pytest.approx(float(fast.value), rel=0.02)


def test_an_unpacked_cache_is_written_and_read_in_16_bits() -> None:
    # q8_0/q4_0 has (34 + 18) / 2 / 32 = 0.8125 bytes a value, and 2 more are written and 2 read:
    # (0.8125 + 4) / 0.8125 = 5.9 times the time of reading it alone
    model = resolve.from_name("Qwen3-8B", "Q4_0").model
    where = machine(MachineSpec(gpu="RTX 4090", ram_gb=64))
    constants = Constants.fitted()
    work = Workload(prompt=8192, output=2, context=16_384, kv_type="q8_0/q4_0")
    row = slow_kernel("llama.cpp", "cuda", work)
    assert row is not None
    gpu = where.gpus[0]
    rate = constants.value("gpu_kv_share", gpu.lookup_family) * gpu.bandwidth.value
    read = 36 * 2 * 8 * 128 * 0.8125 * float(work.decode_depth) / float(rate)
    further = further_seconds(row, model, where, work, constants)
    assert float(further) == pytest.approx(read * (5.9231 - 1), rel=1e-3)
