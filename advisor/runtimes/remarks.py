"""Remarks beside a runtime's command: its other modes and their predicted speed."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from advisor import runtimes
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Location, PlacementStrategy, Settings, Tier, capacity
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Route
from advisor.cost_model.uncertainty import ENOUGH
from advisor.model.model import TOWER_BYTES, holds_tower
from advisor.runtimes.accelerate import HEAD, MEMORY_USED, device_map
from advisor.runtimes.compare import decode_tps
from advisor.runtimes.exllamav3 import CHUNK
from advisor.runtimes.llama_cpp.passes import COPY_TOKENS, READ_IN
from advisor.runtimes.serving import paged, sequences_that_fit, served
from advisor.runtimes.tiered import sentences, tiered_runtimes
from advisor.runtimes.tiered.engines import TieredEngine
from advisor.units import memory, number, range_of, seconds, tokens_per_second


def remarks(estimate: Estimate) -> tuple[str, ...]:
    """Remarks beside an estimate's command: on its other modes, then on its runtime."""
    return (*modes(estimate), *remarks_of(estimate.runtime))


def modes(estimate: Estimate) -> tuple[str, ...]:
    """Sentences on the other modes of an estimate; empty where it does not fit."""
    if estimate.placement is None or not bool(np.all(estimate.fits)):
        return ()
    estimate = estimate.single or estimate  # of one of several copies side by side
    made_by = (*REMARKS.get(estimate.runtime.name, ()), _images, _default_context, _tables)
    return tuple(sentence for remark in made_by for sentence in remark(estimate))


def _images(estimate: Estimate) -> Iterable[str]:
    """Remark on the memory of the encoder of images, which is a file of its own beside a GGUF file.

    It says whether the encoder fits beside the model (docs/multimodal.md of ggml-org/llama.cpp: on
    the GPU, unless it is kept off).
    """
    tower = estimate.model.architecture.tower
    placed = estimate.placement
    if not tower or placed is None or holds_tower(estimate.model.format):
        return
    size = TOWER_BYTES * tower
    where = Location.vram(0) if estimate.machine.gpus else Location.RAM
    in_use = placed.needed_bytes(estimate.model, where, estimate.work)
    free = float(np.max(capacity(estimate.machine, where) - in_use))
    told = f"To read images it loads a second file (mmproj), {memory(size)} in 16 bits"
    if size <= free:
        yield f"{told}: it fits beside, where {memory(free)} are free."
        return
    short = f"{told}: {memory(size - max(free, 0.0))} more than is free"
    if estimate.machine.gpus:
        yield f"{short} on the GPU. Keep fewer layers there, a shorter context, or it in RAM."
    else:
        yield f"{short}. Take a smaller format or a shorter context."


COUNTED = {runtimes.LLAMA_CPP.name: "-ngl", runtimes.OLLAMA.name: "num_gpu"}
"""Options that count the output layer besides the repeating ones."""


def _layers_counted(estimate: Estimate) -> Iterable[str]:
    """Remark on the number of layers in the command, where another number of layers is shown
    elsewhere.
    """
    option = COUNTED.get(estimate.runtime.name)
    placed = estimate.placement
    if option is None or placed is None:
        return
    layers = int(placed.gpu_layers)
    head = any(where.tier is Tier.VRAM and share for where, share in placed.output.items())
    if head and 0 < layers < estimate.model.layers:
        yield f"{option} {layers + 1} is {layers} layers and the output layer, which it counts too."


def _fitting(before: Estimate, settings: Settings, **changes: Any) -> Estimate | None:
    """Estimate with other settings; None where it is refused or does not fit."""
    changed = before.again(settings=settings, **changes)
    if changed.decode is not None and bool(np.all(changed.fits)):
        return changed
    return None


def _speed(estimate: Estimate) -> str:
    if estimate.decode:
        return tokens_per_second(float(estimate.decode.value))
    return ""


def _llama_cpp(estimate: Estimate) -> Iterable[str]:
    if estimate.placement is None or not estimate.machine.gpus:
        return
    yield from _divided(estimate)
    yield from _own_fit(estimate)
    yield from slower_with_cache(estimate)
    split = estimate.strategy is PlacementStrategy.CPU_OFFLOAD and estimate.placement.gpu_layers
    if not split or estimate.placement.load_mode in READ_IN:
        return
    fixed = Settings(
        gpu_layers=estimate.placement.gpu_layers,
        cpu_moe=estimate.placement.cpu_moe,
        load_mode="none",
    )
    pinned = _fitting(estimate, fixed)
    if pinned is None or pinned.first_token is None or estimate.first_token is None:
        return
    now = float(estimate.first_token.value)
    then = float(pinned.first_token.value)
    if then < WORTH_NAMING * now:
        yield (
            f"With -lm none the weights in RAM are page-locked: the first token comes after "
            f"{seconds(then)} instead of {seconds(now)}. It fails where the system cannot lock "
            "so much."
        )


