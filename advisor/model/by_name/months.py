"""Months that names of models state: "mistral-large-2512" is another model than "-2407"."""

import re

from advisor.model.by_name.catalogue_names import spellings_of
from advisor.model.by_name.known_models import KnownRow
from advisor.model.by_name.names import ModelName, is_size, take_apart
from advisor.model.spec import ArchitectureSpec

MONTH = re.compile(r"2[3-6](?:0[1-9]|1[0-2])")
"""Pattern of a year and month, as Mistral dates its models."""


def is_of_another_month(name: ModelName, row: KnownRow) -> bool:
    """Whether a model of the catalogue has these words with other months alone."""
    typed = months_of(name)
    alike = [take_apart(spelling) for spelling in spellings_of(row)]
    known = [months_of(other) for other in alike if other.shape == name.shape]
    of_catalogue = isinstance(row, ArchitectureSpec) and not any(map(is_size, name.shape))
    return of_catalogue and bool(typed and known) and all(months - typed for months in known)


def months_of(name: ModelName) -> set[str]:
    """Months in a name."""
    return {token for token in name.tokens if MONTH.fullmatch(token)}
