"""Words of a GPU's name: those that distinguish cards, brands, memory size and number of cards."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import UnknownName
from advisor.machine.rows import GpuRow

# Common parts of hardware names: marks to ignore, sizes and counts.

MARKS = re.compile(r"\((?:r|tm|c)\)|[®™©\u200b]")
OF_SIZE = re.compile(r"\b([a-z]\d{2,4})\.(?=\d+ ?gb\b)")
DECIMAL_COMMA = re.compile(r"(?<=(?<![\w.,])\d),(?=\d{1,2} ?ti?b?\b)")
"""Decimal comma of a size in TB; "9,16GB" may be a list."""
OF_THOUSANDS = re.compile(r"(?<=(?<![\w.,])[12]),(?=(?:000|024|048|152|536) ?[gm]i?b?\b)")
PLURAL = re.compile(r"(?<=\bxtx)s\b|(?<=\d xt)s\b|(?<=\btitan)s\b|(?<=\d super)s\b")
"""Pattern of the plural of a card's last word: "7900 XTXs"."""
DASHES = re.compile(r"[\u2010-\u2015\u2212]")
TIMES = "\N{MULTIPLICATION SIGN}"
WIDE = str.maketrans("\uff08\uff09\uff0c\uff1a\uff1b\uff0b", "(),:;+")
"""Chinese brackets and punctuation, with those of other languages."""
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
    "ten": 10,
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
    re.compile(rf"^(\d{{1,2}})\s+(?=(?:{MAKERS}|h\d00|a\d|v100|p40|mi\d|\d{{4}}))"),
    re.compile(r"\b(\d{1,2})[\s-]+(?:gpus?|cards?|way)\b"),
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


# Apple's chips by name; the number of GPU cores follows from the name or the memory size.

CHIP = re.compile(r"\bm([1-9])[\s-]*(pro|max|ultra)?\b(?!\s*(?:sxm|pcie)|\.\d*\w)")
OTHER_MAKERS = re.compile(
    r"tesla|\bgrid\b|\brage\b|nvidia|quadro|\bamd\b|radeon|rtx|\bm\.2\b|bosgame"
)
CORES = re.compile(r"\b(\d{1,2})(?=[\s-]*(?:c\b|cores?\b|gpu|graphic))")
OF_GPU = re.compile(r"\b(\d{1,2})[\s-]*(?:c(?:ores?)?)?[\s-]*(?:gpu|graphics?\b)")
OF_CPU = re.compile(r"\b(\d{1,2})[\s-]*(?:c(?:ores?)?)?[\s-]*cpu")
RAM_AND_DRIVE = re.compile(
    r"(?<![\w./])(\d{1,3})(?: ?[|/,] ?| )(?:(?:128|256|500|512|1024|2048)\b(?! ?gb)|[1248] ?tb\b)"
)
"""Pattern of memory before a drive, both without their units: "16 | 512"."""
PERFORMANCE_AND_EFFICIENCY = re.compile(r"\b(\d{1,2})p ?\+ ?(\d{1,2})e\b")
COUNT_OF_CHIPS = re.compile(r"^[a-z]|[x*]")
SMALLEST_BARE = 32
"""Smallest number without a unit that is read as memory; smaller ones are cores [GiB]."""


@dataclass(frozen=True, kw_only=True)
class AppleChip:
    """Reading of a chip's name."""

    row: GpuRow  # catalogue row
    memory_gib: float | None  # memory size in the name [GiB]; None where it has none
    notes: tuple[str, ...]  # assumptions, one sentence each
    alternatives: tuple[str, ...]  # the same chip with other cores


def names_apple(text: str) -> bool:
    """Whether a plain text names one of Apple's chips."""
    return bool(CHIP.search(text)) and not OTHER_MAKERS.search(text)


def count_of_macs(text: str) -> int:
    """Number at an end of a plain text that is of chips ("2x", "dual") and not of cores."""
    bare, count = counted(text)
    number = text.removesuffix(bare.strip()).removeprefix(bare.strip()).strip()
    return count if number != text and COUNT_OF_CHIPS.search(number) else 1


