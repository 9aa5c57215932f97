"""Catalogue of models: rows by name, models in their formats."""

from collections.abc import Mapping
from functools import cache, lru_cache

from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.name_matching import by_name, find
from advisor.model.architecture import Architecture
from advisor.model.build import build
from advisor.model.formats.formats import Format, RecipeRow, format_named, formats
from advisor.model.formats.quantization import StorageType
from advisor.model.model import Model, quantized
from advisor.model.spec import ArchitectureSpec


@cache
def model_rows() -> Mapping[str, ArchitectureSpec]:
    """Architectures' numbers by name."""
    return by_name(read(DATA / "models/models.csv", ArchitectureSpec))


@cache
def storage_types() -> Mapping[str, StorageType]:
    """Storage types of tensors by name."""
    return {row.name: row for row in read(DATA / "models/quants.csv", StorageType)}


@cache
def model_formats() -> Mapping[str, Format]:
    """Formats of models by name."""
    return formats(read(DATA / "models/recipes.csv", RecipeRow))


def find_model(name: str) -> ArchitectureSpec:
    """Catalogue row of a model.

    Raises:
        UnknownName: no such model; lists similar names.
    """
    return find("model", name, model_rows(), "`data/models/models.csv` lists those it knows.")


def repository(name: str) -> str:
    """Repository of the unquantized checkpoint on Hugging Face; else the name itself."""
    row = model_rows().get(name)
    return row.hf_id if row and row.hf_id else name


@cache
def architecture(name: str) -> Architecture:
    """Architecture of a catalogue model.

    Raises:
        UnknownName: no such model; lists similar names.
        Refusal: a model whose architecture cannot be derived, with the reason.
    """
    return build(find_model(name))


@cache
def model(name: str, form: str) -> Model:
    """Catalogue model in a format.

    Raises:
        UnknownName: an unknown model or format.
        Refusal: a format that the model does not have.
    """
    return in_format(architecture(name), form)


@lru_cache(maxsize=2048)
def in_format(arch: Architecture, form: str) -> Model:
    """Architecture in a format.

    Raises:
        UnknownName: an unknown format.
        Refusal: a format that the architecture does not have.
    """
    return quantized(arch, format_named(form, model_formats()), storage_types())
