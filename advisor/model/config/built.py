"""Models of families that no rule describes, with the shapes of their tensors.

data/models/built_models.csv holds them as a library builds them (`python -m lab.built_models`), so
that their weights are exact though nobody described their layers. A config.json of the same family
and sizes has the same tensors.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.model.config.values import Config, language_model, parse

FILE = "models/built_models.csv"
SIZES = ("hidden", "vocab", "heads", "kv_heads", "layers", "experts", "experts_per_token")
WIDTHS = ("intermediate", "moe_intermediate", "shared_intermediate", "head_dim")
"""Sizes by which models of a family differ."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BuiltModelRow:
    """One row of the table; sizes as in the list of the Hub, 0 where not stated."""

    name: str  # repository, `owner/name`
    architecture: str  # `model_type` of its config.json
    parameters: int  # weights that its files hold
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    feed_forward: int
    shared_feed_forward: int
    experts: int
    experts_used: int
    context: int
    released: str  # day of publication; empty where unknown
    config: str  # keys of its config.json
    tensors: str  # shapes of its tensors
    date: str  # day on which it was built
    source: str  # code that builds it


@cache
def built_models() -> Mapping[str, BuiltModelRow]:
    """Rows by name in lower case."""
    return {row.name.casefold(): row for row in read(DATA / FILE, BuiltModelRow)}


def built_like(whole: Mapping[str, object]) -> BuiltModelRow | None:
    """Model of the family and sizes of a config.json; None where none is built."""
    stated = Config(name="", values=language_model(whole))
    named = {str(part.get("model_type")) for part in (whole, stated.values)}
    named |= {family.removesuffix("_text") for family in named}
    alike = (row for row in built_models().values() if row.architecture in named)
    return next((row for row in alike if _same_sizes(stated, row)), None)


def _same_sizes(stated: Config, row: BuiltModelRow) -> bool:
    """Whether a config.json states the sizes that a model was built with, and no other."""
    built = Config(name=row.name, values=parse(row.config, row.name))
    told = [key for key in (*SIZES, *WIDTHS) if stated.states(key)]
    return "hidden" in told and all(
        stated.raw(key)[1] == built.raw(key)[1] for key in told if built.states(key)
    )
