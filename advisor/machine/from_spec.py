"""Machine from a specification: catalogue names and typed values.

Open fields become typical parts that are marked as assumed, so that every value of an answer can be
traced and typed over.
"""

import re
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from advisor.catalog.inputs import INPUTS
from advisor.errors import InputError, UnknownName
from advisor.machine import backends, catalog, from_catalog
from advisor.machine.backends import Backend, NumaPolicy, OperatingSystem, ThreadExcess
from advisor.machine.catalog import NVLINK
from advisor.machine.machine import (
    LAPTOP_CARD,
    Disk,
    Gpu,
    Host,
    Link,
    Machine,
    Network,
    network_named,
    usual_network,
)
from advisor.machine.names.cpu_names import CpuName
from advisor.machine.names.gpu_names import GpuName, sizes_of
from advisor.machine.names.machine_names import TYPICAL_LAPTOP
from advisor.machine.names.statements import link_note, power_note, statements
from advisor.machine.names.words import Written, plain
from advisor.machine.rows import GpuRow, HostRow
from advisor.machine.shared_memory import with_screen, with_shared_memory
from advisor.machine.spec import MachineSpec
from advisor.machine.stated_software import with_software
from advisor.units import GB, GIB, Array, Provenance, Quantity

CHANGED = 2.0
"""Largest memory of a changed card, relative to what it is sold with: RTX 2080 Ti with 22 GB, 3080
with 20, 4090 with 48 (data/hardware/gpus.csv)."""
ADDED = re.compile(r"(?<!max)\s\+\s", re.IGNORECASE)  # not "Ryzen AI Max + 395"
BETWEEN_KINDS = re.compile(r"\s*(?:\+|,|&|;|\band\b)\s*", re.IGNORECASE)
"""Separators between cards of different kinds."""


@dataclass(frozen=True, kw_only=True)
class Typical:
    """Names of typical parts in data/hardware/, for machines that state none."""

    host: str = "Desktop DDR5 dual-channel (typical)"
    older_host: str = "Desktop DDR4-3200 dual-channel (typical)"  # around a card of before DDR5
    disk: str = "NVMe PCIe 4.0 x4 (typical)"
    ram_gib: float = 64.0  # main memory of a desktop for models; assumed [GiB]
    # main memory of a laptop: 16 GB are the most common of all PCs of players (40 %, Steam's survey
    # of January 2026, https://prefersystems.com/?p=59538) [GiB]
    laptop_ram_gib: float = 16.0


TYPICAL = Typical()


@dataclass(frozen=True, kw_only=True)
class StatedParts:
    """Meanings of the names of GPUs and processor in a specification, read once."""

    cards: tuple[GpuName, ...] = ()  # GPUs, kind by kind; empty for none
    cpu: CpuName | None = None  # stated processor; None where none is stated

    @staticmethod
    def of(spec: MachineSpec) -> "StatedParts":
        """Stated parts of a specification."""
        return StatedParts(
            cards=() if spec.gpu in (None, MachineSpec.NO_GPU) else cards_of(str(spec.gpu)),
            cpu=catalog.HOSTS.named(spec.cpu) if spec.cpu else None,
        )

    @property
    def host(self) -> HostRow | None:
        """Row of the stated processor; None where none is stated."""
        if self.cpu is None:
            return None
        return self.cpu.row

    def card(self, gpu: Gpu) -> GpuRow:
        """Catalogue row of a GPU of this machine."""
        return next(card.row for card in self.cards if card.row.name == gpu.name)


def machine(spec: MachineSpec, usual_system: str = OperatingSystem.LINUX) -> Machine:
    """Machine of a specification, with typical parts for open fields."""
    spec, told = _as_stated(_with_own_graphics(spec))
    parts = StatedParts.of(spec)
    gpus = _gpus(spec, parts)
    host = _host(spec, parts, gpus[0] if gpus else None)
    gpus = tuple(_with_ram_rate(gpu, spec, parts.host).with_copies(host) for gpu in gpus)
    every = gpus
    gpus = reached(gpus, spec)
    on_one_board = all(gpu.name.startswith(BOARDS_OF_SEVERAL) for gpu in gpus)
    if len(gpus) > 1 and all(gpu.unified for gpu in gpus) and not on_one_board:
        spec = replace(spec, machines=spec.machines * len(gpus), gpu_count=1)
        gpus = gpus[:1]
    single = Machine(
        name="",
        gpus=gpus,
        host=host,
        disk=drive(spec, host),
        notes=tuple(dict.fromkeys((*_assumptions(spec, parts), *told))),
        nodes=spec.machines,
        network=_network(spec, gpus),
        idle=() if gpus else tuple(gpu for gpu in every if not gpu.unified),
    )
    name = single.parts_name
    if spec.machines > 1:
        name = f"{spec.machines} machines of {name}"
    described = replace(single, name=name, gpus=gpus * spec.machines)
    return completed(described, spec, usual_system)


