"""A model by the shapes of its tensors, where its config.json alone does not tell them.

Files in safetensors begin with a list of their tensors [1], so the weights of a family that nobody
described, or of a kind of layer that nobody knows, are counted exactly. What a layer keeps of the
past follows from its projections: keys and values have the rows of theirs; a layer without them
keeps a state, counted as wide as its output times a head, as gated DeltaNet and Mamba-2 do.

References:
    [1] https://huggingface.co/docs/safetensors (format: 8 bytes of length, then JSON).
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate

from advisor.catalog.csv_tables import texts
from advisor.errors import InputError, Refusal
from advisor.model.architecture import Architecture, Experts, Group, LayerCache, Tensor
from advisor.model.config.layer_types import WORDS
from advisor.model.config.values import MAX_LAYERS, Config

MOST_TENSORS = 500_000  # tensors of a model whose experts are apart
PLAIN = ("F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2")
"""Types that hold one weight a number; others pack several."""
LAYER = re.compile(r"(.*?)(?:^|\.)(?:layers|h|blocks|block|layer)\.(\d{1,4})\.(.+)")
SUFFIX = re.compile(r"(.+)\.(weight|bias)")
EXPERT = re.compile(r"(^|\.)experts\.(\d{1,5})\.")
SCALES = re.compile(r"(scale|scale_inv|scales|zeros|zero_point|amax)$")
"""Ends of the names of numbers beside packed or rounded weights."""
TOWER = re.compile(
    r"vision|visual|audio|image|tower|multi_?modal|mm_|speech|talker|code2wav|projector", re.I
)
"""Words of the parts that read images or sound."""
DRAFTS = re.compile(r"(^|\.)(mtp|nextn|eagle|draft)", re.I)  # words of the parts that draft
TABLES = re.compile(r"n_?gram|engram|per_layer_emb|embed_tokens_per_layer", re.I)
"""Words of tables beside that of tokens, of which a token reads a row or a few."""
FUSED = {"gate_up_proj": "ffn_gate_up", "w13": "ffn_gate_up"}
"""Matrices of gate and up in one, as llama.cpp names them."""
BY_WORDS = (
    (re.compile(r"(^|[._])shared"), Group.SHARED_EXPERTS),
    (re.compile(r"experts"), Group.ROUTED_EXPERTS),
    (re.compile(r"router|(mlp|moe|ffn|feed_forward)\.gate$"), Group.ROUTER),
    (re.compile(r"norm|(^|\.)ln_?\d?"), Group.NORMS),
    (re.compile(r"mlp|moe|ffn|feed_forward|fc\d"), Group.DENSE_FFN),
)
"""Purpose of a tensor by the words of its module; that of a token mixer where none fits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredTensor:
    """Tensor as the header of a file lists it."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def params(self) -> int:
        """Numbers that it holds."""
        return math.prod(self.shape)


def header_tensors(header: bytes, where: str) -> Iterator[StoredTensor]:
    """Tensors of the JSON header of a safetensors file.

    Raises:
        InputError: no such header.
    """
    try:
        listed = json.loads(header)
        for name, told in listed.items():
            if name != "__metadata__":
                shape = tuple(map(_length, told["shape"]))
                yield StoredTensor(name=str(name), dtype=str(told["dtype"]), shape=shape)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{where} is no file in safetensors. Give the model's own files."
        ) from error


def _length(value: object) -> int:
    """Length of a side of a tensor; ValueError for none."""
    length = int(str(value))
    if length < 0:
        raise ValueError(value)
    return length


def as_text(stored: Iterable[StoredTensor]) -> str:
    """Shapes as one line of JSON.

    Equal experts of a layer are one entry with their number, and equal layers one with their
    numbers: `layers.0-2.mlp.up_proj.weight`.
    """
    stacked: dict[str, list[object]] = {}
    for tensor in stored:
        name = EXPERT.sub(r"\1experts.0.", tensor.name)
        if name in stacked:
            stacked[name][0] = int(str(stacked[name][0])) + 1
        else:
            stacked[name] = [1, tensor.dtype, list(tensor.shape)]
    alike: dict[tuple[str, str], list[int]] = defaultdict(list)
    for name, told in stacked.items():
        match = LAYER.fullmatch(name)
        number = int(match[2]) if match else 0
        alike[_numberless(name, match), json.dumps(told)].append(number)
    together = {
        name.replace(NUMBERS, _as_ranges(numbers)): json.loads(told)
        for (name, told), numbers in alike.items()
    }
    return json.dumps(together, separators=(",", ":"))


NUMBERS = "\0"  # place of the numbers of layers in a name
RANGES = re.compile(r"(?<=\.)\d+(?:[-,]\d+)+(?=\.)")


def _numberless(name: str, match: re.Match[str] | None) -> str:
    if match is None:
        return name
    return f"{name[: match.start(2)]}{NUMBERS}{name[match.end(2) :]}"


def _as_ranges(numbers: Sequence[int]) -> str:
    """Numbers in order as `0-2,5`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ",".join("-".join(map(str, part)) for part in parts)


