"""Operating system, driver, build and memory nodes: what is typed, refused and told."""

from dataclasses import replace

import pytest

from advisor.catalog.csv_tables import texts
from advisor.errors import InputError
from advisor.machine.backends import Build, SoftwareEffect
from advisor.machine.from_spec import machine
from advisor.machine.identify import machine_by_name
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.machine.stacked import KindParts, stacked


def notes(machine: Machine) -> str:
    return " ".join(machine.notes)


@pytest.mark.parametrize(
    ("gpu", "system", "backend"),
    [
        ("RTX 4090", "windows", "cuda"), ("RTX 4090", "linux", "cuda"),
        ("RX 7900 XTX", "windows", "vulkan"), ("RX 7900 XTX", "linux", "rocm"),
        ("Arc B580", "Windows", "vulkan"), ("Arc B580", "linux", "sycl"),
        ("Apple M4 Max 40c", "macOS", "metal"),
    ],
)  # fmt: skip
def test_the_usual_backend_is_that_of_the_system(gpu: str, system: str, backend: str) -> None:
    assert machine(MachineSpec(gpu=gpu, system=system)).interface == backend


@pytest.mark.parametrize(
    ("name", "system", "backend"),
    [
        ("ASUS ROG Ally X", "windows", "vulkan"),
        ("Framework Desktop 128GB", "windows", "vulkan"),
        ("tinybox red", "linux", "rocm"),
        ("Mac Studio M3 Ultra 512GB", "macos", "metal"),
        ("DGX Spark", "linux", "cuda"),
        ("ASUS Ascent GX10", "linux", "cuda"),
    ],
)
def test_a_product_has_the_system_that_it_is_sold_with(
    name: str, system: str, backend: str
) -> None:
    there = machine_by_name(name)
    assert (there.system, there.interface) == (system, backend)
    on_linux = machine_by_name("ASUS ROG Ally X", MachineSpec(system="linux"))
    assert on_linux.interface == "rocm"


