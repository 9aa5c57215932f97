"""Machine of a published row, with defaults for what it leaves out."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import numpy as np

from advisor.errors import AdvisorError, UnknownName
from advisor.evidence.published.batch import Noted
from advisor.evidence.published.row import PublishedRow, meaning
from advisor.machine import from_catalog
from advisor.machine.catalog import cpu_named, find_host, gpu_named, machine_named
from advisor.machine.from_spec import TYPICAL_HOST
from advisor.machine.names.gpu_names import GpuName
from advisor.machine.names.preset_names import MachineName
from advisor.machine.names.words import plain, size_gib
from advisor.machine.rows import HostRow
from advisor.machine.spec import MIXED, NO_GPU, MachineSpec
from advisor.runtimes import Runtime
from advisor.runtimes.expert_offloading import EXPERT_STREAMING
from advisor.units import GB

# GPUs of a published row, alike or mixed.

BETWEEN = re.compile(r"\s*(?:\+|,|&|;|\band\b)\s*")
"""Separators between cards of different kinds."""
BRACKET = re.compile(r"\(([^()]*)\)")


def stated_gpus(row: PublishedRow) -> Noted[tuple[str, int]]:
    """GPUs of a row and their number, as `MachineSpec` takes them.

    A cell with a single name means `gpu_count` cards of it. Other cells list cards in order:
    "2x A + B" are three. Brackets and parts that are not cards are ignored, unless the first part
    is not a card. Where names and `gpu_count` disagree, the names count. A cell that names no card
    may name a whole machine.
    """
    stated, stated_count = row.gpu, row.gpu_count
    alike = max(stated_count or 1, 1)
    if not stated or stated.casefold() == NO_GPU:
        return Noted((NO_GPU, alike))
    card = looked_up(gpu_named, stated)
    if card is None and (graphics := _own_graphics(row)):
        note = f"GPU {stated!r} is taken as {graphics}, the graphics of {row.cpu}"
        return Noted((graphics, alike), (note,))
    whole = named_machine(stated) if card is None else None
    if whole is not None:
        note = f"GPU {stated!r} is taken as {whole.name}"
        count = max(whole.spec.gpu_count, alike)
        return Noted((whole.spec.gpu or NO_GPU, count), (note,))
    if card is None or _lists_cards(stated, card):
        cards = _cards(stated)  # one name for all of them leaves some out
    elif card.count == 1:
        return Noted((card.row.name, alike), tuple(card.notes))
    else:
        cards = Noted([(card.count, card.row.name)], tuple(card.notes))
    words = MIXED.join(f"{count}x {name}" if count > 1 else name for count, name in cards.value)
    total = sum(count for count, _ in cards.value)
    if total == 1:
        note = f"GPU {stated!r} is taken as {words}"
        return Noted((words, alike), (*cards.notes, note))
    if stated_count in (None, total):
        return Noted((words, 1), cards.notes)
    note = f"{stated!r} names {total} GPUs where gpu_count is {stated_count}: {words}"
    return Noted((words, 1), (*cards.notes, note))


WITHOUT_A_MODEL = re.compile(
    r"(?:amd )?radeon(?:\(tm\))? graphics|intel(?:\(r\))? (?:\w+(?:\(r\))? )?graphics"
    r"|(?:its |the )?(?:igpu|own graphics|integrated (?:gpu|graphics))"
)
"""Names of a processor's own graphics that do not say which they are."""


def _own_graphics(row: PublishedRow) -> str:
    """Graphics of a row's processor, where the GPU's cell says no more; empty for other cells."""
    if not row.cpu or WITHOUT_A_MODEL.fullmatch(row.gpu.casefold()) is None:
        return ""
    cpu = looked_up(cpu_named, row.cpu)
    card = cpu and looked_up(gpu_named, cpu.gpu)
    return card.row.name if card else ""


Meaning = TypeVar("Meaning")


