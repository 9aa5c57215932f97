"""Causes in RAM and drive: lower bandwidth, a smaller page cache."""

from dataclasses import replace

from advisor.advice.diagnosis.causes.counterfactual import Situation, Trials, fits, rates, trial
from advisor.cost_model.placement import RAM, PlacementStrategy, needed_bytes, weight_bytes
from advisor.cost_model.schedule import Route
from advisor.formatting import memory, number
from advisor.machine import from_catalog
from advisor.machine.quantity import Provenance
from advisor.runtimes.llama_cpp.layer_split import SYSTEM_RAM

SLOWER_RATES = {"DDR4": (2133, 2400, 2666), "DDR5": (3600, 4000, 4800)}
"""Rates of modules without their XMP or EXPO profile, or of four modules on two channels [MT/s].
JEDEC's first speeds of each type; AMD gives DDR5-3600 for four modules (Ryzen 9 7950X,
specifications)."""
FELT = 0.99
"""Relative speed above which a change is too small to count."""
TAKEN = (0.25, 0.5)
"""Shares of RAM that other programs may use; assumed."""
SLOWER_DRIVES = ("NVMe PCIe 3.0 x4 (typical)", "USB 3.2 Gen 2 external SSD (typical)",
                 "SATA SSD (typical)", "7200 rpm HDD (typical)")  # fmt: skip


def one_channel(situation: Situation) -> Trials:
    """Only half of the memory channels in use, or one of up to four."""
    if not _modules_in_doubt(situation):
        return
    row, figure = situation.host_row, situation.machine.host.bandwidth
    channels = int(row.memory_channels or 2) if row else 2
    for filled in sorted({channels // 2, 1 if channels <= 4 else channels // 2}):
        if 0 < filled < channels:
            fewer = replace(figure, value=figure.value * filled / channels)
            yield trial(f"{filled} of {channels} channels", situation.on_host(bandwidth=fewer))


def slow_modules(situation: Situation) -> Trials:
    """Memory modules below the rate in the processor's catalogue row."""
    row, figure = situation.host_row, situation.machine.host.bandwidth
    if row is None or not row.memory_mts or not _modules_in_doubt(situation):
        return
    for rate in SLOWER_RATES.get(row.memory_type, ()):
        if rate < row.memory_mts:
            slower = replace(figure, value=figure.value * rate / row.memory_mts)
            detail = f"{row.memory_type}-{rate} in place of {number(row.memory_mts)}"
            yield trial(detail, situation.on_host(bandwidth=slower))


def _modules_in_doubt(situation: Situation) -> bool:
    """Whether RAM is read, socketed, and of unmeasured bandwidth."""
    row, figure = situation.host_row, situation.machine.host.bandwidth
    soldered = situation.machine.unified or (row is not None and row.memory_type.startswith("LP"))
    return (
        situation.takes(Route.IN_PLACE) and not soldered and figure.kind is not Provenance.MEASURED
    )


def pages_lost(situation: Situation) -> Trials:
    """Weights read again from the drive, because other programs use RAM.

    Weights in RAM are pages of the file, which the system evicts; in a placement on the drive, the
    page cache is smaller than assumed.
    """
    if not situation.in_llama_cpp or situation.machine.disk is None or situation.machine.unified:
        return
    if situation.estimate.strategy is PlacementStrategy.NVME_OFFLOAD:
        yield from _uncached(situation)
    elif situation.estimate.strategy is PlacementStrategy.CPU_OFFLOAD:
        yield from _crowded(situation)


def _uncached(situation: Situation) -> Trials:
    """A smaller page cache, where that is slower.

    A cyclic scan larger than the cache finds no page in it, so that its size may not matter.
    """
    slowest = float(rates(situation.estimate)[0].value)
    for share in (0.5, 0.0):
        cache = float(situation.placement.page_cache) * share
        changed = situation.placed(replace(situation.kept, page_cache=cache))
        if fits(changed) and float(rates(changed)[0].value) < FELT * slowest:
            slowest = float(rates(changed)[0].value)
            yield trial(f"{memory(cache)} for the page cache", changed)


def _crowded(situation: Situation) -> Trials:
    model, placement, whole = (
        situation.model,
        situation.placement,
        float(situation.machine.host.memory.value),
    )
    held = float(weight_bytes(model, placement, RAM))
    beside = float(needed_bytes(model, placement, RAM, situation.work)) - held
    for share in TAKEN:
        left = max(whole * (1 - share) - SYSTEM_RAM - beside, 0.0)
        if left < held:
            split = replace(situation.kept, page_cache=left)
            paged = situation.placed(split, strategy=PlacementStrategy.NVME_OFFLOAD)
            if fits(paged):
                yield trial(f"{memory(whole * share)} of RAM taken by other programs", paged)


def slow_drive(situation: Situation) -> Trials:
    """A drive of a slower class than assumed."""
    disk = situation.machine.disk
    if disk is None or disk.sequential.kind is Provenance.MEASURED:
        return
    if not situation.takes(Route.PAGED, Route.STAGED):
        return
    for name in SLOWER_DRIVES:
        slower = from_catalog.disk(name)
        if slower.sequential.value < disk.sequential.value:
            changed = replace(situation.machine, disk=slower)
            yield trial(
                name.removesuffix(" (typical)"), replace(situation.estimate, machine=changed)
            )
