"""Words of a machine's name: kinds, product lines, abbreviations, translations, and fillers."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.machine.names.gpu_words import plain, sizes_gib, without_sizes
from advisor.machine.rows import HostRow


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineWordRow:
    """One row of data/hardware/machine_words.csv: a word for laptops or towers, for a kind of
    platform (with the typical one of the catalogue), of owners and sellers, a product line with its
    own numbers, a cloud's name of cards ("rented", else "instance") with its meaning, an
    abbreviation, a translated word, or a refused name with the reason.
    """

    pattern: str
    kind: str
    value: str


@cache
def _rows() -> tuple[MachineWordRow, ...]:
    return tuple(read(DATA / "hardware/machine_words.csv", MachineWordRow))


@cache
def _patterns(kind: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(rf"\b(?:{row.pattern})\b"), row.value) for row in _rows() if row.kind == kind
    )


def is_laptop(text: str) -> bool:
    """Whether a plain text names a machine with laptop graphics."""
    return any(pattern.search(text) for pattern, _ in _patterns("laptop")) and not is_tower(text)


def is_tower(text: str) -> bool:
    """Whether a plain text names a machine or dock that takes desktop cards."""
    return any(pattern.search(text) for pattern, _ in _patterns("tower"))


def typical_platform(text: str) -> str | None:
    """Typical platform of a kind that is named without a number ("Threadripper")."""
    return next((name for pattern, name in _patterns("platform") if pattern.search(text)), None)


def refusal(text: str) -> str:
    """Why a machine or part that a plain text names cannot be described; empty for others."""
    return next((why for pattern, why in _patterns("refused") if pattern.search(text)), "")


@dataclass(frozen=True, kw_only=True, slots=True)
class MacIdentifierRow:
    """One row of data/hardware/mac_identifiers.csv: Apple's identifier of a model, which macOS
    prints ("Mac15,11"), with the product and its chip.
    """

    identifier: str
    machine: str
    source: str
    source_date: str


@cache
def _macs() -> Mapping[str, str]:
    rows = read(DATA / "hardware/mac_identifiers.csv", MacIdentifierRow)
    return {plain(row.identifier): plain(row.machine) for row in rows}


MAC = re.compile(r"\bi?mac(?:book)?(?:air|pro|mini)?\d{1,2},\d{1,2}\b")
OF_INSTANCES = re.compile(r"[a-z\d][-_.][a-z\d]")
"""Sign within a rented machine's name ("gpu-h100x8", "1x_L4_28V"), without which it is none."""
JOINTS = re.compile(r"[_-]|(?<=[a-z0-9])\.(?=[a-z])|^\.")
"""Signs between the words of an instance's name."""
CARDS_OF_BOARD = re.compile(r"\d+x .*?\b([a-z]*\d+[a-z]*)\b")


def spelled_out(text: str) -> str:
    """Plain text with abbreviations, Apple's identifiers and cloud instances expanded:
    "bm.gpu.h100.8" is "8x h100", unless the cards are also named beside it ("HGX H100 (8x H100)").
    """
    text = MAC.sub(lambda match: _macs().get(match[0], match[0]), text)
    rented = _patterns("rented") if OF_INSTANCES.search(text) else ()
    for pattern, meant in (*_patterns("short"), *rented, *_patterns("instance")):
        match = pattern.search(text)
        if match:
            words = meant.format(*(JOINTS.sub(" ", group) for group in match.groups()))
            before, after = text[: match.start()], text[match.end() :]
            cards = CARDS_OF_BOARD.match(words)
            again = cards and re.search(rf"\b\d+ ?x [^,+|]*\b{cards[1]}\b", before + after)
            text = f"{before} {after}" if again else f"{before}{words}{after}"
    return text


def without_line_numbers(text: str) -> str:
    """Plain text without numbers of product lines and inches: the 7780 of "Precision 7780", the 16
    of "Blade 16".
    """
    for pattern, _ in _patterns("line"):
        text = pattern.sub(" | ", text)
    return text


def without_owners(text: str) -> str:
    """Plain text without words of owners and sellers, and without articles."""
    return _owners().sub(" ", text)


@cache
def _owners() -> re.Pattern[str]:
    patterns = "|".join(row.pattern for row in _rows() if row.kind == "owner")
    return re.compile(rf"\b(?:{patterns})\b")


VIRTUAL = re.compile(r"\b(\d{1,3})[ -]?v-?(?:cpus?|cores?)\b")
PART = re.compile(r"\b(\d{1,3})[- ]?cores? (?:of|on|from|out of) (?:an?|the|one)? ?")