def looked_up(find: Callable[[str], Meaning], name: str) -> Meaning | None:
    """What a name of a source means; None where the catalogue does not know it."""
    try:
        return find(name)
    except UnknownName:
        return None


def _lists_cards(stated: str, card: GpuName) -> bool:
    """Whether a cell has several parts, not a card beside its own processor ("Max+ 395, Radeon").

    A reading that left words out has notes.
    """
    first, *others = _named_cards(stated)
    return bool(others) and (bool(card.notes) or looked_up(gpu_named, first) is not None)


def named_machine(stated: str) -> MachineName | None:
    """Machine with GPUs that a GPU cell names; None where it names cards or nothing known.

    A list of different cards is no machine here, since it is read card by card.
    """
    try:
        machine = machine_named(stated)
    except AdvisorError:
        return None
    gpu = machine.spec.gpu
    return machine if gpu not in (None, NO_GPU) and MIXED not in str(gpu) else None


def stated_memory(stated: str, gpu: str) -> float | None:
    """Memory of each card as its name states it; None where it does not [GiB]."""
    row = None if MIXED in gpu else gpu_named(gpu).row
    if row is None or row.unified or not size_gib(plain(stated)):
        return None
    return row.memory_gib


def _cards(stated: str) -> Noted[list[tuple[int, str]]]:
    """Number and name of each kind of card, in order."""
    cards: list[tuple[int, str]] = []
    unknown: list[str] = []
    for part in _named_cards(stated):
        try:
            card = gpu_named(part)
            cards.append((card.count, card.row.name))
        except UnknownName:
            unknown.append(part)
            if not cards:
                raise
    if not unknown:
        return Noted(cards)
    note = f"{', '.join(unknown)} in {stated!r} is no GPU of the catalogue: left out"
    return Noted(cards, (note,))


def _named_cards(stated: str) -> list[str]:
    """Names in a cell, card by card, each with the memory that brackets after it state."""
    parts = BETWEEN.split(BRACKET.sub(_size_in, stated))
    return [part.strip() for part in parts if part.strip()]


def _size_in(bracket: re.Match[str]) -> str:
    size = size_gib(plain(bracket[1]))
    return f" {size:g}GB" if size else ""


def stated_machine(row: PublishedRow) -> Noted[MachineSpec]:
    """Machine of a row without its RAM size, with notes on defaults."""
    gpus = Noted((NO_GPU, 1)) if row.category == "cpu" else stated_gpus(row)
    gpu, count = gpus.value
    parts = _parts(row)
    cpu = _known_cpu(row) if parts is None else Noted(parts.spec.cpu, tuple(parts.notes))
    disk_gbs, disk = _drive(row)
    channels = parts.spec.ram_channels if parts else None
    rate = parts.spec.ram_mts if parts else None
    machine = MachineSpec(
        gpu=gpu,
        gpu_count=count,
        vram_gb=None if gpu == NO_GPU else stated_memory(row.gpu, gpu),
        cpu=cpu.value,
        ram_gbs=_ram_gbs(row, cpu.value),
        ram_channels=row.ram_channels or channels,
        ram_mts=row.ram_mts or rate,
        cores=_cores(row, cpu.value, parts.spec.cores if parts else None),
        pcie_gbs=row.h2d_gbs,
        pcie_gen=row.pcie_gen,
        pcie_lanes=row.pcie_lanes,
        disk=disk,
        disk_gbs=disk_gbs,
        driver=_driver(row),
    )
    return Noted(machine, (*gpus.notes, *cpu.notes))


MESA = re.compile(r"\bmesa (\d+\.\d+(?:\.\d+)?)", re.IGNORECASE)


def _driver(row: PublishedRow) -> str | None:
    """Graphics driver stated with an Intel card under Vulkan, whose speed it changes most."""
    stated = MESA.search(f"{row.os} {row.source_note}")
    told = f"{row.runtime} {row.source_note}".casefold()
    if stated is None or "arc" not in row.gpu.casefold() or "vulkan" not in told:
        return None
    return f"mesa {stated[1]}"


