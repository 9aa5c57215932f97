"""Format that a model's name or tag carries, as in `qwen3:30b-a3b-q4_K_M` and `-GPTQ-Int8`.

A packer (GPTQ, AWQ, EXL3, bitsandbytes, MLX) tells its bits elsewhere in the name, before or behind
it; without bits it has the usual four.
"""

import re
from collections.abc import Iterator, Mapping

from advisor.errors import UnknownName
from advisor.model.formats.format_names import format_meant
from advisor.model.formats.formats import Format

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
BITS = re.compile(r"(?<![a-z0-9])(?:int([2-8])|w([2-8])a\d+|([2-8])[-_ ]?bits?)(?![a-z0-9])")
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
    for spelling in _spellings(text.casefold()):
        try:
            return format_meant(spelling, known, remark=True)
        except UnknownName:
            continue
    return None


def _spellings(name: str) -> Iterator[str]:
    """Formats that a name may state, surest first."""
    width = WIDTH.search(name)
    if width:
        yield (width[1] or width[2]).replace("_", ".") + "bpw"
    packer, bits = PACKER.search(name), BITS.search(name)
    if packer and bits:
        yield f"{packer[1]}_{bits[bits.lastindex or 0]}bit"
    mlx = "mlx_" if "mlx" in name else ""
    for part in sorted(FORMAT.findall(name), key=lambda part: WIDE.search(part) is not None):
        mixed = re.fullmatch(r"dq(\d)(?!_k).*", part)
        bare = mixed or re.fullmatch(r"(\d)[-_ ]?bits?", part)
        yield f"{mlx}{bare[1]}bit" if bare else part.removeprefix("d")
    if TRAINED_FOR_Q4_0.search(name):
        yield "q4_0"