def _of_ranges(text: str) -> Iterator[int]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def from_text(text: str) -> tuple[StoredTensor, ...]:
    """Shapes that `as_text` wrote; stacked experts as one tensor of more dimensions."""
    return tuple(
        StoredTensor(name=name, dtype=dtype, shape=(number, *shape) if number > 1 else tuple(shape))
        for alike, (number, dtype, shape) in json.loads(text).items()
        for name in _names(alike)
    )


def _names(alike: str) -> Iterator[str]:
    """Names of layers that are written as one."""
    ranges = RANGES.search(alike)
    if ranges is None:
        yield alike
        return
    for number in _of_ranges(ranges[0]):
        yield f"{alike[: ranges.start()]}{number}{alike[ranges.end() :]}"


class _Parts:
    """Tensors by use."""

    def __init__(self, config: Config, first: Mapping[str, int]) -> None:
        self.config = config
        self.first = first  # first layer of each stack of layers, by what stands before its names
        self.by_layer: dict[int, dict[str, Tensor]] = defaultdict(dict)  # by role
        self.outside: list[Tensor] = []
        self.tower = 0  # weights of encoders
        self.drafting: set[str] = set()  # layers that draft
        self.unnamed: set[str] = set()  # modules of token mixers that no table of names has
        self._most = config.whole("layers", high=MAX_LAYERS) or MAX_LAYERS

    def add(self, tensor: StoredTensor) -> None:
        """Sort a tensor in; raises Refusal where weights are packed."""
        if SCALES.search(tensor.name):
            return
        if tensor.dtype not in PLAIN:
            raise Refusal(
                f"{self.config.name} stores {tensor.name[:60]} as {tensor.dtype[:12]}, several "
                "weights in a number, and its layers are not known here. Give the repository of "
                "its unpacked weights, or its GGUF file."
            )
        match = LAYER.fullmatch(tensor.name)
        if TOWER.search(match[1] if match else tensor.name):
            self.tower += tensor.params
        elif DRAFTS.search(tensor.name):
            self.drafting.add(match[2] if match else "")
        elif match is None:
            self.outside.append(_outside(tensor))
        elif len(self.first) == 1 and int(match[2]) >= self._most:
            self.drafting.add(match[2])
        else:
            self._add_within(match, tensor)

    def _add_within(self, match: re.Match[str], tensor: StoredTensor) -> None:
        layer = self.first[match[1]] + int(match[2])
        made, named = _layer_tensor(self.config, match, tensor, layer)
        _add(self.by_layer[layer], made)
        if not named:
            self.unnamed.add(match[3].split(".")[0])

    @property
    def layers(self) -> tuple[Mapping[str, Tensor], ...]:
        """Tensors of each repeating layer, by role; raises Refusal where there are none."""
        count = max(self.by_layer, default=-1) + 1
        if not count or len(self.by_layer) < count:
            raise Refusal(
                f"{self.config.name} has no repeating layers among its tensors, or not all."
            )
        return tuple(_with_latent_parts(self.config, self.by_layer[at]) for at in range(count))


