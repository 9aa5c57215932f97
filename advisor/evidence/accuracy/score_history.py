"""Scores of each set of constants on strangers' runs, oldest first.

`python -m lab.ledger` keeps the scores of today's constants in
data/generated/score_history.csv beside those of earlier ones, so that a range which was widened
alone shows: its interval score does not fall.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from advisor.catalog.csv_tables import DATA
from advisor.formatting import percent

HISTORY = DATA / "generated/score_history.csv"


@dataclass(frozen=True, kw_only=True)
class HistoryRow:
    """Score of a kind of run; fields as the columns of data/generated/score_history.csv."""

    day: str  # day on which it was scored
    constants: str  # beginning of the digest of the constants' files
    kind: str  # kind of run, as `text.kinds` names it
    rows: int  # figures
    groups: int  # groups by publisher and card
    error: float  # median over groups of the median absolute relative error [share]
    held: float  # mean over groups of the share within range
    width: float  # median over groups of the median of high over low
    interval: float  # mean over groups of the interval score, the lower the better


def history_markdown(rows: Sequence[HistoryRow]) -> str:
    """Table of the first and the last constants, kind by kind."""
    first, last = rows[0], rows[-1]
    before = {row.kind: row for row in rows if row.constants == first.constants}
    now = {row.kind: row for row in rows if row.constants == last.constants}
    lines = [
        f"Interval score of the ranges (the lower the better: the width of a range as a logarithm, "
        f"and ten times the distance of a figure outside it), of the constants of {first.day} "
        f"(`{first.constants}`) and of {last.day} (`{last.constants}`), publishers left out.",
        "",
        "| kind of run | error | within range | width | interval score |",
        "|---|---|---|---|---|",
    ]
    for kind, new in now.items():
        old = before.get(kind, new)
        lines.append(
            f"| {kind} | {percent(old.error, 1)} to {percent(new.error, 1)} "
            f"| {percent(old.held)} to {percent(new.held)} | {old.width:.2f} to {new.width:.2f} "
            f"| {old.interval:.2f} to {new.interval:.2f} |"
        )
    return "\n".join(lines)
