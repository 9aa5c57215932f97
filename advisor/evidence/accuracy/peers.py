"""Public advisors whose formulas are scored on the same rows: data/public_formulas.csv.

The formulas themselves are in `lab/peers.py`; their answers are kept with the points.
"""

from dataclasses import dataclass

from advisor.catalog.csv_tables import DATA, read


@dataclass(frozen=True, kw_only=True)
class Peer:
    """One public advisor."""

    name: str  # its authors' name for it
    version: str  # release or commit that was read
    date: str  # date of that version
    source: str  # address of its formula
    formula: str  # the formula in one line


PEERS = read(DATA / "public_formulas.csv", Peer)
"""Public advisors, in the order of the tables."""
