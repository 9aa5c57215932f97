"""Effort of setting up each runtime."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read


@dataclass(frozen=True, kw_only=True, slots=True)
class EffortRow:
    """One row of data/runtimes/setup_effort.csv: what it takes to get a runtime going, in a few
    words, and the reason in a sentence or two.
    """

    runtime: str
    effort: str
    why: str
    source: str
    retrieved: str


@cache
def setup_efforts() -> Mapping[str, EffortRow]:
    """What it takes to get a runtime going, by its name."""
    return {row.runtime: row for row in read(DATA / "runtimes/setup_effort.csv", EffortRow)}