def cores_of_part(text: str) -> int | None:
    """Cores of a processor that a plain text takes a part of: "32 cores of an EPYC 7763"; None
    without them.
    """
    match = PART.search(text)
    return int(match[1]) if match and int(match[1]) else None


def virtual_processors(text: str) -> int | None:
    """Number of virtual processors that a plain text states; None without one."""
    match = VIRTUAL.search(text)
    return int(match[1]) if match and int(match[1]) else None


WORD = re.compile(r"[a-z0-9+.]+")
OF_SIZE = re.compile(r"\d[ -]?[gtm]")
INCHES = re.compile(r"\b1[1-8](?:\.\d)?(?:[- ]?inch\b|\"|'')")
NO_LETTER = re.compile(r"[^a-z0-9+]")
CORES = re.compile(r"\b\d{1,3}[- ]?c(?:ores?)?\b(?:/\d{1,3}[- ]?c\b)?")
CHIP = re.compile(r"\bm([1-9])[ -](pro|max|ultra)\b")
TURNED_CHIP = re.compile(r"\b(max|ultra)[ -]m([1-9])\b")
TIMES = re.compile(r"\b(\d{1,2}) ?[x*] ?(?=[a-z]{1,2}\d)")


def telling_words(text: str) -> Counter[str]:
    """Words of a name that distinguish presets, with their numbers."""
    bare = INCHES.sub(" ", plain(text))
    if OF_SIZE.search(bare):
        bare = without_sizes(STORAGE.sub(" ", bare))
    bare = TURNED_CHIP.sub(r"m\2\1", CHIP.sub(r"m\1\2", CORES.sub(" ", bare)))
    bare = TIMES.sub(r"\1x ", bare).replace("-", " ")
    return Counter(WORD.findall(without_owners(bare)))


def squeezed(text: str) -> str:
    """Name with letters and digits only."""
    return NO_LETTER.sub("", without_owners(plain(text)))


MONTHS = "jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec"
SAYS_NOTHING = re.compile(
    r"1[1-8]|2[47]|20[12]\d|mid|late|early|base|model|silver|black|space|gr[ae]y|gb"
    rf"|mini|box|nucbox|system|ai|mainboard|fe|founders|cluster|node|dev|kit|devkit|{MONTHS}"
    r"|linux|windows|ubuntu|debian|fedora|macos|proxmox|wsl2?|blackwell|hopper|ampere|grace|class|l?p?ddr\d\w*"
)


def says_nothing(word: str) -> bool:
    """Whether a word is no part of a machine: inches, a year, a colour, a kind of box."""
    return bool(SAYS_NOTHING.fullmatch(word))


RATES_AND_YEARS = re.compile(
    r"\b(?:driver|cuda|rocm) [\d.]+|\bsm_?\d+\b|\bu?hd(?: graphics)? \d{3,4}\b"
    r"|\b\d+ ?(?:sms?|cus?)\b"
    r"|\b\d+[ -]?(?:v?cpus?|threads?)\b"
    r"|\bgfx\d+\w*\b"
    r"|\b(?:\d{1,2} ?x ?)?l?p?ddr\d\w*(?:[- ](?:(?:rdimm|udimm|ecc|reg) )*\d{3,5})?(?:/s)?\b"
    r"|\b20[12]\d\b|\b\d{3,4} ?(?:mhz|mt/s|w|hz|p)\b"
)


@cache
def _translations() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(row.pattern), row.value) for row in _rows() if row.kind == "translated"
    )


def translated(text: str) -> str:
    """Plain text with Chinese words for parts, and full-width signs, in English."""
    if text.isascii():
        return text
    for pattern, meant in _translations():
        text = pattern.sub(f" {meant} ", text)
    return " ".join(text.split())


