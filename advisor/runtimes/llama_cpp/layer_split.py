"""llama.cpp: each processor reads the layers in its own memory.

The CPU computes the layers outside the GPU in place, token by token; for a prompt's micro-batches
of 32 tokens and more they are copied over the link and computed on the GPU. With `--n-cpu-moe N`
only the routed experts of the first N layers stay in RAM, with `--n-cpu-ffn N` only their dense
feed-forward (pull request 26622, August 2026). From a drive, the file is mapped and its
pages are read at page faults.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from advisor.cost_model.placement import (
    DISK,
    LOAD_MODES,
    RAM,
    Location,
    Placement,
    PlacementStrategy,
    Settings,
    all_of,
    capacity,
    gpu_numbers,
    last_layers,
    layers_that_fit,
    needed_bytes,
    over_gpus,
    vram,
    weight_bytes,
)
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload, drafter_memory
from advisor.errors import Refusal
from advisor.machine.backends import drives
from advisor.machine.machine import Machine
from advisor.machine.shared_memory import left_to_system
from advisor.model.architecture import Group
from advisor.model.model import KV_BYTES_PER_VALUE, Floats, Model
from advisor.runtimes.format_support import loaded_format_of
from advisor.runtimes.llama_cpp.buffers import (
    compute_buffer,
    input_buffer,
    kv_cache_bytes,
    output_buffer,
)
from advisor.runtimes.llama_cpp.command import SETUP, VERSION, command
from advisor.runtimes.llama_cpp.passes import COPY_TOKENS, schedule
from advisor.units import GIB, MIB, Array

FIT_MARGIN = 1024 * MIB
"""VRAM that `--fit` leaves free on each GPU by default (`-fitt 1024`, server README) [B]."""
CONTEXT = 400 * MIB
"""VRAM of a CUDA context and its libraries on each GPU; assumed [B]."""
LAZY = 4 * GIB
"""Size from which the rows of a table beside that of the tokens are read from the mapped file when
they are asked for (`--lazy-mode auto`, the default) [B]."""
SYSTEM_RAM = 2 * GIB
"""RAM reserved for the system; assumed [B]."""


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Last layers on the GPU, routed experts of the first layers in RAM, the rest by strategy."""
    if not drives(machine):
        raise Refusal(
            f"llama.cpp has no backend for {machine.gpus[0].name}: leave the card out, or use "
            "vLLM, which has a plugin for it."
        )
    if strategy is PlacementStrategy.GPU_RESIDENT:
        if not machine.gpus:
            raise Refusal("This machine has no GPU; the model can only run from RAM or the drive.")
        settings = replace(settings, gpu_layers=float(model.layers), cpu_moe=0.0, cpu_ffn=None)
    _check_cache(work)
    rest = DISK if strategy is PlacementStrategy.NVME_OFFLOAD else RAM
    if rest is DISK and not LOAD_MODES[settings.load_mode]:
        raise Refusal(
            f"Load mode {settings.load_mode} keeps the whole file in RAM; "
            "choose auto or mmap to leave it on the drive."
        )
    if settings.expert_cache is not None:
        settings = replace(settings, expert_cache=_expert_cache(model, machine, strategy, settings))
    computing = compute_buffer(model.architecture, work)
    layers = split(model, machine, work, settings, computing)
    placed = partial(_placed, model, machine, work, settings, strategy, computing=computing)
    placement = placed(layers)
    if settings.gpu_layers is None and settings.cpu_moe is None and settings.cpu_ffn is None:
        placement = _with_room(model, machine, work, placement, placed)
    if rest is RAM:
        return placement
    return replace(placement, page_cache=page_cache(model, placement, machine, work, settings))


def _check_cache(work: Workload) -> None:
    if work.kv_type == "fp8":
        raise Refusal("llama.cpp has no fp8 cache; q8_0 is its closest.")
    if KV_BYTES_PER_VALUE[work.kv_type] < 2 and not work.flash_attention:
        raise Refusal(
            f"llama.cpp keeps a cache in {work.kv_type} only with flash attention; choose f16."
        )


