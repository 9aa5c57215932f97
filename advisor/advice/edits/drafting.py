"""Drafting: inputs of drafted tokens, and models with layers that draft."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import (
    ACCEPTED,
    DRAFTED,
    Workload,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftingRow:
    """One row of data/models/drafting.csv: number of `layers` that draft, from `key` in the model's
    config.json.
    """

    model: str
    draft: str
    key: str
    layers: int
    source: str
    source_date: str


@cache
def drafting_rows() -> Mapping[str, DraftingRow]:
    """Rows by the model's name in the catalogue."""
    return {row.model: row for row in read(DATA / "models/drafting.csv", DraftingRow)}


def drafted_work(model: str, work: Workload, runtime: Runtime) -> Workload | None:
    """Request with tokens drafted by the model's own layers; None without such layers, without
    support in the runtime, or where the request has drafting already.
    """
    row = drafting_rows().get(model)
    if row is None or work.draft or not runtime.drafts:
        return None
    return replace(
        work, draft=row.draft, drafted=DRAFTED[row.draft], acceptance=ACCEPTED[row.draft]
    )