def test_an_assumed_system_is_said_and_a_stated_one_is_not_called_assumed() -> None:
    words = "Linux and, as usual there, llama.cpp with SYCL is assumed; for Vulkan, state"
    assert words in notes(machine(MachineSpec(gpu="Arc B580")))
    stated = notes(machine(MachineSpec(gpu="Arc B580", system="windows")))
    assert "On Windows, llama.cpp with Vulkan is assumed; for SYCL, state" in stated


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"system": "beos"}, "'beos'; allowed is linux, windows, macos"),
        ({"gpu": "RTX 4090", "system": "macos"}, "no backend for cards of NVIDIA on macOS"),
        ({"gpu": "Apple M4 Max 40c", "system": "windows"}, "cards of Apple on Windows"),
        ({"gpu": "Arc B580", "driver": "nvidia 575"}, "'nvidia 575'; allowed is mesa or rocm"),
        ({"gpu": "Arc B580", "driver": "mesa"}, "with a version"),
        ({"gpu": "Arc B580", "driver": "amdvlk"}, "the machine has Intel, which it does not"),
        ({"gpu": "none", "driver": "mesa 24.2"}, "the machine has no GPU"),
        ({"gpu": "RTX 4090", "driver": "rocm 6.4"}, "the machine has NVIDIA"),
        ({"gpu": "Arc B580", "driver": "mesa 24.2", "system": "windows"}, "cards on Linux; the"),
        ({"gpu": "Arc B580", "driver": "mesa 24.2", "backend": "sycl"}, "the backend is sycl"),
        ({"build": "yesterday"}, "'yesterday'; allowed is a number"),
        ({"build": "2025-13"}, "or a month"),
        ({"numa": "both"}, "'both'; allowed is none, distribute, isolate, numactl"),
    ],
)  # fmt: skip
def test_software_that_cannot_be_is_refused(spec: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        machine(MachineSpec(**spec))  # type: ignore[arg-type]


def test_a_driver_says_its_backend() -> None:
    assert machine(MachineSpec(gpu="Arc B580", driver="ANV 24.2")).interface == "vulkan"
    assert machine(MachineSpec(gpu="RX 6800", driver="RADV 25.0")).interface == "vulkan"
    assert machine(MachineSpec(gpu="RX 6800", driver="ROCm 6.4.4")).interface == "rocm"


def test_a_driver_is_told_apart_only_where_somebody_compared_it() -> None:
    old = notes(machine(MachineSpec(gpu="Arc A770", driver="mesa 24.2.8")))
    assert "tokens are taken at 0.36 and prompts at 0.36" in old
    assert "2 published comparisons" in old
    new = notes(machine(MachineSpec(gpu="Arc A770", driver="mesa 26.2")))
    assert "Mesa 26.2 means llama.cpp with Vulkan; no published speed tells it" in new
    alike = notes(machine(MachineSpec(gpu="Radeon 8060S", driver="rocm 6.4.4")))
    assert "taken as fast as a driver of today" in alike
    older = notes(machine(MachineSpec(gpu="RX 6800", driver="rocm 5.7")))
    assert "ROCm 5.7 means llama.cpp with ROCm; no published speed" in older


def test_a_driver_of_today_is_said_to_be_assumed_where_older_ones_are_slower() -> None:
    open_vulkan = MachineSpec(gpu="Arc A770", backend="vulkan")
    assert "A graphics driver of today is assumed; with Mesa before 25.0" in notes(
        machine(open_vulkan)
    )
    for other in (
        replace(open_vulkan, system="windows"),
        replace(open_vulkan, backend="sycl"),
        MachineSpec(gpu="RTX 4090"),
    ):
        assert "driver of today is assumed" not in notes(machine(other))


@pytest.mark.parametrize(
    ("typed", "month"),
    [
        # b6715 lies between b5589 (2025-06-04) and b7209 (2025-11-30): 1126 of 1620 builds, 124 of
        # 179 days, so 6 October 2025
        ("b6715", "2025-10"), ("6715", "2025-10"), ("2025-10", "2025-10"), ("b7209", "2025-11"),
        ("b1", "2024-07"), ("b99999", "2026-09"),
    ],
)  # fmt: skip
def test_builds_by_number_or_month(typed: str, month: str) -> None:
    assert Build.named(typed).month == month


@pytest.mark.parametrize(
    ("month", "backend", "kernels"),
    [
        ("", "rocm", ""), ("2024-09", "cuda", "2024"), ("2024-10", "cuda", "2025"),
        ("2025-11", "rocm", "2025"), ("2025-12", "rocm", ""), ("2025-10", "vulkan", "2025"),
        ("2025-11", "vulkan", ""), ("2025-10", "cuda", "2025"), ("2025-11", "cuda", ""),
        ("2025-10", "metal", "2025"),
    ],
)  # fmt: skip
def test_kernels_by_month_and_backend(month: str, backend: str, kernels: str) -> None:
    assert Build(month).kernels(backend) == kernels


def test_dated_builds_rise_with_their_days() -> None:
    dated = texts("runtimes/llama_cpp_builds.csv", "number", "date")
    assert [*map(int, dated)] == sorted({int(number) for number in dated})
    assert [*dated.values()] == sorted(set(dated.values()))


def test_effects_are_within_what_physics_allows_and_have_a_source() -> None:
    for row in SoftwareEffect.rows():
        assert row.option in ("driver", "build", "kernel", "experts", "numa", "threads")
        # a fixed time falls farther than a rate: some 40 operations over a state become one
        assert (0.04 if row.option == "build" else 0.2) <= row.token <= 2.5
        assert 0.2 <= row.prompt <= 1.5
        assert 0.0 < row.doubt <= 0.6
        assert row.sources >= 1
        assert row.source.startswith("https://")
        assert row.note


def test_machines_with_other_software_are_not_stacked_as_one() -> None:
    plain = MachineSpec(gpu="RX 7900 XTX")
    kinds = [
        KindParts.of(machine(replace(plain, **change))).kind(kernels=False, resident=False)
        for change in (
            {},
            {"driver": "amdvlk"},
            {"build": "2025-10"},
            {"backend": "unknown"},
        )
    ]
    assert len(set(kinds)) == len(kinds)
    nvidia = machine(MachineSpec(gpu="RTX 4090", system="windows"))
    windows = machine(replace(plain, system="windows"))
    linux = machine(plain)
    # engines for servers refuse Windows
    assert (
        KindParts.of(nvidia).kind(kernels=False, resident=False)
        == KindParts.of(windows).kind(kernels=False, resident=False)
        != KindParts.of(linux).kind(kernels=False, resident=False)
    )
    assert stacked([nvidia, windows]).interfaces == ("cuda", "vulkan")
    assert stacked([nvidia, windows]).interface == ""
    assert stacked([windows, windows]).interfaces == "vulkan"


def test_memory_nodes_are_said_with_what_they_hold() -> None:
    two = MachineSpec(gpu="none", cpu="2x EPYC 9654", ram_gb=256)
    assert "its 128.0 GB hold the model" in notes(machine(replace(two, numa="isolate")))
    assert "1.55 times as fast (3 published" in notes(machine(replace(two, numa="distribute")))
    alone = notes(machine(MachineSpec(gpu="none", cpu="EPYC 9654", numa="distribute")))
    assert "changes nothing here" in alone
    assert not machine(replace(two, numa="none")).host.numa
