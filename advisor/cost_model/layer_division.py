"""Division of the repeating layers between memories: the last that fit, and parts for GPUs."""

from collections.abc import Iterator
from typing import Any

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
        Share of each layer, an array of the shape of `share` for each GPU; for several numbers of
        GPUs a single one with their axis.
    """
    weight = share if held is None else share * held
    whole = np.sum(weight, axis=-1, keepdims=True) + np.asarray(tail, dtype=float)[..., None]
    rank = (np.cumsum(weight, axis=-1) - weight / 2) / np.where(whole > 0, whole, 1.0)
    return [
        share * ((rank > start[..., None] + EDGE) & (rank <= end[..., None] + EDGE))
        for start, end in _edges(machine)
    ]


EDGE = 1e-12
"""Room for rounding where one GPU's part ends and the next one's begins."""


def _edges(machine: Machine) -> Iterator[tuple[Floats, Floats]]:
    """Beginning and end of each GPU's part, 0 to 1."""
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
    """The same share for every group of the repeating layers."""
    return dict.fromkeys(LAYERED, share)
