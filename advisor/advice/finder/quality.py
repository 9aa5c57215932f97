"""Quality of models, from published scores, less the published loss of a smaller format.

A loss is published in nats per token, scores are points of a leaderboard. What a nat is worth is
taken from families in two sizes: the larger model has a lower perplexity and a higher score.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.advice.finder.formats import BY_LOSS
from advisor.catalog.csv_tables import DATA, read
from advisor.model.by_name.native_formats import GGUF_OF_NATIVE, native_format
from advisor.model.format_loss import format_loss_rows
from advisor.model.model import Model


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


SIZES = (("Llama-2-7B", "Llama-2-70B"), ("Llama-3-8B", "Llama-3-70B"))
"""Smallest and largest models of families with published perplexities and scores; each family
counts once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PerplexityRow:
    """One row of data/models/perplexity.csv: perplexity of a model in 16 bits."""

    model: str
    perplexity: float
    note: str
    date: str
    retrieved: str
    source: str


@cache
def perplexities() -> Mapping[str, float]:
    """Perplexities by the model's name."""
    return {
        row.model: row.perplexity for row in read(DATA / "models/perplexity.csv", PerplexityRow)
    }


@cache
def points_per_nat() -> float:
    """Points of the score for a nat per token, the mean of the families [points/nat].

    (score of the large - score of the small) / ln(perplexity of the small / of the large)
    """
    scores, known = quality_rows(), perplexities()
    each = [
        (scores[large].score - scores[small].score) / math.log(known[small] / known[large])
        for small, large in SIZES
    ]
    return sum(each) / len(each)


@cache
def points_lost(form: str) -> float | None:
    """Points that a format loses against 16 bits; None where no loss is published [points].

    Formats of serving engines lose as much as the next smaller GGUF format.
    """
    rows = format_loss_rows()
    smaller = BY_LOSS[BY_LOSS.index(form) :] if form in BY_LOSS else (form,)
    row = next((rows[name] for name in smaller if name in rows), None)
    return None if row is None else points_per_nat() * row.kl_divergence


def lost_by(model: Model) -> float | None:
    """Points that a model's format loses; 0 in the format in which its maker publishes it."""
    own = native_format(model.name)
    unchanged = own and model.format in (own, GGUF_OF_NATIVE.get(own))
    return 0.0 if unchanged else points_lost(model.format)
