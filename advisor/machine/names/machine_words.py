"""The words of a machine's name: where it names graphics cards, and what else it tells."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.machine.names.spelling import plain, sizes_gib, without_sizes


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineWordRow:
    """One row of data/hardware/machine_words.csv: words of laptops, of towers, of kinds of
    platforms (with the typical one of the catalogue), of owners and sellers, which tell nothing; a
    product line with its own numbers, a cloud's name of cards and what it says, or a short name.
    """

    pattern: str
    kind: str
    value: str


@cache
def _patterns(kind: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = read(DATA / "hardware/machine_words.csv", MachineWordRow)
    return tuple(
        (re.compile(rf"\b(?:{row.pattern})\b"), row.value) for row in rows if row.kind == kind
    )


def is_laptop(text: str) -> bool:
    """A plain text names a machine whose graphics are laptop parts."""
    laptop = any(pattern.search(text) for pattern, _ in _patterns("laptop"))
    return laptop and not any(pattern.search(text) for pattern, _ in _patterns("tower"))


def typical_platform(text: str) -> str | None:
    """The typical platform of a kind that is named without a number ("Threadripper")."""
    return next((name for pattern, name in _patterns("platform") if pattern.search(text)), None)


def spelled_out(text: str) -> str:
    """A plain text with short names and a cloud's instances written out: "bm.gpu.h100.8" is "8x
    h100".
    """
    for pattern, meant in (*_patterns("short"), *_patterns("instance")):
        match = pattern.search(text)
        if match:
            words = meant.format(*(group.replace("_", " ") for group in match.groups()))
            text = f"{text[: match.start()]}{words}{text[match.end() :]}"
    return text


def without_line_numbers(text: str) -> str:
    """A plain text without product lines and inches, whose numbers are no parts: the 7780 of a
    "Precision 7780", the 16 of a "Blade 16".
    """
    for pattern, _ in _patterns("line"):
        text = pattern.sub(" | ", text)
    return text


def without_owners(text: str) -> str:
    """A plain text without words of sellers and articles."""
    for pattern, _ in _patterns("owner"):
        text = pattern.sub(" ", text)
    return text


DRIVE = re.compile(r"\b\d+(?:\.\d+)? ?[tg]b (?:ssd|nvme|hdd|disk|drive|storage|m\.2)\b")
STORAGE = re.compile(rf"{DRIVE.pattern}|\b\d+(?:\.\d+)? ?tb\b")


def memory_sizes(text: str) -> list[float]:
    """Memory sizes of a plain text, the drive's left out [GiB]."""
    return sizes_gib(STORAGE.sub(" ", text))


def server_memory(text: str) -> list[float]:
    """Sizes in TB of a plain text that names no drive beside them: a server's memory [GiB]."""
    return sizes_gib(DRIVE.sub(" ", text))


def telling_words(text: str) -> Counter[str]:
    """Words of a name that tell one preset from another, with how often each stands there."""
    bare = without_sizes(STORAGE.sub(" ", plain(text)))
    bare = re.sub(r"\b\d{1,3}[- ]cores?\b", " ", bare).replace("-", " ")
    return Counter(re.findall(r"[a-z0-9+.]+", without_owners(bare)))


def squeezed(text: str) -> str:
    """Letters and digits of a name alone."""
    return re.sub(r"[^a-z0-9+]", "", without_owners(plain(text)))


def says_nothing(word: str) -> bool:
    """An inch, a year, a colour: no part of a machine."""
    known = r"1[1-8]|2[47]|20[12]\d|mid|late|early|base|model|silver|black|space|gr[ae]y|gb"
    return bool(re.fullmatch(known, word))


COUNT = (
    r"(?<![\w.-])(?:\d{1,2}\s*[x*]\s*|(?:dual|triple|quad|two|three|four|six|eight)\s+"
    r"|(?:(?<=^)|(?<=[,;+&|])|(?<=[,;+&|:] )|(?<=with )|(?<=and ))"
    r"\d{1,2}\s+(?=rtx|gtx|rx|nvidia|radeon|tesla|\d{4}s?\b|[ahblv]\d{2,3}s?\b))?"
)
MAKERS = r"(?:(?:nvidia|geforce|amd|radeon|intel|tesla|quadro|instinct)\s+)*"
MODELS = (
    r"rtx pro \d{3,4}", r"(?:rtx|gtx|rx|gt) ?a?\d{3,4}", r"(?:quadro )?[pmtk]\d{3,4}\b",
    r"titan \w+", r"arc (?:pro )?[ab]\d{2,3}m?\b", r"arc 1[34]0[vt]\b", r"[ab][57]\d0\b",
    r"vega (?:56|64|fe)\b", r"radeon (?:vii|pro [wv]\w+)\b", r"iris xe\b", r"mi ?\d{2,3}[axc]?\b",
    r"[ahbvplkmt]\d{1,3}[sg]?\b", r"g[bh]\d{2,3}\b", r"a[2456]000\b", r"w[67]\d00\b", r"r9700\b",
    r"pro (?:6000|5000|4500|4000)\b", r"6000 ada\b", r"(?:[1-9]\d{2}m|80[456]0s)\b",
    r"(?:[1-5]0[5-9]0|16[356]0|[5-9]\d[05]0 ?(?:xtx|xt|gre))(?:ti|s|d|m)?\b",
    r"(?:jetson |agx |orin |thor\b)[\w ]*",
)  # fmt: skip
SUFFIXES = (
    r"(?:(?:[ -]*(?:ti super|ti|super|xtx|xt|gre|laptop|mobile|max-?q|ada(?: generation)?"
    r"|blackwell|generation|server|workstation|edition|pcie|sxm\d?|nvl|hbm\de?|sff|founders|fe"
    r"|d|s|x ?\d{1,2}))\b)*"
)
SIZE = r"(?:[\s-]*\(?\d{1,3} ?g(?:i?b)?\b\)?(?! ?(?:ram|ddr|memory|unified|ssd|nvme|lpddr)))?"
CARD = re.compile(
    rf"{COUNT}{MAKERS}(?:{'|'.join(MODELS)}){SUFFIXES}{SIZE}(?:\s*[x*]\s?\d{{1,2}}\b)?"
)
"""Pattern of graphics cards in plain text: count, maker, number, suffixes, size."""


RATES_AND_YEARS = re.compile(
    r"\bl?p?ddr\d\w*(?:-\d+)?\b|\b20[12]\d\b|\b\d{3,4} ?(?:mhz|mt/s|w|hz|p)\b"
)


def stray_number(text: str) -> str:
    """A number with three digits or more that no part took: it may be a card nobody knows."""
    bare = RATES_AND_YEARS.sub(" ", without_sizes(STORAGE.sub(" ", text)))
    match = re.search(r"\b[a-z]{0,3}\d{3,4}[a-z]{0,4}\b", bare)
    return match[0] if match else ""
