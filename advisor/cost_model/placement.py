"""Placement: location of every part of a model, and the bytes each memory must hold.

The repeating layers are placed by shares per layer, shape (..., layers). One placement can thus
describe a sweep over machines, workloads or splits: the leading axes are those of the sweep.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from advisor.cost_model.workload import Workload
from advisor.errors import InputError, Refusal
from advisor.lazy import lazy
from advisor.machine.machine import LEAST_OF_SYSTEM, Machine, left_to_system
from advisor.model.architecture import Group
from advisor.model.model import LAYERED, Floats, Model
from advisor.units import Array


class PlacementStrategy(StrEnum):
    """Strategy for the part of a model that VRAM does not hold."""

    GPU_RESIDENT = "gpu-resident"
    CPU_OFFLOAD = "cpu-offload"
    NVME_OFFLOAD = "nvme-offload"

    @property
    def heading(self) -> str:
        """Title of the strategy's card."""
        return {
            PlacementStrategy.GPU_RESIDENT: "In the GPU",
            PlacementStrategy.CPU_OFFLOAD: "Offload to RAM",
            PlacementStrategy.NVME_OFFLOAD: "Offload to NVMe",
        }[self]

    def could_hold(self, model: Model, machine: Machine) -> bool:
        """Whether the placement is worth an estimate on a machine.

        The placement in the GPUs alone is worth one only where their memory is at least as large as
        the weights.
        """
        alone = self is PlacementStrategy.GPU_RESIDENT
        return not alone or bool(machine.gpu_memory >= model.bytes_without_table)


class Tier(StrEnum):
    """Kinds of memory, fastest first."""

    VRAM = "VRAM"
    RAM = "RAM"
    DISK = "disk"


@dataclass(frozen=True, kw_only=True)
class Location:
    """One memory: VRAM of a GPU, RAM, or the drive."""

    tier: Tier  # kind of memory
    device: int = 0  # index of the GPU; 0 for RAM and drive

    RAM: ClassVar["Location"]
    DISK: ClassVar["Location"]

    @staticmethod
    @cache
    def vram(device: int) -> "Location":
        """VRAM of a GPU, by its index."""
        return Location(tier=Tier.VRAM, device=device)


Location.RAM = Location(tier=Tier.RAM)
Location.DISK = Location(tier=Tier.DISK)


