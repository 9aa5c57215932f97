"""Placement: location of every part of a model, and the bytes each memory must hold.

A `Placement` gives every part of a model a location. The parts of the repeating layers are shares
per layer, shape (..., layers), so that one placement can describe a whole sweep of machines,
workloads or splits: the axes in front are the sweep's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from advisor.cost_model.workload import Workload
from advisor.errors import InputError
from advisor.machine.machine import Machine
from advisor.model.architecture import Group
from advisor.model.model import LAYERED, Floats, Model
from advisor.units import GIB, Array


class PlacementStrategy(StrEnum):
    """Strategy for the part of a model that VRAM does not hold."""

    GPU_RESIDENT = "gpu-resident"
    CPU_OFFLOAD = "cpu-offload"
    NVME_OFFLOAD = "nvme-offload"


class Tier(StrEnum):
    """Kinds of memory, fastest first."""

    VRAM = "VRAM"
    RAM = "RAM"
    DISK = "disk"


@dataclass(frozen=True, kw_only=True)
class Location:
    """One memory: a GPU's by its index, the host's, or the drive."""

    tier: Tier
    device: int = 0


RAM = Location(tier=Tier.RAM)
DISK = Location(tier=Tier.DISK)


def vram(device: int) -> Location:
    """Memory of a GPU."""
    return Location(tier=Tier.VRAM, device=device)


LOAD_MODES = {
    "auto": True,
    "mmap": True,
    "mmap+mlock": False,
    "mlock": False,
    "none": False,
    "dio": False,
}
"""llama.cpp's ways to bring a file in (`--load-mode`, server README at 00dc8057), and whether pages
may stay on the drive."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Fixed choices of a placement, from a person or a fit.

    Attributes:
        gpu_layers: repeating layers on the GPU, the last ones (llama.cpp's `-ngl`); None to find.
        cpu_moe: layers, the first ones, whose routed experts stay in RAM (`--n-cpu-moe`); None to
            find.
        page_cache: RAM granted to pages of a file on the drive [B]; None for what is free.
        disk_layers: repeating layers on the drive, of runtimes that divide what the GPU does not
            hold between RAM and a drive; None to find.
        head_first: the output head goes to the GPU before the first layer, as llama.cpp counts it
            since December 2025; else with the last layer.
        kv_in_ram: the cache stays in RAM: llama.cpp's CPU then attends to it (`-nkvo`); None for
            what the runtime chooses.
        load_mode: how llama.cpp brings the file in, a key of `LOAD_MODES` (`-lm`).
        zero_copy: kernels read weights in RAM over the link (vLLM's `uva`) rather than have them
            copied ahead; None for the faster.
        gpu_experts: share of each layer's routed experts on the GPU, of runtimes that divide them;
            None for as many as fit.
        most_asked: those on the GPU are the ones that tokens ask for most often.

    Layers may be fractions, for runtimes that divide each layer and for published shares.
    """

    gpu_layers: Array | None = None
    cpu_moe: Array | None = None
    page_cache: Array | None = None
    disk_layers: Array | None = None
    head_first: bool = True
    kv_in_ram: bool | None = None
    load_mode: str = "auto"
    zero_copy: bool | None = None
    gpu_experts: Array | None = None
    most_asked: bool = False

    def __post_init__(self) -> None:
        if self.load_mode not in LOAD_MODES:
            raise InputError(
                f"Load mode {self.load_mode[:40]!r} is not known; use one of "
                f"{', '.join(LOAD_MODES)}."
            )


def stated(
    *,
    gpu_layers: float | None = None,
    cpu_moe: float | None = None,
    cache_gb: float | None = None,
    kv_in_ram: bool | None = None,
    load_mode: str = "auto",
) -> Settings:
    """Settings as a person states them; the output head goes to the GPU with a stated last layer.

    Args:
        gpu_layers: as `Settings.gpu_layers`.
        cpu_moe: as `Settings.cpu_moe`.
        cache_gb: RAM granted to the page cache; None for what is free [GiB].
        kv_in_ram: as `Settings.kv_in_ram`.
        load_mode: as `Settings.load_mode`.

    Raises:
        InputError: an unknown load mode.
    """
    return Settings(
        gpu_layers=gpu_layers,
        cpu_moe=cpu_moe,
        page_cache=None if cache_gb is None else cache_gb * GIB,
        head_first=gpu_layers is None,
        kv_in_ram=kv_in_ram,
        load_mode=load_mode,
    )


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Location of every part of a model.

    Attributes:
        strategy: which of the three it is.
        gpu_layers: repeating layers on GPUs, as found or given.
        cpu_moe: layers whose routed experts lie in RAM, as found or given.
        weights: per location and group, the share of each layer, shape (..., layers).
        kv: per location, the share of each layer's cache, shape (..., layers).
        embedding: location of the token table.
        output: per location, the share of the output head.
        buffers: per location, bytes for computing and for the runtime itself [B].
        cache: what the runtime allocates of each layer's cache for one user, shape (..., layers);
            None for the tokens themselves [B].
        page_cache: RAM that may hold pages of what lies on disk [B].
        load_mode: how the file is brought in, a key of `LOAD_MODES`.
        embedding_shares: per location, the share of the token table, where several divide it; all
            of it lies at `embedding` where this is empty.
        zero_copy: 1 where kernels read what lies in RAM over the link, else 0.
        answered: share of requests for routed experts that those in VRAM answer, where they are
            the most asked ones; None for as many as their share.
        limits: per location, what the runtime is told it may hold of weights; empty for runtimes
            that are told otherwise [B].
    """

    strategy: PlacementStrategy
    gpu_layers: Array
    cpu_moe: Array
    weights: Mapping[Location, Mapping[Group, Floats]]
    kv: Mapping[Location, Floats]
    embedding: Location
    output: Mapping[Location, Array]
    buffers: Mapping[Location, Array]
    cache: Floats | None = None
    page_cache: Array = 0.0
    load_mode: str = "auto"
    embedding_shares: Mapping[Location, Array] = field(default_factory=dict)
    zero_copy: Array = 0.0
    answered: Array | None = None
    limits: Mapping[Location, Array] = field(default_factory=dict)

    @property
    def locations(self) -> tuple[Location, ...]:
        """Every memory in use, VRAM first."""
        used = {*self.weights, *self.kv, *self.output, *self.buffers, self.embedding}
        order = list(Tier)
        return tuple(
            sorted(used, key=lambda location: (order.index(location.tier), location.device))
        )


def weight_bytes(model: Model, placement: Placement, location: Location) -> Array:
    """Weights that a location holds; a tied head beside its table needs no copy [B]."""
    shares = placement.weights.get(location, {})
    total: Array = np.asarray(sum(share @ model.held[group] for group, share in shares.items()))
    head = placement.output.get(location, 0.0)
    total = total + head * model.output
    table = embedding_share(placement, location)
    return total + table * model.embedding - np.minimum(table, head) * model.tied_copy


def embedding_share(placement: Placement, location: Location) -> Array:
    """Share of the token table at a location."""
    if placement.embedding_shares:
        return placement.embedding_shares.get(location, 0.0)
    return 1.0 if placement.embedding == location else 0.0


def kv_bytes(model: Model, placement: Placement, location: Location, work: Workload) -> Array:
    """Cache that a location must hold for all users at the context allocated [B]."""
    if location not in placement.kv:
        return 0.0
    per_layer = placement.cache
    if per_layer is None:
        per_layer = model.kv_bytes(work.context, work.kv_type)
    return np.asarray(np.sum(placement.kv[location] * per_layer, axis=-1) * work.users)


def needed_bytes(model: Model, placement: Placement, location: Location, work: Workload) -> Array:
    """Everything that a location must hold [B]."""
    return (
        weight_bytes(model, placement, location)
        + kv_bytes(model, placement, location, work)
        + placement.buffers.get(location, 0.0)
    )


def missing_bytes(model: Model, placement: Placement, machine: Machine, work: Workload) -> Array:
    """What is short over all memories; 0 where it fits [B].

    Unified memory is one pool: what the GPU and the host hold together must fit the host's.
    """
    short: Array = 0.0
    total: Array = 0.0
    for location in placement.locations:
        needed = needed_bytes(model, placement, location, work)
        short = short + np.maximum(needed - capacity(machine, location), 0.0)
        total = total + (needed if location.tier is not Tier.DISK else 0.0)
    if machine.unified:
        short = np.maximum(short, total - machine.host.memory.value)
    return np.maximum(short, 0.0)


def capacity(machine: Machine, location: Location) -> Array:
    """What a location can hold; a drive counts as large enough [B]."""
    if location.tier is Tier.VRAM:
        return machine.gpus[location.device].memory.value
    return machine.host.memory.value if location.tier is Tier.RAM else np.inf


def last_layers(model: Model, count: Array) -> Floats:
    """1 for the last `count` layers, else 0, shape (..., layers)."""
    index = np.arange(model.layers)
    return (index >= model.layers - np.asarray(count, dtype=float)[..., None]).astype(float)


def layers_that_fit(per_layer: Floats, budget: Array) -> Array:
    """The largest number of last layers whose bytes stay within a budget.

    Args:
        per_layer: bytes of each layer, shape (..., layers) [B].
        budget: what may be used [B].
    """
    totals = np.cumsum(per_layer[..., ::-1], axis=-1)
    fitting = totals <= np.asarray(budget, dtype=float)[..., None]
    return np.asarray(np.sum(fitting, axis=-1), dtype=float)


def over_gpus(
    machine: Machine, share: Floats, held: Floats | None = None, tail: Array = 0.0
) -> list[Floats]:
    """Layers on GPUs, divided over several by their memory: the first GPU takes the first layers.

    Args:
        machine: with at least one GPU.
        share: 1 where a layer is on any GPU, shape (..., layers).
        held: bytes that each layer takes there, shape (..., layers); None for layers alike [B].
        tail: what the last GPU holds behind its layers, in the unit of `held` [B].

    Returns:
        One array of the same shape for each GPU.
    """
    sizes = [np.asarray(gpu.memory.value, dtype=float) for gpu in machine.gpus]
    total = np.sum(np.broadcast_arrays(*sizes), axis=0)
    weight = share if held is None else share * held
    whole = np.sum(weight, axis=-1, keepdims=True) + np.asarray(tail, dtype=float)[..., None]
    rank = (np.cumsum(weight, axis=-1) - weight / 2) / np.where(whole > 0, whole, 1.0)
    parts, start = [], np.zeros_like(total)
    for size in sizes:
        end = start + size / total
        inside = (rank > start[..., None]) & (rank <= end[..., None] + 1e-12)
        parts.append(share * inside)
        start = end
    return parts


def all_of(share: Floats) -> dict[Group, Floats]:
    """Every repeating group with the same share."""
    return dict.fromkeys(LAYERED, share)
