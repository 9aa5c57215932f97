"""llama.cpp, in both of its splits: whole layers on each processor, or a part of each on every GPU.

By default each processor reads the layers in its own memory.

The CPU computes the layers outside the GPU in place, token by token; for a prompt's micro-batches
of 32 tokens and more they are copied over the link and computed on the GPU. With `--n-cpu-moe N`
only the routed experts of the first N layers stay in RAM, with `--n-cpu-ffn N` only their dense
feed-forward (pull request 26622, August 2026). From a drive, the file is mapped and its
pages are read at page faults.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from advisor.catalog.constants import names_of
from advisor.cost_model.drafting import drafting_context
from advisor.cost_model.loads import STARTED, ForwardPass, micro_batches, step_load, token_step
from advisor.cost_model.placement import (
    Location,
    Placement,
    PlacementStrategy,
    Settings,
    all_of,
    capacity,
    gpu_numbers,
    gpu_shares,
    last_layers,
    layers_that_fit,
    over_gpus,
)
from advisor.cost_model.runtime import Runtime, variant
from advisor.cost_model.schedule import (
    REDUCES_PER_LAYER,
    Exchange,
    ExchangePath,
    Flow,
    Phases,
    Route,
    Schedule,
)
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.machine import Host, Machine, left_to_system
from advisor.model.architecture import Group
from advisor.model.model import Floats, Model
from advisor.runtimes.format_support import check_takes, loaded_format_of
from advisor.runtimes.llama_cpp.buffers import (
    as_built,
    compute_buffer,
    input_buffer,
    kv_cache_bytes,
    output_buffer,
    spread_cache,
)
from advisor.runtimes.llama_cpp.command import SETUP, VERSION, arguments, command, weights
from advisor.runtimes.llama_cpp.passes import COPY_TOKENS, schedule
from advisor.units import FLOAT, GIB, MIB, Array

FIT_MARGIN = 1024 * MIB
"""VRAM that `--fit` leaves free on each GPU by default (`-fitt 1024`, server README) [B]."""
CONTEXT = 400 * MIB  # VRAM of a CUDA context and its libraries on each GPU; assumed [B]
SPREADS = ("cuda", "rocm")
"""Backends whose flash attention reads a cache of 16 bits alone, from one source."""
LAZY = 4 * GIB
"""Size from which the rows of a table beside that of the tokens are read from the mapped file when
they are asked for (`--lazy-mode auto`, the default) [B]."""


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Placement with the last layers on the GPU, routed experts of the first layers in RAM, and the
    rest by strategy.
    """
    check_takes("llama.cpp", machine, strategy, model, work, settings)
    cache = kv_cache_bytes(model, work)
    settings = settings.in_layers(model.layers)
    if strategy is PlacementStrategy.GPU_RESIDENT:
        settings = replace(settings, gpu_layers=float(model.layers), cpu_moe=0.0, cpu_ffn=None)
    if settings.expert_cache is not None:
        settings = replace(settings, expert_cache=_expert_cache(model, machine, strategy, settings))
    computing = compute_buffer(model.architecture, work)
    on_gpus = partial(_on_gpus, model, machine, work, settings, cache, computing)
    division = on_gpus(*split(model, machine, work, settings, computing))
    if not settings.states_layers:
        division = _with_room(model, machine, division, on_gpus)
    placement = _placed(model, machine, work, settings, strategy, division)
    if strategy is not PlacementStrategy.NVME_OFFLOAD:
        return placement
    return replace(placement, page_cache=page_cache(model, placement, machine, work, settings))


class _OnGpus(NamedTuple):
    """Layers on the GPUs, and what each GPU needs for them; shares of shape (..., layers)."""

    gpu_layers: Array  # number of last layers on the GPUs
    cpu_moe: Array  # number of first layers with experts outside
    cpu_ffn: Array  # number of first layers with their dense feed-forward outside
    layers: Floats  # shares of the layers on any GPU
    group_shares: dict[Group, Floats]  # shares of groups of which first layers are outside
    cached: Floats  # shares of the cache on any GPU
    cache: Floats  # cache of one user, per layer [B]
    head: Array  # 1 where the output head is on the last GPU, else 0
    outside: Array  # 1 where a part of the model is computed outside the GPUs, else 0
    parts: Sequence[Floats]  # shares of the layers on each GPU
    layer_bytes: Floats  # bytes of each layer on its GPU, with its cache [B]
    computing: Array  # compute buffer [B]
    working: Array  # buffers of each GPU [B]
    after_layers: Array  # bytes on the last GPU beside its layers [B]

    def needed(self) -> list[Array]:
        """Memory that each GPU needs [B]."""
        needed = [np.vecdot(part, self.layer_bytes) + self.working for part in self.parts]
        needed[-1] = needed[-1] + self.after_layers
        return needed