def completed(
    described: Machine, spec: MachineSpec, usual_system: str, *, seen: bool = False
) -> Machine:
    """Machine of parts with its stated backend, threads, software and screens.

    One without a name is named by its parts; `seen` says that its system is known, not assumed.
    """
    gpus = reached(described.gpus, spec)
    host = at_work(described.host, spec)
    parts = replace(described, gpus=gpus, host=host)
    named = replace(parts, name=parts.name or parts.parts_name)
    stated = with_software(named, spec, usual_system, seen=seen)
    if spec.vram_gb is None:
        shared = with_shared_memory(stated)
    else:
        shared = stated
    return with_screen(shared, spec.screen_gb)


def _as_stated(spec: MachineSpec) -> tuple[MachineSpec, tuple[str, ...]]:
    """Specification with the link and memory that the GPU's name states, and notes on them."""
    name = spec.gpu
    if name in (None, MachineSpec.NO_GPU) or name in catalog.GPUS.rows():
        return spec, ()
    written = Written(plain(str(name)))
    stated = statements(written)
    generation, lanes = written.link
    bare = stated.rest.without_lanes.text
    if bare and bare != written.text:
        spec = replace(spec, gpu=bare)
    cards = cards_of(str(spec.gpu))
    told: list[str] = []
    if len(cards) == 1:
        told += catalog.unused_of_card(str(spec.gpu), cards[0])
    if stated.watts is not None:
        told.append(power_note(stated.watts, cards[0].row))
    if stated.gpu_gib is not None and cards[0].row.unified and spec.vram_gb is None:
        spec = replace(spec, vram_gb=stated.gpu_gib)
    if (generation or lanes) and spec.pcie_gen is None and spec.pcie_lanes is None:
        row = cards[0].row
        generation = min(generation, row.pcie_gen or generation)
        lanes = min(lanes, row.pcie_lanes or lanes)
        spec = replace(spec, pcie_gen=generation or None, pcie_lanes=lanes or None)
        told.append(link_note(generation, lanes))
    return spec, tuple(told)


def reached(gpus: tuple[Gpu, ...], spec: MachineSpec) -> tuple[Gpu, ...]:
    """GPUs that the stated backend drives; none for the backend "cpu"."""
    if spec.backend is None:
        return gpus
    backends.check(spec.backend, (gpu.vendor for gpu in gpus))
    if spec.backend == Backend.CPU:
        return ()
    return gpus


def at_work(host: Host, spec: MachineSpec) -> Host:
    """Processor with one working core for each thread; threads beyond its cores make the cores
    wait.
    """
    if spec.threads is None:
        return host
    bound = NumaPolicy.on_one_node(spec.numa) and host.sockets > 1
    if bound:
        cores = host.cores // host.sockets
    else:
        cores = host.cores
    return replace(
        host,
        cores=min(host.cores, spec.threads),
        threads=spec.threads,
        cores_there=host.cores,
        thread_excess="" if spec.threads <= cores else _excess(host.name, cores, spec.threads),
    )


def _excess(name: str, cores: int, threads: int) -> str:
    """Kind of excess of threads over the cores of a processor."""
    every = 2 * cores
    with suppress(UnknownName):
        row = catalog.HOSTS.find(name)
        if cores == row.performance_cores and row.performance_cores < row.cores:
            return ThreadExcess.SLOWER_CORES
        if row.threads and cores == row.cores:
            every = row.threads
    if threads == every:
        return ThreadExcess.HYPER_THREADS
    return ThreadExcess.PAST_CORES


def _assumptions(spec: MachineSpec, parts: StatedParts) -> tuple[str, ...]:
    """Assumptions made in reading the names of GPU and processor."""
    gpus = parts.cards
    notes = [note for part in (*gpus, parts.cpu) if part for note in part.notes]
    if spec.vram_gb is None:
        most = 0.0
    else:
        most = np.max(spec.vram_gb)
    for row in (gpu.row for gpu in gpus if most and not gpu.row.unified):
        sizes = sizes_of(row, catalog.GPUS.rows())
        if most > CHANGED * sizes[-1]:
            listed = " or ".join(f"{size:g}" for size in sizes)
            notes.append(
                f"The typed {most:g} GB of GPU memory count; {row.name} is sold with {listed} "
                "GB, and changed cards have twice that at most."
            )
    if (
        gpus
        and NVLINK.search(plain(str(spec.gpu)))
        and gpus[0].row.name in catalog.published("bridge")
    ):
        pair = sum(gpu.count for gpu in gpus) * spec.gpu_count == 2
        if pair:
            are = "are joined by one"
        else:
            are = "have none counted, as one joins two of a kind"
        notes.append(f"NVLink is a bridge between two cards: these {are}.")
    return tuple(dict.fromkeys(notes))


