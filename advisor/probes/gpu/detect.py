"""GPUs of this machine: NVIDIA by NVML, AMD and Intel by sysfs, Apple by sysctl. Never raises."""

from collections.abc import Iterator
from pathlib import Path

from advisor.probes.gpu import apple, drm, nvml
from advisor.probes.gpu.facts import GpuFacts
from advisor.probes.gpu.pci import display_devices
from advisor.probes.system import operating_system

NVIDIA = 0x10DE


def gpus(root: Path = Path("/")) -> tuple[tuple[GpuFacts, ...], tuple[str, ...]]:
    """GPUs in the drivers' order, and problems, a sentence each.

    Args:
        root: folder that contains /sys.
    """
    if operating_system() == "darwin":
        return apple.gpus()
    cards = display_devices(root)
    seen, trouble = nvml.gpus()
    seen += drm.gpus(cards, root)
    notes = list(_unseen(seen))
    if trouble and (not seen or any(card.vendor == NVIDIA for card in cards)):
        notes.insert(0, trouble)
    if operating_system() == "win32":
        notes.append("On Windows only NVIDIA GPUs can be seen; choose another by hand.")
    return seen, tuple(notes)


def _unseen(gpus: tuple[GpuFacts, ...]) -> Iterator[str]:
    for gpu in gpus:
        if gpu.memory_total is None:
            yield f"{gpu.name}: its driver does not tell its memory; choose it by hand."
        if "MIG" in gpu.name:
            yield f"{gpu.name}: is a part of a GPU; its bandwidth is a part of the card's."