def _on_gpus(
    model: Model,
    machine: Machine,
    work: Workload,
    settings: Settings,
    cache: Floats,
    computing: Array,
    gpu_layers: Array,
    cpu_moe: Array,
) -> _OnGpus:
    """Layers on the GPUs by their number, with the routed experts of the first `cpu_moe` layers
    outside.
    """
    on_gpu = last_layers(model, gpu_layers)
    group_shares = {Group.ROUTED_EXPERTS: on_gpu * last_layers(model, model.layers - cpu_moe)}
    cpu_ffn = np.zeros(())
    if settings.cpu_ffn is not None:
        cpu_ffn = np.clip(np.asarray(settings.cpu_ffn, dtype=float), 0, model.layers)
        group_shares[Group.DENSE_FFN] = on_gpu * last_layers(model, model.layers - cpu_ffn)
    cached = on_gpu * (not settings.kv_in_ram)
    least = 1.0 if settings.head_first else float(model.layers)
    head_on_gpu = (np.asarray(gpu_layers) >= least) & bool(machine.gpus)
    head = np.where(head_on_gpu, 1.0, 0.0)
    outside = np.where((gpu_layers < model.layers) | (cpu_moe + cpu_ffn > 0), 1.0, 0.0)
    after_layers = head * model.output + _further_bytes(model, work)
    layer_bytes: Floats = np.zeros(model.layers)
    working: Array = 0.0
    parts: Sequence[Floats] = ()
    if machine.gpus:
        cached_bytes = cached * cache * np.asarray(work.users, float)[..., None]
        layer_bytes = _weights_with(model, group_shares) + cached_bytes
        working = gpu_buffer(model, machine, work, outside, computing)
        if settings.expert_cache is not None:
            working = working + np.asarray(settings.expert_cache) / machine.gpu_count
        parts = over_gpus(machine, on_gpu, layer_bytes, after_layers)
    return _OnGpus(
        gpu_layers=gpu_layers,
        cpu_moe=cpu_moe,
        cpu_ffn=cpu_ffn,
        layers=on_gpu,
        group_shares=group_shares,
        cached=cached,
        cache=cache,
        head=head,
        outside=outside,
        parts=parts,
        layer_bytes=layer_bytes,
        computing=computing,
        working=working,
        after_layers=after_layers,
    )


def _with_room(
    model: Model, machine: Machine, division: _OnGpus, again: Callable[[Array, Array], _OnGpus]
) -> _OnGpus:
    """Layers on the GPUs with which each of several GPUs has room for its whole layers.

    Layers divide the memory of GPUs unevenly: as long as one GPU lacks room, the experts of one
    more layer go to RAM, or one more layer of a model without experts.

    `again` divides the layers by the numbers of them on the GPUs and with experts in RAM.
    """
    room = [capacity(machine, Location.vram(device)) for device in range(len(machine.gpus))]
    for _ in range(model.layers if len(room) > 1 else 0):
        beyond = [need > size for need, size in zip(division.needed(), room, strict=True)]
        crowded = np.any(np.broadcast_arrays(*beyond), axis=0)
        if not np.any(crowded):
            break
        with_experts = model.layers - np.asarray(division.cpu_moe) if model.has_experts else 0.0
        experts = crowded & (with_experts > 0)
        fewer = division.gpu_layers - np.where(crowded & ~experts, 1.0, 0.0)
        division = again(np.maximum(fewer, 0.0), division.cpu_moe + np.where(experts, 1.0, 0.0))
    return division


