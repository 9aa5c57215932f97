"""Parts of a model's name: words, numbers and sizes, without publisher and format.

People write the same model as `Qwen/Qwen3-30B-A3B-Instruct-2507`, `qwen3:30b-a3b-q4_K_M`,
`unsloth_Qwen3 30B A3B UD-Q4_K_XL.gguf` and `qwen 3 30b`. All of them become the same tokens:
words in lower case, versions, sizes. data/models/name_words.csv says which words are no part of a
model's identity.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import InputError, UnknownName
from advisor.model.formats import NEAREST, Format, format_meant

TOKEN = re.compile(
    r"(?P<experts>\d+x\d+(?:\.\d+)?b)(?![a-z0-9])"
    r"|(?P<active>a\d+(?:\.\d+)?[bm])(?![a-z0-9])"
    r"|(?P<elastic>e\d+(?:\.\d+)?b)(?![a-z0-9])"
    r"|(?P<size>\d+(?:\.\d+)?[bmtk])(?![a-z0-9])"
    r"|(?P<word>[a-z]+)"
    r"|(?P<number>\d+(?:\.\d+)*)"
)
DATE = re.compile(r"(20)?2[3-6](0[1-9]|1[0-2])([0-3]\d)?|(0[1-9]|1[0-2])[0-3]\d|\d{5,}")
"""Pattern of dates that publishers append: 2507, 20260831, 0528; versions have at most three
digits, numbers of builds five and more."""
SHARD = re.compile(r"[-.]\d{5}-of-\d{5}")
OF_PARTS = re.compile(
    r"(?<![a-z0-9])(?:(?:aproj|sexp|out|attn|shared|head|embd?|w\d)(?:q\dk?|f16)"
    r"|(?:q\dk?|f16)(?:experts?|hc|compressor|indexer|attn|shared|out)|v\d+(?=-imatrix)|(?<=out-)(?:chat-)?v\d+)(?![a-z0-9])"
)
"""Pattern of the formats of single parts, as ds4's files list them: `IQ2XXS-w2Q2K-AProjQ8`, and of
a file's version."""
EXPERTS_IN = re.compile(r"(?<![a-z0-9])q(\d)kexperts")
REMARK = re.compile(r"(?<=\.gguf)[\s,;+(\[].*|\s*[(\[]~?[\d.]+ ?[gm]i?b\b[^)\]]*[)\]]")
FILE_END = re.compile(r"\.(gguf|ggml|llamafile|safetensors|bin|json)$")
CLOUD_VERSION = re.compile(r"-v\d+:\d+$")
"""Version that Amazon's Bedrock puts behind a name: `meta.llama3-2-1b-instruct-v1:0`."""
SPLIT_VERSION = re.compile(
    r"(?<!\.\d)(?<=\d)[_p](?=\d(?!\d{3}|\d+b))|(?<=v\d)-p(?=\d(?:-|$))|(?<=[-a-z]\d)-(?=\d(?:[-:]|$))"
)
"""Pattern of versions without a dot: `3_3`, `3p7`, `3-1`."""
SPLIT_SIZE = re.compile(r"(?<![\d.])(\d)b(\d)(?![a-z0-9])")
"""Pattern of a size around its unit: `7b1`."""
LLAMA = re.compile(r"(?<=[-_])l(2|3(?:\.\d)?)(?=-\d+b)")
"""Pattern of a fine-tune's base between its own name and its size: `MythoMax-L2-13b`."""
LEFT_OUT = frozenset({"container", "tuning", "maker", "mode"})
"""Kinds of words that change no shape."""
CLOUD_PUBLISHER = re.compile(
    r"(?:us|eu|ap|au|jp|apac|global)\.(?=deepseek\.)|(?:(?:us|eu|ap|au|jp|apac|global)\.)?"
    r"(ai21|amazon|anthropic|cohere|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen"
    r"|writer|xai|zai)\.(?=[a-z])"
)
"""Region and publisher before Amazon's Bedrock's names: `us.meta.llama4-maverick-17b-instruct-v1:0`
(docs.aws.amazon.com/bedrock/latest/userguide/models-supported.html, 2026-11-23)."""
SPACED = (
    (re.compile(r"\bud (?=i?q\d)"), "ud-"),
    (re.compile(r"\b(i?q\d) (?=(?:k|[01]|xx?s|nl|[sml]|xs)\b)"), r"\1_"),
    (re.compile(r"\b(q\d_k) (?=(?:[sml]|xl)\b)"), r"\1_"),
)
"""Parts of a format that people write apart: "ud q4 k xl", "iq4 xs"."""
SPELLED_OUT = (
    (re.compile(r"[-_]onnx(?:[-_](?:ryzenai.*|cpu))?$"), ""),
    (re.compile(r"(?<=\d) ?billion\b"), "b"),
    (re.compile(r"(?<=\d) ?trillion\b"), "t"),
    (re.compile(r"\b(?:deepseek|ds)[-_. ]?(?=[rv]\d)"), "deepseek "),
)
"""Patterns of words that stand for others or none: AMD's `-onnx-ryzenai-1.7-hybrid`, "35 billion",
`DeepseekR1`, `dsv3.1`, `DS-R1-32B`."""
SAME_START = 4
"""Letters that a file's name has in common with its repository's, if it tells the model too."""
LAYER_ALONE = "mtp"
"""First word of files that hold a model's drafting layer alone."""
LONG_CONTEXTS = ("1m", "2m", "4m")
"""Tokens that mean a context, unless no other token is a size; then they mean parameters."""
TRAINED_ON = re.compile(r"\d+(\.\d+)?t")
"""Pattern of tokens of text a model was trained on, where another word states its weights:
`TinyLlama-1.1B-1T`."""
QUANT = re.compile(
    r"(?<![a-z0-9])(?:ud[-_])?(?:i?q\d_k ?- ?(?:small|medium|large)|d?i?q\d(?:plus)?(?:_[a-z0-9]+)*"
    r"|tq\d_\d|i?q\d(?:-k)?(?:-[sml])?|q\db?f(?:16|32)\w*"
    r"|exl[23][-_]\d(?:[._]\d+)?(?:bpw)?|int\d-int\d+mix(?:-(?:lite|medium|compact))?"
    r"|\d+(?:[._]\d+)?[ -]?(?:bits?|bpw(?:-h\d)?)|int[2348]|fp?(?:4|8|16|32)|bf16"
    r"|w\d+a(?:fp)?\d+|i?q\dk[sml]?|iq\d(?:xx?s|nl|kss?|kt)"
    r"|(?:nvfp4|mxfp[48])(?:a16)?|nf4|i1|oq\d\w*|exl[23])(?:_moe)?(?![a-z0-9])"
    r"|(?<![a-z])apex(?:-mtp)?(?:-i)?-(?:mini|nano|compact|balanced|quality)\b"
)
"""Pattern of a format in a name; `formats/format_names.py` reads it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WordRow:
    """One row of data/models/name_words.csv."""

    word: str  # word in lower case
    # container, tuning, maker, mode, draft, cut, merge, distilled, variant, label, short, other (no
    # language model) or closed (weights that nobody publishes)
    kind: str
    meaning: str  # its meaning; for a label or short form, the publisher's words


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelName:
    """Parts of a name."""

    text: str  # name as typed
    publisher: str  # part before the slash; empty without one
    tokens: tuple[str, ...]  # words, numbers and sizes in order, without publisher and format
    kinds: frozenset[str]  # kinds of the model by its words (draft, cut, merge, distilled, other)
    shape: tuple[str, ...]  # tokens that distinguish shapes, without dates and reasoning modes

    @property
    def key(self) -> str:
        """Tokens of the shape as one text, by which known models are indexed."""
        return " ".join(self.shape)

    def without(self, *kinds: str) -> tuple[str, ...]:
        """Tokens without the words of some kinds."""
        known = words()
        return tuple(token for token in self.tokens if known.get(token) not in kinds)

    @property
    def identity(self) -> tuple[str, ...]:
        """Tokens that distinguish a model from its relatives."""
        return self.without("container", "tuning", "maker")


def _shape(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Tokens that distinguish shapes, without dates and reasoning modes."""
    known = words()
    kept = [token for token in tokens if known.get(token) not in LEFT_OUT]
    sizes = [token for token in kept if is_size(token) and token[-1] == "b"]
    left_out = LONG_CONTEXTS if sizes else ()
    total = any(token[0] != "a" for token in sizes)
    return tuple(
        token
        for token in kept
        if not (
            DATE.fullmatch(token)
            or (token[-1] == "k" and token[:-1].isdigit())  # a context: `4k`, `128k`
            or token in left_out
            or (total and TRAINED_ON.fullmatch(token))
        )
    )