UNLIMITED_RAM_GIB = 100_000.0
"""RAM of rows that do not state it but did fit [GiB]."""
BESIDE_A_DRIVE_GIB = 64.0
"""RAM of rows that read from a drive and do not state it [GiB]; assumed."""
AT_HOME_GIB = 64.0
"""RAM of home machines that stream experts and do not state it [GiB]; assumed."""
SERVERS_GIB = 256.0
"""RAM of servers that offload and do not state it [GiB]; assumed."""


def ram_gib(row: PublishedRow, runtime: Runtime) -> Noted[float | None]:
    """RAM stated with the processor or in the note, else a default [GiB].

    None for a GPU that shares the processor's memory; its name or catalogue row gives the size.
    """
    stated = f"{row.cpu} {row.source_note}"
    if runtime.computes_in_ram:
        return _for_pages(stated) if row.category == "nvme" else Noted(UNLIMITED_RAM_GIB)
    size_match = re.search(r"(\d+(?:\.\d+)?) ?(GB|TB)(?! ?/s)", stated)
    if size_match:
        size = float(size_match.group(1)) * (1024.0 if size_match.group(2) == "TB" else 1.0)
        return Noted(min(max(size, 1.0), 100_000.0))
    if _shares_memory(row.gpu):
        return Noted(None)
    at_home = runtime.engine == EXPERT_STREAMING.engine
    usual = AT_HOME_GIB if at_home else SERVERS_GIB
    needed = row.category not in ("resident", "batched")
    return Noted(usual, (_assumed(usual),) if needed else ())


def _shares_memory(gpu: str) -> bool:
    """Whether a cell names a single GPU that shares the processor's memory."""
    try:
        return gpu_named(gpu).row.unified
    except UnknownName:
        whole = named_machine(gpu)
        return whole is not None and gpu_named(str(whole.spec.gpu)).row.unified


def _assumed(size: float) -> str:
    return f"RAM is not stated: {size:g} GiB stand in"


def _for_pages(stated: str) -> Noted[float | None]:
    """RAM of a run computed in place [GiB]; it matters only for pages read from a drive."""
    size_match = re.search(r"(\d+(?:\.\d+)?) ?GB(?! ?/s)", stated)
    if size_match:
        return Noted(min(max(float(size_match.group(1)), 1.0), 4096.0))
    return Noted(BESIDE_A_DRIVE_GIB, (_assumed(BESIDE_A_DRIVE_GIB),))


GENERIC = "generic"
"""Vendor of typical platforms, which are not products."""


def _parts(row: PublishedRow) -> MachineName | None:
    """Machine that a processor cell names, such as one for rent; None where it names no machine."""
    if not row.cpu or _host_called(row.cpu) is not None:
        return None
    try:
        machine = machine_named(row.cpu)
    except AdvisorError:
        return None
    return machine if machine.spec.cpu else None


def _known_cpu(row: PublishedRow) -> Noted[str | None]:
    stated = row.cpu or _cpu_of_machine(row)
    if not stated:
        return Noted(None)
    host = _host_called(stated)
    if host is None:
        name = meaning("processor", stated.casefold()) or TYPICAL_HOST
        return Noted(name, (f"CPU {stated!r} is not in the catalogue: {name} stands in",))
    if host.bandwidth_gbs is None and not (row.ram_bw_gbs or row.ram_mts):
        note = f"{host.name}: RAM bandwidth not published, a typical desktop stands in"
        return Noted(None, (note,))
    if host.vendor == GENERIC and stated.casefold() not in _spellings(host):
        return Noted(host.name, (f"CPU {stated!r} is taken as {host.name}",))
    return Noted(host.name)


def _cpu_of_machine(row: PublishedRow) -> str:
    """Processor of the machine that a GPU cell names; empty where it names cards."""
    whole = named_machine(row.gpu) if looked_up(gpu_named, row.gpu) is None else None
    return (whole.spec.cpu or "") if whole else ""