def _placed(
    model: Model,
    machine: Machine,
    work: Workload,
    settings: Settings,
    strategy: PlacementStrategy,
    division: _OnGpus,
) -> Placement:
    """Placement of layers that are divided among the GPUs, with all others by strategy."""
    rest = Location.DISK if strategy is PlacementStrategy.NVME_OFFLOAD else Location.RAM
    in_rest = {group: 1.0 - share for group, share in division.group_shares.items()}
    weights: dict[Location, dict[Group, Floats]] = {rest: all_of(1.0 - division.layers) | in_rest}
    kv: dict[Location, Floats] = {Location.RAM: 1.0 - division.cached}
    output: dict[Location, Array] = {rest: 1.0 - division.head}
    # in RAM a micro-batch where layers are computed there, else its inputs
    feeding = np.where(division.outside, division.computing, input_buffer(model.architecture, work))
    buffers: dict[Location, Array] = {
        Location.RAM: feeding + output_buffer(model.architecture, work)
    }
    for device, part in enumerate(division.parts):
        card = Location.vram(device)
        in_part = {group: share * (part > 0) for group, share in division.group_shares.items()}
        weights[card] = {**all_of(part), **in_part}
        kv[card] = division.cached * (part > 0)
        buffers[card] = division.working
    for place, share in _last_memory(machine).items():
        buffers[place] = buffers[place] + share * _further_bytes(model, work)
        if machine.gpus:
            output[place] = share * division.head
    return Placement(
        strategy=strategy,
        gpu_layers=division.gpu_layers,
        cpu_moe=division.cpu_moe,
        cpu_ffn=division.cpu_ffn,
        weights=weights,
        kv=kv,
        embedding=rest,
        embedding_shares=_tables(model, rest, settings),
        output=output,
        buffers=buffers,
        cache=division.cache,
        load_mode=settings.load_mode,
        expert_cache=0.0 if settings.expert_cache is None else settings.expert_cache,
    )


def _weights_with(model: Model, shares: Mapping[Group, Floats]) -> Floats:
    """Weights of each layer with a share of some groups and all of the others, shape (..., layers)
    [B].
    """
    layers = model.layer_bytes
    for group, share in shares.items():
        layers = layers - (1.0 - share) * model.bytes_per_layer[group]
    return layers


def _tables(model: Model, rest: Location, settings: Settings) -> dict[Location, Array]:
    """Shares of the token tables by location, where some stay in the mapped file (`--lazy-mode
    auto`).

    It is empty where none stays there.
    """
    lazy = np.where(model.tables > LAZY, model.tables_share, 0.0)
    if rest is Location.DISK or not Settings.LOAD_MODES[settings.load_mode] or not np.any(lazy):
        return {}
    return {rest: 1.0 - lazy, Location.DISK: lazy}


def _expert_cache(
    model: Model, machine: Machine, strategy: PlacementStrategy, settings: Settings
) -> Array | None:
    """VRAM for cached experts, at most the size of all; None where no experts stay in RAM [B]."""
    if strategy is PlacementStrategy.GPU_RESIDENT or not np.any(settings.expert_cache):
        return None
    if not model.has_experts or not machine.gpus:
        raise Refusal("A cache of experts needs a GPU, and a model with experts; leave it out.")
    if strategy is PlacementStrategy.NVME_OFFLOAD:
        raise Refusal("A cache of experts in the GPU is filled from RAM; leave it out.")
    experts = np.sum(model.bytes_per_layer[Group.ROUTED_EXPERTS], axis=-1)
    return np.asarray(np.minimum(np.asarray(settings.expert_cache, dtype=float), experts))


def _last_memory(machine: Machine) -> dict[Location, Array]:
    """Memory of the last GPU with the share 1; RAM for a machine without a GPU.

    With several numbers of GPUs, each number has 1 for its last GPU and 0 for the others.
    """
    if machine.counts is not None:
        return {
            Location.vram(0): np.asarray(gpu_numbers(machine) == machine.counts - 1, dtype=float)
        }
    return {Location.vram(len(machine.gpus) - 1) if machine.gpus else Location.RAM: 1.0}


def page_cache(
    model: Model, placement: Placement, machine: Machine, work: Workload, settings: Settings
) -> Array:
    """RAM for cached pages of the model file [B].

    It is the stated size where there is one. It is all free RAM where this is too small for the
    part on the drive, and 0 where it is large enough, to show the speed of the drive alone. Unified
    memory that the first machine's GPUs use is not free; beside layers on them RAM holds only pages
    of the file, which get all that is free.
    """
    if settings.page_cache is not None:
        return settings.page_cache
    used: Array = placement.needed_bytes(model, Location.RAM, work)
    first = len(machine.gpus) // machine.nodes
    for at in range(first if machine.unified else 0):
        used = used + placement.needed_bytes(model, Location.vram(at), work)
    system: Array = Host.SYSTEM_RAM
    if machine.unified:
        system = left_to_system(machine.host.memory.value, machine.gpus[0].memory.value)
    free = machine.host.memory.value - system - used
    file_bytes = placement.weight_bytes(model, Location.DISK)
    beside = np.asarray(placement.gpu_layers) > 0 if machine.one_pool else False
    return np.where((free >= file_bytes) & ~np.asarray(beside), 0.0, np.maximum(free, 0.0))