def _with_room(
    model: Model,
    machine: Machine,
    work: Workload,
    placement: Placement,
    placed: Callable[[tuple[Array, Array]], Placement],
) -> Placement:
    """Placement with a layer less at a time, while whole layers crowd one of several GPUs.

    `placement` is by the memory of all GPUs together; `placed` places layers on the GPU and expert
    layers in RAM.
    """
    for _ in range(model.layers if len(machine.gpus) > 1 else 0):
        crowded = _crowded(model, placement, machine, work)
        if not np.any(crowded):
            break
        less = _one_less(model, (placement.gpu_layers, placement.cpu_moe), crowded)
        placement = placed(less)
    return placement


def _crowded(
    model: Model, placement: Placement, machine: Machine, work: Workload
) -> npt.NDArray[np.bool_]:
    """Whether the layers of a GPU exceed its memory, which whole layers divide unevenly."""
    beyond = [
        needed_bytes(model, placement, vram(device), work) > capacity(machine, vram(device))
        for device in range(len(machine.gpus))
    ]
    return np.asarray(np.any(np.broadcast_arrays(*beyond), axis=0), dtype=bool)


def _one_less(
    model: Model, layers: tuple[Array, Array], crowded: npt.NDArray[np.bool_]
) -> tuple[Array, Array]:
    """Split with the experts of one more layer in RAM where GPUs are crowded, or without any left,
    with one layer less on the GPUs.
    """
    gpu_layers, cpu_moe = layers
    held = model.layers - np.asarray(cpu_moe) if model.has_experts else np.zeros(())
    experts = crowded & (held > 0)
    return (
        np.maximum(gpu_layers - np.where(crowded & ~experts, 1.0, 0.0), 0.0),
        cpu_moe + np.where(experts, 1.0, 0.0),
    )


def _placed(
    model: Model,
    machine: Machine,
    work: Workload,
    settings: Settings,
    strategy: PlacementStrategy,
    layers: tuple[Array, Array],
    computing: Array,
) -> Placement:
    gpu_layers, cpu_moe = layers
    rest = DISK if strategy is PlacementStrategy.NVME_OFFLOAD else RAM
    on_gpu = last_layers(model, gpu_layers)
    kept = {Group.ROUTED_EXPERTS: on_gpu * last_layers(model, model.layers - cpu_moe)}
    cpu_ffn = np.zeros(())
    if settings.cpu_ffn is not None:
        cpu_ffn = np.clip(np.asarray(settings.cpu_ffn, dtype=float), 0, model.layers)
        kept[Group.DENSE_FFN] = on_gpu * last_layers(model, model.layers - cpu_ffn)
    cached_on_gpu = on_gpu * (not settings.kv_in_ram)
    cache = kv_cache_bytes(model, work, work.swa_full)
    head = head_on_gpu(model, machine, gpu_layers, settings)
    weights: dict[Location, dict[Group, Floats]] = {rest: all_of(1.0 - on_gpu)}
    weights[rest] |= {group: 1.0 - share for group, share in kept.items()}
    kv: dict[Location, Floats] = {RAM: 1.0 - cached_on_gpu}
    output: dict[Location, Array] = {rest: 1.0 - head}
    outside = np.where((gpu_layers < model.layers) | (cpu_moe + cpu_ffn > 0), 1.0, 0.0)
    buffers: dict[Location, Array] = {RAM: host_buffer(model, work, outside, computing)}
    if machine.gpus:
        held = model.layer_bytes
        for group, layers_kept in kept.items():
            held = held - (1.0 - layers_kept) * model.bytes_per_layer[group]
        held = held + cached_on_gpu * cache * np.asarray(work.users, float)[..., None]
        parts = over_gpus(machine, on_gpu, held, head * model.output)
        working = gpu_buffer(model, work, outside, computing)
        if settings.expert_cache is not None:
            working = working + np.asarray(settings.expert_cache) / machine.gpu_count
        for device, part in enumerate(parts):
            there = {group: share * (part > 0) for group, share in kept.items()}
            weights[vram(device)] = {**all_of(part), **there}
            kv[vram(device)] = cached_on_gpu * (part > 0)
            buffers[vram(device)] = working
    for place, share in _last_memory(machine).items():
        buffers[place] = buffers[place] + share * drafter_memory(model, work)
        if machine.gpus:
            output[place] = share * head
    return Placement(
        strategy=strategy,
        gpu_layers=gpu_layers,
        cpu_moe=cpu_moe,
        cpu_ffn=cpu_ffn,
        weights=weights,
        kv=kv,
        embedding=rest,
        embedding_shares=_tables(model, rest, settings),
        output=output,
        buffers=buffers,
        cache=cache,
        load_mode=settings.load_mode,
        expert_cache=0.0 if settings.expert_cache is None else settings.expert_cache,
    )


