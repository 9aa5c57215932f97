"""Table of causes: prior plausibility, test and remedy."""

from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.probes.system import operating_system

SYSTEMS = {"linux": "Linux", "win32": "Windows", "darwin": "macOS"}
"""Operating systems as data/diagnosis/causes.csv names them, by `sys.platform`."""


def this_system() -> str:
    """The operating system that the program runs on; empty for others."""
    return SYSTEMS.get(operating_system(), "")


@dataclass(frozen=True, kw_only=True, slots=True)
class CauseRow:
    """One row of data/diagnosis/causes.csv.

    Attributes:
        key: of `causes.CAUSES`, which works out what follows from it.
        vendor: of the first GPU that the row is for; empty for any.
        system: operating system that the row is for; empty for any.
        cause: what is otherwise than assumed, as a clause.
        prior: how often it is so, before anything is measured, from 0 to 1. Nobody has counted:
            it is our judgement of what people report, and only the order it gives matters.
        test: what to look at, and what it says.
        command: what to type for it; empty where there is only something to look at.
        fix: what to do about it.
        source: where test and options are documented.
        retrieved: when it was read.
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
    """All rows, as the file has them."""
    return read(DATA / "diagnosis/causes.csv", CauseRow)


def row_for(key: str, vendor: str, system: str) -> CauseRow | None:
    """The row of a cause that suits a machine best; None where none does.

    Args:
        key: of the cause.
        vendor: of the first GPU; empty for none.
        system: operating system; empty where unknown, which rules nothing out.
    """
    fitting = [
        row
        for row in cause_rows()
        if row.key == key
        and row.vendor in ("", vendor)
        and (not system or row.system in ("", system))
    ]
    return max(fitting, key=lambda row: (row.vendor != "", row.system == system), default=None)
