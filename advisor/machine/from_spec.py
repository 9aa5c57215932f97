"""A machine from catalogue names and typed figures.

What nobody stated is filled with a typical part and marked assumed, so that every figure of an
answer can be traced and typed over.
"""

import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import numpy as np

from advisor.catalog.inputs import BY_NAME
from advisor.errors import InputError, UnknownName
from advisor.machine import backends, from_catalog
from advisor.machine.catalog import cpu_named, find_gpu, find_host, gpu_named
from advisor.machine.machine import Disk, Gpu, Host, Link, Machine
from advisor.machine.names.gpu_names import GpuName
from advisor.machine.quantity import Provenance, Quantity, given
from advisor.machine.spec import NO_GPU, MachineSpec
from advisor.units import GB, GIB, Array

ADDED = re.compile(r"(?<!max)\s\+\s", re.IGNORECASE)  # not "Ryzen AI Max + 395"
BETWEEN_KINDS = re.compile(r"\s*(?:\+|,|&|;|\band\b)\s*", re.IGNORECASE)
"""What stands between cards of different kinds."""
TYPICAL_HOST = "Desktop DDR5 dual-channel (typical)"
TYPICAL_DISK = "NVMe PCIe 4.0 x4 (typical)"
TYPICAL_RAM_GIB = 64.0
TEN_GIGABIT = 0.94 * 1.25 * GB
"""What 10 Gbit Ethernet carries of 1500-byte frames [B/s]."""


def machine(inputs: MachineSpec) -> Machine:
    """The machine that was described, what was left open filled with typical parts.

    Raises:
        UnknownName: a GPU, CPU or drive that the catalogue does not hold.
    """
    inputs = _with_own_graphics(inputs)
    gpus = () if (inputs.gpu or NO_GPU).casefold() == NO_GPU else _gpus(inputs)
    host = _host(inputs, gpus[0] if gpus else None)
    gpus = reached(tuple(_sharing(gpu, host, inputs) for gpu in gpus), inputs)
    name = name_of(gpus, host)
    return Machine(
        name=f"{inputs.machines} machines of {name}" if inputs.machines > 1 else name,
        gpus=gpus * inputs.machines,
        host=host,
        disk=drive(inputs),
        notes=_assumptions(inputs),
        nodes=inputs.machines,
        network=_network(inputs),
        backend=inputs.backend or "",
    )


def reached(gpus: tuple[Gpu, ...], inputs: MachineSpec) -> tuple[Gpu, ...]:
    """The GPUs that the stated backend drives: none where the processor is to compute alone.

    Raises:
        InputError: a backend of another maker's cards.
    """
    if inputs.backend is None:
        return gpus
    backends.check(inputs.backend, (gpu.vendor for gpu in gpus))
    return () if inputs.backend == backends.CPU else gpus


def at_work(host: Host, inputs: MachineSpec) -> Host:
    """The processor with a core at work for each thread; a second thread on a core adds none."""
    if inputs.threads is None:
        return host
    working = min(host.cores, inputs.threads)
    return replace(host, cores=working, threads=inputs.threads, cores_there=host.cores)


def _assumptions(inputs: MachineSpec) -> tuple[str, ...]:
    """What the names of GPU and processor were taken as, where something was assumed."""
    gpus = () if (inputs.gpu or NO_GPU).casefold() == NO_GPU else cards_of(str(inputs.gpu))
    processors = (cpu_named(inputs.cpu),) if inputs.cpu else ()
    notes = (note for part in (*gpus, *processors) for note in part.notes)
    return tuple(dict.fromkeys(notes))


def _network(inputs: MachineSpec) -> Quantity | None:
    if inputs.machines == 1:
        return None
    if inputs.network_gbs is not None:
        return given(inputs.network_gbs * GB)
    source = "10 Gbit Ethernet, which nobody stated: 94 % of 1.25 GB/s behind its headers"
    return Quantity(value=TEN_GIGABIT, kind=Provenance.ASSUMED, source=source)