@dataclass(frozen=True, kw_only=True)
class TierSettings:
    """Stated settings of an engine that keeps experts in tiers; None leaves a setting to the
    engine.
    """

    link_share: Array | None = None  # share of the misses in VRAM that go over the link, 0 to 1
    served: Array | None = None  # share of lookups that VRAM serves, 0 to 1
    served_ram: Array | None = None  # share of the others that RAM serves before the drive, 0 to 1
    chunk: Array | None = None  # prompt tokens that are read together [tokens]
    fill: str = ""  # how the cache in VRAM is filled, where not by the engine's rule
    # threads of the cores sleep between the products of two experts, as in early versions
    sleeping: bool = False


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Fixed choices of a placement, from a person or a fit; None leaves a choice to the runtime.

    Numbers of layers may be fractions, for runtimes that divide a layer and for published shares.
    """

    gpu_layers: Array | None = None  # last repeating layers on the GPU
    cpu_moe: Array | None = None  # first layers whose routed experts stay in RAM (`--n-cpu-moe`)
    cpu_ffn: Array | None = None  # first layers whose dense feed-forward does (`--n-cpu-ffn`)
    page_cache: Array | None = None  # RAM for pages of a file on the drive; None for all free [B]
    # VRAM for the experts in RAM that were used last (`--moe-cache-mib`); None for none [B]
    expert_cache: Array | None = None
    disk_layers: Array | None = None  # layers on the drive, for runtimes that use RAM beside it
    # the output head goes to the GPU before the first layer, as in llama.cpp since December 2025;
    # else with the last layer
    head_first: bool = True
    # `gpu_layers` counts the output head as the first of them, as llama.cpp's `-ngl` does
    counts_head: bool = False
    kv_in_ram: bool | None = None  # KV cache in RAM, where the processor attends to it (`-nkvo`)
    load_mode: str = (
        "auto"  # llama.cpp's way to load the file, a key of `Settings.LOAD_MODES` (`-lm`)
    )
    # kernels read weights in RAM (vLLM's `uva`) instead of copying them; None for the faster way
    zero_copy: bool | None = None
    # share of each layer's routed experts on the GPU, where they can be divided; None for as many
    # as fit
    gpu_experts: Array | None = None
    most_asked: bool = False  # the experts on the GPU are the most frequently used ones
    # each of the GPUs that share layers holds whole experts, not a part of every one
    expert_parallel: bool = False
    # each GPU holds all but the experts, and the cache of its own users (attention data parallel);
    # experts are divided as with `expert_parallel`
    attention_by_user: bool = False
    tiers: TierSettings | None = None  # of engines that keep experts in tiers

    LOAD_MODES: ClassVar[Mapping[str, bool]] = MappingProxyType(
        {
            **dict.fromkeys(("auto", "mmap"), True),
            **dict.fromkeys(("mmap+mlock", "mlock", "none", "dio"), False),
        }
    )
    """Whether pages of the file may stay on the drive, by llama.cpp's `--load-mode` (server README
    at 00dc8057)."""

    @property
    def divides(self) -> bool:
        """Whether it fixes the place of some part, which the runtime would otherwise choose."""
        parts = (self.gpu_layers, self.cpu_moe, self.cpu_ffn, self.expert_cache, self.disk_layers)
        stated = any(part is not None for part in parts)
        return stated or self.kv_in_ram is not None or self.load_mode != "auto"

    def __post_init__(self) -> None:
        if self.load_mode not in self.LOAD_MODES:
            raise InputError(
                f"Load mode {self.load_mode[:40]!r} is not known; use one of "
                f"{', '.join(self.LOAD_MODES)}."
            )

    @property
    def states_layers(self) -> bool:
        """Whether a number of layers is stated: on the GPU, or with a part in RAM."""
        return any(count is not None for count in (self.gpu_layers, self.cpu_moe, self.cpu_ffn))

    def says_where(self, model: Model) -> bool:
        """Whether it states where parts of a model lie: its layers, its experts or its dense
        feed-forward, its cache.
        """
        if model.has_experts:
            parts = (self.cpu_moe, self.expert_cache)
        else:
            parts = (self.cpu_ffn, None)
        return any(part is not None for part in (self.gpu_layers, self.kv_in_ram, *parts))

    def in_layers(self, layers: int) -> "Settings":
        """Settings of a model with so many layers, in which `gpu_layers` counts repeating layers
        alone.
        """
        if not self.counts_head or self.gpu_layers is None:
            return self
        stated = np.asarray(self.gpu_layers, dtype=float)
        repeating = np.where(stated > layers, layers, np.maximum(stated - 1.0, 0.0))
        return replace(self, gpu_layers=repeating, counts_head=False)


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Location of every part of a model."""

    strategy: PlacementStrategy
    gpu_layers: Array  # repeating layers on GPUs
    # share of each layer by location and group, shape (..., layers)
    weights: Mapping[Location, Mapping[Group, Floats]]
    kv: Mapping[Location, Floats]  # share of each layer's KV cache by location, shape (..., layers)
    embedding: Location  # location of the token table
    output: Mapping[Location, Array]  # share of the output head by location
    buffers: Mapping[Location, Array]  # compute buffers and the runtime's own memory [B]
    # cache allocated per layer for one user, shape (..., layers); None for just the context [B]
    cache: Floats | None = None
    cpu_moe: Array = 0.0  # layers whose routed experts are in RAM
    cpu_ffn: Array = 0.0  # layers whose dense feed-forward is in RAM
    page_cache: Array = 0.0  # RAM for cached pages of the part on the drive [B]
    load_mode: str = "auto"  # way to load the file, a key of `Settings.LOAD_MODES`
    expert_cache: Array = 0.0  # VRAM for experts in RAM that were used last, of all GPUs [B]
    # share of the token table by location, where it is divided; empty for all at `embedding`
    embedding_shares: Mapping[Location, Array] = field(default_factory=dict)
    zero_copy: Array = 0.0  # 1 where kernels read weights in RAM over the link, else 0
    # share of lookups that the experts in VRAM serve, where they are the most used ones; else None
    answered: Array | None = None
    # limit on weights by location, where it is an option of the runtime; else empty [B]
    limits: Mapping[Location, Array] = field(default_factory=dict)
    expert_parallel: bool = False  # each GPU of a group that shares layers holds whole experts
    attention_by_user: bool = False  # each of them holds all else, and the cache of its own users
    tiers: TierSettings | None = None  # of engines that keep experts in tiers

    @property
    def locations(self) -> tuple[Location, ...]:
        """Memories in use, VRAM first."""
        used = {*self.weights, *self.kv, *self.output, *self.buffers, self.embedding}
        order = list(Tier)
        return tuple(
            sorted(used, key=lambda location: (order.index(location.tier), location.device))
        )

    @lazy
    def sums(self) -> dict[Location, Any]:
        """Sums over the parts at each location, which `loads.held_parts` keeps."""
        return {}

    def holds(self, location: Location) -> bool:
        """Whether a location holds weights, the head or cache that a step reads."""
        shares = {id(share): share for share in self.weights.get(location, {}).values()}
        parts = (*shares.values(), self.kv.get(location, 0.0), self.output.get(location, 0.0))
        return any(np.any(part) for part in parts)

    def shares(self) -> Iterator[Floats]:
        """Shares of layers and of the head, by location."""
        for groups in self.weights.values():
            yield from (share for share, _ in by_share(groups))
        yield from self.kv.values()
        for share in self.output.values():
            yield np.asarray(share)

    def weight_bytes(self, model: Model, location: Location) -> Array:
        """Weights at a location [B].

        An output head that is tied to a token table at the same location needs no copy.
        """
        head = self.output.get(location, 0.0)
        table = self.embedding_share(location)
        shares = by_share(self.weights.get(location, {}))
        layers = np.asarray(
            sum(np.vecdot(share, model.together(groups)[0]) for share, groups in shares)
        )
        ends = head * model.output
        return layers + ends + table * model.embedding - np.minimum(table, head) * model.tied_copy

    def embedding_share(self, location: Location) -> Array:
        """Share of the token table at a location."""
        if self.embedding_shares:
            return self.embedding_shares.get(location, 0.0)
        if self.embedding == location:
            return 1.0
        return 0.0

    def kv_bytes(self, model: Model, location: Location, work: Workload) -> Array:
        """KV cache at a location, for all users with the whole context allocated [B]."""
        if location not in self.kv:
            return 0.0
        per_layer = self.cache
        if per_layer is None:
            per_layer = model.kv_bytes(work.context, work.kv_type)
        return np.asarray(np.sum(self.kv[location] * per_layer, axis=-1) * work.users)

    def needed_bytes(self, model: Model, location: Location, work: Workload) -> Array:
        """Weights, KV cache and buffers at a location [B]."""
        cache = self.kv_bytes(model, location, work)
        weights = self.weight_bytes(model, location)
        return weights + cache + self.buffers.get(location, 0.0)

    def held_bytes(self, model: Model, work: Workload) -> dict[Tier, tuple[Array, ...]]:
        """Memory in use by tier, with a number for each device [B]."""
        held: dict[Tier, tuple[Array, ...]] = dict.fromkeys(Tier, ())
        for location in self.locations:
            held[location.tier] += (self.needed_bytes(model, location, work),)
        return held

    def parts_held(self, model: Model, work: Workload) -> dict[Tier, dict[str, float]]:
        """Memory in use by tier and purpose: weights, KV cache, buffers [B]."""
        parts: dict[Tier, dict[str, float]] = {}
        for location in self.locations:
            weights = float(self.weight_bytes(model, location))
            buffers = float(self.buffers.get(location, 0.0))
            cache = float(self.needed_bytes(model, location, work)) - weights - buffers
            tier = parts.setdefault(
                location.tier, {"weights": 0.0, "KV cache": 0.0, "buffers": 0.0}
            )
            for name, size in zip(tier, (weights, cache, buffers), strict=True):
                tier[name] += size
        return parts


