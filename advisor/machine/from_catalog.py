"""Parts of a machine from their rows in the catalogue: GPUs, links, hosts and drives."""

import re
from dataclasses import replace
from functools import cache

from advisor.catalog.constants import Constants
from advisor.errors import InputError
from advisor.machine import catalog
from advisor.machine.machine import THIN_LAPTOP, Disk, Gpu, Host, Link
from advisor.machine.names.words import any_of
from advisor.machine.rows import PEAKS, GpuRow, HostRow, PartFigure
from advisor.machine.shared_memory import NO_SCREEN, drives_screens
from advisor.units import GB, GIB, MIB, TERA, Provenance, Quantity


def gpu(name: str, memory: int | None = None) -> Gpu:
    """GPU of the catalogue, by name and, where a driver reports it, memory [B]."""
    return gpu_of(catalog.GPUS.find(name, memory))


@cache
def gpu_of(row: GpuRow) -> Gpu:
    """GPU of a row of the catalogue."""

    def sheet(value: float) -> Quantity:
        return Quantity(value, Provenance.DATASHEET, row.source, row.source_date)

    peaks = {column.partition("_")[0]: getattr(row, column) for column in PEAKS}
    return Gpu(
        name=row.name,
        vendor=row.vendor,
        family=row.family,
        memory=usable_memory(row),
        bandwidth=sheet(row.bandwidth_gbs * GB),
        tensor_flops={kind: peak * TERA for kind, peak in peaks.items() if peak},
        link=_link(row),
        board_power=row.board_power_w,
        unified=row.unified,
        of_ram=row.of_ram,
        peer=_peer(catalog.published("link").get(row.name)),
        peer_access=not any_of("no peer access").match(row.name.casefold()),
        dot_products=float(row.int8_tops is not None or row.vendor not in NEED_DOT_PRODUCTS),
    )


NEED_DOT_PRODUCTS = ("NVIDIA", "AMD")
"""Vendors on whose cards llama.cpp multiplies quantized weights by dot products of 8-bit integers.
Cards without a peak in 8 bits in the catalogue have no such instruction: compute capability below
6.1 (GGML_CUDA_CC_DP4A of ggml-cuda/common.cuh), RDNA 1 and before (`ggml_cuda_dp4a` there)."""


def usable_memory(row: GpuRow) -> Quantity:
    """Memory that programs can use [B].

    It is what a card's driver leaves of the memory as sold, or the GPU's part of shared memory.

    A typed size is used unchanged; memory used by a screen is not subtracted, and the source says
    so for cards that usually have one.
    """
    sold = row.memory_gib * GIB
    shown = catalog.published("memory shown").get(row.name)
    if drives_screens(row):
        screen = NO_SCREEN
    else:
        screen = ""
    if shown:
        source = f"memory that its driver shows: {shown.source}{screen}"
        return Quantity(shown.value * MIB, Provenance.DATASHEET, source, shown.source_date)
    if row.vendor == "NVIDIA" and not row.unified:
        family = row.family
    else:
        family = ""
    by_part = catalog.published("memory kept")
    driver = by_part.get(row.name) or by_part.get(family)
    if driver is None:
        source = f"{row.source}{screen}"
        date = row.source_date
        return Quantity(sold * row.usable_share, Provenance.DATASHEET, source, date)
    what = f"{row.memory_gib:g} GB as sold less {driver.value:g} MB that the driver keeps{screen}"
    return Quantity(sold - driver.value * MIB, Provenance.DERIVED, what, driver.source_date)


def on_a_board(gpu: Gpu) -> bool:
    """Whether a GPU is joined by NVLink to others on its board, as SXM modules are."""
    return gpu.name in catalog.published("link") and gpu.name not in catalog.published("bridge")


def bridged(gpu: Gpu) -> Gpu:
    """Card with an NVLink bridge to a second card of its kind."""
    row = catalog.published("bridge").get(gpu.name)
    if row is None:
        raise InputError(
            f"No NVLink bridge is known for {gpu.name}; leave --nvlink out. "
            "data/hardware/part_figures.csv lists the cards that have one."
        )
    return replace(gpu, peer=_peer(row))


def _peer(row: PartFigure | None) -> Quantity | None:
    if row is None:
        return None
    reached = Constants.fitted().row("peer_link_share")
    rate = row.value * GB * reached.value
    source = f"{row.source}; {reached.source}"
    return Quantity(rate, Provenance.DERIVED, source, row.source_date)


def _link(row: GpuRow) -> Link:
    if row.unified:
        return shared_memory(row.bandwidth_gbs * GB)
    if row.link_gbs:
        # NVLink between processor and GPU reads ordinary memory about as fast: 93.0 of 97.4 GiB/s
        # on a GH200 (vortex, PR 7815).
        share = Constants.fitted().row("direct_link_share")
        rate = row.link_gbs * GB * share.value
        pinned = Quantity(rate, Provenance.DERIVED, share.source, share.date)
        return replace(Link.given(pinned, "NVLink-C2C"), pageable=pinned)
    return Link.pcie(row.pcie_gen or 3, row.pcie_lanes or 16)


def shared_memory(bandwidth: float) -> Link:
    """Link of a GPU that shares the host's memory, at the memory's rate [B/s]."""
    figure = Quantity(bandwidth, Provenance.DERIVED, "unified memory: nothing crosses")
    return Link(name="unified memory", pinned=figure, pageable=figure, zero_copy=figure)


