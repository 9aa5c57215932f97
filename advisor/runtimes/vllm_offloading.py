"""vLLM's ways to keep weights in RAM: layers that are copied ahead, or weights read in place."""

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from advisor.cost_model.layer_division import layers_that_fit
from advisor.cost_model.placement import RAM, Placement, PlacementStrategy, Settings, weight_bytes
from advisor.cost_model.placement_choice import either
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.architecture import Group
from advisor.model.model import Floats, Model
from advisor.runtimes.parallelism import Parallel, chunks, parallel
from advisor.runtimes.serving import Room, placed, weight_room
from advisor.units import GIB, Array

BUFFERED = 2
"""Layers in VRAM at a time for streaming: one in use, one being copied (`--offload-prefetch-step
1`)."""


def sooner(
    model: Model, machine: Machine, work: Workload, read: Placement, copied: Placement
) -> npt.NDArray[np.bool_]:
    """Whether a token's reads over the link are faster than copies, without computing."""
    link = machine.gpus[0].link
    users = np.asarray(work.users, dtype=float)
    used = sum(
        (share @ model.bytes_per_layer[group]) * model.read_share(group, users)
        for group, share in read.weights[RAM].items()
    )
    whole = weight_bytes(model, copied, RAM)
    return np.asarray(used / link.zero_copy.value < whole / link.pinned.value)


def read_in_place(
    model: Model, machine: Machine, work: Workload, settings: Settings, room: Room
) -> Placement:
    """Weights that do not fit stay in RAM: experts of the first layers, else whole first layers.

    A given number of layers, the last ones, stays whole on the GPUs.
    """
    base = placed(
        model, machine, work, PlacementStrategy.CPU_OFFLOAD, replace(settings, gpu_layers=0), room
    )
    how = parallel(model, machine)
    if settings.gpu_layers is not None:
        count = np.asarray(settings.gpu_layers, dtype=float) / how.pipeline
        last = [_last(group, count) for group in chunks(model, how.pipeline)]
        return _with(model, base, how, last, only_experts=False)
    groups = chunks(model, how.pipeline)
    rooms = [weight_room(model, machine, work, room, how, at) for at in range(how.pipeline)]
    experts = model.bytes_per_layer[Group.ROUTED_EXPERTS]
    dense = model.layer_bytes - experts

    def moving(moved: Floats, stays: Floats, *, only_experts: bool) -> Placement:
        kept = [
            _fitting(group, moved / how.tensor, own - group @ stays / how.tensor)
            for group, own in zip(groups, rooms, strict=True)
        ]
        return _with(model, base, how, kept, only_experts=only_experts)

    whole = moving(model.layer_bytes, np.zeros(model.layers), only_experts=False)
    if not model.has_experts:
        return whole
    enough = [own >= group @ dense / how.tensor for group, own in zip(groups, rooms, strict=True)]
    fits = np.logical_and.reduce(np.broadcast_arrays(*enough))
    return either(fits, moving(experts, dense, only_experts=True), whole)


def _fitting(group: Floats, held: Floats, budget: Array) -> Floats:
    """1 for the last layers of a group that fit, else 0; 0 for all where all would fit."""
    count = layers_that_fit(held[group > 0], np.asarray(budget, dtype=float))
    return _last(group, np.where(count >= group.sum(), 0.0, count))


def _last(group: Floats, count: Array) -> Floats:
    """1 for the last `count` layers of a group, else 0, shape (..., layers)."""
    rank = np.cumsum(group[::-1])[::-1] * group
    return np.asarray(group * (rank <= np.asarray(count)[..., None]))


def _with(
    model: Model, base: Placement, how: Parallel, kept: list[Floats], *, only_experts: bool
) -> Placement:
    whole = sum(kept, start=np.zeros(()))
    groups = chunks(model, how.pipeline)
    weights = {}
    for location, shares in base.weights.items():
        at = location.device // how.tensor
        here = 1.0 - whole if location == RAM else kept[at] / how.tensor
        full = np.zeros_like(whole) if location == RAM else groups[at] / how.tensor
        weights[location] = {
            group: here if not only_experts or group is Group.ROUTED_EXPERTS else full
            for group in shares
        }
    count = np.sum(whole, axis=-1)
    layers = float(model.layers)
    return replace(
        base,
        weights=weights,
        gpu_layers=np.full_like(count, layers) if only_experts else count,
        cpu_moe=layers - count if only_experts else np.zeros_like(count),
        zero_copy=1.0,
        buffers={where: _without_passing(model, how, groups, where.device, size)
                 for where, size in base.buffers.items()},
    )  # fmt: skip


def _without_passing(
    model: Model, how: Parallel, groups: tuple[Floats, ...], device: int, size: Array
) -> Array:
    largest = float(np.max(groups[device // how.tensor] * model.layer_bytes)) / how.tensor
    return size - BUFFERED * largest


def offload_options(model: Model, placement: Placement, how: Parallel) -> Iterable[str]:
    """Options of `vllm serve` for weights in RAM; none where all are on the GPUs."""
    outside = float(weight_bytes(model, placement, RAM))
    if outside <= 0:
        return
    if np.any(placement.zero_copy):
        size = math.ceil(10 * outside / how.gpus / GIB) / 10
        yield f"--offload-backend uva --cpu-offload-gb {size:g}"
        if np.any(placement.cpu_moe):
            yield "--cpu-offload-params experts"
        return
    layers = math.ceil(model.layers / how.pipeline)
    offloaded = math.ceil((model.layers - int(placement.gpu_layers)) / how.pipeline)
    group, within = grouping(layers, offloaded)
    yield (
        f"--offload-backend prefetch --offload-group-size {group} "
        f"--offload-num-in-group {within} --offload-prefetch-step 1"
    )


@cache
def grouping(layers: int, offloaded: int) -> tuple[int, int]:
    """Size of a group and number of its last layers to offload, for at least the required layers.

    Of all pairs the one with fewest excess layers, and of these the smallest group, which spreads
    the copies most evenly.
    """
    pairs = ((size, last) for size in range(1, layers + 1) for last in range(1, size + 1))
    enough = [pair for pair in pairs if grouped(layers, *pair) >= offloaded]
    return min(enough, key=lambda pair: (grouped(layers, *pair), pair))


def grouped(layers: int, size: int, last: int) -> int:
    """Number of offloaded layers over all groups (offloader/prefetch.py of 0.33.0)."""
    return layers // size * last + max(layers % size - (size - last), 0)