def name_of(gpus: tuple[Gpu, ...], host: Host) -> str:
    """GPUs and processor in a line; a unified chip is its own processor."""
    if gpus and all(gpu.unified for gpu in gpus):
        return gpus[0].name
    counted = Counter(gpu.name for gpu in gpus)
    cards = [f"{count}x {name}" if count > 1 else name for name, count in counted.items()]
    return ", ".join(part for part in (" + ".join(cards), host.name) if part)


def _with_own_graphics(inputs: MachineSpec) -> MachineSpec:
    """A chip with unified memory that is named as a processor brings its GPU with it."""
    if inputs.gpu is not None or inputs.cpu is None:
        return inputs
    with suppress(UnknownName):
        cpu = cpu_named(inputs.cpu)
        if cpu.row.segment == "unified":
            gpu = gpu_named(cpu.gpu or inputs.cpu)
            return replace(inputs, gpu=gpu.row.name, ram_gb=inputs.ram_gb or cpu.memory_gib)
    return inputs


def cards_of(text: str) -> tuple[GpuName, ...]:
    """GPUs of a text, kind by kind: "RTX 4090", "2x 3090", "RTX 3090 + 2*P40".

    Where a plus joins cards, each has to be known; other signs may be part of a name.

    Raises:
        UnknownName: a kind that the catalogue does not hold.
    """
    kinds = [kind for kind in BETWEEN_KINDS.split(text) if kind.strip()]
    if not ADDED.search(text) or len(kinds) < 2:
        try:
            return (gpu_named(text),)
        except UnknownName:
            if len(kinds) < 2:
                raise
    return tuple(gpu_named(kind.strip()) for kind in kinds)


def _gpus(inputs: MachineSpec) -> tuple[Gpu, ...]:
    """All GPUs of a machine, kind by kind.

    Raises:
        InputError: more than a machine may have.
        UnknownName: one that the catalogue does not hold.
    """
    gpus: list[Gpu] = []
    for kind in cards_of(str(inputs.gpu)):
        gpus += [_gpu(inputs, kind.row.name)] * kind.count
    BY_NAME["gpu_count"].check(len(gpus) * inputs.gpu_count)
    cards = tuple(gpus) * inputs.gpu_count
    return _bridged(cards) if inputs.bridge else cards


