"""GPU facts from drivers: identity and momentary state."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class GpuFacts:
    """One GPU as its driver shows it; None is what the driver does not tell.

    Attributes:
        name: as the driver has it.
        vendor: NVIDIA, AMD, Intel, Apple.
        memory_total: all of its memory [B]; for unified memory the machine's RAM.
        memory_free: not taken by any program now [B].
        link_generation_now: PCIe generation at this moment; drops when the GPU rests.
        link_generation_max: what GPU and slot can do together.
        link_width_now: PCIe lanes in use.
        link_width_max: lanes that GPU and slot have.
        power_limit: enforced now [W].
        clock_max: of its processors [Hz].
        memory_clock_max: of its memory, as the driver counts it [Hz].
        driver: version.
        bus: PCI address ("0000:01:00.0").
        unified: its memory is the host's.
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
    """How a GPU runs at one moment; None is what the driver does not tell.

    Attributes:
        link_generation: PCIe generation.
        link_width: PCIe lanes.
        clock: of its processors [Hz].
        memory_clock: of its memory [Hz].
        power: drawn [W].
        power_limit: enforced [W].
        slowed_by: why its clocks are lower than they could be, in words.
    """

    link_generation: int | None = None
    link_width: int | None = None
    clock: float | None = None
    memory_clock: float | None = None
    power: float | None = None
    power_limit: float | None = None
    slowed_by: tuple[str, ...] = ()

    def told(self) -> str:
        """What is known of it in a sentence; empty for nothing."""
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
    """Name of a measurement of the GPU at a place in the drivers' order, from 0."""
    return name if place == 0 else f"{name}_gpu{place}"


def same_bus(bus: str, other: str) -> bool:
    """Whether two PCI addresses mean the same device.

    NVML writes the domain in eight digits, CUDA and Linux in four, with or without capitals.
    """
    return _plain(bus) == _plain(other)


def _plain(bus: str) -> str:
    domain, _, rest = bus.casefold().partition(":")
    return f"{domain.lstrip('0')}:{rest}"
