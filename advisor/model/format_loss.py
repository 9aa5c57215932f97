"""Loss of quality by format, from published measurements."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read


@dataclass(frozen=True, kw_only=True, slots=True)
class FormatLossRow:
    """One row of data/models/format_loss.csv: mean Kullback-Leibler divergence of a format's next
    tokens from those of 16 bits, on Wikitext, of one measured model.
    """

    format: str
    kl_divergence: float
    model: str
    imatrix: str
    retrieved: str
    source: str


@cache
def format_loss_rows() -> Mapping[str, FormatLossRow]:
    """Losses by format."""
    return {row.format: row for row in read(DATA / "models/format_loss.csv", FormatLossRow)}
