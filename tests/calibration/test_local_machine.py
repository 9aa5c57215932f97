"""This machine from its system, drivers and probes, with typed values on top."""

from dataclasses import replace

import numpy as np
import pytest

from advisor.calibration import local_machine
from advisor.calibration.local_machine import SOURCE, Calibration
from advisor.machine import from_catalog
from advisor.machine.from_spec import TYPICAL
from advisor.machine.spec import MachineSpec
from advisor.probes.gpu.detect import GpuFacts
from advisor.probes.host import HostFacts
from advisor.probes.measurement import Measurement
from advisor.units import GIB, Provenance

HOST = HostFacts(
    name="AMD Ryzen 9 7950X 16-Core Processor",
    cores=16,
    sockets=1,
    instruction_sets=frozenset({"avx2", "avx512f"}),
    memory_total=62 * 2**30,
    memory_available=50 * 2**30,
    llc=64 * 2**20,
    os="Linux",
    notes=("A note of the host.",),
)
CARD = GpuFacts(
    name="NVIDIA GeForce RTX 4060 Ti",
    vendor="NVIDIA",
    memory_total=8188 * 2**20,
    link_generation_max=4,
    link_width_now=4,
)


def measurement(name: str, value: float) -> Measurement:
    return Measurement(
        name=name,
        value=value,
        unit="B/s",
        spread=0.02,
        threads=8,
        when="2026-11-20T10:00:00+00:00",
    )


@pytest.fixture
def sees(monkeypatch: pytest.MonkeyPatch):
    """Sets what the probes would see."""

    def sees(host=HOST, cards=(CARD,), notes=(), calibration=None) -> None:
        monkeypatch.setattr(local_machine.host_probe, "facts", lambda: host)
        monkeypatch.setattr(local_machine.gpu_probe, "gpus", lambda: (cards, notes))
        known = calibration or Calibration()
        monkeypatch.setattr(local_machine, "load", lambda: known)

    sees()
    return sees


def test_values_of_the_drivers_are_used(sees) -> None:
    machine = local_machine.this_machine()
    (gpu,) = machine.gpus
    assert gpu.name == "RTX 4060 Ti 8GB"
    assert (gpu.memory.value, gpu.memory.kind) == (8188 * 2**20, Provenance.MEASURED)
    assert gpu.link.name == "PCIe 4 x4"
    assert (machine.host.memory.value, machine.host.memory.kind) == (62 * GIB, Provenance.MEASURED)
    assert (machine.host.cores, machine.host.sockets) == (16, 1)
    assert machine.host.instruction_sets == HOST.instruction_sets


def test_unmeasured_values_are_assumed_and_reported(sees) -> None:
    machine = local_machine.this_machine()
    assert machine.host.bandwidth.kind is Provenance.ASSUMED
    assert machine.disk is not None
    assert machine.disk.sequential.kind is Provenance.ASSUMED
    assert machine.notes[0] == "A note of the host."
    assert sum("assumed; measuring it takes seconds" in note for note in machine.notes) == 2


def test_measured_values_are_used(sees) -> None:
    kept = [measurement("ram_read", 61e9), measurement("disk_read_direct", 3.2e9)]
    sees(calibration=Calibration(measurements={option.name: option for option in kept}))
    machine = local_machine.this_machine()
    assert machine.disk is not None
    for figure, value in ((machine.host.bandwidth, 61e9), (machine.disk.sequential, 3.2e9)):
        assert (figure.value, figure.kind) == (value, Provenance.MEASURED)
        assert (figure.source, figure.date) == (SOURCE, "2026-11-20")
    assert machine.notes == HOST.notes


def test_timings_of_llama_cpp_belong_to_this_processor(sees) -> None:
    kept = [measurement("ram_read", 61e9), measurement("engine_read_q4_k", 50e9)]
    sees(calibration=Calibration(measurements={option.name: option for option in kept}))
    engine = local_machine.this_machine().host.engine
    assert engine is not None
    assert (engine.cores, engine.ram, engine.read["Q4_K"].value) == (8, 61e9, 50e9)
    # Other RAM is typed over: the figures were still read with this one.
    typed = local_machine.this_machine(MachineSpec(ram_gbs=np.array([50.0, 100.0]))).host.engine
    assert typed is not None
    assert typed.ram == 61e9
    assert local_machine.this_machine(MachineSpec(cpu="Ryzen 9 9950X")).host.engine is None


