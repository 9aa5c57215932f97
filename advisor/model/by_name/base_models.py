"""Base model of a fine-tune or conversion, by the words of its name."""

import re
from collections.abc import Iterator
from functools import cache

from advisor.model.by_name.close_models import candidates
from advisor.model.by_name.known_models import KnownRow, base_of, catalogue_keys, makers_keys
from advisor.model.by_name.names import ModelName, is_size, words

NOT_THEIR_BASE = frozenset({"cut", "merge", "draft"})
LIKE_A_VARIANT = 75
"""Similarity above which a word may be a misspelled variant of a family [%]."""
VERSION = re.compile(r"\d(?:\.\d+)*")


def base_row(name: ModelName) -> KnownRow | None:
    """Base model with the family, version and sizes of a name; None where none is certain."""
    if name.kinds & NOT_THEIR_BASE:
        return None
    start = " ".join(name.shape)
    for key, left in _parts(name.shape):
        row = base_of(key) if _may_be_left(key, left) else None
        if row is not None and _names_a_variant(left) and candidates(name.shape):
            return None
        if row is not None and left and _is_any_version(key, row):
            return None
        if row is not None and (len(key.split()[0]) > 1 or start.startswith(key)):
            return row
    return _base_around(name.shape)


def _is_any_version(key: str, row: KnownRow) -> bool:
    """Whether a family and size alone may mean another shape: "Impish-Qwen-14B" may be of any Qwen,
    whose versions of that size differ.
    """
    family, _, size = key.partition(" ")
    if not is_size(size):
        return False
    versions = (other.split() for other in (*catalogue_keys(), *makers_keys()))
    rows = (
        base_of(" ".join(words_of_key))
        for words_of_key in versions
        if len(words_of_key) == 3
        and (words_of_key[0], words_of_key[2]) == (family, size)
        and VERSION.fullmatch(words_of_key[1])
    )
    shape = (row.layers, row.hidden, row.kv_heads)
    return any(other and (other.layers, other.hidden, other.kv_heads) != shape for other in rows)


def _names_a_variant(left: tuple[str, ...]) -> bool:
    """Whether words left over name a variant, as "vl": listed ones are offered then."""
    return any(words().get(token) == "variant" for token in left)


def _base_around(tokens: tuple[str, ...]) -> KnownRow | None:
    """Base model whose family, version and size are the only ones of a name, with other words
    between them: "Llama-Doctor-3.2-3B".
    """
    versions = [token for token in tokens if VERSION.fullmatch(token)]
    sizes = [token for token in tokens if is_size(token)]
    family = [token for token in tokens if token in families()]
    if [len(versions), len(sizes), len(family)] != [1, 1, 1] or tokens[0] != family[0]:
        return None
    if _names_a_variant(tokens):
        return None
    return base_of(" ".join((*family, *versions, *sizes)))


@cache
def families() -> frozenset[str]:
    """First words of the catalogue's names."""
    return frozenset(key.split()[0] for key in catalogue_keys() if key)


def _parts(tokens: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Sequences of tokens with all sizes of the name, longest first, each with the other tokens."""
    sizes = tuple(token for token in tokens if is_size(token))
    for length in range(len(tokens), 0, -1):
        for start in range(len(tokens) - length + 1):
            run, end = tokens[start : start + length], start + length
            if _is_version_of(run, tokens[end : end + 1]):
                continue
            absent = tuple(size for size in sizes if size not in run)
            left = (token for token in (*tokens[:start], *tokens[end:]) if token not in absent)
            yield " ".join(run + absent), tuple(left)


def _is_version_of(run: tuple[str, ...], following: tuple[str, ...]) -> bool:
    """The token behind a run is the version of its last word: "llama" of "llama 5 70b" is not."""
    return run[-1].isalpha() and any(VERSION.fullmatch(token) for token in following)


def _may_be_left(key: str, left: tuple[str, ...]) -> bool:
    """Whether further words do not change the shape: the base states its size, or none is a
    variant.
    """
    parts = key.split()
    if len(parts) < 2 or not parts[0].isalpha():
        return False
    if any(map(is_size, parts)):
        return any(not is_size(part) for part in parts)
    return not any(map(_may_be_variant, left))


def _may_be_variant(token: str) -> bool:
    """Whether a token is a number or letter (`3n`, `4.6v`), or similar to a word for a size of a
    family (`air`, `flash`).
    """
    if not token.isalpha() or len(token) == 1:
        return True
    from rapidfuzz import fuzz  # 60 ms that only an unknown word beside a sizeless name is worth

    variants = (word for word, kind in words().items() if kind == "variant")
    return any(fuzz.ratio(token, word) >= LIKE_A_VARIANT for word in variants)
