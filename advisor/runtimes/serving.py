"""Common parts of vLLM and SGLang: weights and cache over all GPUs, the rest in pinned RAM."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
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
from advisor.cost_model.workload import HEADS, Workload, drafter_cache
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.machine.software import WINDOWS
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.model.model import LAYERED, Floats, Model
from advisor.runtimes.format_support import kinds
from advisor.runtimes.parallelism import (
    ACTIVATION,
    Parallel,
    attention_work,
    beside_layers,
    busiest_gpu,
    cache_of_each,
    cache_read,
    check_divides_experts,
    chunk,
    devices_of,
    exchanges,
    held_by_each,
    is_prompt,
    layer_kinds,
    parallel,
    representative,
    share_of_users,
    state_work,
)
from advisor.runtimes.weight_streaming import ACTIVATIONS, each_of, kernels, unpacked_weights
from advisor.units import Array

TWO_BYTES = ("f16", "bf16")
"""Cache types of the model's own size, which need no other."""
SIXTEEN_BITS = (*TWO_BYTES, "f32")
"""Cache types that are kept as the model's own 16 bits; all others become fp8."""


def served(work: Workload) -> Workload:
    """Request with the cache in a type that vLLM and SGLang support."""
    if work.kv_type in TWO_BYTES:
        return work
    return work.with_numbers(kv_type="bf16" if work.kv_type in SIXTEEN_BITS else "fp8")


def typical_tokens(work: Workload) -> Array:
    """Mean length of a user's cache while decoding, at most the context [tokens]."""
    return np.asarray(np.minimum(work.decode_depth, work.context), dtype=float)


def paged(work: Workload) -> Workload:
    """Request with the part of the cache that pages hold for each user, as its context.

    max( c, context / users ), with the mean length c: pages are given out as a sequence grows, so
    users take what their requests come to; but an engine starts only if its cache holds one whole
    context (`--max-model-len`; vllm/v1/core/kv_cache_utils.py of 0.33.0).
    """
    users = np.maximum(np.asarray(work.users, dtype=float), 1.0)
    return work.with_numbers(context=np.maximum(typical_tokens(work), work.context / users))


def drafter(work: Workload) -> str:
    """Repository of the drafter: a smaller model, or a placeholder for one made for the model."""
    if work.draft_model is None:
        return HEADS[work.draft]
    return catalog.repository(work.draft_model.name)


def needs_linux(machine: Machine, name: str) -> None:
    """Check that an engine that is built for Linux alone runs there
    (https://docs.vllm.ai/en/v0.31.0/getting_started/installation/gpu/, 2026-11-21;
    https://nvidia.github.io/TensorRT-LLM/0.18.2/reference/support-matrix.html, 2026-11-23).

    Raises:
        Refusal: a machine with Windows.
    """
    if machine.system == WINDOWS:
        raise Refusal(
            f"{name} does not run on Windows: use WSL2, which is Linux (--system linux), or "
            "llama.cpp."
        )


def checkpoint(model: Model) -> str:
    """The repository of an unquantized model, else the name and format of the one to be had."""
    if "16-bit" in kinds(model.format):
        return catalog.repository(model.name)
    return f"{model.name}-{model.format}"


