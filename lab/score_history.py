"""Scores of today's constants beside those of earlier ones, in data/generated/score_history.csv."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime

from advisor.catalog.csv_tables import DATA, as_text, read
from advisor.evidence.accuracy.shipped import HISTORY, HistoryRow, Ledger
from advisor.evidence.accuracy.text import stranger_scores
from lab import rounded

CONSTANTS = (DATA / "generated/efficiency.csv", DATA / "generated/engine_kernels.csv")
"""Files of the constants that a prediction depends on."""


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
            error=rounded(score.error, 4),
            held=rounded(score.held, 4),
            width=rounded(score.width, 4),
            interval=rounded(score.interval, 4),
        )


def digest() -> str:
    """Beginning of the digest of the constants' files."""
    content = b"".join(path.read_bytes() for path in CONSTANTS)
    return hashlib.sha256(content).hexdigest()[:8]
