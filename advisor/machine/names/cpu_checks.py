"""Words of a processor's name that contradict the processor that its number means."""

import re
from collections.abc import Iterator
from itertools import chain

from advisor.machine.rows import HostRow

BRAND = re.compile(
    r"\b(epyc|xeon|core ?2(?!\d)|opteron|ryzen|threadripper|athlon|phenom|sempron|turion|atom"
    r"|celeron|pentium|altra|ampereone|emag|graviton|cobalt|axion|kunpeng|phytium|snapdragon"
    r"|loongson|hygon|zhaoxin|thunderx|power(?=\d)|sparc)"
)
"""Brands that stand in the full names of their processors."""


def other_brand(text: str, name: str) -> str:
    """Why a plain text does not name a processor that has its number, but another brand: "eMAG
    8180" is no Xeon; empty where it may.
    """
    brands, own = set(BRAND.findall(text)), set(BRAND.findall(name.casefold()))
    if not brands or brands & own:
        return ""
    return f"The number is that of {name}, which is no {sorted(brands)[0].title()}."


def contradictions(text: str, single: HostRow, row: HostRow) -> Iterator[str]:
    """Notes on what a plain text says otherwise than the processor it is read as.

    Args:
        text: plain name, without its number of sockets.
        single: row of a single processor.
        row: row of all sockets together.
    """
    return chain(
        _line(text, single.name),
        _letters(text, single.name),
        _cores(text, single, row),
        _sockets(text, row),
    )


LINE = re.compile(r"\b(ryzen(?: ai)?|ultra|core i|i)(?: pro)?[ -]?([0-9])[ -](?:pro )?(?=\d|[a-z])")
"""Line of a brand: "Ryzen 5", "Core i7", "Ultra 9"."""
METAL = re.compile(r"\b(?:platinum|gold|silver|bronze)\b")


def _line(text: str, name: str) -> Iterator[str]:
    """Note on a line where the number is of another: "Ryzen 9 9800X3D"."""
    typed, own = LINE.search(text), LINE.search(name.casefold())
    if typed and own and typed[2] != own[2]:
        line = typed[0].strip(" -").title()
        yield f"There is no {line} of that number: {name} is taken."
    metal, right = METAL.search(text), METAL.search(name.casefold())
    if metal and right and metal[0] != right[0]:
        yield f"There is no Xeon {metal[0].title()} of that number: {name} is taken."


NUMBER = re.compile(r"\d{4,5}")


def _letters(text: str, name: str) -> Iterator[str]:
    """Note on the letters of a model that shares the row of another: EPYC 9354P, i5-12400F."""
    number = NUMBER.search(name)
    model = name[number.start() :].split()[0].casefold() if number else ""
    typed = re.search(rf"(?<!\d){re.escape(model)}([a-z]{{1,2}})\b", text) if model else None
    if typed:
        yield f"{typed[0].upper()} has the cores and the memory of {name}, and is counted as it."
    elif model and re.search(rf"(?<!\d){re.escape(model)}\+(?=\s|$)", text):
        yield f"There is no {model.upper()}+: {name} is taken."


CORES = re.compile(
    r"(?<![\w.])(\d{1,3})(?: physical)?[- ]?(?:cores?\b|c\b(?!h))(?!\s*(?:per|of|on|from|out)\b)"
)
FEWEST_CORES = 2
"""Fewest cores that count as a statement; "single-core" speeds are of one."""


def _cores(text: str, single: HostRow, row: HostRow) -> Iterator[str]:
    """Notes on cores that are neither those of a socket, nor of all of them, nor their threads."""
    usual = {single.cores, row.cores, single.performance_cores, single.threads, row.threads}
    for count in dict.fromkeys(int(number) for number in CORES.findall(text)):
        if count >= FEWEST_CORES and count not in usual | {2 * single.cores, 2 * row.cores}:
            yield f"The name says {count} cores: {row.name} has {row.cores}."


OF_ONE_SOCKET = re.compile(r"\bepyc[ -]*\d[0-9a-z]{2}\d ?p[nx]?\b")


def _sockets(text: str, row: HostRow) -> Iterator[str]:
    """Note on several EPYCs with a P."""
    if row.sockets > 1 and OF_ONE_SOCKET.search(text):
        yield "EPYCs with a P work in boards with a single socket only."
