"""Descriptions of the engines that keep experts in tiers, and the files of their makers."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, lru_cache

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.units import GIB, MIB

TABLE = DATA / "runtimes/tiered_engines.csv"
NO_GPU = "none"  # vendor of a machine without a GPU, in the column `vendors`


class RamTier(StrEnum):
    """Experts that an engine keeps in RAM."""

    ALL = "all"  # every expert, also those that the VRAM holds; else, where too small, as `REST`
    REST = "rest"  # experts that the VRAM does not hold
    COPY = "copy"  # those that were used last, also those that the VRAM holds
    NONE = "none"  # none: each miss comes from the drive


DIRECT = "direct"
"""Way in which an engine reads a drive past the page cache, with many reads at once."""
MAPPED = "mapped"
"""Way in which an engine reads a drive that takes a page fault for each few pages of a file."""
BUFFERED = "buffered"
"""Way in which an engine reads a drive that copies each expert out of the page cache."""
CHECKPOINT = "mxfp4"
"""Files of an engine that reads a maker's checkpoint with experts of 4 bits and all else of 16."""
MEASURED = "measured"
"""Link share of an engine that times its cores and its link at the start, and divides by them."""
PROBED = "probed"
"""Link share of an engine that times its link alone, as Strata does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TieredEngine:
    """One row of data/runtimes/tiered_engines.csv."""

    key: str  # key of the runtime
    name: str  # display name
    aliases: str  # further names, separated by semicolons
    version: str  # release that the row describes
    version_date: str  # its month
    since: str  # month of the first report; empty where unknown
    licence: str  # SPDX name; empty where unknown
    models: str  # pattern of the models that it runs
    files: str  # files that it reads: gguf, int4 (its own), exl3, safetensors or `CHECKPOINT`
    systems: str  # operating systems, separated by semicolons
    vendors: str  # vendors of GPUs, separated by semicolons; `NO_GPU` where it needs none
    vulkan: str  # those of them on which Vulkan shaders compute; on others CUDA, HIP, SYCL or Metal
    least_vram_gib: float  # least VRAM that it starts with [GiB]
    vram_fixed_gib: float  # VRAM for drafting, buffers and reserve beside weights and cache [GiB]
    vram_fill: str  # a `Fill`
    ram_tier: str  # a `RamTier`
    ram_fill: str  # a `Fill`
    ram_fixed_gib: float  # RAM for itself and the system beside experts [GiB]
    windows_ram_gib: float  # the same on Windows [GiB]
    ram_share: float  # most of the RAM that it takes, for itself and for experts, 0 to 1
    computes: bool  # cores compute misses where they lie; else the GPU does, after a copy
    # share of the misses that go over the link, 0 to 1, `PROBED` or `MEASURED`; 1 where no core
    # computes
    link_share: str
    measured_from: str  # first version that measures it, for one NVIDIA GPU; empty for none
    drive: str  # `DIRECT`, `BUFFERED` or `MAPPED`
    mapped_before: str  # first version without a mapped file; empty where it always read so
    in_turn: bool  # its cores compute after the drive was read; else at the same time
    streams_dense: bool  # each round reads dense weights that RAM has no room for from the drive
    # first version whose port to AMD has kernels of its own; empty where none is known without
    ported_before: str
    # first version in which a layer with all of its experts in VRAM does not wait for the
    # processor; empty where none is known that did
    waited_before: str
    drafted: float  # tokens drafted a round by default, those that are offered [tokens]
    accepted: float | None  # share of these that is accepted; None without drafting
    # head of the drafts, for a part of the vocabulary [MiB]; None for the head of the model
    draft_head_mib: float | None
    chunk: float  # prompt tokens that are read together [tokens]
    kv_type: str  # format of its KV cache
    # tokens whose cache stays in VRAM where the context is longer [tokens]; None for all
    kv_resident: float | None
    parallel: bool  # it answers several users at once
    effort: str  # time to set it up, in words
    asks: str  # what it asks of its user, a phrase
    source: str
    source_date: str

    @property
    def spellings(self) -> tuple[str, ...]:
        """All names, in lower case."""
        return (self.key, self.name.casefold(), *_words(self.aliases))

    @property
    def fixed_vram(self) -> float:
        """VRAM beside weights and cache, of the first GPU [B]."""
        return self.vram_fixed_gib * GIB

    @property
    def draft_head(self) -> float:
        """Head of the drafts; infinite where it is the model's [B]."""
        if self.draft_head_mib is None:
            return np.inf
        return self.draft_head_mib * MIB

    @property
    def makers_format(self) -> str:
        """Format of the maker's checkpoint, where the engine reads it unchanged: experts of 4 bits,
        all else of 16; empty for other engines.
        """
        if self.files == CHECKPOINT:
            return "MXFP4-hf"
        return ""

    @property
    def way(self) -> str:
        """Way to the drive, a name of its rate; empty for unbuffered reads."""
        if self.drive == DIRECT:
            return ""
        return self.drive

    @property
    def early_port(self) -> bool:
        """Whether its port to AMD computes with the kernels written for NVIDIA."""
        return _numbers(self.version) < _numbers(self.ported_before)

    @property
    def waits(self) -> bool:
        """Whether a layer with all of its experts in VRAM waits for the processor."""
        return _numbers(self.version) < _numbers(self.waited_before)

    @property
    def without_gpu(self) -> bool:
        """Whether the engine runs on a machine without a GPU."""
        return NO_GPU in _words(self.vendors, fold=False)

    def fixed_ram(self, *, windows: bool) -> float:
        """RAM beside experts, for the engine and the system [B]."""
        gib = self.windows_ram_gib if windows else self.ram_fixed_gib
        return gib * GIB

    def takes_system(self, system: str) -> bool:
        """Whether the engine runs on an operating system; true where none is stated."""
        return not system or not self.systems or system in _words(self.systems)

    def takes_vendor(self, vendor: str) -> bool:
        """Whether the engine runs on a vendor's GPUs."""
        return vendor in _words(self.vendors, fold=False)

    def on_vulkan(self, vendor: str) -> bool:
        """Whether Vulkan shaders compute on a vendor's GPUs."""
        return vendor in _words(self.vulkan, fold=False)

    def measures_shares(self, machine: Machine) -> bool:
        """Whether the engine divides misses by measured times of its cores and its link."""
        if self.link_share == MEASURED:
            return True
        if not self.measured_from or len(machine.gpus) > 1:
            return False
        since = _numbers(self.version) >= _numbers(self.measured_from)
        return since and machine.gpus[0].vendor == "NVIDIA"

    def probes_link(self, machine: Machine) -> bool:
        """Whether the engine gives the link a share of misses by its rate alone."""
        return self.link_share == PROBED and not self.measures_shares(machine)

    def uses_gpus(self, machine: Machine) -> bool:
        """Whether the engine computes on a machine's GPUs."""
        return bool(machine.gpus) and all(self.takes_vendor(gpu.vendor) for gpu in machine.gpus)

    def of_version(self, version: str) -> "TieredEngine":
        """Engine in a version: a version before the engine read the drive directly has a mapped
        file.
        """
        stated = _numbers(version)
        if not stated:
            return self
        if self.mapped_before and stated < _numbers(self.mapped_before):
            return replace(self, version=version, drive=MAPPED)
        return replace(self, version=version)

    def read_unbuffered(self) -> "TieredEngine":
        """Engine with the option to read the drive past the page cache."""
        return replace(self, drive=DIRECT)

    @staticmethod
    @cache
    def rows() -> "tuple[TieredEngine, ...]":
        """All engines, in the order of the table."""
        return read(TABLE, TieredEngine)

    @classmethod
    def called(cls, name: str) -> "TieredEngine | None":
        """Engine by any of its names; None for an unknown name."""
        folded = name.strip().casefold()
        return next((engine for engine in cls.rows() if folded in engine.spellings), None)