def split(
    model: Model, machine: Machine, work: Workload, settings: Settings, computing: Array
) -> tuple[Array, Array]:
    """Number of layers on the GPU, and of layers whose experts stay in RAM: as stated, or as many
    as fit.

    Dense parts and the cache are placed first, since each token reads them; experts fill the rest.
    A model that would fit whole gets no GPU layers, to show offloading of everything. `computing`
    is the compute buffer [B].
    """
    count = float(model.layers)
    if not machine.gpus:
        return np.zeros(()), np.asarray(count if model.has_experts else 0.0)
    if settings.states_layers:
        layers = count if settings.gpu_layers is None else np.asarray(settings.gpu_layers, float)
        moe = 0.0 if settings.cpu_moe is None else np.asarray(settings.cpu_moe, float)
        return np.clip(layers, 0, count), np.clip(moe, 0, count)
    cache = kv_cache_bytes(model, work) * np.asarray(work.users, float)[..., None]
    dense = model.layer_bytes - model.bytes_per_layer[Group.ROUTED_EXPERTS]
    dense = dense + cache * (not settings.kv_in_ram)
    budget = gpu_budget(model, machine, work, computing) - model.output
    cached = 0.0 if settings.expert_cache is None else np.asarray(settings.expert_cache)
    budget = np.maximum(budget - cached, 0.0)
    layers = np.asarray(layers_that_fit(dense, budget))
    left = budget - np.sum(last_layers(model, layers) * dense, -1)
    experts = np.broadcast_to(
        model.bytes_per_layer[Group.ROUTED_EXPERTS], (*layers.shape, model.layers)
    )
    with_experts = np.where(layers >= count, layers_that_fit(experts, left), 0.0)
    moe = count - with_experts if model.has_experts else np.zeros_like(layers)
    all_fit = (layers >= count) & (moe <= 0)
    return (
        np.where(all_fit, 0.0, layers),
        np.where(all_fit, count if model.has_experts else 0.0, moe),
    )


def gpu_budget(
    model: Model, machine: Machine, work: Workload, computing: Array | None = None
) -> Array:
    """VRAM of all GPUs for weights and cache, after buffers, a margin and the drafting model [B].

    `computing` is the size of the buffers where it is known. Each further GPU leaves half a layer
    unused on average.
    """
    if computing is None:
        computing = compute_buffer(model.architecture, work)
    reserved = FIT_MARGIN + gpu_buffer(model, machine, work, 1.0, computing)
    total = sum((gpu.memory.value - reserved for gpu in machine.gpus), start=np.zeros(()))
    total = total - _further_bytes(model, work)
    edges = (len(machine.gpus) - 1) * np.mean(model.layer_bytes, axis=-1)
    return np.asarray(np.maximum(total - edges, 0.0))


def most_whole_layers(model: Model, machine: Machine, work: Workload) -> Array:
    """Number of whole layers that fit beside their cache, without regard to the output head."""
    cache = kv_cache_bytes(model, work) * np.asarray(work.users, float)[..., None]
    return layers_that_fit(model.layer_bytes + cache, gpu_budget(model, machine, work))


def whole_layers(model: Model, machine: Machine, work: Workload) -> Array:
    """Number of whole layers that fit; 0 where all layers would fit, to show offloading."""
    cache = kv_cache_bytes(model, work) * np.asarray(work.users, float)[..., None]
    budget = gpu_budget(model, machine, work) - model.output
    layers = layers_that_fit(model.layer_bytes + cache, budget)
    return np.where(layers >= model.layers, 0.0, layers)


def _further_bytes(model: Model, work: Workload) -> Array:
    """Memory of what a server loads beside a model: its drafter, its encoder of images [B]."""
    return drafting_context(model, work) + work.encoder_bytes(model)


def gpu_buffer(
    model: Model, machine: Machine, work: Workload, outside: Array, computing: Array
) -> Array:
    """VRAM for computing, and for the copies of weights in RAM that prompts need [B].

    `outside` is 1 where some weights are in RAM, and 0 where none are.

    Two of the largest matrices are copied at a time: a published log has 42 MB of buffer for a
    micro-batch of 16 tokens and 7 GB from 32 on, about two expert matrices of that model.
    """
    copied = np.where(np.asarray(work.ubatch) >= COPY_TOKENS, 2.0 * _largest_matrix(model), 0.0)
    # of several kinds of cards at once it is taken of all, since their plans are shared
    spreads = any(backend in SPREADS for backend in names_of(machine.interfaces))
    spread = spread_cache(model, work) * spreads
    return CONTEXT + computing + spread + outside * copied


@lru_cache(maxsize=16)
def _largest_matrix(model: Model) -> Array:
    """Largest matrix of any layer [B]."""
    matrices = ((Group.ROUTED_EXPERTS, 3), (Group.DENSE_FFN, 3), (Group.ATTENTION, 4))
    sizes = [np.max(model.bytes_per_layer[group], axis=-1) / count for group, count in matrices]
    return np.asarray(np.maximum.reduce(sizes))


