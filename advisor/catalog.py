"""The facts of data/, read and checked once: parts by name, models in their formats, constants."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from advisor.architecture import Architecture, ArchitectureFacts
from advisor.efficiency import Efficiency, EfficiencyRow
from advisor.model import Model, quantized
from advisor.naming import by_name, find, loose, spellings
from advisor.quantization import StorageType
from advisor.recipes import Format, RecipeRow, format_named, formats
from advisor.records import (
    AcceleratorRow,
    DiskRow,
    EffortRow,
    GpuLinkRow,
    GpuRow,
    HostRow,
    PriceRow,
)
from advisor.tables import DATA, read
from advisor.tensors import build
from advisor.units import GIB


@cache
def gpu_rows() -> Mapping[str, GpuRow]:
    """GPUs by name."""
    return by_name(read(DATA / "gpus.csv", GpuRow))


@cache
def gpu_links() -> Mapping[str, GpuLinkRow]:
    """Links that GPUs have to others of their kind, by GPU."""
    return {row.gpu: row for row in read(DATA / "gpu_links.csv", GpuLinkRow)}


@cache
def gpu_bridges() -> Mapping[str, GpuLinkRow]:
    """What a bridge between two cards of a kind carries, by the name of the GPU."""
    return {row.gpu: row for row in read(DATA / "gpu_bridges.csv", GpuLinkRow)}


@cache
def host_rows() -> Mapping[str, HostRow]:
    """CPUs and platforms by name."""
    return by_name(read(DATA / "hosts.csv", HostRow))


@cache
def disk_rows() -> Mapping[str, DiskRow]:
    """Drives by name."""
    return by_name(read(DATA / "disks.csv", DiskRow))


@cache
def model_rows() -> Mapping[str, ArchitectureFacts]:
    """Architectures' numbers by name."""
    return by_name(read(DATA / "models.csv", ArchitectureFacts))


@cache
def price_rows() -> tuple[PriceRow, ...]:
    """Rents and purchase prices."""
    return read(DATA / "prices.csv", PriceRow)


@cache
def setup_efforts() -> Mapping[str, EffortRow]:
    """What it takes to get a runtime going, by its name."""
    return {row.runtime: row for row in read(DATA / "setup_effort.csv", EffortRow)}


@cache
def accelerators() -> Mapping[str, AcceleratorRow]:
    """What SkyPilot calls a GPU, by its name in the catalogue."""
    return {row.gpu: row for row in read(DATA / "skypilot_gpus.csv", AcceleratorRow)}


@cache
def storage_types() -> Mapping[str, StorageType]:
    """Types that tensors are stored in."""
    return {row.name: row for row in read(DATA / "quants.csv", StorageType)}


@cache
def model_formats() -> Mapping[str, Format]:
    """Formats that people choose."""
    return formats(read(DATA / "recipes.csv", RecipeRow))


@cache
def efficiency() -> Efficiency:
    """Shares of peak and fixed costs."""
    return Efficiency(read(DATA / "efficiency.csv", EfficiencyRow))


def find_model(name: str) -> ArchitectureFacts:
    """The catalogue's row of a model.

    Raises:
        UnknownName: with close names.
    """
    return find("model", name, model_rows(), "`data/models.csv` lists those it knows.")


def repository(name: str) -> str:
    """The unquantized checkpoint on Hugging Face; the name itself of a model from elsewhere."""
    row = model_rows().get(name)
    return row.hf_id if row and row.hf_id else name


@cache
def architecture(name: str) -> Architecture:
    """A catalogue model before its format is chosen.

    Raises:
        UnknownName: with close names.
        Refusal: a model whose row cannot be derived, and why.
    """
    return build(find_model(name))


@cache
def model(name: str, form: str) -> Model:
    """A catalogue model in a format.

    Raises:
        UnknownName: the model or the format.
        Refusal: a pair that cannot be.
    """
    return in_format(architecture(name), form)


@lru_cache(maxsize=512)
def in_format(arch: Architecture, form: str) -> Model:
    """An architecture in a format.

    Raises:
        UnknownName: the format.
        Refusal: a pair that cannot be.
    """
    return quantized(arch, format_named(form, model_formats()), storage_types())


STATED_SIZE = re.compile(r"\b(\d+(?:\.\d+)?) ?gi?b\b", re.IGNORECASE)


def find_gpu(name: str, memory: float | None = None) -> GpuRow:
    """The catalogue's row of a GPU.

    Args:
        name: as people call it; a size in it ("RTX 3080 12 GB") tells cards apart.
        memory: its size, to tell cards apart that drivers call alike [B].

    Raises:
        UnknownName: with close names.
    """
    found = find("GPU", name, gpu_rows(), "`data/gpus.csv` lists those it knows.")
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
    return find("CPU", name, host_rows(), "`data/hosts.csv` lists those it knows.")


def find_disk(name: str) -> DiskRow:
    """The catalogue's row of a drive.

    Raises:
        UnknownName: with close names.
    """
    return find("drive", name, disk_rows(), "`data/disks.csv` lists those it knows.")