def apple_chip(name: str, rows: Mapping[str, GpuRow]) -> AppleChip | None:
    """Chip of a name; None where no row has it."""
    text = plain(name)
    match = CHIP.search(text)
    if match is None:
        return None
    chip = f"Apple M{match[1]}" + (f" {match[2].title()}" if match[2] else "")
    variants = sorted(
        (row for row in rows.values() if re.fullmatch(rf"{chip} \d+c", row.name)), key=gpu_cores
    )
    if not variants:
        return None
    size = _memory(text, match.end(), variants)
    row, notes = _variant(variants, *_cores(text, match.end(), variants), size)
    sold = memory_options(row)
    if size and sold and size not in sold:
        notes.append(f"{row.name} is sold with {either(sold)} GB of memory; {size:g} GB as typed.")
    others = tuple(other.name for other in variants if other is not row)
    return AppleChip(row=row, memory_gib=size, notes=tuple(notes), alternatives=others)


def _kinds_of_cores(text: str) -> set[int]:
    """CPU cores that a system counts by kind: "10P+4E" is 14."""
    return {int(fast) + int(slow) for fast, slow in PERFORMANCE_AND_EFFICIENCY.findall(text)}


def _cores(text: str, end: int, variants: list[GpuRow]) -> tuple[set[int], set[int]]:
    """Numbers that may be GPU cores, and those that may be CPU cores; one that the text does not
    say of which and that any variant's CPU has is the CPU's, as in "M2 8-core".
    """
    of_gpu = {int(number) for number in OF_GPU.findall(text)}
    of_cpu = {int(number) for number in OF_CPU.findall(text)} | _kinds_of_cores(text)
    unsaid = {int(number) for number in CORES.findall(text)} - of_gpu - of_cpu
    known = {number for row in variants for number in _cpu_cores(row)}
    if of_gpu:
        return of_gpu, of_cpu | unsaid
    bare = _bare_cores(text, end, variants)
    return (unsaid - known) | bare, of_cpu | unsaid


def _variant(
    variants: list[GpuRow], gpu: set[int], cpu: set[int], size: float | None
) -> tuple[GpuRow, list[str]]:
    """Variant of a chip by GPU cores, else CPU cores, else memory; by default the largest."""
    by_gpu = [row for row in variants if gpu_cores(row) in gpu]
    by_cpu = [row for row in variants if cpu & set(_cpu_cores(row))]
    by_size = [row for row in by_cpu or variants if size in memory_options(row)]
    row = (by_gpu or by_size or by_cpu or variants)[-1]
    decided = by_gpu or len(by_cpu) == 1 or len(by_size or by_cpu or variants) == 1
    note = f"Taken with {gpu_cores(row)} GPU cores, as the name does not say how many."
    return row, [] if decided else [note]


def _memory(text: str, end: int, variants: list[GpuRow]) -> float | None:
    """Memory size with a unit, else a bare number that is one of the chip's sizes [GiB]."""
    sold = {size for row in variants for size in memory_options(row)}
    bare = (float(number) for number in re.findall(r"(?<![\w/.])\d{1,3}(?![\w/.-])", text[end:]))
    stated = size_gib(text[end:]) or size_gib(text)
    before_drive = {float(number) for number in RAM_AND_DRIVE.findall(text[end:])} & sold
    if len(before_drive) == 1 and (stated is None or stated not in sold):
        return before_drive.pop()
    return stated or next((size for size in bare if size in sold and size > SMALLEST_BARE), None)


def _bare_cores(text: str, end: int, variants: list[GpuRow]) -> set[int]:
    """Number of GPU cores without a unit: after the CPU's ("M3 Max 14/30"), or alone ("M2 Max 30")
    where it is not a memory size.
    """
    last = re.search(r"(?<![\w/.])(\d{1,2})$", text[end:])
    sold = {size for row in variants for size in memory_options(row)}
    known = {gpu_cores(row) for row in variants}
    pair = re.search(r"\b\d{1,2}\s?/\s?(\d{1,2})\b", text[end:])
    if pair and int(pair[1]) in known:
        return {int(pair[1])}
    return {int(last[1])} & (known - sold) if last else set()


def gpu_cores(row: GpuRow) -> int:
    """GPU cores of an Apple chip, from its name."""
    return int(row.name.split()[-1].removesuffix("c"))


def _cpu_cores(row: GpuRow) -> list[int]:
    return [int(number) for number in re.findall(r"(\d+)-core CPU", row.aliases)]


def memory_options(row: GpuRow) -> tuple[float, ...]:
    """Memory sizes that a chip with unified memory is sold with [GiB]."""
    return tuple(float(size) for size in row.memory_options_gib.split(";") if size)


