"""Statements in a machine's name beside its parts.

They are the part of shared memory that the GPU may use, free RAM, WSL, a limit of power and the
power supply, and texts that name no machine. The patterns are rows of data/hardware/name_words.csv.

Words that are left over are told. A word is explained by the names of the parts that were taken, by
a pattern that its readers know (counts, links, rates, systems), or by saying nothing (makers,
colours). A size of memory is explained by the memory of a card, of the machine or of a drive.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np

from advisor.errors import InputError
from advisor.machine.names.gpu_words import LESS, MORE
from advisor.machine.names.preset_names import MachineName
from advisor.machine.names.words import (
    LARGEST_GIB,
    SIZE,
    SIZES_OF_DRIVES,
    Written,
    any_of,
    meaning,
    patterns,
    plain,
    sizes_gib,
    translated,
    whole_words,
    with_modules_summed,
    without_network,
    words_of_kind,
)
from advisor.machine.rows import GpuRow

PER_UNIT = {"mb": 1 / 1024, "gb": 1.0, "pages": 1 / 2**18}
"""GiB of a unit of the values of "gpu part"; a page of Linux has 4 KiB."""


@dataclass(frozen=True, kw_only=True)
class Statements:
    """Statements of a machine's name beside its parts."""

    rest: Written  # the text without these statements
    gpu_gib: float | None = None  # part of the memory that the GPU may use [GiB]
    # RAM that is free, or given to a container or to WSL, of all that is there [GiB]
    free_gib: float | None = None
    ram_gib: float | None = None  # all RAM, where the name says how much of it is free [GiB]
    wsl: bool = False  # Linux inside of Windows
    watts: float | None = None  # limit of power [W]
    supply: float | None = None  # power of the power supply [W]
    power_share: float | None = None  # limit of power as a share of the usual one [%]
    words: tuple[str, ...] = ()  # the statements as they are written


def statements(written: Written) -> Statements:
    """Statements of a text, each at most once."""
    text = written.text
    taken_words: list[str] = []

    def taken(kind: str) -> tuple[re.Match[str] | None, str]:
        nonlocal text
        for pattern, value in patterns(kind):
            match = pattern.search(text)
            if match:
                taken_words.append(match[0].strip(" ,;()"))
                text = f"{text[: match.start()]} {text[match.end() :]}"
                return match, value
        return None, ""

    part, unit = taken("gpu part")
    free, _ = taken("free of ram")
    setting = None
    if any_of("of a container").search(text):
        setting, _ = taken("memory setting")
    wsl, _ = taken("wsl")
    supply, _ = taken("power supply")
    watts, _ = taken("power limit")
    share, _ = taken("power share")
    gpu_gib = _number(part)
    if gpu_gib is not None:
        gpu_gib *= PER_UNIT[unit]
    return Statements(
        rest=Written(" ".join(text.split())),
        gpu_gib=gpu_gib,
        free_gib=_number(free or setting),
        ram_gib=float(free[2]) if free else None,
        wsl=wsl is not None,
        watts=_number(watts),
        supply=_number(supply),
        power_share=_number(share),
        words=tuple(taken_words),
    )


def _number(match: re.Match[str] | None) -> float | None:
    """Number in a match; None where nothing matches."""
    if match is None:
        return None
    return float(next(group for group in match.groups() if group))


def applied(stated: Statements, named: MachineName, card: GpuRow | None) -> MachineName:
    """Machine with the statements of its name; `card` is its only kind of GPU."""
    spec = named.spec
    told = []
    if stated.gpu_gib is not None and card is not None and card.unified:
        all_gib = spec.ram_gb or card.memory_gib
        part = min(stated.gpu_gib, float(np.max(all_gib)))
        spec = replace(spec, vram_gb=part)
        told.append(f"The GPU may use {part:.4g} of {all_gib:g} GB, as the name says.")
    elif stated.gpu_gib is not None:
        told.append(f"{stated.words[0]!r} in the name is of no shared memory and is left out.")
    if stated.free_gib is not None:
        whole = stated.ram_gib or spec.ram_gb
        of_all = f" of {whole:g}" if whole else ""
        spec = replace(spec, ram_gb=stated.free_gib)
        told.append(f"{stated.free_gib:g}{of_all} GB of RAM count, as the name says.")
    elif stated.wsl:
        told.append(OF_WSL)
    told.extend(_on_power(stated, card))
    replaced = {named.memory_note} if stated.free_gib is not None else set()
    notes = tuple(note for note in named.notes if note not in replaced)
    return replace(named, spec=spec, notes=(*notes, *told))


