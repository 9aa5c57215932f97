"""Similar models, for an incomplete or misspelled name."""

import re
from itertools import pairwise

from advisor.model.by_name.known_models import KnownRow, base_of, catalogue_keys, makers_keys
from advisor.model.by_name.names import ModelName, is_size, words

VERSION = re.compile(r"\d+(?:\.\d+)*")

OFFERED = 5
"""Number of similar names that are offered."""
LEAST_ALIKE = 60
"""Smallest similarity of an offered name [%]."""
ONE_LETTER = 92
"""Similarity above which numbers may differ, as a digit may be mistyped [%]."""
MISSPELLED = 85
"""Similarity above which a name counts as misspelled, not as a new model [%]."""


def close_models(name: ModelName) -> tuple[str, ...]:
    """Names that may be meant, likeliest first."""
    rows = candidates(name.shape)
    if rows:
        return tuple(dict.fromkeys(row.name for row in rows))[:OFFERED]
    return _spelled_alike(name, MISSPELLED if any(map(is_size, name.shape)) else LEAST_ALIKE)


def _spelled_alike(name: ModelName, least: float) -> tuple[str, ...]:
    """Names with the same numbers whose words are spelled alike, by rapidfuzz."""
    from rapidfuzz import fuzz, process  # 60 ms that only a misspelled name is worth

    known = list(dict.fromkeys((*catalogue_keys(), *makers_keys())))
    numbers = {_number(token) for token in name.shape} - {""}
    spelled = [key for key in known if all(number in key for number in numbers)]
    alike = [key for key in spelled if numbers <= {_number(part) for part in key.split()}]
    typed = " ".join(name.shape)
    scored = process.extract(
        typed, alike, scorer=fuzz.token_sort_ratio, limit=OFFERED, score_cutoff=least
    ) or process.extract(
        typed, known, scorer=fuzz.token_sort_ratio, limit=OFFERED, score_cutoff=ONE_LETTER
    )
    rows = (base_of(key) for key, *_ in scored)
    return tuple(dict.fromkeys(row.name for row in rows if row is not None))


def _number(token: str) -> str:
    return token.rstrip("bmtk") if any(map(str.isdigit, token)) else ""


def candidates(tokens: tuple[str, ...]) -> tuple[KnownRow, ...]:
    """Models with all words and numbers of a name; the catalogue's first, then by downloads."""
    if not tokens or all(map(is_size, tokens)):
        return ()
    typed = " ".join(tokens)
    known = (*catalogue_keys(), *makers_keys())
    keys = [key for key in known if _has_all(key, tokens) and _has_versions(key, tokens)]
    exact = [key for key in keys if set(tokens) <= set(key.split())]
    rows = ((key, row) for key in exact or keys if (row := base_of(key)) is not None)
    newest = sorted(rows, key=lambda pair: pair[1].released, reverse=True)
    likeliest = sorted(newest, key=lambda pair: (not pair[0].startswith(typed), pair[0].count(" ")))
    return tuple({row.name: row for _, row in likeliest}.values())


def _has_all(key: str, tokens: tuple[str, ...]) -> bool:
    if not all(token in key for token in tokens):
        return False
    parts = key.split()
    return all(
        any(token == part or (is_size(part) and part[:-1] == token) for part in parts)
        for token in tokens
    )


def _has_versions(key: str, tokens: tuple[str, ...]) -> bool:
    """Whether the versions of a name stand behind the same words in a key, sizes apart:
    "devstral-2" is Devstral-Small-2, "Qwen4" is not Qwen-SEA-LION-v4.
    """
    kinds = words()
    named = [token for token in tokens if not is_size(token)]
    parts = [part for part in key.split() if not is_size(part)]
    kept = [part for part in parts if part in named or kinds.get(part) != "variant"]
    versions = [pair for pair in pairwise(named) if VERSION.fullmatch(pair[1])]
    return all(pair[1] not in kept or pair in pairwise(kept) for pair in versions)
