"""Common parts of vLLM and SGLang: weights and cache over all GPUs, the rest in pinned RAM."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial, reduce
from itertools import chain
from typing import Any

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.drafting import drafter_cache
from advisor.cost_model.kernels import EngineKernels
from advisor.cost_model.loads import ForwardPass, Load, prompt_step, step_load, token_step
from advisor.cost_model.placement import (
    Location,
    Placement,
    PlacementStrategy,
    Settings,
    all_of,
    layers_that_fit,
)
from advisor.cost_model.runtime import Runtime, ServerSetup, WeightFiles
from advisor.cost_model.schedule import Kernels, Phases, Schedule, Stage
from advisor.cost_model.workload import DRAFTERS, Workload
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.architecture import DELTA, Group, operators
from advisor.model.model import LAYERED, Floats, Model
from advisor.runtimes.format_support import check_takes, kinds, loaded_format_of
from advisor.runtimes.parallelism import (
    ACTIVATION,
    GpuGroup,
    attention_work,
    beside_layers,
    busiest_gpu,
    cache_of_each,
    cache_read,
    check_divides_experts,
    exchanges,
    gpu_groups,
    held_by_each,
    is_prompt,
    parallel,
    share_of_users,
    stages_by_memory,
    state_work,
)
from advisor.runtimes.weight_streaming import ACTIVATIONS, each_of, kernels, unpacked_weights
from advisor.units import Array


@dataclass(frozen=True, kw_only=True, slots=True)
class EffortRow:
    """One row of data/runtimes/setup_effort.csv."""

    runtime: str  # its name
    effort: str  # effort of installation and start, in a few words
    why: str  # reason in a sentence or two
    source: str  # documentation of the installation
    retrieved: str  # date when the source was read


@cache
def setup_efforts() -> Mapping[str, EffortRow]:
    """Effort of setting up each runtime, by its name."""
    return {row.runtime: row for row in read(DATA / "runtimes/setup_effort.csv", EffortRow)}


ENVIRONMENT = ". ~/serving/bin/activate"
CREATED = "[ -d ~/serving ] || (pip install uv && uv venv --python 3.12 --seed ~/serving)"
"""Creation of a Python environment, as in the guides of vLLM and SGLang."""


def served(work: Workload) -> Workload:
    """Request with a cache that these engines have: in 16 bits for 16 or more, in fp8 for fewer."""
    if work.kv_type in ("f16", "bf16"):
        return work
    return work.with_numbers(kv_type="bf16" if work.kv_type == "f32" else "fp8")


def paged(work: Workload) -> Workload:
    """Request whose context is the part of the cache that pages hold for each user.

    max( c, context / users ), with the mean length c: pages are given out as a sequence grows, so
    users take what their requests come to; but an engine starts only if its cache holds one whole
    context (`--max-model-len`; vllm/v1/core/kv_cache_utils.py of 0.33.0).
    """
    users = np.maximum(np.asarray(work.users, dtype=float), 1.0)
    return work.with_numbers(context=np.maximum(work.typical_tokens, work.context / users))


def on_each(line: str, machine: Machine, first: str, others: str = "") -> str:
    """Command line of a single machine, or of every machine, with an option that names the first
    one.
    """
    if machine.nodes == 1:
        return line
    line = f"{line} --nnodes {machine.nodes} {first} --node-rank"
    return "\n".join(
        f"{line} {rank}{others if rank else ''}  # on HOST{rank + 1}"
        for rank in range(machine.nodes)
    )


def drafter(work: Workload) -> str:
    """Repository of the drafting model; a placeholder where the drafter must be made for the
    model.
    """
    if work.draft_model is None:
        return DRAFTERS[work.draft].file
    return catalog.repository(work.draft_model.published_as)


def checkpoint(model: Model) -> str:
    """Repository of a model's weights: the maker's for 16 bits, one in the model's format for
    others.
    """
    if "16-bit" in kinds(model.format):
        return catalog.repository(model.published_as)
    return catalog.checkpoint(model.published_as, model.format)


@dataclass(frozen=True, kw_only=True)
class Room:
    """Memory that a runtime uses on a GPU."""

    usable: Array  # share of VRAM in use
    buffered: int  # number of layers in VRAM for streaming
    cache: Floats  # KV cache of one user in use, per layer, shape (..., layers) [B]
    working: float = ACTIVATIONS  # part of that share for computing [B]
    drafter: Array = 0.0  # memory of who drafts, divided among the GPUs that share layers [B]
    in_ram: Array = 0.0  # share of the token tables in pinned RAM
    in_file: Array = 0.0  # share of them in the mapped file

    @property
    def tables(self) -> Array:
        """Share of the token tables in VRAM."""
        return np.asarray(1.0 - np.asarray(self.in_ram) - np.asarray(self.in_file))


def with_tables(model: Model, machine: Machine, room: Room, users: Array, *, aside: bool) -> Room:
    """Memory of a GPU for layers, beside the tables of n-grams, of which a token reads a few rows.

    They lie in the GPUs where these hold all and they are not put `aside` in RAM first; else in
    RAM, or in the mapped file where it has no room and the family's loader can.
    """
    if not model.by_ngrams:
        return room
    cache = np.sum(room.cache, axis=-1) * np.asarray(users)
    needed = model.file_bytes + model.tied_copy + cache + room.drafter
    free = machine.gpu_memory * room.usable - room.working * machine.gpu_count
    tables = model.tables
    in_ram = (tables <= machine.host.memory.value) & np.bool_(not machine.unified)
    share = np.where((needed > free) | (aside & in_ram), model.tables_share, 0.0)
    if DELTA not in operators(model.architecture):
        return replace(room, in_ram=share)
    return replace(room, in_ram=np.where(in_ram, share, 0.0), in_file=np.where(in_ram, 0.0, share))


RoomOf = Callable[[Model, Machine, Workload], Room]
"""Function that gives the memory that a runtime uses for a request."""


def engine(
    key: str,
    room_of: RoomOf,
    *,
    command: Callable[..., str],
    install: tuple[str, ...] = (),
    port: int = 0,
    **fields: Any,
) -> Runtime:
    """Runtime that serves checkpoints with a cache in pages; users whose cache does not fit wait in
    a queue.

    It is made of its key, the memory that it uses on a GPU, and further fields.

    On a rented machine it is installed by some lines, and downloads a checkpoint by the name of its
    repository, which its command takes as a last argument, as shell text.
    """

    def place(
        model: Model,
        machine: Machine,
        work: Workload,
        strategy: PlacementStrategy,
        settings: Settings,
    ) -> Placement:
        check_takes(key, machine, strategy, model, work)
        return placed(model, machine, work, strategy, settings, room_of(model, machine, work))

    def start(
        model: Model, placement: Placement, machine: Machine, work: Workload, repository: str
    ) -> tuple[str, ...]:
        return (ENVIRONMENT, command(model, placement, machine, work, f'"{repository}"'))

    setup = ServerSetup(
        files=WeightFiles.CHECKPOINT,
        port=port,
        install=(CREATED, ENVIRONMENT, *install),
        start=start,
    )
    return Runtime(
        key=key,
        engine=key,
        command=command,
        loaded_format=loaded_format_of(key),
        at_once=partial(users_at_once, room_of),
        room_for_layers=partial(room_for_layers, room_of),
        divides_experts=True,
        quantized_kv_type="fp8",
        setup=setup if install else None,
        **{"place": place, **fields},
        stages=stages_by_memory,
    )


def moved_bytes(model: Model, placement: Placement) -> Array:
    """Weights in RAM that a step copies or reads, without the tables there [B]."""
    tables = placement.embedding_share(Location.RAM) * model.embedding
    return placement.weight_bytes(model, Location.RAM) - tables


def placed(
    model: Model,
    machine: Machine,
    work: Workload,
    strategy: PlacementStrategy,
    settings: Settings,
    room: Room,
) -> Placement:
    """Placement of whole layers on the GPUs, with the rest in pinned RAM.

    The first layers of each group are on its GPUs. Where all layers would fit, all are in RAM, to
    show offloading of everything.
    """
    by_user = settings.attention_by_user
    division = parallel(model, machine, by_user=by_user)
    if settings.expert_parallel or by_user:
        check_divides_experts(model, division)
    resident = strategy is PlacementStrategy.GPU_RESIDENT
    if by_user and not resident:
        raise Refusal(
            "With attention by user each GPU holds all but the experts, and nothing lies in RAM; "
            "leave out --attention-by-user."
        )
    groups = gpu_groups(model, machine, division)
    fitting = partial(_layers_that_fit, work=work, settings=settings, room=room)
    layers = [group.layers if resident else fitting(group) for group in groups]
    placement = _spread(groups, layers, room, work.users)
    whole_experts = settings.expert_parallel or by_user
    return replace(placement, strategy=strategy, expert_parallel=whole_experts)


def _layers_that_fit(group: GpuGroup, work: Workload, settings: Settings, room: Room) -> Floats:
    """Layers of a group with weights on its GPUs: 1 for these and 0 for the others, shape (...,
    layers).
    """
    rank = np.cumsum(group.layers) * group.layers
    if settings.gpu_layers is not None:
        count = np.asarray(settings.gpu_layers, dtype=float) / group.division.pipeline
        return np.asarray(group.layers * (rank <= count[..., None]))
    layer_bytes = group.layers * held_by_each(group.model, group.division)
    budget = weight_room(group, work, room)
    passing = room.buffered * float(np.max(layer_bytes))
    fitting = layers_that_fit(layer_bytes[group.layers > 0][::-1], budget - passing)
    count = np.where(budget >= layer_bytes.sum(), 0.0, fitting)
    return np.asarray(group.layers * (rank <= count[..., None]))


def weight_room(group: GpuGroup, work: Workload, room: Room) -> Array:
    """VRAM of each GPU in a group for layers, by the smallest GPU [B]."""
    model = group.model
    division = group.division
    shares = cache_of_each(model, division, work.users)
    cache = np.sum(group.layers * room.cache * shares, axis=-1) * work.users
    last = group.at == division.pipeline - 1
    ends = model.embedding * room.tables * (group.at == 0) + model.output * last
    shared = (ends + room.drafter) / (1 if division.by_user else division.tensor)
    return np.asarray(group.memory * room.usable - room.working - shared - cache)


def room_for_layers(room_of: RoomOf, model: Model, machine: Machine, work: Workload) -> Array:
    """Bound on the bytes of layers in VRAM beside one user's cache, by each group's smallest GPU
    [B].
    """
    single = work.with_numbers(users=1.0)
    room = room_of(model, machine, single)
    division = parallel(model, machine)
    groups = [
        np.maximum(weight_room(group, single, room), 0.0) * (group.at < division.pipeline)
        for group in gpu_groups(model, machine, division)
    ]
    return np.asarray(division.tensor * sum(division.of_groups(groups)))


def _spread(groups: list[GpuGroup], layers: list[Floats], room: Room, users: Array) -> Placement:
    """Placement of resident layers, cache, token table and head over all GPUs, the rest in RAM."""
    model = groups[0].model
    machine = groups[0].machine
    division = groups[0].division
    shares = cache_of_each(model, division, users)
    resident = sum(division.of_groups(layers), start=np.zeros(()))
    if division.by_user:
        part = 1.0
    else:
        part = 1.0 / division.tensor
    weights: dict[Location, Mapping[Group, Floats]] = {Location.RAM: all_of(1.0 - resident)}
    kv: dict[Location, Floats] = {}
    outside = {Location.RAM: room.in_ram, Location.DISK: room.in_file}
    table = {where: share for where, share in outside.items() if np.any(share)}
    head: dict[Location, Array] = {}
    buffers: dict[Location, Array] = {}
    unused = 1 - np.asarray(room.usable)
    for group, here in zip(groups, layers, strict=True):
        experts = {Group.ROUTED_EXPERTS: here / beside_layers(division.tensor)}
        held = {**all_of(here * beside_layers(part)), **experts}
        largest = np.max(group.layers * held_by_each(model, division), axis=-1)
        streams = np.any(np.asarray(group.layers - here) > 0, axis=-1)
        passing = np.where(streams, room.buffered * largest, 0.0)
        working = room.working + room.drafter * part + passing
        for device in group.devices:
            where = Location.vram(device)
            weights[where] = held
            kv[where] = group.layers * shares + np.zeros_like(here)
            table[where] = room.tables * part * (group.at == 0)
            head[where] = np.asarray(part * (group.at == division.pipeline - 1))
            buffers[where] = machine.gpus[device].memory.value * unused + working
    return Placement(
        strategy=PlacementStrategy.GPU_RESIDENT,
        gpu_layers=np.sum(resident, axis=-1),
        weights=weights,
        kv=kv,
        embedding=Location.vram(0),
        embedding_shares=table,
        output=head,
        buffers=buffers,
        cache=room.cache,
        attention_by_user=division.by_user,
    )


def users_at_once(
    room_of: RoomOf, model: Model, machine: Machine, work: Workload, settings: Settings
) -> Array:
    """Number of users whose requests fit in the cache beside all weights; further users wait
    [users].

    A request holds its prompt and half of its reply on average; `room_of` is its memory, of a
    single user. 0 where the weights and the cache of a whole context do not fit.
    """
    division = parallel(model, machine, by_user=settings.attention_by_user)
    single = work.with_numbers(users=0.0 * np.asarray(work.users) + 1.0)
    typical = single.with_numbers(context=work.typical_tokens)
    room = room_of(model, machine, single)
    usual = room_of(model, machine, typical)
    if division.by_user:
        together = division.tensor
    else:
        together = 1
    counts = []
    for group in gpu_groups(model, machine, division):
        weights = np.vecdot(group.layers, held_by_each(model, division))
        left = weight_room(group, single, room) - weights
        caches = left + _cache_of_a_user(group, single, room)
        cache_of_a_user = _cache_of_a_user(group, typical, usual)
        fitting = np.floor(np.maximum(caches, 0.0) / np.maximum(cache_of_a_user, 1.0))
        counts.append(np.where(left >= 0.0, together * fitting, 0.0))
    return np.asarray(reduce(np.minimum, division.of_groups(counts)))


def _cache_of_a_user(group: GpuGroup, work: Workload, room: Room) -> Array:
    """Cache of one user on each GPU of a group, with the cache of the drafting model [B]."""
    model = group.model
    division = group.division
    if work.draft:
        drafted = drafter_cache(model, served(work)) / division.tensor
    else:
        drafted = 0.0
    cache = np.sum(group.layers * room.cache * cache_of_each(model, division, 1.0), axis=-1)
    return np.asarray(cache + drafted)


def sequences_that_fit(model: Model, placement: Placement, machine: Machine, work: Workload) -> int:
    """Conversations that fit in VRAM, each with the cache of `paged`; further ones wait."""
    counts = []
    for device, gpu in enumerate(machine.gpus):
        where = Location.vram(device)
        cache_of_a_user = np.asarray(placement.kv_bytes(model, where, work)) / work.users
        occupied = placement.weight_bytes(model, where) + placement.buffers.get(where, 0.0)
        if np.any(cache_of_a_user > 0):
            counts.append(np.floor(np.maximum(gpu.memory.value - occupied, 0.0) / cache_of_a_user))
    if counts:
        return int(np.min(counts))
    return 0


# Steps of vLLM and SGLang: what each GPU reads and computes, and with which kernels.


def held_load(group: GpuGroup, placement: Placement, step: ForwardPass) -> Load:
    """Load of one GPU of a group from its own memory.

    Where each GPU holds whole experts it is that of the busiest GPU. Each GPU starts the kernels of
    every layer.
    """
    model = group.model
    division = group.division
    where = Location.vram(group.slowest)
    load = step_load(model, placement, where, step)
    if placement.expert_parallel:
        read, computed = busiest_gpu(model, division.tensor, step.tokens)
        load = replace(
            load,
            weights=load.weights + load.experts * (read - 1.0),
            experts=load.experts * read,
            expert_flops=load.expert_flops * computed,
        )
    attention: dict[str, Array] = {}
    if where in placement.kv:
        cached = placement.kv[where]
        heads = group.layers / beside_layers(division.tensor)
        if division.by_user:
            users = share_of_users(division, step.sequences)
            heads = cached = np.asarray(users)[..., None] * group.layers
            attention["flops"] = load.flops * users
        attention["attention_flops"] = attention_work(model, heads, step)
        attention["kv"] = cache_read(model, cached, step)
    if division.by_user:
        rest = 1
    else:
        rest = division.tensor
    return replace(
        load,
        **attention,
        layers=load.layers * rest,
        expert_layers=load.expert_layers * division.tensor,
        state_layers=load.state_layers * rest,
    )


def outside_load(group: GpuGroup, placement: Placement, step: ForwardPass) -> Load:
    """Load of one GPU of a group from its layers in RAM, after these were copied."""
    weights = {
        part: share * group.layers for part, share in placement.weights[Location.RAM].items()
    }
    alone = replace(placement, weights={Location.RAM: weights}, kv={}, output={})
    return each_of(step_load(group.model, alone, Location.RAM, step), group.division.tensor)


def phases(
    model: Model,
    placement: Placement,
    machine: Machine,
    work: Workload,
    stages: Callable[[GpuGroup, ForwardPass], Iterable[Stage]],
) -> Phases:
    """Schedules of the prompt and of each token, through the `stages` of each group."""
    division = parallel(model, machine, by_user=placement.attention_by_user)
    groups = gpu_groups(model, machine, division)
    running = served(work)

    def through(step: ForwardPass) -> Schedule:
        turns = (stages(group, step) for group in groups)
        return Schedule(
            stages=tuple(chain.from_iterable(turns)),
            exchanges=tuple(exchanges(model, machine, division, step.tokens)),
        )

    return Phases(
        of_prompt=lambda: through(prompt_step(running)),
        of_token=lambda: through(token_step(running)),
    )


def group_weights(group: GpuGroup, placement: Placement) -> Array:
    """Weights in RAM of a group's layers, for each of its GPUs, with unused experts [B]."""
    sizes = group.model.bytes_per_layer
    shares = placement.weights[Location.RAM].items()
    size: Array = sum((share * group.layers) @ sizes[part] for part, share in shares)
    return size / group.division.tensor


