"""Weights packed in a stated number of bits: any tool, any bits, any group.

Formats that people choose by name have recipes (`formats`). A checkpoint may state other bits and
groups (`bits: 3, group_size: 64`); such a statement is a `Packing`, and its name is a format too:
`GPTQ-3bit-g64`, `MLX-6bit-g64`, `EXL3-3.5bit-h6`. What each tool stores beside the packed weights
is a row of data/models/packings.csv.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import ClassVar

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import InputError

NAME = re.compile(
    r"(?P<tool>[a-z][a-z0-9#-]*?)[-_ ]*(?P<bits>\d+(?:\.\d+)?)[-_ ]*(?:bpw|bits?)"
    r"(?:[-_ ]*g(?P<group>\d+))?(?:[-_ ]*h(?P<head>\d+))?",
    re.IGNORECASE,
)
"""`GPTQ-3bit-g64`, `EXL3 4.0bpw`, `exl2-6.5bit-h8`."""
EXL_NAMES = (
    re.compile(
        r"(?P<bits>\d+(?:\.\d+)?)[-_ ]*(?:bpw|bits?)?(?:[-_ ]*h(?P<head>\d+))?[-_ ]+"
        r"(?P<tool>exl[23])",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<tool>exl[23])[-_ ]+(?:h(?P<head>\d+)[-_ ]+)?(?P<bits>\d+(?:\.\d+)?)"
        r"[-_ ]*(?:bpw|bits?)?",
        re.IGNORECASE,
    ),
)
"""`4.65bpw-h6-exl2`, `exl2-h8-4.0bpw`, `exl2-4.25`: names of repositories of EXL2 and EXL3."""
# limits of a stated number of bits [bit]
LEAST_BITS = 1.0
MOST_BITS = 16.0
PLAIN = 16  # bits of what a tool does not pack [bit]
AS_WEIGHTS = "as weights"  # an offset of as many bits as a weight
PACKED = "packed"
HEAD = "head"
"""What a tool does with the token table and the head: packs both, or the head in bits of its own;
else both stay in 16 bits."""
EIGHT_BITS = 7.0  # bits from which a packing unpacks as bytes do [bit]
LIKE_GGUF = ("MLX", "EXL2", "EXL3")
"""Kinds whose kernels count as those of the GGUF types of as many bits."""
HEAD_BITS = 6  # bits of the head where EXL2 and EXL3 do not state them (`-hb`, default) [bit]


BITS_ALONE = re.compile(r"\s*\d+(?:\.\d+)?\s*(?:bpw|bits?)\s*", re.IGNORECASE)
BY_BITS = {"ExLlamaV3": "EXL3", "ExLlama": "EXL2"}
"""Tool whose files a runtime calls by their bits alone ("4.0bpw"), by the name of the runtime."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PackingTool:
    """Row of data/models/packings.csv: the numbers that a tool stores beside packed weights."""

    tool: str  # name
    words: str  # values of `quant_method` that mean it, separated by spaces
    scale_bits: int | None  # bits of a group's scale
    offset_bits: str  # bits of a group's offset, or `AS_WEIGHTS`; empty for none
    group: int  # weights that share a scale where a file states none; 0 for a row of the matrix
    ends: str  # token table and head: `PACKED`, `HEAD`, or 16
    kind: str  # kind of file, as runtimes take it
    source: str
    source_date: str
    note: str


@cache
def tools() -> Mapping[str, PackingTool]:
    """Tools by name."""
    return {row.tool: row for row in read(DATA / "models/packings.csv", PackingTool)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Packing:
    """Tool with its bits and groups."""

    tool: str  # name in data/models/packings.csv
    bits: float  # of a packed weight, without scales [bit]
    group: int = 0  # weights that share a scale; 0 for a row of the matrix
    head: int = 0  # bits of the output head, where the tool packs it in bits of its own [bit]

    IN_GROUPS: ClassVar[Mapping[int, str]] = MappingProxyType({
        3: "Q3_K_S", 4: "Q4_0", 5: "Q5_0", 6: "Q6_K", 8: "Q8_0", 16: "BF16",
    })  # fmt: skip
    """GGUF format by bits per weight, to which the scale and offset of each 64 weights add half a
    bit."""

    @classmethod
    def stated(cls, tool: str, bits: float, group: int | None = None, head: int = 0) -> "Packing":
        """Packing of a tool by its stated bits and group; with the tool's usual group where it is
        None.
        """
        if not LEAST_BITS <= bits <= MOST_BITS:
            raise InputError(
                f"{tool} of {bits:g} bits a weight is no packing; {LEAST_BITS:g} to "
                f"{MOST_BITS:g} bits are. Check the quantization of its config.json."
            )
        row = tools()[tool]
        own_head = (head or HEAD_BITS) if row.ends == HEAD else 0
        return cls(tool=tool, bits=bits, group=row.group if group is None else group, head=own_head)

    @staticmethod
    @cache
    def tool_of_word(word: str) -> str:
        """Tool of a `quant_method`; empty for an unknown one."""
        return next((row.tool for row in tools().values() if word in row.words.split()), "")

    @staticmethod
    def usual_group(tool: str) -> int:
        """Weights that share a scale where a file of a tool states none; 0 for a row."""
        return tools()[tool].group

    @property
    def name(self) -> str:
        """Name of the packing as a format; `packing_named` reads it back."""
        group = f"-g{self.group}" if self.group or self.row.group else ""
        head = f"-h{self.head}" if self.head else ""
        return f"{self.tool}-{self.bits:g}bit{group}{head}"

    @property
    def row(self) -> PackingTool:
        """Row of the packing's tool."""
        return tools()[self.tool]

    @property
    def stored_bits(self) -> float:
        """Bits of a weight with its part of the scale and of the offset [bit].

        bits + (scale + offset) / group
        """
        if not self.group:
            return self.bits
        stated = self.row.offset_bits
        offset = self.bits if stated == AS_WEIGHTS else float(stated or 0)
        return self.bits + ((self.row.scale_bits or 0) + offset) / self.group

    @property
    def end_bits(self) -> tuple[float, float]:
        """Bits of the token table and of the output head [bit]."""
        if self.row.ends == PACKED:
            return self.stored_bits, self.stored_bits
        return float(PLAIN), float(self.head or PLAIN)

    @staticmethod
    def of_runtime(words: str, runtime: str) -> str:
        """Words of a format; where they are bits alone ("4.0bpw"), with the tool that the runtime
        means.
        """
        tool = BY_BITS.get(runtime)
        if tool and BITS_ALONE.fullmatch(words):
            return f"{tool} {words.strip()}"
        return words


@cache
def packing_named(name: str) -> Packing | None:
    """Packing of a format's name in any spelling; None for any other name."""
    text = name.strip()
    matches = (known.fullmatch(text) for known in (NAME, *EXL_NAMES))
    readings = (_of_parts(match) for match in matches if match is not None)
    return next(filter(None, readings), None)


def _of_parts(match: re.Match[str]) -> Packing | None:
    """Packing of the parts of a name; None for an unknown tool, or bits outside the limits."""
    parts = match.groupdict()
    tool = next((tool for tool in tools() if tool.casefold() == match["tool"].casefold()), "")
    if not tool or not LEAST_BITS <= float(match["bits"]) <= MOST_BITS:
        return None
    group = int(parts["group"]) if parts.get("group") else None
    return Packing.stated(tool, float(match["bits"]), group, int(match["head"] or 0))
