"""Words of hardware's names, for cards, processors and whole machines alike: the table of words,
plain text, sizes and counts; kinds of machines, abbreviations and fillers; main memory and drives.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.machine.machine import Form
from advisor.machine.rows import HostRow


@dataclass(frozen=True, kw_only=True, slots=True)
class NameWordRow:
    """One row of data/hardware/name_words.csv: a word or pattern of names in lower case."""

    kind: str  # what it is for, as the functions here and in the other files ask for it
    pattern: str  # the word, or the pattern of it
    # what it means or is written as, a reason, or a catalogue row; "␣" is a blank at an end
    value: str


@cache
def _rows() -> Mapping[str, tuple[NameWordRow, ...]]:
    rows: dict[str, list[NameWordRow]] = defaultdict(list)
    for row in read(DATA / "hardware/name_words.csv", NameWordRow):
        rows[row.kind].append(row)
    return {kind: tuple(of_kind) for kind, of_kind in rows.items()}


@cache
def words_of_kind(kind: str) -> dict[str, str]:
    """Words or patterns of a kind, each with its meaning."""
    return {row.pattern: row.value.replace("␣", " ") for row in _rows()[kind]}


@cache
def patterns(kind: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Patterns of a kind with their values, as they stand."""
    return tuple((re.compile(part), value) for part, value in words_of_kind(kind).items())


