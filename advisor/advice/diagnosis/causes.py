"""Possible causes of a gap between measured and predicted speed that are no mere factors.

A cause changes the machine, the request, the placement, a constant, or how the speed is counted, in
one or more degrees. What a run must have is in the cause's row of data/diagnosis/causes.csv.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from operator import methodcaller
from typing import Any

import numpy as np

from advisor.advice.diagnosis.measured_run import Edits, MeasuredRun, fits, multiplied, timed
from advisor.advice.edits.edit import Edit, Rates, rates
from advisor.catalog.constants import Constants
from advisor.catalog.inputs import INPUTS
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Location, PlacementStrategy, Settings, Tier
from advisor.cost_model.schedule import Schedule
from advisor.errors import Refusal
from advisor.machine import from_catalog
from advisor.machine.backends import Backend, Build, SoftwareEffect, ThreadExcess
from advisor.machine.catalog import GPUS, HOSTS
from advisor.machine.machine import Host, Link
from advisor.machine.names.words import any_of
from advisor.model import catalog
from advisor.runtimes.llama_cpp.splits import most_whole_layers
from advisor.units import GIB, Provenance, memory, number

# Request: other tokens, file, build or method of measuring.

MOST_CONTEXT = (INPUTS["context"].limits or (0.0, 0.0))[1]  # largest context of a request [tokens]
FORMATS = ("IQ2_XXS", "Q2_K", "Q3_K_M", "IQ4_XS", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "BF16")
"""Formats that GGUF repositories usually offer together, smallest first."""
BENCH_TOKENS = 128
"""Tokens that llama-bench generates, from an empty cache (`-n`, tools/llama-bench/README.md)."""
CACHED = (0.5, 0.9)  # shares of a prompt that may be cached from an earlier request; assumed
SHORT_PROMPTS = (16, 32, 64, 128)  # lengths of a question of a sentence or a paragraph [tokens]


def whole_reply(run: MeasuredRun) -> Edits:
    """Speed measured over the whole reply, with the time of the prompt."""
    if float(run.work.fresh) > 0:
        rate = run.work.output / run.reply
        factor = rate / rates(run).decode.value
        yield timed("generation and prompt together", partial(multiplied, decode=factor))


def all_users(run: MeasuredRun) -> Edits:
    """Speed measured over all users together."""
    users = float(run.work.users)
    yield timed(f"{users:.0f} users together", partial(multiplied, decode=users))


def empty_context(_: MeasuredRun) -> Edits:
    """Speed measured from an empty cache, as by llama-bench."""
    bench = partial(_of_request, "decode", prompt=0, cached=0, output=BENCH_TOKENS)
    yield timed(f"{BENCH_TOKENS} tokens from an empty cache", bench)


def _of_request(which: str, estimate: Estimate, **lengths: Any) -> Rates:
    """Speeds, of which one is that of a request with other lengths."""
    other = rates(replace(estimate, work=replace(estimate.work, **lengths)))
    return rates(estimate)._replace(**{which: getattr(other, which)})


def kept_prompt(run: MeasuredRun) -> Edits:
    """Prompt that was partly in the cache already, but is counted whole in its speed."""
    for share in CACHED:
        cached = np.floor(run.work.prompt * share)
        if float(cached) > float(run.work.cached):
            work = replace(run.work, cached=cached)
            counted = partial(multiplied, prompt=run.work.fresh / np.maximum(work.fresh, 1.0))
            yield timed(f"{share:.0%} of the prompt kept", counted, work=work)


def short_prompt(run: MeasuredRun) -> Edits:
    """Prompt that was shorter than assumed, so that each of its tokens took longer."""
    for tokens in SHORT_PROMPTS:
        if tokens < float(run.work.fresh):
            short = partial(_of_request, "prompt", prompt=tokens, cached=0)
            yield timed(f"{tokens} tokens", short)


def deeper_context(run: MeasuredRun) -> Edits:
    """More tokens in the cache than assumed."""
    work = run.work
    for share in (0.25, 0.5, 1.0):
        prompt = float(work.context) * share - float(work.output)
        if prompt > 1.5 * float(work.prompt):
            yield timed(f"{prompt:,.0f} tokens in the cache", work=replace(work, prompt=prompt))


def more_context(run: MeasuredRun) -> Edits:
    """Context that is larger than assumed, which leaves VRAM for fewer layers."""
    for factor in (2, 4, 8, 16):
        context = float(run.work.context) * factor
        if context > MOST_CONTEXT:
            return
        work = replace(run.work, context=context)
        larger, split = _automatic(run, f"a context of {context:,.0f} tokens", work=work)
        after = split.of(run).placement
        before = run.placement
        if after is None or fits(larger.of(run)):
            continue
        fewer = float(after.gpu_layers) < float(before.gpu_layers)
        if fewer or float(after.cpu_moe) > float(before.cpu_moe):
            yield split


def _automatic(run: MeasuredRun, words: str, **changes: object) -> list[Edit]:
    """llama.cpp's automatic placements: all in VRAM, and the rest elsewhere."""
    on_drive = run.strategy is PlacementStrategy.NVME_OFFLOAD
    if on_drive:
        rest = PlacementStrategy.NVME_OFFLOAD
    else:
        rest = PlacementStrategy.CPU_OFFLOAD
    strategies = (PlacementStrategy.GPU_RESIDENT, rest)
    return [run.placed(words, Settings(), strategy=strategy, **changes) for strategy in strategies]


