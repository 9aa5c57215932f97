"""FlexGen: each layer loaded once for a whole block of sequences, with all streams in parallel.

A block is a number of GPU batches; a layer's weights cross the link once for all of them. Weights
and cache are divided over GPU, RAM and drive. While the GPU computes one batch, the parts of the
next are copied, and the processor computes attention for a 16-bit cache in RAM or on the drive.
Weights on the drive are mapped files whose pages one thread touches; a cache is read in large
pieces. The longest stream counts (Sheng et al. 2023, arXiv 2303.06865, sections 3 and 4).
Compressed weights and caches are unpacked by the GPU for each batch, without overlap.
"""

import re

import numpy as np

from advisor.cost_model.loads import ForwardPass, prompt_step, token_step
from advisor.cost_model.placement import (
    Location,
    Placement,
    PlacementStrategy,
    Settings,
    layers_that_fit,
)
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Flow, Phases, Route, Schedule
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Floats, Model
from advisor.runtimes import weight_streaming as streaming
from advisor.runtimes.format_support import check_takes, loaded_format_of
from advisor.runtimes.parallelism import Parallel, exchanges
from advisor.units import Array

RAM_USED = 0.85
"""Share of RAM used in its authors' runs (OPT-175B: 175 GB of weights in 208 GB; OPT-30B: 48 GB of
weights and 109 GB of cache; benchmark/flexllmgen/bench_suite.py)."""
CACHE_COPY_SHARE = 0.5
"""Rate of cache slices on the link, relative to that of weights: OPT-30B and 66B with their cache
in RAM reached 10 to 16 GB/s over PCIe 4 (DeepSpeedExamples, zero_inference, 2023-09)."""


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Placement of weights over GPU, RAM and drive, with the KV cache in the first of these that
    holds it.

    Layers stay on the GPUs only where it does too, and not all do, so that the result shows
    offloading, or where their number is stated. On the drive lies what RAM cannot hold beside the
    cache, or, to show its speed alone, everything outside the GPUs, if the cache lies elsewhere.
    """
    check_takes("flexgen", machine, strategy, model, work)
    resident = strategy is PlacementStrategy.GPU_RESIDENT
    largest = float(np.max(model.layer_bytes))
    outside = cache_outside(model, machine, work, strategy, settings)
    layers: Array = np.asarray(float(model.layers))
    if not resident and settings.gpu_layers is not None:
        layers = np.asarray(np.clip(settings.gpu_layers, 0, model.layers), dtype=float)
    elif not resident:
        fixed = len(machine.gpus) * streaming.ACTIVATIONS + model.embedding + model.output
        budget = machine.gpu_memory * streaming.MEMORY_USED - (
            fixed + streaming.cache_bytes(model, work)
        )
        fitting = layers_that_fit(model.layer_bytes[::-1], budget - streaming.BUFFERED * largest)
        away = sum(outside.values(), start=np.zeros(()))
        layers = np.where((budget >= model.layer_bytes.sum()) | (away > 0), 0.0, fitting)
    gpu_share = streaming.first_layers(model, layers)
    rest: dict[Location, Floats] = {Location.RAM: 1.0 - gpu_share}
    if strategy is PlacementStrategy.NVME_OFFLOAD:
        ram_bytes = rest[Location.RAM] @ model.layer_bytes
        cached = streaming.cache_bytes(model, work) * outside[Location.RAM]
        room = np.maximum(machine.host.memory.value * RAM_USED - cached, 0.0)
        share = np.where(
            ram_bytes > room, 1.0 - room / np.maximum(ram_bytes, 1.0), 1.0 - outside[Location.DISK]
        )
        if settings.disk_layers is not None:
            share = settings.disk_layers / np.maximum(np.sum(rest[Location.RAM], axis=-1), 1e-9)
        rest[Location.DISK] = np.asarray(rest[Location.RAM] * np.clip(share, 0.0, 1.0)[..., None])
        rest[Location.RAM] = rest[Location.RAM] - rest[Location.DISK]
    return streaming.shared_by_gpus(
        model,
        machine,
        strategy,
        gpu_share,
        rest,
        usable=streaming.MEMORY_USED,
        workspace=streaming.ACTIVATIONS
        + (0.0 if resident else streaming.BUFFERED * largest / len(machine.gpus)),
        cache_outside=outside,
    )


def cache_outside(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> dict[Location, Array]:
    """Share of the KV cache at each location outside the GPUs: 1 at the first one that holds it, 0
    at all others.
    """
    cache = streaming.cache_bytes(model, work)
    tables = model.embedding + model.output + streaming.BUFFERED * float(np.max(model.layer_bytes))
    free = (
        machine.gpu_memory * streaming.MEMORY_USED
        - len(machine.gpus) * streaming.ACTIVATIONS
        - tables
    )
    away = np.asarray((cache > free) | bool(settings.kv_in_ram), dtype=float)
    if strategy is PlacementStrategy.GPU_RESIDENT:
        return {}
    if strategy is PlacementStrategy.CPU_OFFLOAD:
        return {Location.RAM: away}
    in_ram = np.asarray(cache <= machine.host.memory.value * RAM_USED, dtype=float)
    if settings.disk_layers is not None:  # what RAM holds of the weights comes first
        share = 1.0 - settings.disk_layers / model.layers
        left = machine.host.memory.value * RAM_USED - share * float(model.layer_bytes.sum())
        in_ram = np.asarray(cache <= left, dtype=float)
    return {Location.RAM: away * in_ram, Location.DISK: away * (1.0 - in_ram)}


def gpu_batch(model: Model, placement: Placement, machine: Machine, work: Workload) -> Array:
    """Number of sequences that the GPUs compute at a time.

    It is as many prompts as fit in VRAM beside resident weights, the layers that pass through, and
    the unpacked copy of one layer.
    """
    passing = streaming.BUFFERED * float(np.max(model.layer_bytes))
    unpacked = 2.0 * streaming.unpacked_weights(model) / model.layers
    resident = placement.gpu_layers / model.layers * float(model.layer_bytes.sum())
    occupied = passing + unpacked + resident + model.embedding + model.output
    room = machine.gpu_memory * streaming.MEMORY_USED - occupied
    users = np.maximum(np.asarray(work.users, dtype=float), 1.0)
    return np.clip(np.floor(room / streaming.prompt_workspace(model, work)), 1.0, users)


def schedule(
    model: Model,
    placement: Placement,
    machine: Machine,
    work: Workload,
    *,
    host_attention: bool = True,
    overlap: bool = True,
) -> Phases:
    """Schedule of one pass over the layers for the prompts of a block, and one for a token of every
    sequence.

    A token's pass reads the cache; compressed weights are unpacked for each GPU batch.

    The processor may compute attention for a cache in RAM (`--cpu-cache-compute`), and streams run
    in parallel (`--overlap`).
    """
    count = len(machine.gpus)
    packed = Model.KV_BYTES_PER_VALUE[work.kv_type] < 1.0
    batches = np.ceil(work.users / gpu_batch(model, placement, machine, work))

    def one_pass(step: ForwardPass, cached: bool) -> Schedule:
        load = streaming.whole_load(model, placement, step)
        paged = streaming.cache_share(placement, Location.DISK) * cached
        away = streaming.cache_share(placement, Location.RAM) * cached + paged
        attended = away * float(host_attention and cached and not packed)
        crossing = sum(
            streaming.moved_weights(model, placement, place)
            for place in streaming.outside_gpus(placement)
        )
        computed = streaming.each_of(streaming.without_cache(load, attended), count)
        flows = [
            Flow(route=Route.RESIDENT, load=computed, kernels=streaming.kernels(model, work.users)),
            Flow(
                route=Route.STREAMED,
                moved=(crossing + load.kv * (away - attended) / CACHE_COPY_SHARE) / count,
                alike=count,
            ),
            Flow(route=Route.IN_PLACE, moved=streaming.attended_bytes(model, load) * attended),
        ]
        if placement.strategy is PlacementStrategy.NVME_OFFLOAD:
            flows += [
                Flow(
                    route=Route.PAGED,
                    moved=streaming.moved_weights(model, placement, Location.DISK),
                ),
                Flow(route=Route.STAGED, moved=load.kv * paged, transfer=None),
            ]
        values = streaming.unpacked_weights(model) * batches
        if cached and packed:
            values = values + load.kv / Model.KV_BYTES_PER_VALUE[work.kv_type]
        unpacking = streaming.kernels(model, 0.0, unpacked=values / count)
        apart = Flow(route=Route.RESIDENT, load=load.times(0.0), kernels=unpacking)
        if overlap:
            stages = [tuple(flows)]
        else:
            stages = [(flow,) for flow in flows]
        division = Parallel(tensor=count, pipeline=1)
        return Schedule(
            stages=(*stages, (apart,)),
            exchanges=tuple(exchanges(model, machine, division, load.tokens)),
        )

    return Phases(
        of_prompt=lambda: one_pass(prompt_step(work), cached=False),
        of_token=lambda: one_pass(token_step(work), cached=True),
    )


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Command line of flex_opt, with a remark for models that FlexLLMGen has no code for."""
    if not re.match(r"opt-", model.name, re.IGNORECASE):
        return (
            f"# FlexLLMGen runs OPT models only. The speed is what its streaming would reach with\n"
            f"# {model.name}; DeepSpeed ZeRO-Inference is the closest runtime that runs it."
        )
    size = int(gpu_batch(model, placement, machine, work))
    parts = [
        f"python -m flexllmgen.flex_opt --model facebook/{model.name.lower()}",
        f"--prompt-len {int(work.prompt)} --gen-len {int(work.output)}",
        f"--percent {' '.join(str(share) for share in percent(model, placement))}",
        f"--gpu-batch-size {size} --num-gpu-batches {-(-int(work.users) // size)}",
    ]
    if streaming.packed_weights(model):
        parts.append("--compress-weight")
    if Model.KV_BYTES_PER_VALUE[work.kv_type] < 1.0:
        parts.append("--compress-cache")
    elif Location.RAM in placement.kv or Location.DISK in placement.kv:
        parts.append("--cpu-cache-compute")
    if placement.strategy is PlacementStrategy.NVME_OFFLOAD:
        parts.append("--offload-dir offload")
    return " ".join(parts)


