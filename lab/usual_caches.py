"""Caches of models whose layers are known, from which unknown models take theirs.

    python -m lab.usual_caches

writes data/generated/usual_caches.csv anew, after a change of the list or of a rule.
"""

import math
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby

from advisor.catalog.records import csv_text
from advisor.errors import AdvisorError
from advisor.model.architecture import Architecture
from advisor.model.by_name import known
from advisor.model.by_name.hub_list import HubRow
from advisor.model.by_name.listed import hub_rules, is_described
from advisor.model.by_name.names import stated_size, take_apart, words
from advisor.model.by_name.stand_in import FILE, CacheRow, cached_values, family_of, year_of
from lab import write

SINCE = 2024  # year of publication from which models are in the table
OF_A_FAMILY = 4  # largest number of models of a family in the table, spread over its sizes
NEAR_ITS_NAME = 0.25  # logarithm of how far counted weights may be from those in a name
NO_TEXT = {"vl", "ocr", "embedding", "reranker", "audio", "omni"}
"""Words in names of models that have more than layers for text, or write none."""


def counted_rows() -> Iterator[CacheRow]:
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
    by_size = sorted(shapes.values(), key=lambda row: (row.family, row.params, row.model))
    for _, models in groupby(by_size, lambda row: row.family):
        family = list(models)
        taken = min(len(family), OF_A_FAMILY)
        for place in range(taken):
            yield family[place * (len(family) - 1) // max(taken - 1, 1)]


def _known() -> Iterator[tuple[known.KnownRow, Architecture]]:
    """Models whose layers are known and whose names tell their size."""
    for key in dict.fromkeys(known.known_keys()):
        row = known.base_of(key)
        if row is None or not row.released or year_of(row) < SINCE or not _writes_text(row):
            continue
        name = take_apart(row.name)
        size = stated_size(name)
        if size is not None and name.shape:
            with suppress(AdvisorError):
                built = known.architecture_of(row)
                off = abs(math.log(built.params / size.params))
                if off < NEAR_ITS_NAME and cached_values(built):
                    yield row, built


def _writes_text(row: known.KnownRow) -> bool:
    """Whether a row is a model of its own, of a family with a rule, that writes text."""
    if not isinstance(row, HubRow):
        return True
    ruled = row.architecture in hub_rules() or is_described(row.architecture)
    named = row.key.split()
    other = "other" in map(words().get, named) or not NO_TEXT.isdisjoint(named)
    return ruled and row.heads > 0 and not known.is_drafting(row) and not other


def main() -> int:
    """Write the table."""
    return write({FILE: csv_text(counted_rows())})


if __name__ == "__main__":
    sys.exit(main())
