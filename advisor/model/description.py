"""Description of a model: architecture, stored format, notes."""

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.model.architecture import Architecture
from advisor.model.model import Model


@dataclass(frozen=True, kw_only=True, eq=False)
class Described:
    """Model as described by a file or repository."""

    architecture: Architecture  # tensors, cache and attention work
    # model with the stored bytes of each tensor; None where only the format is known
    model: Model | None
    # name in data/models/recipes.csv; empty for a format without a recipe, which `notes` names
    format: str
    source: str  # file or repository
    notes: tuple[str, ...]  # sentences for the user
    # further facts by name, as text (`commit`, `weight_bytes`, `model_type`)
    facts: Mapping[str, str]
