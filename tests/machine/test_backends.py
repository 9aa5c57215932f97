"""Stated backends and threads, in the range, the command and the what-ifs."""

from dataclasses import replace

import numpy as np
import pytest

from advisor.advice.edits.changes import faster_changes
from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.machine.backends import Backend
from advisor.machine.catalog import GPUS
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import IK_LLAMA_CPP, LLAMA_CPP, OLLAMA, VLLM

RESIDENT = PlacementStrategy.GPU_RESIDENT
RAM = PlacementStrategy.CPU_OFFLOAD


def answer(spec: MachineSpec, strategy: PlacementStrategy = RESIDENT) -> Estimate:
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    return estimate(model, machine(spec), Workload(), LLAMA_CPP, strategy, Constants.fitted())


def width(estimate: Estimate) -> float:
    assert estimate.decode is not None
    return float(np.log(estimate.decode.high / estimate.decode.low))


def test_every_maker_of_the_catalogue_has_a_backend_of_its_own_or_vulkan() -> None:
    for vendor in {row.vendor for row in GPUS.rows().values()}:
        assert Backend.usual(vendor) in [*Backend]
        assert Backend.reaches(Backend.usual(vendor), vendor)


@pytest.mark.parametrize(
    ("gpu", "stated", "taken"),
    [
        ("RTX 4090", None, "cuda"),
        ("RTX 4090", "vulkan", "vulkan"),
        ("RX 7900 XTX", None, "rocm"),
        ("RX 7900 XTX", "vulkan", "vulkan"),
        ("Arc B580", None, "sycl"),
        ("Apple M4 Max 40c", None, "metal"),
        ("RTX 4090", "cpu", "cpu"),
        ("none", None, "cpu"),
    ],
)
def test_the_backend_is_the_stated_one_else_that_of_the_cards_maker(
    gpu: str, stated: str | None, taken: str
) -> None:
    assert machine(MachineSpec(gpu=gpu, backend=stated)).interface == taken


