"""Spellings of the type of a cache: llama.cpp's options, LM Studio's words, TabbyAPI's pairs.

The keys may have another type than the values; both together are written `q8_0/q4_0`. Names of
other engines are rows of data/request/cache_types.csv.
"""

import re
from collections.abc import Sequence

from advisor.catalog.csv_tables import texts
from advisor.model.model import Model

KEYS = ("k", "ctk", "type_k", "cache_type_k", "llama_arg_cache_type_k", "key", "keys")
VALUES = ("v", "ctv", "type_v", "cache_type_v", "llama_arg_cache_type_v", "value", "values")
BESIDE = ("cache", "type", "kv")
BITS = re.compile(r"k(\d+)[-_ /]?v(\d+)")  # "K8V4"
UNTOLD = "f16"  # llama.cpp's type of the part that its options leave out


def cache_type(text: str) -> str:
    """Type of a cache in the spelling of the program; unchanged where it is not understood.

    Two types are those of the keys and of the values, the keys first unless the text names them.
    """
    told = BITS.sub(r"k \1 v \2", text.strip().casefold())
    words = [word for word in re.split(r"[^a-z0-9_]+", told) if word and word not in BESIDE]
    named = [word for word in words if word in (*KEYS, *VALUES)]
    types = [_type(word) for word in words if word not in named]
    if not 1 <= len(types) <= 2 or not set(types) <= Model.KV_BYTES_PER_VALUE.keys():
        return told
    keys, values = _in_order(types, named)
    if keys == values:
        return keys
    return f"{keys}/{values}"


def is_cache_type(text: str) -> bool:
    """Whether a text is a type of the cache, or one of the keys and one of the values."""
    return set(Model.cache_types(text)) <= Model.KV_BYTES_PER_VALUE.keys()


def _in_order(types: Sequence[str], named: Sequence[str]) -> tuple[str, str]:
    """Types of the keys and of the values, by the parts that a text names."""
    first = types[0]
    second = types[-1]
    if len(types) == len(named) == 1:
        second = UNTOLD
    if named and named[0] in VALUES:
        return second, first
    return first, second


def _type(word: str) -> str:
    return texts("request/cache_types.csv", "spelling", "type").get(word, word)
