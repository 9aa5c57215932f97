"""Words of a GPU's name: words that distinguish cards, brands, memory size and number of cards."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from advisor.errors import UnknownName
from advisor.machine.names.words import (
    NamedPart,
    Written,
    any_of,
    counted,
    plain,
    rewritten,
    size_gib,
    without_sizes,
    words_of_kind,
)
from advisor.machine.rows import GpuRow

# Apple's chips by name; the number of GPU cores follows from the name or the memory size.

SMALLEST_BARE = 32
"""Smallest number without a unit that is read as memory; smaller ones are cores [GiB]."""


def names_apple(text: str) -> bool:
    """Whether a plain text names one of Apple's chips."""
    return bool(any_of("apple chip").search(text)) and not any_of("other makers").search(text)


def count_of_macs(text: str) -> int:
    """Number at an end of a plain text that counts chips ("2x", "dual"), not cores."""
    bare, count = counted(text)
    number = text.removesuffix(bare.strip()).removeprefix(bare.strip()).strip()
    if number != text and any_of("count of chips").search(number):
        return count
    return 1


def apple_chip(name: str, rows: Mapping[str, GpuRow]) -> NamedPart[GpuRow] | None:
    """Chip of a name: the variant with its cores or memory, or the largest one; None if unknown."""
    text = plain(name)
    match = any_of("apple chip").search(text)
    if match is None:
        return None
    chip = f"apple m{match[1]} {match[2] or ''}".strip().title()
    alike = (row for row in rows.values() if re.fullmatch(rf"{chip} \d+c", row.name))
    variants = sorted(alike, key=gpu_cores)
    if not variants:
        return None
    behind = text[match.end() :]
    every = {size for row in variants for size in memory_options(row)}
    size = _memory(text, behind, every)
    of_gpu, of_cpu = _cores(text, behind, variants, every)
    by_gpu = [row for row in variants if gpu_cores(row) in of_gpu]
    by_cpu = [row for row in variants if of_cpu & _cpu_cores(row)]
    by_size = [row for row in by_cpu or variants if size in memory_options(row)]
    row = (by_gpu or by_size or by_cpu or variants)[-1]
    notes = []
    sold = memory_options(row)
    if not by_gpu and len(by_cpu) != 1 and len(by_size or by_cpu or variants) != 1:
        cores = f"{gpu_cores(row)} GPU cores"
        notes.append(f"Taken with {cores}, as the name does not say how many.")
    if size and sold and size not in sold:
        notes.append(f"{row.name} is sold with {either(sold)} GB of memory; {size:g} GB as typed.")
    others = tuple(other.name for other in variants if other is not row)
    return NamedPart(row=row, memory_gib=size, notes=tuple(notes), alternatives=others)


def _cores(
    text: str, behind: str, variants: list[GpuRow], sold: set[float]
) -> tuple[set[int], set[int]]:
    """Numbers that may be GPU cores, and numbers that may be CPU cores.

    A number without "CPU" or "GPU" that any variant's CPU has is the CPU's, as in "M2 8-core". A
    number without a unit is the GPU's behind the CPU's ("M3 Max 14/30"), or alone where it is no
    memory size ("M2 Max 30").
    """
    of_gpu = {int(number) for number in any_of("of gpu").findall(text)}
    by_kind = any_of("performance and efficiency").findall(text)  # "10P+4E" is 14
    of_cpu = {int(number) for number in any_of("of cpu").findall(text)}
    of_cpu |= {int(fast) + int(slow) for fast, slow in by_kind}
    unsaid = {int(number) for number in any_of("cores of chip").findall(text)} - of_gpu - of_cpu
    if not of_gpu:
        known = {gpu_cores(row) for row in variants}
        pair = re.search(r"\b\d{1,2}\s?/\s?(\d{1,2})\b", behind)
        last = re.search(r"(?<![\w/.])(\d{1,2})$", behind)
        of_gpu = unsaid.difference(*map(_cpu_cores, variants))
        if pair and int(pair[1]) in known:
            of_gpu |= {int(pair[1])}
        elif last:
            of_gpu |= {int(last[1])} & (known - sold)
    return of_gpu, of_cpu | unsaid


def _memory(text: str, behind: str, sold: set[float]) -> float | None:
    """Memory size with a unit, or a bare number that is one of the chip's sizes [GiB]."""
    bare = (float(number) for number in re.findall(r"(?<![\w/.])\d{1,3}(?![\w/.-])", behind))
    sizes = (*Written(behind).memory_sizes, *Written(text).memory_sizes)
    stated = next(iter(sizes), None)
    before_drive = {float(number) for number in any_of("ram and drive").findall(behind)} & sold
    if len(before_drive) == 1 and (stated is None or stated not in sold):
        return before_drive.pop()
    return stated or next((size for size in bare if size in sold and size > SMALLEST_BARE), None)


