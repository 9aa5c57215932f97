"""Readings of a GPU's name: as typed, with abbreviations expanded, and without optional words; and
the cards that agree with a reading.
"""

import re
from collections.abc import Iterator

from advisor.machine.names.gpu_words import GpuWords, words_of_kind
from advisor.machine.names.spelling import plain
from advisor.machine.rows import GpuRow

DISTINCT = re.compile(r"[1-5]0[5-9]0|16[356]0|(?=.*\d)(?=.*[a-z])\w{3,}|ti|super|xtx?|gre")
"""Pattern of words that identify a card beside any others; "3000" alone does not."""


MEMORY = re.compile(r"gddr\d\w*")
"""Pattern of a kind of memory, which distinguishes a few cards."""


def readings(taken: GpuWords, known: frozenset[str]) -> Iterator[tuple[frozenset[str], str]]:
    """Sets of words to look up, from all words of the name to fewer, each with its assumptions.

    Digits never change.

    Args:
        taken: words of the name.
        known: words of the catalogue's spellings.
    """
    words = taken.words
    if not words:
        yield from ((frozenset({word}), "") for word in sorted(taken.code))
        return
    yield words, ""
    words = frozenset(word for word in words if not MEMORY.fullmatch(word))
    if words != taken.words:
        yield words, ""
    if "ada" in words:  # "A6000 Ada": the A stands for the architecture before it
        yield frozenset(re.sub(r"^a(?=[2456][05]00$)", "", word) for word in words), ""
    families = words & words_of_kind("family").keys()
    stray = frozenset(word for word in words - known - families if word.isalpha())
    telling = taken.vendors or any(DISTINCT.fullmatch(word) for word in words)
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
    for fewer in _without_optional(_replaced(words, SHORT_SUPER, "super"), _optional(taken)):
        yield fewer, note
        yield fewer - families, note


SHORT_SUPER = r"\d{4}s"


def _without_optional(words: frozenset[str], optional: tuple[str, ...]) -> Iterator[frozenset[str]]:
    """Words without the optional ones, one after another; last without "laptop", which graphics
    that only laptops have do not need.
    """
    for word in (*optional, "laptop"):
        if word in words:
            words -= {word}
            yield words


def _written_out(words: frozenset[str]) -> Iterator[tuple[frozenset[str], str]]:
    """Words with abbreviations expanded: "4070s" is a Super, "3060m" a laptop GPU."""
    short = _replaced(words, SHORT_SUPER, "super")
    if short != words:
        yield short, ""
    laptop = _replaced(words, r"\d{4}m", "laptop")
    if laptop != words:
        yield laptop, ""
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
ON_MODULES = re.compile(r"(?:g?[bh]|[av])\d{2,3}")
"""Pattern of cards that are also built as modules: H100, B200, A800."""
OPTIONAL_OF_OTHERS = ("pro", "ai")


def _optional(taken: GpuWords) -> tuple[str, ...]:
    """Optional words, dropped one after another until the name is known.

    "Pro" beside a bare number is another card: the Radeon Pro 560 is not the RX 560.
    """
    modules = ("sxm",) if any(map(ON_MODULES.fullmatch, taken.words)) else ()
    own = any(re.fullmatch(r"[a-z]+\d{3,4}\w*", word) for word in taken.words)
    others = OPTIONAL_OF_OTHERS if own and "NVIDIA" not in taken.vendors else ()
    return OPTIONAL + modules + others


def agrees(row: GpuRow, words: frozenset[str], taken: GpuWords) -> bool:
    """Whether a row has the vendor and the architecture of a name; a laptop's name may only mean
    a card if that word was looked up, too.
    """
    families = taken.words & words_of_kind("family").keys() - words
    return (
        (not taken.vendors or row.vendor.split()[0] in taken.vendors)
        and all(_of_family(row, family) for family in families)
        and not (OLD_QUADRO & words and "quadro" in taken.brands and _only_rtx(row, taken))
        and not ("rx" in taken.brands and row.name.startswith(("Radeon Pro", "Radeon PRO")))
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