def _numbers(version: str) -> tuple[int, ...]:
    """Numbers of a version such as "0.1.38"; empty where it does not begin with a number."""
    match = re.match(r"\d+(?:\.\d+)+", version)
    if match:
        return tuple(map(int, match[0].split(".")))
    return ()


def _words(text: str, *, fold: bool = True) -> tuple[str, ...]:
    parts = (part.strip() for part in text.split(";"))
    return tuple(part.casefold() if fold else part for part in parts if part)


@dataclass(frozen=True, kw_only=True, slots=True)
class PackRow:
    """One row of data/runtimes/tiered_packs.csv: experts of a model in a format."""

    engines: str  # keys of the engines, separated by semicolons
    models: str  # pattern of the model
    format: str  # name of the format
    experts_gib: float  # size of all routed experts [GiB]
    source: str
    source_date: str


@lru_cache(maxsize=128)
def packed(engine: TieredEngine, model: Model) -> Model:
    """Model with the size of an engine's own files; unchanged where the engine has none in its
    format.
    """
    rows = read(DATA / "runtimes/tiered_packs.csv", PackRow)
    sizes = [
        row.experts_gib * GIB
        for row in rows
        if engine.key in row.engines.split(";")
        and row.format == model.format
        and re.search(row.models, model.name, re.IGNORECASE)
    ]
    if not sizes:
        return model
    return model.with_expert_bytes(sizes[0])
