"""Names of GPUs, as people, drivers and shops write them.

A name is split into words (`gpu_words`): brand and board maker are dropped, memory size and number
of cards are read, and the remaining words must be those of a catalogue row, digit by digit.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from advisor.errors import UnknownName
from advisor.machine.names import gpu_words
from advisor.machine.names.gpu_words import GpuWords, OtherMemory, taken_apart
from advisor.machine.names.words import (
    NamedPart,
    any_of,
    folded,
    meaning,
    plain,
    size_gib,
    too_many,
    without_sizes,
    words_of_kind,
)
from advisor.machine.rows import PEAKS, GpuRow
from advisor.machine.spec import MachineSpec

# Readings of a GPU's name: as typed, with abbreviations expanded, and without optional words; and
# the cards that agree with a reading.


def readings(taken: GpuWords, known: frozenset[str]) -> Iterator[tuple[frozenset[str], str]]:
    """Sets of words to look up, the fullest set first, with assumptions; numbers never change."""
    words = taken.words
    if not words:
        yield from ((frozenset({word}), "") for word in sorted(taken.code))
        return
    yield words, ""
    words = frozenset(word for word in words if not any_of("graphics memory").fullmatch(word))
    if words != taken.words:
        yield words, ""
    if "ada" in words:  # "A6000 Ada": the A stands for the architecture before it
        yield frozenset(re.sub(r"^a(?=[2456][05]00$)", "", word) for word in words), ""
    families = words & words_of_kind("family").keys()
    stray = frozenset(word for word in words - known - families if word.isalpha())
    telling = taken.vendors or any(any_of("telling word").fullmatch(word) for word in words)
    note = ""
    if stray and telling:
        kept = taken.words - stray
        words -= stray
        listed = ", ".join(repr(word) for word in sorted(stray))
        note = f"{listed} in the name is no part of it and was left out."
        yield kept, note
        yield words, note
    yield words - families, note
    for written, remark in _written_out(words):
        yield written, remark or note
    words = _replaced(words, SHORT_SUPER, "super")
    for word in _optional(taken):
        if word in words:
            words -= {word}
            yield words, note
            yield words - families, note


SHORT_SUPER = r"\d{4}s"


def _written_out(words: frozenset[str]) -> Iterator[tuple[frozenset[str], str]]:
    """Words with abbreviations expanded: "4070s" is a Super, "3060m" a laptop GPU."""
    for short, meant in ((SHORT_SUPER, "super"), (r"\d{4}m", "laptop")):
        written = _replaced(words, short, meant)
        if written != words:
            yield written, ""
    if "maxq" in words:
        note = "Max-Q: taken as the laptop part; its clocks are lower."
        yield (words - {"maxq"}) | {"laptop"}, note


def _replaced(words: frozenset[str], pattern: str, meant: str) -> frozenset[str]:
    """Words with a last letter that abbreviates another word."""
    return frozenset(
        part
        for word in words
        for part in ((word[:-1], meant) if re.fullmatch(pattern, word) else (word,))
    )


OPTIONAL = ("pcie", "hbm2", "hbm2e", "hbm3", "hbm3e")


def _optional(taken: GpuWords) -> tuple[str, ...]:
    """Optional words, in the order in which they are dropped until the name is known.

    The last one is "laptop", which graphics that only laptops have do not need.

    "Pro" beside a bare number is another card: the Radeon Pro 560 is not the RX 560.
    """
    modules = ("sxm",) if any(map(any_of("on modules").fullmatch, taken.words)) else ()
    own = any(re.fullmatch(r"[a-z]+\d{3,4}\w*", word) for word in taken.words)
    others = ("pro", "ai") if own and "NVIDIA" not in taken.vendors else ()
    return (*OPTIONAL, *modules, *others, "laptop")


def agrees(row: GpuRow, words: frozenset[str], taken: GpuWords) -> bool:
    """Whether a row has the vendor, architecture and kind (laptop, Quadro) that a name says."""
    families = taken.words & words_of_kind("family").keys() - words
    architecture = folded(row.family).replace(" ", "")  # "rdna2"
    of_vendor = not taken.vendors or row.vendor.split()[0] in taken.vendors
    if not of_vendor:
        return False
    if not all(architecture.startswith(FAMILIES.get(family, family)) for family in families):
        return False
    brands = taken.brands
    old_quadro = OLD_QUADRO & words and "quadro" in brands and "rtx" not in brands
    if old_quadro and row.name.startswith("Quadro RTX"):
        return False
    if "rx" in brands and row.name.startswith(("Radeon Pro", "Radeon PRO")):
        return False
    return row.unified or "laptop" not in taken.words - words


OLD_QUADRO = frozenset({"2000", "3000", "4000", "5000", "6000"})
"""Numbers of the Quadros of 2010, which have no other word in their names."""
FAMILIES = {"lovelace": "ada"}  # architectures by another name of them

# Slices of a data-centre card (NVIDIA's Multi-Instance GPU): "H100 MIG 3g.40gb".
#
# The first number counts compute slices, the second is the memory. Memory and its bandwidth are
# cut into eight parts, the multiprocessors into seven; A30 and RTX PRO 6000 have four of both.

SOURCE = "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html"
PROFILE = re.compile(
    r"[\s,:(-]*(?:\bmig\b[\s:-]*)?\b(\d) ?g[._](\d{1,3}) ?gb(?:\+\w+(?:\.all)?)?\)?", re.IGNORECASE
)
UNSAID = re.compile(r"\bmig\b", re.IGNORECASE)
ROUNDED = 0.08
"""Relative difference between a profile's memory and its share of the card: a B200's names count
180 of 192 GB."""
MEMORY_SLICES: dict[int, dict[int, tuple[int, ...]]] = {
    8: {1: (1, 2), 2: (2,), 3: (4,), 4: (4,), 7: (8,)},
    4: {1: (1,), 2: (2,), 4: (4,)},
}
"""Memory slices that come with a number of compute slices, by the memory slices of the card."""


@dataclass(frozen=True)
class Slice:
    """Slice of a card, as NVIDIA's MIG divides it."""

    compute: int  # number of compute slices
    memory_gb: int  # memory as the profile's name says [GiB]

    def __str__(self) -> str:
        return f"MIG {self.compute}g.{self.memory_gb}gb"


