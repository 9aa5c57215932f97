"""Hardware of the catalogue, by name."""

import re
from collections.abc import Mapping
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.name_matching import by_name, find, loose, spellings
from advisor.machine.rows import DiskRow, GpuLinkRow, GpuRow, HostRow
from advisor.units import GIB


@cache
def gpu_rows() -> Mapping[str, GpuRow]:
    """GPUs by name."""
    return by_name(read(DATA / "hardware/gpus.csv", GpuRow))


@cache
def gpu_links() -> Mapping[str, GpuLinkRow]:
    """Links that GPUs have to others of their kind, by GPU."""
    return {row.gpu: row for row in read(DATA / "hardware/gpu_links.csv", GpuLinkRow)}


@cache
def gpu_bridges() -> Mapping[str, GpuLinkRow]:
    """What a bridge between two cards of a kind carries, by the name of the GPU."""
    return {row.gpu: row for row in read(DATA / "hardware/gpu_bridges.csv", GpuLinkRow)}


@cache
def host_rows() -> Mapping[str, HostRow]:
    """CPUs and platforms by name."""
    return by_name(read(DATA / "hardware/hosts.csv", HostRow))


@cache
def disk_rows() -> Mapping[str, DiskRow]:
    """Drives by name."""
    return by_name(read(DATA / "hardware/disks.csv", DiskRow))


STATED_SIZE = re.compile(r"\b(\d+(?:\.\d+)?) ?gi?b\b", re.IGNORECASE)


def find_gpu(name: str, memory: float | None = None) -> GpuRow:
    """The catalogue's row of a GPU.

    Args:
        name: as people call it; a size in it ("RTX 3080 12 GB") tells cards apart.
        memory: its size, to tell cards apart that drivers call alike [B].

    Raises:
        UnknownName: with close names.
    """
    found = find("GPU", name, gpu_rows(), "`data/hardware/gpus.csv` lists those it knows.")
    stated = STATED_SIZE.search(name)
    if memory is None and stated and name.strip().casefold() not in spellings(found):
        memory = float(stated[1]) * GIB
    if memory is None:
        return found
    alike = [row for row in gpu_rows().values() if loose(row.name) == loose(found.name)]
    return min(alike, key=lambda row: abs(row.memory_gib * GIB - memory))


def find_host(name: str) -> HostRow:
    """The catalogue's row of a CPU or platform.

    Raises:
        UnknownName: with close names.
    """
    return find("CPU", name, host_rows(), "`data/hardware/hosts.csv` lists those it knows.")


def find_disk(name: str) -> DiskRow:
    """The catalogue's row of a drive.

    Raises:
        UnknownName: with close names.
    """
    return find("drive", name, disk_rows(), "`data/hardware/disks.csv` lists those it knows.")
