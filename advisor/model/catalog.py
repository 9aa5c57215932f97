"""Catalogue of models: rows by name, models in their formats."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.name_matching import by_name, find
from advisor.model.architecture import Architecture, ArchitectureSpec
from advisor.model.build import build
from advisor.model.formats import Format
from advisor.model.model import Model


@cache
def model_rows() -> Mapping[str, ArchitectureSpec]:
    """Architectures' numbers by name."""
    return by_name(read(DATA / "models/models.csv", ArchitectureSpec))


def find_model(name: str) -> ArchitectureSpec:
    """Catalogue row of a model."""
    return find("model", name, model_rows(), "`data/models/models.csv` lists those it knows.")


def repository(name: str) -> str:
    """Repository of the unquantized checkpoint on Hugging Face; the name itself where none is
    known.
    """
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
    """Repositories by model and format: the maker's, or that of a publisher of many."""
    rows = read(DATA / "models/checkpoints.csv", CheckpointRow)
    return {(row.model, row.format): row.repository for row in rows}


@dataclass(frozen=True, kw_only=True, slots=True)
class VisionRow:
    """One row of data/models/vision.csv: a catalogue model that reads images."""

    model: str
    tower: int  # weights of its encoder with its projector; 0 where they are not counted
    tower_source: str
    source: str  # page that says that it reads images


@cache
def vision_rows() -> Mapping[str, VisionRow]:
    """Models that read images, by name."""
    return {row.model: row for row in read(DATA / "models/vision.csv", VisionRow)}


@cache
def architecture(name: str) -> Architecture:
    """Architecture of a catalogue model."""
    row = vision_rows().get(name)
    return replace(build(find_model(name)), tower=row.tower if row else 0)


@cache
def model(name: str, form: str) -> Model:
    """Catalogue model in a format."""
    return in_format(architecture(name), form)


@lru_cache(maxsize=2048)
def in_format(arch: Architecture, form: str) -> Model:
    """Architecture in a format."""
    recipe = Format.named(form)
    return Model.from_tensors(arch, recipe.tensor_types(arch), recipe.name)
