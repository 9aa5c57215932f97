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

from advisor.catalog.csv_tables import texts
from advisor.catalog.name_matching import NameWords
from advisor.errors import InputError, UnknownName
from advisor.model.formats import Format

TOKEN = re.compile(
    r"(?P<experts>\d+x\d+(?:\.\d+)?b)(?![a-z0-9])"
    r"|(?P<active>a\d+(?:\.\d+)?[bm])(?![a-z0-9])"
    r"|(?P<elastic>e\d+(?:\.\d+)?b)(?![a-z0-9])"
    r"|(?P<size>\d+(?:\.\d+)?[bmtk])(?![a-z0-9])"
    r"|(?P<word>[a-z]+)"
    r"|(?P<number>\d+(?:\.\d+)*)"
)
LEFT_OUT = frozenset({"container", "tuning", "maker", "mode"})
"""Kinds of words that change no shape."""
SAME_START = 4
"""Letters that a file's name has in common with its repository's, if it tells the model too."""
LAYER_ALONE = "mtp"  # first word of files that hold a model's drafting layer alone
SAME_WEIGHTS = ("mtp", "vision", "latest")
"""Words that name a file with further layers, or the newest one, of the same weights."""
LONG_CONTEXTS = ("1m", "2m", "4m")
"""Tokens that mean a context, unless no other token is a size; then they mean parameters."""
TABLE = NameWords("models/name_words.csv")
KINDS = (*LEFT_OUT, "draft", "cut", "merge", "distilled", "variant", "other", "closed")
"""Kinds of words that do not identify a model; "other" is no language model, "closed" one with
weights that nobody publishes."""


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

    @property
    def identity(self) -> tuple[str, ...]:
        """Tokens that distinguish a model from its relatives."""
        left_out = LEFT_OUT - {"mode"}
        return tuple(token for token in self.tokens if words().get(token) not in left_out)

    @property
    def weight_words(self) -> frozenset[str]:
        """Words and numbers that distinguish weights of the same layers: no size, and no word for
        further layers in the same file.
        """
        return frozenset(
            token for token in self.identity if token not in SAME_WEIGHTS and not is_size(token)
        )


