"""Bytes per weight of each storage type, and the storage type of each tensor in a format.

A *storage type* is how one tensor's weights are packed (`Q4_K`: 256 weights in 144 bytes); a format
is a recipe that gives every tensor its type.

What becomes of a tensor in a GGUF file restates what llama.cpp does (ggml-org/llama.cpp,
`src/llama-quant.cpp` at commit 007dbbf, `tensor_allows_quantization`, `tensor_get_category` and
`tensor_type_fallback`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from itertools import count, groupby
from types import MappingProxyType
from typing import ClassVar

from advisor.catalog.csv_tables import DATA, read, texts
from advisor.errors import DataError, Refusal, UnknownName
from advisor.model import packings
from advisor.model.architecture import Architecture, Group, Tensor
from advisor.model.packings import Packing, packing_named

# Formats as recipes: a storage type for each kind of tensor, under conditions.
#
# A *format* is what people choose and download (`Q4_K_M`): a recipe that gives every tensor its
# type. Recipes are rows of `data/models/recipes.csv`, read from top to bottom; the first row whose
# role and condition fit a tensor decides. `role` is a tensor's role, its `category`, or a pattern
# such as `*_exps`; `when` is a condition of `CONDITIONS`, several joined by `&`.
#
# The GGUF recipes restate what llama.cpp does (ggml-org/llama.cpp, `src/llama-quant.cpp` at commit
# 007dbbf, `llama_tensor_get_type_impl`). Published files of the IQ formats are made with an
# importance matrix, so the recipes assume one there and nowhere else. Left out are its rules for
# the Falcon architecture.


@dataclass(frozen=True, kw_only=True, slots=True)
class RecipeRow:
    """One rule of one format: a row of `data/models/recipes.csv`."""

    format: str  # name of the format the rule belongs to
    family: str  # `gguf` or `safetensors`
    runtimes: str  # programs that run such files, separated by spaces
    role: str  # role, category or pattern of the tensors it applies to
    when: str  # condition, see `CONDITIONS`
    type: str  # storage type of these tensors
    source: str  # documentation of the rule
    source_date: str  # date of that source
    note: str  # approximations


@dataclass(frozen=True, kw_only=True, slots=True)
class FormatLossRow:
    """One row of data/models/format_loss.csv: quality that a format of one model loses.

    It is the mean Kullback-Leibler divergence of a format's next tokens from those of 16 bits, on
    Wikitext, of one measured model, or what its source says.
    """

    format: str
    kl_divergence: float
    model: str
    imatrix: str
    retrieved: str
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """File format: the recipe that gives each tensor its storage type."""

    name: str  # name of the format
    family: str  # `gguf` or `safetensors`
    runtimes: tuple[str, ...]  # programs that run such files
    rules: tuple[RecipeRow, ...]  # rules, in the order in which they are tried
    note: str  # approximations; empty for none

    BITS: ClassVar[Mapping[str, float]] = MappingProxyType({
        "IQ1_S": 1.7, "IQ2_XS": 2.5, "Q2_K": 3.0, "Q3_K_M": 3.9, "IQ4_XS": 4.3, "Q4_K_M": 4.85,
        "Q5_K_M": 5.7, "Q6_K": 6.6, "Q8_0": 8.5, "F16": 16.0,
    })  # fmt: skip
    """Bits per weight of whole files (llama.cpp, tools/quantize/README.md)."""

    @staticmethod
    @cache
    def by_name() -> "Mapping[str, Format]":
        """Formats of models by name."""
        return formats(read(DATA / "models/recipes.csv", RecipeRow))

    @staticmethod
    def named(name: str) -> "Format":
        """Format by name, ignoring case: of the table, or of a packing."""
        form = known_format(name)
        if form is None:
            raise UnknownName("format", name, Format.by_name(), COMMON)
        return form

    @staticmethod
    def meant(text: str, *, remark: bool = False) -> "Format":
        """Format of a spelling; with `remark`, of a spelling among other words, as in a table's
        note.
        """
        UnknownName.check("format", text)
        plain = _plain(text)
        packing = _packing_meant(text, plain)
        if packing is not None:
            return _of_packing(packing)
        spelled = _by_spelling()
        name = next(
            (spelled[spelling] for spelling in _spellings(plain) if spelling in spelled), None
        )
        names_alone = all(word in spelled for word in plain.split("_"))
        name = name or _of_bits(plain)
        if name is None and (remark or names_alone):
            name = _inside(plain, spelled)
        if name is None:
            raise UnknownName("format", text, Format.by_name(), COMMON)
        return Format.named(name)

    def tensor_types(self, architecture: Architecture) -> "tuple[StorageType, ...]":
        """Storage type of every tensor, in order; GGUF files keep experts trained in four bits."""
        tensors = _recipe_traits(architecture)
        if self.family == "gguf":
            expert_type = architecture.expert_type
        else:
            expert_type = ""
        rules = {key: _rules_for(*key, self) for key in set(tensors.keys)}
        by_place = {key for key, tried in rules.items() if not tried or tried[0].when != ALWAYS}
        experts = architecture.experts
        chosen: dict[tuple[tuple[str, str], int, int | None], StorageType] = {}
        stored = []
        for tensor, key, position in zip(
            architecture.tensors, tensors.keys, tensors.positions, strict=True
        ):
            if expert_type and tensor.group is Group.ROUTED_EXPERTS and key[1] != UNQUANTIZED:
                stored.append(_storage_type(expert_type))
                continue
            what = key, tensor.width, position if key in by_place else None
            if what not in chosen:
                place = Place(
                    position=position,
                    count=tensors.values if key[1] == VALUES else architecture.layers,
                    layers=architecture.layers,
                    gqa=tensors.gqa,
                    experts=experts.total if experts else 0,
                )
                rule = next((matching for matching in rules[key] if _holds(matching, place)), None)
                if rule is None:
                    raise _refusal(architecture, self, tensor)
                chosen[what] = _fitting(_storage_type(rule.type), tensor)
            stored.append(chosen[what])
        return tuple(stored)

    @staticmethod
    @cache
    def all_losses() -> tuple[FormatLossRow, ...]:
        """Losses of all measured models; the first model has a loss for every measured format."""
        return read(DATA / "models/format_loss.csv", FormatLossRow)

    @staticmethod
    @cache
    def losses() -> Mapping[str, FormatLossRow]:
        """Losses by format, of the model for which all formats are published."""
        rows = Format.all_losses()
        return {row.format: row for row in rows if row.model == rows[0].model}

    @staticmethod
    @cache
    def no_worse(name: str, other: str) -> bool:
        """Whether a format loses at most as much as another, within what scores can tell; false
        where no model was measured in both.

        Losses are compared at the mean of the models in which both formats were measured.
        """
        losses = _measured_losses(name)
        others = _measured_losses(other)
        both = losses.keys() & others.keys()
        more = [losses[model] - others[model] for model in both]
        return name == other or (bool(more) and sum(more) <= HARDLY_MORE * len(more))


HARDLY_MORE = 0.01
"""Loss that a leaderboard cannot tell: a point of its score, of which a nat is worth 96 to the mean
family of models (docs/finding.md) [nats]."""
SIXTEEN_BITS = 16.0


def _measured_losses(name: str) -> Mapping[str, float]:
    """Loss of a format by measured model; formats of 16 bits lose nothing in any [nats]."""
    rows = Format.all_losses()
    rules = Format.named(name).rules
    if all(_storage_type(rule.type).bits_per_weight >= SIXTEEN_BITS for rule in rules):
        return dict.fromkeys((row.model for row in rows), 0.0)
    return {row.model: row.kl_divergence for row in rows if row.format == name}


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Position of a tensor in its model, for the conditions of a recipe."""

    position: int  # its layer; for attention values its rank among them, which differs in hybrids
    count: int  # how many positions there are
    layers: int  # repeating layers of the model
    gqa: float  # query heads that share one key and value head
    experts: int  # routed experts of the model, 0 for a dense one