BESIDE = re.compile(
    r"[$\u20ac\u00a3] ?[\d.,]+k?|\b(?:rs\.?|usd|eur|gbp|inr) ?[\d.,]+\b"
    r"|\b[\d.,]+ ?(?:usd|eur|gbp)\b|\bsm_?\d{2,3}\b|\bl?p?ddr\d\w*-\d{4,5}\b(?! ?gb)"
    r"|\b(?:1[269]|2[2458]|3[0248]|5[01])\d\d ?x ?\d{3,4}p?\b(?! ?(?:ti|xt|super))|\b\d+ ?gb/s\b"
    r"|\bmac ?os(?: x)?(?:[- ](?:big sur|[a-z]+(?= \d|$|[,;)])))?(?:[- ][\d.]+)?"
    r"|\b(?:ubuntu|debian|fedora|proxmox(?: ve)?|rhel|centos|rocky|linux|kernel|driver|cuda"
    r"|rocm)"
    r" (?:server )?[\d.]+(?:-[\d.]+\S*)?(?: lts)?"
    r"|\bml\.(?=[a-z]\d)|\b(?:py)?torch [\d.]+(?:\+cu\d+)?|\bcu1[1-3]\d\b"
    r"|\bbatch(?: size)? \d+\b"
    r"|\b(?:v?bios|uefi|fw|firmware|idrac|dgx os|jetpack)\b(?! vram)[^(),;|+]*"
    r"|(?<=\dg)[/+]\d+t\b|\b(?:performance|balanced|quiet|silent|turbo) mode(?: \d+ ?w)?\b"
    r"|\bwindows (?:server )?(?:7|8|10|11|20\d\d)(?: (?:pro|home))?\b"
    r"|\b(?:(?:brand[- ])?new|used|free|rented|spare|second-?hand|refurbished|kaggle)\b"
    r"(?= (?:kaggle|nvidia|rtx|gtx|rx|radeon|tesla|threadripper|[a-z]{0,2}\d))"
)


LABEL = re.compile(r"\b(?:cpus?|gpus?|processor|graphics(?: card)?|os|motherboard)\s*:\s*")
LABEL_OF_SIZE = re.compile(r"\b(ram|memory|ssd|storage|disk)\s*:\s*")


def without_system(text: str) -> str:
    """Plain text without prices, versions of systems and firmware, and with a comma for the label
    of a part ("GPU:").
    """
    bare = LABEL_OF_SIZE.sub(r", \1 ", LABEL.sub(", ", BESIDE.sub(" ", text).replace("( )", " ")))
    bare = LETTERS_OF_MODEL.sub(r"\1\2", bare)
    return AZURE_SIZE.sub(lambda size: size[0].replace(" ", "_"), bare)


LETTERS_OF_MODEL = re.compile(r"\b(i[3579][- ]?\d{4,5}) (h[kqx]?|k[fs]?)\b")
"""Model of a processor with a space before its letters: "i5 11400 H"."""


AZURE_SIZE = re.compile(
    r"\b(?:standard[_ ])?n[cdvgp][a-z]?\d{1,3}[a-z]*"
    r"(?:[_ ](?:ndr|[a-z]{1,3}\d{1,3}[a-z]?))*[_ ]v\d\b"
)
"""Name of one of Azure's sizes as its pages write it in sentences: "NC24ads A100 v4"."""


def stray_number(text: str) -> str:
    """Number of three digits or more that belongs to no part; it may be an unknown card."""
    bare = RATES_AND_YEARS.sub(" ", without_sizes(STORAGE.sub(" ", text)))
    match = re.search(r"\b[a-z]{0,3}\d{3,4}[a-z]{0,4}\b", bare)
    return match[0] if match else ""


KINDS_OF_MACHINE = frozenset(
    re.findall(
        r"\w+",
        "server workstation desktop laptop tower pc rig machine gaming home my old new a an the of"
        " in on ram memory with and vram total legion loq thinkpad rog tuf strix zephyrus omen"
        " victus predator nitro alienware razer blade asus acer msi dell hp lenovo gigabyte",
    )
)
"""Words of a machine's kind and of makers, which name no processor alone."""
BESIDE_PARTS = frozenset(
    re.findall(
        r"\w+",
        "ssd nvme disk drive storage case psu power supply board motherboard mainboard cooling"
        " cooled water fan cpu gpu processor graphics card cards ecc riser nvlink bridge pcie"
        " integrated igpu",
    )
)
"""Words for parts that are read from the whole name, or that no figure here depends on."""


def unknown_items(rest: str) -> Iterator[str]:
    """Items between plus signs without a known word, in a plain text with a bar for each card; a
    processor may be among them.
    """
    items = [item.strip(" (),") for item in rest.split(" + ")]
    for item in items if len(items) > 1 else ():
        bare = RATES_AND_YEARS.sub(" ", without_sizes(STORAGE.sub(" ", item)))
        words = re.findall(r"[a-z]{3,}", bare)
        if words and "|" not in item and not any(map(_is_known, words)):
            yield item


def _is_known(word: str) -> bool:
    return (
        word in KINDS_OF_MACHINE
        or word in BESIDE_PARTS
        or says_nothing(word)
        or typical_platform(word) is not None
    )


# Memory in a machine's name: modules, RAM, and sizes that are a drive's or the cards'.

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
    """Rate of modules of a stated type that is not the catalogue's, and what is assumed [MT/s]."""
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