MOST_PASSES = 4  # passes of a prompt up to which a single one is worth a sentence
JUMP = 1.15  # factor on the time of a token of the prompt from which its last pass is named
BATCH_OPTIONS = {
    runtimes.LLAMA_CPP.name: "-ub",
    runtimes.IK_LLAMA_CPP.name: "-ub",
    runtimes.LLAMAFILE.name: "-ub",
    runtimes.OLLAMA.name: "num_batch",
    runtimes.LM_STUDIO.name: "evalBatchSize",
}
"""Option that sets the tokens of a pass: llama.cpp's server README; Ollama, `Runner` in
api/types.go of fb307609; LM Studio, LLMLoadModelConfig of lmstudio.js (all read 2026-11-28)."""
CHUNKS = {runtimes.EXLLAMAV3.name: CHUNK}  # tokens of a pass that no option of a request sets


def _passes(estimate: Estimate) -> Iterable[str]:
    """Remark on a prompt that takes much longer for its last pass, or for all but one."""
    prompt = estimate.prompt
    if prompt is None or estimate.strategy is PlacementStrategy.GPU_RESIDENT:
        return
    work = estimate.work
    size = float(CHUNKS.get(estimate.runtime.name, work.ubatch))
    tokens = float(work.fresh) * float(work.users)
    passes = math.ceil(tokens / size)
    if passes < 2:
        yield from _few_tokens(estimate, tokens)
        return
    single = _in_a_single_pass(estimate, tokens)
    full = (passes - 1) * size
    before = _prompt_seconds(estimate, full)
    total = float(prompt.total)
    jumps = before is not None and total / tokens >= JUMP * before / full
    if not jumps and (not single or passes > MOST_PASSES):
        return
    last = tokens - full
    yield (
        f"A prompt of {tokens:,.0f} tokens takes {passes} passes of at most {size:g}, the last of "
        f"{last:g}: {_work_of_a_pass(estimate, last)}.{single}"
    )


def _prompt_seconds(estimate: Estimate, tokens: float) -> float | None:
    """Time of prompts with as many new tokens in all [s]; None where they do not fit."""
    work = estimate.work
    fresh = max(1, math.floor(tokens / float(work.users)))
    other = estimate.again(work=replace(work, prompt=float(work.cached) + fresh))
    if other.prompt is None:
        return None
    return float(other.prompt.total)


def _work_of_a_pass(estimate: Estimate, tokens: float) -> str:
    """Clause on the way of the weights outside the GPUs in a pass of some tokens."""
    parts: Mapping[str, Any] = {}
    if estimate.prompt is not None:
        parts = estimate.prompt.parts
    longest = max(WAYS, key=lambda route: float(parts.get(route, 0.0)))
    in_ram = longest in (Route.STREAMED, Route.IN_PLACE)
    if estimate.machine.gpus and in_ram and tokens < COPY_TOKENS:
        return f"the processor computes fewer than {COPY_TOKENS} tokens on the weights in RAM"
    return f"each {WAYS[longest]} anew"


WAYS = {
    Route.STREAMED: "copies the weights in RAM to the GPU",
    Route.STAGED: "copies the weights from the drive to the GPU",
    Route.PAGED: "reads the weights from the drive",
    Route.IN_PLACE: "reads the weights in RAM",
}
"""Way of the weights outside the GPUs in a pass, by their route."""


def _in_a_single_pass(estimate: Estimate, tokens: float) -> str:
    """Sentence on the same prompt in a single pass; empty where it is no faster or no option."""
    option = BATCH_OPTIONS.get(estimate.runtime.name)
    if option is None or estimate.prompt is None:
        return ""
    size = math.ceil(tokens)
    whole = estimate.again(work=replace(estimate.work, ubatch=size))
    now = float(estimate.prompt.total)
    if whole.prompt is None or float(whole.prompt.total) >= WORTH_NAMING * now:
        return ""
    return (
        f" In a single pass ({option} {size}) the first token comes after "
        f"{seconds(float(whole.prompt.total))} instead of {seconds(now)}."
    )