def sliced(name: str) -> tuple[str, Slice] | None:
    """Name of the card without its profile, and the slice; None for a whole card."""
    match = PROFILE.search(name)
    if match is None:
        if UNSAID.search(name):
            raise UnknownName("GPU", name, (), 'Say which slice, as in "H100 MIG 3g.40gb".')
        return None
    bare = f"{name[: match.start()]} {name[match.end() :]}".strip()
    return bare, Slice(int(match[1]), int(match[2]))


def _slices(card: GpuRow) -> tuple[int, int]:
    """Slices of a card's memory, and of its multiprocessors."""
    if any_of("card of quarters").match(card.name):
        return (4, 4)
    return (8, 7)


def _memory_slices(card: GpuRow, part: Slice) -> int | None:
    """Memory slices of a profile; None where the card does not have it."""
    total, _ = _slices(card)
    size = part.memory_gb / card.memory_gib * total
    cut = any_of("card of slices").match(card.name)
    if cut:
        known = MEMORY_SLICES[total].get(part.compute, ())
    else:
        known = ()
    return next((slices for slices in known if abs(size - slices) <= ROUNDED * slices), None)


def slice_of(card: GpuRow, part: Slice) -> GpuRow:
    """Row of a slice: eighths of memory, sevenths of arithmetic (NVIDIA's MIG user guide)."""
    memory = _memory_slices(card, part)
    eighths, sevenths = _slices(card)
    if memory is None:
        profile = str(part).removeprefix("MIG ")
        hint = f"{card.name} has no slice {profile}; `nvidia-smi mig -lgip` lists a card's."
        raise UnknownName("GPU", f"{card.name} {part}", (), hint)
    share = memory / eighths
    arithmetic = part.compute / sevenths
    rates = {name: (rate := getattr(card, name)) and rate * arithmetic for name in PEAKS}
    return replace(
        card,
        name=f"{card.name} {part}",
        aliases="",
        memory_gib=float(part.memory_gb),
        bus_bits=card.bus_bits * share,
        bandwidth_gbs=card.bandwidth_gbs * share,
        **rates,
        link_gbs=None,
        source=SOURCE,
        note=f"{memory} of {eighths} memory slices and {part.compute} of {sevenths} compute slices",
    )


HINT = "`data/hardware/gpus.csv` lists those it knows."


GpuName = NamedPart[GpuRow]


def sizes_of(row: GpuRow, rows: Mapping[str, GpuRow]) -> tuple[float, ...]:
    """Sizes of memory that cards of a row's name are sold with, the smallest first [GiB]."""
    bare = any_of("sized").sub("", row.name)
    alike = (other for other in rows.values() if other.name.startswith(bare) and not other.unified)
    same = (other.memory_gib for other in alike if any_of("sized").sub("", other.name) == bare)
    return tuple(sorted({row.memory_gib, *same}))


def size_unsaid(gpu: GpuName, rows: Mapping[str, GpuRow]) -> str:
    """Note on the memory size that a name leaves open; empty where the name states it, or where
    only one size is sold.
    """
    sizes = sizes_of(gpu.row, rows)
    own = gpu.row.memory_gib
    bare = any_of("sized").sub("", gpu.row.name)
    usual = len(sizes) == 1 or (bare == gpu.row.name and own == sizes[0])
    if gpu.memory_gib or gpu.part_gib or gpu.row.unified or usual:
        return ""
    return f"{bare} is sold with {gpu_words.either(sizes)} GB: {own:g} GB is assumed."


