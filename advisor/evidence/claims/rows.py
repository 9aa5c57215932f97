"""Claims of articles and their cases, from data/.

A claim has one row in data/claims/claims.csv. Each machine or placement that it is checked on has
one row in data/claims/claim_cases.csv, whose empty fields take the claim's values.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, assignments, read

Inputs = Mapping[str, object]
"""Inputs of a scenario by name, from `key=value; ...`; numeric text becomes a number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimRow:
    """One row of data/claims/claims.csv.

    Attributes:
        number: number of the claim, from 1.
        topic: subject in a few words.
        claim: the claim, in our words.
        measure: quantity that is computed, a key of `measures.MEASURES`.
        low: lower end of the claimed range, in `unit`; empty for none.
        high: upper end of the claimed range, in `unit`; empty for none.
        unit: unit of both ends, a key of `ranges.UNITS`.
        figure: words after the figure.
        assumed: assumptions where the claim leaves something open.
        scenario: inputs shared by all cases, `key=value; ...`.
        against: changes that give the denominator's scenario; empty where the figure is no ratio.
        vary: inputs that may make the claim hold, separated by semicolons.
        mechanism: explanation, without figures of ours.
        source: source of the facts in `assumed` and `mechanism`.
        source_date: date when the source was read.
    """

    number: int
    topic: str
    claim: str
    measure: str
    low: float | None
    high: float | None
    unit: str
    figure: str
    assumed: str
    scenario: str
    against: str
    vary: str
    mechanism: str
    source: str
    source_date: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseRow:
    """One row of data/claims/claim_cases.csv; an empty field takes the claim's value.

    Attributes:
        claim: number of the claim.
        condition: clauses that distinguish this case from the others, separated by semicolons.
        inputs: changes to the claim's scenario, `key=value; ...`; `key=` removes an input.
        measure: measure of this case.
        low: lower end of the claimed range; with a `unit`, both ends are taken from this row.
        high: upper end of the claimed range.
        unit: unit of both ends.
        figure: words after the figure.
        against: changes that give the denominator's scenario; `none` for none.
        vary: inputs that may make the claim hold; `none` for none.
        beside: shown for comparison only, without influence on the verdict.
        source: source of a cited figure.
        source_date: date when the source was read.
    """

    claim: int
    condition: str
    inputs: str
    measure: str
    low: float | None
    high: float | None
    unit: str
    figure: str
    against: str
    vary: str
    beside: bool = False
    source: str
    source_date: str


@cache
def claim_rows() -> tuple[ClaimRow, ...]:
    """Claims, in the order of the file."""
    return read(DATA / "claims/claims.csv", ClaimRow)


@cache
def case_rows() -> tuple[CaseRow, ...]:
    """Cases, in the order of the file."""
    return read(DATA / "claims/claim_cases.csv", CaseRow)


def inputs(text: str) -> dict[str, object]:
    """Inputs of a scenario's text.

    Raises:
        DataError: a part that is not key=value.
    """
    return {key: _value(value) for key, value in assignments(text, "claims/claims.csv")}


def changed(before: Inputs, text: str) -> dict[str, object]:
    """Inputs with changes; an empty value removes its key."""
    both = {**before, **inputs(text)}
    return {key: value for key, value in both.items() if not _empty(value)}


def inherited(own: str, claims: str) -> str:
    """A case's own value, else the claim's; `none` gives an empty value."""
    chosen = own or claims
    return "" if chosen == "none" else chosen


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _empty(value: object) -> bool:
    return isinstance(value, str) and not value