def more_bits(place: Place) -> bool:
    """Whether a layer is in the first or last eighth, or every third between (`use_more_bits`)."""
    first = place.count // 8
    last = 7 * place.count // 8
    return not first <= place.position < last or (place.position - first) % 3 == 2


ALWAYS = "always"  # condition of a rule that asks nothing of the place
CONDITIONS: Mapping[str, Callable[[Place], bool]] = {
    ALWAYS: lambda _: True,
    "more_bits": more_bits,
    "first_two": lambda place: place.position < 2,
    "first_four": lambda place: place.position < 4,
    "first_sixteenth": lambda place: place.position < place.count // 16,
    "first_eighth": lambda place: place.position < place.count // 8,
    "middle": lambda place: place.count // 8 <= place.position < 7 * place.count // 8,
    "gqa4": lambda place: place.gqa >= 4,
    "gqa4_or_experts4": lambda place: place.gqa >= 4 or place.experts >= 4,
    "experts8": lambda place: place.experts == 8,
    "moe": lambda place: place.experts > 0,
    # llama.cpp's LLM_TYPE_70B: any grouped-query model of 80 layers, so Qwen2.5-72B as well.
    "size_70b": lambda place: place.layers == 80 and place.gqa > 1,
}
"""Conditions of the `when` column, by name."""


