"""Transformers with Accelerate: 16 bits, one module after another, without overlap.

Hooks move each module's weights from pageable memory, or from a file through it, to the GPU just
before its forward pass and drop them after (Accelerate's guide to big model inference, 2026-07-24:
no prefetching yet). So the times of all routes add. Several GPUs hold the layers in turn, and one
of them works at a time. The output head is the last block and lies outside with the last layers,
unless it is tied to the token table.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from advisor.cost_model.loads import ForwardPass, step_load
from advisor.cost_model.placement import (
    Location,
    Placement,
    PlacementStrategy,
    Settings,
    Tier,
    all_of,
    over_gpus,
)
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Flow, Phases, Route, Schedule, Transfer
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Host, Machine
from advisor.model import catalog
from advisor.model.model import Floats, Model
from advisor.runtimes import weight_streaming as streaming
from advisor.runtimes.format_support import check_takes, loaded_format_of
from advisor.units import MIB, Array

# Placement of a Transformers model by `device_map="auto"`: its blocks are placed in their order,
# token table first, head last: the GPUs are filled, then RAM, then the drive, without going back.
# The first GPU and RAM keep room for the largest later block, which will pass through them
# (`infer_auto_device_map` of accelerate 1.15, utils/modeling.py, and of transformers 5.23,
# integrations/accelerate.py). A tied head needs no room beyond its table. Below, sizes of blocks
# have the shape (blocks,) [B], limits [B] and indices of blocks the shape (...).

TABLE = "table"
NORM = "norm"
HEAD = "head"
"""Names of the blocks before and after the layers; layers are named by their number."""
SIXTEEN_BITS = 2.0  # size of a weight of the final norm [B]


@lru_cache(maxsize=64)
def blocks(model: Model) -> Mapping[str, float]:
    """Sizes of the token table, the layers, the final norm and the untied head, by name, in their
    order [B].
    """
    norm = sum(
        SIXTEEN_BITS * tensor.params
        for tensor in model.architecture.tensors
        if tensor.role.startswith("output_norm")
    )
    layers = {str(index): float(size) for index, size in enumerate(model.layer_bytes)}
    if model.tied_copy:
        head = {}
    else:
        head = {HEAD: model.output - norm}
    return {TABLE: model.embedding, **layers, NORM: norm, **head}


def block_sizes(model: Model) -> Floats:
    """Sizes of the blocks, shape (blocks,) [B]."""
    return np.fromiter(blocks(model).values(), dtype=float)


def device_map(model: Model, gpus: Sequence[float], ram: float) -> dict[str, int | str]:
    """Device of each block under limits for weights [B]: number of the GPU, "cpu" or "disk"."""
    names = tuple(blocks(model))
    devices: list[int | str] = [*range(len(gpus)), "cpu", "disk"]
    edges = [0, *map(int, filled(model, gpus, ram)), len(names)]
    placed: dict[str, int | str] = {}
    for device, (start, end) in zip(devices, pairwise(edges), strict=True):
        placed |= dict.fromkeys(names[start:end], device)
    if model.tied_copy:
        placed[HEAD] = placed[TABLE]
    return placed


def filled(model: Model, gpus: Sequence[Array], ram: Array) -> list[Floats]:
    """Index of the first block after each device: after each GPU, and after RAM, under limits for
    weights [B].

    Of several GPUs, all but the last get at most an equal part and 1.25 blocks; those with a limit
    of 0 do not count (transformers 5.23, integrations/accelerate.py, `get_balanced_memory`).
    """
    sizes = block_sizes(model)
    count = sum((np.asarray(limit) > 0 for limit in gpus), start=np.zeros(()))
    even = sizes.sum() // np.maximum(count, 1.0) + int(1.25 * sizes.max())
    limits = [*(np.minimum(limit, even) for limit in gpus[:-1]), *gpus[-1:], ram]
    ends: list[Floats] = [np.zeros(())]
    for device, limit in enumerate(limits):
        keeps_room = device in (0, len(gpus))
        ends.append(blocks_that_fit(sizes, limit, start=ends[-1], keeps_room=keeps_room))
    return ends[1:]


def blocks_that_fit(sizes: Floats, limit: Array, *, start: Array = 0.0, keeps_room: bool) -> Floats:
    """Index of the first block that no longer fits a device.

    The blocks of the device begin at `start`. With `keeps_room` it keeps room for the largest later
    block, which passes through it.
    """
    first = np.asarray(start, dtype=float)
    needed = room_needed(sizes, start=first, keeps_room=keeps_room)
    before = np.arange(len(sizes)) < first[..., None]
    fits = before | (needed <= np.asarray(limit, dtype=float)[..., None])
    return np.asarray(np.sum(np.cumprod(fits, axis=-1), axis=-1), dtype=float)


def room_needed(sizes: Floats, *, start: Array = 0.0, keeps_room: bool) -> Floats:
    """Room for all blocks from `start` to each block, that block included, shape (..., blocks)
    [B].
    """
    totals = np.append(0.0, np.cumsum(sizes))
    following = np.append(np.maximum.accumulate(sizes[::-1])[::-1][1:], 0.0)
    behind = totals[np.asarray(start, dtype=int)]
    return np.asarray(totals[1:] - behind[..., None] + following * keeps_room)


MEMORY_USED = 0.90  # share of free VRAM that `device_map="auto"` fills (accelerate, get_max_memory)


Parts = Mapping[Location, Floats]
"""Share of each block at each location, GPUs first, shape (..., blocks)."""


def place(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Placement:
    """Placement by `device_map="auto"` under the command's limits."""
    check_takes("accelerate", machine, strategy, model, work)
    limits = memory_limits(model, machine, work, strategy)
    parts = mapped(model, limits)
    stated = (settings.gpu_layers, settings.disk_layers) != (None, None)
    if stated and strategy is not PlacementStrategy.GPU_RESIDENT:
        parts = as_published(model, machine, settings, parts)
        limits = {}
    layers = {place: layer_shares(model, share) for place, share in parts.items()}
    gpus = on_gpus(parts)
    gpu_share = sum((layers[place] for place in gpus), start=np.zeros(()))
    outside = parts[Location.RAM] + parts[Location.DISK] > 0
    through = np.max(np.where(outside, block_sizes(model), 0.0), axis=-1)
    locations = [place for place, share in layers.items() if place in gpus or np.any(parts[place])]
    first = gpus[0]  # it has the embedding, the cache of layers elsewhere, and their workspace
    buffers: dict[Location, Array] = {}
    for place, gpu in zip(gpus, machine.gpus, strict=True):
        reserved = gpu.memory.value * (1 - MEMORY_USED) + streaming.ACTIVATIONS
        buffers[place] = reserved + through * (place == first)
    cache = {place: layers[place] + (1.0 - gpu_share) * (place == first) for place in gpus}
    head = 0 if model.tied_copy else -1  # block with the weights of the output head
    return Placement(
        strategy=strategy,
        gpu_layers=np.asarray(np.sum(gpu_share, axis=-1)),
        weights={place: all_of(layers[place]) for place in locations},
        kv=cache,
        embedding=first,
        output={place: parts[place][..., head] for place in locations},
        buffers=buffers,
        limits=limits,
    )


