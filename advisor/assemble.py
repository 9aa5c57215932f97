"""A machine from catalogue names, typed figures, or this host.

What nobody stated is filled with a typical part and marked assumed, so that every figure of an
answer can be traced and typed over.
"""

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from advisor import calibrated, calibration, catalog
from advisor.calibration import Calibration
from advisor.errors import InputError, UnknownName
from advisor.folders import data_folder
from advisor.machine import (
    USUAL_READ_AHEAD,
    Disk,
    Figure,
    Gpu,
    Host,
    Kind,
    Link,
    Machine,
    given,
)
from advisor.probes import gpu as gpu_probe
from advisor.probes import host as host_probe
from advisor.probes import system
from advisor.probes.gpu_facts import GpuFacts
from advisor.probes.host import HostFacts
from advisor.units import GB, GIB, Array

NO_GPU = "none"
MIXED = " + "
"""Between GPUs of several kinds in one machine."""
TYPICAL_HOST = "Desktop DDR5 dual-channel (typical)"
TYPICAL_DISK = "NVMe PCIe 4.0 x4 (typical)"
TYPICAL_RAM_GIB = 64.0
TEN_GIGABIT = 0.94 * 1.25 * GB
"""What 10 Gbit Ethernet carries of 1500-byte frames [B/s]."""

LIMITS = {
    "gpu_count": (1, 64, ""),
    "vram_gb": (0.1, 100_000, "GiB"),
    "ram_gb": (0.5, 1_000_000, "GiB"),
    "ram_gbs": (0.1, 100_000, "GB/s"),
    "ram_channels": (1, 64, "channels"),
    "ram_mts": (100, 50_000, "MT/s"),
    "cores": (1, 4096, "cores"),
    "pcie_gbs": (0.01, 10_000, "GB/s"),
    "pcie_gen": (1, 6, ""),
    "pcie_lanes": (1, 32, "lanes"),
    "disk_gbs": (0.001, 10_000, "GB/s"),
    "machines": (1, 64, ""),
    "network_gbs": (0.001, 1000, "GB/s"),
}
"""Smallest and largest value accepted, and the unit."""


@dataclass(frozen=True, kw_only=True)
class MachineInputs:
    """What a person said about a machine; None for what they left open.

    Attributes:
        gpu: catalogue name, or "none"; cards of several kinds as "RTX 3090 + RTX 4090", with
            "2x" before a kind there are two of.
        gpu_count: GPUs of that kind; of several kinds, so many times all of them.
        vram_gb: memory of each, over the catalogue's [GiB].
        cpu: catalogue name of the CPU or platform.
        ram_gb: main memory [GiB].
        ram_gbs: sustained read rate of all cores, used as it is [GB/s].
        ram_channels: 64-bit channels.
        ram_mts: transfers per second of each channel [MT/s].
        cores: physical cores.
        pcie_gbs: sustained rate from pinned memory to the GPU, used as it is [GB/s].
        pcie_gen: PCI Express generation.
        pcie_lanes: its lanes.
        disk: catalogue name of the drive.
        disk_gbs: sustained sequential read, used as it is [GB/s].
        bridge: an NVLink bridge joins two cards of a kind.
        machines: machines alike, joined by a network.
        network_gbs: sustained rate between them, one way [GB/s].

    Raises:
        InputError: a number out of `LIMITS`, memory given for GPUs of several kinds.
    """

    gpu: str | None = None
    gpu_count: int = 1
    vram_gb: Array | None = None
    cpu: str | None = None
    ram_gb: Array | None = None
    ram_gbs: Array | None = None
    ram_channels: float | None = None
    ram_mts: float | None = None
    cores: int | None = None
    pcie_gbs: Array | None = None
    pcie_gen: int | None = None
    pcie_lanes: int | None = None
    disk: str | None = None
    disk_gbs: Array | None = None
    bridge: bool = False
    machines: int = 1
    network_gbs: float | None = None

    def __post_init__(self) -> None:
        for name, (low, high, unit) in LIMITS.items():
            value = getattr(self, name)
            if value is not None and not _within(value, low, high):
                label, allowed = name.replace("_", " "), f"{low:g} to {high:,g} {unit}".strip()
                raise InputError(f"{label} is {value}; allowed is {allowed}.")
        if self.vram_gb is not None and MIXED in (self.gpu or ""):
            raise InputError(
                f"vram gb is given for {self.gpu}; it can be for one kind of GPU alone."
            )

    @property
    def empty(self) -> bool:
        """Nothing was said: this machine is meant."""
        return self == MachineInputs()