@cache
def _rows() -> tuple[WordRow, ...]:
    return read(DATA / "models" / "name_words.csv", WordRow)


@cache
def words() -> Mapping[str, str]:
    """Kind of each word that does not identify a model."""
    return {row.word: row.kind for row in _rows() if row.kind not in ("label", "short")}


@cache
def labels() -> Mapping[str, str]:
    """Publishers' words for the architectures that llama.cpp prints."""
    return {row.word: row.meaning for row in _rows() if row.kind == "label"}


@cache
def short_forms() -> Mapping[str, str]:
    """Families by what makers of fine-tunes write for them before a dash: `L3.3-`, `G4-`."""
    return {row.word: row.meaning for row in _rows() if row.kind == "short"}


def is_size(token: str) -> bool:
    """Whether a token is a number of parameters: `27b`, `a3b`, `8x7b`, `e4b`, `270m`."""
    return token[-1] in "bmt" and any(character.isdigit() for character in token)


def has_size(tokens: Iterable[str]) -> bool:
    """Whether one of some tokens is a number of parameters."""
    return any(map(is_size, tokens))


@lru_cache(maxsize=16_384)
def take_apart(text: str) -> ModelName:
    """Parts of a name, without a remark behind a file or a size in brackets: "(4.58 GiB)"."""
    folded = _joined_format(REMARK.sub("", text.strip().casefold()))
    publisher, name = _without_publisher(_without_label(folded))
    name = _without_label(name)
    plain = FILE_END.sub("", CLOUD_VERSION.sub("", name))
    plain = OF_PARTS.sub("", SHARD.sub("", plain))
    plain = QUANT.sub(" ", plain)
    for pattern, word in SPELLED_OUT:
        plain = pattern.sub(word, plain)
    plain = LLAMA.sub(r"llama \1", SPLIT_SIZE.sub(r"\1.\2b", SPLIT_VERSION.sub(".", plain)))
    tokens = tuple(_tokens(plain))
    kinds = frozenset(words().get(token, "") for token in tokens) - {""}
    assists = ("it", "assistant") in pairwise(tokens)
    kinds |= {"draft"} if tokens[:1] == (LAYER_ALONE,) or assists else set()
    return ModelName(
        text=text, publisher=publisher, tokens=tokens, kinds=kinds, shape=_shape(tokens)
    )


