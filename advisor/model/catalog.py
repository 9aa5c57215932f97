"""Catalogue of models: rows by name, models in their formats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np

from advisor.catalog.constants import STACKED
from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.name_matching import by_name, find
from advisor.model.architecture import Architecture
from advisor.model.build import build
from advisor.model.formats import format_named, tensor_types
from advisor.model.model import LAYERED, Model, from_tensors
from advisor.model.spec import ArchitectureSpec

NUMBERS = ("embedding", "output", "tied_copy", "tables_share")
"""Numbers of a model outside its layers, by field."""

# Stacking of formats: one architecture in several formats as one model with arrays as numbers.
#
# Placements and times are sums over layers, so several formats are computed in one call: the bytes
# of a layer are of shape (..., layers), those outside the layers of shape (...). Classes of
# formats are joined by `STACKED` and split again where constants are looked up.


def in_many_formats(models: Sequence[Model]) -> Model:
    """Models of the same architecture as one, with numbers of shape (models,).

    A single model is returned unchanged. The name of the format and the storage types are those of
    the first; callers must not use them.
    """
    first = models[0]
    if all(model is first for model in models):
        return first
    # as arrays; the cost model takes both
    numbers: Any = {name: np.array([getattr(model, name) for model in models]) for name in NUMBERS}
    return replace(
        first,
        bytes_per_layer={
            group: np.stack([model.bytes_per_layer[group] for model in models]) for group in LAYERED
        },
        decode_class=STACKED.join(model.decode_class for model in models),
        **numbers,
    )


def picked(model: Model, index: Any) -> Model:
    """Model with the numbers at an index along its formats, whose classes stay joined."""
    if np.ndim(model.output) == 0:
        return model
    return replace(
        model,
        bytes_per_layer={group: held[index] for group, held in model.bytes_per_layer.items()},
        **{name: np.asarray(getattr(model, name))[index] for name in NUMBERS},
    )


@lru_cache(maxsize=16)
def layers_together(model: Model) -> Model:
    """Model with all layers as one, shape (..., 1), for sums over layers."""
    whole = {
        group: np.sum(held, axis=-1, keepdims=True) for group, held in model.bytes_per_layer.items()
    }
    return replace(model, bytes_per_layer=whole)


# Loss of quality by format, from published measurements.


@dataclass(frozen=True, kw_only=True, slots=True)
class FormatLossRow:
    """One row of data/models/format_loss.csv: mean Kullback-Leibler divergence of a format's next
    tokens from those of 16 bits, on Wikitext, of one measured model, or what its source says.
    """

    format: str
    kl_divergence: float
    model: str
    imatrix: str
    retrieved: str
    source: str


@cache
def all_format_losses() -> tuple[FormatLossRow, ...]:
    """Losses of all measured models, the whole ladder of one first."""
    return read(DATA / "models/format_loss.csv", FormatLossRow)


@cache
def format_loss_rows() -> Mapping[str, FormatLossRow]:
    """Losses by format, of the model whose whole ladder is published."""
    return {row.format: row for row in reversed(all_format_losses())}


@cache
def model_rows() -> Mapping[str, ArchitectureSpec]:
    """Architectures' numbers by name."""
    return by_name(read(DATA / "models/models.csv", ArchitectureSpec))


def find_model(name: str) -> ArchitectureSpec:
    """Catalogue row of a model."""
    return find("model", name, model_rows(), "`data/models/models.csv` lists those it knows.")


def repository(name: str) -> str:
    """Repository of the unquantized checkpoint on Hugging Face; else the name itself."""
    row = model_rows().get(name)
    if row and row.hf_id:
        return row.hf_id
    return name


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckpointRow:
    """One row of data/models/checkpoints.csv: repository of a model's weights in another format."""

    model: str
    format: str
    repository: str


@cache
def checkpoints() -> Mapping[tuple[str, str], str]:
    """Repositories by model and format: the maker's, else of who publishes many."""
    rows = read(DATA / "models/checkpoints.csv", CheckpointRow)
    return {(row.model, row.format): row.repository for row in rows}


@cache
def architecture(name: str) -> Architecture:
    """Architecture of a catalogue model."""
    return build(find_model(name))


@cache
def model(name: str, form: str) -> Model:
    """Catalogue model in a format."""
    return in_format(architecture(name), form)


@lru_cache(maxsize=2048)
def in_format(arch: Architecture, form: str) -> Model:
    """Architecture in a format."""
    recipe = format_named(form)
    return from_tensors(arch, tensor_types(arch, recipe), recipe.name)