def machine(inputs: MachineInputs) -> Machine:
    """The machine that was described, what was left open filled with typical parts.

    Raises:
        UnknownName: a GPU, CPU or drive that the catalogue does not hold.
    """
    gpus = () if (inputs.gpu or NO_GPU).casefold() == NO_GPU else _gpus(inputs)
    host = _host(inputs, gpus[0] if gpus else None)
    name = _name(gpus, host)
    return Machine(
        name=f"{inputs.machines} machines of {name}" if inputs.machines > 1 else name,
        gpus=gpus * inputs.machines,
        host=host,
        disk=_disk(inputs),
        nodes=inputs.machines,
        network=_network(inputs),
    )


def _network(inputs: MachineInputs) -> Figure | None:
    if inputs.machines == 1:
        return None
    if inputs.network_gbs is not None:
        return given(inputs.network_gbs * GB)
    source = "10 Gbit Ethernet, which nobody stated: 94 % of 1.25 GB/s behind its headers"
    return Figure(value=TEN_GIGABIT, kind=Kind.ASSUMED, source=source)


def _name(gpus: tuple[Gpu, ...], host: Host) -> str:
    """GPUs and processor in a line; a unified chip is its own processor."""
    if gpus and all(gpu.unified for gpu in gpus):
        return gpus[0].name
    counted = Counter(gpu.name for gpu in gpus)
    cards = [f"{count}x {name}" if count > 1 else name for name, count in counted.items()]
    return ", ".join(part for part in (" + ".join(cards), host.name) if part)


def this_machine(
    overrides: MachineInputs | None = None, measured: Calibration | None = None
) -> Machine:
    """This host: what its system and drivers show, what was measured on it, what was typed over.

    Nothing that cannot be seen raises; the machine's notes say what it was.

    Args:
        overrides: what was typed over.
        measured: instead of what is kept about this machine.

    Raises:
        UnknownName: a part typed over that the catalogue does not hold.
    """
    cards, unseen = gpu_probe.gpus()
    known = calibration.load() if measured is None else measured
    return seen_machine(
        host_probe.facts(), cards, known, overrides, unseen=unseen, read_ahead=_read_ahead()
    )


def seen_machine(
    seen: HostFacts,
    cards: tuple[GpuFacts, ...],
    measured: Calibration,
    overrides: MachineInputs | None = None,
    *,
    unseen: tuple[str, ...] = (),
    read_ahead: Figure = USUAL_READ_AHEAD,
) -> Machine:
    """A host as its system, its drivers and its probes have it.

    Args:
        seen: processor and memory.
        cards: its GPUs.
        measured: what its probes found.
        overrides: what was typed over.
        unseen: what its drivers could not tell, one sentence each.
        read_ahead: of its drive [B].

    Raises:
        UnknownName: a part typed over that the catalogue does not hold.
    """
    inputs = overrides or MachineInputs()
    notes = [*seen.notes, *unseen, *measured.notes]
    if measured.stale:
        notes.append(measured.stale)
    if inputs.gpu is not None:
        gpus = _typed_gpus(inputs)
    else:
        gpus = _seen_gpus(cards, inputs, measured, notes)
    host = _seen_host(seen, inputs, measured, notes)
    return Machine(
        name=_name(gpus, host),
        gpus=gpus,
        host=host,
        disk=_seen_disk(inputs, measured, read_ahead, notes),
        notes=tuple(notes),
    )


def _typed_gpus(inputs: MachineInputs) -> tuple[Gpu, ...]:
    return machine(inputs).gpus