BOARDS_OF_SEVERAL = ("Instinct",)
"""Beginning of the names of chips with memory of their own for CPU and GPU that several share a
board of (MI300A); others with unified memory are machines of their own."""


def _network(spec: MachineSpec, gpus: tuple[Gpu, ...]) -> Network | None:
    """Network between machines, as stated, by a rate alone, or the usual one; None for a single
    machine.
    """
    if spec.machines == 1:
        return None
    rate = spec.network_gbs
    gpu = gpus[0].name if gpus else ""
    stated = spec.network or (f"{rate * 8:g}GbE" if rate is not None else "")
    if stated:
        network = network_named(stated, gpu)
    else:
        network = usual_network(gpu)
    if rate is None:
        return network
    return replace(network, rate=Quantity.given(rate * GB))


def _with_own_graphics(spec: MachineSpec) -> MachineSpec:
    """Specification with the GPU on the chip that is given as processor."""
    if spec.gpu is not None or spec.cpu is None:
        return spec
    with suppress(UnknownName):
        cpu = catalog.HOSTS.named(spec.cpu)
        if cpu.row.segment == "unified":
            gpu = catalog.GPUS.named(cpu.gpu or spec.cpu)
            return replace(spec, gpu=gpu.row.name, ram_gb=spec.ram_gb or cpu.memory_gib)
    return spec


def cards_of(text: str) -> tuple[GpuName, ...]:
    """GPUs that a text names, each kind once with its number: "RTX 3090 + 2*P40".

    A plus joins names only where each is a known card.
    """
    kinds = [kind for kind in BETWEEN_KINDS.split(text) if kind.strip()]
    if len(kinds) < 2:
        return (catalog.GPUS.named(text),)
    if not ADDED.search(text):
        with suppress(UnknownName):
            return (catalog.GPUS.named(text),)
    return tuple(catalog.GPUS.named(kind.strip()) for kind in kinds)


def _gpus(spec: MachineSpec, parts: StatedParts) -> tuple[Gpu, ...]:
    """Stated GPUs, the fastest first; none where none are stated."""
    if not parts.cards:
        return ()
    gpus: list[Gpu] = []
    for kind in parts.cards:
        gpu = from_catalog.gpu_of(kind.row)
        size = kind.part_gib if spec.vram_gb is None else spec.vram_gb
        if size is not None:
            gpu = replace(gpu, memory=Quantity.given(size * GIB))
        gpus += [replace(gpu, link=_link(spec, gpu, kind.row, parts.host))] * kind.count
    INPUTS["gpu_count"].check(len(gpus) * spec.gpu_count)
    cards = Gpu.fastest_first(gpus * spec.gpu_count)
    if all(from_catalog.on_a_board(card) for card in cards):
        return cards
    pair = len(cards) == 2 and {card.name for card in cards} <= catalog.published("bridge").keys()
    if not (spec.bridge or (pair and NVLINK.search(plain(str(spec.gpu))))):
        return cards
    if len(cards) != 2 or cards[0].name != cards[1].name:
        named = " + ".join(card.name for card in cards)
        raise InputError(f"An NVLink bridge joins two cards of a kind; this is {named}.")
    return tuple(from_catalog.bridged(card) for card in cards)


def _with_ram_rate(gpu: Gpu, spec: MachineSpec, row: HostRow | None) -> Gpu:
    """GPU whose memory is the machine's RAM, at the RAM's rate."""
    channels = spec.ram_channels or (row.memory_channels if row else None)
    rate = spec.ram_mts or (row.memory_mts if row else None)
    peak: Array | None = channels * 8 * rate * 1e6 if channels and rate else None
    if spec.ram_gbs is not None:
        peak = spec.ram_gbs * GB
    if not gpu.of_ram or peak is None:
        return gpu
    figure = Quantity(peak, Provenance.DERIVED, "the rate of the machine's RAM")
    return replace(gpu, bandwidth=figure, link=from_catalog.shared_memory(float(np.max(peak))))


def link(spec: MachineSpec, gpu: Gpu) -> Link:
    """Link of a GPU: the stated one, or the slower of the GPU's own and the processor's slots."""
    host = catalog.HOSTS.find(spec.cpu) if spec.cpu else None
    return _link(spec, gpu, catalog.GPUS.find(gpu.name), host)


