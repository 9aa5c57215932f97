"""Memory of named GPUs: what a name leaves open, and virtual machines' parts of a card."""

import pytest

from advisor.machine.catalog import find_gpu, gpu_named
from advisor.machine.from_catalog import NO_SCREEN, drives_screens
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.units import GIB


def test_a_card_sold_with_less_memory_says_which_size_is_assumed() -> None:
    notes = gpu_named("RTX 4060 Ti").notes
    assert notes == ("RTX 4060 Ti is sold with 8 or 16 GB: 16 GB is assumed.",)


def test_a_stated_size_or_the_smallest_needs_no_note() -> None:
    assert not gpu_named("RTX 4060 Ti 8GB").notes
    assert not gpu_named("RTX 4090").notes  # 48 GB ones exist, changed by others


def test_a_virtual_machines_part_of_a_card_has_its_own_memory() -> None:
    spec = MachineSpec(gpu="NVIDIA A10-8Q", cpu="EPYC 7763", ram_gb=64)
    assert machine(spec).gpus[0].memory.value == 8 * GIB
    assert gpu_named("A10-8Q").notes == ("A virtual machine's 8 GB of the memory of A10.",)


def test_a_typed_size_comes_before_the_part() -> None:
    spec = MachineSpec(gpu="NVIDIA A10-8Q", vram_gb=6, cpu="EPYC 7763", ram_gb=64)
    assert machine(spec).gpus[0].memory.value == 6 * GIB


@pytest.mark.parametrize("name", ["RTX 4090", "RX 7900 XTX", "Arc B580", "RTX A6000", "GTX 1080"])
def test_a_card_of_a_desktop_says_that_no_screen_is_counted(name: str) -> None:
    assert drives_screens(find_gpu(name))
    assert machine(MachineSpec(gpu=name)).gpus[0].memory.source.endswith(NO_SCREEN)
    assert NO_SCREEN not in machine(MachineSpec(gpu=name, vram_gb=8)).gpus[0].memory.source


@pytest.mark.parametrize(
    "name",
    ["H100", "T4", "L40S", "RTX 4090 Laptop", "MI300X", "Apple M4 Max", "Radeon 780M", "RX 7900M"],
)
def test_a_card_without_a_screen_says_nothing(name: str) -> None:
    assert not drives_screens(find_gpu(name))
    assert NO_SCREEN not in machine(MachineSpec(gpu=name)).gpus[0].memory.source