def _tables(model: Model, rest: Location, settings: Settings) -> dict[Location, Array]:
    """Shares of the tables where some stay in the mapped file (`--lazy-mode auto`); else empty."""
    tables = model.embedding * model.tables_share
    lazy = np.where(tables > LAZY, model.tables_share, 0.0)
    if rest is DISK or not LOAD_MODES[settings.load_mode] or not np.any(lazy):
        return {}
    return {rest: 1.0 - lazy, DISK: lazy}


def _expert_cache(
    model: Model, machine: Machine, strategy: PlacementStrategy, settings: Settings
) -> Array | None:
    """VRAM for cached experts, at most all of them; None where none stay in RAM [B]."""
    if strategy is PlacementStrategy.GPU_RESIDENT or not np.any(settings.expert_cache):
        return None
    if not model.has_experts or not machine.gpus:
        raise Refusal("A cache of experts needs a GPU, and a model with experts; leave it out.")
    if strategy is PlacementStrategy.NVME_OFFLOAD:
        raise Refusal("A cache of experts in the GPU is filled from RAM; leave it out.")
    experts = np.sum(model.bytes_per_layer[Group.ROUTED_EXPERTS], axis=-1)
    return np.asarray(np.minimum(np.asarray(settings.expert_cache, dtype=float), experts))


def _last_memory(machine: Machine) -> dict[Location, Array]:
    """Memory of the last GPU, or RAM without any, with 1; of several numbers of GPUs each has 1 for
    its last and 0 for others.
    """
    if machine.counts is not None:
        return {vram(0): np.asarray(gpu_numbers(machine) == machine.counts - 1, dtype=float)}
    return {vram(len(machine.gpus) - 1) if machine.gpus else RAM: 1.0}


def head_on_gpu(model: Model, machine: Machine, gpu_layers: Array, settings: Settings) -> Array:
    """1 where the output head is on the last GPU, else 0."""
    least = 1.0 if settings.head_first else float(model.layers)
    return np.where((np.asarray(gpu_layers) >= least) & bool(machine.gpus), 1.0, 0.0)


def page_cache(
    model: Model, placement: Placement, machine: Machine, work: Workload, settings: Settings
) -> Array:
    """RAM for cached pages of the file [B].

    By the settings; else all free RAM where it is too small for the part on the drive, and 0 where
    it is large enough, to show the speed of the drive alone. Unified memory that the first
    machine's GPUs hold is not free; beside layers on them nothing can be left in RAM but pages of
    the file, so these have all that is free.
    """
    if settings.page_cache is not None:
        return settings.page_cache
    used: Array = needed_bytes(model, placement, RAM, work)
    first = len(machine.gpus) // machine.nodes
    for at in range(first if machine.unified else 0):
        used = used + needed_bytes(model, placement, vram(at), work)
    system: Array = SYSTEM_RAM
    if machine.unified:
        system = left_to_system(machine.host.memory.value, machine.gpus[0].memory.value)
    free = machine.host.memory.value - system - used
    held = weight_bytes(model, placement, DISK)
    beside = np.asarray(placement.gpu_layers) > 0 if machine.one_pool else False
    return np.where((free >= held) & ~np.asarray(beside), 0.0, np.maximum(free, 0.0))


