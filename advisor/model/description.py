"""Description of a model: architecture, stored format, notes."""

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.model.architecture import Architecture
from advisor.model.model import Model


@dataclass(frozen=True, kw_only=True, eq=False)
class Described:
    """A model as a file or a repository describes it.

    Attributes:
        architecture: tensors, cache and attention work.
        model: the same with each tensor's stored bytes, where a file told them; None where only
            the format's name is known and a recipe must say.
        format: as data/models/recipes.csv names it; empty where it has no recipe; `notes` then
            says which.
        source: the file or repository, as a person can find it.
        notes: sentences a person should read.
        facts: further findings by name, as text (`commit`, `weight_bytes`, `model_type`).
    """

    architecture: Architecture
    model: Model | None
    format: str
    source: str
    notes: tuple[str, ...]
    facts: Mapping[str, str]
