"""Common parts of runtimes that compute on the GPU and stream weights from elsewhere."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from advisor.catalog.constants import Names
from advisor.cost_model.kernels import FrameworkKernels
from advisor.cost_model.loads import STARTED, ForwardPass, Load, prompt_step, step_load, token_step
from advisor.cost_model.placement import Location, Placement, PlacementStrategy, all_of
from advisor.cost_model.schedule import Phases, Schedule
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.architecture import Group
from advisor.model.model import LAYERED, Floats, Model
from advisor.units import GIB, Array

MEMORY_USED = 0.92  # share of VRAM that PyTorch can allocate beside the CUDA context; assumed
BUFFERED = 2  # layers in VRAM at a time: one in use, one being copied
ACTIVATIONS = 1.0 * GIB  # workspace of the kernels and of one prompt chunk; assumed [B]
WORKSPACE_VALUES = 13.0
"""16-bit values per prompt token and hidden unit that a layer needs at the same time: queries,
keys, values, outputs and the inside of the feed-forward part (FlexGen's cost model, peak memory;
https://github.com/FMInference/FlexLLMGen/blob/004ffef/experimental/cost_model.py, 2024-10-27)."""
NUMBERS: Mapping[Names, str] = {"f32": "fp32", "fp8": "fp8", "fp4": "fp4"}
"""Number type of a framework's matrix products, by format class; 16 bits for all others."""


def first_layers(model: Model, count: Array) -> Floats:
    """Shares of the layers: 1 for the first `count`, with a fraction at the edge, shape (...,
    layers).
    """
    index = np.arange(model.layers)
    return np.clip(np.asarray(count, dtype=float)[..., None] - index, 0.0, 1.0)


def cache_bytes(model: Model, work: Workload) -> Array:
    """KV cache of all users [B]."""
    return np.asarray(np.sum(model.kv_bytes(work.context, work.kv_type), axis=-1) * work.users)


def shared_by_gpus(
    model: Model,
    machine: Machine,
    strategy: PlacementStrategy,
    gpu_share: Floats,
    outside: dict[Location, Floats],
    *,
    usable: float,
    workspace: Array,
    cache_outside: Mapping[Location, Array],
    tables: Location | None = None,
) -> Placement:
    """Placement with an equal part of the layers in `gpu_share` on every GPU, the rest `outside`.

    Layers are shares of each layer, shape (..., layers).

    Each GPU has a share of its VRAM in use, with a workspace for computing and for streamed layers
    [B]. A share of the KV cache, and the tables (embedding and head), may lie outside too.
    """
    devices = [Location.vram(device) for device in range(len(machine.gpus))]
    part = 1.0 / len(devices)
    away = {
        place: np.ones(model.layers) * np.asarray(share)[..., None]
        for place, share in cache_outside.items()
        if np.any(share)
    }
    at_home = np.ones_like(gpu_share) - sum(away.values(), start=np.zeros(model.layers))
    on_gpus = dict.fromkeys(devices, all_of(gpu_share * part))
    return Placement(
        strategy=strategy,
        gpu_layers=np.asarray(np.sum(gpu_share, axis=-1)),
        weights=on_gpus | {place: all_of(share) for place, share in outside.items()},
        kv=dict.fromkeys(devices, at_home * part) | away,
        embedding=tables or devices[0],
        output=dict.fromkeys(devices, part) if tables is None else {tables: np.ones(())},
        buffers={
            device: gpu.memory.value * (1 - usable) + workspace
            for device, gpu in zip(devices, machine.gpus, strict=True)
        },
    )


def prompt_workspace(model: Model, work: Workload) -> Array:
    """VRAM of one prompt in a layer: activations, and attention scores of all heads [B]."""
    tokens = np.maximum(np.asarray(work.fresh, dtype=float), 1.0)
    heads = max(model.architecture.query_heads)
    activations = 2.0 * WORKSPACE_VALUES * model.architecture.hidden * tokens
    return np.asarray(activations + 2.0 * heads * tokens**2)


def phases_of(one_pass: Callable[[ForwardPass], Schedule], work: Workload) -> Phases:
    """Schedules of one pass over the layers for the prompts of all users, and one for a token of
    each user.
    """
    return Phases(
        of_prompt=lambda: one_pass(prompt_step(work)), of_token=lambda: one_pass(token_step(work))
    )


def whole_load(model: Model, placement: Placement, step: ForwardPass) -> Load:
    """Load of a step from the parts at every location."""
    places = dict.fromkeys((*placement.weights, *placement.kv, *placement.output))
    first, *others = (step_load(model, placement, place, step) for place in places)
    return sum(others, start=first)


def without_cache(load: Load, share: Array) -> Load:
    """Load of a step without a share of the attention, 0 to 1, which another processor computes."""
    rest = 1.0 - np.asarray(share)
    return replace(load, kv=load.kv * rest, attention_flops=load.attention_flops * rest)


def cache_share(placement: Placement, place: Location) -> Array:
    """Share of the KV cache at a location, 0 to 1."""
    return np.asarray(np.mean(placement.kv.get(place, np.zeros(1)), axis=-1))


def kernels(model: Model, sequences: Array, unpacked: Array = 0.0) -> FrameworkKernels:
    """Kernels of a framework on a GPU for a step of a model; some values are unpacked first."""
    number = NUMBERS.get(model.decode_class, "fp16")
    return FrameworkKernels(number=number, sequences=sequences, unpacked=unpacked)


def each_of(load: Load, gpus: int) -> Load:
    """Load of one of several GPUs that share every layer; each of them starts every kernel."""
    kernels = {name: getattr(load, name) for name in (*STARTED, "latent_values")}
    return replace(load.times(1.0 / gpus), **kernels)


REPEATED = 0.4
"""Additional time of attention for repeating keys and values of grouped heads: a 16-bit copy
written and read, relative to ten bytes for each value."""


def attended_bytes(model: Model, load: Load) -> Array:
    """Bytes of the cache that a framework's attention reads [B].

    Two bytes are read for the two FLOPs on each value, as values that heads share are repeated
    first (Transformers, `repeat_kv`).
    """
    grouped = np.sum(model.architecture.attention_values) > np.sum(model.per_layer.kv_values)
    return load.attention_flops * (1.0 + REPEATED * float(grouped))


def packed_weights(model: Model) -> bool:
    """Whether the weights are unpacked before use."""
    return model.decode_class not in ("f16", "bf16", "f32", "fp8")


def unpacked_weights(model: Model) -> float:
    """Number of weights that a step unpacks once.

    They are all weights in the matrices of a compressed model's layers, all experts included.
    """
    if not packed_weights(model):
        return 0.0
    experts = model.architecture.experts
    if experts:
        used = experts.used / experts.total
    else:
        used = 1.0
    return sum(
        float(np.sum(work)) / 2.0 / (used if group is Group.ROUTED_EXPERTS else 1.0)
        for group, work in model.per_layer.flops.items()
    )


def layer_weights(model: Model, placement: Placement, location: Location) -> Array:
    """Weights of the layers at a location; whole layers are moved, unused experts included [B]."""
    shares = placement.weights.get(location, {})
    sizes = (shares[group] @ model.bytes_per_layer[group] for group in LAYERED if shares)
    return np.asarray(sum(sizes))


def moved_weights(model: Model, placement: Placement, location: Location) -> Array:
    """Weights that each step moves from a location: its layers and its share of the head [B]."""
    tables = model.output * placement.output.get(location, 0.0)
    return layer_weights(model, placement, location) + tables


def outside_gpus(placement: Placement) -> tuple[Location, ...]:
    """Locations outside the GPUs (RAM, drive) that hold weights."""
    return tuple(place for place in (Location.RAM, Location.DISK) if place in placement.weights)
