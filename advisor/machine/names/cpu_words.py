"""Words of a processor's name: model number, number of sockets, and words without meaning."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.machine.names.spelling import without_sizes


@dataclass(frozen=True, kw_only=True, slots=True)
class CpuSpellingRow:
    """One row of data/hardware/cpu_spellings.csv: a pattern of a shortened model number, and the
    full names that it may mean, likeliest first; `listed` for bare numbers, which count only for
    listed models.
    """

    pattern: str
    names: str
    listed: bool


@cache
def _spellings(*, listed: bool) -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    return tuple(
        (re.compile(row.pattern), tuple(row.names.split("; ")))
        for row in read(DATA / "hardware/cpu_spellings.csv", CpuSpellingRow)
        if row.listed == listed
    )


def written_out(text: str, *, listed: bool) -> Iterator[str]:
    """Full names for the shortened model numbers in a plain text, likeliest first."""
    bare = re.sub(r"[(),/\s]+", " ", without_noise(text))
    for pattern, templates in _spellings(listed=listed):
        for match in pattern.finditer(bare):
            groups = [group or "" for group in match.groups()]
            for template in templates:
                yield " ".join(template.format(*groups).split())


BESIDES = r"(?![ -]?(?:cores?|channels?|ranks?|slots?|fans?|nics?|ports?|\d+ ?gb|edition|boot)\b)"
"""Words after a number that count something else than processors."""
PROCESSOR = (
    r"\(*(?:intel|amd|genuine|xeon|epyc|opteron|threadripper|ryzen|core|platinum|gold|silver|bronze"
    r"|[ew][\d-]|i[3579]|ampere|altra|[qm]\d|graviton|kunpeng|nvidia|grace|apple|power|hygon|phytium"
    r"|naples|rome|milan|genoa|bergamo|turin|siena|sapphire|emerald|granite|cascade|ice ?lake"
    r"|skylake|broadwell|haswell|snapdragon|cpus?\b|\d{4}(?! ?[gmt]i?b)|quad|[elx]\d{4}"
    r"|(?:six|eight|\d+)[ -]core)"
)
SOCKETS = (
    (re.compile(r"\(?\b1 of 2 sockets\b[^)]*\)?"), 1),
    (
        re.compile(
            r"\b(?:(?<!pentium )dual|two|double"
            r"|(?<!core )(?<!core)2[- ]?(?:sockets?|way|cpu|p|s))\b"
            rf"{BESIDES}[\s-]*(?:socket)?"
        ),
        2,
    ),
    (
        re.compile(
            r"\b(?<!core 2 )(?<!core2 )(?:quad|four|4[- ]?(?:sockets?|way))\b"
            rf"{BESIDES}[\s-]*(?:socket)?"
        ),
        4,
    ),
    (re.compile(rf"(?<![\w.])(?:(\d{{1,3}})\s*[x*]\s*)+(?={PROCESSOR})"), 0),
    (
        re.compile(
            r"(?<!\.\d)(?<!pcie)(?:(?<=[\d)+])|(?<=\d[a-z])|(?<=\w)(?<!snapdragon)(?=[ *(]))"
            r"\s*\(?\s*[x*]\s*(\d)(?:\)|(?=\s*(?:$|\()))\s*"
        ),
        0,
    ),
    (re.compile(r"(?<=[\w)+] )(?<!spacemit )[x*](?: ?(?=\d\d$)| (?=\d{3}$))(\d+)$"), 0),
)
"""Patterns of the number of sockets ("2x", "dual", "2P", "x2") with the number; 0 where the
pattern's group has it."""


def packages(text: str) -> tuple[str, int]:
    """Plain text without its number of sockets, and that number, 1 by default."""
    for pattern, number in SOCKETS:
        match = pattern.search(text)
        count = number or int(match[1]) if match else 0
        if match and count:
            rest = f"{text[: match.start()]} {text[match.end() :]}"
            return re.sub(r"\s+", " ", rest).strip(), count
    return text, 1


@dataclass(frozen=True, kw_only=True, slots=True)
class CpuRefusalRow:
    """One row of data/hardware/cpu_refusals.csv: a pattern of names that say less than the model of
    a processor, and the reason.
    """

    pattern: str
    reason: str


@cache
def _refusals() -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = read(DATA / "hardware/cpu_refusals.csv", CpuRefusalRow)
    return tuple((re.compile(row.pattern), row.reason) for row in rows)


