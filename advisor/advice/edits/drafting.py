"""Drafting: inputs of drafted tokens, and models with layers that draft."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import (
    ACCEPTED,
    DRAFT_MODEL,
    DRAFTED,
    DRAFTS,
    DraftModel,
    Workload,
    as_drafter,
)
from advisor.errors import AdvisorError, InputError
from advisor.model import resolve


def drafting(who: str, acceptance: float | None, drafted: float | None) -> dict[str, Any]:
    """Drafting fields of a `Workload`; empty without drafting.

    Args:
        who: drafting method, or name of a smaller model; empty for none.
        acceptance: probability that the model accepts a drafted token; None for the published one.
        drafted: drafted tokens per step; None for the method's usual number [tokens].

    Raises:
        InputError: neither a drafting method nor a model, or a missing acceptance where none is
            published.
    """
    if not who:
        return {}
    method = who.lower()
    smaller = None if method in DRAFTS else _draft_model(who)
    method = method if smaller is None else DRAFT_MODEL
    accepted = acceptance if acceptance is not None else ACCEPTED.get(method)
    if accepted is None:
        raise InputError(
            f"Drafting by {who[:40]} needs an acceptance (--acceptance), the share of drafted "
            "tokens that the model accepts, 0 to 1; engines print it as they run."
        )
    return {
        "draft": method,
        "draft_model": smaller,
        "drafted": DRAFTED[method] if drafted is None else drafted,
        "acceptance": accepted,
    }


def _draft_model(name: str) -> DraftModel:
    """Smaller model that drafts, in the format of its name.

    Raises:
        InputError: neither a model nor a drafting method of that name.
    """
    try:
        return as_drafter(resolve.find(name, None).model)
    except AdvisorError as error:
        raise InputError(
            f"Draft (--draft) is {name[:40]!r}, neither one of {', '.join(DRAFTS)} nor a model. "
            f"{error}"
        ) from error


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
