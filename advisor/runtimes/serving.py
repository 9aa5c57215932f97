"""Common parts of vLLM and SGLang: weights and cache over all GPUs, the rest in pinned RAM."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

import numpy as np

from advisor.cost_model.engine_kernels import PEAKS, EngineKernels
from advisor.cost_model.loads import ForwardPass, Load, prompt_step, step_load, token_step
from advisor.cost_model.placement import (
    RAM,
    Location,
    Placement,
    PlacementStrategy,
    Settings,
    all_of,
    kv_bytes,
    layers_that_fit,
    vram,
    weight_bytes,
)
from advisor.cost_model.schedule import Kernels, Phases, Schedule, Stage
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.model.model import LAYERED, Floats, Model
from advisor.runtimes.format_support import kinds
from advisor.runtimes.parallelism import (
    ACTIVATION,
    Parallel,
    cache_share,
    chunks,
    exchanges,
    parallel,
    representative,
)
from advisor.runtimes.weight_streaming import ACTIVATIONS, each_of, kernels, unpacked_weights
from advisor.units import Array

SIXTEEN_BITS = ("f16", "bf16", "f32")
"""Cache types that are kept as the model's own 16 bits; all others become fp8."""


def served(work: Workload) -> Workload:
    """Request with the cache in a type that vLLM and SGLang support."""
    return replace(work, kv_type="bf16" if work.kv_type in SIXTEEN_BITS else "fp8")


def drafter(work: Workload) -> str:
    """The repository that drafts: of a smaller model, or a place for that of an EAGLE head."""
    if work.draft_model is None:
        return "EAGLE_HEAD"
    return catalog.repository(work.draft_model.name)


def checkpoint(model: Model) -> str:
    """The repository of an unquantized model, else the name and format of the one to be had."""
    if "16-bit" in kinds(model.format):
        return catalog.repository(model.name)
    return f"{model.name}-{model.format}"


@dataclass(frozen=True, kw_only=True)
class Room:
    """Memory that a runtime uses on a GPU.

    Attributes:
        usable: share of VRAM in use.
        buffered: number of layers in VRAM for streaming.
        cache: KV cache of one user per layer, shape (..., layers) [B].
        working: part of that share for computing [B].
    """

    usable: Array
    buffered: int
    cache: Floats
    working: float = ACTIVATIONS


def placed(
    model: Model,
    machine: Machine,
    work: Workload,
    strategy: PlacementStrategy,
    settings: Settings,
    room: Room,
) -> Placement:
    """Whole layers on the GPUs, the first ones of each group; the rest in pinned RAM.

    Where all would fit, `cpu-offload` keeps none on the GPUs, to show offloading of everything.

    Raises:
        Refusal: a machine without a GPU.
    """
    if not machine.gpus:
        raise Refusal("It computes on a GPU, and this machine has none.")
    how = parallel(model, machine)
    groups = chunks(model, how.pipeline)
    resident = strategy is PlacementStrategy.GPU_RESIDENT
    kept = [
        group if resident else kept_layers(model, machine, work, settings, room, how, at)
        for at, group in enumerate(groups)
    ]
    return spread(model, machine, strategy, how, room, kept)


def kept_layers(
    model: Model,
    machine: Machine,
    work: Workload,
    settings: Settings,
    room: Room,
    how: Parallel,
    at: int,
) -> Floats:
    """1 for layers of a group with weights on its GPUs, else 0, shape (..., layers)."""
    group = chunks(model, how.pipeline)[at]
    rank = np.cumsum(group) * group
    if settings.gpu_layers is not None:
        count = np.asarray(settings.gpu_layers, dtype=float) / how.pipeline
        return np.asarray(group * (rank <= count[..., None]))
    held = group * model.layer_bytes / how.tensor
    budget = weight_room(model, machine, work, room, how, at)
    passing = room.buffered * float(np.max(held))
    fitting = layers_that_fit(held[group > 0][::-1], budget - passing)
    count = np.where(budget >= held.sum(), 0.0, fitting)
    return np.asarray(group * (rank <= count[..., None]))


def weight_room(
    model: Model, machine: Machine, work: Workload, room: Room, how: Parallel, at: int
) -> Array:
    """VRAM of each GPU in a group for layers, by the smallest GPU [B]."""
    group = chunks(model, how.pipeline)[at]
    cache = np.sum(group * room.cache * cache_share(model, how.tensor), axis=-1) * work.users
    ends = model.embedding * (at == 0) + model.output * (at == how.pipeline - 1)
    whole = smallest(machine, how, at) * room.usable
    return np.asarray(whole - room.working - ends / how.tensor - cache)


def smallest(machine: Machine, how: Parallel, at: int) -> Array:
    """VRAM of the smallest GPU of a group [B]."""
    cards = machine.gpus[at * how.tensor : (at + 1) * how.tensor]
    sizes = np.broadcast_arrays(*(card.memory.value for card in cards))
    return np.asarray(np.minimum.reduce(sizes))


