"""Formats by spelling: `UD-Q4_K_XL`, `q4_K_M`, `4bit`, `w4a16`, `Q4_K - Medium`.

Recognised are the names of data/models/recipes.csv, the spellings of
data/models/format_spellings.csv, and both with prefixes and suffixes of packers (`i1-`, `UD-`,
`-dynamic`, `_R4`). Bits are never guessed: for an unknown spelling, similar formats are offered.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import UnknownName
from advisor.model.formats.quantization import Format

LETTERS = {"small": "s", "medium": "m", "large": "l", "mini": "s"}
LABEL = re.compile(r"^(i?q\d(?:_k)?)[ _]*[-(]?[ _]*(small|medium|large|mini)\)?$")
"""`Q4_K - Medium` and `Q4_K (medium)`, as llama.cpp prints file types."""
AROUND = re.compile(
    r"^(?:ud|i1|smol|gguf|full|native|moe|~)[_ ]*|"
    r"[_ ]*(?:dynamic|static|block|channel|tensor|r4|r8|gguf|imatrix|ct|g32|g64|g128)$"
)
BITS = re.compile(r"^(?:exl[23])?[_ ]*(\d+(?:\.\d+)?)[_ ]*(?:bpw|bits?)(?:[_ ].*)?$")
NEAREST = {
    "IQ1_S": 1.7, "IQ2_XS": 2.5, "Q2_K": 3.0, "Q3_K_M": 3.9, "IQ4_XS": 4.3, "Q4_K_M": 4.85,
    "Q5_K_M": 5.7, "Q6_K": 6.6, "Q8_0": 8.5, "F16": 16.0,
}  # fmt: skip
"""Bits per weight of whole files (llama.cpp, tools/quantize/README.md)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SpellingRow:
    """One row of data/models/format_spellings.csv."""

    spelling: str  # spelling in lower case, with words joined by underscores
    format: str  # format in data/models/recipes.csv
    note: str  # approximations


@cache
def spelled_formats() -> Mapping[str, str]:
    """Formats by spelling."""
    rows = read(DATA / "models" / "format_spellings.csv", SpellingRow)
    return {row.spelling: row.format for row in rows}


def format_meant(text: str, known: Mapping[str, Format], *, remark: bool = False) -> Format:
    """Format of a spelling.

    Args:
        text: spelling.
        known: formats by name.
        remark: whether other words around the spelling are ignored, as in a table's note.

    Raises:
        UnknownName: no such format; lists similar names.
    """
    plain = _plain(text)
    spelled = _by_spelling(known)
    name = next((spelled[spelling] for spelling in _spellings(plain) if spelling in spelled), None)
    names_alone = all(word in spelled for word in plain.split("_"))
    name = name or _of_bits(plain)
    if name is None and (remark or names_alone):
        name = _inside(plain, spelled)
    if name is None:
        raise UnknownName("format", text, known, "See data/models/recipes.csv for all of them.")
    return known[name]


def _by_spelling(known: Mapping[str, Format]) -> Mapping[str, str]:
    """Names of formats by their joined names and spellings."""
    plain = {name.casefold().replace("-", "_"): name for name in known}
    all_spellings = {**spelled_formats(), **plain}
    joined = {spelling.replace("_", ""): name for spelling, name in all_spellings.items()}
    return {**joined, **all_spellings}


def _of_bits(plain: str) -> str | None:
    """Format with about the stated bits per weight: `4.0bpw`, `exl3_6.0bpw`."""
    bits = BITS.match(plain)
    if bits is None or float(bits[1]) > max(NEAREST.values()):
        return None
    return min(NEAREST, key=lambda name: abs(NEAREST[name] - float(bits[1])))


def _inside(plain: str, spelled: Mapping[str, str]) -> str | None:
    """Longest known spelling among the words of a remark: `iq4_xs_experts_q5_k_attn`."""
    words = plain.split("_")
    runs = (
        "_".join(words[start:end])
        for length in range(len(words), 0, -1)
        for start in range(len(words) - length + 1)
        for end in (start + length,)
    )
    return next((spelled[run] for run in runs if run in spelled), None)


def _plain(text: str) -> str:
    """Spelling in lower case with underscores between words, without a trailing remark."""
    lowered = text.strip().casefold()
    label = LABEL.match(lowered)
    if label:
        return f"{label[1]}_{LETTERS[label[2]]}"
    without = re.sub(r"[ _]*\(.*\)$", "", lowered)
    joined = re.sub(r"[-\s/]+", "_", without)
    return re.sub(r"(\d)_bits?\b", r"\1bit", joined).replace("bits", "bit")