def group_kernels(group: GpuGroup, placement: Placement, step: ForwardPass) -> EngineKernels:
    """Kernels of one GPU of a group; the first group also samples the token of every sequence."""
    model = group.model
    division = group.division
    mask = group.layers
    head = placement.output.get(Location.vram(group.slowest), 0.0)
    tokens = np.asarray(step.tokens, dtype=float)
    users = share_of_users(division, step.sequences)
    sequences = np.asarray(step.sequences, dtype=float)
    stream = model.architecture.hidden * ACTIVATION * tokens * users
    per_layer = model.per_layer
    experts = model.architecture.experts
    used = 0
    rows: Array = 0.0  # rows of all experts that the step reads, as work of a token
    if experts:
        used = experts.used
        per_token = mask @ per_layer.flops[Group.ROUTED_EXPERTS] / division.tensor
        rows = per_token / used * experts.total * step.touched(model)
    if placement.expert_parallel:
        rows = rows * busiest_gpu(model, division.tensor, step.tokens)[0]
    dense, routed = engine_formats(model)
    layers = np.sum(mask, axis=-1)
    head_work = head * model.output_flops  # of a token
    if division.by_user:
        divided = users
    else:
        divided = 1 / division.tensor
    return EngineKernels(
        sequences=step.sequences * users * (group.at == 0),
        prompt=is_prompt(step),
        dense=dense,
        experts=routed,
        head_bytes=head * model.output,
        head_flops=head_work * tokens * users,
        head_used=head_work * sequences * users,
        activations=stream * layers,
        expert_activations=stream * (mask @ per_layer.expert_layers) * used,
        expert_rows=rows,
        attention_layers=mask @ (per_layer.kv_values > 0),
        latent_layers=mask @ per_layer.latent,
        indexed_layers=mask @ per_layer.indexed,
        products_per_layer=mask @ per_layer.products / np.maximum(layers, 1.0),
        state_flops=state_work(model, mask, step) * divided,
    )