def _bridged(cards: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """Two cards of a kind with a bridge between them.

    Raises:
        InputError: others than two alike, or a card that takes no bridge.
    """
    if len(cards) != 2 or cards[0].name != cards[1].name:
        named = " + ".join(card.name for card in cards)
        raise InputError(f"An NVLink bridge joins two cards of a kind; this is {named}.")
    return tuple(from_catalog.bridged(card) for card in cards)


def _gpu(inputs: MachineSpec, name: str) -> Gpu:
    gpu = from_catalog.gpu(name)
    if inputs.vram_gb is not None:
        gpu = replace(gpu, memory=given(inputs.vram_gb * GIB))
    return replace(gpu, link=link(inputs, gpu))


def _sharing(gpu: Gpu, host: Host, inputs: MachineSpec) -> Gpu:
    """A GPU that shares the host's memory: its part of that memory, and of its rate."""
    if not gpu.unified:
        return gpu
    row = find_gpu(gpu.name)
    if inputs.vram_gb is None and host.memory.kind is Provenance.GIVEN:
        part = f"{row.usable_share:.0%} of {host.memory.source}"
        size = Quantity(
            value=host.memory.value * row.usable_share, kind=Provenance.DERIVED, source=part
        )
        gpu = replace(gpu, memory=size)
    peak = _ram_peak(inputs)
    if row.of_ram and peak is not None:
        figure = Quantity(
            value=peak, kind=Provenance.DERIVED, source="the rate of the machine's RAM"
        )
        gpu = replace(gpu, bandwidth=figure, link=from_catalog.shared_memory(float(np.max(peak))))
    return gpu


def _ram_peak(inputs: MachineSpec) -> Array | None:
    """RAM bandwidth in theory, as stated or of the processor that is named [B/s]."""
    if inputs.ram_gbs is not None:
        return inputs.ram_gbs * GB
    row = find_host(inputs.cpu) if inputs.cpu else None
    channels = inputs.ram_channels or (row.memory_channels if row else None)
    rate = inputs.ram_mts or (row.memory_mts if row else None)
    return channels * 8 * rate * 1e6 if channels and rate else None


def link(inputs: MachineSpec, gpu: Gpu) -> Link:
    """A GPU's link as stated, else its own of the catalogue."""
    if inputs.pcie_gbs is not None:
        return from_catalog.given_link(given(inputs.pcie_gbs * GB))
    if gpu.unified or (inputs.pcie_gen is None and inputs.pcie_lanes is None):
        return gpu.link
    row = find_gpu(gpu.name)
    return from_catalog.pcie(
        inputs.pcie_gen or row.pcie_gen or 4, inputs.pcie_lanes or row.pcie_lanes or 16
    )


def _host(inputs: MachineSpec, gpu: Gpu | None) -> Host:
    if gpu is not None and gpu.unified and inputs.cpu is None:
        host = _unified_host(inputs, gpu)
    else:
        name = inputs.cpu or TYPICAL_HOST
        host = from_catalog.host(name, _memory(inputs, TYPICAL_RAM_GIB), _bandwidth(inputs, name))
    known = host if inputs.cores is None else replace(host, cores=inputs.cores)
    return at_work(known, inputs)


def _bandwidth(inputs: MachineSpec, cpu: str) -> Quantity | None:
    """RAM bandwidth as stated, or from stated channels and rate; None where neither is."""
    if inputs.ram_gbs is not None:
        return given(inputs.ram_gbs * GB)
    if inputs.ram_mts is None and inputs.ram_channels is None:
        return None
    row = find_host(cpu)
    channels = inputs.ram_channels or row.memory_channels or 2
    rate = inputs.ram_mts or row.memory_mts or 3200
    return from_catalog.sustained(
        channels * 8 * rate * 1e6,
        from_catalog.ram_segment(cpu),
        f"{channels:g} channels x 8 B x {rate:g} MT/s",
        "",
    )


def _unified_host(inputs: MachineSpec, gpu: Gpu) -> Host:
    """The processor beside a unified chip's GPU, by its own row where the catalogue has one."""
    chip = re.sub(r"^.*\((.*)\)$|\s\d+c$", r"\1", gpu.name)
    row = find_gpu(gpu.name)
    named = gpu_named(str(inputs.gpu)).memory_gib
    if inputs.ram_gb is None and named is not None:
        inputs = replace(inputs, ram_gb=named)
    memory = _memory(inputs, row.memory_gib)
    with suppress(UnknownName):
        return from_catalog.host(chip, memory, _bandwidth(inputs, chip))
    return Host(
        name="its own processor",
        segment="unified",
        cores=8,
        memory=memory,
        bandwidth=_bandwidth(inputs, TYPICAL_HOST)
        or from_catalog.sustained(row.bandwidth_gbs * GB, "unified", row.source, row.source_date),
    )


def _memory(inputs: MachineSpec, typical: float) -> Quantity:
    if inputs.ram_gb is not None:
        return given(inputs.ram_gb * GIB)
    return Quantity(
        value=typical * GIB, kind=Provenance.ASSUMED, source="a common size; type yours"
    )


def drive(inputs: MachineSpec) -> Disk:
    """The drive as stated, else a typical one.

    Raises:
        UnknownName: one that the catalogue does not hold.
    """
    if inputs.disk_gbs is not None:
        return Disk(name=inputs.disk or "drive as given", sequential=given(inputs.disk_gbs * GB))
    return from_catalog.disk(inputs.disk or TYPICAL_DISK)
