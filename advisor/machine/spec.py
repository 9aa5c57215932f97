"""Machine specification typed by a person, each number checked against its limits."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from advisor.catalog.inputs import INPUTS
from advisor.errors import InputError
from advisor.machine import backends
from advisor.machine.machine import network_named
from advisor.units import Array

NO_CARD = re.compile(
    r"\b(?:no|without(?: an?| any)?|w/o)\s+(?:dedicated |discrete )?"
    r"(?:graphics(?: cards?)?|d?gpus?|video cards?)\b|\bcpu[ -]only\b"
)
"""Pattern of words for a machine without a graphics card, in lower case."""

TYPED = INPUTS.of("machine")
CHECKS: dict[str, Callable[[str], object]] = {
    "backend": backends.check,
    "system": backends.OperatingSystem.named,
    "driver": backends.driver_named,
    "build": backends.Build.named,
    "numa": backends.check_policy,
    "network": network_named,
}
"""Check of a typed text of a field, which raises where it refuses it."""


@dataclass(frozen=True, kw_only=True)
class MachineSpec:
    """Typed values of a machine; None for open fields."""

    NO_GPU: ClassVar = "none"  # name of the GPU of a machine without one
    MIXED: ClassVar = " + "  # separator between GPUs of different kinds in one machine

    # name of the GPU; several kinds as "2x RTX 3090 + RTX 4090"; "none" or words that say so become
    # "none"
    gpu: str | None = None
    gpu_count: int = 1  # number of GPUs; for several kinds, a factor on all their numbers
    vram_gb: Array | None = None  # memory of each GPU, in place of the catalogue's [GiB]
    # memory of the first GPU that screens and other programs take [GiB]
    screen_gb: float | None = None
    cpu: str | None = None  # name of the processor or platform
    ram_gb: Array | None = None  # main memory [GiB]
    ram_gbs: Array | None = None  # sustained read rate of all cores, used as it is [GB/s]
    ram_channels: float | None = None  # 64-bit channels
    ram_mts: float | None = None  # transfers per second of each channel [MT/s]
    cores: int | None = None  # physical cores
    threads: int | None = None  # number of computing threads; more threads than cores add nothing
    backend: str | None = None  # backend of llama.cpp, a `backends.Backend`
    system: str | None = None  # operating system, as `OperatingSystem.named` reads it
    driver: str | None = None  # graphics driver, as `backends.driver_named` reads it
    build: str | None = None  # build of llama.cpp, as `Build.named` reads it
    numa: str | None = None  # policy for several memory nodes, a `NumaPolicy`
    # sustained rate from pinned memory to the GPU, used as it is [GB/s]
    pcie_gbs: Array | None = None
    pcie_gen: int | None = None  # PCI Express generation
    pcie_lanes: int | None = None  # PCI Express lanes
    disk: str | None = None  # name of the drive
    disk_gbs: Array | None = None  # sustained rate of sequential reads, used as it is [GB/s]
    bridge: bool = False  # whether an NVLink bridge joins two cards of the same kind
    machines: int = 1  # number of equal machines joined by a network
    network: str | None = None  # network between machines, as `machine.network_named` reads it
    network_gbs: float | None = None  # sustained rate between machines, one way [GB/s]

    def __post_init__(self) -> None:
        TYPED.check(vars(self))
        gpu = (self.gpu or "").strip().casefold()
        if gpu == MachineSpec.NO_GPU or NO_CARD.fullmatch(gpu):
            object.__setattr__(self, "gpu", MachineSpec.NO_GPU)
        for name, check in CHECKS.items():
            if getattr(self, name) is not None:
                check(getattr(self, name))
        if self.driver is None:
            driver = None
        else:
            driver = backends.driver_named(self.driver)
        if driver and self.backend not in (None, driver.backend):
            raise InputError(
                f"Driver (--driver) is {driver.words}, through which llama.cpp computes with "
                f"{driver.backend}; the backend is {self.backend}. Leave one of them out."
            )
        if self.vram_gb is not None and MachineSpec.MIXED in (self.gpu or ""):
            raise InputError(
                f"vram gb is given for {self.gpu}; it can be for one kind of GPU alone."
            )

    @property
    def empty(self) -> bool:
        """Whether no value is typed, which means the machine that runs this program."""
        return self == MachineSpec()
