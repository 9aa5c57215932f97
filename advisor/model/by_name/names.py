"""Parts of a model's name: words, numbers and sizes, without publisher and format.

People write the same model as `Qwen/Qwen3-30B-A3B-Instruct-2507`, `qwen3:30b-a3b-q4_K_M`,
`unsloth_Qwen3 30B A3B UD-Q4_K_XL.gguf` and `qwen 3 30b`. All of them become the same tokens:
words in lower case, versions, sizes. data/models/name_words.csv says which words are no part of a
model's identity.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from advisor.catalog.csv_tables import DATA, read

TOKEN = re.compile(
    r"(?P<experts>\d+x\d+(?:\.\d+)?b)(?![a-z0-9])"
    r"|(?P<active>a\d+(?:\.\d+)?[bm])(?![a-z0-9])"
    r"|(?P<elastic>e\d+(?:\.\d+)?b)(?![a-z0-9])"
    r"|(?P<size>\d+(?:\.\d+)?[bmtk])(?![a-z0-9])"
    r"|(?P<word>[a-z]+)"
    r"|(?P<number>\d+(?:\.\d+)*)"
)
DATE = re.compile(r"(20)?2[3-6](0[1-9]|1[0-2])([0-3]\d)?|(0[1-9]|1[0-2])[0-3]\d")
"""2507, 20260831 and 0528 as makers append them; versions have at most three digits."""
SHARD = re.compile(r"[-.]\d{5}-of-\d{5}")
FILE_END = re.compile(r"\.(gguf|ggml|safetensors|bin|json)$")
SPLIT_VERSION = re.compile(r"(?<=\d)[_p](?=\d)")
"""`3_3` and `3p7` are written where a dot may not stand."""
LONG_CONTEXTS = ("1m", "2m", "4m")
"""Contexts of a million tokens and more; parameters where no billions stand beside them."""
QUANT = re.compile(
    r"(?<![a-z0-9])(?:ud[-_])?(?:i?q\d_k ?- ?(?:small|medium|large)|i?q\d(?:_[a-z0-9]+)*"
    r"|tq\d_\d|i?q\d(?:-k)?(?:-[sml])?"
    r"|\d+(?:\.\d+)?[ -]?(?:bits?|bpw)|int[48]|fp?(?:4|8|16|32)|bf16|w\d+a\d+|nvfp4|mxfp[48]"
    r"|nf4|i1|oq\d\w*|exl[23])(?![a-z0-9])"
)
"""A format's spelling inside a name; formats.py says which one it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WordRow:
    """One row of data/models/name_words.csv.

    Attributes:
        word: as it stands in names, in lower case.
        kind: container, tuning, maker, mode, draft, cut, merge, distilled, variant or label.
        meaning: why it is none of the model's identity, or what it makes of the model; of a label,
            the words that makers use.
    """

    word: str
    kind: str
    meaning: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelName:
    """A name, taken apart.

    Attributes:
        text: as it was typed.
        publisher: what stands before the slash; empty without one.
        tokens: words, numbers and sizes in their order, publisher and format taken off.
        kinds: what the words tell of the model (draft, cut, merge, distilled).
    """

    text: str
    publisher: str
    tokens: tuple[str, ...]
    kinds: frozenset[str]

    def without(self, *kinds: str) -> tuple[str, ...]:
        """The tokens less the words of some kinds."""
        known = words()
        return tuple(token for token in self.tokens if known.get(token) not in kinds)

    @property
    def identity(self) -> tuple[str, ...]:
        """Tokens that tell a model from its relatives."""
        return self.without("container", "tuning", "maker")

    @property
    def shape(self) -> tuple[str, ...]:
        """Tokens that can tell shapes apart: no dates, no way of thinking."""
        kept = self.without("container", "tuning", "maker", "mode")
        sized = any(is_size(token) and token[-1] == "b" for token in kept)
        left_out = LONG_CONTEXTS if sized else ()
        return tuple(
            token
            for token in kept
            if not (is_date(token) or is_context(token) or token in left_out)
        )


@cache
def _rows() -> tuple[WordRow, ...]:
    return read(DATA / "models" / "name_words.csv", WordRow)


@cache
def words() -> Mapping[str, str]:
    """Kind of each word that is no part of a name's identity."""
    return {row.word: row.kind for row in _rows() if row.kind != "label"}


@cache
def labels() -> Mapping[str, str]:
    """Makers' words for the architectures that llama.cpp prints."""
    return {row.word: row.meaning for row in _rows() if row.kind == "label"}


def is_date(token: str) -> bool:
    """A month or day that a maker appended."""
    return DATE.fullmatch(token) is not None


def is_context(token: str) -> bool:
    """A context length as makers append it: `4k`, `128k`."""
    return token[-1] == "k" and token[:-1].isdigit()


def is_size(token: str) -> bool:
    """Parameters: `27b`, `a3b`, `8x7b`, `e4b`, `270m`."""
    return token[-1] in "bmt" and any(character.isdigit() for character in token)


@lru_cache(maxsize=16_384)
def take_apart(text: str) -> ModelName:
    """The parts of a name."""
    publisher, name = _without_publisher(_without_label(text.strip().casefold()))
    plain = FILE_END.sub("", name)
    plain = SHARD.sub("", plain)
    plain = QUANT.sub(" ", plain)
    plain = SPLIT_VERSION.sub(".", plain)
    tokens = tuple(_tokens(plain))
    kinds = frozenset(words().get(token, "") for token in tokens) - {""}
    return ModelName(text=text, publisher=publisher, tokens=tokens, kinds=kinds)


def _without_label(text: str) -> str:
    """`qwen35moe 35B.A3B`, as llama-bench prints architectures, as makers write it."""
    label, space, rest = text.partition(" ")
    return f"{labels()[label]} {rest}" if space and label in labels() else text


def _without_publisher(text: str) -> tuple[str, str]:
    """`hf.co/unsloth/Name:Q4_K_M` -> (`unsloth`, `Name:Q4_K_M`)."""
    parts = [part for part in text.split("/") if part]
    if len(parts) < 2:
        return "", text
    return parts[-2], parts[-1]


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    for match in TOKEN.finditer(text):
        part = match.group()
        if part == "v" and text[match.end() : match.end() + 1].isdigit():
            continue
        tokens.append(part.removesuffix(".0") if match.lastgroup == "number" else part)
    return tokens