@dataclass(frozen=True)
class _Spelling:
    """Spelling of a row's name; spellings without a size, and names, come before others."""

    row: GpuRow
    brands: frozenset[str]
    size_gib: float | None
    is_name: bool  # whether it is the name itself, not an alias


SpellingIndex = dict[frozenset[str], list[_Spelling]]  # rows by the words of their spellings
NUMBER = re.compile(r"\d+")


class GpuNames:
    """Index of GPU names."""

    def __init__(self, rows: Mapping[str, GpuRow]) -> None:
        self.rows = rows
        self._exact = {folded(row.name): row for row in rows.values()}
        self._spelled: dict[str, list[tuple[GpuRow, str]]] = {}
        self._indexes: dict[frozenset[str], SpellingIndex] = {}
        others: list[str] = []
        for row in rows.values():
            for spelling in (row.name, *filter(None, map(str.strip, row.aliases.split(";")))):
                text = folded(spelling)
                self._exact.setdefault(text, row)
                for number in set(NUMBER.findall(without_sizes(text))) or {""}:
                    self._spelled.setdefault(number, []).append((row, spelling))
                if row.vendor != "Apple":
                    others.append(text)
        known = set(re.findall(r"\b[a-z]+\b", " ".join(others).replace("max-q", "maxq")))
        synonyms = words_of_kind("synonym")
        self._known_words = frozenset(synonyms.get(word, word) for word in known)

    def _index(self, words: frozenset[str]) -> SpellingIndex:
        """Index of the spellings that share a number with some words, or that have no number."""
        numbers = frozenset(number for word in words for number in NUMBER.findall(word))
        if numbers not in self._indexes:
            index: SpellingIndex = {}
            near = [entry for number in numbers or ("",) for entry in self._spelled.get(number, [])]
            for row, spelling in dict.fromkeys(near):
                taken = taken_apart(spelling)
                entry = _Spelling(row, taken.brands, taken.size_gib, is_name=spelling == row.name)
                if taken.words:
                    index.setdefault(taken.words, []).append(entry)
            self._indexes[numbers] = index
        return self._indexes[numbers]

    def match(self, name: str, memory_gib: float | None = None) -> GpuName:
        """GPU of a name; the memory that a driver reports distinguishes cards of the same name
        [GiB].
        """
        text = plain(name)
        exact = self._exact.get(gpu_words.named_part(text))
        if exact is not None and memory_gib is None:
            return GpuName(row=exact, memory_gib=size_gib(text), alternatives=self._siblings(exact))
        if gpu_words.names_apple(text):
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
            count = too_many(text)
            if count:
                raise UnknownName("GPU", name, (), count)
            raise UnknownName("GPU", name, self._offers(taken), meaning("refused", text) or HINT)
        return replace(meant, count=taken.count)

    def _slice(self, card: str, part: Slice) -> GpuName:
        """Slice of a card; of several cards with that name, of the one that has the profile."""
        if not card:
            raise UnknownName("GPU", str(part), (), "Name the card that it is a slice of.")
        whole = self.match(card)
        socket = whole.row.name.split()[:2]
        rows = (whole.row, *(self.rows[other] for other in whole.alternatives))
        fitting = [row for row in rows if _memory_slices(row, part) is not None]
        same = min(fitting, key=lambda row: row.name.split()[:2] != socket, default=whole.row)
        row = slice_of(same, part)
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
        told = taken.words & self._known_words
        every = chips[chip].split("; ")
        names = [name for name in every if told <= taken_apart(name).words] or every
        note = f"Taken by its chip, {chip}, as {names[0]}."
        return GpuName(row=self.rows[names[0]], notes=(note,), alternatives=tuple(names[1:]))

    def _of_several(self, text: str, vendors: frozenset[str]) -> GpuName | None:
        """Fastest of the graphics that a driver prints together ("Arc 130V / 140V"); None for
        cards.
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
        chip = gpu_words.apple_chip(name, self.rows)
        if chip is None:
            apple = [row.name for row in self.rows.values() if row.vendor == "Apple"]
            raise UnknownName("GPU", name, apple, meaning("refused", plain(name)) or HINT)
        several = re.match(r"(\d{1,2})\s*[x*]\s*", plain(name))
        if several:
            return replace(chip, count=int(several[1]))
        return chip

    def _chosen(
        self, name: str, spellings: list[_Spelling], taken: GpuWords, size: float | None, note: str
    ) -> GpuName:
        """Card with the stated memory among cards of the same name; the usual one where none is
        stated.
        """
        notes = [note] if note else []
        rows = _distinct(spelling.row for spelling in spellings)
        newer = [] if taken.brands & {"quadro", "tesla"} else self._of_same_number(taken.words)
        sized = _of_memory(spellings, newer, size)
        if size and not sized and taken.count > 1:
            sized = _of_memory(spellings, newer, size / taken.count)
            notes += [f"{size:g} GB on {taken.count} cards."] if sized else []
            size = size / taken.count if sized else size
        if size and not sized:
            variants = self._with_other_memory(taken.words)
            sized = [row for row in variants if gpu_words.is_of_size(row, size)]
            if sized:
                laptop = "laptop" in taken_apart(sized[0].name).words - taken.words
                notes += [f"With {size:g} GB it is {sized[0].name}."] if laptop else []
                newer = sized
        if newer and not sized:
            offers = tuple(row.name for row in _distinct((*newer, *rows)))
            raise UnknownName("GPU", name, offers, f"Several cards have this number; {HINT}")
        among = [spelling for spelling in spellings if spelling.row in sized] or spellings
        row = sized[0] if sized and sized[0] in newer else _usual(name, among, taken)
        if taken.part_gib:
            notes.append(f"A virtual machine's {taken.part_gib:g} GB of the memory of {row.name}.")
        if size and not sized and not row.unified:
            same = [row, *(self.rows[other] for other in self._siblings(row))]
            raise OtherMemory(name, same, size, alone=not note)
        if gpu_words.boards_of_two(plain(name)) != plain(name):
            notes.append(f"A board with two {row.name}.")
        lanes = _lanes_behind(plain(name), row)
        notes += [OF_LINK.format(card=row.name, lanes=row.pcie_lanes)] if lanes else []
        others = (*(other.name for other in rows), *self._siblings(row))
        return GpuName(
            row=row,
            count=taken_apart(plain(name).replace(lanes, " ")).count if lanes else taken.count,
            memory_gib=size,
            part_gib=taken.part_gib,
            notes=tuple(notes),
            alternatives=tuple(other for other in dict.fromkeys(others) if other != row.name),
        )

    def _of_same_number(self, words: frozenset[str]) -> list[GpuRow]:
        """Later workstation cards with the same number; "RTX 6000" names three."""
        if not any(re.fullmatch(r"[2-6]000", word) for word in words):
            return []
        return _distinct(
            spelling.row
            for more in ({"ada"}, {"pro", "blackwell"}, {"pro"})
            if not words & more
            for spelling in self._index(words).get(words | more, [])
        )

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


OF_LINK = "x{lanes} is taken as the link of {card}; write '{lanes}x {card}' for {lanes} cards."


def _lanes_behind(text: str, row: GpuRow) -> str:
    """Words behind a card's name that state its link ("4060 Ti x8 16GB"); empty without them.

    A number of the lanes that a card of computers has is likelier that of its link than of cards.
    """
    lanes = any_of("lanes behind").search(text)
    of_computer = any_of("card of a computer").match(row.name)
    if lanes and of_computer and int(lanes[1]) == row.pcie_lanes:
        return lanes[0]
    return ""


def _distinct(rows: Iterable[GpuRow]) -> list[GpuRow]:
    return list({row.name: row for row in rows}.values())


def _of_memory(spellings: list[_Spelling], newer: list[GpuRow], size: float | None) -> list[GpuRow]:
    """Cards with a memory size, by their memory or by the size in their usual name [GiB]."""
    rows = [*(spelling.row for spelling in spellings), *newer]
    called = [spelling.row for spelling in spellings if size and spelling.size_gib == size]
    return gpu_words.of_size(rows, size) or called


def _usual(name: str, spellings: list[_Spelling], taken: GpuWords) -> GpuRow:
    """Usual card among several sizes or sockets of the same name."""
    bare = [spelling for spelling in spellings if spelling.size_gib is None] or spellings
    telling = taken.brands - {"nvidia", "amd", "intel"}
    branded = [spelling for spelling in bare if telling & spelling.brands] or bare
    branded = [spelling for spelling in branded if spelling.is_name] or branded
    rows = _distinct(spelling.row for spelling in branded)
    if len(rows) > 1:
        offers = [row.name for row in rows]
        raise UnknownName("GPU", name, offers, "Several cards are called so; say which.")
    return rows[0]


def listed(gpus: list[GpuName]) -> tuple[str, int]:
    """Cards in the form of `MachineSpec.gpu`, and the factor on their numbers."""
    if not gpus:
        return MachineSpec.NO_GPU, 1
    if len(gpus) == 1:
        return gpus[0].row.name, gpus[0].count
    kinds = (f"{gpu.count}x {gpu.row.name}" if gpu.count > 1 else gpu.row.name for gpu in gpus)
    return MachineSpec.MIXED.join(kinds), 1
