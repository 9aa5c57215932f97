"""Drafted tokens of a request: their drafter, their number, and the share that is accepted."""

import re
from typing import Any

from advisor.catalog import inputs
from advisor.catalog.csv_tables import texts
from advisor.cost_model.workload import Draft
from advisor.errors import AdvisorError, InputError
from advisor.model import resolve
from advisor.model.model import Model
from advisor.units import Array


def drafting(who: str, acceptance: Array | None, drafted: Array | None) -> dict[str, Any]:
    """Drafting fields of a `Workload` for a method or a smaller model, `who`; empty without
    drafting.

    Published or usual numbers stand in for an acceptance or a number of tokens that is None.

    Raises:
        InputError: neither a method nor a model, or no acceptance where none is published.
    """
    if not who:
        return {}
    method = spelled(who)
    smaller = None
    if method not in Draft.by_name():
        smaller = _draft_model(who)
        method = Draft.MODEL
    usual = Draft.usual(method)
    number = usual.tokens if drafted is None else drafted
    if acceptance is None:
        accepted: Array | None = usual.acceptance
    else:
        inputs.INPUTS.check({"drafted": number, "acceptance": acceptance})
        accepted = Draft.chance(number, acceptance)
    if accepted is None:
        raise InputError(
            f"Drafting by {who[:40]} needs an acceptance (--acceptance), the share of drafted "
            "tokens that the model accepts, 0 to 1; engines print it as they run."
        )
    return {
        "draft": method,
        "draft_model": smaller,
        "drafted": number,
        "acceptance": accepted,
    }


def spelled(who: str) -> str:
    """Method in the spelling of the program, by the names that engines have for it; other text is
    in lower case.
    """
    name = who.strip().casefold()
    patterns = texts("request/draft_spellings.csv", "pattern", "method")
    return next(
        (method for pattern, method in patterns.items() if re.fullmatch(pattern, name)), name
    )


def _draft_model(name: str) -> Model:
    """Smaller model that drafts, in the format of its name."""
    try:
        return resolve.find(name, None).model
    except AdvisorError as error:
        raise InputError(
            f"Draft (--draft) is {name[:40]!r}, neither one of {', '.join(Draft.by_name())} nor a "
            f"model. {error}"
        ) from error
