"""Effort of setting up each runtime."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read


@dataclass(frozen=True, kw_only=True, slots=True)
class EffortRow:
    """One row of data/runtimes/setup_effort.csv.

    Attributes:
        runtime: name of the runtime.
        effort: effort of installation and start, in a few words.
        why: reason in a sentence or two.
        source: documentation of the installation.
        retrieved: date when the source was read.
    """

    runtime: str
    effort: str
    why: str
    source: str
    retrieved: str


@cache
def setup_efforts() -> Mapping[str, EffortRow]:
    """Effort of setting up each runtime, by its name."""
    return {row.runtime: row for row in read(DATA / "runtimes/setup_effort.csv", EffortRow)}