def formats(rows: Iterable[RecipeRow]) -> dict[str, Format]:
    """Formats by name, from the rows of the recipe table in their order."""
    by_name: dict[str, Format] = {}
    for name, group in groupby(rows, key=lambda row: row.format):
        if name in by_name:
            raise DataError(f"Format {name!r} is split in recipes.csv; keep its rows together.")
        by_name[name] = _format(name, tuple(group))
    return by_name


def _format(name: str, rules: tuple[RecipeRow, ...]) -> Format:
    first = rules[0]
    for rule in rules:
        if (rule.family, rule.runtimes) != (first.family, first.runtimes):
            raise DataError(f"Rows of format {name!r} disagree about its family or runtimes.")
        for condition in set(rule.when.split("&")) - CONDITIONS.keys():
            allowed = ", ".join(CONDITIONS)
            raise DataError(f"{name}: no condition is called {condition!r}; use one of {allowed}.")
    notes = dict.fromkeys(rule.note for rule in rules if rule.note)
    return Format(
        name=name,
        family=first.family,
        runtimes=tuple(first.runtimes.split()),
        rules=rules,
        note=" ".join(notes),
    )


COMMON = (
    "Common ones are Q4_K_M, Q6_K, Q8_0, MXFP4, AWQ, FP8 and BF16; data/models/recipes.csv has all."
)
"""Where an unknown format leads."""


@cache
def known_format(name: str) -> Format | None:
    """Format by name, ignoring case; None for an unknown one."""
    by_folded = {spelling.casefold(): form for spelling, form in Format.by_name().items()}
    form = by_folded.get(name.strip().casefold())
    if form is not None:
        return form
    packing = packing_named(name)
    if packing is None:
        return None
    return _of_packing(packing)


# Formats of packings: matrices in the stated bits, all else in 16 bits unless the tool packs it.

TABLE_TYPE = " table"
HEAD_TYPE = " head"
"""Endings of the names of a packing's storage types, of its token table and its head."""


@cache
def _of_packing(packing: Packing) -> Format:
    """Format of a packing, with storage types of its own."""
    table, head = packing.end_bits
    types = {
        UNQUANTIZED: "BF16",
        "output": f"{packing.name}{HEAD_TYPE}" if head != packings.PLAIN else "BF16",
        "token_embd": f"{packing.name}{TABLE_TYPE}" if table != packings.PLAIN else "BF16",
        "*": packing.name,
    }
    rules = (_packing_rule(packing, role, kind) for role, kind in types.items())
    return Format(
        name=packing.name,
        family="safetensors",
        runtimes=(),
        rules=tuple(rules),
        note=packing.row.note,
    )


def _packing_rule(packing: Packing, role: str, kind: str) -> RecipeRow:
    return RecipeRow(
        format=packing.name,
        family="safetensors",
        runtimes="",
        role=role,
        when=ALWAYS,
        type=kind,
        source=packing.row.source,
        source_date=packing.row.source_date,
        note=packing.row.note,
    )


def _packed_type(name: str) -> "StorageType | None":
    """Storage type of a packing by its name; None for any other name."""
    stem = name.removesuffix(TABLE_TYPE).removesuffix(HEAD_TYPE)
    packing = packing_named(stem)
    if packing is None:
        return None
    table, head = packing.end_bits
    bits = {f"{stem}{TABLE_TYPE}": table, f"{stem}{HEAD_TYPE}": head}.get(name, packing.stored_bits)
    return StorageType(
        name=name,
        family="safetensors",
        block_weights=1,
        block_bytes=bits / 8.0,
        bits_per_weight=bits,
        decode_class=_class_of_bits(packing),
        source=packing.row.source,
        source_date=packing.row.source_date,
        note="",
    )


def _class_of_bits(packing: Packing) -> str:
    """Cost class of unpacking a packing: that of the GGUF type or integers with as many bits."""
    if packing.bits >= packings.EIGHT_BITS:
        return "q8"
    if packing.row.kind in packings.LIKE_GGUF:
        if 4 <= packing.bits < 6:
            return "q4_legacy"
        return "k"
    if packing.tool == "MX":
        return "fp4"
    return "int4"


