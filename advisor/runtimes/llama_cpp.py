"""llama.cpp: each processor reads the layers that lie in its own memory.

Layers left off the GPU are computed by the CPU where they lie, token by token; a prompt's
micro-batches of 32 tokens and more are instead copied over the link and computed on the GPU. With
`--n-cpu-moe N` only the routed experts of the first N layers stay in RAM. From a drive, the file
is mapped and its pages are read as they are touched.
"""

import shlex
from dataclasses import replace

import numpy as np

from advisor.architecture import Group
from advisor.cost import missed_share
from advisor.errors import Refusal
from advisor.machine import Machine
from advisor.model import Floats, Model
from advisor.placement import (
    DISK,
    RAM,
    Load,
    Location,
    Placement,
    Settings,
    Step,
    Strategy,
    all_of,
    last_layers,
    layers_that_fit,
    needed_bytes,
    over_gpus,
    step_load,
    vram,
    weight_bytes,
)
from advisor.runtimes.llama_cpp_memory import (
    compute_buffer,
    input_buffer,
    kv_cache_bytes,
    output_buffer,
)
from advisor.runtimes.runtime import Becomes, Runtime
from advisor.schedule import Flow, Phases, Route, Schedule, Stage, Transfer, alone
from advisor.units import GIB, MIB, Array
from advisor.workload import Workload

VERSION = "llama.cpp of November 2026 (server README at 00dc8057)"
FIT_MARGIN = 1024 * MIB
"""VRAM that `--fit` leaves free on each GPU by default (`-fitt 1024`, server README) [B]."""
CONTEXT = 400 * MIB
"""What a CUDA context and its libraries take on each GPU before the first tensor; assumed [B]."""
SYSTEM_RAM = 2 * GIB
"""RAM left to the system; assumed [B]."""
COPY_TOKENS = 32
"""Tokens in a micro-batch from which weights in RAM are copied to the GPU and computed there
(`--op-offload`, ggml-cuda's minimum batch size)."""
SAFETENSORS = {
    "AWQ": "Q4_K_M",
    "GPTQ": "Q4_K_M",
    "FP8": "Q8_0",
    "NVFP4": "Q4_K_M",
    "bnb-int8": "Q8_0",
    "bnb-nf4": "Q4_K_M",
    "MXFP4-hf": "MXFP4",
    "BF16-hf": "BF16",
}
"""The GGUF format closest in size to each format of other runtimes."""


def becomes(form: str, machine: Machine) -> Becomes:
    """GGUF stays as it is; other formats need a GGUF of about their size."""
    if form in SAFETENSORS:
        near = SAFETENSORS[form]
        return Becomes(format=near, reason=f"llama.cpp reads GGUF; {near} is closest to {form}")
    return Becomes(format=form)