def by_share(shares: Mapping[Group, Floats]) -> list[tuple[Floats, tuple[Group, ...]]]:
    """Shares of layers, each with the groups that have it; most placements divide all groups
    alike.
    """
    alike: dict[int, list[Group]] = {}
    for group, share in shares.items():
        alike.setdefault(id(share), []).append(group)
    return [(shares[groups[0]], tuple(groups)) for groups in alike.values()]


def missing_bytes(model: Model, placement: Placement, machine: Machine, work: Workload) -> Array:
    """Memory that is missing, summed over all locations; 0 where the model fits [B].

    Unified memory of a machine must hold its GPUs' parts together, on the first machine with what
    lies in RAM, beside what its system needs.
    """
    short: Array = 0.0
    pools: list[Array] = [0.0] * machine.nodes
    for location in placement.locations:
        room = capacity(machine, location)
        needed = placement.needed_bytes(model, location, work)
        beyond = np.maximum(needed - room, 0.0)
        if machine.counts is not None and location.tier is Tier.VRAM:
            beyond = np.sum(beyond, axis=0)
        short = short + beyond
        if location.tier is not Tier.DISK:
            pools[machine.node_of(location.device)] += needed
    if machine.unified:
        memory = machine.host.memory.value
        pool = memory - left_to_system(memory, machine.gpus[0].memory.value)
        beyond = [np.maximum(held - pool, 0.0) for held in pools]
        short = np.maximum(short, sum(beyond, start=np.zeros(())))
    return np.asarray(short)


