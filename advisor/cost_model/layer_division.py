"""Division of the repeating layers between memories: the last that fit, and parts for GPUs."""

import numpy as np

from advisor.machine.machine import Machine
from advisor.model.architecture import Group
from advisor.model.model import LAYERED, Floats, Model
from advisor.units import Array


def last_layers(model: Model, count: Array) -> Floats:
    """Share of each layer: 1 for the last `count` layers, else 0, shape (..., layers)."""
    index = np.arange(model.layers)
    return (index >= model.layers - np.asarray(count, dtype=float)[..., None]).astype(float)


def layers_that_fit(per_layer: Floats, budget: Array) -> Array:
    """Largest number of last layers whose bytes stay within a budget.

    Args:
        per_layer: bytes of each layer, shape (..., layers) [B].
        budget: memory available for layers, shape (...) [B].
    """
    totals = np.cumsum(per_layer[..., ::-1], axis=-1)
    fitting = totals <= np.asarray(budget, dtype=float)[..., None]
    return np.asarray(np.sum(fitting, axis=-1), dtype=float)


def over_gpus(
    machine: Machine, share: Floats, held: Floats | None = None, tail: Array = 0.0
) -> list[Floats]:
    """Layers of each GPU, in proportion to its memory; the first GPU takes the first layers.

    Args:
        machine: machine with at least one GPU.
        share: 1 where a layer is on any GPU, shape (..., layers).
        held: bytes of each layer, shape (..., layers); None for equal layers [B].
        tail: bytes that the last GPU holds after its layers, in the unit of `held` [B].

    Returns:
        Share of each layer, an array of the shape of `share` for each GPU.
    """
    divided = gpu_shares(machine)
    weight = share if held is None else share * held
    whole = np.sum(weight, axis=-1, keepdims=True) + np.asarray(tail, dtype=float)[..., None]
    rank = (np.cumsum(weight, axis=-1) - weight / 2) / np.where(whole > 0, whole, 1.0)
    parts, start = [], np.zeros(())
    for part in divided:
        end = start + part
        inside = (rank > start[..., None] + EDGE) & (rank <= end[..., None] + EDGE)
        parts.append(share * inside)
        start = end
    return parts


EDGE = 1e-12
"""Room for rounding where one GPU's part ends and the next one's begins."""


def gpu_shares(machine: Machine) -> list[Array]:
    """Share of each GPU in the memory of all; GPUs of one kind share evenly."""
    if machine.counts is not None:
        even = 1.0 / machine.counts
        return [np.where(at < machine.counts, even, 0.0) for at in range(len(machine.gpus))]
    sizes = [gpu.memory.value for gpu in machine.gpus]
    if all(np.array_equal(size, sizes[0]) for size in sizes[1:]):
        return [np.asarray(1.0 / len(sizes))] * len(sizes)
    total = np.sum(np.broadcast_arrays(*sizes), axis=0)
    return [np.asarray(size / total) for size in sizes]


def all_of(share: Floats) -> dict[Group, Floats]:
    """The same share for every group of the repeating layers."""
    return dict.fromkeys(LAYERED, share)