def either(sizes: tuple[float, ...]) -> str:
    """Sizes in a sentence: "36, 48 or 64"."""
    words = [f"{size:g}" for size in sizes]
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


# Memory sizes in names of GPUs: which card has a size, and which sizes are refused.

LESS, MORE = 0.13, 0.075
"""Largest part of a card's memory by which a stated size may differ from it: with error correction
a T4 shows 15 of its 16 GB and leaves programs 14; a B200 of 180 GB is sold as 192."""
OF_VARIANT = 0.045
"""Largest relative difference for a card that the size alone distinguishes."""


class OtherMemory(UnknownName):
    """Card with a memory size that it is not sold with.

    Args:
        name: name with the size.
        same: cards of that name, the meant one first.
        size_gib: stated size [GiB].
        alone: whether the name has no other words, whose memory it may be.
    """

    def __init__(self, name: str, same: list[GpuRow], size_gib: float, *, alone: bool) -> None:
        sizes = sorted({card.memory_gib for card in same})
        self.size_gib = size_gib
        self.alone = alone
        self.sold_gib = sizes[-1]
        sold = " or ".join(f"{own:g}" for own in sizes)
        hint = (
            f"{same[0].name} has {sold} GB, not {size_gib:g}: name it without the size, and type "
            "the memory of a changed card (--vram-gb) or of the machine (--ram-gb) by itself."
        )
        super().__init__("GPU", name, (same[0].name,), hint)


def of_size(rows: list[GpuRow], size: float | None) -> list[GpuRow]:
    """Cards whose memory is nearest to a size [GiB]; none where no card is near it."""
    if size is None:
        return []
    off = {
        row.name: 0.0 if size in memory_options(row) else size / row.memory_gib - 1 for row in rows
    }
    least = min(map(abs, off.values()))
    return [row for row in rows if abs(off[row.name]) == least and -LESS <= off[row.name] <= MORE]


def is_of_size(row: GpuRow, size: float) -> bool:
    """Whether a card's memory is a stated size [GiB]."""
    return abs(row.memory_gib - size) <= OF_VARIANT * size


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuWordRow:
    """One row of data/hardware/gpu_words.csv: a brand with its vendor, a synonym with its word, an
    architecture ("family"), an ignored word, a maker of cards, or a chip with the GPUs that have
    it, the usual one first.
    """

    word: str
    kind: str
    value: str


@cache
def _rows() -> tuple[GpuWordRow, ...]:
    return read(DATA / "hardware/gpu_words.csv", GpuWordRow)


@cache
def words_of_kind(kind: str) -> dict[str, str]:
    """Words of a kind, each with its meaning."""
    return {row.word: row.value for row in _rows() if row.kind == kind}


@dataclass(frozen=True, kw_only=True)
class GpuWords:
    """Words of a GPU's name by meaning."""

    words: frozenset[str]  # words that distinguish cards: numbers, "ti", "laptop", "sxm"
    vendors: frozenset[str]  # vendors of its brands
    brands: frozenset[str]  # brands, such as "geforce" or "radeon"
    size_gib: float | None  # memory size [GiB]; None where it has none
    # memory of a virtual machine's part of a card [GiB]; None for whole cards
    part_gib: float | None
    count: int  # number of cards
    code: frozenset[str]  # words in brackets, such as the name of the chip


UNGLUED = (
    (re.compile(r"(nvidia|geforce|quadro|tesla|instinct)(?=[a-z0-9])"), r"\1 "),
    (re.compile(r"\b(rtx|gtx|rx)(?=pro|\d)|(?<=rtx)(pro)(?=\d{4})"), r"\1\2 "),
    (re.compile(r"(\d{4})(?=ada|sff|blackwell)|(?<=\d)(sff)(?=ada)"), r"\1\2 "),
    (re.compile(r"\b([ah][128]00)(?=sxm|pcie|nvl|mega|\d{2,3} ?gb)|(mega)(?=\d)"), r"\1\2 "),
)
"""Patterns of names that clouds and programs write as a single word: "NvidiaA10080Gb"."""

