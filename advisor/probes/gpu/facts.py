"""GPU facts from drivers: identity and present state."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class GpuFacts:
    """One GPU as reported by its driver; None for unknown values.

    Attributes:
        name: name given by the driver.
        vendor: NVIDIA, AMD, Intel, Apple.
        memory_total: size of its memory [B]; for unified memory that of the machine's RAM.
        memory_free: free memory [B].
        link_generation_now: present PCIe generation; lower while the GPU is idle.
        link_generation_max: highest PCIe generation of GPU and slot together.
        link_width_now: PCIe lanes in use.
        link_width_max: most PCIe lanes of GPU and slot together.
        power_limit: enforced power limit [W].
        clock_max: highest clock of the processors [Hz].
        memory_clock_max: highest clock of the memory, as the driver counts it [Hz].
        driver: version of the driver.
        bus: PCI address ("0000:01:00.0").
        unified: the GPU uses the host's memory.
    """

    name: str
    vendor: str
    memory_total: int | None = None
    memory_free: int | None = None
    link_generation_now: int | None = None
    link_generation_max: int | None = None
    link_width_now: int | None = None
    link_width_max: int | None = None
    power_limit: float | None = None
    clock_max: float | None = None
    memory_clock_max: float | None = None
    driver: str | None = None
    bus: str | None = None
    unified: bool = False

    @property
    def link(self) -> tuple[int, int] | None:
        """PCIe generation and lanes under load; None where either is unknown."""
        generation = self.link_generation_max or self.link_generation_now
        width = self.link_width_now or self.link_width_max
        return (generation, width) if generation and width else None


@dataclass(frozen=True, kw_only=True)
class GpuState:
    """State of a GPU at one moment; None for unknown values.

    Attributes:
        link_generation: PCIe generation.
        link_width: PCIe lanes.
        clock: clock of the processors [Hz].
        memory_clock: clock of the memory [Hz].
        power: power draw [W].
        power_limit: enforced power limit [W].
        slowed_by: reasons for reduced clocks, in words.
    """

    link_generation: int | None = None
    link_width: int | None = None
    clock: float | None = None
    memory_clock: float | None = None
    power: float | None = None
    power_limit: float | None = None
    slowed_by: tuple[str, ...] = ()

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