def _seen_gpus(
    cards: tuple[GpuFacts, ...], inputs: MachineInputs, measured: Calibration, notes: list[str]
) -> tuple[Gpu, ...]:
    typed = (inputs.pcie_gbs, inputs.pcie_gen, inputs.pcie_lanes) != (None, None, None)
    found = []
    for place, card in enumerate(cards):
        try:
            row = catalog.find_gpu(card.name, card.memory_total)
        except UnknownName as error:
            notes.append(f"{error} Choose the closest GPU by hand.")
            continue
        seen = _as_seen(catalog.gpu_of(row), card, inputs)
        found.append(calibrated.gpu(seen, place, measured, keep_link=typed))
    return tuple(found)


def _as_seen(gpu: Gpu, card: GpuFacts, inputs: MachineInputs) -> Gpu:
    """The catalogue's GPU with the memory and the link that its driver shows."""
    if inputs.vram_gb is not None:
        gpu = replace(gpu, memory=given(inputs.vram_gb * GIB))
    elif card.memory_total is not None and not gpu.unified:
        size = Figure(value=float(card.memory_total), kind=Kind.MEASURED, source="GPU driver")
        gpu = replace(gpu, memory=size)
    seen = replace(
        inputs,
        pcie_gen=inputs.pcie_gen or card.link_generation_max,
        pcie_lanes=inputs.pcie_lanes or card.link_width_now,
    )
    return replace(gpu, link=_link(seen, gpu))


def _seen_host(
    seen: HostFacts, inputs: MachineInputs, measured: Calibration, notes: list[str]
) -> Host:
    bandwidth = (
        measured.figure("ram_read") if inputs.ram_gbs is None else given(inputs.ram_gbs * GB)
    )
    memory = Figure(value=float(seen.memory_total), kind=Kind.MEASURED, source="operating system")
    if inputs.ram_gb is not None:
        memory = given(inputs.ram_gb * GIB)
    own = measured.figure("ram_read") or _assumed_bandwidth(seen, MachineInputs(), [])
    return Host(
        name=inputs.cpu or seen.name or "this processor",
        cores=inputs.cores or seen.cores,
        sockets=seen.sockets,
        memory=memory,
        bandwidth=bandwidth or _assumed_bandwidth(seen, inputs, notes),
        instruction_sets=seen.instruction_sets,
        engine=None if inputs.cpu else measured.engine(float(own.value)),
    )


def _assumed_bandwidth(seen: HostFacts, inputs: MachineInputs, notes: list[str]) -> Figure:
    name = inputs.cpu or seen.name
    try:
        found = catalog.host(name, given(float(seen.memory_total)))
    except InputError:
        if inputs.cpu is not None:
            raise
        notes.append(f"{name or 'The processor'} is not in the catalogue: a typical one stands in.")
        found = catalog.host(TYPICAL_HOST, given(float(seen.memory_total)))
    notes.append("The RAM speed is assumed; measuring it takes seconds.")
    return replace(found.bandwidth, kind=Kind.ASSUMED)


def _seen_disk(
    inputs: MachineInputs, measured: Calibration, read_ahead: Figure, notes: list[str]
) -> Disk:
    figure = measured.figure("disk_read_direct")
    if inputs.disk_gbs is None and inputs.disk is None and figure is not None:
        return Disk(
            name="this drive",
            sequential=figure,
            mapped=measured.figure("disk_read_mmap"),
            read_ahead=read_ahead,
        )
    if inputs.disk_gbs is None and inputs.disk is None:
        notes.append("The drive's speed is assumed; measuring it takes seconds.")
        typical = catalog.disk(TYPICAL_DISK)
        return replace(typical, sequential=replace(typical.sequential, kind=Kind.ASSUMED))
    return _disk(inputs)


def _read_ahead() -> Figure:
    """Of the drive with the program's data, or the nearest folder there is above it."""
    folder = data_folder()
    found = system.read_ahead(next(one for one in (folder, *folder.parents) if one.exists()))
    if not found:
        return USUAL_READ_AHEAD
    return Figure(value=float(found), kind=Kind.MEASURED, source="operating system")