def capacity(machine: Machine, location: Location) -> Array:
    """Size of a location [B]; infinite for a drive, which is taken as large enough."""
    if location.tier is Tier.VRAM:
        return machine.gpus[location.device].memory.value
    if location.tier is Tier.RAM:
        return machine.host.memory.value
    return np.inf


def whole_bytes(model: Model, work: Workload) -> Array:
    """Weights and KV cache, counted as the missing memory of an impossible combination [B]."""
    cache = np.sum(model.kv_bytes(work.context, work.kv_type), axis=-1) * work.users
    return np.asarray(model.file_bytes + cache)


TIGHT = 0.9
"""Share of a memory from which it is called tight, or less where the system's own programs need
more: other programs must be closed."""


def is_tight(
    placement: Placement, held: Mapping[Tier, tuple[Array, ...]], machine: Machine
) -> bool:
    """Whether a placement fills a memory that other programs use too.

    `held` is the memory in use by tier [B]. It is the RAM, or memory that the GPU shares with it;
    pages of the file count where the speed needs them there.
    """
    on_drive = placement.strategy is PlacementStrategy.NVME_OFFLOAD
    if on_drive and not machine.unified:
        return False
    in_use = sum(map(float, held.get(Tier.RAM, ())))
    if on_drive:
        in_use += min(float(placement.page_cache), sum(map(float, held.get(Tier.DISK, ()))))
    if machine.unified:
        in_use += float(sum(held.get(Tier.VRAM, ()))) / machine.nodes
    memory = float(machine.host.memory.value)
    return in_use > min(TIGHT * memory, memory - min(LEAST_OF_SYSTEM, memory / 4))


# Refusals of a stated placement.


def held_by_gpu(
    model: Model, machine: Machine, work: Workload, strategy: PlacementStrategy, settings: Settings
) -> Array:
    """Whether the GPU's part of a shared memory holds the whole model, though a part should stay in
    RAM; False where a person states the division.

    Raises:
        Refusal: it does so at every point of a sweep.
    """
    divided = settings.states_layers or settings.kv_in_ram is not None
    if not machine.one_pool or strategy is not PlacementStrategy.CPU_OFFLOAD or divided:
        return False
    held = np.asarray(whole_bytes(model, work) <= machine.gpu_memory)
    if np.all(held):
        raise Refusal(
            "GPU and processor share one memory here, so there is no other to leave a part in."
        )
    return held


def check_whole(
    model: Model, machine: Machine, strategy: PlacementStrategy, settings: Settings
) -> None:
    """Check that no part is stated to stay in RAM where the GPUs hold all; raises Refusal."""
    if strategy is not PlacementStrategy.GPU_RESIDENT or not machine.gpus:
        return
    if not settings.states_layers:
        return
    layers = settings.in_layers(model.layers).gpu_layers
    if layers is not None and np.all(np.asarray(layers) < model.layers):
        count = f"{float(np.max(np.asarray(settings.gpu_layers, dtype=float))):g}"
        raise Refusal(
            f"The GPU layers stated are {count} of {model.layers}, so a part stays in RAM."
        )
    parts = {"experts": settings.cpu_moe, "feed-forward": settings.cpu_ffn}
    if not model.has_experts:
        del parts["experts"]
    for part, stated in parts.items():
        if stated is not None and np.all(np.asarray(stated) > 0):
            count = f"{float(np.min(np.asarray(stated, dtype=float))):g}"
            raise Refusal(f"The {part} of {count} layers are stated to stay in RAM.")


# Choice between two placements, made separately for each point of a sweep.


def either(condition: npt.NDArray[np.bool_], first: Placement, second: Placement) -> Placement:
    """Placement of two: the first where a condition holds, the second in other cases.

    Both have the same runtime, strategy and locations.
    """
    if np.all(condition):
        return first
    if not np.any(condition):
        return second
    layered = condition[..., None]
    return replace(
        first,
        gpu_layers=np.where(condition, first.gpu_layers, second.gpu_layers),
        cpu_moe=np.where(condition, first.cpu_moe, second.cpu_moe),
        weights=_either_number(layered, first.weights, second.weights),
        kv=_either_number(layered, first.kv, second.kv),
        output=_either_number(condition, first.output, second.output),
        buffers=_either_number(condition, first.buffers, second.buffers),
        zero_copy=np.where(condition, first.zero_copy, second.zero_copy),
    )


