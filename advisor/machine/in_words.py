"""Words for a machine as its owners use them ("2x RTX 3090 24 GB + 64 GB")."""

from collections import Counter
from collections.abc import Sequence

from advisor.machine import catalog
from advisor.machine.machine import Gpu, Machine
from advisor.units import GIB


def cards(gpus: Sequence[Gpu]) -> list[str]:
    """Graphics cards, each kind with its number, and its memory where the name has none."""
    counted = Counter(gpu.name for gpu in gpus)
    words = []
    for name, gpu in {gpu.name: gpu for gpu in gpus}.items():
        size = f"{round(_sold_gib(gpu))} GB"
        told = "" if gpu.unified or size.replace(" ", "") in name else f" {size}"
        several = f"{counted[name]}x " if counted[name] > 1 else ""
        words.append(f"{several}{name}{told}")
    return words


DRIVERS_PART = 0.9
"""Share of the memory sold that a driver leaves of a card, at least: 268.6 of a B300's 288 GB
(data/hardware/gpus.csv)."""


def _sold_gib(gpu: Gpu) -> float:
    """Memory of a card as sold, where its driver keeps a part of it; the stated memory of others
    [GiB].
    """
    size = float(gpu.memory.value) / GIB
    row = catalog.GPUS.rows().get(gpu.name)
    if row is not None and DRIVERS_PART * row.memory_gib < size < row.memory_gib:
        return row.memory_gib
    return size


def parts(machine: Machine) -> str:
    """Words on a machine's parts: graphics cards and RAM; chip and size of shared memory; a
    processor without a card.
    """
    size = f"{float(machine.host.memory.value) / GIB:.4g} GB"
    if machine.unified:
        return f"{machine.gpus[0].name} {size}"
    named = cards(machine.gpus) or [machine.host.name or "no graphics card"]
    return " + ".join((*named, size))