def _gpus(inputs: MachineInputs) -> tuple[Gpu, ...]:
    """All GPUs of a machine, kind by kind.

    Raises:
        InputError: more than `LIMITS` allow.
        UnknownName: one that the catalogue does not hold.
    """
    found: list[Gpu] = []
    for kind in str(inputs.gpu).split(MIXED):
        counted = re.match(r"\s*(\d{1,3})x\s+", kind)
        count = int(counted[1]) if counted else 1
        found += [_gpu(inputs, kind[counted.end() if counted else 0 :].strip())] * count
    most = LIMITS["gpu_count"][1]
    if not 1 <= len(found) * inputs.gpu_count <= most:
        raise InputError(f"{inputs.gpu} is {len(found)} GPUs; a machine may have 1 to {most}.")
    cards = tuple(found) * inputs.gpu_count
    return _bridged(cards) if inputs.bridge else cards


def _bridged(cards: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """Two cards of a kind with a bridge between them.

    Raises:
        InputError: others than two alike, or a card that takes no bridge.
    """
    if len(cards) != 2 or cards[0].name != cards[1].name:
        named = " + ".join(card.name for card in cards)
        raise InputError(f"An NVLink bridge joins two cards of a kind; this is {named}.")
    return tuple(catalog.bridged(card) for card in cards)


def _gpu(inputs: MachineInputs, name: str) -> Gpu:
    found = catalog.gpu(name)
    if inputs.vram_gb is not None:
        found = replace(found, memory=given(inputs.vram_gb * GIB))
    return replace(found, link=_link(inputs, found))


def _link(inputs: MachineInputs, gpu: Gpu) -> Link:
    if inputs.pcie_gbs is not None:
        return catalog.given_link(given(inputs.pcie_gbs * GB))
    if gpu.unified or (inputs.pcie_gen is None and inputs.pcie_lanes is None):
        return gpu.link
    row = catalog.find_gpu(gpu.name)
    return catalog.pcie(
        inputs.pcie_gen or row.pcie_gen or 4, inputs.pcie_lanes or row.pcie_lanes or 16
    )


def _host(inputs: MachineInputs, gpu: Gpu | None) -> Host:
    if gpu is not None and gpu.unified and inputs.cpu is None:
        found = _unified_host(inputs, gpu)
    else:
        name = inputs.cpu or TYPICAL_HOST
        found = catalog.host(name, _memory(inputs, TYPICAL_RAM_GIB), _bandwidth(inputs, name))
    return found if inputs.cores is None else replace(found, cores=inputs.cores)


def _bandwidth(inputs: MachineInputs, cpu: str) -> Figure | None:
    """RAM bandwidth as stated, or from stated channels and rate; None where neither is."""
    if inputs.ram_gbs is not None:
        return given(inputs.ram_gbs * GB)
    if inputs.ram_mts is None and inputs.ram_channels is None:
        return None
    row = catalog.find_host(cpu)
    channels = inputs.ram_channels or row.memory_channels or 2
    rate = inputs.ram_mts or row.memory_mts or 3200
    return catalog.sustained(
        channels * 8 * rate * 1e6, row.segment, f"{channels:g} channels x 8 B x {rate:g} MT/s", ""
    )


def _unified_host(inputs: MachineInputs, gpu: Gpu) -> Host:
    """The processor beside a unified chip's GPU, by its own row where the catalogue has one."""
    chip = re.sub(r"^.*\((.*)\)$|\s\d+c$", r"\1", gpu.name)
    row = catalog.find_gpu(gpu.name)
    memory = _memory(inputs, row.memory_gib)
    with suppress(UnknownName):
        return catalog.host(chip, memory, _bandwidth(inputs, chip))
    return Host(
        name="its own processor",
        cores=8,
        memory=memory,
        bandwidth=_bandwidth(inputs, TYPICAL_HOST)
        or catalog.sustained(row.bandwidth_gbs * GB, "unified", row.source, row.source_date),
    )


def _memory(inputs: MachineInputs, typical: float) -> Figure:
    if inputs.ram_gb is not None:
        return given(inputs.ram_gb * GIB)
    return Figure(value=typical * GIB, kind=Kind.ASSUMED, source="a common size; type yours")


def _disk(inputs: MachineInputs) -> Disk:
    if inputs.disk_gbs is not None:
        return Disk(name=inputs.disk or "drive as given", sequential=given(inputs.disk_gbs * GB))
    return catalog.disk(inputs.disk or TYPICAL_DISK)


def _within(value: Array, low: float, high: float) -> bool:
    array = np.asarray(value, dtype=float)
    return bool(np.all((array >= low) & (array <= high)))