@cache
def whole_words(kind: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Patterns of a kind that stand for whole words, with their values."""
    words = words_of_kind(kind).items()
    return tuple((re.compile(rf"\b(?:{part})\b"), value) for part, value in words)


@cache
def any_of(*kinds: str) -> re.Pattern[str]:
    """Pattern of all patterns of some kinds."""
    return re.compile("|".join(part for kind in kinds for part in words_of_kind(kind)))


def rewritten(text: str, kind: str) -> str:
    """Plain text with the patterns of a kind, one after another, as their values."""
    for pattern, value in patterns(kind):
        text = pattern.sub(value, text)
    return text


def _value(text: str, kind: str) -> str:
    """Value of the first word of a kind in a plain text; empty without one."""
    return next((value for pattern, value in whole_words(kind) if pattern.search(text)), "")


# Common parts of hardware names: marks to ignore, sizes and counts.

MARKS = re.compile(r"\((?:r|tm|c)\)|[®™©\u200b]")
OF_SIZE = re.compile(r"\b([a-z]\d{2,4})\.(?=\d+ ?gb\b)")
DECIMAL_COMMA = re.compile(r"(?<=(?<![\w.,])\d),(?=\d{1,2} ?ti?b?\b)")
"""Decimal comma of a size in TB; "9,16GB" may be a list."""
OF_THOUSANDS = re.compile(r"(?<=(?<![\w.,])[12]),(?=(?:000|024|048|152|536) ?[gm]i?b?\b)")
PLURAL = re.compile(r"(?<=\bxtx)s\b|(?<=\d xt)s\b|(?<=\btitan)s\b|(?<=\d super)s\b")
"""Pattern of the plural of a card's last word: "7900 XTXs"."""
APART = re.compile(r"(?<=ddr) (?=[2-5]\b)")
"""Space in a memory's type: "DDR 4"."""
ATTACHED = re.compile(r"(?<=\bram)(?=\d{1,4} ?g)")
"""Place of the missing space before a memory's size: "RAM16GB"."""
UNIT_LEFT_OUT = re.compile(r"(?<![\w.,-])(\d{1,3})(?= ram\b)")
"""Size of memory without its unit: "24 RAM"."""
DASHES = re.compile(r"[\u2010-\u2015\u2212]")
TIMES = "\N{MULTIPLICATION SIGN}"
WIDE = str.maketrans("\uff08\uff09\uff0c\uff1a\uff1b\uff0b\u00b7\u2022", "(),:;+,,")
"""Chinese brackets and punctuation, and dots between parts, with those of other languages."""
SIZE = re.compile(
    r"(?<![\w.])(?:(\d+(?:\.\d+)?)\s*-?(tib|tb|gib|gb|gi|gigs?|go|mib|mb)"
    r"|(\d{1,3}|\d\.\d(?= ?t)) ?(g|(?<=\.\d)t|(?<=\.\d )t))\b"
    r"(?!\s*/\s*s|ps)"
)
FACTORS = {"m": 1 / 1024, "t": 1024.0}
SMALLEST_GIB, LARGEST_GIB = 1.0, 100_000.0


def plain(text: str) -> str:
    """Text in lower case, without trademark signs and unusual spaces and dashes, and with a space
    in the names of clusters' resources ("h100.96gb").
    """
    folded = text.casefold()
    if "(" in folded or not folded.isascii():
        folded = DASHES.sub("-", MARKS.sub(" ", folded.translate(WIDE))).replace(TIMES, "x")
    if "." in folded:
        folded = OF_SIZE.sub(r"\1 ", folded)
    if "," in folded:
        folded = OF_THOUSANDS.sub("", DECIMAL_COMMA.sub(".", folded))
    if "xts" in folded or "xtxs" in folded or "titans" in folded or "supers" in folded:
        folded = PLURAL.sub("", folded)
    if "ddr " in folded:
        folded = APART.sub("", folded)
    if "ram" in folded:
        folded = UNIT_LEFT_OUT.sub(r"\1gb", ATTACHED.sub(" ", folded))
    return " ".join(folded.split())


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


NUMBERS = {
    "single": 1, "one": 1, "dual": 2, "double": 2, "twin": 2, "two": 2, "both": 2, "pair": 2,
    "triple": 3, "three": 3, "quad": 4, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "octa": 8, "ten": 10, "twelve": 12,
}  # fmt: skip
NUMBER_WORD = re.compile(
    rf"(?<!\d )\b({'|'.join(NUMBERS)})\b(?![- ](?:slot|fan|channel|rank|die)\b)(?: of)?\s+(?=\w)"
)
MAKERS = r"nvidia|amd|geforce|rtx|gtx|rx|radeon|tesla|instinct|arc"
COUNTS = (
    re.compile(r"(?<![\w.-])(\d{1,3})\s*(?:x(?!tx?\b)|\*)(?:\s*|[-_](?!slot|fan))(?=[a-z0-9(])"),
    re.compile(
        r"(?:(?<=[\ds)\]])\s*|(?<=\w)\s+)(?!x[5-9][89]\b)[x*]\s*(\d{1,2})"
        r"(?=\s*(?:$|[,;+&()]|gpus?\b|cards?\b))"
    ),
    re.compile(r"^[x*]\s?(\d{1,2})\s+(?=[a-z]*\d)"),
    re.compile(r"\(\s*[x*]?\s*(\d{1,2})\s*[x*]?(?:\s*(?:gpus?|cards?))?\s*\)"),
    re.compile(rf"^(\d{{1,2}})\s+(?=(?:{MAKERS}|[abhklmpv]\d{{2,3}}s?\b|[alt]\d|mi\d|\d{{4}}))"),
    re.compile(r"\b(\d{1,2})[\s-]+(?:gpus?|cards?|way)\b(?!-? ?cores?)"),
    re.compile(r"\s(?:-\s*)?(\d|1[06])x$"),
)
"""Spellings of a count: "2x A", "A x2", "A (x2)", "2 A", "A, 2 GPUs", "A - 2x"; X58, X79 and X99
are boards.
"""
MOST = 128


def counted(text: str) -> tuple[str, int]:
    """Plain text without its count, and the count, 1 by default."""
    word = NUMBER_WORD.search(text)
    if word:
        return text[: word.start()] + text[word.end() :], NUMBERS[word[1]]
    for pattern in COUNTS:
        match = pattern.search(text)
        if match and int(match[1]) <= MOST:
            return f"{text[: match.start()]} {text[match.end() :]}", int(match[1])
    return text, 1


# Kinds of machines, abbreviations and fillers.


def is_laptop(text: str) -> bool:
    """Whether a plain text names a machine with laptop graphics."""
    return _has(text, "laptop") and not is_tower(text)


def is_tower(text: str) -> bool:
    """Whether a plain text names a machine or dock that takes desktop cards."""
    return _has(text, "tower") or _has(text, "mini")


def _has(text: str, kind: str) -> bool:
    """Whether a plain text has a word of a kind."""
    return any(pattern.search(text) for pattern, _ in whole_words(kind))


FORMS = {
    "handheld": Form.HANDHELD,
    "mini": Form.MINI,
    "desktop": Form.DESKTOP,
    "laptop": Form.LAPTOP,
    "workstation": Form.DESKTOP,
    "rack": Form.SERVER,
}
"""Kinds of words that say a machine's form, those that decide over others first."""


def form_named(text: str) -> Form | None:
    """Form of a machine that a plain text says by its words; None where it says none."""
    return next((form for kind, form in FORMS.items() if _has(text, kind)), None)


def typical_platform(text: str) -> str:
    """Typical platform of a kind that is named without a number ("Threadripper"); empty without."""
    return _value(text, "platform")


def refusal(text: str) -> str:
    """Why a machine or part that a plain text names cannot be described; empty for others."""
    return _value(text, "refused")


@dataclass(frozen=True, kw_only=True, slots=True)
class MacIdentifierRow:
    """One row of data/hardware/mac_identifiers.csv: Apple's identifier of a model, which macOS
    prints ("Mac15,11"), with the product and its chip.
    """

    identifier: str
    machine: str
    source: str
    source_date: str


@cache
def _macs() -> Mapping[str, str]:
    rows = read(DATA / "hardware/mac_identifiers.csv", MacIdentifierRow)
    return {plain(row.identifier): plain(row.machine) for row in rows}


MAC = re.compile(r"\bi?mac(?:book)?(?:air|pro|mini)?\d{1,2},\d{1,2}\b")
OF_INSTANCES = re.compile(r"[a-z\d][-_.][a-z\d]")
"""Sign within a rented machine's name ("gpu-h100x8", "1x_L4_28V"), without which it is none."""
JOINTS = re.compile(r"[_-]|(?<=[a-z0-9])\.(?=[a-z])|^\.")
"""Signs between the words of an instance's name."""
CARDS_OF_BOARD = re.compile(r"\d+x .*?\b([a-z]*\d+[a-z]*)\b")


def spelled_out(text: str) -> str:
    """Plain text with abbreviations, Apple's identifiers and cloud instances expanded:
    "bm.gpu.h100.8" is "8x h100", unless the cards are also named beside it ("HGX H100 (8x H100)").
    """
    text = MAC.sub(lambda match: _macs().get(match[0], match[0]), text)
    rented = whole_words("rented") if OF_INSTANCES.search(text) else ()
    for pattern, meant in (*whole_words("short"), *rented, *whole_words("instance")):
        match = pattern.search(text)
        if match:
            words = meant.format(*(JOINTS.sub(" ", group) for group in match.groups()))
            before, after = text[: match.start()], text[match.end() :]
            cards = CARDS_OF_BOARD.match(words)
            again = cards and re.search(rf"\b\d+ ?x [^,+|]*\b{cards[1]}\b", before + after)
            text = f"{before} {after}" if again else f"{before}{words}{after}"
    return text


def without_line_numbers(text: str) -> str:
    """Plain text without numbers of product lines and inches: the 7780 of "Precision 7780", the 16
    of "Blade 16".
    """
    for pattern, _ in whole_words("line"):
        text = pattern.sub(" | ", text)
    return text


def without_owners(text: str) -> str:
    """Plain text without words of owners and sellers, and without articles."""
    for pattern, _ in whole_words("owner"):
        text = pattern.sub(" ", text)
    return text


VIRTUAL = re.compile(r"\b(\d{1,3})[ -]?v-?(?:cpus?|cores?)\b")
PART = re.compile(r"\b(\d{1,3})[- ]?cores? (?:of|on|from|out of) (?:an?|the|one)? ?")


def cores_of_part(text: str) -> int | None:
    """Cores of a processor that a plain text takes a part of: "32 cores of an EPYC 7763"; None
    without them.
    """
    match = PART.search(text)
    return int(match[1]) if match and int(match[1]) else None


def virtual_processors(text: str) -> int | None:
    """Number of virtual processors that a plain text states; None without one."""
    match = VIRTUAL.search(text)
    return int(match[1]) if match and int(match[1]) else None


WORD = re.compile(r"[a-z0-9+.]+")
HAS_SIZE = re.compile(r"\d[ -]?[gtm]")
INCHES = re.compile(r"\b1[1-8](?:\.\d)?(?:[- ]?inch\b|\"|'')")
NO_LETTER = re.compile(r"[^a-z0-9+]")
CORES = re.compile(r"\b\d{1,3}[- ]?c(?:ores?)?\b(?:/\d{1,3}[- ]?c\b)?")
CHIP = re.compile(r"\bm([1-9])[ -](pro|max|ultra)\b")
TURNED_CHIP = re.compile(r"\b(max|ultra)[ -]m([1-9])\b")
COUNTED_BEFORE = re.compile(r"\b(\d{1,2}) ?[x*] ?(?=[a-z]{1,2}\d)")


def telling_words(text: str) -> Counter[str]:
    """Words of a name that distinguish presets, with their numbers."""
    bare = INCHES.sub(" ", plain(text))
    if HAS_SIZE.search(bare):
        bare = without_sizes(_without_storage(bare))
    bare = TURNED_CHIP.sub(r"m\2\1", CHIP.sub(r"m\1\2", CORES.sub(" ", bare)))
    bare = COUNTED_BEFORE.sub(r"\1x ", bare).replace("-", " ")
    return Counter(WORD.findall(without_owners(bare)))


def squeezed(text: str) -> str:
    """Name with letters and digits only."""
    return NO_LETTER.sub("", without_owners(plain(text)))


def says_nothing(word: str) -> bool:
    """Whether a word is no part of a machine: inches, a year, a colour, a kind of box."""
    return any_of("says nothing").fullmatch(word) is not None


def translated(text: str) -> str:
    """Plain text with Chinese words for parts, and full-width signs, in English."""
    if text.isascii():
        return text
    for pattern, meant in patterns("translated"):
        text = pattern.sub(f" {meant} ", text)
    return " ".join(CHINESE.sub(" ", text).split())


CHINESE = re.compile(r"[\u3400-\u9fff\u3040-\u30ff]+")
"""Words that are left untranslated, between which no parts are named."""
LABEL = re.compile(r"\b(?:cpus?|gpus?|processor|graphics(?: card)?|os|motherboard)\s*:\s*")
LABEL_HAS_SIZE = re.compile(r"\b(ram|memory|ssd|storage|disk)\s*:\s*")


def without_system(text: str) -> str:
    """Plain text without prices, versions of systems and firmware, and with a comma for the label
    of a part ("GPU:").
    """
    bare = LABEL_HAS_SIZE.sub(
        r", \1 ", LABEL.sub(", ", any_of("beside machine").sub(" ", text).replace("( )", " "))
    )
    bare = HYPHENS.sub(" ", LETTERS_OF_MODEL.sub(r"\1\2", bare))
    return AZURE_SIZE.sub(lambda size: size[0].replace(" ", "_"), bare)


HYPHENS = re.compile(r"(?<=\d)-(?=[gt]b\b)|(?<=\d[gt]b)-(?=[a-z])")
"""Hyphens of a size in an address: "16-gb 1-tb-ssd"."""
LETTERS_OF_MODEL = re.compile(r"\b(i[3579][- ]?\d{4,5}) (h[kqx]?|k[fs]?)\b")
"""Model of a processor with a space before its letters: "i5 11400 H"."""


AZURE_SIZE = re.compile(
    r"\b(?:standard[_ ])?n[cdvgp][a-z]?\d{1,3}[a-z]*"
    r"(?:[_ ](?:ndr|[a-z]{1,3}\d{1,3}[a-z]?))*[_ ]v\d\b"
)
"""Name of one of Azure's sizes as its pages write it in sentences: "NC24ads A100 v4"."""


def stray_number(text: str) -> str:
    """Number of three digits or more that belongs to no part; it may be an unknown card."""
    bare = any_of("no part number").sub(" ", without_sizes(_without_storage(text)))
    match = re.search(r"\b[a-z]{0,3}\d{3,4}[a-z]{0,4}\b", bare)
    return match[0] if match else ""


def unknown_items(rest: str) -> Iterator[str]:
    """Items between plus signs without a known word, in a plain text with a bar for each card; a
    processor may be among them.
    """
    items = [item.strip(" (),") for item in rest.split(" + ")]
    for item in items if len(items) > 1 else ():
        bare = any_of("no part number").sub(" ", without_sizes(_without_storage(item)))
        words = re.findall(r"[a-z]{3,}", bare)
        if words and "|" not in item and not any(map(_is_known, words)):
            yield item


def _is_known(word: str) -> bool:
    return (
        word in words_of_kind("kind of machine")
        or word in words_of_kind("part beside")
        or says_nothing(word)
        or bool(typical_platform(word))
    )


# Memory in a machine's name: modules, RAM, and sizes that are a drive's or the cards'.

MODULES = re.compile(
    r"(?<![\w.])(\d{1,2}) ?[x*] ?(?:l?p?ddr\d(?:-\d{4,5})? )?(\d{1,3})"
    r"(?: ?gi?b?\b|(?= (?:l?p?ddr\d|[2-8]\d00\b|cl\d\d|r?dimm)))"
)
""" "8x 32GB", "4 x DDR4 8G", and "2x32 6000" without a unit before a rate."""
OF_MODULES = (
    r"(?: ?(?:\d{4} ?(?:mhz|mt/s)?|\d?r?x?\d? ?l?p?ddr\d(?:[- ]\d{4})?|ecc|reg|r-?dimm|u-?dimm))*"
)
MODULES_BEHIND = re.compile(
    rf"(?<![\w.])(\d{{1,3}}) ?gi?b?{OF_MODULES} ?[x*] ?(\d{{1,2}})(?: ?(?:sticks|modules|dimms))?\b"
    r"(?: ?= ?\d+ ?gi?b?\b)?"
)
LARGEST_MODULE = 256
"""Largest memory module [GiB]."""


def with_modules_summed(text: str) -> str:
    """Plain text in which memory modules are their sum: "8x 32GB", "64g*8"."""

    def behind(match: re.Match[str]) -> str:
        size, number = int(match[1]), int(match[2])
        return f"{size * number}gb ram" if size <= LARGEST_MODULE else match[0]

    def before(match: re.Match[str]) -> str:
        return f"{int(match[1]) * int(match[2])}gb"

    return MODULES.sub(before, MODULES_BEHIND.sub(behind, text))


RAM = re.compile(
    r"\b\d+(?:\.\d+)? ?g(?:i?b|o)?(?: (?:of|de|di))?(?: (?:system|host|main|cpu))?"
    r" (?:d?ram|l?p?ddr\d\w*|memory|mem|ecc)\b"
    r"|\b(?:(?<!gpu )mem|d?ram|memory|memtotal|l?p?ddr\d\w*)(?: total)?:?"
    r" ?\d+(?:\.\d+)? ?(?:g(?:i?b?)?|t)\b"
)


def _without_storage(text: str) -> str:
    return any_of("memory of cards", "drive", "terabytes").sub(" ", text)


def memory_sizes(text: str) -> list[float]:
    """Memory sizes in a plain text, without the drive's; "8x 32 GB" is 256 [GiB]."""
    return sizes_gib(with_modules_summed(_without_storage(text)))


def main_memory(text: str) -> float | None:
    """Main memory of a PC in a plain text: the size that is called RAM, else the largest but for a
    drive's; of "16GB 512GB" the first [GiB].
    """
    sizes = memory_sizes(text)
    called = [
        size for match in RAM.finditer(_without_storage(text)) for size in sizes_gib(match[0])
    ]
    if called and max(called) in sizes:
        return max(called)
    largest = max(sizes, default=None)
    others = [size for size in sizes if size != largest]
    if largest and others and largest in SIZES_OF_DRIVES and largest >= DRIVE_FROM * max(others):
        return max(others)
    return largest


SIZES_OF_DRIVES = (128, 256, 500, 512, 1000, 1024)
DRIVE_FROM = 8
"""A size that is so many times the next smaller one of a PC is its drive's."""


def names_ram(text: str) -> bool:
    """Whether a plain text has a memory size that it calls RAM: "64 GB DDR5"."""
    return bool(RAM.search(_without_storage(text)))


def server_memory(text: str) -> list[float]:
    """Sizes in TB that are a server's memory, as no drive is named beside them [GiB]."""
    return sizes_gib(any_of("drive").sub(" ", text))


RATE = re.compile(
    r"\bl?p?ddr[345]x?(?:[- @,]|r-?dimm|u-?dimm|ecc|reg)*(\d{4,5})(?! ?g)(?:\b|(?=mhz|mt))"
    r"|(?<![\d.])(\d{4,5}) ?mt/?s\b"
    r"|\b(?:d?ram|memory)[ @,:]*(\d{4,5}) ?mhz\b"
)
RATES = range(800, 12_801)
"""Rates of memory modules, from DDR3-800 to LPDDR6-12800 [MT/s]."""
CHANNELS = re.compile(rf"\b(?:(\d{{1,2}})|({'|'.join(NUMBERS)}))[- ]?ch(?:annels?)?\b")


def memory_rate(text: str) -> float | None:
    """Rate of the memory in a plain text, "DDR5-6000" or "3200 MT/s" [MT/s]."""
    stated = {float(next(filter(None, match.groups()))) for match in RATE.finditer(text)}
    rates = {rate for rate in stated if rate in RATES}
    return rates.pop() if len(rates) == 1 else None


TYPE = re.compile(r"(?<![a-z])ddr[2-5]\b")
TAKES_BOTH = re.compile(r"Core i[3579]-1[234]\d{3}")
"""Processors for which boards have DDR4 or DDR5: Intel's 12th to 14th generation
(https://www.techspot.com/news/93633-intel-wants-700-series-chipset-motherboards-support-only.html,
2022-02, read 2026-11-23)."""
USUAL_RATES = {"DDR4": 3200.0, "DDR5": 4800.0}
"""Rates of both types in the specifications of those processors' first generation [MT/s]."""


def memory_type(text: str) -> str:
    """Type of the modules in a plain text, "DDR4"; empty without one, or with several."""
    types = {match.upper() for match in TYPE.findall(text)}
    return types.pop() if len(types) == 1 else ""


def rate_of_type(stated: str, row: HostRow) -> tuple[float | None, str]:
    """Rate of modules of a stated type that is not the catalogue's, and what is assumed [MT/s]."""
    if not stated or not row.memory_type.startswith("DDR") or stated == row.memory_type:
        return None, ""
    if TAKES_BOTH.match(row.name) and stated in USUAL_RATES:
        rate = USUAL_RATES[stated]
        return rate, f"{stated} is taken at {rate:.0f} MT/s, as its rate is not said."
    return None, f"{row.name} takes {row.memory_type}: {stated} in the name is left out."


def memory_channels(text: str) -> int | None:
    """Memory channels in a plain text, "8-channel" or "quad channel"."""
    counts = {int(number) if number else NUMBERS[word] for number, word in CHANNELS.findall(text)}
    return counts.pop() if len(counts) == 1 else None
