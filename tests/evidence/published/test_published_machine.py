"""Machines of published rows: processors named with a machine around them."""

import pytest

from advisor.evidence.published.machine import stated_machine
from advisor.evidence.published.row import PublishedRow
from advisor.machine.spec import MachineSpec


def machine(**cells: str) -> MachineSpec:
    return stated_machine(PublishedRow({"category": "cpu", **cells}))


@pytest.mark.parametrize(
    "written",
    ["c2-standard-16", "GCP c2-standard-16 vCPU (64 GB RAM)", "GCP instance: c2-standard-16"],
)
def test_a_rented_machine_has_its_processor_and_half_a_core_per_thread(written: str) -> None:
    spec = machine(cpu=written)
    assert spec.cpu == "Xeon Gold 6253CL"
    assert spec.cores == 8


def test_a_rented_core_of_its_own_counts_whole() -> None:
    spec = machine(cpu="AWS c7g.4xlarge")
    assert spec.cpu == "Graviton3"
    assert spec.cores == 16


def test_two_processors_and_the_rate_of_their_memory_are_read_from_one_cell() -> None:
    spec = machine(cpu="E5-2698Bv3*2, DDR3 1866 32G*8", threads="16")
    assert spec.cpu == "2x Xeon E5-2698B v3"
    assert spec.ram_mts == 1866
    assert spec.cores == 16


def test_cells_of_the_row_come_first() -> None:
    spec = machine(cpu="c2-standard-16", ram_channels="6", ram_mts="2933", threads="4")
    assert spec.ram_channels == 6
    assert spec.ram_mts == 2933
    assert spec.cores == 4


def test_words_that_name_no_machine_still_stand_for_a_typical_one() -> None:
    assert machine(cpu="QEMU Virtual CPU, 8 vCPU").cpu == "Cloud VM, 16 vCPU (typical)"
