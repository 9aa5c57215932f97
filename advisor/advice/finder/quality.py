"""Quality of models and loss by format, from published scores."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class FormatLossRow:
    """One row of data/models/format_loss.csv: how far a format's next tokens lie from those of
    16 bits, as the mean Kullback-Leibler divergence on Wikitext, of one measured model.
    """

    format: str
    kl_divergence: float
    model: str
    imatrix: str
    retrieved: str
    source: str


@cache
def quality_rows() -> Mapping[str, QualityRow]:
    """Scores by the model's name in the catalogue."""
    return {row.model: row for row in read(DATA / "models/quality.csv", QualityRow)}


@cache
def format_loss_rows() -> Mapping[str, FormatLossRow]:
    """Losses by format."""
    return {row.format: row for row in read(DATA / "models/format_loss.csv", FormatLossRow)}
