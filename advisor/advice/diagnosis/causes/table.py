"""Table of causes: prior plausibility, test and remedy."""

from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.probes.system import operating_system

SYSTEMS = {"linux": "Linux", "win32": "Windows", "darwin": "macOS"}
"""Operating systems of data/diagnosis/causes.csv, by `sys.platform`."""


def this_system() -> str:
    """Operating system of this machine; empty for one without causes of its own."""
    return SYSTEMS.get(operating_system(), "")


@dataclass(frozen=True, kw_only=True, slots=True)
class CauseRow:
    """One row of data/diagnosis/causes.csv.

    Attributes:
        key: key of `causes.CAUSES`, which computes its speeds.
        vendor: vendor of the first GPU that the row applies to; empty for any.
        system: operating system that the row applies to; empty for any.
        cause: difference from what was assumed, as a clause.
        prior: frequency of the cause before any measurement, 0 to 1; our judgement of reports, not
            a count: only the order matters.
        test: what to check, and what the result means.
        command: command of the test; empty where there is none.
        fix: remedy.
        source: documentation of the test and its options.
        retrieved: date when the source was read.
        note: further sources.
    """

    key: str
    vendor: str
    system: str
    cause: str
    prior: float
    test: str
    command: str
    fix: str
    source: str
    retrieved: str
    note: str


@cache
def cause_rows() -> tuple[CauseRow, ...]:
    """All rows, in the order of the file."""
    return read(DATA / "diagnosis/causes.csv", CauseRow)


def row_for(key: str, vendor: str, system: str) -> CauseRow | None:
    """Most specific row of a cause for a machine; None where none applies.

    Args:
        key: key of the cause.
        vendor: vendor of the first GPU; empty for none.
        system: operating system; empty where unknown, which excludes no row.
    """
    fitting = [
        row
        for row in cause_rows()
        if row.key == key
        and row.vendor in ("", vendor)
        and (not system or row.system in ("", system))
    ]
    return max(fitting, key=lambda row: (row.vendor != "", row.system == system), default=None)
