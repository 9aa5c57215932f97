"""Loose matching of typed names to catalogue rows, and tables of words and patterns of names."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Protocol, TypeVar

from advisor.catalog.csv_tables import DATA, read
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
    """Name without case, vendor words, sizes and punctuation, for comparing spellings."""
    plain = name.casefold().replace("(r)", " ").replace("(tm)", " ").replace("_", " ")
    return re.sub(r"[^a-z0-9.+]", "", NOISE.sub(" ", plain.split("/")[-1]))


def find(kind: str, name: str, rows: Mapping[str, Row], hint: str = "") -> Row:
    """Row by its exact name or alias, or by the shortest name that matches loosely."""
    UnknownName.check(kind, name)
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


# Words and patterns of names, by what they are for, in a table of data/.


@dataclass(frozen=True, kw_only=True, slots=True)
class NameWordRow:
    """One row of a table of words: a word or pattern of names in lower case."""

    kind: str  # what it is for, as the readers of names ask for it
    pattern: str  # the word, or the pattern of it
    # what it means or is written as, a reason, a remark, a catalogue row; "␣" is a blank at an end
    value: str


INSERTED = re.compile(r"<<([\w ]+)>>")
"""A kind within a pattern, which stands for any pattern of it."""


class NameWords:
    """Table of words, read once."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._rows = cache(self._read_rows)
        self.of_kind = cache(self._of_kind)
        self.patterns = cache(self._patterns)
        self.whole_words = cache(self._whole_words)
        self.any_of = cache(self._any_of)

    def _read_rows(self) -> Mapping[str, tuple[NameWordRow, ...]]:
        rows: dict[str, list[NameWordRow]] = defaultdict(list)
        for row in read(DATA / self.file, NameWordRow):
            rows[row.kind].append(row)
        return {kind: tuple(of_kind) for kind, of_kind in rows.items()}

    def _of_kind(self, kind: str) -> dict[str, str]:
        """Words or patterns of a kind, each with its meaning."""
        rows = (
            (INSERTED.sub(self._inserted, row.pattern), row.value) for row in self._rows()[kind]
        )
        return {pattern: value.replace("␣", " ") for pattern, value in rows}

    def _inserted(self, kind: re.Match[str]) -> str:
        return self._alternatives(kind[1])

    def _patterns(self, kind: str) -> tuple[tuple[re.Pattern[str], str], ...]:
        """Patterns of a kind with their values, unchanged."""
        return tuple((re.compile(part), value) for part, value in self.of_kind(kind).items())

    def _whole_words(self, kind: str) -> tuple[tuple[re.Pattern[str], str], ...]:
        """Patterns of a kind that stand for whole words, with their values."""
        words = self.of_kind(kind).items()
        return tuple((re.compile(rf"\b(?:{part})\b"), value) for part, value in words)

    def _any_of(self, *kinds: str) -> re.Pattern[str]:
        """Pattern of all patterns of some kinds."""
        return re.compile(self._alternatives(*kinds))

    def _alternatives(self, *kinds: str) -> str:
        """All patterns of some kinds in one."""
        return "|".join(part for kind in kinds for part in self.of_kind(kind))

    def rewritten(self, text: str, kind: str) -> str:
        """Plain text in which the patterns of a kind are replaced by their values, one after
        another.
        """
        for pattern, value in self.patterns(kind):
            text = pattern.sub(value, text)
        return text
