"""Words of hardware's names, shared by cards, processors and whole machines.

Table of words; plain text, sizes and counts; kinds of machines, abbreviations and fillers; main
memory and drives; networks.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Generic, TypeVar

from advisor.catalog.csv_tables import texts
from advisor.catalog.name_matching import NameWords
from advisor.errors import UnknownName
from advisor.lazy import lazy
from advisor.machine.machine import Form, network_rows
from advisor.machine.rows import GpuRow, HostRow

TABLE = NameWords("hardware/name_words.csv")
words_of_kind = TABLE.of_kind
patterns = TABLE.patterns
whole_words = TABLE.whole_words
any_of = TABLE.any_of
rewritten = TABLE.rewritten


def meaning(kind: str, text: str) -> str:
    """Value of the first word of a kind ("platform") in a plain text; empty without one."""
    return next((value for pattern, value in whole_words(kind) if pattern.search(text)), "")


Row = TypeVar("Row", GpuRow, HostRow)
Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class NamedPart(Generic[Row]):
    """Result of reading a GPU's or a processor's name."""

    row: Row  # catalogue row, or one derived from it; of processors for all sockets together
    count: int = 1  # number of cards
    memory_gib: float | None = None  # memory size in the name [GiB]; None where it has none
    # memory of a virtual machine's part of the card [GiB]; None for whole cards
    part_gib: float | None = None
    gpu: str = ""  # catalogue name of a processor's graphics; empty where unknown
    notes: tuple[str, ...] = ()  # assumptions, one sentence each
    alternatives: tuple[str, ...] = ()  # other rows that the name may mean


# Common parts of hardware names: marks to ignore, sizes and counts.

MARKS = re.compile(r"\((?:r|tm|c)\)|[®™©\u200b]")
DASHES = re.compile(r"[\u2010-\u2015\u2212]")
TIMES = "\N{MULTIPLICATION SIGN}"
WIDE = str.maketrans("\uff08\uff09\uff0c\uff1a\uff1b\uff0b\u00b7\u2022", "(),:;+,,")
"""Chinese brackets and punctuation, and dots between parts, with those of other languages."""
WIDE |= {code: code - 0xFEE0 for code in range(0xFF10, 0xFF5B) if chr(code).isalnum()}
WIDE |= {zero + digit: ord("0") + digit for zero in (0x660, 0x6F0, 0x966) for digit in range(10)}
"""Wide letters and digits, and Arabic, Persian and Indian digits (Unicode's chart of names)."""
SIZE = re.compile(
    r"(?<![\w.])(?:(\d+(?:\.\d+)?)\s*-?(tib|tb|gib|gb|gi|gigs?|go|mib|mb)"
    r"|(\d{1,3}|\d\.\d(?= ?t)) ?(g|(?<=\.\d)t|(?<=\.\d )t))\b"
    r"(?!\s*/\s*s|ps)"
)
FACTORS = {"m": 1 / 1024, "t": 1024.0}
SMALLEST_GIB = 1.0
LARGEST_GIB = 100_000.0


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Text in lower case with usual spaces, dashes, units and counts; raises UnknownName for a text
    too long for a name.
    """
    UnknownName.check("machine or part of one", text)
    return " ".join(rewritten(folded(text), "plain").split())


def folded(text: str) -> str:
    """Text in lower case with usual spaces and dashes; enough for names of the catalogue, which are
    written plainly.
    """
    lower = text.casefold()
    if "(" in lower or not lower.isascii():
        lower = DASHES.sub("-", MARKS.sub(" ", lower.translate(WIDE))).replace(TIMES, "x")
    return " ".join(lower.split())


def sizes_gib(text: str) -> list[float]:
    """All memory sizes in a plain text, in order [GiB]."""
    sizes = (
        float(number or short) * FACTORS.get((unit or letter)[0], 1.0)
        for number, unit, short, letter in SIZE.findall(text)
    )
    return [size for size in sizes if SMALLEST_GIB <= size <= LARGEST_GIB]


def size_gib(text: str) -> float | None:
    """First memory size in a plain text; None without one [GiB]."""
    return next(iter(sizes_gib(text)), None)


def without_sizes(text: str) -> str:
    """Plain text without memory sizes."""
    return SIZE.sub(" ", text)


MOST = 128


def counted(text: str) -> tuple[str, int]:
    """Plain text without its count, and the count, 1 by default."""
    word = any_of("number word").search(text)
    if word:
        return text[: word.start()] + text[word.end() :], int(words_of_kind("number")[word[1]])
    for pattern, _ in patterns("count"):
        match = pattern.search(text)
        if match and int(match[1]) <= MOST:
            return f"{text[: match.start()]} {text[match.end() :]}", int(match[1])
    return text, 1


def too_many(text: str) -> str:
    """Sentence on a count above all that are read; empty without one."""
    match = any_of("large count").search(text)
    if match is None or int(match[1]) <= MOST:
        return ""
    return (
        f"{match[1]} are too many: up to {MOST} cards of a kind are read. Name one machine of "
        "them, and how many there are of it (--machines)."
    )


# Kinds of machines, abbreviations and fillers.


def says(text: str, *kinds: str) -> bool:
    """Whether a plain text has a word of some kinds, such as "hired" of rented cards."""
    return any(pattern.search(text) for kind in kinds for pattern, _ in whole_words(kind))


def spelled_out(text: str) -> str:
    """Plain text with abbreviations and instances expanded: "bm.gpu.h100.8" is "8x h100"."""
    for identifier in any_of("mac identifier").findall(text):
        machine = texts("hardware/mac_identifiers.csv", "identifier", "machine").get(identifier)
        if machine:
            text = text.replace(identifier, plain(machine))
    if any_of("of instances").search(text):
        rented = whole_words("rented")
    else:
        rented = ()
    for pattern, meant in (*whole_words("short"), *rented, *whole_words("instance")):
        match = pattern.search(text)
        if match:
            words = meant.format(
                *(any_of("joints of instance").sub(" ", group) for group in match.groups())
            )
            before = text[: match.start()]
            after = text[match.end() :]
            cards = any_of("cards of board").match(words)
            again = cards and re.search(rf"\b\d+ ?x [^,+|]*\b{cards[1]}\b", before + after)
            if again:
                text = f"{before} {after}"
            else:
                text = f"{before}{words}{after}"
    return text


def without(kind: str, text: str, by: str = " ") -> str:
    """Plain text without the words of a kind, such as "line": the 7780 of "Precision 7780"."""
    for pattern, _ in whole_words(kind):
        text = pattern.sub(by, text)
    return text


WORD = re.compile(r"[a-z0-9+.]+")
HAS_SIZE = re.compile(r"\d[ -]?[gtm]")
NO_LETTER = re.compile(r"[^a-z0-9+]")


def telling_words(text: str) -> Counter[str]:
    """Words of a plain text, or of a name of the catalogue, that distinguish presets, with their
    numbers.
    """
    bare = any_of("inches").sub(" ", folded(text))
    if HAS_SIZE.search(bare):
        bare = without_sizes(_without_storage(bare))
    return Counter(WORD.findall(without("owner", rewritten(bare, "telling"))))


def squeezed(text: str) -> str:
    """Plain text, or name of the catalogue, with letters and digits only."""
    return NO_LETTER.sub("", without("owner", folded(text)))


def translated(text: str) -> str:
    """Plain text with Chinese words for parts, and full-width signs, in English."""
    if text.isascii():
        return text
    for pattern, meant in patterns("translated"):
        text = pattern.sub(f" {meant} ", text)
    return " ".join(CHINESE.sub(" ", text).split())


CHINESE = re.compile(r"[\u3400-\u9fff\u3040-\u30ff]+")
"""Words that are left untranslated, between which no parts are named."""


def _without_numbers(text: str) -> str:
    """Plain text without sizes and other numbers that are of no part."""
    return any_of("no part number").sub(" ", without_sizes(_without_storage(text)))


def _is_known(word: str) -> bool:
    return (
        word in words_of_kind("kind of machine")
        or word in words_of_kind("part beside")
        or bool(any_of("says nothing").fullmatch(word))
        or bool(meaning("platform", word))
    )


# Memory in a machine's name: modules, RAM, and sizes that are a drive's or the cards'.

SIZES_OF_MODULES = (4, 8, 16, 24, 32, 48, 64, 96, 128, 256)  # sizes of memory modules [GiB]


def with_modules_summed(text: str) -> str:
    """Plain text in which memory modules are their sum: "8x 32GB", "64g*8"."""

    def behind(match: re.Match[str]) -> str:
        size = int(match[1])
        number = int(match[2])
        if size <= max(SIZES_OF_MODULES):
            return f"{size * number}gb ram"
        return match[0]

    text = any_of("modules behind").sub(behind, text)
    return any_of("modules").sub(lambda match: f"{int(match[1]) * int(match[2])}gb", text)


def _without_storage(text: str) -> str:
    return any_of("memory of cards", "drive", "terabytes").sub(" ", text)


SIZES_OF_DRIVES = (128, 256, 500, 512, 1000, 1024)
DRIVE_FROM = 8  # a size that is so many times the next smaller one of a PC is its drive's


RATES = range(800, 12_801)  # rates of memory modules, from DDR3-800 to LPDDR6-12800 [MT/s]


def _agreed(values: Iterable[Value]) -> Value | None:
    """Value that all statements have in common; None without a statement, or with different
    ones.
    """
    distinct = set(values)
    if len(distinct) == 1:
        return distinct.pop()
    return None


USUAL_RATES = {"DDR4": 3200.0, "DDR5": 4800.0}
"""Rates of both types in the specifications of those processors' first generation [MT/s]."""


def rate_of_type(stated: str, row: HostRow) -> tuple[float | None, str]:
    """Rate of modules of a stated type that is not the catalogue's, and an assumption [MT/s]."""
    if not stated or not row.memory_type.startswith("DDR") or stated == row.memory_type:
        return None, ""
    if any_of("takes both").match(row.name) and stated in USUAL_RATES:
        rate = USUAL_RATES[stated]
        return rate, f"{stated} is taken at {rate:.0f} MT/s, as its rate is not said."
    return None, f"{row.name} takes {row.memory_type}: {stated} in the name is left out."


# Networks between machines.


@cache
def _mention() -> re.Pattern[str]:
    """Pattern of a network in a machine's name: kinds and rates, with the words that join them."""
    kinds = "|".join(row.words for row in network_rows())
    units = r"gbe|gbps|gbit(?:/s)?|gb/s (?=network)|gigabit"
    rate = rf"\b(?:\d ?x ?|dual |quad )?\d+(?:\.\d+)? ?(?:{units})\b"
    joint = r"over|via|through|using|linked by|connected (?:by|with|over|via)|joined by|with|and|by"
    more = r"cables?|links?|switch|direct|dac|sfp\+?|rj45|ports?|network|bridge|\d+g\b|qsfp\w*"
    item = rf"(?:{kinds}|{rate})"
    return re.compile(
        rf"[(,;]?\s*(?:\b(?:{joint})\s+)*{item}(?:[\s,/+-]*(?:{item}|{more}|{joint}))*\s*[)]?"
    )


def without_network(text: str) -> tuple[str, str]:
    """Machine's name without the network in it, and the network; an empty network where it has
    none.
    """
    mention = _mention().search(text)
    if mention is None:
        return text, ""
    return f"{text[: mention.start()]} {text[mention.end() :]}".strip(), mention[0].strip(" (),;")


@dataclass(frozen=True)
class Written:
    """Plain text of a name, with the meanings of its words; each is read once, at first use."""

    text: str  # text in lower case with usual spaces, dashes, units and counts
    name: str = ""  # name as it is typed, which errors repeat; empty for a part of it

    @classmethod
    def of(cls, name: str) -> "Written":
        """Name as it is typed, with Chinese words in English; raises UnknownName for a text too
        long for a name.
        """
        return cls(translated(plain(name)), name)

    def without(self, kind: str, by: str = " ") -> "Written":
        """Text without the words of a kind, such as "line": the 7780 of "Precision 7780"."""
        return Written(without(kind, self.text, by))

    @lazy
    def counted(self) -> tuple["Written", int]:
        """Text without its count, and the count, 1 by default."""
        text, count = counted(self.text)
        return Written(text.strip()), count

    @lazy
    def spelled_out(self) -> "Written":
        """Text with abbreviations and instances expanded: "bm.gpu.h100.8" is "8x h100"."""
        return Written(spelled_out(self.text))

    @lazy
    def without_model(self) -> "Written":
        """Text without the number of a laptop's model."""
        return Written(any_of("laptop number", "laptop model").sub(" ", self.text))

    @lazy
    def modules_summed(self) -> "Written":
        """Text in which memory modules are their sum: "8x 32GB", "64g*8"."""
        return Written(with_modules_summed(self.text))

    @lazy
    def squeezed(self) -> str:
        """Letters and digits of the text alone."""
        return squeezed(self.text)

    @lazy
    def telling(self) -> Counter[str]:
        """Words that distinguish presets, with their numbers."""
        return telling_words(self.text)

    def meaning(self, kind: str) -> str:
        """Value of the first word of a kind ("platform"); empty without one."""
        return meaning(kind, self.text)

    def count_of(self, kind: str) -> int | None:
        """Number of a kind ("virtual processors"); None without one."""
        match = any_of(kind).search(self.text)
        if match and int(match[1]):
            return int(match[1])
        return None

    # Kinds of machines, abbreviations and fillers.

    def says(self, *kinds: str) -> bool:
        """Whether the text has a word of some kinds, such as "hired" of rented cards."""
        return says(self.text, *kinds)

    @lazy
    def is_tower(self) -> bool:
        """Whether the text names a machine or dock that takes desktop cards."""
        return self.says("tower", "mini")

    @lazy
    def is_laptop(self) -> bool:
        """Whether the text names a machine with laptop graphics."""
        return self.says("laptop") and not self.is_tower

    @lazy
    def form(self) -> Form | None:
        """Form of machine that the words say, earlier kinds first; None without one."""
        forms = words_of_kind("form").items()
        return next((Form(form) for kind, form in forms if self.says(kind)), None)

    @lazy
    def without_system(self) -> "Written":
        """Text without prices and versions of systems, and with a comma for labels ("GPU:")."""
        beside = any_of("beside machine").sub(" ", self.text).replace("( )", " ")
        bare = rewritten(beside, "labelled")
        sized = any_of("azure size").sub(lambda size: size[0].replace(" ", "_"), bare)
        return Written(" ".join(sized.split()))

    @lazy
    def without_lanes(self) -> "Written":
        """Text without the lanes of a card's link, which are no count ("3090 in x4 slot")."""
        text = self.text
        for item in ITEMS.split(text):
            if any_of("of a drive").search(item):
                continue
            for pattern, value in patterns("link"):
                match = pattern.search(item)
                if match and value.endswith("1") and "x" in match[0]:
                    text = text.replace(item, f"{item[: match.start()]} {item[match.end() :]}")
                    break
        return Written(text)

    @lazy
    def link(self) -> tuple[int, int]:
        """PCIe generation and lanes of a GPU, 0 where the text has none; "3090 on PCIe 3.0 x4" is
        (3, 4).
        """
        for item in ITEMS.split(self.text):
            for pattern, value in patterns("link"):
                match = pattern.search(item)
                if match and not any_of("of a drive").search(item):
                    generation, lanes = map(int, match.expand(value).split())
                    return generation, lanes
        return 0, 0

    @lazy
    def stray_number(self) -> str:
        """Number of three digits or more that belongs to no part, and may be an unknown card."""
        match = re.search(r"\b[a-z]{0,3}\d{3,4}[a-z]{0,4}\b", _without_numbers(self.text))
        if match:
            return match[0]
        return ""

    def unknown_items(self) -> Iterator[str]:
        """Items between plus signs without a known word; a bar stands for a known card."""
        items = [item.strip(" (),") for item in self.text.split(" + ")]
        for item in items if len(items) > 1 else ():
            words = re.findall(r"[a-z]{3,}", _without_numbers(item))
            if words and "|" not in item and not any(map(_is_known, words)):
                yield item

    # Memory: modules, RAM, and sizes that are a drive's or the cards'.

    @lazy
    def sizes(self) -> list[float]:
        """All memory sizes, in order [GiB]."""
        return sizes_gib(self.text)

    @lazy
    def memory_sizes(self) -> list[float]:
        """Memory sizes without the drive's; "8x 32 GB" is 256 [GiB]."""
        return sizes_gib(with_modules_summed(_without_storage(self.text)))

    @lazy
    def main_memory(self) -> float | None:
        """Main memory of a PC: the size that is called RAM, or the largest size that is no drive's
        [GiB].
        """
        sizes = self.memory_sizes
        named = any_of("main memory").finditer(_without_storage(self.text))
        called = [size for match in named for size in sizes_gib(match[0])]
        if called and max(called) in sizes:
            return max(called)
        largest = max(sizes, default=None)
        others = [size for size in sizes if size != largest]
        if not largest or not others or largest not in SIZES_OF_DRIVES:
            return largest
        if largest >= DRIVE_FROM * max(others):
            return max(others)
        return largest

    @lazy
    def names_ram(self) -> bool:
        """Whether the text calls one of its sizes RAM ("64 GB DDR5")."""
        return bool(any_of("main memory").search(_without_storage(self.text)))

    @lazy
    def server_memory(self) -> list[float]:
        """Sizes in TB that are a server's memory, as no drive is named beside them [GiB]."""
        return sizes_gib(any_of("drive").sub(" ", self.text))

    @lazy
    def memory_rate(self) -> float | None:
        """Rate of the memory, "DDR5-6000" or "3200 MT/s" [MT/s]."""
        matches = any_of("memory rate").finditer(self.text)
        stated = (float(match[match.lastindex or 0]) for match in matches)
        return _agreed(rate for rate in stated if rate in RATES)

    @lazy
    def memory_type(self) -> str:
        """Type of the modules, "DDR4"; empty without one, or with several."""
        types = any_of("memory type").findall(self.text)
        return _agreed(match.upper() for match in types) or ""

    @lazy
    def memory_channels(self) -> int | None:
        """Memory channels, "8-channel" or "quad channel"."""
        stated = any_of("channels").findall(self.text)
        numbers = words_of_kind("number")
        return _agreed(int(number or numbers[word]) for number, word in stated)


ITEMS = re.compile(r"[,;|]| \+ ")  # signs between the items of a name


def states_link(text: str) -> bool:
    """Whether a name of a machine states the link of its card: "3090 PCIe 3 x8"."""
    return any(Written(plain(text)).link)


def size_in(text: str) -> float | None:
    """Size of memory that a name of a card states [GiB]; None where it states none."""
    return size_gib(plain(text))
