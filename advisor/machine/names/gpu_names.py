"""GPUs by name, as people, drivers and shops write it.

A name is split into words (`gpu_words`): brand and board maker are dropped, memory size and number
of cards are read, and the remaining words must be those of a catalogue row, digit by digit.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from advisor.errors import UnknownName
from advisor.machine.names.apple_names import apple_chip, memory_options, names_apple
from advisor.machine.names.gpu_readings import readings
from advisor.machine.names.gpu_slices import Slice, has_profile, slice_of, sliced
from advisor.machine.names.gpu_words import GpuWords, taken_apart, words_of_kind
from advisor.machine.names.spelling import plain, size_gib, without_sizes
from advisor.machine.rows import GpuRow

HINT = "`data/hardware/gpus.csv` lists those it knows."
NEAR = 0.09
"""Largest relative difference between a stated memory size and the catalogue's: cards with error
correction show 6.25 % less than their nominal size."""


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
    bare: bool
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
        known = set(re.findall(r"[a-z]+", " ".join(others).replace("max-q", "maxq")))
        synonyms = words_of_kind("synonym")
        self._known_words = frozenset(synonyms.get(word, word) for word in known)

    def _index(self, words: frozenset[str]) -> SpellingIndex:
        """Index of the spellings that share a number with some words, or have none."""
        numbers = frozenset(number for word in words for number in NUMBER.findall(word))
        if numbers not in self._indexes:
            index: SpellingIndex = {}
            near = [entry for number in ("", *numbers) for entry in self._spelled.get(number, [])]
            for row, spelling in dict.fromkeys(near):
                taken = taken_apart(spelling)
                bare, own = taken.size_gib is None, spelling == row.name
                entry = _Spelling(row, taken.brands, bare=bare, own=own)
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
        exact = self._exact.get(text)
        if exact is not None and memory_gib is None:
            size = size_gib(text)
            return GpuName(row=exact, memory_gib=size, alternatives=self._siblings(exact))
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
                if _agrees(spelling.row, words, taken)
            ]
            if spellings:
                return self._chosen(name, spellings, taken, memory_gib or taken.size_gib, note)
        meant = self._by_chip(taken) or self._of_several(text, taken.vendors)
        if meant is None:
            raise UnknownName("GPU", name, self._offers(taken), HINT)
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
        if chip is None or (taken.words and chip not in taken.words):
            return None
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
            raise UnknownName("GPU", name, apple, HINT)
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
        sized = _of_size([*rows, *newer], size)
        if size and not sized:
            variants = self._with_other_memory(taken.words)
            sized = [row for row in variants if abs(row.memory_gib - size) <= NEAR / 2 * size]
            if sized:
                laptop = "laptop" in taken_apart(sized[0].name).words - taken.words
                notes += [f"With {size:g} GB it is {sized[0].name}."] if laptop else []
                newer = sized
        if newer and not sized:
            offers = [row.name for row in (*newer, *rows)]
            raise UnknownName("GPU", name, offers, f"Several cards have this number; {HINT}")
        if sized and sized[0] in newer:
            row = sized[0]
        else:
            among = [spelling for spelling in spellings if spelling.row in sized] or spellings
            row = _usual(name, among, taken)
        if taken.part_gib:
            notes.append(f"A virtual machine's {taken.part_gib:g} GB of the memory of {row.name}.")
        pair = size == 2 * row.memory_gib and DUAL.search(name.casefold()) is not None
        if pair:
            notes.append(f"A board with two {row.name}.")
        elif size and not sized:
            own = f"its own {row.memory_gib:g} GiB count."
            notes.append(f"{row.name} is not sold with {size:g} GB: {own}")
        others = (*(other.name for other in rows), *self._siblings(row))
        return GpuName(
            row=row,
            count=2 if pair else taken.count,
            memory_gib=row.memory_gib if pair else size,
            part_gib=taken.part_gib,
            notes=tuple(notes),
            alternatives=tuple(other for other in dict.fromkeys(others) if other != row.name),
        )

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

    def _offers(self, taken: GpuWords) -> tuple[str, ...]:
        """Names with the same number and brand; all names where there are none."""
        digits = {word for word in taken.words if any(letter.isdigit() for letter in word)}
        numbers = {number for word in digits for number in NUMBER.findall(word)}
        near = (row.name for number in numbers for row, _ in self._spelled.get(number, []))
        alike = (
            name for name in near if not taken.brands or taken.brands & set(plain(name).split())
        )
        return tuple(dict.fromkeys(alike)) or tuple(self.rows)


def _agrees(row: GpuRow, words: frozenset[str], taken: GpuWords) -> bool:
    """Whether a row has the vendor and the architecture of a name; a laptop's name may only mean
    a card if that word was looked up, too.
    """
    families = taken.words & words_of_kind("family").keys() - words
    return (
        (not taken.vendors or row.vendor.split()[0] in taken.vendors)
        and all(_of_family(row, family) for family in families)
        and not (OLD_QUADRO & words and "quadro" in taken.brands and _only_rtx(row, taken))
        and (row.unified or "laptop" not in taken.words - words)
    )


OLD_QUADRO = frozenset({"2000", "3000", "4000", "5000", "6000"})
"""Numbers of the Quadros of 2010, which have no other word in their names."""


def _only_rtx(row: GpuRow, taken: GpuWords) -> bool:
    """Whether a row is a Quadro RTX and the name does not say so."""
    return row.name.startswith("Quadro RTX") and "rtx" not in taken.brands


def _of_family(row: GpuRow, family: str) -> bool:
    """Whether a word names a row's architecture: "rdna2" that of "RDNA 2"."""
    own = plain(row.family).replace(" ", "")
    return own.startswith({"lovelace": "ada"}.get(family, family))


def _of_size(rows: list[GpuRow], size: float | None) -> list[GpuRow]:
    """Cards whose memory is nearest to a size [GiB]; none where no card is within `NEAR`."""
    if size is None:
        return []
    off = {
        row.name: 0.0 if size in memory_options(row) else abs(row.memory_gib - size) for row in rows
    }
    least = min(off.values())
    return [row for row in rows if off[row.name] == least <= NEAR * size]


def _usual(name: str, spellings: list[_Spelling], taken: GpuWords) -> GpuRow:
    """Usual card among several sizes or sockets of the same name.

    Raises:
        UnknownName: no card is the usual one.
    """
    bare = [spelling for spelling in spellings if spelling.bare] or spellings
    bare = [spelling for spelling in bare if spelling.own] or bare
    telling = taken.brands - {"nvidia", "amd", "intel"}
    branded = [spelling for spelling in bare if telling & spelling.brands] or bare
    rows = list({spelling.row.name: spelling.row for spelling in branded}.values())
    if len(rows) > 1:
        offers = [row.name for row in rows]
        raise UnknownName("GPU", name, offers, "Several cards are called so; say which.")
    return rows[0]
