"""Releases of runtimes: which one the commands and constants were written for, what is newer.

Engines that keep experts in tiers have theirs in data/runtimes/tiered_engines.csv.
"""

from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read


@dataclass(frozen=True, kw_only=True, slots=True)
class ReleaseRow:
    """One row of data/runtimes/releases.csv."""

    runtime: str  # name of the runtime
    written_for: str  # release that its command and its constants were written for
    newest: str  # newest release on the day of the check; empty where no page says it
    checked: str  # day on which its page and its options were read
    difference: str  # what a newer one does otherwise; empty for nothing that counts
    source: str


@cache
def releases() -> tuple[ReleaseRow, ...]:
    """Rows of the table of releases."""
    return read(DATA / "runtimes/releases.csv", ReleaseRow)