def _in_formats(run: MeasuredRun, least: float = 0.0, most: float = np.inf) -> Edits:
    """Edits to other formats of the same model, by their size relative to the present one.

    Each is in the present layout, or in the first automatic one that fits.
    """
    for form in FORMATS:
        with suppress(Refusal):
            model = catalog.in_format(run.model.architecture, form)
            if least < model.file_bytes / run.model.file_bytes < most:
                words = f"{model.format}, {memory(model.file_bytes)}"
                now = run.placed(words, run.layout, model=model)
                yield from _first_fitting(run, now, *_automatic(run, words, model=model))


def _first_fitting(run: MeasuredRun, *edits: Edit) -> Edits:
    """First of several placements that fits."""
    return islice((edit for edit in edits if fits(edit.of(run))), 1)


def old_build(run: MeasuredRun) -> Edits:
    """Build of llama.cpp from before its present kernels.

    Before flash attention and CUDA graphs were usual; on AMD's cards also before prompts used
    integer dot products and matrix units.
    """
    scope = run.constants.scope
    for kind, first in Build.kinds(scope.interface).items():
        if kind == Build.OLDEST or run.machine.gpus[0].vendor == "AMD":
            aged = run.constants.bound(replace(scope, build=kind))
            yield timed(f"from before {first}", constants=aged)


def no_flash_attention(run: MeasuredRun) -> Edits:
    """Attention without flash attention, which reads the cache as slowly as old builds do."""
    scope = run.constants.scope
    name = "gpu_kv_share"
    family = run.machine.gpus[0].family
    old = run.constants.bound(replace(scope, build=Build.OLDEST)).value(name, family)
    share = old / run.constants.bound(scope).value(name, family)
    yield timed("", constants=run.constants.scaled({name: share}, "builds without flash attention"))


def no_repacking(run: MeasuredRun) -> Edits:
    """Weights in the file's layout on the processor, as always beside a GPU."""
    if run.model.decode_class not in ("f16", "bf16", "f32"):
        yield run.rescheduled("", _plain)


def _plain(schedule: Schedule) -> Schedule:
    stages = (tuple(replace(flow, repacked=False) for flow in stage) for stage in schedule.stages)
    return replace(schedule, stages=tuple(stages))


# Placement: other layers on the GPU, VRAM that is full, no GPU; other software.

OTHERS_IN_VRAM = (0.0, 1.0, 2.0, 4.0)
"""VRAM of the desktop, a browser or another model; assumed [GiB]."""
FEWER = (0.9, 0.75, 0.5, 0.25, 0.0)  # layers really on the GPU, as shares of the assumed number


def spilled(run: MeasuredRun) -> Edits:
    """VRAM overflow into RAM, which the GPU reads over the link.

    Windows does this without a message; on other systems the allocation fails.
    """
    used = np.array([float(size) for size in run.held[Tier.VRAM]])
    room = np.array([float(gpu.memory.value) for gpu in run.machine.gpus])
    for others in OTHERS_IN_VRAM:
        short = np.maximum(used + others * GIB / len(room) - room, 0.0)
        share = float(np.sum(short) / np.sum(used))
        if 0 < share < 1:
            lost = f"{memory(float(np.sum(short)))} spilled"
            if others:
                words = f"{lost} beside {others:.0f} GB of other programs"
            else:
                words = lost
            yield run.rescheduled(words, methodcaller("spilled", share))