def _few_tokens(estimate: Estimate, tokens: float) -> Iterable[str]:
    """Remark on a prompt so short that the processor computes it, where a longer one is sooner."""
    if tokens >= COPY_TOKENS or not estimate.machine.gpus or estimate.prompt is None:
        return
    copied = _prompt_seconds(estimate, COPY_TOKENS * math.ceil(float(estimate.work.users)))
    now = float(estimate.prompt.total)
    if copied is not None and JUMP * copied <= now:
        yield (
            f"The processor computes prompts of fewer than {COPY_TOKENS} tokens on the weights in "
            f"RAM, {seconds(now)} here; longer ones copy them to the GPU, {seconds(copied)}."
        )


def slower_with_cache(estimate: Estimate) -> Iterable[str]:
    """Remark on the speed without the cache of experts, where that cache makes a token slower."""
    if not np.any(estimate.settings.expert_cache) or estimate.decode is None:
        return
    without = _fitting(estimate, replace(estimate.settings, expert_cache=None))
    if without is not None and decode_tps(without) > decode_tps(estimate):
        yield (
            "The cache of experts makes it slower here: without --moe-cache-mib "
            f"{_speed(without)}. "
            "Its misses are copied, where the processor would compute them; on a card of 4 GB "
            "768 MB of it wrote 8.6 tokens/s, and -ncmoe 41 without it 18.7 (llama.cpp "
            "discussion 32007)."
        )


def _divided(estimate: Estimate) -> Iterable[str]:
    """Remark on the speed with `-sm tensor`, where several GPUs hold the whole model."""
    several = len(estimate.machine.gpus) > 1 and estimate.machine.nodes == 1
    if not several or estimate.strategy is not PlacementStrategy.GPU_RESIDENT:
        return
    divided = _fitting(estimate, Settings(), runtime=runtimes.LLAMA_CPP_TENSOR)
    if divided is None or divided.decode is None:
        return
    speeds = range_of(float(divided.decode.low), float(divided.decode.high))
    options = divided.command.partition(" -sm ")[2].removesuffix(" --fit off")
    yield (
        f"Split by layers, the GPUs take turns. With -sm {options} in place of -sm layer and -ts "
        f"they work at once: {_speed(divided)}, {speeds}, which is experimental and rests on few "
        "published runs. Prompts may be slower over PCI Express."
    )


WORTH_NAMING = 0.95  # a time must shrink to this share to be named


def _own_fit(estimate: Estimate) -> Iterable[str]:
    """Remark on the placement that llama-server chooses without `-ngl` and related options."""
    if estimate.placement is None or estimate.strategy is PlacementStrategy.NVME_OFFLOAD:
        return
    fitted = _fitting(estimate, Settings(), strategy=PlacementStrategy.GPU_RESIDENT)
    if fitted is not None and estimate.strategy is not PlacementStrategy.GPU_RESIDENT:
        yield "Its automatic choice (--fit on) would put all of the model in the GPU."
        return
    automatic = _fitting(estimate, Settings())
    if automatic is None or automatic.placement is None:
        return
    layers = int(automatic.placement.gpu_layers)
    moe = int(automatic.placement.cpu_moe)
    if (layers, moe) != (int(estimate.placement.gpu_layers), int(estimate.placement.cpu_moe)):
        if moe:
            experts = f" and leave the experts of {moe} in RAM"
        else:
            experts = ""
        yield (
            f"Its automatic choice (--fit on) would put {layers} layers on the GPU{experts}: "
            f"{_speed(automatic)}."
        )
    elif estimate.strategy is PlacementStrategy.CPU_OFFLOAD:
        yield (
            "Its automatic choice (--fit on) gives the same layers, or part of one more; the "
            "command fixes them as predicted."
        )


def _default_context(estimate: Estimate) -> Iterable[str]:
    default = estimate.runtime.default_context
    if default is None or not estimate.machine.gpus:
        return
    tokens = default(estimate.machine)
    if tokens != int(estimate.work.context):
        yield (
            f"Where no context is set, {estimate.runtime.name} allocates {tokens:,} tokens on this "
            "machine."
        )


def _ray(estimate: Estimate) -> Iterable[str]:
    if estimate.machine.nodes > 1:
        yield (
            "With Ray instead: ray start --head on HOST1, ray start --address=HOST1:6379 on "
            "the others, and --distributed-executor-backend ray in place of --nnodes and what "
            "follows it."
        )


def _read_or_copied(estimate: Estimate) -> Iterable[str]:
    """Remark on the speed of the other way to use weights in RAM: reading over the link, or copying
    ahead.
    """
    if estimate.placement is None or estimate.strategy is PlacementStrategy.GPU_RESIDENT:
        return
    read = bool(np.any(estimate.placement.zero_copy))
    other = _fitting(estimate, Settings(zero_copy=not read))
    if other is None:
        return
    if read:
        name = "--offload-backend prefetch"
    else:
        name = "--cpu-offload-gb, read over the link,"
    yield f"The other way, {name} would give {_speed(other)}."


