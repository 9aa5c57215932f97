"""Names and aliases of the catalogue's models, compared without spaces and dashes."""

from functools import cache

from advisor.catalog.name_matching import spellings
from advisor.model import catalog
from advisor.model.by_name.known_models import KnownRow
from advisor.model.by_name.names import ModelName, is_size, take_apart
from advisor.model.spec import ArchitectureSpec


def spelled(text: str) -> ArchitectureSpec | None:
    """Catalogue row of a name or alias, compared without spaces and dashes."""
    return _aliases().get(text.strip().casefold()) or _aliases().get(_joined(text))


@cache
def _aliases() -> dict[str, ArchitectureSpec]:
    rows = catalog.model_rows().values()
    index = {row.name.casefold(): row for row in rows}
    for row in rows:
        for spelling in spellings(row):
            index.setdefault(spelling, row)
    for row in rows:
        for spelling in spellings(row):
            index.setdefault(_joined(spelling), row)
    return index


def _joined(text: str) -> str:
    return "".join(letter for letter in text.strip().casefold() if letter not in " -_:")


def says_less(name: ModelName, row: ArchitectureSpec) -> bool:
    """Whether a name lacks a word or version of the model, as "llama 70B" does."""
    told = "".join(name.tokens)
    return any(token not in told for token in take_apart(row.name).tokens if not is_size(token))


def spellings_of(row: KnownRow) -> list[str]:
    """Name and aliases of a model of the catalogue, name of a listed one."""
    return spellings(row) if isinstance(row, ArchitectureSpec) else [row.name]