def place(
    model: Model, machine: Machine, work: Workload, strategy: Strategy, settings: Settings
) -> Placement:
    """Last layers to the GPU, routed experts of the first layers to RAM, the rest by strategy.

    Raises:
        Refusal: in the GPU, on a machine that has none.
    """
    if strategy is Strategy.GPU_RESIDENT:
        if not machine.gpus:
            raise Refusal("This machine has no GPU; the model can only run from RAM or the drive.")
        settings = Settings(gpu_layers=float(model.layers), cpu_moe=0.0)
    gpu_layers, cpu_moe = split(model, machine, work, settings)
    on_gpu = last_layers(model, gpu_layers)
    experts_on_gpu = on_gpu * last_layers(model, model.layers - cpu_moe)
    rest = DISK if strategy is Strategy.NVME_OFFLOAD else RAM
    head_on_gpu = (gpu_layers >= model.layers) & bool(machine.gpus)
    weights: dict[Location, dict[Group, Floats]] = {rest: all_of(1.0 - on_gpu)}
    weights[rest][Group.ROUTED_EXPERTS] = 1.0 - experts_on_gpu
    kv: dict[Location, Floats] = {RAM: 1.0 - on_gpu}
    output: dict[Location, Array] = {rest: np.where(head_on_gpu, 0.0, 1.0)}
    outside = np.where((gpu_layers < model.layers) | (cpu_moe > 0), 1.0, 0.0)
    buffers: dict[Location, Array] = {RAM: host_buffer(model, work, outside)}
    if machine.gpus:
        parts = over_gpus(machine, on_gpu)
        for device, (layers, experts) in enumerate(
            zip(parts, _same_division(parts, experts_on_gpu), strict=True)
        ):
            weights[vram(device)] = {**all_of(layers), Group.ROUTED_EXPERTS: experts}
            kv[vram(device)] = layers
            buffers[vram(device)] = gpu_buffer(model, work, outside)
        output[vram(len(machine.gpus) - 1)] = np.where(head_on_gpu, 1.0, 0.0)
    placement = Placement(
        strategy=strategy,
        gpu_layers=gpu_layers,
        cpu_moe=cpu_moe,
        weights=weights,
        kv=kv,
        embedding=rest,
        output=output,
        buffers=buffers,
        cache=kv_cache_bytes(model, work, work.swa_full),
    )
    if rest is RAM:
        return placement
    return replace(placement, page_cache=page_cache(model, placement, machine, work, settings))


def split(
    model: Model, machine: Machine, work: Workload, settings: Settings
) -> tuple[Array, Array]:
    """Layers on the GPU and expert layers in RAM: as given, or as many as fit.

    Dense parts and the cache come first, since each token reads them; experts fill what is left.
    Where all of the model would fit, nothing is: the comparison is then with all of it in RAM.

    Returns:
        Layers on the GPU; layers whose routed experts stay in RAM.
    """
    count = float(model.layers)
    if not machine.gpus:
        return np.zeros(()), np.asarray(count if model.has_experts else 0.0)
    if settings.gpu_layers is not None or settings.cpu_moe is not None:
        layers = count if settings.gpu_layers is None else settings.gpu_layers
        moe = 0.0 if settings.cpu_moe is None else settings.cpu_moe
        return np.clip(np.asarray(layers, float), 0, count), np.clip(
            np.asarray(moe, float), 0, count
        )
    cache = kv_cache_bytes(model, work, work.swa_full) * np.asarray(work.users, float)[..., None]
    experts = model.held[Group.ROUTED_EXPERTS]
    budget = gpu_budget(model, machine, work)
    without = layers_that_fit(model.layer_bytes - experts + cache, budget)
    head_fits = budget >= np.sum(model.layer_bytes - experts + cache, axis=-1) + model.output
    layers = np.where(without >= count, np.where(head_fits, count, count - 1), without)
    left = budget - np.sum(last_layers(model, layers) * (model.layer_bytes - experts + cache), -1)
    held = layers_that_fit(
        np.broadcast_to(experts, layers.shape + experts.shape), left - model.output
    )
    held = np.where(layers >= count, held, 0.0)
    moe = count - held if model.has_experts else np.zeros_like(layers)
    nothing_left = (layers >= count) & (moe <= 0)
    return (
        np.where(nothing_left, 0.0, layers),
        np.where(nothing_left, count if model.has_experts else 0.0, moe),
    )


def gpu_budget(model: Model, machine: Machine, work: Workload) -> Array:
    """VRAM of all GPUs for weights and cache, once buffers and the margin are taken [B].

    Layers are not cut, so each further GPU leaves half a layer unused at its edge on average.
    """
    taken = FIT_MARGIN + gpu_buffer(model, work, 1.0)
    total = sum((gpu.memory.value - taken for gpu in machine.gpus), start=np.zeros(()))
    edges = (len(machine.gpus) - 1) * float(np.mean(model.layer_bytes))
    return np.maximum(total - edges, 0.0)