KernelsOf = Callable[[GpuGroup, Placement, ForwardPass], Kernels]
"""Function that gives the kernels of one GPU of a group, for its layers in a step."""


FORMATS = ((12.0, "f16"), (6.0, "fp8"))
"""Format of kernels by the smallest number of bits per weight; below, a 4-bit format."""


@lru_cache(maxsize=512)
def engine_formats(model: Model) -> tuple[str, str]:
    """Formats of dense weights and of routed experts, for the choice of kernels."""
    experts = model.architecture.experts
    if experts:
        unused = experts.total / experts.used
    else:
        unused = 1.0
    dense = [group for group in LAYERED if group not in (Group.ROUTED_EXPERTS, Group.NORMS)]
    return _kernel(model, dense), _kernel(model, [Group.ROUTED_EXPERTS], unused)


def _kernel(model: Model, groups: Sequence[Group], stored: float = 1.0) -> str:
    """Format that kernels are chosen by, from the mean bits of a weight.

    The bits are bytes held over weights; a used weight is two FLOPs. `stored` is how many times as
    many weights are held as used.
    """
    size = sum(float(np.sum(model.bytes_per_layer[group])) for group in groups)
    weights = sum(float(np.sum(model.per_layer.flops[group] * stored)) / 2.0 for group in groups)
    bits = 8.0 * size / weights if weights else 16.0
    near = next((name for least, name in FORMATS if bits >= least), "")
    return near or FOUR_BITS.get(model.format, "int4")


FOUR_BITS = {"NVFP4": "nvfp4", "MXFP4": "mxfp4", "MXFP4-hf": "mxfp4"}
"""Kernels for formats of 4-bit floats; others unpack 4-bit integers as they multiply."""


def framework_kernels(group: GpuGroup, placement: Placement, step: ForwardPass) -> Kernels:
    """Kernels of engines without CUDA graphs, which compute as PyTorch does."""
    share = float(np.mean(group.layers)) / group.division.tensor
    if group.at == 0:
        sequences = step.sequences
    else:
        sequences = 0.0
    return kernels(group.model, sequences, unpacked_weights(group.model) * share)
