"""Description of a model: architecture, stored format, notes."""

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.model.architecture import Architecture
from advisor.model.model import Model


@dataclass(frozen=True, kw_only=True, eq=False)
class Described:
    """Model as described by a file or repository.

    Attributes:
        architecture: tensors, cache and attention work.
        model: model with the stored bytes of each tensor; None where only the format is known.
        format: name in data/models/recipes.csv; empty for a format without a recipe, which `notes`
            names.
        source: file or repository.
        notes: sentences for the user.
        facts: further facts by name, as text (`commit`, `weight_bytes`, `model_type`).
    """

    architecture: Architecture
    model: Model | None
    format: str
    source: str
    notes: tuple[str, ...]
    facts: Mapping[str, str]
