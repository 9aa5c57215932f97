"""GPU facts from drivers: identity and present state."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class GpuFacts:
    """One GPU as reported by its driver; None for unknown values."""

    name: str  # name given by the driver
    vendor: str  # NVIDIA, AMD, Intel, Apple
    # size of its memory [B]; for unified memory that of the machine's RAM
    memory_total: int | None = None
    memory_free: int | None = None  # free memory [B]
    link_generation_now: int | None = None  # present PCIe generation; lower while the GPU is idle
    link_generation_max: int | None = None  # highest PCIe generation of GPU and slot together
    link_width_now: int | None = None  # PCIe lanes in use
    link_width_max: int | None = None  # most PCIe lanes of GPU and slot together
    power_limit: float | None = None  # enforced power limit [W]
    clock_max: float | None = None  # highest clock of the processors [Hz]
    # highest clock of the memory, as the driver counts it [Hz]
    memory_clock_max: float | None = None
    driver: str | None = None  # version of the driver
    bus: str | None = None  # PCI address ("0000:01:00.0")
    unified: bool = False  # the GPU uses the host's memory

    @property
    def link(self) -> tuple[int, int] | None:
        """PCIe generation and lanes under load; None where either is unknown."""
        generation = self.link_generation_max or self.link_generation_now
        width = self.link_width_now or self.link_width_max
        return (generation, width) if generation and width else None


@dataclass(frozen=True, kw_only=True)
class GpuState:
    """State of a GPU at one moment; None for unknown values."""

    link_generation: int | None = None  # PCIe generation
    link_width: int | None = None  # PCIe lanes
    clock: float | None = None  # clock of the processors [Hz]
    memory_clock: float | None = None  # clock of the memory [Hz]
    power: float | None = None  # power draw [W]
    power_limit: float | None = None  # enforced power limit [W]
    slowed_by: tuple[str, ...] = ()  # reasons for reduced clocks, in words

    def sentence(self) -> str:
        """State in a sentence; empty where nothing is known."""
        parts = []
        if self.clock:
            parts.append(f"processors at {self.clock / 1e6:.0f} MHz")
        if self.memory_clock:
            parts.append(f"memory at {self.memory_clock / 1e6:.0f} MHz")
        if self.power and self.power_limit:
            parts.append(f"{self.power:.0f} of {self.power_limit:.0f} W")
        if self.slowed_by:
            parts.append(f"slowed by {' and '.join(self.slowed_by)}")
        return f"Under load: {', '.join(parts)}." if parts else ""


def figure_name(name: str, place: int) -> str:
    """Name of a measurement for the GPU at an index in the drivers' order, from 0."""
    return name if place == 0 else f"{name}_gpu{place}"


def same_bus(bus: str, other: str) -> bool:
    """Whether two PCI addresses mean the same device.

    NVML writes the domain with eight digits, CUDA and Linux with four, in upper or lower case.
    """
    return _plain(bus) == _plain(other)


def _plain(bus: str) -> str:
    domain, _, rest = bus.casefold().partition(":")
    return f"{domain.lstrip('0')}:{rest}"
