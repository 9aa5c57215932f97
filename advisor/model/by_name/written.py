"""Names of models as their publishers write them in prose: "Gemma 4 12B" for `gemma-4-12B-it`."""

import re
from functools import lru_cache

from advisor.model.by_name.names import LEFT_OUT, TABLE, words

HYPHENS = re.compile(TABLE.any_of("written with hyphens").pattern, re.IGNORECASE)
"""Families whose publishers keep the hyphens of their repositories."""
LOWER_SIZE = re.compile(r"(?<=\d)b(?=\s|$)")
POINT = re.compile(r"(?<=\d)_(?=\d)")  # how repositories write the point of a version


@lru_cache(maxsize=1024)
def written(name: str) -> str:
    """Name of a model of the catalogue or the list, without publisher, format and tuning."""
    first, *rest = [part for part in name.rpartition("/")[2].split("-") if part] or [name]
    kept = [part for part in rest if not _says_no_model(part)]
    if kept and words().get(first.casefold()) == "maker":
        parts = kept
    else:
        parts = [first, *kept]
    bare = POINT.sub(".", "-".join(parts))
    if bare[:1].islower():
        bare = _with_capitals(bare)
    if HYPHENS.match(bare):
        return bare
    return LOWER_SIZE.sub("B", bare.replace("-", " ").replace("_", " "))


def _with_capitals(bare: str) -> str:
    """Name whose family its maker writes with capitals, though its repository has none."""
    for pattern, value in TABLE.patterns("written"):
        if pattern.match(bare):
            return f"{value}{bare[len(value) :]}"
    return bare


def _says_no_model(part: str) -> bool:
    """Whether a word says a format or tuning alone; modes, as Thinking, are kept."""
    word = part.casefold()
    format_alone = TABLE.any_of("format part").fullmatch(word) is not None
    return format_alone or words().get(word) in LEFT_OUT - {"mode"}