def _accelerate(estimate: Estimate) -> Iterable[str]:
    """Remark on the placement of `device_map="auto"` without limits."""
    if estimate.strategy is PlacementStrategy.GPU_RESIDENT:
        return
    gpus = [MEMORY_USED * float(np.max(gpu.memory.value)) for gpu in estimate.machine.gpus]
    placed = device_map(
        estimate.model, gpus, MEMORY_USED * float(np.max(estimate.machine.host.memory.value))
    )
    layers = sum(name.isdigit() and isinstance(device, int) for name, device in placed.items())
    where = {"cpu": "in RAM", "disk": "on the drive"}.get(str(placed[HEAD]), "in the GPU")
    yield (
        f'Without max_memory, device_map="auto" fills 90 % of the GPU: {layers} layers, little '
        f"room for the cache, and the output head {where}."
    )


def _served(estimate: Estimate) -> Iterable[str]:
    if estimate.placement is None:
        return
    card = estimate.machine.gpus[0]
    constants = estimate.constants
    if constants is not None and float(constants.value("sources", card.family)) < ENOUGH:
        yield (
            "Few speeds of serving engines on GPUs of the generation of "
            f"{card.name} ({card.family}) are published: the range is wide."
        )
    cache_type = served(estimate.work).kv_type
    if cache_type == "fp8" != estimate.work.kv_type:
        yield f"The cache is kept as fp8, the nearest to {estimate.work.kv_type}."
    count = sequences_that_fit(estimate.model, estimate.placement, estimate.machine, estimate.work)
    if np.any(estimate.waiting):
        several = f"{float(estimate.work.users):.0f} users run at once"
        if float(estimate.work.users) > 1:
            running = several
        else:
            running = "1 user runs"
        yield (
            f"{running} and {float(estimate.waiting):.0f} wait: the GPU has no room for the cache "
            "of all, each with its prompt and half of its reply on average. The speed is that of "
            "a user who runs."
        )
    elif count > int(estimate.work.users):
        context = number(float(paged(estimate.work).context))
        yield f"The GPU has room for the cache of {count:,} conversations of {context} tokens."


def _tables(estimate: Estimate) -> Iterable[str]:
    """Remark on tables outside the GPUs, of which a token reads a few rows."""
    model = estimate.model
    placement = estimate.placement
    machine = estimate.machine
    if placement is None or not machine.gpus or not model.tables_share:
        return
    size = memory(model.tables)
    kind = model.kind_of_tables
    if np.any(placement.embedding_share(Location.DISK)):
        yield (
            f"Its tables {kind}, {size}, stay in the file on the drive: a token reads a few rows "
            "of them, which free RAM keeps."
        )
    elif np.any(placement.embedding_share(Location.RAM)) and not machine.unified:
        yield (
            f"Its tables {kind}, {size}, lie in RAM and take no GPU memory: a token reads a few "
            "rows of them."
        )


REMARKS: Mapping[str, tuple[Callable[[Estimate], Iterable[str]], ...]] = {
    runtimes.LLAMA_CPP.name: (_layers_counted, _llama_cpp, _passes),
    runtimes.IK_LLAMA_CPP.name: (_passes,),
    runtimes.OLLAMA.name: (_layers_counted, _passes),
    runtimes.LM_STUDIO.name: (_passes,),
    runtimes.LLAMAFILE.name: (_passes,),
    runtimes.EXLLAMAV3.name: (_passes,),
    runtimes.ACCELERATE.name: (_accelerate,),
    runtimes.VLLM.name: (_served, _ray, _read_or_copied),
    runtimes.SGLANG.name: (_served,),
    runtimes.TENSORRT_LLM.name: (_served,),
    runtimes.KTRANSFORMERS.name: (_served,),
}
"""Remarks of each runtime, in their order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RemarkRow:
    """One row of data/runtimes/remarks.csv."""

    runtime: str  # name of the runtime
    words: str  # what to know beside its command, a sentence or two
    source: str
    retrieved: str


def remarks_of(runtime: Runtime) -> tuple[str, ...]:
    """Remarks shown beside a runtime's command."""
    engine = TieredEngine.called(runtime.key)
    if engine is not None and runtime in tiered_runtimes():
        return sentences(engine)
    rows = read(DATA / "runtimes/remarks.csv", RemarkRow)
    return tuple(row.words for row in rows if row.runtime == runtime.name)