SOLD_WITH_RAM = ("Apple", "unified")
"""Segments of processors whose memory is part of them, so that its rate is known with the name."""
NAMED_AFTER_RAM = "generic"  # vendor of typical platforms, whose names state their RAM


def host(name: str, memory: Quantity, bandwidth: Quantity | None = None) -> Host:
    """Host by name with its RAM [B], at its published rate or a share of its peak [B/s]."""
    return host_of(catalog.HOSTS.find(name), memory, bandwidth)


def host_of(
    row: HostRow, memory: Quantity, bandwidth: Quantity | None = None, *, assumed: bool = False
) -> Host:
    """Host of a row of the catalogue with its RAM [B], at its published rate or at a share of its
    peak [B/s].

    The rest of people's RAM is slower than the fastest that their processor takes: older modules,
    a single one. `assumed` says that nobody stated the processor either.
    """
    segment = ram_segment(row)
    if bandwidth is None:
        if row.bandwidth_gbs is None:
            raise InputError(f"{row.name}: its RAM bandwidth is not published; give it in GB/s.")
        peak = row.bandwidth_gbs * GB
        page = catalog.published("RAM").get(row.name)
        unstated = segment not in SOLD_WITH_RAM and (assumed or row.vendor != NAMED_AFTER_RAM)
        bandwidth = Host.sustained(peak, segment, row.source, row.source_date, unstated=unstated)
        if page:
            rate = page.value * GB
            bandwidth = Quantity(rate, Provenance.DERIVED, page.source, page.source_date)
    return Host(
        name=row.name,
        cores=usual_threads(row),
        sockets=row.sockets,
        memory=memory,
        bandwidth=bandwidth,
        instruction_sets=frozenset(row.instruction_sets.split(";")),
        segment=segment,
        clock=clock_beside(row),
    )


EFFICIENCY_CORES_WAIT = ("Intel", "Apple")
"""Vendors of processors on which llama.cpp uses only the performance cores (common/common.cpp,
common_cpu_get_num_math and common_cpu_get_num_physical_cores)."""


def usual_threads(row: HostRow) -> int:
    """Number of cores that llama.cpp uses by default; slower cores would delay each barrier.

    Two cores of a Bulldozer module share the unit that multiplies vectors, and Linux counts them as
    threads of one core (https://en.wikipedia.org/wiki/Bulldozer_(microarchitecture)).
    """
    if row.vendor in EFFICIENCY_CORES_WAIT:
        return row.performance_cores or row.cores
    if any_of("of modules").match(row.name.casefold()):
        return max(row.cores // 2, 1)
    return row.cores


def ram_segment(row: HostRow | None) -> str:
    """Segment of a host, which decides its share of the RAM's peak; "desktop" without a row.

    Apple's chips are a segment of their own, as their cores reach only a part of the bandwidth that
    the GPU reaches, and so are chips for thin laptops, which sustain a lower clock at 15 to 28 W.
    """
    if row is None:
        return "desktop"
    if row.vendor == "Apple":
        return row.vendor
    thin = row.segment in ("laptop", "desktop") and any_of("thin laptop").search(
        row.name.casefold()
    )
    if thin:
        return THIN_LAPTOP
    return row.segment


USUAL_CLOCKS = {
    "server": (2.6, 1.0), "workstation": (3.4, 1.0), "desktop": (3.2, 0.4), "laptop": (2.5, 0.4),
}  # fmt: skip
"""Usual base clock of a kind of processor [GHz], the mean of those in the fitted rows, and the
power of a model's clock beside it that all its cores at work follow. The base is what they hold at
the chip's power limit, which many cores reach (errors of prompts on 29 servers went with its power
0.9 +- 0.2, on 18 workstations 1.3 +- 0.4); cores of desktops and laptops stay between it and the
boost (0.37 +- 0.13 and 0.58 +- 0.17, in tokens 0.21 +- 0.09 and 0.28 +- 0.15). In chips for thin
laptops the maker of the machine sets the limit, whatever the base (-0.3 +- 0.2)."""


def clock_beside(row: HostRow | None) -> float:
    """Clock of a processor's cores at work, divided by the usual clock of its kind; 1 where
    unknown.
    """
    if row is None:
        return 1.0
    clock = catalog.cpu_clocks().get(re.sub(r"^\d+x ", "", row.name.casefold()))
    if clock is None:
        return 1.0
    usual, power = USUAL_CLOCKS.get(ram_segment(row), (1.0, 0.0))
    return float((clock.base_ghz / usual) ** power)


def disk(name: str) -> Disk:
    """Drive of the catalogue, by name."""
    row = catalog.DISKS.find(name)
    rate = row.sequential_read_gbs * GB
    kind = Provenance.DATASHEET
    return Disk(name=row.name, sequential=Quantity(rate, kind, row.source, row.source_date))


def mac_disk(chip: str) -> Disk | None:
    """Drive of Macs by their chip, on which its controller is: the smallest that was timed; None
    for other chips.
    """
    row = catalog.published("drive").get(chip)
    if row is None:
        return None
    rate = Quantity(row.value * GB, Provenance.ASSUMED, row.source, row.source_date)
    return Disk(name=f"drive of a Mac with {chip}", sequential=rate)