def _link(spec: MachineSpec, gpu: Gpu, row: GpuRow, host: HostRow | None) -> Link:
    """Link of a GPU as stated; without that the slower of its own and of the processor's slots."""
    if spec.pcie_gbs is not None:
        return Link.given(Quantity.given(spec.pcie_gbs * GB))
    if host is None:
        slots = None
    else:
        slots = host.pcie_gen
    slower = slots is not None and not row.link_gbs and slots < (row.pcie_gen or 3)
    unstated = spec.pcie_gen is None and spec.pcie_lanes is None
    if gpu.unified or (unstated and not slower):
        return gpu.link
    common = slots if slower else row.pcie_gen
    lanes = spec.pcie_lanes or row.pcie_lanes or 16
    return Link.pcie(spec.pcie_gen or common or 4, lanes)


DDR5_SINCE = "2020-09"
"""Month from which a card is taken to stand in a machine with DDR5, where nothing is said: that of
the RTX 3090, which people still buy for models. Older ones stand in machines of their time."""


def _host(spec: MachineSpec, parts: StatedParts, gpu: Gpu | None) -> Host:
    if gpu is not None and gpu.unified and parts.cpu is None:
        host = _unified_host(spec, parts, gpu)
    else:
        size = TYPICAL.ram_gib
        if gpu is not None and LAPTOP_CARD in gpu.name:
            size = TYPICAL.laptop_ram_gib
        if gpu is not None and gpu.unified and not gpu.of_ram:
            size = parts.card(gpu).memory_gib  # a chip is sold with it
        row = parts.host or catalog.HOSTS.find(_usual_host(parts, gpu))
        memory = _memory(spec, min(size, row.max_memory_gib or size))
        rate = _bandwidth(spec, row)
        host = from_catalog.host_of(row, memory, rate, assumed=parts.cpu is None)
    if spec.cores is None:
        return host
    return replace(host, cores=spec.cores)


def _usual_host(parts: StatedParts, gpu: Gpu | None) -> str:
    """Typical machine around cards, by the age of the newest; a desktop of today without a card."""
    if gpu is None:
        return TYPICAL.host
    if LAPTOP_CARD in gpu.name:
        return TYPICAL_LAPTOP
    released = [card.row.released for card in parts.cards]
    if all(released) and max(released) < DDR5_SINCE:
        return TYPICAL.older_host
    return TYPICAL.host


def _bandwidth(spec: MachineSpec, row: HostRow) -> Quantity | None:
    """Bandwidth of the RAM as stated, or by the stated channels and rate; None without both
    [B/s].
    """
    if spec.ram_gbs is not None:
        return Quantity.given(spec.ram_gbs * GB)
    if spec.ram_mts is None and spec.ram_channels is None:
        return None
    channels = spec.ram_channels or row.memory_channels or 2
    rate = spec.ram_mts or row.memory_mts or 3200
    words = f"{channels:g} channels x 8 B x {rate:g} MT/s"
    return Host.sustained(channels * 8 * rate * 1e6, from_catalog.ram_segment(row), words, date="")


JETSON = "Jetson"  # beginning of the names of NVIDIA's boards, whose cores start kernels slowly


def _unified_host(spec: MachineSpec, parts: StatedParts, gpu: Gpu) -> Host:
    """Processor on the chip of a GPU with unified memory, from its row where there is one."""
    chip = catalog.HOSTS.known(re.sub(r"^.*\((.*)\)$|\s\d+c$", r"\1", gpu.name))
    row = parts.card(gpu)
    named = catalog.GPUS.named(str(spec.gpu)).memory_gib
    if spec.ram_gb is None and named is not None:
        spec = replace(spec, ram_gb=named)
    memory = _memory(spec, row.memory_gib)
    if chip is not None:
        return from_catalog.host_of(chip, memory, _bandwidth(spec, chip))
    rate = row.bandwidth_gbs * GB
    name = "its own processor"
    kind = "board" if JETSON in gpu.name else "unified"
    usual = Host.sustained(rate, kind, row.source, row.source_date)
    bandwidth = _bandwidth(spec, catalog.HOSTS.find(TYPICAL.host)) or usual
    return Host(name=name, segment=kind, cores=8, memory=memory, bandwidth=bandwidth)


def _memory(spec: MachineSpec, typical: float) -> Quantity:
    if spec.ram_gb is not None:
        return Quantity.given(spec.ram_gb * GIB)
    return Quantity(typical * GIB, Provenance.ASSUMED, "a common size; type yours")


def drive(spec: MachineSpec, host: Host) -> Disk:
    """Drive as stated, or as Macs with such a chip have it, or a typical one."""
    if spec.disk_gbs is not None:
        return Disk(
            name=spec.disk or "drive as given", sequential=Quantity.given(spec.disk_gbs * GB)
        )
    if spec.disk is not None:
        return from_catalog.disk(spec.disk)
    return from_catalog.mac_disk(host.name) or from_catalog.disk(TYPICAL.disk)
