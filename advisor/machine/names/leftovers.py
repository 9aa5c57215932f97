"""Words of a machine's name that no part of the machine explains.

A word is explained by the names of the parts that were taken, by a pattern that its readers know
(counts, links, rates, systems), or by saying nothing (makers, colours). A size of memory is
explained by the memory of a card, of the machine or of a drive.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from advisor.machine.machine import without_network
from advisor.machine.names import statements
from advisor.machine.names.gpu_words import LESS, MORE
from advisor.machine.names.words import (
    SIZE,
    SIZES_OF_DRIVES,
    any_of,
    meaning,
    patterns,
    plain,
    sizes_gib,
    translated,
    whole_words,
    with_modules_summed,
    words_of_kind,
)

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


def _without_read(text: str) -> str:
    """Plain text without the words that readers of links, rates, counts and systems take."""
    text = statements.without_statements(translated(text))
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
def _explained(parts: tuple[str, ...]) -> re.Pattern[str]:
    """Pattern of the words that names of parts explain, one word or several together."""
    words = {word for part in parts for word in re.findall(r"[^\W_]+", part.casefold())}
    words |= {word for kind in FILLERS for word in words_of_kind(kind) if word.isalnum()}
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(longest_first)}|[x*]?\d{{1,2}}[x*]?)+[ms]?")


def _is_explained(word: str, explained: re.Pattern[str]) -> bool:
    bare = re.sub(r"[\W_]+", "", word)
    return (
        len(bare) < SHORTEST
        or explained.fullmatch(bare) is not None
        or any_of("says nothing", "tells nothing").fullmatch(word) is not None
        or bool(meaning("platform", word))
    )


def _untranslated(name: str) -> str:
    """Name without the words that have a translation."""
    text = plain(name)
    for pattern, _ in patterns("translated"):
        text = pattern.sub(" ", text)
    return text