def test_a_cold_map_and_the_read_ahead_belong_to_the_drive(sees, monkeypatch) -> None:
    kept = [measurement("disk_read_direct", 3.2e9), measurement("disk_read_mmap", 1.1e9)]
    sees(calibration=Calibration(measurements={option.name: option for option in kept}))
    monkeypatch.setattr(local_machine.host_probe, "read_ahead", lambda _: 2**20)
    disk = local_machine.this_machine().disk
    assert disk is not None
    assert disk.mapped is not None
    assert (disk.mapped.value, disk.for_pages.value) == (1.1e9, 1.1e9)
    assert (disk.read_ahead.value, disk.read_ahead.kind) == (2**20, Provenance.MEASURED)
    monkeypatch.setattr(local_machine.host_probe, "read_ahead", lambda _: None)
    disk = local_machine.this_machine().disk
    assert disk is not None
    assert (disk.read_ahead.value, disk.read_ahead.kind) == (128 * 2**10, Provenance.ASSUMED)


def test_an_imported_machine_keeps_its_probed_read_ahead(sees, monkeypatch) -> None:
    kept = [measurement("disk_read_direct", 3.2e9), measurement("disk_read_ahead", 8.0 * 2**20)]
    sees(calibration=Calibration(measurements={option.name: option for option in kept}))
    for now, expected in ((None, 8 * 2**20), (2**20, 2**20)):
        monkeypatch.setattr(local_machine.host_probe, "read_ahead", lambda _, now=now: now)
        disk = local_machine.this_machine().disk
        assert disk is not None
        assert (disk.read_ahead.value, disk.read_ahead.kind) == (expected, Provenance.MEASURED)


def test_typed_values_take_precedence_over_detected_and_measured_ones(sees) -> None:
    kept = [measurement("ram_read", 61e9), measurement("disk_read_direct", 3.2e9)]
    sees(calibration=Calibration(measurements={option.name: option for option in kept}))
    machine = local_machine.this_machine(
        MachineSpec(ram_gb=128, ram_gbs=50, disk_gbs=7, vram_gb=7, pcie_gbs=9)
    )
    gpu = machine.gpus[0]
    disk = machine.disk
    assert disk is not None
    figures = (machine.host.memory, machine.host.bandwidth, disk.sequential, gpu.memory,
               gpu.link.pinned)  # fmt: skip
    assert [figure.value for figure in figures] == [128 * GIB, 50e9, 7e9, 7 * GIB, 9e9]
    assert {figure.kind for figure in figures} == {Provenance.GIVEN}


def test_another_gpu_can_be_typed_over(sees) -> None:
    machine = local_machine.this_machine(MachineSpec(gpu="RTX 5090", gpu_count=2))
    card = from_catalog.gpu("RTX 5090")
    bounded = [replace(gpu, link=card.link) for gpu in machine.gpus]  # by the RAM of the machine
    assert bounded == [card, card]
    assert local_machine.this_machine(MachineSpec(gpu="none")).gpus == ()


def test_a_gpu_missing_from_the_catalogue_is_omitted_and_reported(sees) -> None:
    sees(cards=(GpuFacts(name="Matrox G200", vendor="Matrox"), CARD))
    machine = local_machine.this_machine()
    assert [gpu.name for gpu in machine.gpus] == ["RTX 4060 Ti 8GB"]
    assert any("'Matrox G200'" in note and "by hand" in note for note in machine.notes)


def test_unlike_gpus_keep_their_order(sees) -> None:
    big = GpuFacts(name="NVIDIA GeForce RTX 4090", vendor="NVIDIA", memory_total=24564 * 2**20)
    sees(cards=(big, CARD))
    machine = local_machine.this_machine()
    assert [gpu.name for gpu in machine.gpus] == ["RTX 4090", "RTX 4060 Ti 8GB"]
    assert machine.name.startswith("RTX 4090 + RTX 4060 Ti 8GB, ")


@pytest.mark.parametrize("name", ["", "Elbrus-8SV"])
def test_an_unknown_processor_gets_a_typical_one(sees, name: str) -> None:
    sees(host=replace(HOST, name=name))
    machine = local_machine.this_machine()
    typical = from_catalog.host(TYPICAL.host, machine.host.memory)
    assert machine.host.bandwidth.value == typical.bandwidth.value
    assert any("a typical one is used" in note for note in machine.notes)


def test_stale_measurements_are_reported(sees) -> None:
    sees(calibration=Calibration(stale="Measured over 92 days ago.", notes=("It was damaged.",)))
    assert {"Measured over 92 days ago.", "It was damaged."} <= set(
        local_machine.this_machine().notes
    )


def test_a_machine_without_anything_still_answers(sees) -> None:
    sees(cards=(), notes=("No driver answers.",))
    machine = local_machine.this_machine()
    assert machine.gpus == ()
    assert machine.name == machine.host.name
    assert "No driver answers." in machine.notes