def refusal(text: str) -> str:
    """Why a plain text does not tell a processor's model; empty for others."""
    bare = " ".join(re.sub(r"[,;]", " ", text).split())
    return next((reason for pattern, reason in _refusals() if pattern.fullmatch(bare)), "")


OF_SAMPLE = re.compile(r"(?<=[\d+])(?:es\d?|qs)\b|\(?\b(?:es[123]?|qs|engineering sample)\b\)?")


def without_sample(text: str) -> tuple[str, bool]:
    """Plain text without the sign of an engineering sample ("9334QS"), and whether it has one."""
    bare = OF_SAMPLE.sub(" ", text)
    return " ".join(bare.split()), bare != text


WORDS = (
    ("\u53cc\u8def", "dual "), ("\u53cc\u63d2\u69fd", "dual "), ("\u53cc", "dual "),
    ("\u56db\u8def", "quad "), ("\u5355\u8def", " "), ("\u82f1\u7279\u5c14", " intel "),
    ("\u81f3\u5f3a", " xeon "), ("\u9177\u777f", " core "), ("\u9510\u9f99", " ryzen "),
    ("\u7ebf\u7a0b\u6495\u88c2\u8005", " threadripper "), ("\u9704\u9f99", " epyc "),
    ("\u5904\u7406\u5668", " processor "), ("\u6838", "-core "), ("\u9bf2\u9e4f", " kunpeng "),
    ("\u9cb2\u9e4f", " kunpeng "), ("\u98de\u817e", " phytium "), ("\u9f99\u82af", " loongson "),
    ("\u5146\u82af", " zhaoxin "), ("\u6d77\u5149", " hygon "),
)  # fmt: skip
"""Chinese words of processors: sockets, makers and product lines."""


JOINED = re.compile(r"\b(epyc|xeon|ryzen|threadripper|opteron|platinum|gold|silver|bronze)(?=\d)")
"""Brands that people write together with the number: "xeon4210r"."""

APART = re.compile(
    r"(?<![\w.-])(?<!rx )((?:i[3579]-)?\d{4,5})"
    r" (k[fs]?|x3d2?|xt|x(?! ?\d)|wx|h[xsk]?|ge|u|p(?!\w)|f)\b"
)
"""Models that people write apart from their letters: "14900 K"."""
SUPERCHIP = re.compile(r"\bgrace(?: cpu)? superchip\b")


def in_latin(text: str) -> str:
    """Plain text with the Chinese words of processors in English, brands apart from numbers and
    numbers together with their letters.
    """
    if not text.isascii():
        for word, meant in WORDS:
            text = text.replace(word, meant)
        text = " ".join(text.split())
    text = SUPERCHIP.sub("2x grace", JOINED.sub(r"\1 ", text))
    return APART.sub(r"\1\2", text)


NOISE = re.compile(
    r"@\s*[\d.]+\s*[gm]hz|\b[\d.]+\s*[gm]hz\b"
    r"|\b(?:with|w/)\s*radeon.*$|\bradeon\b.*$"
    r"|(?<!athlon )\b(?:\d+|single|dual|triple|quad|two|four|six|eight|ten|twelve|sixteen)"
    r"[- ]cores?\b"
    r"|\b\d+ ?(?:threads?|vcpus?)\b|\b\d+ compute cores\b.*$"
    r"|\b\d+(?:th|nd|rd|st) gen(?:eration)?\b"
    r"|\b(?:intel|amd|genuine|authentic|corporation|cpu|processors?|apu|soc|inc)\b"
    r"|\b(?:ddr\d|lpddr\d\w*)(?:-\d+)?\b|\b\d+ ?ch(?:annels?)?\b"
    r"|\b(?:black edition|extreme edition|x-series|includes optane memory|oem|boxed|tray)\b"
    r"|\bmicrosoft surface(?:\(r\))? edition\b"
)
"""Words around a model's name that carry no meaning."""


def without_noise(text: str) -> str:
    """Plain text without vendor, clock, core count, graphics, memory and sizes."""
    bare = NOISE.sub(" ", without_sizes(text)).replace("ryzen threadripper", "threadripper")
    return " ".join(bare.split()).strip(" ,;")


def without_remarks(text: str) -> str:
    """Plain text without noise and bracketed remarks."""
    return without_noise(re.sub(r"\([^)]*\)|\[[^]]*\]", " ", text))