def host_buffer(model: Model, work: Workload, outside: Array) -> Array:
    """RAM for computing: a micro-batch where layers are computed there, else its inputs [B].

    Args:
        model: the model.
        work: sets the micro-batch.
        outside: 1 where some weights lie off the GPUs, else 0.
    """
    computing = compute_buffer(model.architecture, work)
    feeding = input_buffer(model.architecture, work)
    return np.where(outside, computing, feeding) + output_buffer(model.architecture, work)


def gpu_buffer(model: Model, work: Workload, outside: Array) -> Array:
    """VRAM for computing, and for the weights that prompts copy in where some lie in RAM [B].

    Two of the largest matrices pass at a time: a published log has 42 MB of buffer for a
    micro-batch of 16 tokens and 7 GB from 32 on, about two expert matrices of that model.
    """
    largest = max(
        float(np.max(model.held[group])) / matrices
        for group, matrices in (
            (Group.ROUTED_EXPERTS, 3),
            (Group.DENSE_FFN, 3),
            (Group.ATTENTION, 4),
        )
    )
    copied = np.where(np.asarray(work.ubatch) >= COPY_TOKENS, 2.0 * largest, 0.0)
    return CONTEXT + compute_buffer(model.architecture, work) + outside * copied


def schedule(model: Model, placement: Placement, machine: Machine, work: Workload) -> Phases:
    """One pass over the layers for each micro-batch of the prompt, then one for each token."""
    return phases(model, placement, machine, work, copies_experts=True)


def phases(
    model: Model,
    placement: Placement,
    machine: Machine,
    work: Workload,
    *,
    copies_experts: bool,
) -> Phases:
    """The same, by what happens to experts in RAM while a prompt is read.

    Args:
        model: the model.
        placement: where it lies.
        machine: where it runs.
        work: what is asked.
        copies_experts: they are copied to the GPU; else the processor computes them.
    """
    users = np.asarray(work.users, dtype=float)
    fresh = np.maximum(work.fresh, 1) * users
    batches = np.ceil(fresh / work.ubatch)
    prompt = Step(
        tokens=fresh / batches,
        sequences=1.0,
        depth=(np.asarray(work.prompt) + work.cached) / 2,
        kv_type=work.kv_type,
    )
    token = Step(tokens=users, sequences=users, depth=work.decode_depth, kv_type=work.kv_type)
    return Phases(
        prefill=_pass(model, placement, machine, prompt, batches, copies_experts),
        decode=_pass(model, placement, machine, token, 1.0, copies_experts),
    )


def _pass(
    model: Model,
    placement: Placement,
    machine: Machine,
    step: Step,
    repeats: Array,
    copies_experts: bool,
) -> Schedule:
    on_gpus = [
        alone(
            Flow(
                route=Route.RESIDENT,
                load=step_load(model, placement, vram(device), step),
                device=device,
            )
        )
        for device in range(len(machine.gpus))
    ]
    return Schedule(
        stages=(*on_gpus, *_outside(model, placement, machine, step, copies_experts)),
        repeats=repeats,
        crossings=crossings(model, placement, machine),
        workers=max(len(machine.gpus), 1),
    )


def _outside(
    model: Model, placement: Placement, machine: Machine, step: Step, copies_experts: bool
) -> tuple[Stage, ...]:
    """Layers off the GPU: computed where they lie, or copied and computed on the first GPU."""
    load = step_load(model, placement, RAM, step)
    on_disk = placement.strategy is Strategy.NVME_OFFLOAD
    paged: tuple[Stage, ...] = ()
    if on_disk:
        mapped = step_load(model, placement, DISK, step)
        again = reread_bytes(model, placement, mapped)
        paged = (alone(Flow(route=Route.PAGED, moved=again)),)
        load = load + mapped
    if not np.any(load.layers + load.expert_layers + load.weights):
        return ()
    copied = np.where(np.asarray(step.tokens) >= COPY_TOKENS, 1.0, 0.0) * bool(machine.gpus)
    copying = load.times(copied)
    if not copies_experts:
        copying = copying + copying.routed.times(-1.0)
    staying = load + copying.times(-1.0)
    in_place = Flow(route=Route.IN_PLACE, load=staying, repacked=not on_disk)
    if not np.any(copied):
        return (*paged, alone(in_place))
    return (
        *paged,
        alone(Flow(route=Route.STREAMED, moved=copying.weights, transfer=Transfer.PINNED)),
        alone(Flow(route=Route.RESIDENT, load=copying)),
        *((alone(in_place),) if np.any(staying.weights) else ()),
    )