def mapped(model: Model, limits: Mapping[Location, Array]) -> Parts:
    """Placement by `device_map="auto"` under limits; a tied head is placed with its table."""
    *gpus, ram = limits.values()
    number = np.arange(len(blocks(model)))
    edges = [np.zeros(()), *filled(model, gpus, ram), np.asarray(float(len(number)))]
    return {
        place: ((number >= start[..., None]) & (number < end[..., None])).astype(float)
        for place, (start, end) in zip((*limits, Location.DISK), pairwise(edges), strict=True)
    }


def memory_limits(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy
) -> dict[Location, Array]:
    """Weight limits of each GPU and of RAM for `max_memory`, in whole MiB [B].

    Where the GPUs could hold the whole model, or RAM the rest, their limit is 0, so that the result
    shows offloading of everything. The first GPU always has room for the token table, or no GPU
    would compute.
    """
    sizes = block_sizes(model)
    table = up(room_needed(sizes, keeps_room=True)[0])
    gpus = rooms(model, machine, work, strategy)
    gpus[0] = np.maximum(gpus[0], table)
    if strategy is PlacementStrategy.GPU_RESIDENT:
        gpus[-1] = np.maximum(gpus[-1], up(sizes.sum()))
    else:
        outside = filled(model, gpus, 0.0)[-2] < len(sizes)
        gpus = [np.where(outside, gpus[0], table), *(room * outside for room in gpus[1:])]
    beyond = filled(model, gpus, 0.0)[-2].astype(int)
    rest = up(sizes.sum() - np.append(0.0, np.cumsum(sizes))[beyond])
    ram = down(machine.host.memory.value * MEMORY_USED - Host.SYSTEM_RAM)
    drive = strategy is PlacementStrategy.NVME_OFFLOAD
    if drive:
        cpu = np.where(rest <= ram, 0.0, ram)
    else:
        cpu = np.maximum(ram, rest)
    return {**dict(zip(map(Location.vram, range(len(gpus))), gpus, strict=True)), Location.RAM: cpu}


def rooms(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy
) -> list[Floats]:
    """VRAM of each GPU for weights, after its workspace and its part of the KV cache [B].

    The first one holds the cache of the layers outside too, of all as their number is not known.
    """
    free = [gpu.memory.value * MEMORY_USED - streaming.ACTIVATIONS for gpu in machine.gpus]
    cache = model.kv_bytes(work.context, work.kv_type) * np.asarray(work.users, float)[..., None]
    resident = strategy is PlacementStrategy.GPU_RESIDENT
    trial = {Location.vram(at): room for at, room in enumerate(free)}
    if resident:
        trial[Location.vram(len(free) - 1)] = np.asarray(np.inf)
    parts = mapped(model, {**trial, Location.RAM: np.zeros(())})
    cached = [np.sum(cache * layer_shares(model, parts[place]), axis=-1) for place in trial]
    if not resident:
        cached[0] = np.sum(cache, axis=-1)
    return [down(room - beside) for room, beside in zip(free, cached, strict=True)]


