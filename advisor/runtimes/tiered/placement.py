"""Placement of an engine with experts in tiers.

Dense parts and a cache of experts are in VRAM, the next experts in RAM, the rest on the drive.

    cache = VRAM - context of each GPU - fixed parts - dense weights - head - KV cache

A table of n-grams stays on the drive: a token reads one row of it. Several GPUs divide the layers,
each with the same share of its layers' experts.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from advisor.cost_model.placement import (
    Location,
    Placement,
    PlacementStrategy,
    Settings,
    all_of,
    over_gpus,
)
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.backends import OperatingSystem
from advisor.machine.machine import Machine, left_to_system
from advisor.model.architecture import Group
from advisor.model.model import Floats, Model
from advisor.runtimes.tiered.engines import RamTier, TieredEngine
from advisor.units import GIB, Array

CONTEXT = 0.5 * GIB  # VRAM of a driver's context and libraries on each GPU; assumed [B]
AS_SOLD = 0.95  # least memory by CUDA or a driver, of that as sold (RTX 3090: 23.56 of 24 GiB)
SPARE = 2.0**20  # memory that stays free, so that rounding fills none beyond its size [B]


@dataclass(frozen=True, kw_only=True)
class TierShares:
    """Shares of the experts and of the KV cache in VRAM and in RAM."""

    vram: Array  # experts in VRAM, 0 to 1
    ram: Array  # experts in RAM, 0 to 1
    dense: Array  # dense weights in RAM on a machine without GPUs, 0 to 1
    cache: Floats  # KV cache of each layer for one user, shape (..., layers) [B]
    near: Floats  # share of it in VRAM, shape (..., layers)
    users: Array  # users at once


def place(
    engine: TieredEngine,
    model: Model,
    machine: Machine,
    work: Workload,
    strategy: PlacementStrategy,
    settings: Settings,
) -> Placement:
    """Placement by an engine; raises Refusal for what it does not run."""
    check(engine, model, machine, work, strategy)
    request = in_cache_format(engine, work)
    cache = model.kv_bytes(request.context, request.kv_type)
    near = _near_share(engine, request, cache)
    room = _room_for_experts(engine, model, machine, np.sum(near * cache, axis=-1) * request.users)
    share = cached_share(engine, model, machine, strategy, settings.expert_cache, room)
    in_memory = in_ram(engine, model, machine, strategy, settings.page_cache, share)
    if settings.page_cache is None:
        cached_bytes = in_memory * model.expert_bytes
    else:
        cached_bytes = np.asarray(settings.page_cache, dtype=float)  # also where it serves nothing
    tiers = TierShares(
        vram=share,
        ram=in_memory,
        dense=_dense_in_ram(engine, model, machine, cached_bytes + np.sum(cache, axis=-1)),
        cache=cache,
        near=near,
        users=np.asarray(request.users, dtype=float),
    )
    return replace(_placed(engine, model, machine, strategy, tiers), tiers=settings.tiers)


def in_cache_format(engine: TieredEngine, work: Workload) -> Workload:
    """Request with the engine's format of the cache, unless a person chose another one than 16
    bits.
    """
    if work.kv_type != "f16":
        return work
    return work.with_numbers(kv_type=engine.kv_type)


def check(
    engine: TieredEngine,
    model: Model,
    machine: Machine,
    work: Workload,
    strategy: PlacementStrategy,
) -> None:
    """Check that an engine takes a model, a system, cards and a request; raises Refusal."""
    if not model.has_experts:
        raise Refusal(f"{engine.name} keeps experts in tiers, and {model.name} has none.")
    if not re.search(engine.models, model.name, re.IGNORECASE):
        raise Refusal(f"{engine.name} {engine.version} does not run {model.name}: {engine.source}.")
    if not engine.takes_system(machine.system):
        systems = " and ".join(map(_label, engine.systems.split(";")))
        raise Refusal(f"{engine.name} runs on {systems}.")
    if machine.nodes > 1:
        raise Refusal(f"{engine.name} runs on one machine.")
    if np.any(np.asarray(work.users) > 1) and not engine.parallel:
        raise Refusal(f"{engine.name} answers one user at a time here; lower the users to 1.")
    if len({*Model.cache_types(work.kv_type)}) > 1:
        raise Refusal(f"{engine.name} keeps keys and values in one type; choose one.")
    _check_gpus(engine, machine, strategy)
    if strategy is PlacementStrategy.CPU_OFFLOAD and engine.ram_tier == RamTier.NONE:
        raise Refusal(f"{engine.name} keeps no experts in RAM: it reads each miss from the drive.")


def _label(system: str) -> str:
    """Operating system in words; its capitalized name for one that no machine here can have
    (Android).
    """
    known = OperatingSystem.seen(system)
    if known is None:
        return system.capitalize()
    return known.label


def _check_gpus(engine: TieredEngine, machine: Machine, strategy: PlacementStrategy) -> None:
    if not machine.gpus and not engine.without_gpu:
        raise Refusal(f"{engine.name} needs a GPU.")
    foreign = [gpu.name for gpu in machine.gpus if not engine.takes_vendor(gpu.vendor)]
    if foreign and not engine.without_gpu:
        raise Refusal(f"{engine.name} does not run on {foreign[0]}.")
    small = AS_SOLD * engine.least_vram_gib * GIB
    if machine.gpus and np.all(np.asarray(machine.gpus[0].memory.value) < small):
        raise Refusal(
            f"{engine.name} starts with {engine.least_vram_gib:g} GB of VRAM, and "
            f"{machine.gpus[0].name} has less."
        )
    if strategy is not PlacementStrategy.GPU_RESIDENT:
        return
    if not machine.gpus:
        raise Refusal("There is no GPU that could hold the model.")
    if not engine.uses_gpus(machine):
        raise Refusal(f"{engine.name} computes on the processor alone here.")


def _near_share(engine: TieredEngine, work: Workload, cache: Floats) -> Floats:
    """Share of each layer's KV cache that stays in VRAM, shape (..., layers)."""
    if engine.kv_resident is None:
        return np.ones_like(cache)
    longer = np.asarray(work.context, dtype=float) >= 2.0 * engine.kv_resident
    share = np.where(longer, engine.kv_resident / np.maximum(work.context, 1.0), 1.0)
    return np.asarray(np.ones_like(cache) * np.asarray(share)[..., None])