def _joined_format(text: str) -> str:
    for pattern, joined in SPACED if " " in text else ():
        text = pattern.sub(joined, text)
    return text


def _without_label(text: str) -> str:
    """`qwen35moe 35B.A3B`, as llama-bench prints architectures, as makers write it."""
    label, space, rest = text.partition(" ")
    short, dash, name = text.partition("-")
    if dash and short in short_forms():
        return f"{short_forms()[short]} {name}"
    return f"{labels()[label]} {rest}" if space and label in labels() else text


NO_NAME = {"ggml", "gguf", "model", "models"}
"""Words of files and folders that name no model."""


def _without_publisher(text: str) -> tuple[str, str]:
    """`hf.co/unsloth/Name:Q4_K_M` -> (`unsloth`, `Name:Q4_K_M`)."""
    parts = [part for part in re.split(r"[/\\]", text) if part]
    if len(parts) > 1 and parts[-1].endswith(".gguf"):
        repository, _, file = parts[-1].rpartition(":")
        parts[-1] = file if file.startswith(repository[:SAME_START]) else repository
    while len(parts) > 1 and {*_tokens(QUANT.sub(" ", FILE_END.sub("", parts[-1])))} <= NO_NAME:
        parts.pop()  # a file or folder that is called by its format alone, or "model"
    cloud = CLOUD_PUBLISHER.match(parts[-1]) if parts else None
    if cloud is not None:
        return cloud[1] or "", parts[-1][cloud.end() :]
    return (parts[-2] if len(parts) > 1 else ""), parts[-1] if parts else text


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    for match in TOKEN.finditer(text):
        part = match.group()
        if part == "v" and text[match.end() : match.end() + 1].isdigit():
            continue
        tokens.append(part.removesuffix(".0") if match.lastgroup == "number" else part)
    return tokens