def down(size: Array) -> Floats:
    """Size rounded down to whole MiB, at least 0 [B]."""
    return np.asarray(np.maximum(np.floor(np.asarray(size) / MIB), 0.0) * MIB)


def up(size: Array) -> Floats:
    """Size rounded up to whole MiB [B]."""
    return np.asarray(np.ceil(np.asarray(size) / MIB) * MIB)


def layer_shares(model: Model, share: Floats) -> Floats:
    """Shares of the repeating layers among those of all blocks, shape (..., layers)."""
    return share[..., 1 : 1 + model.layers]


def on_gpus(places: Iterable[Location]) -> list[Location]:
    """GPUs among some locations."""
    return [place for place in places if place.tier is Tier.VRAM]


def as_published(model: Model, machine: Machine, settings: Settings, parts: Parts) -> Parts:
    """Placement with the shares that a published run states, fractions of layers included."""
    layers = {place: layer_shares(model, share) for place, share in parts.items()}
    gpu_share = sum((layers[place] for place in on_gpus(parts)), start=np.zeros(()))
    if settings.gpu_layers is not None:
        gpu_share = streaming.first_layers(model, settings.gpu_layers)
    disk = np.minimum(layers[Location.DISK], 1.0 - gpu_share)
    if settings.disk_layers is not None:
        before = model.layers - np.asarray(settings.disk_layers, dtype=float)
        disk = np.minimum(1.0 - streaming.first_layers(model, before), 1.0 - gpu_share)
    stated = dict(zip(on_gpus(parts), over_gpus(machine, gpu_share), strict=True))
    stated |= {Location.RAM: 1.0 - gpu_share - disk, Location.DISK: disk}
    ends = len(blocks(model)) - 1 - model.layers

    def with_ends(place: Location, share: Floats) -> Floats:
        table = np.full_like(share[..., :1], float(place == Location.vram(0)))
        return np.concatenate((table, share, *[share[..., -1:]] * ends), axis=-1)

    return {place: with_ends(place, share) for place, share in stated.items()}


def schedule(model: Model, placement: Placement, machine: Machine, work: Workload) -> Phases:
    """Schedule of one pass for the prompt and one for each token: copies, then computing."""

    def computed(step: ForwardPass, location: Location, device: int) -> Flow:
        load = step_load(model, placement, location, step)
        if location == Location.vram(0):
            sequences = step.sequences
        else:
            sequences = 0.0
        batch = streaming.kernels(
            model, sequences, streaming.unpacked_weights(model) * load.layers / model.layers
        )
        return Flow(route=Route.RESIDENT, load=load, device=device, kernels=batch)

    def copied(location: Location) -> Flow:
        if location == Location.DISK:
            route = Route.STAGED
        else:
            route = Route.STREAMED
        moved = streaming.moved_weights(model, placement, location)
        return Flow(route=route, moved=moved, transfer=Transfer.PAGEABLE)

    def one_pass(step: ForwardPass) -> Schedule:
        flows = [computed(step, place, place.device) for place in on_gpus(placement.locations)]
        for place in streaming.outside_gpus(placement):
            flows += [copied(place), computed(step, place, 0)]
        return Schedule(stages=tuple((flow,) for flow in flows))

    return streaming.phases_of(one_pass, work)


SNIPPET = """from transformers import AutoModelForCausalLM, AutoTokenizer
name = {name}
model = AutoModelForCausalLM.from_pretrained(
    name, dtype="bfloat16", device_map="auto",
    max_memory={{{limits}}}, offload_folder="offload",
)
tokenizer = AutoTokenizer.from_pretrained(name)
prompt = tokenizer("Paris is the capital city of", return_tensors="pt").to(model.device)
print(tokenizer.decode(model.generate(**prompt, max_new_tokens={output})[0]))"""


def command(model: Model, placement: Placement, machine: Machine, work: Workload) -> str:
    """Python code that runs the placement."""
    limits = placement.limits or {
        place: placement.weight_bytes(model, place)
        for place in (*on_gpus(placement.weights), Location.RAM)
    }
    apple = machine.gpus[0].vendor == "Apple"
    keys = {place: '"mps"' if apple else str(place.device) for place in limits} | {
        Location.RAM: '"cpu"'
    }
    sizes = (f'{keys[place]}: "{int(up(size) / MIB)}MiB"' for place, size in limits.items())
    return SNIPPET.format(
        name=repr(catalog.repository(model.published_as)),
        limits=", ".join(sizes),
        output=int(work.output),
    )


ACCELERATE = Runtime(
    name="Accelerate",
    key="accelerate",
    engine="accelerate",
    version="transformers 5.23 with accelerate 1.15",
    strategies=tuple(PlacementStrategy),
    loaded_format=loaded_format_of("accelerate", why="loading unpacks"),
    place=place,
    schedule=schedule,
    command=command,
)