def spread(
    model: Model,
    machine: Machine,
    strategy: PlacementStrategy,
    how: Parallel,
    room: Room,
    kept: list[Floats],
) -> Placement:
    """Placement of resident layers, cache, token table and head over all GPUs, the rest in RAM."""
    groups = chunks(model, how.pipeline)
    shares = cache_share(model, how.tensor)
    whole = np.sum(kept, axis=0)
    first, last = (0, how.pipeline - 1)
    weights: dict[Location, Mapping[Group, Floats]] = {RAM: all_of(1.0 - whole)}
    kv: dict[Location, Floats] = {}
    ends: dict[str, dict[Location, Array]] = {"table": {}, "head": {}}
    buffers: dict[Location, Array] = {}
    for device in range(how.gpus):
        at, where = device // how.tensor, vram(device)
        weights[where] = all_of(kept[at] / how.tensor)
        kv[where] = np.broadcast_to(groups[at] * shares, kept[at].shape)
        ends["table"][where] = 1.0 / how.tensor if at == first else 0.0
        ends["head"][where] = np.asarray(1.0 / how.tensor if at == last else 0.0)
        largest = float(np.max(groups[at] * model.layer_bytes)) / how.tensor
        streams = np.any(np.asarray(groups[at] - kept[at]) > 0, axis=-1)
        unused = machine.gpus[device].memory.value * (1 - np.asarray(room.usable))
        buffers[where] = unused + room.working + np.where(streams, room.buffered * largest, 0.0)
    return Placement(
        strategy=strategy,
        gpu_layers=np.sum(whole, axis=-1),
        cpu_moe=np.zeros(()),
        weights=weights,
        kv=kv,
        embedding=vram(0),
        embedding_shares=ends["table"],
        output=ends["head"],
        buffers=buffers,
        cache=room.cache,
    )


def held_load(
    model: Model, placement: Placement, machine: Machine, how: Parallel, at: int, step: ForwardPass
) -> Load:
    """Load of one GPU of a group from its own memory."""
    load = step_load(model, placement, vram(representative(machine, how, at)), step)
    return _all_start(load, how.tensor)


def outside_load(
    model: Model, placement: Placement, how: Parallel, at: int, step: ForwardPass
) -> Load:
    """Load of one GPU of a group from its layers in RAM, after they were copied."""
    group = chunks(model, how.pipeline)[at]
    own = {part: share * group for part, share in placement.weights[RAM].items()}
    alone = replace(placement, weights={RAM: own}, kv={}, output={})
    load = step_load(model, alone, RAM, step)
    return each_of(load, how.tensor)


def _all_start(load: Load, tensor: int) -> Load:
    """Load in which all GPUs that share layers start the kernels of every layer."""
    return replace(
        load,
        layers=load.layers * tensor,
        expert_layers=load.expert_layers * tensor,
        state_layers=load.state_layers * tensor,
    )


def phases(
    model: Model,
    placement: Placement,
    machine: Machine,
    work: Workload,
    group: Callable[[Model, Placement, Machine, Parallel, int, ForwardPass], Iterable[Stage]],
) -> Phases:
    """One pass for the prompt and one for each token, through the groups of GPUs in turn.

    Args:
        model: model that is run.
        placement: location of its parts.
        machine: machine that runs the model.
        work: request.
        group: function that gives the stages of a group in the pipeline, for a step.
    """
    how, running = parallel(model, machine), served(work)

    def through(step: ForwardPass) -> Schedule:
        groups = (group(model, placement, machine, how, at, step) for at in range(how.pipeline))
        return Schedule(
            stages=tuple(chain.from_iterable(groups)),
            exchanges=tuple(exchanges(model, machine, how, step.tokens)),
        )

    return Phases(prefill=through(prompt_step(running)), decode=through(token_step(running)))


def group_weights(model: Model, placement: Placement, how: Parallel, at: int) -> Array:
    """Weights in RAM of a group's layers, for each of its GPUs, unused experts included [B]."""
    group = chunks(model, how.pipeline)[at]
    shares = placement.weights[RAM].items()
    whole: Array = sum((share * group) @ model.bytes_per_layer[part] for part, share in shares)
    return whole / how.tensor


def group_kernels(
    model: Model, placement: Placement, machine: Machine, how: Parallel, at: int, step: ForwardPass
) -> EngineKernels:
    """How one GPU of a group computes its layers; the first group samples for all."""
    group = chunks(model, how.pipeline)[at]
    head = placement.output.get(vram(representative(machine, how, at)), 0.0)
    tokens = np.asarray(step.tokens, dtype=float)
    stream = model.architecture.hidden * ACTIVATION * tokens
    experts = model.architecture.experts
    used = experts.used if experts else 0
    per_token = group @ model.flops[Group.ROUTED_EXPERTS] / how.tensor
    rows = per_token / used * experts.total * model.expert_share(tokens) if experts else 0.0
    dense, routed = engine_formats(model)
    return EngineKernels(
        number=PEAKS[dense][0],
        sequences=step.sequences if at == 0 else 0.0,
        prompt=bool(np.any(tokens > MOST_CHECKED * np.asarray(step.sequences))),
        dense=dense,
        experts=routed,
        head_bytes=head * model.output,
        head_flops=head * model.output_flops * tokens,
        head_used=head * model.output_flops * np.asarray(step.sequences, dtype=float),
        activations=stream * float(group.sum()),
        expert_activations=stream * float(group @ model.expert_layers) * used,
        expert_rows=rows,
        attention_layers=float(group @ (model.kv_values > 0)),
    )


