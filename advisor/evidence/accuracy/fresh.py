"""Scores of rows that nothing was fitted to or chosen by, as data/generated/fresh_scores.csv keeps
them: what a stranger meets.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256

from advisor.catalog.csv_tables import DATA, read

SCORES = DATA / "generated/fresh_scores.csv"
"""Written by `python -m lab.fresh`, a day's scores after those of earlier days."""
LLAMA_CPP = "llama.cpp family"
OTHERS = "other engines"
DRAFTED = "drafted"
PROMPTS = ", prompts"  # end of the name of a family's prompts
WITHIN = ": "  # between a family and one of its regimes or years


@dataclass(frozen=True, kw_only=True)
class FreshScore:
    """Score of a kind of fresh rows; fields as the columns of data/generated/fresh_scores.csv."""

    day: str  # day on which they were scored
    constants: str  # beginning of the digest of the constants' files
    kind: str  # family, or family and regime or year
    rows: int  # figures
    groups: int  # groups by publisher and machine
    publishers: int
    error: float  # median over groups of the median absolute relative error [share]
    row_error: float  # median over figures of the absolute relative error [share]
    bias: float  # median over groups of the median of predicted over measured
    held: float  # mean over groups of the share within the 80 % range
    row_held: float  # share of figures within it
    width: float  # median over groups of the median of high over low
    interval: float  # mean over groups of the interval score of logarithms, the lower the better


CONSTANTS = (DATA / "generated/efficiency.csv", DATA / "generated/engine_kernels.csv")
"""Files of the constants that a prediction depends on."""


@cache
def constants_digest() -> str:
    """Beginning of the digest of the constants' files, by which a score names them."""
    content = b"".join(path.read_bytes() for path in CONSTANTS)
    return sha256(content).hexdigest()[:8]


@cache
def fresh_scores() -> Sequence[FreshScore]:
    """All scores, oldest first."""
    return read(SCORES, FreshScore)


def last_scores() -> Sequence[FreshScore]:
    """Scores of the last day, without those of a single regime or year."""
    every = fresh_scores()
    return [row for row in every if row.day == every[-1].day and WITHIN not in row.kind]