def cpu_alone(run: MeasuredRun) -> Edits:
    """No GPU in use: the runtime was built without GPU support, or does not find the GPU."""
    without = replace(run.machine, gpus=())
    elsewhere = (PlacementStrategy.CPU_OFFLOAD, PlacementStrategy.NVME_OFFLOAD)
    return _first_fitting(
        run, *(run.placed("", Settings(), strategy=way, machine=without) for way in elsewhere)
    )


def one_gpu(run: MeasuredRun) -> Edits:
    """One of several GPUs in use, the others idle."""
    gpus = run.machine.gpus
    first = replace(run.machine, gpus=gpus[:1])
    yield run.placed(f"1 of {len(gpus)}", run.settings, machine=first)


def fewer_layers(run: MeasuredRun) -> Edits:
    """Fewer layers on the GPU than assumed."""
    now = int(run.placement.gpu_layers)
    layers = run.model.layers
    tried = {round(now * share) for share in FEWER} | ({now - 1} if now == layers else set())
    resident = run.strategy is PlacementStrategy.GPU_RESIDENT
    if resident:
        beside = PlacementStrategy.CPU_OFFLOAD
    else:
        beside = run.strategy
    for count in sorted(tried - {now}, reverse=True):
        split = replace(run.layout, gpu_layers=float(count))
        yield run.placed(f"{count} of {layers} layers", split, strategy=beside)


def whole_layers(run: MeasuredRun) -> Edits:
    """Whole layers on the GPU, as many as fit, with their experts."""
    if not float(run.placement.cpu_moe):
        return
    model = run.model
    work = run.work
    count = float(most_whole_layers(model, run.machine, work))
    words = f"{count:.0f} of {model.layers} layers, whole"
    yield run.placed(words, replace(run.layout, gpu_layers=count, cpu_moe=0.0))


def cache_in_ram(run: MeasuredRun) -> Edits:
    """KV cache in RAM, with attention computed by the processor in every layer."""
    if not run.cache_in_ram:
        layers = np.ones(run.model.layers)
        yield timed("", placement=replace(run.placement, kv={Location.RAM: layers}))


def more_layers(run: MeasuredRun) -> Edits:
    """More layers, or experts of more layers, on the GPU than a placement with a margin allows."""
    now = float(run.placement.gpu_layers)
    layers = float(run.model.layers)
    moe = float(run.placement.cpu_moe)
    for more in (1.0, 2.0, 4.0, 8.0):
        if now < layers:
            count = min(now + more, layers)
            split = replace(run.layout, gpu_layers=count)
            yield run.placed(f"{count:.0f} layers on the GPU", split)
        elif moe:
            count = max(moe - more, 0.0)
            split = replace(run.layout, cpu_moe=count)
            yield run.placed(f"experts of {count:.0f} layers in RAM", split)


def old_driver(run: MeasuredRun) -> Edits:
    """Driver that published comparisons call slower than today's; none where the driver is
    stated.
    """
    machine = run.machine
    if machine.driver or run.system not in ("", "Linux", "macOS"):
        return
    card = machine.gpus[0]
    backend = run.constants.scope.interface
    for row in SoftwareEffect.slower_drivers(card.vendor, card.family, backend):
        aged = replace(machine, driver=str(row.last_driver))
        label = row.label
        yield timed(
            f"{label} before {row.before}" if row.before else label,
            machine=aged,
            constants=run.constants_with(aged),
        )


def other_backend(run: MeasuredRun) -> Edits:
    """Backend other than the usual one of the card; none where the backend is stated.

    NVIDIA's cards have CUDA in every usual build.
    """
    machine = run.machine
    scope = run.constants.scope
    vendor = machine.gpus[0].vendor
    if machine.backend or vendor == "NVIDIA":
        return
    for name in Backend.of_vendor(vendor, machine.system):
        if name != scope.interface:
            yield timed(
                f"{name.label} in place of {Backend(scope.interface).label}",
                constants=run.constants.bound(replace(scope, backend=name)),
            )


# Serving engines: graphs, other requests.

EAGER_LAYER = (8.4e-3 / 32, 22.5e-3 / 28)
"""Time in which the processor starts the kernels of a layer one by one [s]: 8.4 ms a token for the
32 layers of Llama 3.1 8B on an H100, with graphs 5.1
(https://cloudai.pt/cuda-graphs-torch-compile-1-65x-llm-decode-speedup/); 22 to 23 ms for the 28
of Qwen2.5-Omni-7B on an A800, with graphs 13
(https://github.com/vllm-project/vllm-omni/issues/7960, 2026-09); both read 2026-11-23."""
REQUESTS = (4, 16, 64)  # requests that are served at the same time, for each user; assumed