def split(
    model: Model, machine: Machine, work: Workload, settings: Settings, computing: Array
) -> tuple[Array, Array]:
    """Layers on the GPU and layers whose experts stay in RAM: by the settings, or as many as fit.

    Dense parts and the cache are placed first, since each token reads them; experts fill the rest.
    A model that would fit whole gets no GPU layers, to show offloading of everything. `computing`
    is the compute buffer [B].
    """
    count = float(model.layers)
    if not machine.gpus:
        return np.zeros(()), np.asarray(count if model.has_experts else 0.0)
    stated = (settings.gpu_layers, settings.cpu_moe, settings.cpu_ffn)
    if any(number is not None for number in stated):
        layers = count if settings.gpu_layers is None else settings.gpu_layers
        moe = 0.0 if settings.cpu_moe is None else settings.cpu_moe
        return np.clip(np.asarray(layers, float), 0, count), np.clip(
            np.asarray(moe, float), 0, count
        )
    cache = kv_cache_bytes(model, work, work.swa_full) * np.asarray(work.users, float)[..., None]
    if settings.kv_in_ram:
        cache = np.zeros_like(cache)
    experts = model.bytes_per_layer[Group.ROUTED_EXPERTS]
    budget = _budget(model, machine, work, computing) - model.output
    cached = 0.0 if settings.expert_cache is None else np.asarray(settings.expert_cache)
    budget = np.maximum(budget - cached, 0.0)
    layers = np.asarray(layers_that_fit(model.layer_bytes - experts + cache, budget))
    left = budget - np.sum(last_layers(model, layers) * (model.layer_bytes - experts + cache), -1)
    held = layers_that_fit(np.broadcast_to(experts, (*layers.shape, model.layers)), left)
    held = np.where(layers >= count, held, 0.0)
    moe = count - held if model.has_experts else np.zeros_like(layers)
    nothing_left = (layers >= count) & (moe <= 0)
    return (
        np.where(nothing_left, 0.0, layers),
        np.where(nothing_left, count if model.has_experts else 0.0, moe),
    )


def gpu_budget(model: Model, machine: Machine, work: Workload) -> Array:
    """VRAM of all GPUs for weights and cache, after buffers, margin and who drafts [B].

    Layers are not divided, so each further GPU leaves half a layer unused on average.
    """
    return _budget(model, machine, work, compute_buffer(model.architecture, work))


def whole_layers(model: Model, machine: Machine, work: Workload) -> Array:
    """Number of whole layers that fit; 0 where all would, to show offloading."""
    cache = kv_cache_bytes(model, work) * np.asarray(work.users, float)[..., None]
    budget = gpu_budget(model, machine, work) - model.output
    layers = layers_that_fit(model.layer_bytes + cache, budget)
    return np.where(layers >= model.layers, 0.0, layers)


def _budget(model: Model, machine: Machine, work: Workload, computing: Array) -> Array:
    taken = FIT_MARGIN + gpu_buffer(model, work, 1.0, computing)
    total = sum((gpu.memory.value - taken for gpu in machine.gpus), start=np.zeros(()))
    total = total - drafter_memory(model, work)
    edges = (len(machine.gpus) - 1) * np.mean(model.layer_bytes, axis=-1)
    return np.asarray(np.maximum(total - edges, 0.0))


def host_buffer(model: Model, work: Workload, outside: Array, computing: Array) -> Array:
    """RAM for computing: a micro-batch where layers are computed there, else its inputs; `outside`
    is 1 where some weights are outside the GPUs, else 0 [B].
    """
    feeding = input_buffer(model.architecture, work)
    return np.where(outside, computing, feeding) + output_buffer(model.architecture, work)


def gpu_buffer(model: Model, work: Workload, outside: Array, computing: Array) -> Array:
    """VRAM for computing, and for the weights in RAM that prompts copy [B].

    Two of the largest matrices are copied at a time: a published log has 42 MB of buffer for a
    micro-batch of 16 tokens and 7 GB from 32 on, about two expert matrices of that model.
    """
    copied = np.where(np.asarray(work.ubatch) >= COPY_TOKENS, 2.0 * _largest_matrix(model), 0.0)
    return CONTEXT + computing + outside * copied


@lru_cache(maxsize=16)
def _largest_matrix(model: Model) -> Array:
    """Largest matrix of any layer [B]."""
    matrices = ((Group.ROUTED_EXPERTS, 3), (Group.DENSE_FFN, 3), (Group.ATTENTION, 4))
    sizes = [np.max(model.bytes_per_layer[group], axis=-1) / count for group, count in matrices]
    return np.asarray(np.maximum.reduce(sizes))


LLAMA_CPP = Runtime(
    name="llama.cpp",
    key="llama.cpp",
    engine="llama.cpp",
    version=VERSION,
    strategies=tuple(PlacementStrategy),
    loaded_format=loaded_format_of("llama.cpp"),
    place=place,
    schedule=schedule,
    command=command,
    computes_in_ram=True,
    binds_nodes=True,
    quantized_kv_type="q8_0",
    takes_layers=True,
    takes_several_formats=True,
    takes_several_counts=True,
    drafts=True,
    caches_experts=True,
    parts_layers=True,
    setup=SETUP,
)
