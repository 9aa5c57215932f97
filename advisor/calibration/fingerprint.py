"""Fingerprint of a machine: the parts that must match its measurements."""

from dataclasses import dataclass

from advisor.probes.gpu import detect
from advisor.probes.host import inventory
from advisor.units import GIB

_SAME_MEMORY = 0.03
"""Tolerance for the size of RAM, as a share of it: the kernel's own part changes with updates."""


@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    """Known parts of a machine.

    Attributes:
        cpu: name of the processor; empty where unknown.
        cores: usable physical cores; 0 where unknown.
        memory: size of RAM; 0 where unknown [B].
        gpus: names of the GPUs, in the driver's order.
        sockets: number of processor packages.
        instruction_sets: as `HostFacts.instruction_sets`, in alphabetical order.
        gpu_memory: memory of each GPU; 0 where the driver does not report it [B].
        driver: version of the GPU driver; empty where unknown.
    """

    cpu: str
    cores: int
    memory: int
    gpus: tuple[str, ...]
    sockets: int = 1
    instruction_sets: tuple[str, ...] = ()
    gpu_memory: tuple[int, ...] = ()
    driver: str = ""


def fingerprint() -> Fingerprint:
    """Fingerprint of this machine; the GPU driver takes tens of milliseconds to answer."""
    facts = inventory.facts()
    gpus, _ = detect.gpus()
    return Fingerprint(
        cpu=facts.name,
        cores=facts.cores,
        memory=facts.memory_total,
        gpus=tuple(gpu.name for gpu in gpus),
        sockets=facts.sockets,
        instruction_sets=tuple(sorted(facts.instruction_sets)),
        gpu_memory=tuple(gpu.memory_total or 0 for gpu in gpus),
        driver=next((gpu.driver for gpu in gpus if gpu.driver), ""),
    )


def difference(saved: Fingerprint, now: Fingerprint) -> str:
    """Difference between the measured and the present machine in a sentence; empty if none."""
    if saved.cpu != now.cpu:
        return f"Measured on {saved.cpu}, and this is {now.cpu}; probe again."
    if saved.cores != now.cores:
        return f"Measured with {saved.cores} cores, and {now.cores} can be used now; probe again."
    if abs(saved.memory - now.memory) > _SAME_MEMORY * saved.memory:
        sizes = f"{saved.memory / GIB:.1f} GiB of RAM, and this has {now.memory / GIB:.1f} GiB"
        return f"Measured with {sizes}; probe again."
    if saved.gpus != now.gpus:
        before, after = (", ".join(names) or "no GPU" for names in (saved.gpus, now.gpus))
        return f"Measured with {before}, and this has {after}; probe again."
    return ""


def other_driver(saved: Fingerprint, now: Fingerprint) -> str:
    """Change of the GPU driver since the measurement in a sentence; empty if none or unknown."""
    if not saved.driver or not now.driver or saved.driver == now.driver:
        return ""
    return f"Measured with GPU driver {saved.driver}, and this is {now.driver}; probe again."