OF_WSL = (
    "WSL has half of a computer's RAM unless .wslconfig says otherwise: type what it shows "
    "(--ram-gb; `free -g`)."
)
"""Note on WSL (learn.microsoft.com/windows/wsl/wsl-config, `memory`, read 2026-11-28)."""


def _on_power(stated: Statements, card: GpuRow | None) -> Iterator[str]:
    """Sentence on a limit of power in watts or as a share; empty without one."""
    usual = card.board_power_w if card else None
    if stated.watts is not None:
        yield power_note(stated.watts, card)
    elif stated.power_share is not None and usual:
        yield power_note(round(usual * stated.power_share / 100), card)
    elif stated.power_share is not None:
        yield f"{stated.power_share:g} % of the usual power {SLOWS}"


SLOWS = (
    "are not counted: a limit of power slows prompts first, and below two thirds of the usual "
    "power tokens, too."
)


def power_note(watts: float, card: GpuRow | None) -> str:
    """Sentence on a limit of power, which no speed counts."""
    usual = card.board_power_w if card else None
    share = f" of its usual {usual:g} W" if usual and usual > watts else ""
    return f"{watts:g} W{share} {SLOWS}"


def link_note(generation: int, lanes: int) -> str:
    """Sentence on a link that a name states; a generation or lanes of 0 are not stated."""
    link = f"PCIe {generation}.0" if generation else "PCIe"
    wide = f" x{lanes}" if lanes else ""
    return f"The link to the GPU is taken as {link}{wide}, as the name says."


def whole_memory(name: str) -> float | None:
    """Whole RAM of a machine whose name says how much of it is free [GiB]; None for other names."""
    stated = statements(Written.of(name))
    if stated.free_gib is None:
        return None
    return stated.rest.main_memory


def question(written: Written) -> str:
    """Question to ask back where a text names no machine; empty for names of machines.

    Such texts are a bare size, an amount of money, a question.
    """
    bare = written.text.strip(" .!")
    asks = (value for pattern, value in patterns("no machine") if pattern.fullmatch(bare))
    return next(asks, "")


def check_sizes(written: Written) -> None:
    """Check that a text has no size of memory that no machine has; raises InputError."""
    known = written.sizes
    for match in SIZE.finditer(written.text):
        if not sizes_gib(match[0]) and float(match[1] or match[3]) > LARGEST_GIB:
            others = f"; beside it are {', '.join(f'{size:g} GB' for size in known)}" * bool(known)
            raise InputError(
                f"{match[0].strip()!r} in the machine's name is more memory than any machine has"
                f"{others}. Allowed is up to {LARGEST_GIB:,.0f} GB; correct the size."
            )


def without_statements(text: str) -> str:
    """Plain text without the words of all statements."""
    kinds = ["gpu part", "free of ram", "wsl", "power supply", "power limit", "power share"]
    if any_of("of a container").search(text):
        kinds += ["memory setting", "of a container"]
    return any_of(*kinds).sub(" ", text)


