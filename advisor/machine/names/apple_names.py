"""Apple's chips by name; the number of GPU cores follows from the name or the memory size."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from advisor.machine.names.spelling import counted, plain, size_gib
from advisor.machine.rows import GpuRow

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
    """Reading of a chip's name.

    Attributes:
        row: catalogue row.
        memory_gib: memory size in the name [GiB]; None where it has none.
        notes: assumptions, one sentence each.
        alternatives: the same chip with other cores.
    """

    row: GpuRow
    memory_gib: float | None
    notes: tuple[str, ...]
    alternatives: tuple[str, ...]


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