def describe_shapes(config: Config, stored: Sequence[StoredTensor]) -> Architecture:
    """Architecture of a model by its tensors, with the sizes that its config.json states.

    Raises:
        Refusal: packed weights, or no repeating layers.
    """
    parts = _Parts(config, _stacks(stored))
    for tensor in stored:
        parts.add(tensor)
    layers = parts.layers
    cache = tuple(_cache(config, at, roles, len(layers)) for at, roles in enumerate(layers))
    if not any(layer.key_values for layer in cache) and _attends(config, stored):
        cache = (_usual_cache(config),) * len(layers)
    table = next((each for each in parts.outside if each.role == "token_embd"), None)
    if table is None:
        raise Refusal(f"{config.name} has no table of tokens among its tensors.")
    tensors = (*(each for roles in layers for each in roles.values()), *parts.outside)
    return Architecture(
        name=config.name,
        layers=len(layers),
        hidden=table.width,
        vocab=table.rows,
        tied=not any(each.role == "output" for each in parts.outside),
        max_context=config.whole("max_context") or None,
        tensors=tensors,
        cache=cache,
        attention_values=tuple(
            _attention_values(config, roles, kept)
            for roles, kept in zip(layers, cache, strict=True)
        ),
        experts=_experts(config, tensors),
        source=f"config.json and tensors of {config.name}",
        head_dim=_head_dim(config),
        draft_layers=len(parts.drafting - {""}),
        tower=parts.tower,
        unknown_kinds=unknown_kinds(config, parts.unnamed),
    )


