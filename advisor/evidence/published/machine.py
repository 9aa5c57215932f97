"""Machine of a published row, with defaults for what it leaves out."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import numpy as np

from advisor.cost_model.runtime import Runtime
from advisor.errors import AdvisorError, UnknownName
from advisor.evidence.published.engines import EXPERT_STREAMING
from advisor.evidence.published.row import PublishedRow, figure, meaning, stated
from advisor.formatting import counted
from advisor.machine import from_catalog
from advisor.machine.catalog import GPUS, HOSTS, MACHINES
from advisor.machine.from_spec import TYPICAL, cards_of
from advisor.machine.machine import Host
from advisor.machine.names.preset_names import MachineName
from advisor.machine.names.words import size_in
from advisor.machine.rows import HostRow
from advisor.machine.spec import MachineSpec
from advisor.units import GB

# GPUs of a published row, alike or mixed.


def stated_gpus(row: PublishedRow) -> tuple[str, int]:
    """GPUs of a row and their number, as `MachineSpec` takes them.

    A cell that names a single card means `gpu_count` of it. Others list cards, "2x A + B", or name
    a whole machine; where they and `gpu_count` disagree, the names count.
    """
    cell = row.gpu
    alike = max(row.gpu_count or 1, 1)
    if not cell or cell.casefold() == MachineSpec.NO_GPU:
        return MachineSpec.NO_GPU, alike
    card = looked_up(GPUS.named, cell) or looked_up(GPUS.named, REMARK.sub(_size_in, cell))
    machine = _machine_with_gpus(cell)
    if card is not None:
        row.notes += card.notes
        name = card.row.name
        count = card.count
    elif graphics := _own_graphics(row):
        row.notes.append(f"GPU {cell!r} is taken as {graphics}, the graphics of {row.cpu}")
        return graphics, alike
    elif machine is not None:
        name = str(machine.spec.gpu)
        count = machine.spec.gpu_count
        if MachineSpec.MIXED not in name:
            row.notes.append(f"GPU {cell!r} is taken as {machine.name}")
    else:
        # raises, and says which names are like it
        name = GPUS.named(cell).row.name
        count = 1
    total = count * sum(kind.count for kind in cards_of(name))
    if total == 1:
        return name, alike
    if row.gpu_count not in (None, total):
        words = counted(count, name)
        row.notes.append(f"{cell!r} names {total} GPUs where gpu_count is {row.gpu_count}: {words}")
    return name, count


REMARK = re.compile(r"\(([^()]*)\)")


def _size_in(remark: re.Match[str]) -> str:
    size = size_in(remark[1])
    if size:
        return f" {size:g}GB"
    return ""


def _own_graphics(row: PublishedRow) -> str:
    """Graphics of a row's processor, where the GPU's cell says no more; empty for other cells."""
    if not row.cpu or stated("graphics without a model", row.gpu.casefold()) is None:
        return ""
    cpu = looked_up(HOSTS.named, row.cpu)
    card = cpu and looked_up(GPUS.named, cpu.gpu)
    if card:
        return card.row.name
    return ""


Meaning = TypeVar("Meaning")


def looked_up(find: Callable[[str], Meaning], name: str) -> Meaning | None:
    """Row for a name in a source; None for a name that the catalogue does not know."""
    if len(name) > UnknownName.LONGEST:
        return None
    return _row_or_none(find, name)


@lru_cache(maxsize=4096)
def _row_or_none(find: Callable[[str], Meaning], name: str) -> Meaning | None:
    """Row of a name, or None; cached, since tables repeat unknown names as often as known ones."""
    try:
        return find(name)
    except AdvisorError:
        return None


def _machine_with_gpus(cell: str) -> MachineName | None:
    """Machine, or list of cards, that a GPU's cell names; None where it names no GPU."""
    machine = looked_up(MACHINES.named, cell)
    if machine and machine.spec.gpu not in (None, MachineSpec.NO_GPU):
        return machine
    return None


def stated_machine(row: PublishedRow) -> MachineSpec:
    """Machine of a row without its RAM size; memory of a card counts as typed where its name states
    it.
    """
    gpu, count = (MachineSpec.NO_GPU, 1) if row.category == "cpu" else stated_gpus(row)
    known = not row.cpu or _host_called(row.cpu) is not None
    if known:
        named = None
    else:
        named = looked_up(MACHINES.named, row.cpu)
    # a machine in place of a processor
    if named and named.spec.cpu:
        parts = named
    else:
        parts = None
    spec = parts.spec if parts else MachineSpec()
    row.notes += parts.notes if parts else ()
    cpu = spec.cpu if parts else _known_cpu(row)
    disk_gbs, disk = _drive(row)
    if gpu == MachineSpec.NO_GPU or MachineSpec.MIXED in gpu:
        card = None
    else:
        card = GPUS.find(gpu)
    sized = card is not None and not card.unified and size_in(row.gpu)
    return MachineSpec(
        gpu=gpu,
        gpu_count=count,
        vram_gb=card.memory_gib if card and sized else None,
        cpu=cpu,
        ram_gbs=_ram_gbs(row, cpu),
        ram_channels=row.ram_channels or spec.ram_channels,
        ram_mts=row.ram_mts or spec.ram_mts,
        cores=_cores(row, cpu, spec.cores),
        pcie_gbs=row.h2d_gbs,
        pcie_gen=row.pcie_gen,
        pcie_lanes=row.pcie_lanes,
        disk=disk,
        disk_gbs=disk_gbs,
        driver=_driver(row),
    )