# Sizes that the words of a model's name state: `35B-A3B`, `8x7b`, `270m`.

MIXTRAL_SHARE = 46.7 / 56
"""Weights of Mixtral 8x7B relative to 8 x 7 billion, as attention is not multiplied."""
MIXTRAL_ACTIVE = 12.9 / 46.7
"""Share of its weights that Mixtral 8x7B uses for a token (arXiv:2401.04088, section 2)."""
MOST_MULTIPLIED = 16
"""Largest number of experts that a name multiplies by a size as Mixtral's does. In `256x21B`, which
llama.cpp's converter writes, 21 B are one expert with all that every token uses."""
MOST_TRILLIONS = 3
"""Trillions above which a number is one of tokens of text: `bitnet-2B-4T`; Kimi K3 has 2.8."""
SMALLEST, LARGEST = 1e5, 1e14
"""Numbers of weights that are accepted: from somewhat less than stories260K has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StatedSize:
    """Sizes in a name."""

    params: float  # number of weights
    active: float | None  # number of weights that a token uses; None for a dense model
    layers: int | None = None  # number of repeating layers; None where unknown
    may_have_experts: bool = False  # whether `active` is None because nothing states it

    def __post_init__(self) -> None:
        """Check the sizes."""
        active = self.params if self.active is None else self.active
        if not (0 < active <= self.params and SMALLEST <= self.params < LARGEST):
            raise InputError(f"{self.params:g} weights, {self.active} active, is not a model.")


def stated_size(name: ModelName) -> StatedSize | None:
    """Sizes in a name; None without any."""
    sizes = [value for token in name.shape if (value := weights(token)) is not None]
    active = next((weights(token[1:]) for token in name.shape if is_active(token)), None)
    if not sizes:
        return None
    params = min(sizes) if "cut" in name.kinds else max(sizes)  # a pruned one's own is the lesser
    if active is None and any(re.match(r"\d+x\d", token) for token in name.shape):
        active = params * MIXTRAL_ACTIVE
    used = active if active and active < params else None
    return StatedSize(params=params, active=used, may_have_experts=active is None)


def is_active(token: str) -> bool:
    """Whether a token of a name states active weights: `a3b`."""
    return re.fullmatch(r"a\d+(\.\d+)?[bm]", token) is not None


def weights(token: str) -> float | None:
    """Weights that a token of a name states: `27b`, `1t`, `8x7b`."""
    stated = re.fullmatch(r"(?:(\d+)x|e)?(\d+(?:\.\d+)?)([bmt])", token)
    if stated is None or not float(stated[2]):
        return None
    if stated[1] and int(stated[1]) > MOST_MULTIPLIED:
        return None
    if stated[3] == "t" and float(stated[2]) > MOST_TRILLIONS:
        return None
    each = float(stated[2]) * {"m": 1e6, "b": 1e9, "t": 1e12}[stated[3]]
    return each * int(stated[1]) * MIXTRAL_SHARE if stated[1] else each


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
NEAR_WIDTH = 0.1
"""Relative difference up to which a stated width is that of the format beside it: mixes are up to
a tenth smaller (`IQ4_XS-4.04bpw`)."""
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
    """Format in a model's name or tag; None without one."""
    for spelling in _format_spellings(_joined_format(text.casefold())):
        try:
            return format_meant(spelling, known, remark=True)
        except UnknownName:
            continue
    return None


