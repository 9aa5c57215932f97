"""Rows of data/*.csv on hardware and prices; fields as the columns, units in their names."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuRow:
    """One row of data/hardware/gpus.csv; columns name their units."""

    name: str
    aliases: str
    vendor: str
    family: str
    memory_gib: float
    bus_bits: float
    data_rate_gtps: float
    bandwidth_gbs: float
    fp32_tflops: float | None
    fp16_tflops: float | None
    bf16_tflops: float | None
    int8_tops: float | None
    fp8_tflops: float | None
    fp4_tflops: float | None
    pcie_gen: int | None
    pcie_lanes: int | None
    link_gbs: float | None
    board_power_w: float | None
    unified: bool
    usable_share: float
    released: str
    source: str
    source_date: str
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuLinkRow:
    """One row of data/hardware/gpu_links.csv, a GPU and its own link to others of its kind, one
    way, or of data/hardware/gpu_bridges.csv, a GPU and the bridge that can be put on two of them.
    """

    gpu: str
    peer_gbs: float
    source: str
    source_date: str
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class HostRow:
    """One row of data/hardware/hosts.csv; `memory_channels` counts 64-bit channels of all
    sockets.
    """

    name: str
    aliases: str
    vendor: str
    segment: str
    cores: int
    performance_cores: int | None
    threads: int | None
    sockets: int
    ccds: int | None
    memory_type: str
    memory_channels: float | None
    memory_mts: float | None
    bandwidth_gbs: float | None
    max_memory_gib: float | None
    instruction_sets: str
    llc_mib: float | None
    pcie_gen: int | None
    pcie_lanes: int | None
    released: str
    source: str
    source_date: str
    retrieved: str
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DiskRow:
    """One row of data/hardware/disks.csv."""

    name: str
    aliases: str
    interface: str
    sequential_read_gbs: float
    random_read_4k_iops: float | None
    drives: int
    released: str
    source: str
    source_date: str
    retrieved: str
    note: str