def _driver(row: PublishedRow) -> str | None:
    """Graphics driver stated with an Intel card under Vulkan, whose speed it changes most."""
    mesa = stated("Mesa", f"{row.os} {row.source_note}")
    of_arc = "arc" in row.gpu.casefold() and "vulkan" in row.source_words.casefold()
    if mesa and of_arc:
        return f"mesa {mesa[1]}"
    return None


UNLIMITED_RAM_GIB = 40_000.0
"""RAM of rows that do not state it but did fit, more than any model takes [GiB]."""
AT_HOME_GIB = 64.0
"""RAM of rows that read from a drive, or of home machines that stream experts, and do not state it
[GiB]; assumed."""
SERVERS_GIB = 256.0  # RAM of servers that offload and do not state it [GiB]; assumed


def ram_gib(row: PublishedRow, runtime: Runtime, gpu: str) -> float | None:
    """RAM stated with the processor or in the note, or a default [GiB].

    None for a GPU that shares the processor's memory: its catalogue row gives the size. Where the
    processor computes in place, it matters only for pages read from a drive.
    """
    in_place = runtime.computes_in_ram
    if in_place and row.category != "nvme":
        return UNLIMITED_RAM_GIB
    size = stated("GB of RAM" if in_place else "GB or TB of RAM", f"{row.cpu} {row.source_note}")
    if size:
        if size[0].endswith("TB"):
            unit = 1024.0
        else:
            unit = 1.0
        return min(max(float(size[1]) * unit, 1.0), 4096.0 if in_place else UNLIMITED_RAM_GIB)
    if not in_place and gpu != MachineSpec.NO_GPU and cards_of(gpu)[0].row.unified:
        return None
    at_home = in_place or runtime.engine == EXPERT_STREAMING.engine
    usual = AT_HOME_GIB if at_home else SERVERS_GIB
    if row.category not in ("resident", "batched"):
        row.notes.append(f"RAM is not stated: {usual:g} GB stand in")
    return usual


GENERIC = "generic"  # vendor of typical platforms, which are not products


def _known_cpu(row: PublishedRow) -> str | None:
    cell = row.cpu
    if not cell and looked_up(GPUS.named, row.gpu) is None:
        machine = _machine_with_gpus(row.gpu)
        cell = (machine.spec.cpu if machine else None) or ""
    if not cell:
        return None
    host = _host_called(cell)
    if host is None:
        name = meaning("processor", cell.casefold()) or TYPICAL.host
        row.notes.append(f"CPU {cell!r} is not in the catalogue: {name} stands in")
        return name
    if host.bandwidth_gbs is None and not (row.ram_bw_gbs or row.ram_mts):
        row.notes.append(f"{host.name}: RAM bandwidth not published, a typical desktop stands in")
        return None
    spellings = (host.name, *host.aliases.split(";"))
    if host.vendor == GENERIC and cell.casefold() not in {
        name.strip().casefold() for name in spellings
    }:
        row.notes.append(f"CPU {cell!r} is taken as {host.name}")
    return host.name


def ram_peak(row: PublishedRow) -> bool:
    """Whether a row's RAM rate is a datasheet value: stated so, or too high to be sustained."""
    if "theor" in row.source_note and "measured" not in row.source_note:
        return True
    if row.ram_channels and row.ram_mts:
        peak = row.ram_channels * 8e-3 * row.ram_mts
    else:
        host = _host_called(row.cpu)
        peak = (host.bandwidth_gbs if host else None) or np.inf
    return (row.ram_bw_gbs or 0.0) > Host.MOST_SUSTAINED * peak


@lru_cache(maxsize=1024)
def _host_called(cpu: str) -> HostRow | None:
    """Catalogue row of a processor; None where it has none. Cached, as many rows name the same."""
    return looked_up(HOSTS.find, cpu)


def _ram_gbs(row: PublishedRow, cpu: str | None) -> float | None:
    rate = row.ram_bw_gbs
    if rate is None or not ram_peak(row):
        return rate
    segment = from_catalog.ram_segment(_host_called(cpu or TYPICAL.host))
    return float(Host.sustained(rate * GB, segment, "", "").value) / GB


def _cores(row: PublishedRow, cpu: str | None, rented: int | None) -> int | None:
    """Cores in use: one per thread, up to the number of cores, `rented` ones where not None."""
    threads = row.threads
    there = rented or _cores_stated(row.cpu.casefold())
    if threads is None:
        return there
    if there is None and cpu is not None:
        there = HOSTS.find(cpu).cores
    return min(threads, there or threads)


def _cores_stated(cpu: str) -> int | None:
    """Cores stated in the words for a row's processor; None where they are not."""
    rented = figure("virtual processors", cpu)
    cores = figure("cores", cpu)
    if rented:
        return max(int(rented) // (1 if stated("whole cores", cpu) else 2), 1)
    if cores is not None and _host_called(cpu) is None:
        return int(cores)
    return None


# drive assumed for runs before a year
OLD_DRIVE = "NVMe PCIe 3.0 x4 (typical)"
SINCE = "2024"


def _drive(row: PublishedRow) -> tuple[float | None, str | None]:
    """Rate [GB/s] and catalogue name of a row's drive; None for values that are not stated."""
    words = f"{row.cpu} {row.other_metric} {row.source_note}".casefold()
    rate = row.disk_gbs
    if rate is None:
        rate = figure("drive's rate", words)
    old = row.category == "nvme" and "" < row.date < SINCE
    return rate, meaning("drive", words) or (OLD_DRIVE if old else None)