SPACED = (
    (
        re.compile(r"\b(rtx|gtx|rx|gt|arc|pro|wx|quadro|tesla|radeon|geforce|titan)(?=\d|[a-z]\d)"),
        r"\1 ",
    ),
    (re.compile(r"\b(\d{4})\s?ti\s?s(?:uper)?\b"), r"\1 ti super"),
    (re.compile(r"\b(\d{3,4})(ti|super|xtx|xt|gre|laptop|mobile|maxq)\b"), r"\1 \2"),
    (re.compile(r"\b([ahbvp]\d{2,3})(sxm\d?|pcie)"), r"\1 \2"),
)
JOINED = (
    (re.compile(r"\b(pro \d{4}) s\b"), r"\1 server"),
    (re.compile(r"\b(\w*\d{2,4})[ -]([dmsx])\b"), r"\1\2"),
    (re.compile(r"\b(titan|fury) ([xvz])\b"), r"\1\2"),
    (re.compile(r"\bmax[- ]?q\b"), "maxq"),
    (re.compile(r"\bvega (\d{1,2})\b"), r"vega\1"),
    (re.compile(r"\bmi[- ](\d{1,3}[a-z]?)\b"), r"mi\1"),
    (re.compile(r"\b(hbm\d)[- ](e)\b"), r"\1\2"),
    (re.compile(r"\b(gaudi) (\d)\b"), r"\1\2"),
    (re.compile(r"\btitan black\b"), "titanblack"),
    (re.compile(r"\b3050 a\b"), "3050a"),
    (re.compile(r"\bq (?=rtx)"), "quadro "),
    (re.compile(r"\bgrid (?=rtx [68]000\b(?!.*ada))"), "quadro "),
    (re.compile(r"\b[dg]([56]x?)\b"), r"gddr\1"),
)
"""Patterns of names with a space that others write without, and the other way round."""

DRIVERS = "radv|aco|llvm|nvk|mtl|dg2|bmg|rpl|adl|tgl|cfl|kbl|cml|arl|lnl|intel open|mesa|amdvlk"
BACKENDS = "gpu|device|cuda|vulkan|ggml_vulkan|card|rocm|hip|sycl|metal|mtl|opencl"
SCAFFOLD = (
    re.compile(r"^.*?\b(?:vga compatible|3d|display) controller\s*:\s*"),
    re.compile(rf"^\s*(?:{BACKENDS})\s*[:#]?\s*\d+\s*(?:[:=]\s*|(?=\())"),
    re.compile(r"\(uuid.*?\)|,?\s*compute capability.*$|\|.*$|\(rev [0-9a-f]+\)"),
    re.compile(r",\s*gfx[0-9a-f]{3,4}\b.*$|/pcie/sse2$|\(gfx[0-9a-f]{3,4}[^)]*\)"),
    re.compile(r"\(\d+-core [^)]*\)"),
    re.compile(r"\b(?:gaming|suprim|liquid|armor|vapor)[- ]x\b"),
    re.compile(r"\b(?:100|900)-\w{5,}(?:-\w+)*"),
    re.compile(r"\bw(?:/|ith)\s*nvlink\b|\blite hash rate\b|\blhr\b"),
    re.compile(r"\b\d{1,2}g-p\d-\d{4}-\w+|\b(?:(?:merc|swft|qick) ?\d{3}|50th anniversary)\b"),
    re.compile(rf"\((?:{DRIVERS})\b[^)]*\)"),
    re.compile(r"\b(?:\d+[- ]?bit|\d+ ?w(?:att)?s?)\b"),
    re.compile(r"\brev\.? ?[a\d]\b|(?<=\w )\b(?:g[mpv]|tu|ga|ad)(?!100)\d{3}[a-z]{0,3}\b"),
    re.compile(r"\b(?:pci-?e ?\d(?:\.\d)?(?: ?x\d+)?|gen ?\d ?x\d+)\b"),
    re.compile(r"\b(?:\d+ ?(?:cuda )?(?:sms?|cus?)|sm_?\d{2,3}|nvlink|nvl\d+)\b"),
)
"""Patterns that nvidia-smi, lspci, vulkaninfo, llama.cpp and shops print around a name."""

SLICE = re.compile(r"-(\d{1,2})[abcq]$")
"""Pattern of the memory of a virtual machine's part of a card: "A10-4Q"."""

BARE_SIZE = re.compile(
    r"((?:(?<=\d)(?: ?ti| xt| super| laptop)?|(?<=orin)(?: nx| nano)?)"
    r" (?:4|6|8|1[0126]|2[024]|32|4[08]|64|80|96))$"
)
"""Pattern of a memory size without its unit: "3060 12", "4060ti 16", "AGX Orin 32"."""

