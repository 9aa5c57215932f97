"""Layers by which a model drafts its own next tokens (multi-token prediction, MTP).

A file tells whether it has them: a config.json by its keys, a GGUF file by its tensors. Of a name
data/models/draft_heads.csv tells; a model that it lacks has none.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.model.model import Model


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftHeadRow:
    """One row of data/models/draft_heads.csv."""

    name: str  # pattern of the models' names, in lower case
    layers: int  # layers that draft
    source: str
    source_date: str


@cache
def _rows() -> Sequence[tuple[re.Pattern[str], int]]:
    rows = read(DATA / "models/draft_heads.csv", DraftHeadRow)
    return [(re.compile(row.name), row.layers) for row in rows]


@cache
def named_heads(name: str) -> int:
    """Drafting layers of a model by its name; 0 for a model without any."""
    told = name.casefold().replace("_", "-")
    return next((layers for pattern, layers in _rows() if pattern.search(told)), 0)


def draft_heads(model: Model) -> int:
    """Drafting layers of a model, as its file or its name tells; 0 for none."""
    of_file = model.architecture.draft_layers
    return named_heads(model.name) if of_file is None else of_file