def crossings(model: Model, placement: Placement, machine: Machine) -> Array:
    """Hand-overs of activations in one pass: between GPUs, to the CPU's layers and back, and there
    and back for each layer whose experts alone lie in RAM.
    """
    if not machine.gpus:
        return 0.0
    on_gpu = last_layers(model, placement.gpu_layers)
    experts_in_ram = on_gpu * (
        1.0 - last_layers(model, model.layers - np.asarray(placement.cpu_moe))
    )
    between = len(machine.gpus) - 1.0
    sides = 2.0 * ((placement.gpu_layers > 0) & (placement.gpu_layers < model.layers))
    return between + sides + 2.0 * (experts_in_ram @ model.expert_layers)


def reread_bytes(model: Model, placement: Placement, load: Load) -> Array:
    """Bytes of a mapped file that a step must bring in again [B].

    What every token reads is scanned in a cycle and keeps its pages first; experts take what cache
    is left and are hit in proportion, since each token picks others.
    """
    held = weight_bytes(model, placement, DISK)
    experts_held = placement.weights[DISK][Group.ROUTED_EXPERTS] @ model.held[Group.ROUTED_EXPERTS]
    dense_held = np.maximum(held - experts_held - model.embedding, 1.0)
    dense = load.weights - load.experts
    cache = np.asarray(placement.page_cache, dtype=float)
    left = np.maximum(cache - dense_held, 0.0)
    hit = np.clip(left / np.maximum(experts_held, 1.0), 0.0, 1.0)
    return np.asarray(dense * missed_share(cache / dense_held) + load.experts * (1.0 - hit))


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """The llama-server line that does this, with nothing left to its own fit."""
    parts = [
        f"llama-server -m {shlex.quote(f'{model.name}-{model.format}.gguf')}",
        f"-c {int(work.context) * int(work.users)}",
    ]
    if int(work.users) > 1:
        parts.append(f"-np {int(work.users)}")
    if machine.gpus:
        layers = int(placement.gpu_layers)
        parts.append("-ngl all" if layers >= model.layers else f"-ngl {layers}")
        if int(placement.cpu_moe) and layers:
            parts.append(f"-ncmoe {int(placement.cpu_moe)}")
    if work.kv_type != "f16":
        parts.append(f"-fa on -ctk {work.kv_type} -ctv {work.kv_type}")
    if int(work.ubatch) != 512:
        parts.append(f"-ub {int(work.ubatch)}")
    if work.swa_full:
        parts.append("--swa-full")
    if placement.strategy is Strategy.NVME_OFFLOAD:
        parts.append("-lm mmap --no-repack")
    return " ".join([*parts, "--fit off"])


def _same_division(parts: list[Floats], share: Floats) -> list[Floats]:
    return [share * (part > 0) for part in parts]


def page_cache(
    model: Model, placement: Placement, machine: Machine, work: Workload, settings: Settings
) -> Array:
    """RAM that keeps pages of the file: as given; else what is free where RAM cannot hold the rest,
    and none where it could, so that the comparison says what the drive alone would give [B].
    """
    if settings.page_cache is not None:
        return settings.page_cache
    free = machine.host.memory.value - SYSTEM_RAM - needed_bytes(model, placement, RAM, work)
    held = weight_bytes(model, placement, DISK)
    return np.where(free >= held, 0.0, np.maximum(free, 0.0))


LLAMA_CPP = Runtime(
    name="llama.cpp",
    key="llama.cpp",
    version=VERSION,
    strategies=tuple(Strategy),
    becomes=becomes,
    place=place,
    schedule=schedule,
    command=command,
)
