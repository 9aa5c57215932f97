"""Machine from its name, with typed values on top."""

import pytest

from advisor.errors import UnknownName
from advisor.machine.from_name import machine_by_name
from advisor.machine.spec import MachineSpec
from advisor.units import GIB

MAC = "MacBook Pro M3 Max"
SIZES = "sold with 36, 48, 64, 96 or 128 GB"
"""Apple's technical specifications of the MacBook Pro with M3 Max, 2023-10-30."""


def test_assumed_memory_is_stated_with_the_sizes_that_are_sold() -> None:
    machine = machine_by_name(MAC)
    assert any(note.startswith("Taken with ") and SIZES in note for note in machine.notes)


def test_typed_memory_replaces_the_assumption_and_its_note() -> None:
    machine = machine_by_name(MAC, MachineSpec(ram_gb=64))
    assert float(machine.host.memory.value) == 64 * GIB
    assert not any(SIZES in note for note in machine.notes)
    assert any("GPU cores" in note for note in machine.notes)


def test_a_typed_value_besides_memory_leaves_its_note() -> None:
    machine = machine_by_name(MAC, MachineSpec(ram_gbs=250))
    assert float(machine.host.bandwidth.value) == 250e9
    assert any(SIZES in note for note in machine.notes)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownName, match="my toaster"):
        machine_by_name("my toaster")
