"""Tags of Ollama's library: `qwen3:latest` is `qwen3:8b-q4_K_M`, `llava:7b` `7b-v1.6-mistral-q4_0`.

A tag without a size or format stands for another one with them; Ollama's pages list both with the
same digest.
"""

import re
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read

BEFORE = re.compile(r"^(?:ollama (?:run|pull|show) |ollama/|library/|ollama_chat/)+")
SIZE = re.compile(r"(?:\d+x)?[\d.]+[bm](?:-a[\d.]+b)?|e\d+b")


@dataclass(frozen=True, kw_only=True, slots=True)
class OllamaRow:
    """One row of data/models/ollama_tags.csv."""

    name: str  # model of Ollama's library
    usual: str  # tag that is loaded without one, in full
    others: str  # tags of other sizes in full, separated by spaces
    source: str  # page of its tags
    source_date: str  # when it was read


@dataclass(frozen=True, kw_only=True)
class OllamaTag:
    """Name in Ollama's library."""

    short: str  # name and size, as `qwen3:8b`
    full: str  # name and the tag in full, as `qwen3:8b-q4_K_M`
    usual: bool  # whether the tag was not typed


@cache
def _rows() -> dict[str, OllamaRow]:
    rows = read(DATA / "models" / "ollama_tags.csv", OllamaRow)
    return {row.name: row for row in rows}


def ollama_tag(text: str) -> OllamaTag | None:
    """Tag in full of a name with Ollama's prefix or a tag of size alone; None for other names.

    A bare name, as `llama3.1`, may mean any size, and has none.
    """
    typed = text.strip().casefold()
    plain = BEFORE.sub("", typed)
    name, _, tag = plain.partition(":")
    if "/" in name or (not tag and plain == typed):
        return None
    row = _rows().get(name)
    if row is None:
        return None
    if tag in ("", "latest"):
        return _tag(name, row.usual, usual=True)
    if not SIZE.fullmatch(tag):
        return None
    full = (other for other in (row.usual, *row.others.split()) if other.startswith(f"{tag}-"))
    return next((_tag(name, other, usual=False) for other in full), None)


def _tag(name: str, full: str, *, usual: bool) -> OllamaTag:
    size = SIZE.match(full)
    short = f"{name}:{size[0]}" if size else name
    return OllamaTag(short=short, full=f"{name}:{full}", usual=usual)
