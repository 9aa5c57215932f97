"""Models that a person fetched from the Hub, each with its own config.json.

The offline list knows a model by its sizes and a rule of its family; these are described by their
config.json, and where that is not enough by the shapes of their tensors, as if the Hub were asked
now. `refresh models` writes them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog import renewed

TABLE = "models"


@dataclass(frozen=True, kw_only=True, slots=True)
class RenewedModelRow:
    """One row of a renewed table of models; sizes as in `hub_list.HubRow`, 0 where not stated."""

    name: str  # repository, `owner/name`
    architecture: str  # `model_type` of its config.json
    parameters: int  # weights that its files hold, as the Hub counts them
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
    downloads: int  # of the last month
    weight_bytes: int  # bytes of its safetensors files
    refused: str  # why it cannot be described; empty where it can
    config: str  # its config.json
    tensors: str  # shapes of its tensors, where its config.json does not tell them; else empty
    date: str  # day on which it was read
    source: str  # address of its config.json at a commit


@cache
def renewed_models() -> Mapping[str, RenewedModelRow]:
    """Rows by name in lower case, the most downloaded first."""
    rows = renewed.rows(TABLE, RenewedModelRow, beside=True)
    return {row.name.casefold(): row for row in rows}
