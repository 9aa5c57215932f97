"""Placement of a Transformers model's blocks by `device_map="auto"`.

It walks through the blocks in their order, token table first, head last, and fills the GPUs, then
RAM, then the drive, never going back. On the first GPU and in RAM it keeps room for the largest
block still to come, which will pass through there (`infer_auto_device_map` of accelerate 1.15,
utils/modeling.py, and of transformers 5.23, integrations/accelerate.py). A tied head needs nothing
beside its table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from advisor.model.model import Floats, Model
from advisor.units import Array

TABLE, NORM, HEAD = "table", "norm", "head"
"""Names of the blocks before and behind the layers, which are called by their numbers."""
SIXTEEN_BITS = 2.0
"""Bytes of a weight of the final norm [B]."""


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """Blocks of a model that are never divided, in their order.

    Attributes:
        names: of each.
        sizes: of each, shape (blocks,) [B].
    """

    names: tuple[str, ...]
    sizes: Floats


def blocks(model: Model) -> Blocks:
    """Token table, layers, final norm and head; without a head of its own where it is tied."""
    norm = sum(
        SIXTEEN_BITS * tensor.params
        for tensor in model.architecture.tensors
        if tensor.role.startswith("output_norm")
    )
    layers = {str(index): float(size) for index, size in enumerate(model.layer_bytes)}
    sizes = {TABLE: model.embedding, **layers, NORM: norm}
    if not model.tied_copy:
        sizes[HEAD] = model.output - norm
    return Blocks(names=tuple(sizes), sizes=np.array(list(sizes.values())))


def device_map(model: Model, gpus: Sequence[float], ram: float) -> dict[str, int | str]:
    """The GPU of each block by its number, else "cpu" or "disk".

    Args:
        model: in 16 bits, as it is loaded.
        gpus: what each GPU may hold of weights (`max_memory`) [B].
        ram: what RAM may hold of them [B].
    """
    names = blocks(model).names
    devices: list[int | str] = [*range(len(gpus)), "cpu", "disk"]
    edges = [0, *map(int, filled(model, gpus, ram)), len(names)]
    placed: dict[str, int | str] = {}
    for device, (start, end) in zip(devices, pairwise(edges), strict=True):
        placed |= dict.fromkeys(names[start:end], device)
    if model.tied_copy:
        placed[HEAD] = placed[TABLE]
    return placed


def filled(model: Model, gpus: Sequence[Array], ram: Array) -> list[Floats]:
    """The first block behind each GPU, and behind RAM; the last also holds what lies before it.

    Args:
        model: in 16 bits, as it is loaded.
        gpus: what each GPU may hold of weights, shape (...) [B].
        ram: what RAM may hold of them, shape (...) [B].
    """
    sizes = blocks(model).sizes
    ends: list[Floats] = [np.zeros(())]
    for device, limit in enumerate((*balanced(sizes, gpus), ram)):
        keeps_room = device in (0, len(gpus))
        ends.append(blocks_that_fit(sizes, limit, start=ends[-1], keeps_room=keeps_room))
    return ends[1:]


def balanced(sizes: Floats, gpus: Sequence[Array]) -> list[Array]:
    """Limit of each GPU: with several, all but the last take at most an even part and 1.25 blocks.

    GPUs that may hold nothing do not count (transformers 5.23, integrations/accelerate.py,
    `get_balanced_memory`).

    Args:
        sizes: of all blocks, shape (blocks,) [B].
        gpus: what each may hold, shape (...) [B].
    """
    count = sum((np.asarray(limit) > 0 for limit in gpus), start=np.zeros(()))
    even = sizes.sum() // np.maximum(count, 1.0) + int(1.25 * sizes.max())
    return [*(np.minimum(limit, even) for limit in gpus[:-1]), *gpus[-1:]]


def blocks_that_fit(sizes: Floats, limit: Array, *, start: Array = 0.0, keeps_room: bool) -> Floats:
    """The first block that a device does not hold any more.

    Args:
        sizes: of all blocks, shape (blocks,) [B].
        limit: what the device may hold, shape (...) [B].
        start: the first block that it is offered, shape (...).
        keeps_room: the device lets later blocks pass, and keeps room for the largest of them.
    """
    first = np.asarray(start, dtype=float)
    needed = room_needed(sizes, start=first, keeps_room=keeps_room)
    before = np.arange(len(sizes)) < first[..., None]
    fits = before | (needed <= np.asarray(limit, dtype=float)[..., None])
    return np.asarray(np.sum(np.cumprod(fits, axis=-1), axis=-1), dtype=float)


def room_needed(sizes: Floats, *, start: Array = 0.0, keeps_room: bool) -> Floats:
    """What a device must hold to take each block and all from `start` on, shape (..., blocks) [B].

    Args:
        sizes: of all blocks, shape (blocks,) [B].
        start: the first block that it is offered, shape (...).
        keeps_room: it keeps room for the largest block that follows.
    """
    totals = np.append(0.0, np.cumsum(sizes))
    following = np.append(np.maximum.accumulate(sizes[::-1])[::-1][1:], 0.0)
    behind = totals[np.asarray(start, dtype=int)]
    return np.asarray(totals[1:] - behind[..., None] + following * keeps_room)
