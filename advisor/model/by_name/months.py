"""Months that names of models state: "mistral-large-2512" is another model than "-2407"."""

import re

from advisor.model.by_name.catalogue_names import spellings_of
from advisor.model.by_name.known_models import KnownRow
from advisor.model.by_name.names import ModelName, is_size, take_apart
from advisor.model.spec import ArchitectureSpec

MONTH = re.compile(r"2[3-6](?:0[1-9]|1[0-2])")
"""Pattern of a year and month, as Mistral dates its models."""
NEAR = 2
"""Months by which a repository may be older or newer than its name says."""


def is_of_another_month(name: ModelName, row: KnownRow) -> bool:
    """Whether a model with these words has other months alone, or appeared at another time."""
    typed = months_of(name)
    if not typed or any(map(is_size, name.shape)):
        return False
    alike = [take_apart(spelling) for spelling in spellings_of(row)]
    known = [months_of(other) for other in alike if other.shape == name.shape]
    if isinstance(row, ArchitectureSpec) and known and all(months - typed for months in known):
        return True
    dated = any(months & typed for months in map(months_of, alike))
    own = take_apart(row.name).shape[:1] == name.shape[:1]
    return own and not dated and all(_months_apart(row.released, month) > NEAR for month in typed)


def _months_apart(released: str, month: str) -> int:
    """Months between the day of a publication and a month as in names; 0 where unknown."""
    if not released[5:7]:
        return 0
    years = int(released[:4]) - 2000 - int(month[:2])
    return abs(12 * years + int(released[5:7]) - int(month[2:]))


def months_of(name: ModelName) -> set[str]:
    """Months in a name."""
    return {token for token in name.tokens if MONTH.fullmatch(token)}