def _either_number(condition: npt.NDArray[np.bool_], first: Any, second: Any) -> Any:
    """Number, or numbers of a mapping, of the first or the second of two by a condition."""
    if isinstance(first, Mapping):
        return {key: _either_number(condition, value, second[key]) for key, value in first.items()}
    return np.where(condition, first, second)


def repeated(placement: Placement, cards: int, copies: int) -> Placement:
    """Placement of several copies, each on as many GPUs; copies share the users and thus the
    caches.
    """

    def again(parts: Mapping[Location, Any]) -> dict[Location, Any]:
        return {
            Location.vram(at.device + copy * cards) if at.tier is Tier.VRAM else at: part
            for copy in range(copies)
            for at, part in parts.items()
        }

    caches = {
        at: share / copies if at.tier is Tier.VRAM else share for at, share in placement.kv.items()
    }
    return replace(
        placement,
        weights=again(placement.weights),
        kv=again(caches),
        output=again(placement.output),
        buffers=again(placement.buffers),
        embedding_shares=again(placement.embedding_shares),
        limits=again(placement.limits),
    )


# Division of the repeating layers between memories: the last that fit, and parts for GPUs.


def last_layers(model: Model, count: Array) -> Floats:
    """Shares of the layers: 1 for the last `count` of them, 0 for the others, shape (...,
    layers).
    """
    index = np.arange(model.layers)
    return (index >= model.layers - np.asarray(count, dtype=float)[..., None]).astype(float)


def layers_that_fit(per_layer: Floats, budget: Array) -> Array:
    """Largest number of last layers whose bytes, shape (..., layers), stay within a budget [B]."""
    totals = np.cumsum(per_layer[..., ::-1], axis=-1)
    fitting = totals <= np.asarray(budget, dtype=float)[..., None]
    return np.asarray(np.sum(fitting, axis=-1), dtype=float)


def over_gpus(
    machine: Machine, share: Floats, layer_bytes: Floats | None = None, tail: Array = 0.0
) -> list[Floats]:
    """Share of each layer on each GPU, in proportion to its memory, shape (..., layers).

    `share` is the share on any GPU; the first GPU takes the first layers.

    Layers of unknown `layer_bytes` count alike; the last GPU holds a `tail` of bytes after its
    layers. For several numbers of GPUs a single array has their axis.
    """
    weight = share if layer_bytes is None else share * layer_bytes
    whole = np.sum(weight, axis=-1, keepdims=True) + np.asarray(tail, dtype=float)[..., None]
    rank = (np.cumsum(weight, axis=-1) - weight / 2) / np.where(whole > 0, whole, 1.0)
    return [
        share * ((rank > start[..., None] + EDGE) & (rank <= end[..., None] + EDGE))
        for start, end in _edges(machine)
    ]


EDGE = 1e-12  # room for rounding where one GPU's part ends and the next one's begins


def _edges(machine: Machine) -> Iterator[tuple[Floats, Floats]]:
    """Beginning and end of each GPU's part of the layers, 0 to 1."""
    if machine.counts is not None:
        parts = np.where(gpu_numbers(machine) < machine.counts, 1.0 / machine.counts, 0.0)
        ends = np.cumsum(parts, axis=0)
        yield np.concatenate([np.zeros_like(ends[:1]), ends[:-1]]), ends
        return
    start = np.zeros(())
    for part in gpu_shares(machine):
        end = start + part
        yield start, end
        start = end


def gpu_numbers(machine: Machine) -> Any:
    """Index of each GPU of a stack with several numbers of them, shape (GPUs, 1, 1)."""
    return np.arange(np.max(machine.counts))[:, np.newaxis, np.newaxis]


def gpu_shares(machine: Machine) -> list[Array]:
    """Share of each GPU in the memory of all; GPUs of one kind share evenly."""
    sizes = [gpu.memory.value for gpu in machine.gpus]
    if all(np.array_equal(size, sizes[0]) for size in sizes[1:]):
        return [np.asarray(1.0 / len(sizes))] * len(sizes)
    total = np.sum(np.broadcast_arrays(*sizes), axis=0)
    return [np.asarray(size / total) for size in sizes]


def all_of(share: Floats) -> dict[Group, Floats]:
    """Mapping with one share for every group of the repeating layers."""
    return dict.fromkeys(LAYERED, share)
