"""The words of a GPU's name: what tells one card from another, and what stands around it."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from advisor.catalog.csv_tables import DATA, read
from advisor.machine.names.spelling import counted, plain, size_gib, without_sizes


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuWordRow:
    """One row of data/hardware/gpu_words.csv: a brand and its vendor, a synonym and the word it
    stands for, an architecture ("family"), a word that is ignored, or a driver's name of a chip and
    the GPUs that have it, the usual one first.
    """

    word: str
    kind: str
    value: str


@cache
def words_of_kind(kind: str) -> dict[str, str]:
    """Words of a kind, and what each says."""
    rows = read(DATA / "hardware/gpu_words.csv", GpuWordRow)
    return {row.word: row.value for row in rows if row.kind == kind}


@dataclass(frozen=True, kw_only=True)
class GpuWords:
    """A GPU's name, taken apart.

    Attributes:
        words: that tell cards apart: numbers, "ti", "laptop", "sxm".
        vendors: that its brands belong to.
        brands: "geforce", "radeon".
        size_gib: memory size [GiB]; None where it has none.
        count: cards.
        code: words in brackets, such as a driver's name of the chip.
    """

    words: frozenset[str]
    vendors: frozenset[str]
    brands: frozenset[str]
    size_gib: float | None
    count: int
    code: frozenset[str]


SPACED = (
    (re.compile(r"\b(rtx|gtx|rx|gt|arc|quadro|tesla|radeon|geforce|titan)(?=\d|[a-z]\d)"), r"\1 "),
    (re.compile(r"\b(\d{4})\s?ti\s?s(?:uper)?\b"), r"\1 ti super"),
    (re.compile(r"\b(\d{3,4})(ti|super|xtx|xt|gre|laptop|mobile|maxq)\b"), r"\1 \2"),
    (re.compile(r"\b([ahbvp]\d{2,3})(sxm\d?|pcie)"), r"\1 \2"),
)
JOINED = (
    (re.compile(r"\b(\d{4}) ([dms])\b"), r"\1\2"),
    (re.compile(r"\b(titan|fury) ([xvz])\b"), r"\1\2"),
    (re.compile(r"\bmax[- ]?q\b"), "maxq"),
    (re.compile(r"\bvega (\d{1,2})\b"), r"vega\1"),
    (re.compile(r"\bmi[- ](\d{1,3}[a-z]?)\b"), r"mi\1"),
    (re.compile(r"\b(hbm\d)[- ](e)\b"), r"\1\2"),
)
"""Where people put a space and drivers none, and the other way round."""

DRIVERS = "radv|aco|llvm|nvk|mtl|dg2|bmg|rpl|adl|tgl|cfl|kbl|cml|arl|lnl|intel open|mesa|amdvlk"
BACKENDS = "gpu|device|cuda|vulkan|ggml_vulkan|card|rocm|hip|sycl|metal|mtl|opencl"
SCAFFOLD = (
    re.compile(r"^.*?\b(?:vga compatible|3d|display) controller\s*:\s*"),
    re.compile(rf"^\s*(?:{BACKENDS})\s*[:#]?\s*\d+\s*(?:[:=]\s*|(?=\())"),
    re.compile(r"\(uuid.*?\)|,?\s*compute capability.*$|\|.*$|\(rev [0-9a-f]+\)"),
    re.compile(r",\s*gfx[0-9a-f]{3,4}\b.*$|/pcie/sse2$|\(gfx[0-9a-f]{3,4}[^)]*\)"),
    re.compile(r"-\d{1,2}[abcq]$|\bw(?:/|ith)\s*nvlink\b"),
    re.compile(r"\b\d{1,2}g-p\d-\d{4}-\w+|\b(?:merc ?\d{3}|50th anniversary)\b"),
    re.compile(r"\b(?:asus dual|twin (?:edge|frozr)|(?:ventus|windforce) [23]x)\b"),
    re.compile(rf"\((?:{DRIVERS})\b[^)]*\)"),
    re.compile(r"\b(?:gddr\d\w*|\d+[- ]?bit|\d+ ?w(?:att)?s?)\b"),
    re.compile(r"\b(?:pci-?e ?\d(?:\.\d)?(?: ?x\d+)?|gen ?\d ?x\d+)\b"),
    re.compile(r"\b(?:\d+ ?(?:cuda )?(?:sms?|cus?)|sm_\d+|nvlink|nvl\d+)\b"),
)
"""Words that nvidia-smi, lspci, vulkaninfo, llama.cpp and shops print around a name."""

BARE_SIZE = re.compile(
    r"((?:(?<=\d)(?: ?ti| xt| super| laptop)?|(?<=orin)(?: nx| nano)?)"
    r" (?:4|6|8|1[0126]|2[024]|32|4[08]|64|80|96))$"
)
"""A size without its unit behind a number: "3060 12", "4060ti 16", "AGX Orin 32"."""

GFX = re.compile(r"\bgfx[0-9a-f]{3,4}\b")
"""AMD's own name of a chip, as ROCm prints it."""

SUPERS = frozenset({"1650", "1660", "2060", "2070", "2080", "4070", "4080"})
"""GeForce numbers that have a Super version, which people write as an S."""


@lru_cache(maxsize=16_384)
def taken_apart(name: str) -> GpuWords:
    """The words, size and number of cards of a name."""
    text = _named_part(plain(name))
    bracketed = " ".join(re.findall(r"\(([^)]*)\)", text))
    code = frozenset(re.findall(r"[a-z0-9_]+", bracketed) + GFX.findall(text))
    for pattern in SCAFFOLD:
        text = pattern.sub(" ", text)
    text, count = counted(text)
    text = BARE_SIZE.sub(r"\1gb", text.replace("_", " "))
    size = size_gib(text)
    text = without_sizes(text)
    for pattern, written in (*SPACED, *JOINED):
        text = pattern.sub(written, text)
    synonyms = words_of_kind("synonym")
    listed = " ".join(synonyms.get(w, w) for w in re.findall(r"[a-z0-9.]+", text)).split()
    vendors, ignored = words_of_kind("brand"), words_of_kind("ignored")
    return GpuWords(
        words=frozenset(
            _singular(word, count)
            for word in listed
            if word not in vendors and word not in ignored and not re.fullmatch(r"\w|\.+", word)
        ),
        vendors=frozenset(vendors[word] for word in listed if word in vendors),
        brands=frozenset(word for word in listed if word in vendors),
        size_gib=size,
        count=count,
        code=code,
    )


def _named_part(text: str) -> str:
    """Part in square brackets, as lspci prints it; the whole text without brackets."""
    makers = ("amd/ati", "amd", "radv")
    inner = [part for part in re.findall(r"\[([^\]]+)\]", text) if part not in makers]
    return inner[-1] if inner else text


def _singular(word: str, count: int) -> str:
    """A 3090 of "3090s", an H100 of "8 H100s"; "4070s" alone may be a Super."""
    geforce = re.fullmatch(r"[1-5]\d[5-9]0s", word) and (count > 1 or word[:4] not in SUPERS)
    data_centre = re.fullmatch(r"(?:[abhpt]|mi)\d{1,4}s", word) and count > 1
    return word[:-1] if geforce or data_centre else word
