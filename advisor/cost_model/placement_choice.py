"""Choice between two placements, made separately for each point of a sweep."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from advisor.cost_model.placement import Placement
from advisor.model.model import Floats
from advisor.units import Array

Key = TypeVar("Key")


def either(condition: npt.NDArray[np.bool_], first: Placement, second: Placement) -> Placement:
    """The first placement where a condition holds, else the second.

    Args:
        condition: true for the first placement, shape (...) of the sweep.
        first: placement of the same runtime, strategy and locations as the second.
        second: placement where the condition is false.
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
        weights={
            place: _each(layered, shares, second.weights[place])
            for place, shares in first.weights.items()
        },
        kv=_each(layered, first.kv, second.kv),
        output=_each(condition, first.output, second.output),
        buffers=_each(condition, first.buffers, second.buffers),
        zero_copy=np.where(condition, first.zero_copy, second.zero_copy),
    )


def _each(
    condition: npt.NDArray[np.bool_], first: Mapping[Key, Array], second: Mapping[Key, Array]
) -> dict[Key, Floats]:
    return {key: np.where(condition, value, second[key]) for key, value in first.items()}