@dataclass(frozen=True, kw_only=True)
class Room:
    """Memory that a runtime uses on a GPU."""

    usable: Array  # share of VRAM in use
    buffered: int  # number of layers in VRAM for streaming
    cache: Floats  # KV cache of one user in use, per layer, shape (..., layers) [B]
    working: float = ACTIVATIONS  # part of that share for computing [B]
    drafter: Array = 0.0  # memory of who drafts, divided among the GPUs that share layers [B]


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
        Refusal: a machine without a GPU, or expert parallel where nothing can be divided so.
    """
    if not machine.gpus:
        raise Refusal("It computes on a GPU, and this machine has none.")
    by_user = settings.attention_by_user
    how = parallel(model, machine, by_user=by_user)
    if settings.expert_parallel or by_user:
        check_divides_experts(model, how)
    if by_user and strategy is not PlacementStrategy.GPU_RESIDENT:
        raise Refusal(
            "With attention by user each GPU holds all but the experts, and nothing lies in RAM; "
            "leave out --attention-by-user."
        )
    resident = strategy is PlacementStrategy.GPU_RESIDENT
    kept = [
        chunk(model, how, at)
        if resident
        else kept_layers(model, machine, work, settings, room, how, at)
        for at in how.turns
    ]
    divided = settings.expert_parallel or by_user
    return spread(model, machine, strategy, how, room, kept, work.users, expert_parallel=divided)


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
    group = chunk(model, how, at)
    rank = np.cumsum(group) * group
    if settings.gpu_layers is not None:
        count = np.asarray(settings.gpu_layers, dtype=float) / how.pipeline
        return np.asarray(group * (rank <= count[..., None]))
    held = group * held_by_each(model, how)
    budget = weight_room(model, machine, work, room, how, at)
    passing = room.buffered * float(np.max(held))
    fitting = layers_that_fit(held[group > 0][::-1], budget - passing)
    count = np.where(budget >= held.sum(), 0.0, fitting)
    return np.asarray(group * (rank <= count[..., None]))


def weight_room(
    model: Model, machine: Machine, work: Workload, room: Room, how: Parallel, at: int
) -> Array:
    """VRAM of each GPU in a group for layers, by the smallest GPU [B]."""
    group = chunk(model, how, at)
    shares = cache_of_each(model, how, work.users)
    cache = np.sum(group * room.cache * shares, axis=-1) * work.users
    ends = model.embedding * (at == 0) + model.output * (at == how.pipeline - 1)
    whole = smallest(machine, how, at) * room.usable
    shared = (ends + room.drafter) / (1 if how.by_user else how.tensor)
    return np.asarray(whole - room.working - shared - cache)


def room_for_layers(model: Model, machine: Machine, work: Workload, room: Room) -> Array:
    """VRAM of all GPUs for layers; a group has room for as much on each GPU as on its smallest [B].

    Args:
        model: model that is divided.
        machine: machine with at least one GPU.
        work: request.
        room: memory that the runtime uses on a GPU.
    """
    how = parallel(model, machine)
    groups = [
        np.maximum(weight_room(model, machine, work, room, how, at), 0.0) * (at < how.pipeline)
        for at in how.turns
    ]
    return np.asarray(how.tensor * sum(how.of_groups(groups)))


def smallest(machine: Machine, how: Parallel, at: int) -> Array:
    """VRAM of the smallest GPU of a group [B]."""
    sizes = [machine.gpus[device].memory.value for device in devices_of(machine, how, at)]
    return np.asarray(reduce(np.minimum, sizes))


def spread(
    model: Model,
    machine: Machine,
    strategy: PlacementStrategy,
    how: Parallel,
    room: Room,
    kept: list[Floats],
    users: Array,
    *,
    expert_parallel: bool,
) -> Placement:
    """Placement of resident layers, cache, token table and head over all GPUs, the rest in RAM."""
    shares = cache_of_each(model, how, users)
    whole = sum(how.of_groups(kept), start=np.zeros(()))
    first, last = (0, how.pipeline - 1)
    part = 1.0 if how.by_user else 1.0 / how.tensor
    weights: dict[Location, Mapping[Group, Floats]] = {RAM: all_of(1.0 - whole)}
    kv: dict[Location, Floats] = {}
    ends: dict[str, dict[Location, Array]] = {"table": {}, "head": {}}
    buffers: dict[Location, Array] = {}
    unused = 1 - np.asarray(room.usable)
    for at, here in zip(how.turns, kept, strict=True):
        group = chunk(model, how, at)
        experts = {Group.ROUTED_EXPERTS: here / beside_layers(how.tensor)}
        own = {**all_of(here * beside_layers(part)), **experts}
        cached = group * shares + np.zeros_like(here)
        largest = np.max(group * held_by_each(model, how), axis=-1)
        streams = np.any(np.asarray(group - here) > 0, axis=-1)
        passing = np.where(streams, room.buffered * largest, 0.0)
        working = room.working + room.drafter * part + passing
        for device in devices_of(machine, how, at):
            where = vram(device)
            weights[where], kv[where] = own, cached
            ends["table"][where] = part * (at == first)
            ends["head"][where] = np.asarray(part * (at == last))
            buffers[where] = machine.gpus[device].memory.value * unused + working
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
        expert_parallel=expert_parallel,
        attention_by_user=how.by_user,
    )


def users_at_once(
    model: Model,
    machine: Machine,
    work: Workload,
    settings: Settings,
    room_of: Callable[[Workload], Room],
) -> Array:
    """Users whose requests fit in the cache beside all weights; the others wait [users].

    A request holds its prompt and half of its reply on average. 0 where the weights and the cache
    of a whole context do not fit.

    Args:
        model: model that is served.
        machine: machine that serves it.
        work: request; its users do not matter.
        settings: fixed choices of the placement.
        room_of: function that gives the memory for a request of a single user.
    """
    how = parallel(model, machine, by_user=settings.attention_by_user)
    ones = 0.0 * np.asarray(work.users) + 1.0
    whole = work.with_numbers(users=ones)
    typical = whole.with_numbers(context=typical_tokens(work))
    counts = []
    for at in how.turns:
        group = chunk(model, how, at)
        held = np.vecdot(group, held_by_each(model, how))
        room = room_of(whole)
        left = weight_room(model, machine, whole, room, how, at) - held
        caches = left + _cache_of_a_user(model, whole, room, how, group)
        each = _cache_of_a_user(model, typical, room_of(typical), how, group)
        fitting = np.floor(np.maximum(caches, 0.0) / np.maximum(each, 1.0))
        together = how.tensor if how.by_user else 1
        counts.append(np.where(left >= 0.0, together * fitting, 0.0))
    return np.asarray(reduce(np.minimum, how.of_groups(counts)))


def _cache_of_a_user(
    model: Model, work: Workload, room: Room, how: Parallel, group: Floats
) -> Array:
    """Cache of one user on each GPU of a group, that of who drafts included [B]."""
    drafted = drafter_cache(model, served(work)) / how.tensor if work.draft else 0.0
    own = np.sum(group * room.cache * cache_of_each(model, how, 1.0), axis=-1)
    return np.asarray(own + drafted)


def sequences_that_fit(model: Model, placement: Placement, machine: Machine, work: Workload) -> int:
    """Conversations, each with the cache of `paged`, that fit beside the weights in VRAM.

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


