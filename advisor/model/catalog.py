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
    """Types that tensors are stored in."""
    return {row.name: row for row in read(DATA / "models/quants.csv", StorageType)}


@cache
def model_formats() -> Mapping[str, Format]:
    """Formats that people choose."""
    return formats(read(DATA / "models/recipes.csv", RecipeRow))


def find_model(name: str) -> ArchitectureSpec:
    """The catalogue's row of a model.

    Raises:
        UnknownName: with close names.
    """
    return find("model", name, model_rows(), "`data/models/models.csv` lists those it knows.")


def repository(name: str) -> str:
    """The unquantized checkpoint on Hugging Face; the name itself of a model from elsewhere."""
    row = model_rows().get(name)
    return row.hf_id if row and row.hf_id else name


@cache
def architecture(name: str) -> Architecture:
    """A catalogue model before its format is chosen.

    Raises:
        UnknownName: with close names.
        Refusal: a model whose row cannot be derived, and why.
    """
    return build(find_model(name))


@cache
def model(name: str, form: str) -> Model:
    """A catalogue model in a format.

    Raises:
        UnknownName: the model or the format.
        Refusal: a pair that cannot be.
    """
    return in_format(architecture(name), form)


@lru_cache(maxsize=2048)
def in_format(arch: Architecture, form: str) -> Model:
    """An architecture in a format.

    Raises:
        UnknownName: the format.
        Refusal: a pair that cannot be.
    """
    return quantized(arch, format_named(form, model_formats()), storage_types())