MOST_CHECKED = 16.0
"""Most tokens of a sequence that a step verifies together; more are a prompt."""
KernelsOf = Callable[[Model, Placement, Machine, Parallel, int, ForwardPass], Kernels]
"""Function that gives the kernels of one GPU of a group, for its layers in a step."""


def layers_only(own: Kernels) -> Kernels:
    """Kernels of further layers in a step whose tokens and cache are counted already."""
    if not isinstance(own, EngineKernels):
        return replace(own, sequences=0.0, unpacked=0.0)
    return replace(
        own,
        sequences=0.0,
        head_bytes=0.0,
        head_flops=0.0,
        head_used=0.0,
        activations=0.0,
        expert_activations=0.0,
        expert_rows=0.0,
        attention_layers=0.0,
    )


FORMATS = ((12.0, "f16"), (6.0, "fp8"))
"""Format of kernels by the smallest number of bits per weight; below, a 4-bit format."""


@lru_cache(maxsize=512)
def engine_formats(model: Model) -> tuple[str, str]:
    """Formats of dense weights and of routed experts, for the choice of kernels."""
    experts = model.architecture.experts
    unused = experts.total / experts.used if experts else 1.0
    dense = [group for group in LAYERED if group not in (Group.ROUTED_EXPERTS, Group.NORMS)]
    return (
        _kernel(model, [(model.bytes_per_layer[group], model.flops[group]) for group in dense]),
        _kernel(
            model,
            [
                (
                    model.bytes_per_layer[Group.ROUTED_EXPERTS],
                    model.flops[Group.ROUTED_EXPERTS] * unused,
                )
            ],
        ),
    )


def _kernel(model: Model, parts: Iterable[tuple[Floats, Floats]]) -> str:
    """Format by the mean bits of a weight: bytes held over weights, two FLOPs each."""
    sizes = [(float(np.sum(held)), float(np.sum(work)) / 2.0) for held, work in parts]
    weights = sum(count for _, count in sizes)
    bits = 8.0 * sum(size for size, _ in sizes) / weights if weights else 16.0
    near = next((name for least, name in FORMATS if bits >= least), "")
    return near or FOUR_BITS.get(model.format, "int4")


FOUR_BITS = {"NVFP4": "nvfp4", "MXFP4-hf": "mxfp4"}
"""Kernels for formats of 4-bit floats; others unpack 4-bit integers as they multiply."""


def framework_kernels(
    model: Model, placement: Placement, machine: Machine, how: Parallel, at: int, step: ForwardPass
) -> Kernels:
    """Kernels of engines without CUDA graphs, which compute as PyTorch does."""
    del placement, machine
    share = float(np.mean(chunks(model, how.pipeline)[at])) / how.tensor
    sequences = step.sequences if at == 0 else 0.0
    return kernels(model, sequences, unpacked_weights(model) * share)


def users_at_once(model: Model, machine: Machine, work: Workload, room: Room) -> Array:
    """Users whose whole context fits in the cache beside all weights; the others wait [users].

    0 where the weights themselves do not fit.
    """
    how = parallel(model, machine)
    counts = []
    for at, group in enumerate(chunks(model, how.pipeline)):
        held = group @ model.layer_bytes / how.tensor
        alone = replace(work, users=0.0 * np.asarray(work.users) + 1.0)
        each = np.sum(group * room.cache * cache_share(model, how.tensor), axis=-1)
        left = weight_room(model, machine, alone, room, how, at) + each - held
        counts.append(np.floor(np.maximum(left, 0.0) / np.maximum(each, 1.0)))
    return np.asarray(np.minimum.reduce(np.broadcast_arrays(*counts)))


def sequences_that_fit(model: Model, placement: Placement, machine: Machine, work: Workload) -> int:
    """Conversations whose whole context fits in the cache beside the weights in VRAM.

    Further ones are not refused: the scheduler lets them wait, or drops the cache of one and
    computes it again.
    """
    counts = []
    for device, gpu in enumerate(machine.gpus):
        where = vram(device)
        each = np.asarray(kv_bytes(model, placement, where, work)) / work.users
        held = weight_bytes(model, placement, where) + placement.buffers.get(where, 0.0)
        if np.any(each > 0):
            counts.append(np.floor(np.maximum(gpu.memory.value - held, 0.0) / each))
    return int(np.min(counts)) if counts else 0
