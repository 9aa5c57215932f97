"""Cache that models of a size, kind and time usually have.

data/generated/usual_caches.csv has up to four models of each family of 2024 and later whose layers
are known. Caches of families differ by up to thirty times, as layers with windows, latent values or
a state alternate with others; a model of an unknown family takes the weighted median of the
families, each weighted by its nearest model in size and time.

    python -m advisor.model.by_name.usual_caches

writes the table anew, after a change of the list or of a rule.
"""

import csv
import io
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import AdvisorError
from advisor.model.architecture import Architecture
from advisor.model.by_name.base_models import (
    KnownRow,
    base_of,
    catalogue_keys,
    is_drafting,
    makers_keys,
)
from advisor.model.by_name.listed.from_row import is_described
from advisor.model.by_name.listed.hub_list import HubRow
from advisor.model.by_name.listed.hub_rules import hub_rules
from advisor.model.by_name.names import StatedSize, stated_size, take_apart, words
from advisor.model.by_name.relatives import architecture_of, cached_values, family_of, year_of

FILE = DATA / "generated" / "usual_caches.csv"
SINCE = 2024
"""Year of publication from which models are in the table."""
OF_A_FAMILY = 4
"""Largest number of models of a family in the table, spread over its sizes."""
NEAR_ITS_NAME = 0.25
"""Logarithm of how far counted weights may be from those in a name."""
GROWTH = 0.4
"""Power of the weights with which caches grow: 0.3 to 0.5 predict left-out families alike."""
WIDTH_OF_SIZES = 1.5
"""Standard deviation of a model's weight by size [logarithm]; 0.7 to 1.5 predict alike."""
WIDTH_OF_YEARS = 1.0
"""Standard deviation of a model's weight by time [years]; 0.7 to 2 predict alike."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheRow:
    """One row of data/generated/usual_caches.csv."""

    model: str  # name in the catalogue or the list
    family: str  # first word of the name
    params: int  # weights
    experts: int  # routed experts of a layer; 0 for a dense model
    year: int  # year of publication
    values: int  # values that it keeps of a text of `relatives.LONG` tokens


@cache
def rows() -> tuple[CacheRow, ...]:
    """The table."""
    return read(FILE, CacheRow)


def usual_cache(size: StatedSize, experts: bool, year: int, without: str = "") -> float:
    """Values that a model of unknown family keeps of a text of `relatives.LONG` tokens.

    Args:
        size: its weights.
        experts: whether it has experts.
        year: year in which it was in use.
        without: family that is left out, in tests and benchmarks.
    """
    families: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in rows():
        if row.family != without and (row.experts > 0) == experts:
            apart = math.log(row.params / size.params)
            nearness = (apart / WIDTH_OF_SIZES) ** 2 + ((row.year - year) / WIDTH_OF_YEARS) ** 2
            grown = math.log(row.values) - GROWTH * apart
            families[row.family].append((grown, math.exp(-nearness / 2)))
    weighted = sorted(
        (_mean(models), max(weight for _, weight in models)) for models in families.values()
    )
    half = sum(weight for _, weight in weighted) / 2
    for value, weight in weighted:
        half -= weight
        if half <= 0:
            return math.exp(value)
    return math.exp(weighted[-1][0])


def _mean(models: Sequence[tuple[float, float]]) -> float:
    return sum(value * weight for value, weight in models) / sum(weight for _, weight in models)


def counted_rows() -> tuple[CacheRow, ...]:
    """The table, counted from the catalogue and the list; fine-tunes count as their base."""
    shapes: dict[tuple[int, ...], CacheRow] = {}
    for row, built in _known():
        shapes.setdefault(
            (row.layers, row.hidden, row.kv_heads, row.experts),
            CacheRow(
                model=row.name,
                family=family_of(row),
                params=built.params,
                experts=row.experts,
                year=year_of(row),
                values=round(cached_values(built)),
            ),
        )
    families: dict[str, list[CacheRow]] = defaultdict(list)
    for counted in shapes.values():
        families[counted.family].append(counted)
    return tuple(row for _, models in sorted(families.items()) for row in _spread(models))


def _spread(models: Iterable[CacheRow]) -> Iterator[CacheRow]:
    """Models of a family, evenly by size."""
    ordered = sorted(models, key=lambda row: (row.params, row.model))
    taken = min(len(ordered), OF_A_FAMILY)
    for place in range(taken):
        yield ordered[place * (len(ordered) - 1) // max(taken - 1, 1)]


def _known() -> Iterator[tuple[KnownRow, Architecture]]:
    """Models whose layers are known and whose names tell their size."""
    for key in dict.fromkeys((*catalogue_keys(), *makers_keys())):
        row = base_of(key)
        if row is None or not row.released or year_of(row) < SINCE or not _writes_text(row):
            continue
        name = take_apart(row.name)
        size = stated_size(name)
        if size is None or not name.shape:
            continue
        try:
            built = architecture_of(row)
        except AdvisorError:
            continue
        if abs(math.log(built.params / size.params)) < NEAR_ITS_NAME and cached_values(built):
            yield row, built


def _writes_text(row: KnownRow) -> bool:
    """Whether a row is a model of its own, of a family with a rule, that writes text."""
    if not isinstance(row, HubRow):
        return True
    ruled = row.architecture in hub_rules() or is_described(row.architecture)
    meanings = {words().get(word) for word in row.key.split()}
    towers = {"vl", "ocr", "embedding", "reranker", "audio", "omni"} & set(row.key.split())
    return (
        ruled and row.heads > 0 and not is_drafting(row) and "other" not in meanings and not towers
    )


def main() -> int:
    """Write the table."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(field.name for field in fields(CacheRow))
    writer.writerows(astuple(row) for row in counted_rows())
    FILE.write_text(text.getvalue(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
