"""Stacking of formats: one architecture in several formats as one model with arrays as numbers.

Placements and times are sums over layers, so several formats are computed in one call: the bytes of
a layer are of shape (..., layers), those outside the layers of shape (...). Classes of formats are
joined by `STACKED` and split again where constants are looked up.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from advisor.catalog.constants import STACKED
from advisor.model.model import LAYERED, Model


def in_many_formats(models: Sequence[Model]) -> Model:
    """Models of the same architecture as one, with numbers of shape (models,).

    A single model is returned unchanged. The name of the format and the storage types are those of
    the first; callers must not use them.
    """
    first = models[0]
    if all(model is first for model in models):
        return first
    return replace(
        first,
        bytes_per_layer={
            group: np.stack([model.bytes_per_layer[group] for model in models]) for group in LAYERED
        },
        decode_class=STACKED.join(model.decode_class for model in models),
        **{name: _numbers(models, name) for name in ("embedding", "output", "tied_copy")},
    )


def _numbers(models: Sequence[Model], name: str) -> Any:
    """Array of values, typed as the scalar that it replaces; the cost model takes both."""
    return np.array([getattr(model, name) for model in models], dtype=float)


def picked(model: Model, index: Any) -> Model:
    """Model with the numbers at an index along the formats; unchanged for a single format.

    Classes of formats stay joined, in the order of the timed requests.
    """
    if np.ndim(model.output) == 0:
        return model
    return replace(
        model,
        bytes_per_layer={group: held[index] for group, held in model.bytes_per_layer.items()},
        embedding=np.asarray(model.embedding)[index],
        output=np.asarray(model.output)[index],
        tied_copy=np.asarray(model.tied_copy)[index],
    )


@lru_cache(maxsize=16)
def layers_together(model: Model) -> Model:
    """Model with all layers as one, shape (..., 1), for sums over layers."""
    whole = {
        group: np.sum(held, axis=-1, keepdims=True) for group, held in model.bytes_per_layer.items()
    }
    return replace(model, bytes_per_layer=whole)