def eager_mode(run: MeasuredRun) -> Edits:
    """Kernels started one by one: a step takes as long as the processor needs to start them."""
    for layer in EAGER_LAYER:
        words = f"{1000 * layer:.1f} ms a layer to start its kernels"
        yield timed(words, partial(_started, layer * run.model.layers))


def _started(seconds: float, estimate: Estimate) -> Rates:
    """Speeds where neither a token nor a prompt takes less than the time to start its kernels."""
    token, prompt = (
        float(time.total) if time else seconds for time in (estimate.step, estimate.prompt)
    )
    return multiplied(estimate, token / max(token, seconds), prompt / max(prompt, seconds))


def other_requests(run: MeasuredRun) -> Edits:
    """Further requests that the engine serves at the same time."""
    for count in REQUESTS:
        work = replace(run.work, users=run.work.users * count)
        yield timed(f"{count * float(run.work.users):.0f} together", work=work)


# Processor, RAM and drive: threads, lower bandwidth, a smaller page cache.

SLOWER_RATES = {"DDR4": (2133, 2400, 2666), "DDR5": (3600, 4000, 4800)}
"""Rates of modules without their XMP or EXPO profile, or of four modules on two channels [MT/s].
JEDEC's first speeds of each type; AMD gives DDR5-3600 for four modules (Ryzen 9 7950X,
specifications)."""
OLDER_TYPE = "Desktop DDR4-3200 dual-channel (typical)"
"""Memory where a board or a machine is older than assumed."""
TAKEN = (0.25, 0.5, 0.75, 0.9)  # shares of RAM that other programs may use; assumed
ALLOWED = (0.75, 0.5, 0.25)  # shares of the weights in RAM for which a limit leaves room; assumed
SLOWER_DRIVES = ("NVMe PCIe 3.0 x4 (typical)", "USB 3.2 Gen 2 external SSD (typical)",
                 "SATA SSD (typical)", "7200 rpm HDD (typical)")  # fmt: skip


def many_threads(run: MeasuredRun) -> Edits:
    """More threads than cores, which wait for each other in every layer."""
    row = run.host_row
    excesses = {"threads past the cores": ThreadExcess.PAST_CORES}
    if row is None or not row.threads or row.threads > row.cores:
        excesses = {"all hyper-threads": ThreadExcess.HYPER_THREADS, **excesses}
    for words, excess in excesses.items():
        effect = SoftwareEffect.of("threads", excess)
        if effect is None:
            share = 1.0
        else:
            share = effect.token
        factors = dict.fromkeys(("cpu_read_share", *Constants.OF_PART["core rates"]), share)
        yield timed(words, constants=run.constants.scaled(factors, "sweeps over threads"))


