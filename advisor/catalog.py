"""The facts of data/ as the package's nouns: GPUs, hosts, drives, models, formats, prices."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache

from advisor.architecture import Architecture, ArchitectureFacts
from advisor.efficiency import Efficiency, EfficiencyRow
from advisor.errors import InputError
from advisor.machine import Disk, Figure, Gpu, Host, Kind, Link
from advisor.model import Model, quantized
from advisor.naming import by_name, find, loose, spellings
from advisor.quantization import Format, RecipeRow, StorageType, format_named, formats
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
from advisor.units import GB, GIB, TERA

MOST_SUSTAINED = 0.93
"""Largest share of theory that published RAM probes reach: 95 of 102 GB/s, DDR5-6400 (AIDA64)."""


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


@cache
def gpu(name: str) -> Gpu:
    """A GPU of the catalogue.

    Raises:
        UnknownName: with close names.
    """
    return gpu_of(find_gpu(name))


def gpu_of(row: GpuRow) -> Gpu:
    """The GPU that a row of the catalogue describes."""

    def sheet(value: float) -> Figure:
        return Figure(value=value, kind=Kind.DATASHEET, source=row.source, date=row.source_date)

    peaks = {
        "fp32": row.fp32_tflops,
        "fp16": row.fp16_tflops,
        "bf16": row.bf16_tflops,
        "int8": row.int8_tops,
        "fp8": row.fp8_tflops,
        "fp4": row.fp4_tflops,
    }
    return Gpu(
        name=row.name,
        vendor=row.vendor,
        family=row.family,
        memory=sheet(row.memory_gib * GIB * row.usable_share),
        bandwidth=sheet(row.bandwidth_gbs * GB),
        tensor_flops={kind: peak * TERA for kind, peak in peaks.items() if peak},
        link=_link(row),
        board_power=row.board_power_w,
        unified=row.unified,
        peer=_peer(gpu_links().get(row.name)),
    )


def bridged(gpu: Gpu) -> Gpu:
    """A card with a bridge to its twin.

    Raises:
        InputError: a card that takes none, or whose bridge is not known.
    """
    row = gpu_bridges().get(gpu.name)
    if row is None:
        known = ", ".join(gpu_bridges())
        raise InputError(f"No NVLink bridge is known for {gpu.name}; there is one for {known}.")
    return replace(gpu, peer=_peer(row))


def _peer(own: GpuLinkRow | None) -> Figure | None:
    if own is None:
        return None
    reached = efficiency().row("peer_link_share")
    return Figure(
        value=own.peer_gbs * GB * reached.value,
        kind=Kind.DERIVED,
        source=f"{own.source}; {reached.source}",
        date=own.source_date,
    )


def _link(row: GpuRow) -> Link:
    if row.unified:
        return shared_memory(row.bandwidth_gbs * GB)
    if row.link_gbs:
        return direct_link("NVLink-C2C", row.link_gbs * GB)
    return pcie(row.pcie_gen or 3, row.pcie_lanes or 16)


def pcie(generation: int, lanes: int) -> Link:
    """A PCI Express link, by what copies over 16 lanes of its generation reach."""
    row = efficiency().row("pcie_x16", f"PCIe {generation}")
    return _link_from(
        f"PCIe {generation} x{lanes}",
        Figure(
            value=row.value * lanes / 16,
            kind=Kind.DERIVED,
            source=f"{row.source}; {lanes} of 16 lanes",
            date=row.date,
        ),
    )


def direct_link(name: str, peak: float) -> Link:
    """A link of a given peak that is not PCI Express [B/s]."""
    row = efficiency().row("direct_link_share")
    return _link_from(
        name,
        Figure(value=peak * row.value, kind=Kind.DERIVED, source=row.source, date=row.date),
    )


def given_link(pinned: Figure) -> Link:
    """A link whose pinned rate was measured or given."""
    return _link_from("link as given", pinned)


def shared_memory(bandwidth: float) -> Link:
    """No link at all: GPU and host read the same memory [B/s]."""
    figure = Figure(value=bandwidth, kind=Kind.DERIVED, source="unified memory: nothing crosses")
    return Link(name="unified memory", pinned=figure, pageable=figure, zero_copy=figure)


def _link_from(name: str, pinned: Figure) -> Link:
    def share(constant: str) -> Figure:
        row = efficiency().row(constant)
        return Figure(
            value=pinned.value * row.value, kind=Kind.DERIVED, source=row.source, date=row.date
        )

    return Link(
        name=name,
        pinned=pinned,
        pageable=share("pageable_share"),
        zero_copy=share("zero_copy_share"),
    )


def find_host(name: str) -> HostRow:
    """The catalogue's row of a CPU or platform.

    Raises:
        UnknownName: with close names.
    """
    return find("CPU", name, host_rows(), "`data/hosts.csv` lists those it knows.")


def host(name: str, memory: Figure, bandwidth: Figure | None = None) -> Host:
    """A CPU or platform of the catalogue with so much memory.

    Args:
        name: as people call it.
        memory: main memory [B].
        bandwidth: sustained read rate where it is known better than by its datasheet [B/s].

    Raises:
        UnknownName: with close names.
        InputError: a platform whose memory channels are not published, and no bandwidth given.
    """
    row = find_host(name)
    if bandwidth is None:
        if row.bandwidth_gbs is None:
            raise InputError(f"{row.name}: its RAM bandwidth is not published; give it in GB/s.")
        peak = row.bandwidth_gbs * GB
        bandwidth = sustained(peak, row.segment, row.source, row.source_date)
    return Host(
        name=row.name,
        cores=row.performance_cores or row.cores,
        sockets=row.sockets,
        memory=memory,
        bandwidth=bandwidth,
        instruction_sets=frozenset(row.instruction_sets.split(";")),
    )


def sustained(peak: float, segment: str, source: str, date: str) -> Figure:
    """What all cores together read of a datasheet's RAM bandwidth [B/s]."""
    row = efficiency().row("ram_sustained_share", segment)
    share = min(efficiency().value("ram_sustained_share", segment), MOST_SUSTAINED)
    return Figure(
        value=peak * share,
        kind=Kind.ASSUMED,
        source=f"{peak / GB:.1f} GB/s in theory ({source}) x {share:.2g}: {row.source}",
        date=date,
    )


def disk(name: str) -> Disk:
    """A drive of the catalogue.

    Raises:
        UnknownName: with close names.
    """
    row = find("drive", name, disk_rows(), "`data/disks.csv` lists those it knows.")
    return Disk(
        name=row.name,
        sequential=Figure(
            value=row.sequential_read_gbs * GB,
            kind=Kind.DATASHEET,
            source=row.source,
            date=row.source_date,
        ),
    )
