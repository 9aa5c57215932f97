"""Scores of each set of constants on strangers' runs, oldest first.

`python -m lab.ledger` keeps the scores of today's constants in
data/generated/score_history.csv beside those of earlier ones, so that a range which was widened
alone shows: its interval score does not fall.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from advisor.catalog.csv_tables import DATA, as_text, read
from advisor.evidence.accuracy.shipped import Ledger
from advisor.evidence.accuracy.text import percent, stranger_scores

HISTORY = DATA / "generated/score_history.csv"
CONSTANTS = (DATA / "generated/efficiency.csv", DATA / "generated/engine_kernels.csv")
"""Files of the constants that a prediction depends on."""


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


def history_table(ledger: Ledger) -> str:
    """Text of the file with the scores of today's constants, in place of their former ones."""
    today = list(_today(ledger))
    earlier = read(HISTORY, HistoryRow) if HISTORY.exists() else ()
    kept = [row for row in earlier if row.constants != today[0].constants]
    return as_text([*kept, *today])


def _today(ledger: Ledger) -> Iterator[HistoryRow]:
    day, constants = datetime.now(UTC).date().isoformat(), digest()
    unseen = [ledger.unseen] if ledger.unseen else []
    for score in (*stranger_scores(ledger.points), *unseen):
        yield HistoryRow(
            day=day,
            constants=constants,
            kind=score.name,
            rows=score.rows,
            groups=score.groups,
            error=_four(score.error),
            held=_four(score.held),
            width=_four(score.width),
            interval=_four(score.interval),
        )


def digest() -> str:
    """Beginning of the digest of the constants' files."""
    content = b"".join(path.read_bytes() for path in CONSTANTS)
    return hashlib.sha256(content).hexdigest()[:8]


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


def _four(number: float) -> float:
    return float(f"{number:.4g}")
