"""Where physics and published experience agree: whole estimates against hand-worked figures.

The 70B model in Q4_K_M is a file of 39.59 GiB = 42.5 GB (llama.cpp's own listing for Llama 3 70B);
without the embedding, which is gathered, a token reads 41.9 GB: 80 layers of 0.517 GB and a head
of 0.86 GB in Q6_K.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes import ACCELERATE, LLAMA_CPP, VLLM
from advisor.units import Quantity

SHORT = Workload(context=4096, prompt=128, output=128)


def run(
    model: Model,
    where: Machine,
    runtime: Runtime,
    strategy: PlacementStrategy,
    settings: Settings | None = None,
    work: Workload = SHORT,
) -> Estimate:
    return estimate(model, where, work, runtime, strategy, Constants.fitted(), settings)


def speed(estimate: Estimate) -> float:
    assert not estimate.refusal, estimate.refusal
    assert estimate.decode is not None
    return float(estimate.decode.value)


@pytest.fixture(scope="module")
def llama_70b() -> Model:
    return catalog.model("Llama-3.1-70B", "Q4_K_M")


def server(ram_gbs: float) -> Machine:
    return machine(
        MachineSpec(
            gpu="RTX 3090",
            cpu="Server 8-channel DDR4-3200 (typical)",
            ram_gb=512,
            ram_gbs=ram_gbs,
            pcie_gbs=24,
            disk_gbs=7,
        )
    )


@pytest.mark.parametrize("ram_gbs", [80.0, 100.0])
def test_half_of_70b_in_the_ram_of_a_server_gives_3_to_6_tokens_in_place(
    llama_70b: Model, ram_gbs: float
) -> None:
    # 40 layers and the head: 21.5 GB / 80 GB/s = 0.27 s, / 100 GB/s = 0.22 s, beside 20.7 GB in
    # VRAM at 936 GB/s = 0.022 s: at most 3.4 and 4.2 tokens/s, less what RAM and kernels lose.
    estimate = run(
        llama_70b,
        server(ram_gbs),
        LLAMA_CPP,
        PlacementStrategy.CPU_OFFLOAD,
        Settings(gpu_layers=40.0),
    )
    bound = 1 / (21.5 / ram_gbs + 20.7 / 936)
    assert 0.75 * bound < speed(estimate) < bound
    assert 2.9 < speed(estimate) < 6.0
    assert bool(estimate.fits)


def test_half_of_70b_streamed_over_a_pinned_link_gives_about_one_token() -> None:
    # 20.7 GB over 24 GB/s = 0.86 s, hidden behind nothing: the GPU needs 0.05 s.
    model = catalog.model("Llama-3.1-70B", "AWQ")
    estimate = run(
        model, server(90), VLLM, PlacementStrategy.CPU_OFFLOAD, Settings(gpu_layers=40.0)
    )
    assert 0.8 < speed(estimate) < 1.25
    assert estimate.bottleneck == "the link to the GPU"
    assert estimate.step is not None
    assert float(estimate.step.hidden) > 0.02, "computing beside the copy is hidden, not free"


def test_half_of_70b_moved_serially_from_pageable_memory_gives_about_a_third() -> None:
    # Accelerate streamed 4.65 GB/s on a T4 and 5.9 GB/s on a Titan RTX over PCIe 3; over PCIe 4
    # some 7 to 8: 20.7 GB / 7.5 GB/s = 2.8 s.
    model = catalog.model("Llama-3.1-70B", "AWQ")
    estimate = run(
        model, server(90), ACCELERATE, PlacementStrategy.CPU_OFFLOAD, Settings(gpu_layers=40.0)
    )
    assert 0.25 < speed(estimate) < 0.45


def test_accelerate_streams_opt_30b_as_fast_as_published() -> None:
    # FlexGen paper (arXiv 2303.06865): all of OPT-30B on the CPU of a T4 server, batch 8:
    # 0.62 tokens/s over the batch; 60 GB x 0.62 / 8 = 4.65 GB/s.
    model = catalog.model("OPT-30B", "BF16")
    where = machine(MachineSpec(gpu="T4", ram_gb=208, disk_gbs=2))
    work = Workload(context=544, prompt=512, output=32, users=8)
    estimate = run(
        model, where, ACCELERATE, PlacementStrategy.CPU_OFFLOAD, Settings(gpu_layers=0.0), work
    )
    end_to_end = 8 * 32 / float(estimate.reply)
    assert end_to_end == pytest.approx(0.62, rel=0.25)


def test_a_desktop_with_20_layers_on_a_3090_gives_1_5_to_3_5(llama_70b: Model) -> None:
    # 60 layers and the head: 31.9 GB from DDR5-5600, 89.6 GB/s in theory, 55 to 80 sustained:
    # 0.40 to 0.58 s; 10.3 GB at 936 GB/s: 0.011 s.
    where = machine(
        MachineSpec(gpu="RTX 3090", cpu="Desktop DDR5-5600 dual-channel (typical)", ram_gb=64)
    )
    estimate = run(
        llama_70b, where, LLAMA_CPP, PlacementStrategy.CPU_OFFLOAD, Settings(gpu_layers=20.0)
    )
    assert 1.5 < speed(estimate) < 2.5


@pytest.mark.parametrize(
    ("gpu", "low", "high"),
    [
        ("RTX A6000", 12, 17),  # llama.cpp lists 13.9 to 15.3; 41.9 GB at 768 GB/s = 18.3 at most
        ("RTX 6000 Ada", 15, 21),  # 41.9 GB at 960 GB/s = 22.9 at most
    ],
)
def test_70b_resident_on_48_gb_cards(llama_70b: Model, gpu: str, low: float, high: float) -> None:
    where = machine(MachineSpec(gpu=gpu))
    estimate = run(llama_70b, where, LLAMA_CPP, PlacementStrategy.GPU_RESIDENT)
    assert low < speed(estimate) < high
    assert bool(estimate.fits)


def test_70b_from_one_nvme_drive_gives_under_half_a_token(llama_70b: Model) -> None:
    # Half of it is 21.5 GB: 3.1 s at 7 GB/s even were faults free.
    estimate = run(
        llama_70b,
        server(90),
        LLAMA_CPP,
        PlacementStrategy.NVME_OFFLOAD,
        Settings(gpu_layers=40.0, page_cache=0.0),
    )
    assert speed(estimate) < 0.33
    assert estimate.bottleneck == "the drive"


def test_readme_shows_these_figures(llama_70b: Model) -> None:
    awq = catalog.model("Llama-3.1-70B", "AWQ")
    half = Settings(gpu_layers=40.0)
    in_ram = PlacementStrategy.CPU_OFFLOAD
    paged = replace(half, page_cache=0.0)
    desktop = machine(
        MachineSpec(gpu="RTX 3090", cpu="Desktop DDR5-5600 dual-channel (typical)", ram_gb=64)
    )
    shown = {
        "in an RTX A6000": [
            (
                machine(MachineSpec(gpu="RTX A6000")),
                llama_70b,
                LLAMA_CPP,
                PlacementStrategy.GPU_RESIDENT,
                None,
            )
        ],
        "in an RTX 6000 Ada": [
            (
                machine(MachineSpec(gpu="RTX 6000 Ada")),
                llama_70b,
                LLAMA_CPP,
                PlacementStrategy.GPU_RESIDENT,
                None,
            )
        ],
        "in the RAM of an 80 to 100": [
            (server(rate), llama_70b, LLAMA_CPP, in_ram, half) for rate in (80, 100)
        ],
        "half streamed": [(server(90), awq, VLLM, in_ram, half)],
        "20 of 80 layers": [(desktop, llama_70b, LLAMA_CPP, in_ram, Settings(gpu_layers=20.0))],
        "read from one NVMe": [
            (server(90), llama_70b, LLAMA_CPP, PlacementStrategy.NVME_OFFLOAD, paged)
        ],
    }
    lines = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8").splitlines()
    for words, cases in shown.items():
        (line,) = (line for line in lines if line.startswith("|") and words in line)
        figures = (
            f"{speed(run(model, *others)):.2g}"
            for where, model, *rest in cases
            for others in [(where, *rest)]
        )
        assert line.endswith(f"| {' to '.join(figures)} |"), words


def test_70b_does_not_fit_a_3090_and_says_what_is_missing(llama_70b: Model) -> None:
    # 39.6 GiB less 0.55 of embedding, 1.25 of cache (4096 x 80 x 2 x 8 x 128 x 2 bytes), buffers:
    # about 41 GiB into 24.
    estimate = run(llama_70b, server(90), LLAMA_CPP, PlacementStrategy.GPU_RESIDENT)
    assert not bool(estimate.fits)
    assert 16.5 * 2**30 < float(estimate.missing) < 18.5 * 2**30


def test_half_of_70b_fits_a_3090(llama_70b: Model) -> None:
    # 24 GiB less 1 of margin, 0.4 of context and 0.4 of buffer: 22.2 GiB; a layer takes 0.48 GiB
    # and 32 MiB of cache at 8192 tokens: 43.
    estimate = run(
        llama_70b, server(90), LLAMA_CPP, PlacementStrategy.CPU_OFFLOAD, work=Workload(context=8192)
    )
    assert estimate.placement is not None
    assert 40 <= float(estimate.placement.gpu_layers) <= 45


def test_llama_2_7b_with_its_whole_context_leaves_room_for_a_second_user_in_10_gb() -> None:
    # 3.8 GiB of weights, 2 GiB of cache a user (4096 x 32 x 2 x 4096 x 2 bytes): 7.8 of 10 GiB.
    model = catalog.model("Llama-2-7B", "Q4_K_M")
    where = machine(MachineSpec(gpu="RTX 3080 10GB"))
    two = Workload(context=4096, users=2)
    three = Workload(context=4096, users=3)
    assert bool(run(model, where, LLAMA_CPP, PlacementStrategy.GPU_RESIDENT, work=two).fits)
    assert not bool(run(model, where, LLAMA_CPP, PlacementStrategy.GPU_RESIDENT, work=three).fits)


def test_a_100b_model_runs_in_512_gb_of_ram() -> None:
    # 123B parameters in Q4_K_M are about 73 GB; 12 channels of DDR5-4800 read 461 GB/s in theory.
    model = catalog.model("Mistral-Large-2407", "Q4_K_M")
    where = machine(
        MachineSpec(gpu="none", cpu="Server 12-channel DDR5-4800 (typical)", ram_gb=512)
    )
    estimate = run(model, where, LLAMA_CPP, PlacementStrategy.CPU_OFFLOAD)
    assert bool(estimate.fits)
    assert 2.0 < speed(estimate) < 461 / 70


def test_a_drive_read_by_faults_as_llama_cpp_was_measured() -> None:
    # Measured with llama.cpp on a virtual drive of 1.1 GB/s, 1.5 through the page cache: a 4.1 GB
    # file under a memory cap of 2.7 GB, 0.47 tokens/s, no repacking. Cache 2.7 GB of 4.1. How far
    # it read ahead is not stated: taken are the 8 MiB of another virtual machine like it (own.csv).
    model = catalog.model("Llama-2-7B", "Q4_K_M")
    where = machine(
        MachineSpec(gpu="none", cpu="EPYC 9355", cores=2, ram_gbs=38.6, disk_gbs=1.1, ram_gb=24)
    )
    assert where.disk is not None
    ahead = Quantity.given(8.0 * 2**20)
    where = replace(where, disk=replace(where.disk, mapped=Quantity.given(1.5e9), read_ahead=ahead))
    settings = Settings(page_cache=2.7 / 4.1 * model.file_bytes)
    estimate = run(model, where, LLAMA_CPP, PlacementStrategy.NVME_OFFLOAD, settings)
    assert 0.47 / 1.5 < speed(estimate) < 0.47 * 1.5


def test_all_five_routes_carry_bytes(llama_70b: Model) -> None:
    bf16 = catalog.model("Llama-3.1-70B", "BF16")
    result = {
        *run(llama_70b, server(90), LLAMA_CPP, PlacementStrategy.CPU_OFFLOAD).routes,
        *run(llama_70b, server(90), LLAMA_CPP, PlacementStrategy.NVME_OFFLOAD).routes,
        *run(bf16, server(90), VLLM, PlacementStrategy.CPU_OFFLOAD).routes,
        *run(bf16, server(90), ACCELERATE, PlacementStrategy.NVME_OFFLOAD).routes,
    }
    assert result == set(Route)


def test_time_grows_linearly_with_layers_on_the_cpu(llama_70b: Model) -> None:
    layers = np.arange(0.0, 80.0, 10.0)
    estimate = run(
        llama_70b, server(90), LLAMA_CPP, PlacementStrategy.CPU_OFFLOAD, Settings(gpu_layers=layers)
    )
    assert estimate.step is not None
    steps = np.diff(np.asarray(estimate.step.total))[1:]
    assert np.allclose(steps, steps[0], rtol=0.1)
