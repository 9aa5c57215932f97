"""Files that makers of engines with experts in tiers publish for a model, by their size."""

import re
from dataclasses import dataclass
from functools import lru_cache

from advisor.catalog.csv_tables import DATA, read
from advisor.model.model import Model
from advisor.runtimes.tiered.engines import TieredEngine
from advisor.units import GIB


@dataclass(frozen=True, kw_only=True, slots=True)
class PackRow:
    """One row of data/runtimes/tiered_packs.csv: experts of a model in a format."""

    engines: str  # keys of the engines, separated by semicolons
    models: str  # pattern of the model
    format: str  # name of the format
    experts_gib: float  # size of all routed experts [GiB]
    source: str
    source_date: str


@lru_cache(maxsize=128)
def packed(engine: TieredEngine, model: Model) -> Model:
    """Model with the size of an engine's own files; unchanged where it has none for the format."""
    rows = read(DATA / "runtimes/tiered_packs.csv", PackRow)
    sizes = [
        row.experts_gib * GIB
        for row in rows
        if engine.key in row.engines.split(";")
        and row.format == model.format
        and re.search(row.models, model.name, re.IGNORECASE)
    ]
    if not sizes:
        return model
    return model.with_expert_bytes(sizes[0])
