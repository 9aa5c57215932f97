"""Common parts of hardware names: marks to ignore, sizes and counts."""

import re

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
