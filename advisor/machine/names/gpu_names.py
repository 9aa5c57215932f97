"""GPUs by name, as people, drivers and shops write it.

A name is split into words (`gpu_words`): brand and board maker are dropped, memory size and number
of cards are read, and the remaining words must be those of a catalogue row, digit by digit.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from advisor.errors import UnknownName
from advisor.machine.names.apple_names import apple_chip, names_apple
from advisor.machine.names.gpu_memory import OtherMemory, is_of_size, of_size
from advisor.machine.names.gpu_readings import agrees, readings
from advisor.machine.names.gpu_slices import Slice, has_profile, slice_of, sliced
from advisor.machine.names.gpu_words import GpuWords, named_part, taken_apart, words_of_kind
from advisor.machine.names.machine_words import refusal
from advisor.machine.names.spelling import plain, size_gib, without_sizes
from advisor.machine.rows import GpuRow

HINT = "`data/hardware/gpus.csv` lists those it knows."


@dataclass(frozen=True, kw_only=True)
class GpuName:
    """Reading of a GPU's name.

    Attributes:
        row: catalogue row.
        count: number of cards.
        memory_gib: memory size in the name [GiB]; None where it has none.
        part_gib: memory of a virtual machine's part of the card [GiB]; None for whole cards.
        notes: assumptions, one sentence each.
        alternatives: other rows that the name may mean.
    """

    row: GpuRow
    count: int = 1
    memory_gib: float | None = None
    part_gib: float | None = None
    notes: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Spelling:
    """Spelling of a row's name. Spellings without a size take precedence for names without one, and
    names over aliases.
    """

    row: GpuRow
    brands: frozenset[str]
    size_gib: float | None
    own: bool


SpellingIndex = dict[frozenset[str], list[_Spelling]]
"""Rows by the words of their spellings."""
NUMBER = re.compile(r"\d+")
DUAL = re.compile(r"\bdual\b")
"""Of a card with the memory of two: a board that carries both."""


class GpuNames:
    """Index of GPU names.

    Args:
        rows: catalogue rows by name.
    """

    def __init__(self, rows: Mapping[str, GpuRow]) -> None:
        self.rows = rows
        self._exact = {plain(row.name): row for row in rows.values()}
        self._spelled: dict[str, list[tuple[GpuRow, str]]] = {}
        self._indexes: dict[frozenset[str], SpellingIndex] = {}
        others: list[str] = []
        for row in rows.values():
            for spelling in (row.name, *filter(None, map(str.strip, row.aliases.split(";")))):
                text = plain(spelling)
                self._exact.setdefault(text, row)
                for number in set(NUMBER.findall(without_sizes(text))) or {""}:
                    self._spelled.setdefault(number, []).append((row, spelling))
                if row.vendor != "Apple":
                    others.append(text)
        known = set(re.findall(r"\b[a-z]+\b", " ".join(others).replace("max-q", "maxq")))
        synonyms = words_of_kind("synonym")
        self._known_words = frozenset(synonyms.get(word, word) for word in known)

    def _index(self, words: frozenset[str]) -> SpellingIndex:
        """Index of the spellings that share a number with some words, or have none."""
        numbers = frozenset(number for word in words for number in NUMBER.findall(word))
        if numbers not in self._indexes:
            index: SpellingIndex = {}
            near = [entry for number in numbers or ("",) for entry in self._spelled.get(number, [])]
            for row, spelling in dict.fromkeys(near):
                taken = taken_apart(spelling)
                entry = _Spelling(row, taken.brands, taken.size_gib, own=spelling == row.name)
                if taken.words:
                    index.setdefault(taken.words, []).append(entry)
            self._indexes[numbers] = index
        return self._indexes[numbers]

    def match(self, name: str, memory_gib: float | None = None) -> GpuName:
        """GPU of a name.

        Args:
            name: name as typed or printed.
            memory_gib: memory as the driver shows it, to distinguish cards [GiB].

        Raises:
            UnknownName: no GPU, or several without a distinction; lists similar names.
        """
        text = plain(name)
        exact = self._exact.get(named_part(text))
        if exact is not None and memory_gib is None:
            return GpuName(row=exact, memory_gib=size_gib(text), alternatives=self._siblings(exact))
        if names_apple(text):
            return self._apple(name)
        part = sliced(name)
        if part is not None:
            return self._slice(*part)
        taken = taken_apart(name)
        for words, note in readings(taken, self._known_words):
            spellings = [
                spelling
                for spelling in self._index(words).get(words, [])
                if agrees(spelling.row, words, taken)
            ]
            if spellings:
                return self._chosen(name, spellings, taken, memory_gib or taken.size_gib, note)
        meant = self._by_chip(taken) or self._of_several(text, taken.vendors)
        if meant is None:
            raise UnknownName("GPU", name, self._offers(taken), refusal(text) or HINT)
        return replace(meant, count=taken.count)

    def _slice(self, card: str, part: Slice) -> GpuName:
        """Slice of a card; of cards with the same name the one that has the profile.

        Raises:
            UnknownName: no such card or slice.
        """
        if not card:
            raise UnknownName("GPU", str(part), (), "Name the card that it is a slice of.")
        whole = self.match(card)
        socket = whole.row.name.split()[:2]
        rows = (whole.row, *(self.rows[other] for other in whole.alternatives))
        fitting = [row for row in rows if has_profile(row, part)]
        fitting.sort(key=lambda row: row.name.split()[:2] != socket)
        row = slice_of(fitting[0] if fitting else whole.row, part)
        return GpuName(row=row, count=whole.count, notes=(*whole.notes, f"{row.name}: {row.note}."))

    def _by_chip(self, taken: GpuWords) -> GpuName | None:
        """Usual GPU with a chip, for drivers that print the chip's name."""
        chips = words_of_kind("chip")
        codes = taken.words or taken.code
        chip = next((code for code in sorted(taken.code | codes) if code in chips), None)
        others = taken.words - {chip} - self._known_words
        if chip is None or (taken.words and chip not in taken.words):
            return None
        if any(word.isalpha() and len(word) > 3 for word in others):
            return None  # another part beside the chip
        names = chips[chip].split("; ")
        note = f"Taken by its chip, {chip}, as {names[0]}."
        return GpuName(row=self.rows[names[0]], notes=(note,), alternatives=tuple(names[1:]))

    def _of_several(self, text: str, vendors: frozenset[str]) -> GpuName | None:
        """Fastest of several graphics that a driver prints together ("Arc 130V / 140V"); None for
        cards, which differ in memory.
        """
        rows: list[GpuRow] = []
        parts = re.split(r"\s*/\s*", re.sub(r"^.*\[|\].*$", "", text))
        for part in parts if len(parts) > 1 else ():
            with suppress(UnknownName):
                rows.append(self.match(part).row)
        if vendors and any(row.vendor not in vendors for row in rows):
            return None
        if not rows or not all(row.unified for row in rows):
            return None
        row = max(rows, key=lambda row: row.fp16_tflops or 0.0)
        others = tuple(other.name for other in rows if other != row)
        notes = (f"Its driver's name is that of {' and '.join((row.name, *others))}.",)
        return GpuName(row=row, notes=notes, alternatives=others)

    def _apple(self, name: str) -> GpuName:
        chip = apple_chip(name, self.rows)
        if chip is None:
            apple = [row.name for row in self.rows.values() if row.vendor == "Apple"]
            raise UnknownName("GPU", name, apple, refusal(plain(name)) or HINT)
        several = re.match(r"(\d{1,2})\s*[x*]\s*", plain(name))
        return GpuName(
            row=chip.row,
            count=int(several[1]) if several else 1,
            memory_gib=chip.memory_gib,
            notes=chip.notes,
            alternatives=chip.alternatives,
        )

    def _chosen(
        self,
        name: str,
        spellings: list[_Spelling],
        taken: GpuWords,
        size: float | None,
        note: str,
    ) -> GpuName:
        """Card with the stated memory among cards of the same name, else the usual one."""
        notes = [note] if note else []
        rows = list({spelling.row.name: spelling.row for spelling in spellings}.values())
        newer = [] if taken.brands & {"quadro", "tesla"} else self._of_same_number(taken.words)
        sized = self._sized(spellings, newer, size)
        if size and not sized and taken.count > 1:
            sized = self._sized(spellings, newer, size / taken.count)
            notes += [f"{size:g} GB on {taken.count} cards."] if sized else []
            size = size / taken.count if sized else size
        if size and not sized:
            variants = self._with_other_memory(taken.words)
            sized = [row for row in variants if is_of_size(row, size)]
            if sized:
                laptop = "laptop" in taken_apart(sized[0].name).words - taken.words
                notes += [f"With {size:g} GB it is {sized[0].name}."] if laptop else []
                newer = sized
        row = self._of_spellings(name, spellings, newer, sized, taken)
        if taken.part_gib:
            notes.append(f"A virtual machine's {taken.part_gib:g} GB of the memory of {row.name}.")
        pair = size == 2 * row.memory_gib and DUAL.search(name.casefold()) is not None
        if size and not sized and not pair and not row.unified:
            same = [row, *(self.rows[other] for other in self._siblings(row))]
            raise OtherMemory(name, same, size, alone=not note)
        notes += [f"A board with two {row.name}."] if pair else []
        others = (*(other.name for other in rows), *self._siblings(row))
        return GpuName(
            row=row,
            count=2 if pair else taken.count,
            memory_gib=row.memory_gib if pair else size,
            part_gib=taken.part_gib,
            notes=tuple(notes),
            alternatives=tuple(other for other in dict.fromkeys(others) if other != row.name),
        )

    def _sized(
        self, spellings: list[_Spelling], newer: list[GpuRow], size: float | None
    ) -> list[GpuRow]:
        """Cards with a memory size [GiB], by their memory or by a size that people call them by."""
        if not size:
            return []
        rows = [spelling.row for spelling in spellings]
        called = [spelling.row for spelling in spellings if spelling.size_gib == size]
        return of_size([*rows, *newer], size) or called

    def _of_spellings(
        self,
        name: str,
        spellings: list[_Spelling],
        newer: list[GpuRow],
        sized: list[GpuRow],
        taken: GpuWords,
    ) -> GpuRow:
        """Card with the stated memory, else the usual one of the name.

        Raises:
            UnknownName: several cards, none of them usual.
        """
        if sized and sized[0] in newer:
            return sized[0]
        if newer and not sized:
            rows = dict.fromkeys(row.name for row in newer)
            rows.update(dict.fromkeys(spelling.row.name for spelling in spellings))
            raise UnknownName("GPU", name, tuple(rows), f"Several cards have this number; {HINT}")
        among = [spelling for spelling in spellings if spelling.row in sized] or spellings
        return _usual(name, among, taken)

    def _of_same_number(self, words: frozenset[str]) -> list[GpuRow]:
        """Later workstation cards with the same number; "RTX 6000" names three."""
        if not any(re.fullmatch(r"[2-6]000", word) for word in words):
            return []
        rows = [
            spelling.row
            for more in ({"ada"}, {"pro", "blackwell"}, {"pro"})
            if not words & more
            for spelling in self._index(words).get(words | more, [])
        ]
        return list({row.name: row for row in rows}.values())

    def _with_other_memory(self, words: frozenset[str]) -> list[GpuRow]:
        """Cards with the number of a laptop GPU, or written with an architecture."""
        more = words_of_kind("family").keys() | {"laptop"}
        return [
            spelling.row
            for other, spellings in self._index(words).items()
            if words < other and other - words <= more
            for spelling in spellings
        ]

    def _siblings(self, row: GpuRow) -> tuple[str, ...]:
        """Cards of the same name with other memory or in another socket."""
        socket = {"sxm", "pcie", "nvl"}
        core = taken_apart(row.name).words - socket
        names = (
            spelling.row.name
            for words, spellings in self._index(core).items()
            if core and words - socket == core
            for spelling in spellings
        )
        return tuple(name for name in dict.fromkeys(names) if name != row.name)

    def _offers(self, taken: GpuWords) -> Iterator[str]:
        """Names with the same number and brand; all names where there are none."""
        digits = {word for word in taken.words if any(letter.isdigit() for letter in word)}
        numbers = {number for word in digits for number in NUMBER.findall(word)}
        near = (row.name for number in numbers for row, _ in self._spelled.get(number, []))
        alike = (
            name for name in near if not taken.brands or taken.brands & set(plain(name).split())
        )
        yield from dict.fromkeys(alike) or self.rows


def _usual(name: str, spellings: list[_Spelling], taken: GpuWords) -> GpuRow:
    """Usual card among several sizes or sockets of the same name.

    Raises:
        UnknownName: no card is the usual one.
    """
    bare = [spelling for spelling in spellings if spelling.size_gib is None] or spellings
    telling = taken.brands - {"nvidia", "amd", "intel"}
    branded = [spelling for spelling in bare if telling & spelling.brands] or bare
    branded = [spelling for spelling in branded if spelling.own] or branded
    rows = list({spelling.row.name: spelling.row for spelling in branded}.values())
    if len(rows) > 1:
        offers = [row.name for row in rows]
        raise UnknownName("GPU", name, offers, "Several cards are called so; say which.")
    return rows[0]