def _spellings(plain: str) -> Iterator[str]:
    """Spelling, then with fewer and fewer prefixes and suffixes."""
    while True:
        yield plain
        yield from _without_grade(plain)
        shorter = AROUND.sub("", plain, count=1)
        if shorter == plain or not shorter:
            return
        plain = shorter


def _without_grade(plain: str) -> Iterator[str]:
    """Spelling without `_xl` or `_l`, which keep embedding and head in more bits; `_m` or none
    instead.
    """
    for end in ("_xl", "_l", "_m", "_s", "_xs", "_xxs"):
        if plain.endswith(end):
            stem = plain.removesuffix(end)
            yield f"{stem}_m"
            yield stem
            yield f"{stem}_0"


# Format that a model's name or tag carries, as in `qwen3:30b-a3b-q4_K_M` and `-GPTQ-Int8`.
#
# A packer (GPTQ, AWQ, EXL3, bitsandbytes, MLX) tells its bits elsewhere in the name, before or
# behind it; without bits it has the usual four.

FORMAT = re.compile(
    r"(?<![a-z0-9])((?:ud[-_])?(?:d?i?q\d_[a-z0-9_]+|d?i?q\d(?:plus)?(?![a-z0-9])|q[034]b?f(?:16|32)\w*"
    r"|bf16|f16|f32|fp16|fp32|fp[48]|nvfp4(?:a16)?|tq\d_\d|mxfp[48](?:a16)?|awq|gptq|nf4|autoround|hqq"
    r"|exl[23]|(?:mlx[-_])?\d[-_ ]?bits?|i?q\dk[sml]?|iq\d(?:xx?s|nl|kss?|kt)|int[2348]"
    r"|w4a16|w8a8|w8a16))(?![a-z0-9])"
)
"""Pattern of a format in a name in lower case."""
WIDTH = re.compile(
    r"(?<![a-z0-9.])(?:(\d+(?:[._]\d+)?)[-_ ]?bpw|exl[23][-_](\d(?:[._]\d+)?)(?:bpw)?)(?![a-z0-9])"
)
"""Pattern of bits per weight: `3.61bpw`, `exl2_5_0`."""
BITS_IN_NAME = re.compile(
    r"(?<![a-z0-9])(?:int([2-8])|w([2-8])a\d+|([2-8])[-_ ]?bits?)(?![a-z0-9])"
)
WIDE = re.compile(r"^(?:bf|fp?)(?:16|32)$")
"""Pattern of a format that another one in the same name was made from: `-f16-imat-Q5_K_S`."""
TRAINED_FOR_Q4_0 = re.compile(r"(?<![a-z])gemma.*(?<![a-z])qat(?![a-z])")
"""Gemma trained with the rounding of Q4_0, the format of Google's own files
(`google/gemma-3-12b-it-qat-q4_0-gguf`), where the name tells no other."""
PACKER = re.compile(r"(?<![a-z0-9])(bnb|gptq|awq|hqq|autoround)(?![a-z0-9])")


def format_in_name(text: str, known: Mapping[str, Format]) -> Format | None:
    """Format in a model's name or tag; None without one.

    Args:
        text: name.
        known: formats by name.
    """
    for spelling in _format_spellings(text.casefold()):
        try:
            return format_meant(spelling, known, remark=True)
        except UnknownName:
            continue
    return None


def _format_spellings(name: str) -> Iterator[str]:
    """Formats that a name may state, surest first."""
    width = WIDTH.search(name)
    if width:
        yield (width[1] or width[2]).replace("_", ".") + "bpw"
    packer, bits = PACKER.search(name), BITS_IN_NAME.search(name)
    if packer and bits:
        yield f"{packer[1]}_{bits[bits.lastindex or 0]}bit"
    mlx = "mlx_" if "mlx" in name else ""
    for part in sorted(FORMAT.findall(name), key=lambda part: WIDE.search(part) is not None):
        mixed = re.fullmatch(r"dq(\d)(?!_k).*", part)
        bare = mixed or re.fullmatch(r"(\d)[-_ ]?bits?", part)
        yield f"{mlx}{bare[1]}bit" if bare else part.removeprefix("d")
    if TRAINED_FOR_Q4_0.search(name):
        yield "q4_0"
