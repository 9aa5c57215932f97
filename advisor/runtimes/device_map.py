"""Where `device_map="auto"` puts each block of a Transformers model.

Accelerate walks through the blocks in their order, token table first, head last, and fills the
GPUs, then RAM, then the drive, never going back. On the first GPU and in RAM it keeps room for the
largest block still to come, which will pass through there (accelerate 1.15, utils/modeling.py,
`infer_auto_device_map`). A tied head needs nothing beside its table.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from advisor.model import Floats, Model
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
    found = {TABLE: model.embedding, **layers, NORM: norm}
    if not model.tied_copy:
        found[HEAD] = model.output - norm
    return Blocks(names=tuple(found), sizes=np.array(list(found.values())))


def device_map(model: Model, gpus: Sequence[float], ram: float) -> dict[str, int | str]:
    """The GPU of each block by its number, else "cpu" or "disk".

    Args:
        model: in 16 bits, as it is loaded.
        gpus: what each GPU may hold of weights (`max_memory`) [B].
        ram: what RAM may hold of them [B].
    """
    found = blocks(model)
    placed: dict[str, int | str] = {}
    start = 0
    devices: list[tuple[int | str, float]] = [*enumerate(gpus), ("cpu", ram)]
    for device, limit in devices:
        keeps_room = device in (0, "cpu")
        end = start + int(blocks_that_fit(found.sizes[start:], limit, keeps_room=keeps_room))
        placed |= dict.fromkeys(found.names[start:end], device)
        start = end
    placed |= dict.fromkeys(found.names[start:], "disk")
    if model.tied_copy:
        placed[HEAD] = placed[TABLE]
    return placed


def blocks_that_fit(sizes: Floats, limit: Array, *, keeps_room: bool) -> Array:
    """How many first blocks stay within a limit, with room for the largest that follows.

    Args:
        sizes: of the blocks that are left, shape (blocks,) [B].
        limit: what the device may hold [B].
        keeps_room: the device lets later blocks pass.
    """
    if not sizes.size:
        return np.asarray(0.0)
    following = np.append(np.maximum.accumulate(sizes[::-1])[::-1][1:], 0.0)
    needed = np.cumsum(sizes) + following * keeps_room
    fits = needed <= np.asarray(limit, dtype=float)[..., None]
    return np.asarray(np.sum(np.cumprod(fits, axis=-1), axis=-1), dtype=float)