def _room_for_experts(engine: TieredEngine, model: Model, machine: Machine, cache: Array) -> Array:
    """VRAM for experts, beside the KV cache and all fixed parts; in a memory that GPU and processor
    share also beside what the engine needs in RAM [B].
    """
    room = sum((gpu.memory.value - CONTEXT for gpu in machine.gpus), start=np.zeros(()))
    if machine.unified:
        memory = machine.host.memory.value
        system_bytes = left_to_system(memory, machine.gpus[0].memory.value)
        shared = memory - system_bytes - _fixed_in_ram(engine, model, machine)
        room = np.minimum(room, shared - CONTEXT)
    return np.asarray(room - engine.fixed_vram - dense_bytes(model) - cache - SPARE)


def cached_share(
    engine: TieredEngine,
    model: Model,
    machine: Machine,
    strategy: PlacementStrategy,
    stated: Array | None,
    room: Array,
) -> Array:
    """Share of the experts that VRAM holds, 0 to 1: as stated, or as many as its room allows."""
    if not engine.uses_gpus(machine):
        return np.zeros(())
    if strategy is PlacementStrategy.GPU_RESIDENT:
        return np.ones(())
    cached_bytes = room if stated is None else np.asarray(stated, dtype=float)
    return np.asarray(np.clip(cached_bytes / model.expert_bytes, 0.0, 1.0))


def in_ram(
    engine: TieredEngine,
    model: Model,
    machine: Machine,
    strategy: PlacementStrategy,
    stated: Array | None,
    share: Array,
) -> Array:
    """Share of the experts that RAM holds, 0 to 1.

    With all in memory an engine keeps every expert there, or those that VRAM lacks. From the drive
    it keeps what a budget allows: as stated, or what is free where RAM is too small for the rest,
    and none where it is large enough, to show the drive alone.
    """
    rest = 1.0 - np.asarray(share)
    if strategy is PlacementStrategy.GPU_RESIDENT:
        return np.zeros(())
    room = ram_room(engine, model, machine)
    if strategy is PlacementStrategy.CPU_OFFLOAD:
        whole = (engine.ram_tier == RamTier.ALL) & (room >= 1.0)
        return np.asarray(np.where(whole, 1.0, rest))
    if engine.ram_tier == RamTier.NONE:
        return np.zeros(())
    if stated is not None:
        budget = np.asarray(stated, dtype=float) / model.expert_bytes
    else:
        budget = np.where(room >= rest, 0.0, room)
    most = 1.0 if engine.ram_tier == RamTier.COPY else rest
    return np.asarray(np.clip(budget, 0.0, most))


def ram_room(engine: TieredEngine, model: Model, machine: Machine) -> Array:
    """RAM for experts beside engine and system, as a share of the size of all experts.

    It is 0 in memory that GPU and processor share: the GPU's cache has all of it there.
    """
    if machine.unified and engine.uses_gpus(machine):
        return np.zeros(())
    fixed = _fixed_in_ram(engine, model, machine)
    if not engine.uses_gpus(machine):
        fixed = fixed + dense_bytes(model)
    free = np.maximum(engine.ram_share * machine.host.memory.value - fixed - SPARE, 0.0)
    return np.asarray(free / np.maximum(model.expert_bytes, 1.0))


def _fixed_in_ram(engine: TieredEngine, model: Model, machine: Machine) -> Array:
    """RAM of the engine and the system, and of the embedding [B]."""
    fixed = engine.fixed_ram(windows=machine.system == OperatingSystem.WINDOWS)
    return np.asarray(fixed + model.embedding * (1.0 - model.tables_share))


