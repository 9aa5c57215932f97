"""Quality of models, from published scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read


@dataclass(frozen=True, kw_only=True, slots=True)
class QualityRow:
    """One row of data/models/quality.csv: a leaderboard's score, and the model's name there."""

    model: str
    score: float
    plus_minus: float
    scale: str
    rated_as: str
    date: str
    retrieved: str
    source: str


@cache
def quality_rows() -> Mapping[str, QualityRow]:
    """Scores by the model's name in the catalogue."""
    return {row.model: row for row in read(DATA / "models/quality.csv", QualityRow)}
