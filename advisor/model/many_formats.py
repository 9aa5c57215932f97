"""One architecture in several formats as one model whose numbers are arrays.

Placements and times are sums over layers, so several formats are computed in one call: the bytes of
a layer are of shape (..., layers), those outside the layers of shape (...). Classes of formats are
joined by `STACKED`, which the constants take apart again.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from advisor.catalog.constants import STACKED
from advisor.model.model import LAYERED, Model


def in_many_formats(models: Sequence[Model]) -> Model:
    """One model for several of the same architecture, with numbers of shape (models,).

    Where all are the same model it is that.

    Its name of a format and its storage types are those of the first: they must not matter.
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
    """Typed as the scalars that they stand for; the cost model takes both."""
    return np.array([getattr(model, name) for model in models], dtype=float)


def picked(model: Model, index: Any) -> Model:
    """Numbers of a model of several formats at an index along them; a model in one as it is.

    The classes of formats stay all of them, in the order of the requests that are timed.
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


def layers_together(model: Model) -> Model:
    """A model with all layers counted as one, shape (..., 1): enough where only sums matter."""
    whole = {
        group: np.sum(held, axis=-1, keepdims=True) for group, held in model.bytes_per_layer.items()
    }
    return replace(model, bytes_per_layer=whole)