def _dense_in_ram(engine: TieredEngine, model: Model, machine: Machine, occupied: Array) -> Array:
    """Share of the layers' dense weights that RAM holds beside the caches, 0 to 1; all of them for
    engines that do not read them from the drive.
    """
    if not engine.streams_dense or engine.uses_gpus(machine):
        return np.ones(())
    fixed = _fixed_in_ram(engine, model, machine) + SPARE + model.output
    free = machine.host.memory.value - fixed - occupied
    return np.asarray(np.clip(free / (dense_bytes(model) - model.output), 0.0, 1.0))


def dense_bytes(model: Model) -> Array:
    """Weights that each token reads, beside the experts [B]."""
    return np.asarray(np.sum(model.layer_bytes, axis=-1) - model.expert_bytes + model.output)


def beyond_memory(engine: TieredEngine, share: Array, ram_share: Array) -> Array:
    """Share of the experts that lie on the drive alone, neither in VRAM nor in RAM."""
    if engine.ram_tier == RamTier.COPY:
        return np.asarray(1.0 - np.maximum(share, ram_share))
    return np.asarray(np.clip(1.0 - np.asarray(share) - ram_share, 0.0, 1.0))


def _room_beside(
    engine: TieredEngine,
    model: Model,
    machine: Machine,
    tiers: TierShares,
    device: int,
    part: Floats,
) -> Array:
    """VRAM of one GPU for experts of any layer, beside the other parts of its layers [B]."""
    other = model.layer_bytes - model.bytes_per_layer[Group.ROUTED_EXPERTS]
    occupied = np.sum(part * other, axis=-1) + CONTEXT
    occupied = occupied + np.sum(part * tiers.near * tiers.cache, axis=-1) * tiers.users
    if device == 0:
        occupied = occupied + engine.fixed_vram + model.output
    return np.asarray(np.maximum(machine.gpus[device].memory.value - occupied, 0.0))


def _placed(
    engine: TieredEngine,
    model: Model,
    machine: Machine,
    strategy: PlacementStrategy,
    tiers: TierShares,
) -> Placement:
    """Placement of the parts by their shares."""
    everything = np.ones((*np.shape(tiers.vram), model.layers))
    on_gpu = engine.uses_gpus(machine)
    in_ram_experts = np.asarray(tiers.ram)[..., None] * everything
    weights: dict[Location, Mapping[Group, Floats]] = {
        Location.RAM: {Group.ROUTED_EXPERTS: in_ram_experts}
    }
    dense = everything
    if strategy is PlacementStrategy.NVME_OFFLOAD:
        far = np.asarray(beyond_memory(engine, tiers.vram, tiers.ram))
        weights[Location.DISK] = {Group.ROUTED_EXPERTS: far[..., None] * everything}
    if strategy is PlacementStrategy.NVME_OFFLOAD and engine.streams_dense:
        dense = np.asarray(tiers.dense)[..., None] * everything
        weights[Location.DISK] = {**all_of(everything - dense), **weights[Location.DISK]}
    if not on_gpu:
        weights[Location.RAM] = {**all_of(dense), **weights[Location.RAM]}
    fixed = engine.fixed_ram(windows=machine.system == OperatingSystem.WINDOWS)
    kv: dict[Location, Floats] = {Location.RAM: tiers.near if not on_gpu else 1.0 - tiers.near}
    buffers: dict[Location, Array] = {Location.RAM: np.asarray(fixed)}
    parts = over_gpus(machine, everything) if on_gpu else []
    rooms = [
        _room_beside(engine, model, machine, tiers, device, part)
        for device, part in enumerate(parts)
    ]
    room = np.maximum(sum(rooms, start=np.zeros(())), 1.0)
    for device, part in enumerate(parts):
        experts = np.asarray(tiers.vram * rooms[device] / room)[..., None] * everything
        weights[Location.vram(device)] = {**all_of(part), Group.ROUTED_EXPERTS: experts}
        kv[Location.vram(device)] = part * tiers.near
        buffers[Location.vram(device)] = np.asarray(
            CONTEXT + (engine.fixed_vram if device == 0 else 0.0)
        )
    tables = np.asarray(model.tables_share, dtype=float)
    divided: dict[Location, Array] = {Location.RAM: 1.0 - tables, Location.DISK: tables}
    return Placement(
        strategy=strategy,
        gpu_layers=np.full(np.shape(tiers.vram), float(model.layers if on_gpu else 0)),
        cpu_moe=np.full(np.shape(tiers.vram), float(model.layers)),
        weights=weights,
        kv=kv,
        embedding=Location.RAM,
        embedding_shares=divided if np.any(tables) else {},
        output={Location.vram(0) if on_gpu else Location.RAM: np.ones(())},
        buffers=buffers,
        cache=tiers.cache,
        expert_cache=np.asarray(tiers.vram) * model.expert_bytes,
        page_cache=np.asarray(tiers.ram) * model.expert_bytes,
    )
