"""Loose matching of typed names to catalogue rows."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from advisor.errors import UnknownName


class NamedRow(Protocol):
    """Row of a catalogue with a name and aliases."""

    @property
    def name(self) -> str:
        """Name in the catalogue."""

    @property
    def aliases(self) -> str:
        """Other spellings, separated by semicolons."""


Row = TypeVar("Row", bound=NamedRow)

NOISE = re.compile(
    r"\b(nvidia|geforce|amd|radeon|intel|apple|tesla|quadro|graphics|processor|cpu|gpu|"
    r"\d+-core|with|\(r\)|\(tm\)|r|tm|instruct|chat|it|hf|gguf)\b|@.*$|\d+(\.\d+)? ?gi?b\b"
)


@lru_cache(maxsize=16_384)
def loose(name: str) -> str:
    """A name without case, vendor words, sizes and punctuation, to compare spellings."""
    plain = name.casefold().replace("(r)", " ").replace("(tm)", " ").replace("_", " ")
    return re.sub(r"[^a-z0-9.+]", "", NOISE.sub(" ", plain.split("/")[-1]))


def find(kind: str, name: str, rows: Mapping[str, Row], hint: str = "") -> Row:
    """Row by exact name or alias, else the loose match with the shortest name."""
    exact = spelled(kind, rows).get(name.strip().casefold())
    if exact is not None:
        return exact
    wanted = loose(name)
    matches = [row for row in rows.values() if wanted and wanted in map(loose, spellings(row))]
    if matches:
        return min(matches, key=lambda row: len(row.name))
    raise UnknownName(kind, name, rows, hint)


_SPELLED: dict[tuple[str, int], dict[str, Any]] = {}


def spelled(kind: str, rows: Mapping[str, Row]) -> dict[str, Row]:
    """Rows by spelling; names take precedence over aliases, earlier rows over later ones."""
    key = (kind, id(rows))
    if key not in _SPELLED:
        index: dict[str, Row] = {row.name.casefold(): row for row in rows.values()}
        for row in rows.values():
            for spelling in spellings(row):
                index.setdefault(spelling, row)
        _SPELLED[key] = index
    return _SPELLED[key]


def spellings(row: NamedRow) -> list[str]:
    """Name, aliases and, for models, the name on the Hub, in lower case."""
    spelled = (row.name, *row.aliases.split(";"), getattr(row, "hf_id", ""))
    return [name.strip().casefold() for name in spelled if name.strip()]


def by_name(rows: Iterable[Row]) -> dict[str, Row]:
    """Rows by name, in the given order."""
    return {row.name: row for row in rows}