def few_threads(run: MeasuredRun) -> Edits:
    """Fewer threads than cores, too few to use the bandwidth of RAM."""
    host = run.machine.host
    for used in sorted({host.cores // 2, host.cores // 4, 4, 2}):
        if 0 < used < host.cores:
            machine = replace(run.machine, host=replace(host, cores=used))
            yield timed(f"{used} threads on {host.cores} cores", machine=machine)


def one_channel(run: MeasuredRun) -> Edits:
    """Memory channels that are half in use, down to one of up to eight."""
    row = run.host_row
    if row:
        channels = int(row.memory_channels or 2)
    else:
        channels = 2
    for filled in (1, 2, 4, 6, 8):
        if channels / 8 <= filled <= channels / 2:
            words = f"{filled} of {channels} channels"
            yield run.with_rates(words, "host.bandwidth", filled / channels)


def slow_modules(run: MeasuredRun) -> Edits:
    """Memory modules below the rate in the processor's catalogue row."""
    row = run.host_row
    now = row.memory_mts if row else None
    for rate in SLOWER_RATES.get(row.memory_type, ()) if row else ():
        if row and now and rate < now:
            words = f"{row.memory_type}-{rate} in place of {number(now)}"
            yield run.with_rates(words, "host.bandwidth", rate / now)


def older_memory(run: MeasuredRun) -> Edits:
    """DDR4 where DDR5 was assumed: in a typical machine, or on a board of the older type."""
    row = run.host_row
    if row is None or row.memory_type != "DDR5":
        return
    if not row.is_typical and not any_of("takes both").match(row.name):
        return
    older = HOSTS.find(OLDER_TYPE)
    rate = older.memory_mts
    now = row.memory_mts
    if row.segment in ("desktop", "laptop") and rate and now:
        words = f"{older.memory_type}-{rate:.0f} in place of {row.memory_type}-{now:.0f}"
        yield run.with_rates(words, "host.bandwidth", rate / now)


def pages_lost(run: MeasuredRun) -> Edits:
    """Weights read again from the drive because other programs use RAM, in degrees of rising cost.

    Weights in RAM are pages of the file, which the system evicts; in a placement on the drive, the
    page cache is smaller than assumed. A cyclic scan larger than the cache finds no page in it, so
    that its size may not matter.
    """
    slowest = float(rates(run).decode.value)
    for edit in _crowded(run):
        after = edit.of(run)
        if fits(after) and float(rates(after).decode.value) < slowest:
            slowest = float(rates(after).decode.value)
            yield edit


def _crowded(run: MeasuredRun) -> Edits:
    """Less room for pages of the file."""
    if run.strategy is PlacementStrategy.NVME_OFFLOAD:
        for share in (0.5, 0.0):
            size = float(run.placement.page_cache) * share
            yield _cached(run, f"{memory(size)} for the page cache", size)
    elif run.strategy is PlacementStrategy.CPU_OFFLOAD:
        weights = float(run.placement.weight_bytes(run.model, Location.RAM))
        beside = float(run.placement.needed_bytes(run.model, Location.RAM, run.work)) - weights
        for share in TAKEN:
            ram = float(run.machine.host.memory.value)
            left = max(ram * (1 - share) - Host.SYSTEM_RAM - beside, 0.0)
            if left < weights:
                yield _cached(run, f"{memory(ram * share)} of RAM taken by other programs", left)


def memory_limit(run: MeasuredRun) -> Edits:
    """Limit on the server's RAM, under which the system drops pages of the file."""
    weights = float(run.placement.weight_bytes(run.model, Location.RAM))
    for share in ALLOWED if weights else ():
        yield _cached(run, f"room for {memory(weights * share)} of the file", weights * share)


def _cached(run: MeasuredRun, words: str, size: float) -> Edit:
    """Drive read for what a page cache of a size [B] does not hold."""
    layout = replace(run.layout, page_cache=size)
    return run.placed(words, layout, strategy=PlacementStrategy.NVME_OFFLOAD)


def slow_drive(run: MeasuredRun) -> Edits:
    """Drive of a slower class than assumed."""
    disk = run.machine.disk
    if disk is None or disk.sequential.kind is Provenance.MEASURED:
        return
    for name in SLOWER_DRIVES:
        slower = from_catalog.disk(name)
        if slower.sequential.value < disk.sequential.value:
            machine = replace(run.machine, disk=slower)
            yield timed(name.removesuffix(" (typical)"), machine=machine)


def narrow_link(run: MeasuredRun) -> Edits:
    """Link with fewer lanes or of an older generation than the card supports."""
    machine = run.machine
    card = run.machine.gpus[0]
    row = GPUS.find(card.name)
    if card.link.pinned.kind is Provenance.MEASURED or not row.pcie_gen or not row.pcie_lanes:
        return
    slots = ((row.pcie_gen, 8), (row.pcie_gen, 4), (3, row.pcie_lanes), (1, row.pcie_lanes), (1, 4))
    for generation, lanes in dict.fromkeys(slots):
        link = Link.pcie(generation, lanes)
        if link.pinned.value < 0.95 * card.link.pinned.value:
            gpus = tuple(replace(gpu, link=link) for gpu in machine.gpus)
            yield timed(link.name, machine=replace(machine, gpus=gpus))


FUNCTIONS: Mapping[str, Callable[[MeasuredRun], Edits]] = {
    "larger_file": partial(_in_formats, least=1.05),
    "smaller_file": partial(_in_formats, most=0.95),
} | {
    cause.__name__: cause
    for cause in (
        whole_reply,
        cpu_alone,
        one_gpu,
        fewer_layers,
        whole_layers,
        more_context,
        deeper_context,
        spilled,
        one_channel,
        slow_modules,
        older_memory,
        pages_lost,
        memory_limit,
        slow_drive,
        narrow_link,
        many_threads,
        few_threads,
        no_flash_attention,
        old_build,
        old_driver,
        other_backend,
        no_repacking,
        cache_in_ram,
        all_users,
        empty_context,
        more_layers,
        kept_prompt,
        short_prompt,
        eager_mode,
        other_requests,
    )
}
"""Causes that are no mere factors, by their key in data/diagnosis/causes.csv."""