UNQUANTIZED = "unquantized"  # category of tensors that stay in plain floats whatever the format
KEPT_ROLES = frozenset({"ffn_gate_inp", "position_embd", "ssm_conv1d"})
"""Matrices that llama.cpp never quantizes: routers, learned positions, short convolutions."""
VALUES = "attn_v"  # category of attention values
VALUE_ROLES = frozenset({"attn_v", "attn_qkv", "attn_kv_b"})
"""Roles that carry attention values, which suffer most and share one category, `VALUES`."""
FEED_FORWARD = ("ffn_down", "ffn_gate", "ffn_up")
"""Feed-forward categories; dense, shared and routed experts all belong to them."""
FALLBACKS: Mapping[str, str] = {
    **dict.fromkeys(("Q2_K", "Q3_K", "TQ1_0", "TQ2_0"), "Q4_0"),
    "Q4_K": "Q5_0",
    "Q5_K": "Q5_1",
    "Q6_K": "Q8_0",
    **dict.fromkeys(
        ("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_XS"), "IQ4_NL"
    ),
}
"""Type of 32-weight blocks that replaces one of 256 where rows are no multiple of 256."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageType:
    """Packing of a tensor's weights: a row of `data/models/quants.csv`."""

    name: str  # name in GGUF or in the tool of the checkpoint
    family: str  # `gguf`, `safetensors`, or `any` where both store it alike
    block_weights: int  # weights packed together
    block_bytes: float  # bytes of such a block, its scales included [B]
    bits_per_weight: float  # bits per weight, scales included [bit]
    decode_class: str  # types that cost a processor about the same to unpack
    source: str  # documentation of the layout
    source_date: str  # date of that source
    note: str  # remarks

    @staticmethod
    @cache
    def by_name() -> "Mapping[str, StorageType]":
        """Storage types of tensors by name."""
        return {row.name: row for row in read(DATA / "models/quants.csv", StorageType)}

    def bytes_of(self, tensor: Tensor) -> float:
        """Bytes of a tensor in this type, its scales included [B]."""
        return tensor.params / self.block_weights * self.block_bytes


def category(tensor: Tensor, tied: bool) -> str:
    """Kind of tensor that recipes speak of (llama.cpp, `tensor_get_category`).

    A token table that doubles as output head is treated as the head.
    """
    if tensor.rows == 1 or tensor.role in KEPT_ROLES or tensor.role.endswith((".bias", "_norm")):
        return UNQUANTIZED
    if tensor.role in ("token_embd", "per_layer_token_embd"):
        if tied:
            return "output"
        return "token_embd"
    if tensor.role in VALUE_ROLES:
        return VALUES
    part = (prefix for prefix in FEED_FORWARD if tensor.role.startswith(prefix))
    return next(part, tensor.role)


def heads_per_value_head(tensors: Iterable[Tensor]) -> float:
    """Number of query heads that share a value head (llama.cpp's `n_gqa`); 1 where it is unknown.

    The output projection is as wide as all query heads, the value projection as tall as all value
    heads, so their ratio needs no head size.
    """
    by_layer: dict[int | None, dict[str, Tensor]] = {}
    for tensor in tensors:
        by_layer.setdefault(tensor.layer, {})[tensor.role] = tensor
    for layer in by_layer.values():
        if "attn_output" in layer and "attn_v" in layer:
            return layer["attn_output"].width / layer["attn_v"].rows
    for layer in by_layer.values():
        if "attn_output" in layer and "attn_qkv" in layer:
            width = layer["attn_output"].width
            return 2 * width / (layer["attn_qkv"].rows - width)
    return 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class RecipeTraits:
    """Traits of an architecture's tensors that recipes ask for, which are the same in all
    formats.
    """

    keys: tuple[tuple[str, str], ...]  # role and category of each tensor
    positions: tuple[int, ...]  # layer of each tensor; of attention values, their rank among these
    values: int  # number of attention values
    gqa: float  # query heads that share a value head


@lru_cache(maxsize=64)
def _recipe_traits(architecture: Architecture) -> RecipeTraits:
    alike = {(tensor.role, tensor.rows == 1): tensor for tensor in architecture.tensors}
    kinds = {key: category(tensor, architecture.tied) for key, tensor in alike.items()}
    categories = [kinds[tensor.role, tensor.rows == 1] for tensor in architecture.tensors]
    # One pair for all tensors alike: a pair of each took a sixth of what a model occupies.
    pairs = {key: (key[0], kind) for key, kind in kinds.items()}
    return RecipeTraits(
        keys=tuple(pairs[tensor.role, tensor.rows == 1] for tensor in architecture.tensors),
        positions=tuple(_positions(architecture, categories)),
        values=categories.count(VALUES),
        gqa=heads_per_value_head(architecture.tensors),
    )


