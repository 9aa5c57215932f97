"""Facts of a model family that its config.json leaves out, from data/models/families.csv.

A config.json gives sizes. Whether queries are normalized, projections have biases or a layer has
four norms is written in the family's code, and so are the values of keys that a file leaves out.
One row per family holds both; a new family is one row.

`facts` are fields of ArchitectureSpec: `qk_norm=head`, or under a condition
`qkv_bias=true?attention_bias` (where that key is true in the file). Later ones win.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from advisor.catalog.csv_tables import DATA, assignments, read
from advisor.errors import Refusal, close_names
from advisor.model.config.values import Config, language_model

FILE = "models/families.csv"


@dataclass(frozen=True, kw_only=True, slots=True)
class FamilyRow:
    """One row of data/models/families.csv."""

    model_types: str  # values of `model_type` that mean this family, separated by spaces
    facts: str  # facts fixed by the family's code, as above
    defaults: str  # defaults of its configuration class for absent keys, `key=value; ...`
    # rows that a learned position table has beyond the context; empty without such a table
    learned_beyond: int | None
    refused: str  # why it cannot be derived; empty where it can
    source: str  # source of the code
    source_date: str  # when
    note: str  # remarks


@cache
def families() -> Mapping[str, FamilyRow]:
    """Families by `model_type`."""
    rows = read(DATA / FILE, FamilyRow)
    return {model_type: row for row in rows for model_type in row.model_types.split()}


def language_config(name: str, values: Mapping[str, object]) -> tuple[Config, FamilyRow]:
    """The language model's part of a config.json, with its family and the family's defaults.

    Raises:
        Refusal: a family without a rule.
        InputError: `model_type` is no text.
    """
    config = Config(name=name, values=language_model(values))
    family = _family(config)
    return replace(config, defaults=dict(_pairs(family.defaults))), family


def fixed_facts(config: Config, family: FamilyRow) -> dict[str, object]:
    """Facts fixed by the family's code, as fields of ArchitectureSpec."""
    facts: dict[str, object] = {}
    for field, text in assignments(family.facts, FILE):
        value, _, condition = text.partition("?")
        if not condition or config.flag(condition):
            facts[field] = _literal(value)
    return facts


def _family(config: Config) -> FamilyRow:
    kind = config.word("model_type")
    if not kind:
        raise Refusal(
            f"The config.json of {config.name} has no model_type, which says how the model is "
            "built. Give the file as its repository has it, or the model as a GGUF file."
        )
    family = families().get(kind)
    if family is None:
        close = close_names(kind, tuple(families()))
        hint = f" Known families with similar names: {', '.join(close)}." if close else ""
        raise Refusal(
            f"{config.name} is of the family {kind[:60]!r} (model_type), whose layers this program "
            f"does not know, so it will not guess.{hint} A GGUF file of it can be described, as "
            "its header lists every tensor."
        )
    if family.refused:
        raise Refusal(
            f"{config.name} is of the family {kind!r} and cannot be derived: {family.refused}. "
            "A GGUF file of it tells its sizes."
        )
    return family


def _pairs(text: str) -> Iterator[tuple[str, object]]:
    return ((key, _literal(value)) for key, value in assignments(text, FILE))


def _literal(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text