def _with_latent_parts(config: Config, roles: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """Layer whose matrix from the latent values to keys and values is in two, as it is used."""
    joined = roles.get("attn_k_b")
    heads = config.whole("heads")
    key = config.whole("qk_nope_dim")
    if joined is None or not heads or heads * key >= joined.rows:
        return roles
    values = joined.rows - heads * key
    parts = {
        "attn_k_b": replace(joined, rows=heads * joined.width, width=key),
        "attn_v_b": replace(joined, role="attn_v_b", rows=values),
    }
    return {**roles, **parts}


def _stacks(stored: Iterable[StoredTensor]) -> Mapping[str, int]:
    """First layer of each stack of a model that has several, one after another."""
    counts: dict[str, int] = {}
    for tensor in stored:
        match = LAYER.fullmatch(tensor.name)
        if match and not TOWER.search(match[1]) and not DRAFTS.search(tensor.name):
            counts[match[1]] = max(counts.get(match[1], 0), int(match[2]) + 1)
    return dict(zip(counts, accumulate(counts.values(), initial=0), strict=False))


def unknown_kinds(config: Config, unnamed: Iterable[str] = ()) -> tuple[str, ...]:
    """Words for the kinds of layers that no description has.

    They are words of `layer_types`, modules that no table has, the class of the model's own code,
    or its family.
    """
    known = WORDS.of_kind("layer")
    words = tuple(word for word in _words(config) if word not in known)
    own = config.values.get("auto_map")
    code: tuple[str, ...] = ()
    if isinstance(own, Mapping):
        code = tuple(str(name).rpartition(".")[2] for name in own.values() if "LM" in str(name))
    kinds = tuple(dict.fromkeys((*words, *sorted(unnamed), *code[:1])))
    return tuple(_printable(word) for word in kinds or (str(config.values.get("model_type")),))


def _printable(word: str) -> str:
    return "".join(filter(str.isprintable, word))[:40]


def _words(config: Config) -> tuple[str, ...]:
    value = config.values.get("layer_types")
    if isinstance(value, list) and len(value) <= MAX_LAYERS:
        return tuple(dict.fromkeys(str(word) for word in value))
    return ()


def _add(roles: dict[str, Tensor], made: Tensor) -> None:
    """Add a tensor to its layer: one more expert, or one of its own."""
    known = roles.get(made.role)
    if known is None:
        roles[made.role] = made
    elif made.group is Group.ROUTED_EXPERTS and known.width == made.width:
        roles[made.role] = replace(known, rows=known.rows + made.rows)
    else:
        number = sum(role.startswith(made.role) for role in roles)
        roles[f"{made.role}_{number}"] = replace(made, role=f"{made.role}_{number}")


def _shaped(tensor: StoredTensor) -> tuple[int, int]:
    """Rows and width; a vector is one row."""
    *rows, width = tensor.shape or (1,)
    return math.prod(rows), width


def _stacked(role: str, tensor: StoredTensor, hidden: int) -> tuple[int, int]:
    """Rows and width of experts in one tensor, whose matrices may lie on their side."""
    number, first, second = tensor.shape
    inputs_first = first == hidden and second != hidden
    if inputs_first != role.startswith("ffn_down"):
        return number * second, first
    return number * first, second


@cache
def _roles() -> Mapping[str, str]:
    """Roles by the module that has them in files of safetensors."""
    roles: dict[str, str] = {}
    for role, modules in texts("models/module_names.csv", "role", "modules").items():
        for module in modules.split():
            roles.setdefault(module, role)
    return roles


def _layer_tensor(
    config: Config, match: re.Match[str], tensor: StoredTensor, layer: int
) -> tuple[Tensor, bool]:
    """Tensor of a layer, and whether its kind is clear, so that it does not make the layer an
    unknown one.
    """
    rows, width = _shaped(tensor)
    path = match[3]
    matched = SUFFIX.fullmatch(path)
    module = EXPERT.sub(r"\1experts.0.", matched[1] if matched else path)
    role = _role(module)
    named = role is not None
    group = Group.in_layer(role) if role else None
    if group is None:
        group = _by_words(module)
    if group is Group.ATTENTION and (rows == 1 or "conv" in module):
        named = True  # vectors and short convolutions say nothing of a kind
    role = role or _own_role(module, group)
    if group is Group.ROUTED_EXPERTS and len(tensor.shape) == 3:
        rows, width = _stacked(role, tensor, config.whole("hidden"))
    if matched and matched[2] == "bias":
        role = f"{role}.bias"
    made = Tensor(role=role, group=group, layer=layer, rows=rows, width=width)
    return made, named or group is not Group.ATTENTION


def _role(module: str) -> str | None:
    """Role of a module by the longest end of its name that a table has."""
    parts = module.split(".")
    fused = FUSED.get(parts[-1])
    if fused:
        return f"{fused}{_experts_end(module)}"
    for start in range(len(parts)):
        role = _roles().get(".".join(parts[start:]))
        if role is not None:
            return role
    return None


def _experts_end(module: str) -> str:
    if "shared" in module:
        return "_shexp"
    if "experts" in module:
        return "_exps"
    return ""


def _by_words(module: str) -> Group:
    return next((group for pattern, group in BY_WORDS if pattern.search(module)), Group.ATTENTION)


PREFIXES = {Group.ATTENTION: "attn", Group.DENSE_FFN: "ffn", Group.NORMS: "attn_norm"}


def _own_role(module: str, group: Group) -> str:
    """Role of a module that no table has: its name, in the manner of llama.cpp."""
    name = re.sub(r"\W+", "_", module)
    if group is Group.NORMS:
        return f"{name}_norm"
    if group is Group.ROUTER:
        return "ffn_gate_inp"
    if group is Group.ROUTED_EXPERTS:
        return f"ffn_{name}_exps"
    return f"{PREFIXES.get(group, 'ffn')}_{name}"


def _outside(tensor: StoredTensor) -> Tensor:
    """Tensor outside of the layers."""
    rows, width = _shaped(tensor)
    module = tensor.name.removesuffix(".weight").removesuffix(".bias")
    role = _role(module)
    if role is None and TABLES.search(module):
        role = Tensor.LAYER_TABLES
    if role is None:
        role = "output_norm" if rows == 1 else "output_other"
    group = Group.outside(role)
    if role not in ("token_embd", "output", Tensor.LAYER_TABLES):
        group = Group.NORMS if rows == 1 else group
    return Tensor(role=role, group=group, layer=None, rows=rows, width=width)


def _cache(config: Config, layer: int, roles: Mapping[str, Tensor], layers: int) -> LayerCache:
    """Cache of a layer, by its projections."""
    index = roles["indexer.attn_k"].rows if "indexer.attn_k" in roles else 0
    if "attn_kv_a_mqa" in roles:
        return LayerCache(key_values=roles["attn_kv_a_mqa"].rows + index)
    if SHARED_KEY in roles and config.states("compress_ratios"):
        return _compressed_cache(config, layer, roles)
    window = _window(config, layer, layers)
    if "attn_k" in roles:
        keys = roles["attn_k"].rows
        values = roles["attn_v"].rows if "attn_v" in roles else keys
        return LayerCache(key_values=keys + index, value_values=values, window=window)
    joined = roles.get("attn_qkv")
    heads = config.whole("kv_heads") or config.whole("heads")
    if joined is not None and heads and "attn_gate" not in roles:
        keys = heads * _head_dim(config)
        return LayerCache(key_values=keys, value_values=keys, window=window)
    return LayerCache(state_values=_state(config, roles))


SHARED_KEY = "attn_kv"  # a projection whose output is key and value of all heads


def _compressed_cache(config: Config, layer: int, roles: Mapping[str, Tensor]) -> LayerCache:
    """Cache with one key for all heads, compressed behind a window, as DeepSeek-V4's; with index
    keys where the layer has an index.
    """
    listed = config.numbers("compress_ratios")
    compresses = any("compressor" in role and "index" not in role for role in roles)
    indexed = any("index" in role for role in roles)
    window = config.whole("window") or config.whole("max_context") or 0
    return LayerCache.compressed(
        roles[SHARED_KEY].rows,
        listed[layer] if compresses and layer < len(listed) else 0,
        window,
        config.whole("index_dim") if indexed else 0,
    )


STATES = re.compile(
    r"mamba|ssm|rwkv|linear|delta|conv|state|recurr|lru|gla|retention|memory|mixer", re.I
)
"""Words of the modules of layers that keep a state."""


def _attends(config: Config, stored: Iterable[StoredTensor]) -> bool:
    """Whether layers whose projections no table names look back: heads are stated, and no module
    is named by a state.
    """
    heads = config.whole("kv_heads") or config.whole("heads")
    modules = (match[3] for tensor in stored if (match := LAYER.fullmatch(tensor.name)))
    mixers = (module for module in modules if not TOWER.search(module) and "weight" in module)
    return heads > 0 and not any(STATES.match(module.split(".")[0]) for module in mixers)


def _usual_cache(config: Config) -> LayerCache:
    """Keys and values of the stated heads."""
    values = (config.whole("kv_heads") or config.whole("heads")) * _head_dim(config)
    return LayerCache(key_values=values, value_values=values)


def _window(config: Config, layer: int, layers: int) -> int | None:
    """Tokens that a layer sees; None for all."""
    words = config.values.get("layer_types")
    size = config.whole("window")
    if not size or not isinstance(words, list) or len(words) < layers:
        return None
    word = str(words[layer])
    narrow = WORDS.of_kind("layer").get(word) == "W" or re.search(r"slid|window|local|chunk", word)
    if narrow:
        return size
    return None


def _state(config: Config, roles: Mapping[str, Tensor]) -> int:
    """Values of a state: the inputs of the layer's output times the values of a head."""
    inner = [
        tensor.width
        for role, tensor in roles.items()
        if tensor.group is Group.ATTENTION and tensor.rows > 1 and "out" in role
    ]
    return max(inner, default=0) * _head_dim(config)


def _head_dim(config: Config) -> int:
    stated = config.whole("head_dim")
    heads = config.whole("heads")
    if stated or not heads:
        return stated or Architecture.COMMON_HEAD
    return (config.whole("hidden") // heads) or Architecture.COMMON_HEAD


def _attention_values(config: Config, roles: Mapping[str, Tensor], kept: LayerCache) -> int:
    """Query heads times the values of a key and a value."""
    if not kept.key_values:
        return 0
    if not kept.value_values:
        return config.whole("heads") * 2 * kept.key_values
    output = roles.get("attn_output")
    if output is not None:
        return 2 * output.width
    return 2 * config.whole("heads") * _head_dim(config)


def _experts(config: Config, tensors: Iterable[Tensor]) -> Experts | None:
    """Routed experts by the config.json; all are used where it does not say how many."""
    if not any(tensor.group is Group.ROUTED_EXPERTS for tensor in tensors):
        return None
    total = config.whole("experts")
    used = config.whole("experts_per_token")
    if not 1 <= used <= total:
        raise Refusal(
            f"{config.name} has routed experts, and its config.json does not say how many of them "
            "a token uses. Its GGUF file would."
        )
    return Experts(total=total, used=used)