def place_of_own(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Placement of llama.cpp itself, without what its forks alone have."""
    check_takes("llama.cpp itself", machine, strategy, model, work)
    return place(model, machine, work, strategy, settings)


LLAMA_CPP = Runtime(
    name="llama.cpp",
    key="llama.cpp",
    engine="llama.cpp",
    version=VERSION,
    strategies=tuple(PlacementStrategy),
    loaded_format=loaded_format_of("llama.cpp"),
    place=place_of_own,
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
    as_built=as_built,
)


# `-sm tensor`: every GPU has a part of each layer, and all compute at once.
#
# Memory adds up as with the usual split by layers, and speed adds up too, less two all-reduces in
# each layer. It is experimental: it needs flash attention, has no `--fit`, and does not run every
# architecture. `-sm row`, its predecessor, divides dense weights only and is deprecated
# (docs/multi-gpu.md at 5815cb84, of 2026; quantized caches since pull request 23792, June 2026, of
# which q4_1, iq4_nl, q5_0 and q5_1 are still not supported).

UNFITTED = 0.4
"""Additional half width of its ranges, as the logarithm of a factor: no constant is fitted to it.
In one published run two cards gain 1.4 times, in an early one four lost (llama.cpp, pull requests
23225 and 19378, 2026)."""


def place_divided(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Placement with all layers in the GPUs, divided evenly among equal cards and by memory among
    unequal ones.
    """
    check_takes("-sm tensor", machine, strategy, model, work)
    return divided(model, machine, place(model, machine, work, strategy, settings))


def divided(model: Model, machine: Machine, whole: Placement) -> Placement:
    """Placement with a part of each layer on every GPU, made of one with whole layers."""
    shares = dict(
        zip(map(Location.vram, range(len(machine.gpus))), gpu_shares(machine), strict=True)
    )
    layers = {
        at: np.asarray(share)[..., np.newaxis] * np.ones(model.layers)
        for at, share in shares.items()
    }
    return replace(
        whole,
        weights={**whole.weights, **{at: all_of(share) for at, share in layers.items()}},
        kv={**whole.kv, **layers},
        output={**whole.output, **{at: np.asarray(share) for at, share in shares.items()}},
    )


def schedule_divided(
    model: Model, placement: Placement, machine: Machine, work: Workload
) -> Phases:
    """Schedule with all GPUs in parallel, in llama.cpp's micro-batches."""
    return Phases(
        of_prompt=lambda: _divided_pass(model, placement, machine, *micro_batches(work)[:2]),
        of_token=lambda: _divided_pass(model, placement, machine, token_step(work), 1.0),
    )


def _divided_pass(
    model: Model, placement: Placement, machine: Machine, step: ForwardPass, repeats: Array
) -> Schedule:
    flows = []
    for device, share in enumerate(gpu_shares(machine)):
        load = step_load(model, placement, Location.vram(device), step)
        started: Any = {name: getattr(load, name) / share for name in STARTED}  # heads are divided
        flows.append(Flow(route=Route.RESIDENT, load=replace(load, **started), device=device))
    vector = FLOAT * model.architecture.hidden * np.asarray(step.tokens, dtype=float)
    count = len(flows)
    ring = Exchange(
        way=ExchangePath.PEER if machine.nodes == 1 else ExchangePath.NETWORK,
        times=REDUCES_PER_LAYER * model.layers,
        moved=2.0 * (count - 1) / count * vector,
        reduces=True,
        gpus=count,
    )
    return Schedule(stages=(tuple(flows),), repeats=repeats, exchanges=(ring,))


def command_divided(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Command line of llama-server with divided layers."""
    shares = [float(np.ravel(part)[0]) for part in gpu_shares(machine)]
    divided = "-sm tensor"
    if len(set(shares)) > 1:
        divided += f" -ts {','.join(f'{100 * share:.0f}' for share in shares)}"
    if work.kv_type == "f16":
        divided += " -fa on"
    options = (
        divided if option.startswith("-sm layer ") else option
        for option in arguments(model, placement, machine, work)
    )
    return " ".join([f"llama-server {weights(model, images=bool(work.images))}", *options])


LLAMA_CPP_TENSOR = variant(
    LLAMA_CPP,
    name="llama.cpp -sm tensor",
    strategies=(PlacementStrategy.GPU_RESIDENT,),
    takes_layers=False,
    extra_uncertainty=UNFITTED,
    place=place_divided,
    schedule=schedule_divided,
    command=command_divided,
    drafts=True,
)
