"""Causes in the machine: threads, sockets, clocks, other load; RAM, drive, link and GPU."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from advisor.advice.edits.edit import Edit, Rates, rates
from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.measured_constants import CORE_RATES, GPU_READS, GPU_TIMES
from advisor.cost_model.placement import (
    RAM,
    Placement,
    PlacementStrategy,
    Settings,
    Tier,
    needed_bytes,
    weight_bytes,
)
from advisor.cost_model.schedule import Phases, Route, Schedule
from advisor.cost_model.uncertainty import Range
from advisor.cost_model.workload import Workload
from advisor.errors import InputError, UnknownName
from advisor.formatting import memory, number
from advisor.machine import from_catalog
from advisor.machine.backends import HYPER_THREADS, ONE_NODE, PAST_CORES, effect_of
from advisor.machine.catalog import find_gpu, find_host
from advisor.machine.from_spec import with_copies
from advisor.machine.machine import Gpu, Machine
from advisor.machine.names.words import any_of
from advisor.machine.quantity import Provenance
from advisor.machine.rows import HostRow
from advisor.model.model import Model
from advisor.runtimes.llama_cpp.layer_split import SYSTEM_RAM
from advisor.units import Array

# Run under diagnosis: a possible estimate, and edits of it.
#
# The cost model computes the speeds after an edit; here only its inputs are changed.


@dataclass(frozen=True, kw_only=True)
class MeasuredRun(Estimate):
    """Estimate of a run that was measured, which therefore is possible."""

    machine: Machine
    placement: Placement
    constants: Constants
    system: str = ""  # "Linux", "Windows" or "macOS"; empty where unknown
    # request that timed the prompt; None for that of the generation
    prompt_work: Workload | None = None

    @property
    def in_llama_cpp(self) -> bool:
        """Whether the runtime has the options of llama.cpp, which most causes change."""
        return self.how.takes_layers

    @cached_property
    def host_row(self) -> HostRow | None:
        """Catalogue row of the processor; None if it is not listed."""
        with suppress(UnknownName):
            return find_host(self.machine.host.name)
        return None

    @property
    def layout(self) -> Settings:
        """Settings that keep the present placement while something else changes."""
        on_drive = self.strategy is PlacementStrategy.NVME_OFFLOAD
        output = self.placement.output
        head = sum(float(share) for where, share in output.items() if where.tier is Tier.VRAM)
        return Settings(
            gpu_layers=self.placement.gpu_layers,
            cpu_moe=self.placement.cpu_moe,
            page_cache=self.placement.page_cache if on_drive else None,
            head_first=head > 0,
            kv_in_ram=self.cache_in_ram,
            load_mode=self.placement.load_mode,
        )

    @property
    def cache_in_ram(self) -> bool:
        """Whether the KV cache of GPU layers is in RAM."""
        in_ram = float(np.sum(self.placement.kv.get(RAM, 0.0)))
        return in_ram > self.model.layers - float(self.placement.gpu_layers)

    def takes(self, *routes: Route) -> bool:
        """Whether a token or the prompt spends time on one of these routes."""
        parts = [time.parts for time in (self.step, self.prompt) if time is not None]
        return any(float(part.get(route, 0.0)) > 0 for part in parts for route in routes)

    def speeds(self, edit: Edit) -> Rates | None:
        """Speeds after an edit; None where memory is too small for what it moves."""
        after = edit.of(self)
        if edit.moves and not fits(after):
            return None
        decode, prompt = edit.read(after)
        if self.prompt_work is not None:
            lengths = {name: getattr(self.prompt_work, name) for name in ("prompt", "cached")}
            timed = replace(after, work=replace(after.work, **lengths))
            prompt = edit.read(timed)[1]
        return decode, prompt

    def placed(self, words: str, settings: Settings, **changes: Any) -> Edit:
        """The model placed anew with these settings."""
        nouns = {"constants": self.constants, "settings": settings, **changes}
        return Edit(words=words, changes=nouns)

    def on_host(self, words: str, **changes: Any) -> Edit:
        """Another host, with every part where it lies, and copies no faster than its RAM."""
        host = replace(self.machine.host, **changes)
        gpus = self.machine.gpus
        if np.all(host.bandwidth.value < self.machine.host.bandwidth.value):
            gpus = tuple(with_copies(gpu, host) for gpu in gpus)
        return timed(words, machine=replace(self.machine, host=host, gpus=gpus))

    def on_gpus(self, words: str, change: Callable[[Gpu], Gpu], **changes: Any) -> Edit:
        """Other GPUs, with every part where it lies."""
        gpus = tuple(change(gpu) for gpu in self.machine.gpus)
        return timed(words, machine=replace(self.machine, gpus=gpus), **changes)

    def scaled(self, words: str, factors: Mapping[str, float], source: str) -> Edit:
        """Some constants multiplied."""
        return timed(words, constants=self.constants.scaled(factors, source))

    def rescheduled(self, words: str, change: Callable[[Schedule], Schedule]) -> Edit:
        """Another schedule."""
        how = self.how

        def schedule(
            model: Model, placement: Placement, machine: Machine, work: Workload
        ) -> Phases:
            return how.schedule(model, placement, machine, work).each(change)

        return timed(words, how=replace(how, schedule=schedule))


Edits = Iterator[Edit]


def measured_run(estimate: Estimate, system: str = "") -> MeasuredRun:
    """Run of an estimate.

    Raises:
        InputError: an impossible combination.
    """
    if estimate.machine is None or estimate.placement is None or estimate.constants is None:
        raise InputError(f"{estimate.refusal} There is no prediction to compare with.")
    nouns: dict[str, Any] = {
        field.name: getattr(estimate, field.name) for field in fields(Estimate)
    }
    return MeasuredRun(**nouns, system=system)


def timed(words: str, **changes: Any) -> Edit:
    """An edit that leaves every part where it lies."""
    return Edit(words=words, changes=changes, moves=False)


def fits(estimate: Estimate) -> bool:
    """Whether an estimate exists and every memory is large enough."""
    return not estimate.refusal and bool(estimate.fits)


def times(speed: Range, factor: Array) -> Range:
    """A speed and its range, multiplied by a factor."""
    return Range(value=speed.value * factor, low=speed.low * factor, high=speed.high * factor)


def scaled_link(gpu: Gpu, factor: Array) -> Gpu:
    """A GPU with the rates of its link multiplied by a factor."""
    rates = ("pinned", "pageable", "zero_copy")
    figures = {name: getattr(gpu.link, name) for name in rates}
    changed = {name: replace(rate, value=rate.value * factor) for name, rate in figures.items()}
    return replace(gpu, link=replace(gpu.link, **changed))


# Processor: threads, sockets, clock limits, other load.

EFFICIENT = 0.55
"""Speed with a thread on every core, relative to the performance cores alone: 3.81 of 6.93 tokens/s
on four and four cores (https://github.com/ggml-org/llama.cpp/issues/7176, 2024-05)."""
FAR_NODE = 2.40 / 4.31
"""Speed with pages on the wrong socket, relative to pages on both, two EPYC 9175F
(https://github.com/ggml-org/llama.cpp/issues/11744, 2025-02)."""
FAR_LINK = 3.78 / 12.15
"""Copy rate from the other socket's memory, relative to the near socket's
(https://github.com/mpicbg-scicomp/gearshifft/issues/82)."""
SLOWER_CLOCKS = (0.7, 0.5)
"""Clock relative to the usual one, for a processor on battery, hot or in a power-saving mode;
assumed."""
LEFT_OVER = (0.75, 0.5)
"""Shares of a processor or GPU that other programs leave free; assumed."""


def _slower_cpu(share: float) -> Mapping[str, float]:
    """Factors of the constants of a processor whose cores and RAM reach a share of their speed."""
    return dict.fromkeys(("cpu_read_share", *CORE_RATES), share)


def many_threads(run: MeasuredRun) -> Edits:
    """More threads than cores, which wait for each other in every layer."""
    if not run.takes(Route.IN_PLACE) or run.machine.host.thread_excess:
        return
    row, excesses = run.host_row, {"threads past the cores": PAST_CORES}
    if row is None or not row.threads or row.threads > row.cores:
        excesses = {"all hyper-threads": HYPER_THREADS, **excesses}
    for words, excess in excesses.items():
        effect = effect_of("threads", excess)
        share = 1.0 if effect is None else effect.token
        yield run.scaled(words, _slower_cpu(share), "sweeps over threads")


def few_threads(run: MeasuredRun) -> Edits:
    """Fewer threads than cores, too few to use the bandwidth of RAM."""
    cores = run.machine.host.cores
    if run.takes(Route.IN_PLACE):
        for used in sorted({cores // 2, cores // 4, 4, 2}):
            if 0 < used < cores:
                yield run.on_host(f"{used} threads on {cores} cores", cores=used)


def efficient_cores(run: MeasuredRun) -> Edits:
    """Threads on the efficiency cores of a hybrid processor, which slow down all others."""
    row = run.host_row
    if row is None or run.machine.host.thread_excess or not run.takes(Route.IN_PLACE):
        return
    if row.performance_cores and row.performance_cores < row.cores:
        words = f"threads on all {row.cores} cores, {row.performance_cores} of them fast"
        yield run.scaled(words, _slower_cpu(EFFICIENT), "two kinds of cores")


def far_memory(run: MeasuredRun) -> Edits:
    """Weights in the memory of the other socket."""
    host = run.machine.host
    several = host.sockets > 1 and host.numa not in ONE_NODE
    if several and run.takes(Route.IN_PLACE, Route.STREAMED):
        constants = run.constants.scaled(_slower_cpu(FAR_NODE), "pages on the wrong socket")
        yield run.on_gpus("", lambda gpu: scaled_link(gpu, FAR_LINK), constants=constants)


def cpu_limits(run: MeasuredRun) -> Edits:
    """Cores below their usual clock, with RAM at full speed."""
    if run.takes(Route.IN_PLACE):
        for share in SLOWER_CLOCKS:
            clocked = dict.fromkeys(CORE_RATES, share)
            yield run.scaled(f"cores at {share:.0%} of their clock", clocked, "slower clock")


def other_load(run: MeasuredRun) -> Edits:
    """Other programs that use RAM bandwidth, cores or the GPU."""
    if run.takes(Route.IN_PLACE):
        for share in LEFT_OVER:
            words = f"{share:.0%} of RAM bandwidth and cores left"
            yield run.scaled(words, _slower_cpu(share), "other programs")
    if run.takes(Route.RESIDENT):
        half = LEFT_OVER[-1]
        factors = {**_slower_gpu(half), "gpu_flop_share": half}
        yield run.scaled(f"{half:.0%} of the GPU left", factors, "other programs")


# RAM and drive: lower bandwidth, a smaller page cache.

SLOWER_RATES = {"DDR4": (2133, 2400, 2666), "DDR5": (3600, 4000, 4800)}
"""Rates of modules without their XMP or EXPO profile, or of four modules on two channels [MT/s].
JEDEC's first speeds of each type; AMD gives DDR5-3600 for four modules (Ryzen 9 7950X,
specifications)."""
TAKEN = (0.25, 0.5, 0.75, 0.9)
"""Shares of RAM that other programs may use; assumed."""
ALLOWED = (0.75, 0.5, 0.25)
"""Shares of the weights in RAM for which a limit leaves room; assumed."""
SLOWER_DRIVES = ("NVMe PCIe 3.0 x4 (typical)", "USB 3.2 Gen 2 external SSD (typical)",
                 "SATA SSD (typical)", "7200 rpm HDD (typical)")  # fmt: skip


def one_channel(run: MeasuredRun) -> Edits:
    """Half of the memory channels in use, down to one of up to eight."""
    if not _modules_in_doubt(run):
        return
    row, figure = run.host_row, run.machine.host.bandwidth
    channels = int(row.memory_channels or 2) if row else 2
    for filled in (1, 2, 4, 6, 8):
        if channels / 8 <= filled <= channels / 2:
            fewer = replace(figure, value=figure.value * filled / channels)
            yield run.on_host(f"{filled} of {channels} channels", bandwidth=fewer)


OLDER_TYPE = "Desktop DDR4-3200 dual-channel (typical)"
"""Memory where a board or a machine is older than assumed."""


def older_memory(run: MeasuredRun) -> Edits:
    """DDR4 where DDR5 was assumed: in a typical machine, or on a board of the older type."""
    row, figure = run.host_row, run.machine.host.bandwidth
    if row is None or row.memory_type != "DDR5" or not _modules_in_doubt(run):
        return
    if not row.name.endswith("(typical)") and not any_of("takes both").match(row.name):
        return
    older = find_host(OLDER_TYPE)
    rate, now = older.memory_mts, row.memory_mts
    if row.segment in ("desktop", "laptop") and rate and now:
        slower = replace(figure, value=figure.value * rate / now)
        words = f"{older.memory_type}-{rate:.0f} in place of {row.memory_type}-{now:.0f}"
        yield run.on_host(words, bandwidth=slower)


def one_gpu(run: MeasuredRun) -> Edits:
    """One GPU in use of several."""
    gpus = run.machine.gpus
    if len(gpus) > 1 and run.machine.nodes == 1 and run.takes(Route.RESIDENT):
        alone = replace(run.machine, gpus=gpus[:1])
        yield run.placed(f"1 of {len(gpus)}", run.settings, machine=alone)


def slow_modules(run: MeasuredRun) -> Edits:
    """Memory modules below the rate in the processor's catalogue row."""
    row, figure = run.host_row, run.machine.host.bandwidth
    if row is None or not row.memory_mts or not _modules_in_doubt(run):
        return
    for rate in SLOWER_RATES.get(row.memory_type, ()):
        if rate < row.memory_mts:
            slower = replace(figure, value=figure.value * rate / row.memory_mts)
            words = f"{row.memory_type}-{rate} in place of {number(row.memory_mts)}"
            yield run.on_host(words, bandwidth=slower)


def _modules_in_doubt(run: MeasuredRun) -> bool:
    """Whether RAM is read, socketed, and of unmeasured bandwidth."""
    row, figure = run.host_row, run.machine.host.bandwidth
    soldered = run.machine.unified or (row is not None and row.memory_type.startswith("LP"))
    return run.takes(Route.IN_PLACE) and not soldered and figure.kind is not Provenance.MEASURED


def pages_lost(run: MeasuredRun) -> Edits:
    """Weights read again from the drive, because other programs use RAM.

    Weights in RAM are pages of the file, which the system evicts; in a placement on the drive, the
    page cache is smaller than assumed.
    """
    if not run.in_llama_cpp or run.machine.disk is None or run.machine.unified:
        return
    if run.strategy is PlacementStrategy.NVME_OFFLOAD:
        yield from _felt(run, _uncached(run))
    elif run.strategy is PlacementStrategy.CPU_OFFLOAD:
        yield from _felt(run, _crowded(run))


def _uncached(run: MeasuredRun) -> Edits:
    """A smaller page cache.

    A cyclic scan larger than the cache finds no page in it, so that its size may not matter.
    """
    for share in (0.5, 0.0):
        cache = float(run.placement.page_cache) * share
        yield run.placed(
            f"{memory(cache)} for the page cache", replace(run.layout, page_cache=cache)
        )


def _felt(run: MeasuredRun, edits: Edits) -> Edits:
    """Edits that fit, each slower than those before it."""
    slowest = float(rates(run)[0].value)
    for edit in edits:
        after = edit.of(run)
        if fits(after) and float(rates(after)[0].value) < slowest:
            slowest = float(rates(after)[0].value)
            yield edit


def memory_limit(run: MeasuredRun) -> Edits:
    """A limit on the server's RAM, under which the system drops pages of the file."""
    weights = float(weight_bytes(run.model, run.placement, RAM))
    in_ram = run.strategy is PlacementStrategy.CPU_OFFLOAD
    if run.in_llama_cpp and run.machine.disk is not None and in_ram and weights:
        for share in ALLOWED:
            yield _cached(run, f"room for {memory(weights * share)} of the file", weights * share)


def _cached(run: MeasuredRun, words: str, size: float) -> Edit:
    """The drive read for what a page cache of a size [B] does not hold."""
    layout = replace(run.layout, page_cache=size)
    return run.placed(words, layout, strategy=PlacementStrategy.NVME_OFFLOAD)


def _crowded(run: MeasuredRun) -> Edits:
    model, placement, ram = run.model, run.placement, float(run.machine.host.memory.value)
    weights = float(weight_bytes(model, placement, RAM))
    beside = float(needed_bytes(model, placement, RAM, run.work)) - weights
    for share in TAKEN:
        left = max(ram * (1 - share) - SYSTEM_RAM - beside, 0.0)
        if left < weights:
            yield _cached(run, f"{memory(ram * share)} of RAM taken by other programs", left)


def slow_drive(run: MeasuredRun) -> Edits:
    """A drive of a slower class than assumed."""
    disk = run.machine.disk
    if disk is None or disk.sequential.kind is Provenance.MEASURED:
        return
    if not run.takes(Route.PAGED, Route.STAGED):
        return
    for name in SLOWER_DRIVES:
        slower = from_catalog.disk(name)
        if slower.sequential.value < disk.sequential.value:
            machine = replace(run.machine, disk=slower)
            yield timed(name.removesuffix(" (typical)"), machine=machine)


# GPU: a slower link, a power limit.

POWER_LIMITS = ((1 / 2, 0.93, 0.77), (1 / 3, 0.68, 0.55), (2 / 7, 0.17, 0.14))
"""Power limit relative to the default, with the remaining share of generation and prompt speed: RTX
PRO 6000 at 300 and 200 of 600 W (data/measurements/llama_cpp.csv, lc0627 to lc0630), RTX 3090 at
100 of 350 W (https://llmgarage.ai/power-limit-tokens-per-second-benchmark, 2026-02)."""


def _slower_gpu(share: float) -> Mapping[str, float]:
    """Factors of the constants of a GPU that reads at a share of its rate."""
    return {**dict.fromkeys(GPU_READS, share), **dict.fromkeys(GPU_TIMES, 1 / share)}


def narrow_link(run: MeasuredRun) -> Edits:
    """A link with fewer lanes or of an older generation than the card supports."""
    if not run.takes(Route.STREAMED, Route.STAGED) or run.machine.unified:
        return
    card = run.machine.gpus[0]
    row = find_gpu(card.name)
    if card.link.pinned.kind is Provenance.MEASURED or not row.pcie_gen or not row.pcie_lanes:
        return
    slots = ((row.pcie_gen, 8), (row.pcie_gen, 4), (3, row.pcie_lanes), (1, row.pcie_lanes), (1, 4))
    for generation, lanes in dict.fromkeys(slots):
        link = from_catalog.pcie(generation, lanes)
        if link.pinned.value < 0.95 * card.link.pinned.value:
            yield run.on_gpus(link.name, partial(replace, link=link))


def gpu_limits(run: MeasuredRun) -> Edits:
    """A GPU with a lower power limit; prompts slow down sooner than generation."""
    if run.takes(Route.RESIDENT):
        for power, decode, prompt in POWER_LIMITS:
            factors = {**_slower_gpu(decode), "gpu_flop_share": prompt}
            yield run.scaled(f"{power:.0%} of its usual power", factors, "sweeps over power")


MACHINE_CAUSES = (
    one_channel, slow_modules, older_memory, one_gpu, pages_lost, memory_limit, slow_drive,
    narrow_link, other_load, many_threads, few_threads, efficient_cores, far_memory, gpu_limits,
    cpu_limits,
)  # fmt: skip
"""Causes of this module."""