def _format_spellings(name: str) -> Iterator[str]:
    """Formats that a name may state, surest first."""
    name = EXPERTS_IN.sub(r"q\1_k_m", name)
    name = OF_PARTS.sub(" ", name)
    parts = sorted(FORMAT.findall(name), key=lambda part: WIDE.search(part) is not None)
    width = WIDTH.search(name)
    if width:
        stated = float((width[1] or width[2]).replace("_", "."))
        for part in parts:
            if abs(NEAREST.get(part.upper(), 0.0) - stated) < NEAR_WIDTH * stated:
                yield part
        yield f"{stated:g}bpw"
    packer, bits = PACKER.search(name), BITS_IN_NAME.search(name)
    if packer and bits:
        yield f"{packer[1]}_{bits[bits.lastindex or 0]}bit"
    mlx = "mlx_" if "mlx" in name else ""
    for part in parts:
        mixed = re.fullmatch(r"dq(\d)(?!_k).*", part)
        bare = mixed or re.fullmatch(r"(\d)[-_ ]?bits?", part)
        yield f"{mlx}{bare[1]}bit" if bare else part.removeprefix("d")
    if TRAINED_FOR_Q4_0.search(name):
        yield "q4_0"


# Tags of Ollama's library: `qwen3:latest` is `qwen3:8b-q4_K_M`, `llava:7b` `7b-v1.6-mistral-q4_0`.
#
# A tag without a size or format stands for another one with them; Ollama's pages list both with the
# same digest.

OLLAMA_PREFIX = re.compile(r"^(?:ollama (?:run|pull|show) |ollama/|library/|ollama_chat/)+")
OLLAMA_SIZE = re.compile(r"(?:\d+x)?[\d.]+[bm](?:-a[\d.]+b)?|e\d+b")


@dataclass(frozen=True, kw_only=True, slots=True)
class OllamaRow:
    """One row of data/models/ollama_tags.csv."""

    name: str  # model of Ollama's library
    usual: str  # tag that is loaded without one, in full
    others: str  # tags of other sizes in full, separated by spaces
    source: str  # page of its tags
    source_date: str  # when it was read


@dataclass(frozen=True, kw_only=True)
class OllamaTag:
    """Name in Ollama's library."""

    short: str  # name and size, as `qwen3:8b`
    full: str  # name and the tag in full, as `qwen3:8b-q4_K_M`
    usual: bool  # whether the tag was not typed


@cache
def _ollama_rows() -> dict[str, OllamaRow]:
    rows = read(DATA / "models" / "ollama_tags.csv", OllamaRow)
    return {row.name: row for row in rows}


def ollama_tag(text: str) -> OllamaTag | None:
    """Tag in full of a name with Ollama's prefix or a tag of size alone; None for other names.

    A bare name, as `llama3.1`, may mean any size, and has none.
    """
    typed = text.strip().casefold()
    plain = OLLAMA_PREFIX.sub("", typed)
    name, _, tag = plain.partition(":")
    if "/" in name or (not tag and plain == typed):
        return None
    row = _ollama_rows().get(name)
    if row is None:
        return None
    if tag in ("", "latest"):
        return _tag(name, row.usual, usual=True)
    if not OLLAMA_SIZE.match(tag):
        return None
    full = (other for other in (row.usual, *row.others.split()) if other.startswith(f"{tag}-"))
    return next((_tag(name, other, usual=False) for other in full), None)


def _tag(name: str, full: str, *, usual: bool) -> OllamaTag:
    size = OLLAMA_SIZE.match(full)
    short = f"{name}:{size[0]}" if size else name
    return OllamaTag(short=short, full=f"{name}:{full}", usual=usual)
