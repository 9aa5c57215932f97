"""Machines from typed parts: every figure has its origin."""

from dataclasses import replace

import numpy as np
import pytest

from advisor.catalog.constants import Constants
from advisor.catalog.inputs import INPUTS
from advisor.errors import InputError, UnknownName
from advisor.machine import catalog, from_catalog, from_spec
from advisor.machine.from_spec import TYPICAL
from advisor.machine.machine import Gpu, Machine
from advisor.machine.spec import MachineSpec
from advisor.units import GB, GIB, Provenance

NUMBERS = [entry for entry in INPUTS.of("machine").values() if entry.limits]


def described(**fields: object) -> Machine:
    return from_spec.machine(MachineSpec(**fields))


def as_listed(gpus: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """Cards of a machine as the catalogue has them: pageable copies are bounded by its RAM."""
    listed = (from_catalog.gpu(gpu.name).link.pageable for gpu in gpus)
    return tuple(
        replace(gpu, link=replace(gpu.link, pageable=pageable))
        for gpu, pageable in zip(gpus, listed, strict=True)
    )


class TestDescribed:
    """A machine that a person describes."""

    def test_no_input_is_a_typical_desktop_without_gpu(self) -> None:
        machine = described()
        assert machine.gpus == ()
        assert machine.name == TYPICAL.host
        assert machine.disk == from_catalog.disk(TYPICAL.disk)
        assert machine.host.memory.kind is Provenance.ASSUMED
        assert machine.host.bandwidth.kind is Provenance.ASSUMED

    @pytest.mark.parametrize(
        ("gpu", "read"),
        [
            # Blackmagic Disk Speed Test, applech2.com of 10 November 2024: a Mac mini of 256 GB
            ("Apple M2 10c", 1.459e9),
            ("Apple M4 10c", 2.793e9),
            # macg.co, March 2025: 5.5 GB/s of 512 GB in a Mac Studio
            ("Apple M4 Max 40c", 5.5e9),
        ],
    )
    def test_macs_have_the_drive_of_their_chip(self, gpu: str, read: float) -> None:
        machine = described(gpu=gpu)
        assert machine.disk is not None
        assert float(machine.disk.sequential.value) == read
        assert machine.disk.sequential.kind is Provenance.ASSUMED
        stated = described(gpu=gpu, disk="USB SSD").disk
        assert stated == from_catalog.disk("USB SSD")

    def test_every_chip_of_macs_has_a_drive(self) -> None:
        chips = [row.name for row in catalog.HOSTS.rows().values() if row.vendor == "Apple"]
        assert len(chips) > 10
        assert [chip for chip in chips if from_catalog.mac_disk(chip) is None] == []

    def test_cards_of_several_kinds_keep_their_own_figures(self) -> None:
        machine = described(gpu="2x RTX 3090 + rtx 4090", pcie_gbs=12)
        names = [gpu.name for gpu in machine.gpus]
        assert names == ["RTX 4090", "RTX 3090", "RTX 3090"]  # 1,008 GB/s before 936
        assert machine.name.startswith("RTX 4090 + 2x RTX 3090, ")
        assert machine.gpus[0].bandwidth == from_catalog.gpu("RTX 4090").bandwidth
        assert {float(gpu.link.pinned.value) for gpu in machine.gpus} == {12 * GB}

    def test_several_kinds_are_counted_all_together(self) -> None:
        machine = described(gpu="RTX 3090 + RTX 4090", gpu_count=2)
        assert [gpu.name for gpu in machine.gpus] == ["RTX 4090"] * 2 + ["RTX 3090"] * 2

    def test_the_order_in_which_cards_are_named_changes_nothing(self) -> None:
        for pair in (("RTX 3060 12GB", "MI50 32GB"), ("T4", "RTX 4090"), ("L40S", "RX 7900 XTX")):
            assert described(gpu=" + ".join(pair)) == described(gpu=" + ".join(reversed(pair)))

    def test_a_name_with_a_plus_of_its_own_is_one_gpu(self) -> None:
        for spelling in ("Radeon 8060S (Ryzen AI Max+ 395)", "Ryzen AI Max + 395"):
            assert len(described(gpu=spelling).gpus) == 1

    @pytest.mark.parametrize("second", ["RTX 4091", "Toaster"])
    def test_the_second_kind_must_be_known_too(self, second: str) -> None:
        with pytest.raises(UnknownName, match=second):
            described(gpu=f"RTX 3090 + {second}")

    @pytest.mark.parametrize("gpu", ["0x RTX 3090", "73x RTX 3090", "40x RTX 3090 + 40x RTX 4090"])
    def test_too_many_cards_of_several_kinds_are_refused(self, gpu: str) -> None:
        with pytest.raises(InputError, match=r"GPUs .* allowed is 1 to 72"):
            described(gpu=gpu)

    def test_memory_is_not_given_for_several_kinds_at_once(self) -> None:
        with pytest.raises(InputError, match="one kind of GPU alone"):
            described(gpu="RTX 3090 + RTX 4090", vram_gb=24)

    def test_named_parts_come_from_the_catalogue(self) -> None:
        machine = described(gpu="rtx 4090", cpu="Ryzen 9 7950X", disk="Samsung 990 PRO")
        assert as_listed(machine.gpus) == (from_catalog.gpu("RTX 4090"),)
        assert (machine.host.name, machine.host.cores) == ("Ryzen 9 7950X", 16)
        assert machine.disk == from_catalog.disk("Samsung 990 PRO")
        assert machine.name == "RTX 4090, Ryzen 9 7950X"

    def test_typed_values_are_used_unchanged(self) -> None:
        machine = described(
            gpu="RTX 4090", vram_gb=48, ram_gb=96, ram_gbs=60, pcie_gbs=20, disk_gbs=5, cores=12
        )
        gpu = machine.gpus[0]
        host = machine.host
        disk = machine.disk
        assert disk is not None
        figures = (gpu.memory, host.memory, host.bandwidth, gpu.link.pinned, disk.sequential)
        # memory as sold in GiB, rates in GB/s
        assert [figure.value for figure in figures] == [
            48 * GIB,
            96 * GIB,
            60 * GB,
            20 * GB,
            5 * GB,
        ]
        assert {figure.kind for figure in figures} == {Provenance.GIVEN}
        assert host.cores == 12

    def test_several_gpus_are_alike(self) -> None:
        machine = described(gpu="RTX 3090", gpu_count=4)
        assert as_listed(machine.gpus) == (from_catalog.gpu("RTX 3090"),) * 4
        assert machine.name.startswith("4x RTX 3090, ")

    def test_machines_alike_are_joined_by_a_network(self) -> None:
        machine = described(gpu="RTX 3090", gpu_count=2, machines=3, network_gbs=2.5)
        assert as_listed(machine.gpus) == (from_catalog.gpu("RTX 3090"),) * 6
        assert machine.nodes == 3
        assert machine.network is not None
        assert machine.network.rate.value == 2.5e9
        assert machine.name.startswith("3 machines of 2x RTX 3090, ")
        assert described(gpu="RTX 3090", machines=2).network.rate.kind is Provenance.ASSUMED
        assert described(gpu="RTX 3090").network is None

    def test_chips_with_unified_memory_are_machines(self) -> None:
        pair = described(gpu="2x GB10")
        assert (len(pair.gpus), pair.nodes) == (2, 2)
        board = described(gpu="4x MI300A")
        assert (len(board.gpus), board.nodes) == (4, 1)

    @pytest.mark.parametrize("name", ["none", "None", "NONE"])
    def test_no_gpu_can_be_stated(self, name: str) -> None:
        assert described(gpu=name, gpu_count=2).gpus == ()

    def test_ram_from_channels_and_rate(self) -> None:
        # 4 channels x 8 B x 5200 MT/s = 166.4 GB/s in theory, of which a share is sustained
        host = described(cpu="Ryzen 9 7950X", ram_channels=4, ram_mts=5200).host
        share = Constants.fitted().value("ram_sustained_share", "desktop")
        assert host.bandwidth.value == pytest.approx(166.4e9 * share)
        assert host.bandwidth.kind is Provenance.ASSUMED
        assert "4 channels x 8 B x 5200 MT/s" in host.bandwidth.source

    def test_channels_left_open_are_the_processors(self) -> None:
        slow, fast = (described(cpu="EPYC 7763", ram_mts=mts).host for mts in (1600, 3200))
        assert fast.bandwidth.value == pytest.approx(2 * slow.bandwidth.value)

    def test_people_have_slower_ram_than_their_processor_takes(self) -> None:
        # An EPYC 7763 takes DDR4-3200; where nobody says so, boards are filled in part.
        stated = described(cpu="EPYC 7763", ram_mts=3200).host.bandwidth.value
        share = Constants.fitted().value("ram_unstated_share", "server")
        assert described(cpu="EPYC 7763").host.bandwidth.value == pytest.approx(stated * share)
        # A typical platform is named after its RAM, and a chip is sold with it.
        platform = "Desktop DDR4-3200 dual-channel (typical)"
        typed = described(cpu=platform, ram_mts=3200, ram_channels=2).host.bandwidth.value
        assert described(cpu=platform).host.bandwidth.value == pytest.approx(typed)

    @pytest.mark.parametrize(
        ("gpu", "host"),
        [
            ("GTX 1070", "Desktop DDR4-3200 dual-channel (typical)"),
            ("RX 580", "Desktop DDR4-3200 dual-channel (typical)"),
            ("RTX 3090", TYPICAL.host),
            ("RTX 5090", TYPICAL.host),
        ],
    )
    def test_an_old_card_stands_in_a_machine_of_its_time(self, gpu: str, host: str) -> None:
        assert described(gpu=gpu).host.name == host

    @pytest.mark.parametrize(
        ("record", "name"),
        [
            ({}, "PCIe 4 x16"),
            ({"pcie_gen": 3}, "PCIe 3 x16"),
            ({"pcie_lanes": 8}, "PCIe 4 x8"),
            ({"pcie_gen": 3, "pcie_lanes": 4}, "PCIe 3 x4"),
        ],
    )
    def test_the_link_is_the_cards_unless_stated(self, record, name: str) -> None:
        link = described(gpu="RTX 4090", **record).gpus[0].link
        assert link.name == name
        assert link.pinned.kind is Provenance.DERIVED

    @pytest.mark.parametrize(
        ("gpu", "cpu", "name"),
        [
            ("RTX 5090", "Core i9-7980XE", "PCIe 3 x16"),
            ("RX 9070 XT", "Threadripper 3960X", "PCIe 4 x16"),
            ("RTX A1000", "Core i9-9900T", "PCIe 3 x8"),
            ("RTX 3090", "Ryzen 9 9950X", "PCIe 4 x16"),
            ("GH200 96GB", "Core i9-9900K", "NVLink-C2C"),
        ],
    )
    def test_the_link_is_no_faster_than_the_processors_slots(
        self, gpu: str, cpu: str, name: str
    ) -> None:
        assert described(gpu=gpu, cpu=cpu).gpus[0].link.name == name

    def test_a_stated_generation_is_taken_at_its_word(self) -> None:
        link = described(gpu="RTX 5090", cpu="Core i9-7980XE", pcie_gen=5).gpus[0].link
        assert link.name == "PCIe 5 x16"

    def test_pageable_copies_cross_ram_four_times(self) -> None:
        # 24 GB/s of RAM: 6 GB/s; 400 GB/s: what a core copies
        slow, fast = (described(gpu="RTX 5090", ram_gbs=rate).gpus[0].link for rate in (24, 400))
        assert slow.pageable.value == pytest.approx(6e9)
        assert fast.pageable.value == pytest.approx(Constants.fitted().value("pageable_copy"))

    def test_a_unified_chip_brings_its_own_host(self) -> None:
        machine = described(gpu="Apple M4 Max", ram_gb=64)
        gpu = machine.gpus[0]
        assert machine.unified
        assert gpu.link.name == "unified memory"
        assert machine.host.memory.value == 64 * GIB
        # the processor's clusters draw a part of the memory's rate
        assert 0 < machine.host.bandwidth.value < gpu.bandwidth.value

    def test_no_pcie_link_into_unified_memory(self) -> None:
        gpu = described(gpu="GB10", pcie_gen=3, pcie_lanes=4).gpus[0]
        assert gpu.link.name == "unified memory"

    def test_arrays_describe_a_sweep(self) -> None:
        machine = described(gpu="RTX 4090", ram_gbs=np.array([40.0, 80.0]))
        assert machine.host.bandwidth.value == pytest.approx([40e9, 80e9])

    def test_limits_are_within(self, subtests: pytest.Subtests) -> None:
        for entry in NUMBERS:
            with subtests.test(entry.name):
                for value in entry.limits:
                    if entry.whole:
                        typed = int(value)
                    else:
                        typed = value
                    described(gpu="RTX 4090", **{entry.name: typed})

    def test_beyond_the_limits_the_message_names_input_and_value(self) -> None:
        for entry in NUMBERS:
            low, high = entry.limits
            allowed = f"allowed is {low:g} to {high:,.0f} {entry.unit}".strip()
            flag = "--" + entry.name.replace("_", "-")
            for value in {-1, 0, 1e30, float("nan"), float("inf")} - {low}:
                with pytest.raises(InputError) as error:
                    MachineSpec(**{entry.name: value})
                assert str(error.value) == f"{entry.label} ({flag}) is {value}; {allowed}."

    @pytest.mark.parametrize(
        ("record", "close"),
        [
            ({"gpu": "RTX 4909"}, "RTX 4090"),
            ({"cpu": "Ryzen 9 7951X"}, "Ryzen 9 7950X"),
            ({"disk": "Samsung 991 PRO"}, "Samsung 990 PRO"),
        ],
    )
    def test_unknown_names_suggest_close_ones(self, record, close: str) -> None:
        with pytest.raises(UnknownName) as error:
            described(**record)
        assert close in error.value.close

    def test_empty_means_not_stated(self) -> None:
        assert MachineSpec().empty
        assert not MachineSpec(ram_gb=64).empty


@pytest.mark.parametrize(
    ("gpu", "joined", "words"),
    [
        ("2x RTX 3090 NVLink", True, "these are joined by one"),
        ("RTX 3090 NVLink", False, "have none counted"),
        ("2x RTX 3090", False, ""),
    ],
)
def test_nvlink_in_a_name_is_a_bridge_or_is_said_not_to_count(gpu, joined, words) -> None:
    there = from_spec.machine(MachineSpec(gpu=gpu))
    bridged = from_spec.machine(MachineSpec(gpu="2x 3090", bridge=True))
    assert (there.gpus[0].peer == bridged.gpus[0].peer) is joined
    assert words in " ".join(there.notes)
    assert ("NVLink" in " ".join(there.notes)) is bool(words)


def test_a_laptop_has_a_laptops_memory_until_it_is_stated() -> None:
    # 16 GB are the most common in Steam's survey of January 2026
    assert (
        float(from_spec.machine(MachineSpec(gpu="RTX 4060 Laptop")).host.memory.value) == 16 * GIB
    )
    assert float(from_spec.machine(MachineSpec(gpu="RTX 4060")).host.memory.value) == 64 * GIB
    stated = from_spec.machine(MachineSpec(gpu="RTX 4060 Laptop", ram_gb=32))
    assert float(stated.host.memory.value) == 32 * GIB


def test_no_processor_is_given_more_memory_than_it_takes() -> None:
    """64 GB are assumed where a name says none; a Raspberry Pi 5 has 16 at most."""
    limited = [row for row in catalog.HOSTS.rows().values() if row.max_memory_gib]
    assert len(limited) > 100
    for row in limited:
        taken = from_spec.machine(MachineSpec(gpu=MachineSpec.NO_GPU, cpu=row.name))
        assert taken.host.memory.value <= row.max_memory_gib * GIB, row.name
