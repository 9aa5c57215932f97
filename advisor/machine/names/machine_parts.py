"""Machine of the graphics, the processor and the memory that a name lists."""

import re
from collections.abc import Mapping

from advisor.machine.names.cpu_names import CpuName
from advisor.machine.names.gpu_names import GpuName
from advisor.machine.names.gpu_words import either, memory_options
from advisor.machine.names.machine_memory import (
    main_memory,
    memory_sizes,
    rate_of_type,
    server_memory,
)
from advisor.machine.names.machine_words import (
    cores_of_part,
    typical_platform,
    virtual_processors,
)
from advisor.machine.names.preset_names import MachineName
from advisor.machine.rows import GpuRow, HostRow
from advisor.machine.spec import MIXED, NO_GPU, MachineSpec

TYPICAL_LAPTOP = "Laptop DDR5-5600 dual-channel (typical)"
"""Host of a laptop with a graphics card, whose modules are plugged in."""
FEWEST_CHANNELS = 2
"""Memory channels that a small part of a host reaches, as in data/hardware/machines.csv."""
SIZED = re.compile(r" \d+GB$")
"""End of the names of cards that are sold with several memory sizes."""


def machine_of_parts(
    gpus: list[GpuName],
    cpu: CpuName | None,
    rest: str,
    notes: list[str],
    *,
    stated: tuple[int | None, float | None, str],
    laptop: bool,
    rows: Mapping[str, GpuRow],
) -> MachineName:
    """Machine of graphics and a processor, with the memory that the rest of its name has.

    Args:
        gpus: graphics, kind by kind.
        cpu: processor; None for an unknown one.
        rest: plain text without graphics.
        notes: what was assumed so far.
        stated: channels of a socket, rate [MT/s] and type of the memory in the name.
        laptop: the machine is a laptop.
        rows: rows of all graphics.
    """
    chip = gpus[0].row if len(gpus) == 1 and gpus[0].row.unified else None
    large = cpu is not None and cpu.row.segment in ("server", "workstation")
    sizes = memory_sizes(rest) or (server_memory(rest) if large else [])
    memory = max(sizes, default=None) if large else main_memory(rest)
    platform = cpu.row.name if cpu else None
    notes = [*notes, *(note for part in (*gpus, cpu) if part for note in part.notes)]
    if cpu is None and chip is None:
        kind = typical_platform(stated[2].casefold()) if gpus else None
        platform = typical_platform(rest) or (TYPICAL_LAPTOP if laptop else kind)
        notes += [f"The processor is taken as {platform}."] if platform else []
    threads = None if chip else virtual_processors(rest)
    if threads:
        notes.append(f"{threads} virtual processors are taken as half a core each.")
    part = None if chip or threads else cores_of_part(rest)
    if part and cpu and part < cpu.row.cores:
        notes.append(f"{part} of the {cpu.row.cores} cores, with their share of the channels.")
    cores = max(1, threads // 2) if threads else part
    notes += [note for gpu in gpus if (note := _other_sizes(gpu, rows))]
    cards, count = listed(gpus)
    channels, rate = stated[:2] if chip is None or chip.of_ram else (None, None)
    if cpu and chip is None and rate is None:
        rate, assumed = rate_of_type(stated[2], cpu.row)
        notes += [assumed] if assumed else []
    if cpu and channels:
        channels = _of_all_sockets(channels, cpu.row)
    elif cpu and cores:
        channels = share_of_channels(cpu.row, cores)
    spec = MachineSpec(
        gpu=cards,
        gpu_count=count,
        cores=cores,
        ram_channels=channels,
        ram_mts=rate,
        vram_gb=gpus[0].part_gib if len(gpus) == 1 else None,
        cpu=platform,
        ram_gb=memory or (_own_memory(gpus[0]) if chip else None),
    )
    unsaid = _unsaid_memory(gpus[0]) if chip and spec.ram_gb is None else ""
    label = (f"{count}x {cards}" if count > 1 else cards) if gpus else ""
    return MachineName(
        name=", ".join(filter(None, (label, "" if chip else platform))),
        spec=spec,
        notes=tuple(filter(None, (*notes, unsaid))),
        memory_note=unsaid,
        alternatives=gpus[0].alternatives if gpus else (),
    )


def _of_all_sockets(channels: int, row: HostRow) -> int:
    """Memory channels of all sockets, where those of a single socket may be stated."""
    of_socket = (row.memory_channels or channels) / row.sockets
    return channels * row.sockets if channels <= of_socket else channels


def _other_sizes(gpu: GpuName, rows: Mapping[str, GpuRow]) -> str:
    """Note on the memory that a name does not say, where cards of it differ; else empty."""
    own = gpu.row.memory_gib
    sizes = {own, *(rows[name].memory_gib for name in gpu.alternatives)}
    if gpu.memory_gib or len(sizes) == 1 or not SIZED.search(gpu.row.name):
        return ""
    bare = SIZED.sub("", gpu.row.name)
    return f"{bare} is sold with {either(tuple(sorted(sizes)))} GB: {own:g} GB is assumed."


def share_of_channels(host: HostRow, cores: int) -> int:
    """Memory channels that some cores of a host are given."""
    channels = (host.memory_channels or FEWEST_CHANNELS) * cores / host.cores
    return max(FEWEST_CHANNELS, round(channels))


def listed(gpus: list[GpuName]) -> tuple[str, int]:
    """Cards as `MachineSpec.gpu` takes them, and the factor on their numbers."""
    if not gpus:
        return NO_GPU, 1
    if len(gpus) == 1:
        return gpus[0].row.name, gpus[0].count
    kinds = (f"{gpu.count}x {gpu.row.name}" if gpu.count > 1 else gpu.row.name for gpu in gpus)
    return MIXED.join(kinds), 1


def _unsaid_memory(gpu: GpuName) -> str:
    """Note on the memory of a chip that is sold with several sizes; empty for others."""
    sold = memory_options(gpu.row)
    if len(sold) < 2:
        return ""
    return (
        f"How much memory it has is not said: {gpu.row.memory_gib:g} GB is assumed; sold with "
        f"{either(sold)} GB."
    )


def _own_memory(gpu: GpuName) -> float | None:
    """Memory of a chip as its name says, else of a single one the only size that it has [GiB]."""
    sold = memory_options(gpu.row) or (gpu.row.memory_gib,)
    only = len(sold) == 1 and gpu.count == 1 and not gpu.row.of_ram
    return gpu.memory_gib or (sold[0] if only else None)