def percent(model: Model, placement: Placement) -> tuple[int, ...]:
    """Values of `--percent`: shares of weights, cache and activations on the GPU and in RAM; the
    rest is on disk [%].
    """
    whole = float(model.layer_bytes.sum())
    on_gpu = round(float(placement.gpu_layers) / model.layers * 100)
    in_ram = round(float(streaming.layer_weights(model, placement, Location.RAM)) / whole * 100)
    in_ram = min(in_ram, 100 - on_gpu)
    if Location.RAM in placement.kv:
        cache = (0, 100)
    elif Location.DISK in placement.kv:
        cache = (0, 0)
    else:
        cache = (100, 0)
    if cache != (100, 0):
        activations = (0, 100)
    else:
        activations = (100, 0)
    return (on_gpu, in_ram, *cache, *activations)


FLEXGEN = Runtime(
    name="FlexGen",
    key="flexgen",
    engine="flexgen",
    version="FlexLLMGen 0.1.8 (github.com/FMInference/FlexLLMGen at 004ffef, October 2024)",
    strategies=tuple(PlacementStrategy),
    loaded_format=loaded_format_of("flexgen", why="loading converts"),
    mainstream=False,
    place=place,
    schedule=schedule,
    command=command,
    quantized_kv_type="q4_0",
)