# Steps of vLLM and SGLang: what each GPU reads and computes, and with which kernels.


def held_load(
    model: Model, placement: Placement, machine: Machine, how: Parallel, at: int, step: ForwardPass
) -> Load:
    """Load of one GPU of a group from its own memory; each starts the kernels of every layer."""
    where = vram(representative(machine, how, at))
    load = step_load(model, placement, where, step)
    if placement.expert_parallel:
        load = _with_whole_experts(load, model, how, step)
    attention: dict[str, Array] = {}
    if where in placement.kv:
        group, cached = chunk(model, how, at), placement.kv[where]
        heads = group / beside_layers(how.tensor)
        if how.by_user:
            users = share_of_users(how, step.sequences)
            heads = cached = np.asarray(users)[..., None] * group
            attention["flops"] = load.flops * users
        attention["attention_flops"] = attention_work(model, heads, step)
        attention["kv"] = cache_read(model, cached, step)
    rest = 1 if how.by_user else how.tensor
    return replace(
        load,
        **attention,
        layers=load.layers * rest,
        expert_layers=load.expert_layers * how.tensor,
        state_layers=load.state_layers * rest,
    )


def _with_whole_experts(load: Load, model: Model, how: Parallel, step: ForwardPass) -> Load:
    """Load of the busiest GPU where each holds whole experts."""
    read, computed = busiest_gpu(model, how.tensor, step.tokens)
    return replace(
        load,
        weights=load.weights + load.experts * (read - 1.0),
        experts=load.experts * read,
        expert_flops=load.expert_flops * computed,
    )