READ = (
    "mac identifier",
    "drive",
    "terabytes",
    "of a drive",
    "link",
    "memory rate",
    "memory type",
    "channels",
    "modules",
    "modules behind",
    "virtual processors",
    "cores of a part",
    "of gpu",
    "of cpu",
    "cores of chip",
    "performance and efficiency",
    "stated cores",
    "inches",
    "sockets behind",
    "cpu only",
    "number word",
    "bare memory",
    "ram and drive",
    "virtual part",
    "of sample",
    "no part number",
    "instance word",
    "family word",
)
"""Kinds of patterns that readers of names take as they stand, in the order of their removal."""
WHOLE = (
    "line",
    "laptop",
    "tower",
    "mini",
    "handheld",
    "desktop",
    "workstation",
    "rack",
    "server",
    "hired",
    "owner",
    "platform",
)
"""Kinds of patterns of whole words that say what kind of machine it is."""
FILLERS = (
    "kind of machine",
    "part beside",
    "ignored",
    "maker",
    "brand",
    "of processors",
    "number",
    "synonym",
    "family",
)
"""Kinds of words that say nothing more, or are of a part's name."""
TOKEN = re.compile(r"[^\W_]+(?:[.+-][^\W_]+)*\+?")
FOREIGN = re.compile(r"[\u0400-\u04ff\u0600-\u06ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
"""Words in Cyrillic, Arabic, Chinese, Japanese or Korean script."""
SHORTEST = 2  # letters of a word that is told
MOST = 6  # words that are told; a text with more is no name


def unused(name: str, parts: Iterable[str], sizes: Iterable[float | None]) -> tuple[str, ...]:
    """Words and sizes of a name that no part of the machine explains, in the order of the name."""
    text = _without_read(plain(name))
    known = tuple(size for size in sizes if size)
    told = list(_sizes(text, known))
    text = SIZE.sub(" ", text)
    explained = _explained(tuple(dict.fromkeys(parts)))
    told += [word for word in TOKEN.findall(text) if not _is_explained(word, explained)]
    told += FOREIGN.findall(_untranslated(name))
    return tuple(dict.fromkeys(word.strip() for word in told))[:MOST]


def note(words: Iterable[str]) -> str:
    """Sentence about words that were left out; empty for none."""
    listed = [repr(word) for word in words]
    if not listed:
        return ""
    what = "is no part that is known and is" if len(listed) == 1 else "are no known parts and are"
    return f"{', '.join(listed)} in the name {what} left out."


def drive_note(name: str, ram_gb: object = None) -> str:
    """Sentence about drives, which are sizes in TB that do not count as RAM; empty without them."""
    text = any_of("drive").sub(" ", translated(plain(name)))
    every = (match[0] for match in any_of("terabytes").finditer(text))
    sizes = [repr(size) for size in every if float(size.rstrip("tb ")) * 1024 != ram_gb]
    if not sizes:
        return ""
    return (
        f"{', '.join(sizes)} in the name is taken as a drive's and is not counted: write "
        "'2tb ram' for memory."
    )


def _without_read(text: str) -> str:
    """Plain text without the words that readers of links, rates, counts and systems take."""
    text = without_statements(translated(text))
    text = any_of("beside machine", "beside card", "beside processor").sub(" ", text)
    text = without_network(with_modules_summed(text))[0]
    for kind in READ:
        text = any_of(kind).sub(" ", text)
    for kind in WHOLE:
        for pattern, _ in whole_words(kind):
            text = pattern.sub(" ", text)
    for pattern, _ in patterns("count"):
        text = pattern.sub(" ", text)
    return text


def _sizes(text: str, known: tuple[float, ...]) -> Iterator[str]:
    """Sizes in a text that are neither known sizes nor a drive's [GiB]."""
    largest = max(known, default=0.0)
    for match in SIZE.finditer(text):
        stated = sizes_gib(match[0])
        if largest and any(size in SIZES_OF_DRIVES and size > 2 * largest for size in stated):
            continue
        near = (
            -LESS <= size / own - 1 <= MORE or -LESS <= own / size - 1 <= MORE
            for size in stated
            for own in known
        )
        if not any(near):
            yield match[0].strip()


@lru_cache(maxsize=4096)
def _explained(parts: tuple[str, ...]) -> frozenset[str]:
    """Words that names of parts explain, beside those that fill a name."""
    of_parts = (word for part in parts for word in re.findall(r"[^\W_]+", part.casefold()))
    return frozenset(of_parts) - _fillers()


@cache
def _fillers() -> frozenset[str]:
    words = (word for kind in FILLERS for word in words_of_kind(kind))
    return frozenset(word for word in words if word.isalnum())


COUNTED = re.compile(r"[x*]?\d{1,2}[x*]?")  # a count of parts, as it stands between their words


def _is_joined(text: str, words: frozenset[str]) -> bool:
    """Whether a text is one word or several together, with counts, and "s" or "m" at the end."""
    ends = {0}  # places up to which the text is words
    for end in range(1, len(text) + 1):
        if any(_is_word(text[start:end], words) for start in ends):
            ends.add(end)
    last = {len(text), len(text) - 1} if text[-1:] in ("m", "s") else {len(text)}
    return bool(last & (ends - {0}))


def _is_word(part: str, words: frozenset[str]) -> bool:
    """Whether a part of a text is one of some words, fills a name, or counts parts."""
    return part in words or part in _fillers() or COUNTED.fullmatch(part) is not None


def _is_explained(word: str, explained: frozenset[str]) -> bool:
    bare = re.sub(r"[\W_]+", "", word)
    return (
        len(bare) < SHORTEST
        or _is_joined(bare, explained)
        or any_of("says nothing", "tells nothing").fullmatch(word) is not None
        or bool(meaning("platform", word))
    )


def _untranslated(name: str) -> str:
    """Name without the words that have a translation."""
    text = plain(name)
    for pattern, _ in patterns("translated"):
        text = pattern.sub(" ", text)
    return text