GFX = re.compile(r"\bgfx[0-9a-f]{3,4}\b")
"""Pattern of AMD's chip names, as ROCm prints them."""

SUPERS = frozenset({"1650", "1660", "2060", "2070", "2080", "4070", "4080"})
"""GeForce numbers with a Super version, which people abbreviate as S."""


@lru_cache(maxsize=16_384)
def taken_apart(name: str) -> GpuWords:
    """Words of a name by meaning."""
    text = plain(name)
    for pattern, written in UNGLUED:
        text = pattern.sub(written, text)
    text = named_part(text)
    part = SLICE.search(text)
    text = SLICE.sub("", text)
    bracketed = " ".join(re.findall(r"\(([^)]*)\)", text))
    code = frozenset(re.findall(r"[a-z0-9_]+", bracketed) + GFX.findall(text))
    for pattern in SCAFFOLD:
        text = pattern.sub(" ", text)
    text, count = counted(_without_coolers(text))
    text = BARE_SIZE.sub(r"\1gb", text.replace("_", " "))
    size = size_gib(text)
    text = without_sizes(text)
    for pattern, written in (*SPACED, *JOINED):
        text = pattern.sub(written, text)
    synonyms = words_of_kind("synonym")
    listed = " ".join(synonyms.get(w, w) for w in re.findall(r"[a-z0-9.]+", text)).split()
    vendors = words_of_kind("brand")
    ignored = words_of_kind("ignored").keys() | words_of_kind("maker").keys()
    return GpuWords(
        words=frozenset(
            _singular(word, count)
            for word in listed
            if word not in vendors
            and word not in ignored
            and not re.fullmatch(r"[^\Wdmsx]|\.+", word)
        ),
        vendors=frozenset(vendors[word] for word in listed if word in vendors),
        brands=frozenset(word for word in listed if word in vendors),
        size_gib=size,
        part_gib=float(part[1]) if part else None,
        count=count,
        code=code,
    )


def named_part(text: str) -> str:
    """Part in square brackets, which is the name in lspci's output; else the whole text."""
    makers = ("amd/ati", "amd", "radv")
    inner = [part for part in re.findall(r"\[([^\]]+)\]", text) if part not in makers]
    return inner[-1] if inner else text


@cache
def _makers() -> str:
    return "|".join(words_of_kind("maker"))


def has_maker(text: str) -> bool:
    """Whether a plain text names a maker of cards, as the titles of shops do."""
    return re.search(rf"\b(?:{_makers()})\b", text) is not None


FANS = re.compile(r"\b(?:twin|ichill) x[234]\b|(?<=\w )(?:dual|twin|triple)\b")
OF_MEMORY = re.compile(r"\bo?(\d{1,2})g(?:b?d[56]x?t?|t)?\b")
"""Pattern of a memory size in a part number: "O12G", "4GD5T"."""
CODE = re.compile(r"\b\w+(?:-\w+){2,}\b")
"""Pattern of a part number: "GTX1050TI-O4G-LP-BRK"."""
VERSION = re.compile(r"(?<!\dd )(?<!\d d )\bv[1-4]\b")
"""Pattern of a board's version; the RTX 5090 D V2 is another card."""


def _without_coolers(text: str) -> str:
    """Title of a shop without the fans of its cooler ("Twin X2", "Inspire 3X"), which are no number
    of cards, and without a part number beside the name.
    """
    if not has_maker(text):
        return text
    text = VERSION.sub(" ", FANS.sub(" ", text))
    text = re.sub(rf"\b(?!(?:nvidia|amd|{_makers()})\b)([a-z]+) [234]x\b", r"\1", text)
    bare = CODE.sub(" ", text)
    return OF_MEMORY.sub(r" \1gb ", bare if re.search(r"\d{3,4}", bare) else text)


def _singular(word: str, count: int) -> str:
    """Word without a plural s ("3090s", "8 H100s"); "4070s" alone may be a Super and is kept."""
    geforce = re.fullmatch(r"[1-5]\d[5-9]0s", word) and (count > 1 or word[:4] not in SUPERS)
    data_centre = re.fullmatch(r"(?:[abhpt]|mi)\d{1,4}s", word) and count > 1
    return word[:-1] if geforce or data_centre else word