@pytest.mark.parametrize(
    ("gpu", "stated", "words"),
    [
        ("RTX 4090", "opencl", "allowed is cuda, rocm, sycl, metal, vulkan, cpu, unknown"),
        ("RTX 4090", "rocm", "drives no card of NVIDIA; allowed here is cuda, vulkan"),
        ("RX 7900 XTX + RTX 4090", "cuda", "drives no card of AMD"),
    ],
)
def test_a_backend_that_cannot_be_is_refused(gpu: str, stated: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        machine(MachineSpec(gpu=gpu, backend=stated))


def test_another_makers_card_in_its_place_has_its_own_backend() -> None:
    amd = machine(MachineSpec(gpu="RX 7900 XTX", backend="rocm"))
    nvidia = replace(amd, gpus=machine(MachineSpec(gpu="RTX 4090")).gpus)
    assert nvidia.interface == "cuda"


def test_without_the_gpu_the_processor_computes() -> None:
    there = machine(MachineSpec(gpu="RTX 4090", backend="cpu"))
    assert not there.gpus
    assert "-dev none" in answer(MachineSpec(gpu="RTX 4090", backend="cpu"), RAM).command


def test_a_backend_without_a_fitted_constant_has_the_widest_range() -> None:
    widths = {
        name: width(answer(MachineSpec(gpu="RX 7900 XTX", backend=name)))
        for name in ("rocm", "vulkan", "unknown")
    }
    assert widths["unknown"] >= 0.9 * max(widths.values())
    assert widths["unknown"] > widths["rocm"]


@pytest.mark.parametrize(
    ("spec", "option"),
    [
        (MachineSpec(gpu="RX 7900 XTX", backend="vulkan"), "-dev Vulkan0"),
        (MachineSpec(gpu="RX 7900 XTX", gpu_count=2, backend="rocm"), "-dev ROCm0,ROCm1"),
        (MachineSpec(gpu="Arc B580", backend="sycl"), "-dev SYCL0"),
        (MachineSpec(gpu="RTX 4090", threads=6), "-t 6"),
    ],
)
def test_stated_values_are_in_the_command(spec: MachineSpec, option: str) -> None:
    assert option in answer(spec).command
    bare = replace(spec, backend=None, threads=None)
    assert option not in answer(bare).command


def test_threads_bind_the_fork_too() -> None:
    where = machine(MachineSpec(gpu="none", cpu="Ryzen 9 7950X", threads=8))
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    run = estimate(model, where, Workload(), IK_LLAMA_CPP, RAM, Constants.fitted())
    assert "-t 8" in run.command


def test_fewer_threads_are_slower_and_one_on_every_hyper_thread_a_little_slower() -> None:
    speeds = {}
    for threads in (1, 4, 16, 32):
        run = answer(MachineSpec(gpu="none", cpu="Ryzen 9 7950X", threads=threads), RAM)
        assert run.decode is not None
        assert run.prefill is not None
        speeds[threads] = float(run.decode.value), float(run.prefill.value)
    assert speeds[1] < speeds[4]
    # 4.49 of 4.81 tokens/s on an EPYC 7773X with a thread on every hyper-thread (lc0515, lc0518)
    assert speeds[32][0] / speeds[16][0] == pytest.approx(4.49 / 4.81, abs=0.01)
    assert speeds[1][1] * 3 < speeds[4][1] < speeds[16][1] / 2


def test_all_cores_and_another_backend_are_offered_where_they_gain() -> None:
    slow = MachineSpec(gpu="none", cpu="Ryzen 9 7950X", threads=1)
    run = answer(slow, RAM)
    changes = [each.words for each in faster_changes(run.model, machine(slow), Workload(), run)]
    assert any(change.startswith("16 threads, one on each core") for change in changes)
    there = {}
    for name in ("rocm", "vulkan"):
        spec = MachineSpec(gpu="Radeon 8060S", backend=name)
        run = answer(spec)
        assert run.decode is not None
        there[name] = float(run.decode.value)
        offers = faster_changes(run.model, machine(spec), Workload(), run)
        gains = {each.words: each.gain for each in offers if " in place of " in each.words}
        for change, gain in gains.items():
            if change.startswith("Vulkan"):
                other = "vulkan"
            else:
                other = "rocm"
            assert gain > 1.02
            assert other != name
    assert len(set(there.values())) == 2


def test_accelerators_without_a_backend_are_refused_and_left_to_vllm() -> None:
    """Gaudi: llama.cpp's ggml/src has no backend for it, vLLM a plugin."""
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    gaudi = machine(MachineSpec(gpu="Gaudi 3"))
    for runtime in (LLAMA_CPP, IK_LLAMA_CPP, OLLAMA):
        refused = estimate(model, gaudi, Workload(), runtime, RESIDENT, Constants.fitted())
        assert "Gaudi 3" in refused.refusal
    answered = estimate(model, gaudi, Workload(), VLLM, RESIDENT, Constants.fitted())
    assert answered.decode is not None
    assert answered.decode.value > 0


@pytest.mark.parametrize(
    ("gpu", "words"),
    [("RX 7900 XTX", "ROCm is assumed; for Vulkan, state the backend vulkan"),
     ("Arc B580", "SYCL is assumed; for Vulkan, state the backend vulkan")],
)  # fmt: skip
def test_a_backend_that_is_not_stated_is_said(gpu: str, words: str) -> None:
    assert any(words in note for note in machine(MachineSpec(gpu=gpu)).notes)
    stated = machine(MachineSpec(gpu=gpu, backend="vulkan"))
    assert not any("is assumed; for" in note for note in stated.notes)


@pytest.mark.parametrize("gpu", ["RTX 4090", "Apple M4 Max 40c", "none"])
def test_cards_with_a_single_usual_backend_need_no_note(gpu: str) -> None:
    assert not any("is assumed; for" in note for note in machine(MachineSpec(gpu=gpu)).notes)