def outside_load(
    model: Model, placement: Placement, how: Parallel, at: int, step: ForwardPass
) -> Load:
    """Load of one GPU of a group from its layers in RAM, after they were copied."""
    group = chunk(model, how, at)
    own = {part: share * group for part, share in placement.weights[RAM].items()}
    alone = replace(placement, weights={RAM: own}, kv={}, output={})
    load = step_load(model, alone, RAM, step)
    return each_of(load, how.tensor)


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
    how = parallel(model, machine, by_user=placement.attention_by_user)
    running = served(work)

    def through(step: ForwardPass) -> Schedule:
        groups = (group(model, placement, machine, how, at, step) for at in how.turns)
        return Schedule(
            stages=tuple(chain.from_iterable(groups)),
            exchanges=tuple(exchanges(model, machine, how, step.tokens)),
        )

    return Phases(
        of_prompt=lambda: through(prompt_step(running)),
        of_token=lambda: through(token_step(running)),
    )


def group_weights(model: Model, placement: Placement, how: Parallel, at: int) -> Array:
    """Weights in RAM of a group's layers, for each of its GPUs, unused experts included [B]."""
    group = chunk(model, how, at)
    shares = placement.weights[RAM].items()
    whole: Array = sum((share * group) @ model.bytes_per_layer[part] for part, share in shares)
    return whole / how.tensor


def group_kernels(
    model: Model, placement: Placement, machine: Machine, how: Parallel, at: int, step: ForwardPass
) -> EngineKernels:
    """Kernels of one GPU of a group; those of the first group sample for all."""
    group = chunk(model, how, at)
    head = placement.output.get(vram(representative(machine, how, at)), 0.0)
    tokens = np.asarray(step.tokens, dtype=float)
    users = share_of_users(how, step.sequences)
    stream = model.architecture.hidden * ACTIVATION * tokens * users
    experts = model.architecture.experts
    used = experts.used if experts else 0
    per_token = group @ model.flops[Group.ROUTED_EXPERTS] / how.tensor
    rows = per_token / used * experts.total * step.touched(model) if experts else 0.0
    if placement.expert_parallel:
        rows = rows * busiest_gpu(model, how.tensor, step.tokens)[0]
    dense, routed = engine_formats(model)
    kinds, layers = layer_kinds(model.architecture), np.sum(group, axis=-1)
    return EngineKernels(
        number=PEAKS[dense][0],
        sequences=step.sequences * users * (at == 0),
        prompt=is_prompt(step),
        dense=dense,
        experts=routed,
        head_bytes=head * model.output,
        head_flops=head * model.output_flops * tokens * users,
        head_used=head * model.output_flops * np.asarray(step.sequences, dtype=float) * users,
        activations=stream * layers,
        expert_activations=stream * (group @ model.expert_layers) * used,
        expert_rows=rows,
        attention_layers=group @ (model.kv_values > 0),
        latent_layers=group @ kinds.latent,
        indexed_layers=group @ kinds.indexed,
        products_per_layer=group @ kinds.products / np.maximum(layers, 1.0),
        state_flops=state_work(model, group, step) * (users if how.by_user else 1 / how.tensor),
    )


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
        latent_layers=0.0,
        indexed_layers=0.0,
        state_flops=0.0,
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


FOUR_BITS = {"NVFP4": "nvfp4", "MXFP4": "mxfp4", "MXFP4-hf": "mxfp4"}
"""Kernels for formats of 4-bit floats; others unpack 4-bit integers as they multiply."""


def framework_kernels(
    model: Model, placement: Placement, machine: Machine, how: Parallel, at: int, step: ForwardPass
) -> Kernels:
    """Kernels of engines without CUDA graphs, which compute as PyTorch does."""
    del placement, machine
    share = float(np.mean(chunk(model, how, at))) / how.tensor
    sequences = step.sequences if at == 0 else 0.0
    return kernels(model, sequences, unpacked_weights(model) * share)