def _shape(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Tokens that distinguish shapes, without dates and reasoning modes."""
    kept = [token for token in tokens if words().get(token) not in LEFT_OUT]
    sizes = [token for token in kept if is_size(token) and token[-1] == "b"]
    left_out = LONG_CONTEXTS if sizes else ()
    total = any(token[0] != "a" for token in sizes)
    return tuple(
        token
        for token in kept
        if not (
            TABLE.any_of("date").fullmatch(token)
            or (token[-1] == "k" and token[:-1].isdigit())  # a context: `4k`, `128k`
            or token in left_out
            or (total and TABLE.any_of("trained on").fullmatch(token))
        )
    )


@cache
def words() -> Mapping[str, str]:
    """Kind of each word that does not identify a model."""
    return {word: kind for kind in KINDS for word in TABLE.of_kind(kind)}


def is_size(token: str) -> bool:
    """Whether a token is a number of parameters: `27b`, `a3b`, `8x7b`, `e4b`, `270m`."""
    return token[-1] in "bmt" and any(character.isdigit() for character in token)


def has_size(tokens: Iterable[str]) -> bool:
    """Whether one of some tokens is a number of parameters."""
    return any(map(is_size, tokens))


@lru_cache(maxsize=16_384)
def take_apart(text: str) -> ModelName:
    """Parts of a name, without a remark behind a file or a size in brackets: "(4.58 GiB)"."""
    folded = _joined_format(TABLE.any_of("remark").sub("", text.strip().casefold()))
    publisher, name = _without_publisher(_without_label(folded))
    name = _without_label(name)
    tokens = tuple(_tokens(TABLE.rewritten(name, "taken apart")))
    kinds = frozenset(words().get(token, "") for token in tokens) - {""}
    assists = ("it", "assistant") in pairwise(tokens)
    kinds |= {"draft"} if tokens[:1] == (LAYER_ALONE,) or assists else set()
    return ModelName(
        text=text, publisher=publisher, tokens=tokens, kinds=kinds, shape=_shape(tokens)
    )


def _joined_format(text: str) -> str:
    if " " in text:
        return TABLE.rewritten(text, "joined")
    return text


def _without_label(text: str) -> str:
    """`qwen35moe 35B.A3B`, as llama-bench prints architectures, as makers write it."""
    label, space, rest = text.partition(" ")
    short, dash, name = text.partition("-")
    families = TABLE.of_kind("short")
    labels = TABLE.of_kind("label")
    if dash and short in families:
        return f"{families[short]} {name}"
    if space and label in labels:
        return f"{labels[label]} {rest}"
    return text


NO_NAME = {"ggml", "gguf", "model", "models"}  # words of files and folders that name no model


def _without_publisher(text: str) -> tuple[str, str]:
    """`hf.co/unsloth/Name:Q4_K_M` -> (`unsloth`, `Name:Q4_K_M`)."""
    parts = [part for part in re.split(r"[/\\]", text) if part]
    if len(parts) > 1 and parts[-1].endswith(".gguf"):
        repository, _, file = parts[-1].rpartition(":")
        parts[-1] = file if file.startswith(repository[:SAME_START]) else repository
    while len(parts) > 1:
        file = TABLE.any_of("file end").sub("", parts[-1])
        if not {*_tokens(TABLE.any_of("format part").sub(" ", file))} <= NO_NAME:
            break
        parts.pop()  # a file or folder that is called by its format alone, or "model"
    if parts:
        cloud = TABLE.any_of("cloud publisher").match(parts[-1])
    else:
        cloud = None
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
SMALLEST = 1e5
LARGEST = 1e14
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
        if self.active is None:
            active = self.params
        else:
            active = self.active
        if not (0 < active <= self.params and SMALLEST <= self.params < LARGEST):
            raise InputError(f"{self.params:g} weights, {self.active} active, is not a model.")


def stated_size(name: ModelName) -> StatedSize | None:
    """Sizes in a name; None without any."""
    sizes = stated_numbers(name)
    active = next((weights(token[1:]) for token in name.shape if is_active(token)), None)
    if not sizes:
        return None
    # a pruned one's own is the lesser
    if "cut" in name.kinds:
        params = min(sizes)
    else:
        params = max(sizes)
    if active is None and any(re.match(r"\d+x\d", token) for token in name.shape):
        active = params * MIXTRAL_ACTIVE
    if active and active < params:
        used = active
    else:
        used = None
    return StatedSize(params=params, active=used, may_have_experts=active is None)


def stated_numbers(name: ModelName) -> list[float]:
    """Numbers of weights that words of a name may state, in their order."""
    return [value for token in name.shape if (value := weights(token)) is not None]


def is_active(token: str) -> bool:
    """Whether a token of a name states the number of active weights: `a3b`."""
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
    if stated[1]:
        return each * int(stated[1]) * MIXTRAL_SHARE
    return each


# Format that a model's name or tag carries, as in `qwen3:30b-a3b-q4_K_M` and `-GPTQ-Int8`.
#
# A packer (GPTQ, AWQ, EXL3, bitsandbytes, MLX) tells its bits elsewhere in the name, before or
# behind it; without bits it has the usual four.

NEAR_WIDTH = 0.1
"""Relative difference up to which a stated width is that of the format beside it: mixes are up to
a tenth smaller (`IQ4_XS-4.04bpw`)."""


PACKED_TO_WIDTH = re.compile(r"exl[23]")
"""Packers whose files have any number of bits, which is what their names state."""


def format_in_name(text: str) -> Format | None:
    """Format in a model's name or tag; None without one."""
    for spelling in _format_spellings(_joined_format(text.casefold())):
        try:
            return Format.meant(spelling, remark=True)
        except UnknownName:
            continue
    return None


def leaves_bits_open(text: str) -> bool:
    """Whether a name has EXL2 or EXL3 and no number of bits."""
    name = _joined_format(text.casefold())
    stated = TABLE.any_of("width").search(name) or TABLE.any_of("bits").search(name)
    return bool(PACKED_TO_WIDTH.search(name)) and not stated


def _format_spellings(name: str) -> Iterator[str]:
    """Formats that a name may state, surest first."""
    name = TABLE.any_of("format of experts").sub(r"q\1_k_m", name)
    name = TABLE.any_of("formats of parts").sub(" ", name)
    wide = TABLE.any_of("wide")
    parts = sorted(TABLE.any_of("format").findall(name), key=lambda form: bool(wide.search(form)))
    width = TABLE.any_of("width").search(name)
    if width:
        stated = float((width[1] or width[2]).replace("_", "."))
        for part in parts:
            if abs(Format.BITS.get(part.upper(), 0.0) - stated) < NEAR_WIDTH * stated:
                yield part
        packed = PACKED_TO_WIDTH.search(name)
        before = f"{packed[0]}_" if packed else ""
        head = f"_h{width[3]}" if packed and width[3] else ""
        yield f"{before}{stated:g}bpw{head}"
    packer = TABLE.any_of("packer").search(name)
    bits = TABLE.any_of("bits").search(name)
    if packer and bits:
        yield f"{packer[1]}_{bits[bits.lastindex or 0]}bit"
    mlx = "mlx_" if "mlx" in name else ""
    for part in parts:
        mixed = re.fullmatch(r"dq(\d)(?!_k).*", part)
        bare = mixed or re.fullmatch(r"(\d)[-_ ]?bits?", part)
        yield f"{mlx}{bare[1]}bit" if bare else part.removeprefix("d")
    if TABLE.any_of("trained for q4_0").search(name):
        yield "q4_0"


# Tags of Ollama's library: `qwen3:latest` is `qwen3:8b-q4_K_M`, `llava:7b` `7b-v1.6-mistral-q4_0`.
#
# A tag without a size or format stands for another one with them; Ollama's pages list both with the
# same digest.


@dataclass(frozen=True, kw_only=True)
class OllamaTag:
    """Name in Ollama's library."""

    short: str  # name and size, as `qwen3:8b`
    full: str  # name and the tag in full, as `qwen3:8b-q4_K_M`
    usual: bool  # whether the tag was not typed


TUNINGS = {"tuning", "mode", "variant"}
"""Kinds of words of a tag that has the format of its size's other tags, as `7b-code`."""
OLLAMA = "models/ollama_tags.csv"
"""Tags in full of each model of Ollama's library: the one that is loaded without a tag, and those
of other sizes, separated by spaces."""


def ollama_tag(text: str) -> OllamaTag | None:
    """Tag in full of a name with Ollama's prefix or a tag of size alone; None for other names.

    A tag of a size and other words, as `7b-code`, has the format of that size's other tags. A bare
    name, as `llama3.1`, may mean any size, and has none.
    """
    typed = text.strip().casefold()
    plain = TABLE.any_of("ollama prefix").sub("", typed)
    name, _, tag = plain.partition(":")
    if "/" in name or (not tag and plain == typed):
        return None
    usual = texts(OLLAMA, "name", "usual").get(name)
    if usual is None:
        return None
    if tag in ("", "latest"):
        return _tag(name, usual, usual=True)
    size = TABLE.any_of("ollama size").match(tag)
    tags = (usual, *texts(OLLAMA, "name", "others")[name].split())
    for full in tags if size else ():
        if full.startswith(f"{tag}-"):
            return _tag(name, full, usual=False)
    alike = (full.rpartition("-")[2] for full in tags if size and full.startswith(f"{size[0]}-"))
    form = next(filter(format_in_name, alike), "")
    if size:
        further = {words().get(word) for word in _tokens(tag[size.end() :])}
    else:
        further = {None}
    if not form or not further <= TUNINGS or format_in_name(plain):
        return None
    return OllamaTag(short=f"{name}:{tag}", full=f"{name}:{tag}-{form}", usual=False)


def _tag(name: str, full: str, *, usual: bool) -> OllamaTag:
    size = TABLE.any_of("ollama size").match(full)
    short = f"{name}:{size[0]}" if size else name
    return OllamaTag(short=short, full=f"{name}:{full}", usual=usual)


# Names as their publishers write them in prose: "Gemma 4 12B" for `gemma-4-12B-it`.

HYPHENS = re.compile(TABLE.any_of("written with hyphens").pattern, re.IGNORECASE)
"""Families whose publishers keep the hyphens of their repositories."""
LOWER_SIZE = re.compile(r"(?<=\d)b(?=\s|$)")
POINT = re.compile(r"(?<=\d)_(?=\d)")  # how repositories write the point of a version


@lru_cache(maxsize=1024)
def written(name: str) -> str:
    """Name of a model of the catalogue or the list, without publisher, format and tuning."""
    first, *rest = [part for part in name.rpartition("/")[2].split("-") if part] or [name]
    kept = [part for part in rest if not _says_no_model(part)]
    if kept and words().get(first.casefold()) == "maker":
        parts = kept
    else:
        parts = [first, *kept]
    bare = POINT.sub(".", "-".join(parts))
    if bare[:1].islower():
        bare = _with_capitals(bare)
    if HYPHENS.match(bare):
        return bare
    return LOWER_SIZE.sub("B", bare.replace("-", " ").replace("_", " "))


def _with_capitals(bare: str) -> str:
    """Name whose family its maker writes with capitals, though its repository has none."""
    for pattern, value in TABLE.patterns("written"):
        if pattern.match(bare):
            return f"{value}{bare[len(value) :]}"
    return bare


def _says_no_model(part: str) -> bool:
    """Whether a word says a format or tuning alone; modes, as Thinking, are kept."""
    word = part.casefold()
    format_alone = TABLE.any_of("format part").fullmatch(word) is not None
    return format_alone or words().get(word) in LEFT_OUT - {"mode"}