def _positions(architecture: Architecture, categories: Sequence[str]) -> Iterator[int]:
    """Layer of each tensor; for attention values, their rank among these."""
    ranks = count()
    for tensor, kind in zip(architecture.tensors, categories, strict=True):
        yield next(ranks) if kind == VALUES else tensor.layer or 0


def _rules_for(role: str, kind: str, form: Format) -> tuple[RecipeRow, ...]:
    if kind == UNQUANTIZED:
        return tuple(rule for rule in form.rules if rule.role == UNQUANTIZED)
    names = (kind,) if kind == "output" else (kind, role)
    return tuple(rule for rule in form.rules if any(fnmatchcase(name, rule.role) for name in names))


def _holds(rule: RecipeRow, place: Place) -> bool:
    return all(CONDITIONS[condition](place) for condition in rule.when.split("&"))


def _refusal(architecture: Architecture, form: Format, tensor: Tensor) -> Refusal:
    if architecture.experts:
        dense = ""
    else:
        dense = " (a model without experts)"
    return Refusal(
        f"{form.name} does not fit {architecture.name}{dense}: it says nothing about its "
        f"{tensor.role} tensors. Choose another format, such as Q4_K_M or BF16."
    )


def _fitting(wanted: StorageType, tensor: Tensor) -> StorageType:
    """Storage type that is wanted, or llama.cpp's substitute for rows that do not divide into
    blocks.
    """
    if wanted.family != "gguf" or tensor.width % wanted.block_weights == 0:
        return wanted
    fallback = _storage_type(FALLBACKS.get(wanted.name, "F16"))
    if tensor.width % fallback.block_weights == 0:
        return fallback
    return _storage_type("F16")


def _storage_type(name: str) -> StorageType:
    types = StorageType.by_name()
    packed = None if name in types else _packed_type(name)
    if packed is not None:
        return packed
    if name not in types:
        raise UnknownName(
            "storage type", name, types, "See data/models/quants.csv for all of them."
        )
    return types[name]


# Formats by spelling: `UD-Q4_K_XL`, `q4_K_M`, `4bit`, `w4a16`, `Q4_K - Medium`.
#
# Recognised are the names of data/models/recipes.csv, the spellings of
# data/models/format_spellings.csv, and both with prefixes and suffixes of packers (`i1-`, `UD-`,
# `-dynamic`, `_R4`). Bits are never guessed: for an unknown spelling, similar formats are offered.

LETTERS = {"small": "s", "medium": "m", "large": "l", "mini": "s"}
LABEL = re.compile(r"^(i?q\d(?:_k)?)[ _]*[-(]?[ _]*(small|medium|large|mini)\)?$")
"""`Q4_K - Medium` and `Q4_K (medium)`, as llama.cpp prints file types."""
AROUND = re.compile(
    r"^(?:ud|i1|smol|gguf|full|native|moe|~)[_ ]*|"
    r"[_ ]*(?:dynamic|static|block|channel|tensor|r4|r8|gguf|imatrix|ct|g32|g64|g128)$"
)
BITS = re.compile(r"^(?:exl[23])?[_ ]*(\d+(?:\.\d+)?)[_ ]*(?:bpw|bits?)(?:[_ ].*)?$")


@cache
def _by_spelling() -> Mapping[str, str]:
    """Names of formats by their joined names and spellings."""
    plain = {name.casefold().replace("-", "_"): name for name in Format.by_name()}
    spelled = texts("models/format_spellings.csv", "spelling", "format")
    all_spellings = {**spelled, **plain}
    joined = {spelling.replace("_", ""): name for spelling, name in all_spellings.items()}
    return {**joined, **all_spellings}


def _packing_meant(text: str, plain: str) -> Packing | None:
    """Packing of a text that is its name, or that states bits of EXL2 or EXL3."""
    packing = packing_named(text) or packing_named(plain)
    if packing is None:
        return None
    exact = packing.name.casefold() == text.strip().casefold()
    if exact or packing.row.ends == packings.HEAD:
        return packing
    return None


def _of_bits(plain: str) -> str | None:
    """Format with about the stated bits per weight: `4.0bpw`, `exl3_6.0bpw`."""
    bits = BITS.match(plain)
    if bits is None or float(bits[1]) > max(Format.BITS.values()):
        return None
    return min(Format.BITS, key=lambda name: abs(Format.BITS[name] - float(bits[1])))


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
    """Spellings without `_xl` or `_l`, which keep embedding and head in more bits."""
    for end in ("_xl", "_l", "_m", "_s", "_xs", "_xxs"):
        if plain.endswith(end):
            stem = plain.removesuffix(end)
            yield f"{stem}_m"
            yield stem
            yield f"{stem}_0"