def _spellings(row: HostRow) -> list[str]:
    return [name.strip().casefold() for name in (row.name, *row.aliases.split(";"))]


def ram_peak(row: PublishedRow) -> bool:
    """Whether a row's RAM rate is a datasheet value: stated so, or too high to be sustained."""
    stated, note = row.ram_bw_gbs or 0.0, row.source_note
    if "theor" in note and "measured" not in note:
        return True
    channels, rate = row.ram_channels, row.ram_mts
    peak = channels * 8e-3 * rate if channels and rate else _catalogue_peak(row.cpu)
    return stated > from_catalog.MOST_SUSTAINED * peak


def _catalogue_peak(cpu: str) -> float:
    host = _host_called(cpu)
    return (host.bandwidth_gbs if host else None) or np.inf


@lru_cache(maxsize=1024)
def _host_called(cpu: str) -> HostRow | None:
    """Catalogue row of a processor; None where it has none. Cached, as many rows name the same."""
    return looked_up(find_host, cpu)


def _ram_gbs(row: PublishedRow, cpu: str | None) -> float | None:
    stated = row.ram_bw_gbs
    if stated is None or not ram_peak(row):
        return stated
    segment = from_catalog.ram_segment(cpu or TYPICAL_HOST)
    return float(from_catalog.sustained(stated * GB, segment, "", "").value) / GB


def ram_in_theory(row: PublishedRow, host: str) -> float | None:
    """Theoretical RAM bandwidth of a row with a processor of the catalogue; None where its rate is
    sustained or unknown [B/s].
    """
    known, stated = _host_called(host), row.ram_bw_gbs
    if known is None:
        return None
    if stated:
        return stated * GB if ram_peak(row) else None
    rate = row.ram_mts
    if rate and known.bandwidth_gbs is not None:
        channels = row.ram_channels or known.memory_channels or 2.0
        return channels * 8e6 * rate
    return None if known.bandwidth_gbs is None else known.bandwidth_gbs * GB


VCPUS = re.compile(r"(\d+) ?vcpus?\b")
CORES = re.compile(r"(\d+)[ -]cores?\b")
WHOLE_CORES = re.compile(r"\b[cmr](?:7a|8a|[678]g)")
"""Cloud instances whose virtual processors are whole cores; on others two share a core
(https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cpu-options-supported-instances-values.html).
"""


def _cores(row: PublishedRow, cpu: str | None, rented: int | None) -> int | None:
    """Cores in use: one per thread, up to the number of cores, `rented` ones where not None."""
    threads, there = row.threads, rented or _cores_stated(row.cpu.casefold())
    if threads is None:
        return there
    if there is None and cpu is not None:
        there = find_host(cpu).cores
    return min(threads, there or threads)


def _cores_stated(cpu: str) -> int | None:
    """Cores stated in the words for a row's processor; None where they are not."""
    rented, written = VCPUS.search(cpu), CORES.search(cpu)
    if rented:
        return max(int(rented[1]) // (1 if WHOLE_CORES.search(cpu) else 2), 1)
    return int(written[1]) if written and _host_called(cpu) is None else None


OLD_DRIVE, SINCE = "NVMe PCIe 3.0 x4 (typical)", "2024"
"""Drive assumed for runs before a year."""


def _drive(row: PublishedRow) -> tuple[float | None, str | None]:
    """Rate [GB/s] and catalogue name of a row's drive; None for values that are not stated."""
    rate = row.disk_gbs
    stated = f"{row.cpu} {row.other_metric} {row.source_note}".casefold()
    told = re.search(r"\bdisk ~(\d+(?:\.\d+)?)", stated)
    if rate is None and told:
        rate = float(told.group(1))
    old = row.category == "nvme" and "" < row.date < SINCE
    return rate, meaning("drive", stated) or (OLD_DRIVE if old else None)