def gpu_cores(row: GpuRow) -> int:
    """GPU cores of an Apple chip, from its name."""
    return int(row.name.split()[-1].removesuffix("c"))


def _cpu_cores(row: GpuRow) -> set[int]:
    return {int(number) for number in re.findall(r"(\d+)-core CPU", row.aliases)}


def memory_options(row: GpuRow) -> tuple[float, ...]:
    """Memory sizes that a chip with unified memory is sold with [GiB]."""
    return tuple(float(size) for size in row.memory_options_gib.split(";") if size)


def either(sizes: tuple[float, ...]) -> str:
    """Sizes in a sentence: "36, 48 or 64"."""
    words = [f"{size:g}" for size in sizes]
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


# Memory sizes in names of GPUs: which card has a size, and which sizes are refused.

LESS = 0.13
MORE = 0.075
"""Largest part of a card's memory by which a stated size may differ from it: with error correction
a T4 shows 15 of its 16 GB and leaves programs 14; a B200 of 180 GB is sold as 192."""
OF_VARIANT = 0.045  # largest relative difference for a card that the size alone distinguishes


class OtherMemory(UnknownName):
    """Error on a memory size [GiB] that no card of a name has; `alone` says that the size was all
    of the memory.
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


SUPERS = frozenset({"1650", "1660", "2060", "2070", "2080", "4070", "4080"})
"""GeForce numbers with a Super version, which people abbreviate as S."""


@lru_cache(maxsize=16_384)
def taken_apart(name: str) -> GpuWords:
    """Words of a name by meaning."""
    text = boards_of_two(named_part(rewritten(plain(name), "card glued")))
    part = any_of("virtual part").search(text)
    text = any_of("virtual part").sub("", text)
    bracketed = " ".join(re.findall(r"\(([^)]*)\)", text))
    code = frozenset(re.findall(r"[a-z0-9_]+", bracketed) + any_of("chip of rocm").findall(text))
    text, count = counted(_without_coolers(rewritten(text, "beside card")))
    text = any_of("bare size").sub(r"\1gb", text.replace("_", " "))
    size = size_gib(text)
    text = rewritten(without_sizes(text), "card spelled")
    synonyms = words_of_kind("synonym")
    listed = " ".join(synonyms.get(w, w) for w in re.findall(r"[a-z0-9.]+", text)).split()
    vendors = words_of_kind("brand")
    ignored = vendors.keys() | words_of_kind("ignored").keys() | words_of_kind("maker").keys()
    telling = (word for word in listed if not re.fullmatch(r"[^\Wdmsx]|\.+", word))
    return GpuWords(
        words=frozenset(_singular(word, count) for word in telling if word not in ignored),
        vendors=frozenset(vendors[word] for word in listed if word in vendors),
        brands=frozenset(word for word in listed if word in vendors),
        size_gib=size,
        part_gib=float(part[1]) if part else None,
        count=count,
        code=code,
    )


def boards_of_two(text: str) -> str:
    """Plain text with the single cards of boards of two ("2x Arc Pro B60 48GB dual" are four of 24
    GB).
    """

    def cards(match: re.Match[str]) -> str:
        boards = match[1] or 1
        card = match[2]
        size = match[3] or match[4]
        return f"{2 * int(boards)}x {card} {int(size) // 2}gb"

    return any_of("double board").sub(cards, text)


def named_part(text: str) -> str:
    """Part of a text in square brackets, which is the name in lspci's output; the whole text
    without brackets.
    """
    makers = ("amd/ati", "amd", "radv")
    inner = [part for part in re.findall(r"\[([^\]]+)\]", text) if part not in makers]
    return inner[-1] if inner else text


def has_maker(text: str) -> bool:
    """Whether a plain text names a maker of cards, as the titles of shops do."""
    return any_of("any maker").search(text) is not None


def _without_coolers(text: str) -> str:
    """Title of a shop without part numbers and words on fans ("Twin X2")."""
    if not has_maker(text):
        return text
    text = any_of("board version").sub(" ", any_of("fans of cooler").sub(" ", text))
    text = rewritten(text, "counted cooler")
    bare = any_of("part number").sub(" ", text)
    return any_of("size in part number").sub(
        r" \1gb ", bare if re.search(r"\d{3,4}", bare) else text
    )


def _singular(word: str, count: int) -> str:
    """Word without a plural s ("3090s", "8 H100s"); "4070s" alone may be a Super and is kept."""
    geforce = re.fullmatch(r"[1-5]\d[5-9]0s", word) and (count > 1 or word[:4] not in SUPERS)
    data_centre = re.fullmatch(r"(?:[abhpt]|mi)\d{1,4}s", word) and count > 1
    if geforce or data_centre:
        return word[:-1]
    return word
