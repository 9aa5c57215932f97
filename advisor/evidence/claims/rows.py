"""Claims of articles and the cases that decide them, as data/ holds them.

A claim has one row in data/claims/claims.csv, each machine or placement it is tried on one in
data/claims/claim_cases.csv. A case takes from its claim what it leaves empty.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, assignments, read

Inputs = Mapping[str, object]
"""A scenario as written, `key=value; ...`: numbers where they read as such."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimRow:
    """One row of data/claims/claims.csv.

    Attributes:
        number: as articles are counted here, from 1.
        topic: what it is about, in a few words.
        claim: what is said, in our words.
        measure: what is computed, a key of `measures.MEASURES`.
        low: lower end of the range claimed, in `unit`; empty for none.
        high: upper end; empty for none.
        unit: of both, a key of `figures.UNITS`.
        figure: words that follow the figure.
        assumed: what was assumed where the claim leaves something open.
        scenario: what all its cases share, `key=value; ...`.
        against: changes that give the scenario it is divided by; empty where it is not.
        vary: inputs that may make it hold, separated by semicolons.
        mechanism: what lies behind it, without figures of ours.
        source: where the facts in `assumed` and `mechanism` were read.
        source_date: when.
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
    """One row of data/claims/claim_cases.csv.

    Attributes:
        claim: number of the claim.
        condition: what tells this case from the others, clauses separated by semicolons.
        inputs: changes to the claim's scenario, `key=value; ...`; `key=` takes one away.
        measure: another than the claim's.
        low: another range than the claim's; both ends are taken from here where one is given.
        high: likewise.
        unit: another than the claim's.
        figure: other words than the claim's.
        against: another than the claim's; `none` for none.
        vary: another than the claim's; `none` for none.
        beside: it does not decide; it shows what else there is.
        source: where a figure cited was read.
        source_date: when.
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
    """Claims in their order."""
    return read(DATA / "claims/claims.csv", ClaimRow)


@cache
def case_rows() -> tuple[CaseRow, ...]:
    """Cases in their order."""
    return read(DATA / "claims/claim_cases.csv", CaseRow)


def inputs(text: str) -> dict[str, object]:
    """What a scenario's text says.

    Raises:
        DataError: a part that is not key=value.
    """
    return {key: _value(value) for key, value in assignments(text, "claims/claims.csv")}


def changed(before: Inputs, text: str) -> dict[str, object]:
    """A scenario with changes; an empty value takes its key away."""
    both = {**before, **inputs(text)}
    return {key: value for key, value in both.items() if not _empty(value)}


def inherited(own: str, claims: str) -> str:
    """A case's own value, the claim's where it has none; `none` is none."""
    chosen = own or claims
    return "" if chosen == "none" else chosen


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _empty(value: object) -> bool:
    return isinstance(value, str) and not value
