"""Rows of data/*.csv on hardware and prices; fields as the columns, units in their names."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuRow:
    """One row of data/hardware/gpus.csv; columns name their units.

    `memory_options_gib` are the sizes that a chip with unified memory is sold with; `of_ram` marks
    graphics whose memory and bandwidth are those of the PC's RAM.
    """

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
    memory_options_gib: str
    of_ram: bool
    released: str
    source: str
    source_date: str
    note: str


PEAKS = ("fp32_tflops", "fp16_tflops", "bf16_tflops", "int8_tops", "fp8_tflops", "fp4_tflops")
"""Columns of a card's peaks, by number type."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PartFigure:
    """Row of data/hardware/part_figures.csv: a figure of a GPU, a family or a host."""

    figure: str  # a key of `catalog.published`
    part: str
    value: float
    source: str
    source_date: str


@dataclass(frozen=True, kw_only=True, slots=True)
class HostRow:
    """Row of data/hardware/hosts.csv; `memory_channels` counts 64-bit channels of all sockets."""

    name: str
    aliases: str = ""
    vendor: str
    segment: str
    cores: int
    performance_cores: int | None = None
    threads: int | None = None
    sockets: int
    ccds: int | None = None
    memory_type: str
    memory_channels: float | None
    memory_mts: float | None
    bandwidth_gbs: float | None
    max_memory_gib: float | None = None
    instruction_sets: str
    llc_mib: float | None = None
    pcie_gen: int | None
    pcie_lanes: int | None = None
    released: str = ""
    source: str
    source_date: str
    retrieved: str
    note: str

    @property
    def is_typical(self) -> bool:
        """Whether it stands for a processor that nobody named."""
        return self.name.endswith("(typical)")


@dataclass(frozen=True, kw_only=True, slots=True)
class CpuModelRow:
    """Row of data/hardware/cpu_models.csv: cores, and figures that differ from the generation's."""

    name: str
    cores: int
    performance_cores: int | None
    gpu: str
    memory_type: str
    memory_channels: float | None
    memory_mts: float | None
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CpuClockRow:
    """One row of data/hardware/cpu_clocks.csv: the base clock of a processor's fast cores."""

    name: str
    base_ghz: float
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CpuGenerationRow:
    """One row of data/hardware/cpu_generations.csv: common properties of a generation's models.

    `pattern` matches the whole name of a model, without vendor and in lower case; `memory_channels`
    counts 64-bit channels of a socket; `cores` are assumed for a model that is not listed;
    `pcie_gen` is the generation of PCI Express of its slots, None where no list has it; `gpu` is
    the graphics on the chip, by its name in data/hardware/gpus.csv.
    """

    name: str
    vendor: str
    pattern: str
    segment: str
    memory_type: str
    memory_channels: float
    memory_mts: float
    instruction_sets: str
    cores: int
    max_sockets: int
    pcie_gen: int | None
    gpu: str
    source: str
    source_date: str
    retrieved: str
    note: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineRow:
    """One row of data/hardware/machines.csv: a machine that people own or rent.

    `gpu`, `cpu` and `disk` are names of the catalogue, "none" for no GPU, and the most usual first
    of several processors; `cores` and `ram_channels` are those of a part of a host, where a cloud
    rents one, `ram_mts` where it is not the processor's; `ram_options_gib` are the sizes it is sold
    with;
    `usd` is paid `per` hour or once. Fields that the source does not state are empty.
    """

    name: str
    aliases: str
    kind: str
    gpu: str
    gpu_count: int
    cpu: str
    cores: int | None
    ram_channels: float | None
    ram_mts: float | None
    ram_gib: float | None
    ram_options_gib: str
    disk: str
    usd: float | None
    per: str
    price_source: str
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
