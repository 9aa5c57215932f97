"""Placement of a Transformers model's blocks by `device_map="auto"`.

The blocks are placed in their order, token table first, head last: the GPUs are filled, then RAM,
then the drive, without going back. The first GPU and RAM keep room for the largest later block,
which will pass through them (`infer_auto_device_map` of accelerate 1.15, utils/modeling.py, and of
transformers 5.23, integrations/accelerate.py). A tied head needs no room beyond its table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from advisor.model.model import Floats, Model
from advisor.units import Array

TABLE, NORM, HEAD = "table", "norm", "head"
"""Names of the blocks before and after the layers; layers are named by their number."""
SIXTEEN_BITS = 2.0
"""Size of a weight of the final norm [B]."""


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """Blocks of a model, which are never divided, in their order.

    Attributes:
        names: name of each block.
        sizes: size of each block, shape (blocks,) [B].
    """

    names: tuple[str, ...]
    sizes: Floats


@lru_cache(maxsize=64)
def blocks(model: Model) -> Blocks:
    """Token table, layers, final norm and head; no head where it is tied."""
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
    """Device of each block: number of the GPU, "cpu" or "disk".

    Args:
        model: model in 16 bits, as loaded.
        gpus: limit of each GPU for weights (`max_memory`) [B].
        ram: limit of RAM for weights [B].
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
    """Index of the first block after each GPU, and after RAM.

    Args:
        model: model in 16 bits, as loaded.
        gpus: limit of each GPU for weights, shape (...) [B].
        ram: limit of RAM for weights, shape (...) [B].

    Returns:
        An array of shape (...) for each GPU, then for RAM.
    """
    sizes = blocks(model).sizes
    ends: list[Floats] = [np.zeros(())]
    for device, limit in enumerate((*balanced(sizes, gpus), ram)):
        keeps_room = device in (0, len(gpus))
        ends.append(blocks_that_fit(sizes, limit, start=ends[-1], keeps_room=keeps_room))
    return ends[1:]


def balanced(sizes: Floats, gpus: Sequence[Array]) -> list[Array]:
    """Limit of each GPU; of several, all but the last get at most an equal part and 1.25 blocks.

    GPUs with a limit of 0 do not count (transformers 5.23, integrations/accelerate.py,
    `get_balanced_memory`).

    Args:
        sizes: size of each block, shape (blocks,) [B].
        gpus: limit of each GPU, shape (...) [B].
    """
    count = sum((np.asarray(limit) > 0 for limit in gpus), start=np.zeros(()))
    even = sizes.sum() // np.maximum(count, 1.0) + int(1.25 * sizes.max())
    return [*(np.minimum(limit, even) for limit in gpus[:-1]), *gpus[-1:]]


def blocks_that_fit(sizes: Floats, limit: Array, *, start: Array = 0.0, keeps_room: bool) -> Floats:
    """Index of the first block that no longer fits a device.

    Args:
        sizes: size of each block, shape (blocks,) [B].
        limit: limit of the device, shape (...) [B].
        start: index of the first block for this device, shape (...).
        keeps_room: the device keeps room for the largest later block, which passes through it.
    """
    first = np.asarray(start, dtype=float)
    needed = room_needed(sizes, start=first, keeps_room=keeps_room)
    before = np.arange(len(sizes)) < first[..., None]
    fits = before | (needed <= np.asarray(limit, dtype=float)[..., None])
    return np.asarray(np.sum(np.cumprod(fits, axis=-1), axis=-1), dtype=float)


def room_needed(sizes: Floats, *, start: Array = 0.0, keeps_room: bool) -> Floats:
    """Room for all blocks from `start` up to and including each block, shape (..., blocks) [B].

    Args:
        sizes: size of each block, shape (blocks,) [B].
        start: index of the first block for this device, shape (...).
        keeps_room: the device keeps room for the largest later block.
    """
    totals = np.append(0.0, np.cumsum(sizes))
    following = np.append(np.maximum.accumulate(sizes[::-1])[::-1][1:], 0.0)
    behind = totals[np.asarray(start, dtype=int)]
    return np.asarray(totals[1:] - behind[..., None] + following * keeps_room)
