"""Memory in a machine's name: modules, RAM, and sizes that are a drive's or the cards'."""

import re

from advisor.machine.names.spelling import sizes_gib
from advisor.machine.rows import HostRow

KINDS_OF_DRIVE = r"(?:ssd|nvme|hdd|disk|drive|storage|m\.2|emmc|raid)"
DRIVE = re.compile(
    rf"\b\d+(?:\.\d+)? ?[tg]b (?:gen ?\d |pcie |m\.2 )*{KINDS_OF_DRIVE}\b"
    rf"|\b{KINDS_OF_DRIVE}:? ?(?:of )?\d+(?:\.\d+)? ?[tg]b\b(?! (?:d?ram|ddr|memory))"
)
OF_CARDS = (
    r"\b\d+(?:\.\d+)? ?g(?:i?b)?(?: of)?(?: (?:total|combined|gddr\d\w*|uma|dedicated|gpu))*"
    r" (?:v-?ram|video memory|gpu memory)\b|\bv-?ram:? ?\d+(?:\.\d+)? ?g(?:i?b)?\b"
    r"|\b(?:gpu|card) mem(?:ory)?:? ?\d+ ?[gm](?:i?b)?\b"
    r"|\b\d+ ?g(?:i?b)?(?: (?:gpu|graphics) (?:ram|memory))(?: each)?\b"
    r"|\b\d{4,6} ?mib\b"
    r"|\b\d+ ?g(?:i?b)? ?(?:/ ?|per |a |on each )(?:card|gpu)\b"
)
STORAGE = re.compile(
    rf"{OF_CARDS}|{DRIVE.pattern}|\b\d+(?:\.\d+)? ?tb\b"
    r"(?!(?: of)?(?: (?:cpu|system|host))? (?:d?ram|memory|ddr))"
)


MODULES = re.compile(r"(?<![\w.])(\d{1,2}) ?[x*] ?(\d{1,3}) ?gi?b?\b")
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


def memory_sizes(text: str) -> list[float]:
    """Memory sizes in a plain text, without the drive's; "8x 32 GB" is 256 [GiB]."""
    return sizes_gib(with_modules_summed(STORAGE.sub(" ", text)))


def main_memory(text: str) -> float | None:
    """Main memory of a PC in a plain text: the size that is called RAM, else the largest but for a
    drive's; of "16GB 512GB" the first [GiB].
    """
    sizes = memory_sizes(text)
    called = [
        size for match in RAM.finditer(STORAGE.sub(" ", text)) for size in sizes_gib(match[0])
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
    return bool(RAM.search(STORAGE.sub(" ", text)))


def server_memory(text: str) -> list[float]:
    """Sizes in TB that are a server's memory, as no drive is named beside them [GiB]."""
    return sizes_gib(DRIVE.sub(" ", text))


CHANNELS_OF_WORDS = {
    "single": 1,
    "dual": 2,
    "quad": 4,
    "six": 6,
    "octa": 8,
    "eight": 8,
    "twelve": 12,
}
RATE = re.compile(
    r"\bl?p?ddr[345]x?(?:[- @,]|r-?dimm|u-?dimm|ecc|reg)*(\d{4,5})(?! ?g)(?:\b|(?=mhz|mt))"
    r"|(?<![\d.])(\d{4,5}) ?mt/?s\b"
    r"|\b(?:d?ram|memory)[ @,:]*(\d{4,5}) ?mhz\b"
)
RATES = range(800, 12_801)
"""Rates of memory modules, from DDR3-800 to LPDDR6-12800 [MT/s]."""
CHANNELS = re.compile(rf"\b(?:(\d{{1,2}})|({'|'.join(CHANNELS_OF_WORDS)}))[- ]?ch(?:annels?)?\b")


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
    """Rate of modules of a stated type that is not the catalogue's, and what is assumed [MT/s].

    Args:
        stated: type of the modules; empty for none.
        row: processor.
    """
    if not stated or not row.memory_type.startswith("DDR") or stated == row.memory_type:
        return None, ""
    if TAKES_BOTH.match(row.name) and stated in USUAL_RATES:
        rate = USUAL_RATES[stated]
        return rate, f"{stated} is taken at {rate:.0f} MT/s, as its rate is not said."
    return None, f"{row.name} takes {row.memory_type}: {stated} in the name is left out."


def memory_channels(text: str) -> int | None:
    """Memory channels in a plain text, "8-channel" or "quad channel"."""
    counts = {
        int(number) if number else CHANNELS_OF_WORDS[word]
        for number, word in CHANNELS.findall(text)
    }
    return counts.pop() if len(counts) == 1 else None
