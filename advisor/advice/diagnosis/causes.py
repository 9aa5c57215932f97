"""Possible causes of a gap between measured and predicted speed, each an edit of the estimate.

A cause changes the machine, the request, the placement, a constant, or how the speed is counted, in
one or more degrees. A cause that is impossible for a run yields no edit.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice

import numpy as np

from advisor.advice.diagnosis.machine_causes import (
    MACHINE_CAUSES,
    Edits,
    MeasuredRun,
    fits,
    timed,
    times,
)
from advisor.advice.edits.edit import Edit, Rates, rates
from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.inputs import BY_NAME
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.measured_constants import conditioned
from advisor.cost_model.placement import RAM, PlacementStrategy, Settings, Tier, layers_that_fit
from advisor.cost_model.schedule import Flow, Route, Schedule, Stage, Transfer, alone
from advisor.cost_model.uncertainty import Range
from advisor.errors import Refusal
from advisor.formatting import memory
from advisor.machine import backends
from advisor.machine.backends import (
    DRIVER_LABELS,
    KERNELS,
    OLDEST_BUILD,
    SYSTEMS,
    USUAL_FLASH_ATTENTION,
    GraphicsDriver,
    drivers_of,
    month_words,
)
from advisor.machine.stated_software import NOTABLE
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes import SGLANG, VLLM
from advisor.runtimes.llama_cpp.buffers import kv_cache_bytes
from advisor.runtimes.llama_cpp.layer_split import gpu_budget
from advisor.units import GIB, Array


@dataclass(frozen=True, kw_only=True, slots=True)
class CauseRow:
    """One row of data/diagnosis/causes.csv."""

    key: str  # key of `CAUSES`, which computes its speeds
    vendor: str  # vendor of the first GPU that the row applies to; empty for any
    system: str  # operating system that the row applies to; empty for any
    cause: str  # difference from what was assumed, as a clause
    # frequency of the cause before any measurement, 0 to 1; our judgement of reports, not a count:
    # only the order matters
    prior: float
    test: str  # what to check, and what the result means
    command: str  # command of the test; empty where there is none
    fix: str  # remedy
    source: str  # documentation of the test and its options
    retrieved: str  # date when the source was read
    note: str  # further sources


@cache
def cause_rows() -> tuple[CauseRow, ...]:
    """All rows, in the order of the file."""
    return read(DATA / "diagnosis/causes.csv", CauseRow)


def row_for(key: str, vendor: str, system: str) -> CauseRow | None:
    """Most specific row of a cause for a machine, by the maker of its first GPU; None where none
    applies. An unknown system excludes no row.
    """
    fitting = [
        row
        for row in cause_rows()
        if row.key == key
        and row.vendor in ("", vendor)
        and (not system or row.system in ("", system))
    ]
    return max(fitting, key=lambda row: (row.vendor != "", row.system == system), default=None)


@dataclass(frozen=True, kw_only=True)
class Degree(Edit):
    """A cause in one degree, with the speeds that it gives."""

    decode: Range  # speed of generation, for each user [tokens/s]
    prompt: Range  # speed of the prompt [tokens/s]


def degrees(run: MeasuredRun, key: str) -> Iterator[Degree]:
    """Degrees of a cause, each with its speeds; those that memory is too small for left out."""
    for edit in CAUSES[key](run):
        if (speeds := run.speeds(edit)) is not None:
            decode, prompt = speeds
            yield Degree(**vars(edit), decode=decode, prompt=prompt)


# Request: other tokens, file, build or method of measuring.

MOST_CONTEXT = (BY_NAME["context"].limits or (0.0, 0.0))[1]
"""Largest context of a request [tokens]."""
FORMATS = ("IQ2_XXS", "Q2_K", "Q3_K_M", "IQ4_XS", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "BF16")
"""Formats that GGUF repositories usually offer together, smallest first."""
BENCH_TOKENS = 128
"""Tokens that llama-bench generates, from an empty cache (`-n`, tools/llama-bench/README.md)."""
DRAFTED = (1.5, 2.0)
"""Tokens per step with a draft model or multi-token prediction: about 2 on Qwen 3.6
(https://hexdocs.pm/llama_cpp_ex/LlamaCppEx.MTP.html, 2026), less on other text."""
CACHED = (0.5, 0.9)
"""Shares of a prompt that may be cached from an earlier request; assumed."""


def _counted(words: str, read: Callable[[Estimate], Rates], **changes: object) -> Edit:
    """Speeds counted otherwise."""
    return Edit(words=words, changes=changes, moves=False, read=read)


def _generated(factor: Array, estimate: Estimate) -> Rates:
    """Speeds with that of generation multiplied."""
    decode, prompt = rates(estimate)
    return times(decode, factor), prompt


def whole_reply(run: MeasuredRun) -> Edits:
    """Speed measured over the whole reply, with the time of the prompt."""
    if float(run.work.fresh) > 0:
        rate = run.work.output / run.reply
        factor = rate / rates(run)[0].value
        yield _counted("generation and prompt together", partial(_generated, factor))


def all_users(run: MeasuredRun) -> Edits:
    """Speed measured over all users together."""
    users = float(run.work.users)
    if users > 1:
        yield _counted(f"{users:.0f} users together", partial(_generated, users))


def drafted_tokens(_: MeasuredRun) -> Edits:
    """Several tokens per step, by drafting."""
    for accepted in DRAFTED:
        yield _counted(f"{accepted:g} tokens a step", partial(_generated, accepted))


def empty_context(run: MeasuredRun) -> Edits:
    """Speed measured from an empty cache, as by llama-bench."""
    bench = replace(run.work, prompt=0, cached=0, output=BENCH_TOKENS)

    def read(estimate: Estimate) -> Rates:
        return rates(replace(estimate, work=bench))[0], rates(estimate)[1]

    yield _counted(f"{BENCH_TOKENS} tokens from an empty cache", read)


def kept_prompt(run: MeasuredRun) -> Edits:
    """A part of the prompt in the cache already, but counted in its speed."""
    for share in CACHED:
        kept = np.floor(run.work.prompt * share)
        if float(kept) > float(run.work.cached):
            work = replace(run.work, cached=kept)
            counted = run.work.fresh / np.maximum(work.fresh, 1.0)

            def read(estimate: Estimate, counted: Array = counted) -> Rates:
                decode, prompt = rates(estimate)
                return decode, times(prompt, counted)

            yield _counted(f"{share:.0%} of the prompt kept", read, work=work)


SHORT_PROMPTS = (16, 32, 64, 128)
"""Lengths of a question of a sentence or a paragraph [tokens]."""


def short_prompt(run: MeasuredRun) -> Edits:
    """A shorter prompt than assumed, of which each token takes longer."""
    for tokens in SHORT_PROMPTS:
        if tokens < float(run.work.fresh):
            yield _counted(f"{tokens} tokens", partial(_prompt_of, tokens))


def _prompt_of(tokens: int, estimate: Estimate) -> Rates:
    work = replace(estimate.work, prompt=tokens, cached=0)
    return rates(estimate)[0], rates(replace(estimate, work=work))[1]


def deeper_context(run: MeasuredRun) -> Edits:
    """More tokens in the cache than assumed."""
    work = run.work
    for share in (0.25, 0.5, 1.0):
        prompt = float(work.context) * share - float(work.output)
        if prompt > 1.5 * float(work.prompt):
            yield timed(f"{prompt:,.0f} tokens in the cache", work=replace(work, prompt=prompt))


def more_context(run: MeasuredRun) -> Edits:
    """A larger context allocated, which leaves VRAM for fewer layers."""
    if not run.in_llama_cpp or not run.machine.gpus:
        return
    for factor in (2, 4, 8, 16):
        context = float(run.work.context) * factor
        if context > MOST_CONTEXT:
            return
        work = replace(run.work, context=context)
        larger, split = _automatic(run, f"a context of {context:,.0f} tokens", work=work)
        after, before = split.of(run).placement, run.placement
        if after is None or fits(larger.of(run)):
            continue
        fewer = float(after.gpu_layers) < float(before.gpu_layers)
        if fewer or float(after.cpu_moe) > float(before.cpu_moe):
            yield split


def _automatic(run: MeasuredRun, words: str, **changes: object) -> tuple[Edit, Edit]:
    """llama.cpp's automatic placement: all in VRAM, and the rest elsewhere."""
    on_drive = run.strategy is PlacementStrategy.NVME_OFFLOAD
    rest = PlacementStrategy.NVME_OFFLOAD if on_drive else PlacementStrategy.CPU_OFFLOAD
    strategies = (PlacementStrategy.GPU_RESIDENT, rest)
    first, second = (
        run.placed(words, Settings(), strategy=strategy, **changes) for strategy in strategies
    )
    return first, second


def larger_file(run: MeasuredRun) -> Edits:
    """A larger format of the same model."""
    for model in _formats(run):
        if model.file_bytes > 1.05 * run.model.file_bytes:
            yield from _in_format(run, model)


def smaller_file(run: MeasuredRun) -> Edits:
    """A smaller format of the same model."""
    for model in _formats(run):
        if model.file_bytes < 0.95 * run.model.file_bytes:
            yield from _in_format(run, model)


def _formats(run: MeasuredRun) -> Iterator[Model]:
    if run.in_llama_cpp:
        for form in FORMATS:
            with suppress(Refusal):
                yield catalog.in_format(run.model.architecture, form)


def _in_format(run: MeasuredRun, model: Model) -> Edits:
    """A format in the present layout, else in the first automatic one that fits."""
    words = f"{model.format}, {memory(model.file_bytes)}"
    yield from _first_fitting(
        run, run.placed(words, run.layout, model=model), *_automatic(run, words, model=model)
    )


def _first_fitting(run: MeasuredRun, *edits: Edit) -> Edits:
    """The first of several placements that fits."""
    fitting = (edit for edit in edits if fits(edit.of(run)))
    yield from islice(fitting, 1)


def old_build(run: MeasuredRun) -> Edits:
    """A build of llama.cpp from before its kernels of today.

    Before flash attention and CUDA graphs were usual; on AMD's cards also before prompts used
    integer dot products and matrix units.
    """
    scope = run.constants.scope
    if not run.in_llama_cpp or scope.build:
        return
    ages = {OLDEST_BUILD: USUAL_FLASH_ATTENTION}
    if scope.backend in KERNELS and run.machine.gpus[0].vendor == "AMD":
        ages["2025"] = KERNELS[scope.backend]
    for build, month in ages.items():
        aged = run.constants.bound(replace(scope, build=build))
        yield timed(f"from before {month_words(month)}", constants=aged)


def no_flash_attention(run: MeasuredRun) -> Edits:
    """No flash attention: the cache is read as fast as in old builds, all else as today."""
    scope, gpus = run.constants.scope, run.machine.gpus
    if not run.in_llama_cpp or not gpus or scope.build:
        return
    name, family = "gpu_kv_share", gpus[0].family
    old = run.constants.bound(replace(scope, build=OLDEST_BUILD)).value(name, family)
    share = old / run.constants.bound(scope).value(name, family)
    yield run.scaled("", {name: share}, "builds without flash attention")


def no_repacking(run: MeasuredRun) -> Edits:
    """Weights in the file's layout on the processor; with a GPU this is always the case."""
    quantized = run.model.decode_class not in ("f16", "bf16", "f32")
    in_ram = run.strategy is PlacementStrategy.CPU_OFFLOAD
    mainline = run.in_llama_cpp and not run.constants.scope.build
    if mainline and not run.machine.gpus and in_ram and quantized:
        yield run.rescheduled("", _plain)


def _plain(schedule: Schedule) -> Schedule:
    stages = (
        Stage(flows=tuple(replace(flow, repacked=False) for flow in stage.flows))
        for stage in schedule.stages
    )
    return replace(schedule, stages=tuple(stages))


# Placement: other layers on the GPU, VRAM that is full, no GPU; other software.

OTHERS_IN_VRAM = (0.0, 1.0, 2.0, 4.0)
"""VRAM of the desktop, a browser or another model; assumed [GiB]."""
FEWER = (0.9, 0.75, 0.5, 0.25, 0.0)
"""Layers really on the GPU, as shares of the assumed number."""


def spilled(run: MeasuredRun) -> Edits:
    """VRAM overflow into RAM, which the GPU reads over the link.

    Windows does this without a message; on other systems the allocation fails.
    """
    if not run.machine.gpus or run.machine.unified:
        return
    used = np.array([float(size) for size in run.held[Tier.VRAM]])
    room = np.array([float(gpu.memory.value) for gpu in run.machine.gpus])
    for others in OTHERS_IN_VRAM:
        short = np.maximum(used + others * GIB / len(room) - room, 0.0)
        share = float(np.sum(short) / np.sum(used))
        if 0 < share < 1:
            lost = f"{memory(float(np.sum(short)))} spilled"
            words = f"{lost} beside {others:.0f} GiB of other programs" if others else lost
            yield run.rescheduled(words, partial(_over_link, share))


def _over_link(share: float, schedule: Schedule) -> Schedule:
    stages: list[Stage] = []
    for stage in schedule.stages:
        stages.append(Stage(flows=tuple(_resident(flow, share) for flow in stage.flows)))
        stages += [alone(_carried(flow, share)) for flow in stage.flows if _reads_vram(flow)]
    return replace(schedule, stages=tuple(stages))


def _reads_vram(flow: Flow) -> bool:
    return flow.route is Route.RESIDENT and flow.load is not None


def _resident(flow: Flow, share: float) -> Flow:
    if flow.load is None or not _reads_vram(flow):
        return flow
    less = {name: getattr(flow.load, name) * (1 - share) for name in ("weights", "experts", "kv")}
    return replace(flow, load=replace(flow.load, **less))


def _carried(flow: Flow, share: float) -> Flow:
    read = 0.0 if flow.load is None else flow.load.weights + flow.load.kv
    return Flow(
        route=Route.STREAMED, moved=read * share, device=flow.device, transfer=Transfer.ZERO_COPY
    )


def cpu_alone(run: MeasuredRun) -> Edits:
    """No GPU in use: the runtime was built without GPU support, or does not find the GPU."""
    if run.in_llama_cpp and run.takes(Route.RESIDENT):
        without = replace(run.machine, gpus=())
        elsewhere = (PlacementStrategy.CPU_OFFLOAD, PlacementStrategy.NVME_OFFLOAD)
        yield from _first_fitting(
            run, *(run.placed("", Settings(), strategy=way, machine=without) for way in elsewhere)
        )


def fewer_layers(run: MeasuredRun) -> Edits:
    """Fewer layers on the GPU than assumed."""
    if not run.in_llama_cpp or not run.machine.gpus:
        return
    now, layers = int(run.placement.gpu_layers), run.model.layers
    tried = {round(now * share) for share in FEWER} | ({now - 1} if now == layers else set())
    resident = run.strategy is PlacementStrategy.GPU_RESIDENT
    beside = PlacementStrategy.CPU_OFFLOAD if resident else run.strategy
    for count in sorted(tried - {now}, reverse=True):
        split = replace(run.layout, gpu_layers=float(count))
        yield run.placed(f"{count} of {layers} layers", split, strategy=beside)


def whole_layers(run: MeasuredRun) -> Edits:
    """Whole layers on the GPU, as many as fit, with their experts."""
    if not run.in_llama_cpp or not run.machine.gpus or not float(run.placement.cpu_moe):
        return
    model, work = run.model, run.work
    cache = kv_cache_bytes(model, work, work.swa_full) * float(work.users)
    budget = gpu_budget(model, run.machine, work)
    count = float(layers_that_fit(model.layer_bytes + cache, budget))
    words = f"{count:.0f} of {model.layers} layers, whole"
    yield run.placed(words, replace(run.layout, gpu_layers=count, cpu_moe=0.0))


def cache_in_ram(run: MeasuredRun) -> Edits:
    """KV cache in RAM, with attention computed by the processor in every layer."""
    if run.in_llama_cpp and run.takes(Route.RESIDENT) and not run.cache_in_ram:
        layers = np.ones(run.model.layers)
        yield timed("", placement=replace(run.placement, kv={RAM: layers}))


def more_layers(run: MeasuredRun) -> Edits:
    """More layers, or experts of more layers, on the GPU than a placement with a margin allows."""
    now, layers = float(run.placement.gpu_layers), float(run.model.layers)
    moe = float(run.placement.cpu_moe)
    if not run.in_llama_cpp or not run.machine.gpus or (now >= layers and not moe):
        return
    for more in (1.0, 2.0, 4.0, 8.0):
        if now < layers:
            count = min(now + more, layers)
            words = f"{count:.0f} layers on the GPU"
            split = replace(run.layout, gpu_layers=count)
        else:
            count = max(moe - more, 0.0)
            words = f"experts of {count:.0f} layers in RAM"
            split = replace(run.layout, cpu_moe=count)
        yield run.placed(words, split)


def old_driver(run: MeasuredRun) -> Edits:
    """A driver that published comparisons call slower than today's; none where it is stated."""
    machine = run.machine
    if not run.in_llama_cpp or not machine.gpus or machine.driver:
        return
    if run.system not in ("", *SYSTEMS.values()) or run.system == "Windows":
        return
    card, backend = machine.gpus[0], run.constants.scope.backend
    for row in drivers_of(card.vendor, card.family, backend):
        if min(row.token, row.prompt) <= NOTABLE:
            aged = replace(machine, driver=str(GraphicsDriver(row.value, row.last_version)))
            label = DRIVER_LABELS[row.value]
            yield timed(
                f"{label} before {row.before}" if row.before else label,
                machine=aged,
                constants=conditioned(run.constants, aged, run.how, run.model),
            )


def other_backend(run: MeasuredRun) -> Edits:
    """Another backend than the usual one of the card; none where it is stated.

    NVIDIA's cards have CUDA in every usual build.
    """
    machine, scope = run.machine, run.constants.scope
    if not run.in_llama_cpp or not machine.gpus or machine.backend:
        return
    vendor = machine.gpus[0].vendor
    if vendor not in backends.ON_WINDOWS:
        return
    for name in backends.of_vendor(vendor, machine.system):
        if name != scope.backend:
            yield timed(
                f"{backends.LABELS[name]} in place of {backends.LABELS[scope.backend]}",
                constants=run.constants.bound(replace(scope, backend=name)),
            )


# Serving engines: graphs, kernels, other requests.

GRAPHS = (VLLM, SGLANG)
"""Engines that start a step's kernels as a graph, unless they are told not to."""
EAGER_LAYER = (8.4e-3 / 32, 22.5e-3 / 28)
"""Time in which the processor starts the kernels of a layer one by one [s]: 8.4 ms a token for the
32 layers of Llama 3.1 8B on an H100, with graphs 5.1
(https://cloudai.pt/cuda-graphs-torch-compile-1-65x-llm-decode-speedup/); 22 to 23 ms for the 28
of Qwen2.5-Omni-7B on an A800, with graphs 13
(https://github.com/vllm-project/vllm-omni/issues/7960, 2026-09); both read 2026-11-23."""
PLAIN_AWQ = (1 / 2.59, 23 / 123)
"""Speed with vLLM's first kernels for AWQ, relative to Marlin's: up to 2.59 times slower
(https://github.com/vllm-project/vllm/pull/6654, 2024-07), 23 in place of 123 tokens/s with
`--quantization awq` (https://github.com/vllm-project/vllm/issues/21376, 2025-07); read
2026-11-23."""
MARLIN_FROM = ("Ampere", "Ada", "Hopper", "Blackwell")
"""NVIDIA's generations for which vLLM has Marlin's kernels."""
REQUESTS = (4, 16, 64)
"""Requests that are served at the same time, for each user; assumed."""


def eager_mode(run: MeasuredRun) -> Edits:
    """Kernels started one by one: a step takes as long as the processor needs to start them."""
    if run.how in GRAPHS and run.takes(Route.RESIDENT):
        for layer in EAGER_LAYER:
            words = f"{1000 * layer:.1f} ms a layer to start its kernels"
            yield _counted(words, partial(_started, layer * run.model.layers))


def _started(seconds: float, estimate: Estimate) -> Rates:
    """Speeds where neither a token nor a prompt takes less than the time to start its kernels."""
    decode, prompt = rates(estimate)
    if estimate.step is None or estimate.prompt is None:
        return decode, prompt
    token, whole = float(estimate.step.total), float(estimate.prompt.total)
    return times(decode, token / max(token, seconds)), times(prompt, whole / max(whole, seconds))


def plain_awq(run: MeasuredRun) -> Edits:
    """AWQ computed by vLLM's first kernels in place of Marlin's."""
    gpus = run.machine.gpus
    marlin = bool(gpus) and gpus[0].vendor == "NVIDIA" and gpus[0].family.split()[0] in MARLIN_FROM
    if run.how is VLLM and run.model.format == "AWQ" and marlin:
        for share in PLAIN_AWQ:
            words = f"{1 / share:.1f} times slower kernels"
            yield _counted(words, partial(_generated, share))


def other_requests(run: MeasuredRun) -> Edits:
    """Further requests that the engine serves at the same time."""
    if run.how.at_once is not None and run.takes(Route.RESIDENT):
        for count in REQUESTS:
            work = replace(run.work, users=run.work.users * count)
            yield timed(f"{count * float(run.work.users):.0f} together", work=work)


CAUSES: Mapping[str, Callable[[MeasuredRun], Edits]] = {
    cause.__name__: cause
    for cause in (
        whole_reply, cpu_alone, fewer_layers, whole_layers, more_context, deeper_context, spilled,
        *MACHINE_CAUSES, no_flash_attention, old_build, old_driver, other_backend, no_repacking,
        cache_in_ram, larger_file, all_users, empty_context, drafted_tokens, more_layers,
        smaller_file, kept_prompt, short_prompt, eager_mode, plain_awq, other_requests,
    )
}  # fmt: skip
"""Causes by their key in data/diagnosis/causes.csv."""
