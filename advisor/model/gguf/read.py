"""A model exactly as its GGUF files hold it: their own tensors, types and bytes.

Only headers are read, so the beginning of a file is enough (`head -c 64M model.gguf`), and a file
on a server costs a few requests.

Reference: ggml-org/llama.cpp, src/llama-model-loader.cpp and include/llama.h (`llama_ftype`), read
2026-11-21.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from advisor.catalog.csv_tables import DATA, read, texts
from advisor.errors import InputError, Refusal
from advisor.model.architecture import Architecture, Experts, Group, LayerCache, Tensor
from advisor.model.build import Mixing
from advisor.model.formats import StorageType
from advisor.model.gguf.header import Header, Part, TensorInfo, Value, brief, prefix, read_header
from advisor.model.gguf.shards import (
    TensorName,
    cut_short,
    joined,
    named,
    numbered,
    opened,
    part_paths,
    storage_type,
    stored_bytes,
    tensor,
)
from advisor.model.model import Described, Model
from advisor.units import GIB

# Architectures that GGUF files name, and what llama.cpp knows of their attention beside the file
# (src/llama-arch.cpp; `load_arch_hparams` in src/llama-model.cpp and src/models/*.cpp).


@dataclass(frozen=True, kw_only=True, slots=True)
class GgufArchitecture:
    """One row of data/models/gguf_architectures.csv: the cache and states of an architecture."""

    architecture: str  # `general.architecture` of its files
    refused: str  # what it is and why it is not described; empty where it is
    latent: bool = False  # latent attention (MLA), whose cache llama.cpp keeps latent
    bare_layers: bool = False  # some layers keep nothing of the past
    shares_cache: bool = False  # the last layers reuse an earlier layer's cache
    # how many first layers have a cache of their own where the file does not say; None for all
    caching_layers: int | None
    # layers of which one has no window; 0 where the file lists them, -1 where every attention layer
    # has one, if any; None for no windows
    period: int | None
    full_first: bool = False  # the layer without is the first of each period; else the last
    # window where the file names none; 0 for no windows then, None where a file must name it
    # [tokens]
    window: int | None
    fixed_window: int = 0  # window whatever the file says; 0 for the file's [tokens]
    windowed_depth: int = 0  # layers of the only size that has windows; 0 for all sizes


@cache
def architectures() -> Mapping[str, GgufArchitecture]:
    """Architectures by name; attention of those without a period sees everything."""
    rows = read(DATA / "models/gguf_architectures.csv", GgufArchitecture)
    return {row.architecture: row for row in rows}


def traits_of(name: str, header: Header) -> GgufArchitecture:
    """Architecture of a file; the file's own keys describe an unknown one.

    Raises:
        Refusal: it is no language model.
    """
    row = architectures().get(name)
    if row is None:
        return _by_keys(name, header)
    if row.refused:
        raise Refusal(f"{name} is {row.refused}. Give a language model's file.")
    return row


def _by_keys(name: str, header: Header) -> GgufArchitecture:
    """What the keys of a file tell of an architecture that nobody described: latent attention by
    its rank, windows where their layers are listed. Layers without attention may be of any kind.
    """
    rank = header.values.get(f"{name}.attention.kv_lora_rank")
    listed = header.values.get(f"{name}.attention.sliding_window_pattern")
    return GgufArchitecture(
        architecture=name,
        refused="",
        latent=bool(rank),
        bare_layers=True,
        caching_layers=None,
        period=0 if isinstance(listed, tuple) else None,
        window=0,
    )


# Keys of a GGUF header, read with checks and remembered as facts.

LARGEST = 2**31  # no count of heads, layers, experts or tokens comes near it


class Keys:
    """Metadata of one architecture; values that were read are kept in `facts`."""

    def __init__(self, header: Header, traits: GgufArchitecture) -> None:
        self.traits = traits
        self.architecture = traits.architecture
        self.facts: dict[str, str] = {}
        self._header = header

    def find(self, key: str) -> Value | None:
        """The value of an architecture's key, None where it is missing."""
        name = f"{self.architecture}.{key}"
        value = self._header.values.get(name)
        if value is not None:
            self.facts[name] = brief(value)
        return value

    def number(self, key: str, default: int | None = None) -> int:
        """A whole number of 0 or more."""
        value = self.find(key)
        if value is None:
            if default is None:
                raise InputError(
                    f"{self._header.name} lacks the key {self.architecture}.{key}, without which "
                    "its size cannot be told. Download a newer conversion."
                )
            return default
        return self._whole(key, value)

    def per_layer(self, key: str, layers: int, default: int | None) -> tuple[int, ...]:
        """Whole number for each layer; a single number counts for all."""
        value = self.find(key)
        if not isinstance(value, tuple):
            return (self.number(key, default),) * layers
        if len(value) < layers:
            raise InputError(
                f"{self._header.name}: {self.architecture}.{key} has {len(value)} entries for "
                f"{layers} layers. Download a newer conversion."
            )
        return tuple(self._whole(key, entry) for entry in value[:layers])

    def unread(self) -> tuple[str, ...]:
        """Keys of the architecture that were not read and may change its cache or reads.

        They are numbers under keys that llama.cpp has for these, or does not know. What its known
        keys change in a described architecture is in the row of that.
        """
        start = f"{self.architecture}."
        own = (name for name, value in self._header.values.items() if _counts(value))
        keys = (name.removeprefix(start) for name in own if name.startswith(start))
        unread = (key for key in keys if f"{start}{key}" not in self.facts)
        described = self.architecture in architectures()
        return tuple(key for key in unread if _may_change(key, described))

    def _whole(self, key: str, value: Value) -> int:
        if not isinstance(value, int) or not 0 <= value <= LARGEST:
            raise InputError(
                f"{self._header.name}: {self.architecture}.{key} is {brief(value)}; a whole "
                f"number up to {LARGEST:,} is allowed. The file is damaged."
            )
        return int(value)


HARMLESS = ("rope.", "tokenizer.")
"""Beginnings of keys of positions and words, which change neither cache nor reads."""


@cache
def known_keys() -> Mapping[str, str]:
    """What known keys of an architecture change; empty for neither cache nor reads."""
    return texts("models/gguf_keys.csv", "key", "changes")


def _may_change(key: str, described: bool) -> bool:
    """Whether a key that was not read may change the cache or what is read."""
    if key.startswith(HARMLESS):
        return False
    if key not in known_keys():
        return True
    return bool(known_keys()[key]) and not described


def _counts(value: Value) -> bool:
    """Whether a value is a number, or a list of them, that is not zero."""
    if isinstance(value, tuple):
        return any(map(_counts, value))
    return isinstance(value, int) and value != 0


# Cache of each layer of a GGUF model, by the keys that llama.cpp reads.
#
# Which layers see a window follows the architecture's row in gguf_architectures.csv; which are
# recurrent follows from the tensors they have.
#
# References:
#     [1] ggml-org/llama.cpp, src/llama-model.cpp and src/models/*.cpp (`load_arch_hparams`), read
#         2026-11-21.
#     [2] ggml-org/llama.cpp, src/llama-hparams.cpp (`set_swa_pattern`, `n_embd_k_gqa`, `n_embd_r`,
#         `n_embd_s`, `has_kv`).
#     [3] DeepSeek-AI 2024, DeepSeek-V2, arXiv:2405.04434, section 2.1.3 (latent cache).
#     [4] ggml-org/llama.cpp, src/models/deepseek4.cpp at 00395eb28 and src/llama-kv-cache-dsv4.cpp
#         at 035aa95b0 (one key for all heads, kept compressed behind a window).

LOOKS_BACK = frozenset({"attn_q", "attn_qkv", "attn_q_a", "attn_kv_a_mqa"})
COMPRESSOR = "attn_compressor_kv"  # projection of the entries of a compressed cache [4]
SHARED_KEY = "attn_kv"  # one projection whose output is key and value of all heads [4]
INDEXED = frozenset({"indexer.attn_k", "indexer.k_proj", "indexer_compressor_kv"})
DELTA_NET = frozenset({"ssm_beta", "ssm_alpha", "ssm_ba"})
NO_GROUPS = frozenset({"mamba", "jamba"})
"""Mamba of the first generation: B and C do not pass through the convolution."""
RANKING = 4  # `pooling_type` of models that score answers; others above 0 make vectors (llama.h)


def memory(keys: Keys, roles: Sequence[frozenset[str]], hidden: int) -> tuple[Mixing, ...]:
    """Cache and attention of each layer, without its weights."""
    layers = len(roles)
    windows = _windows(keys, layers)
    caching = layers - _sharing(keys, layers)  # the last ones reuse the cache of an earlier layer
    if any(SHARED_KEY in has for has in roles):
        return _shared_keys(keys, roles)
    if any(has & INDEXED for has in roles):
        keys.find("attention.compress_ratios")  # blocks of keys, pooled anew and not kept
    attention = _Attention(keys, layers, hidden)
    memories = []
    for layer, has in enumerate(roles):
        cache = LayerCache(state_values=_state(keys, has, hidden))
        attended = 0
        if _attends(has):
            windowed = windows[layer] is not None
            key_values, value_values, attended = attention.layer(layer, has, windowed)
            cache = replace(cache, window=windows[layer])
            if layer < caching:
                cache = replace(cache, key_values=key_values, value_values=value_values)
        elif not cache.state_values and not keys.traits.bare_layers:
            raise Refusal(
                f"Layer {layer} of this {keys.architecture} has neither attention nor a state "
                "under the names that are known, so what it keeps of the past is not understood. "
                "Choose another conversion."
            )
        memories.append(Mixing(cache=cache, attention_values=attended))
    return tuple(memories)


def _shared_keys(keys: Keys, roles: Sequence[frozenset[str]]) -> tuple[Mixing, ...]:
    """Cache and attention of layers with one key for all heads, which serves as the value, too.

    Each layer keeps a window. A layer with a compressor keeps an entry for each `ratio` tokens
    before it, and chooses among them by an index where it has one [4].
    """
    layers = len(roles)
    size = keys.number("attention.key_length")
    heads = keys.per_layer("attention.head_count", layers, 0)
    ratios = keys.per_layer("attention.compress_ratios", layers, 0)
    window = keys.number("attention.sliding_window")
    index = keys.number("attention.indexer.key_length", 0)
    index_heads = keys.number("attention.indexer.head_count", 0)
    memories = []
    for layer, has in enumerate(roles):
        if COMPRESSOR in has:
            ratio = ratios[layer]
        else:
            ratio = 0
        kept = LayerCache.compressed(size, ratio, window, index if has & INDEXED else 0)
        if has & INDEXED:
            past = index_heads * index
        else:
            past = 2 * heads[layer] * size
        memories.append(Mixing(cache=kept, attention_values=past // (ratio or 1)))
    return tuple(memories)


def cache_notes(keys: Keys, layers: int) -> Iterator[str]:
    """Unusual properties of the cache, a sentence each."""
    if keys.architecture not in architectures():
        yield (
            f"Nobody described the architecture {keys.architecture} here: weights are counted by "
            "its tensors, what it keeps of a text by its keys. Nobody has timed it either, so "
            "ranges are wider."
        )
        return
    window = keys.number("attention.sliding_window", 0)
    compressed = f"{keys.architecture}.attention.compress_ratios" in keys.facts
    if window and keys.traits.period is None and not compressed:
        yield (
            f"The file names a sliding window of {window:,} tokens; llama.cpp does not use it "
            f"in {keys.architecture}, so the whole context is kept."
        )
    shared = _sharing(keys, layers)
    if shared:
        yield (
            f"The last {shared} layers reuse the cache of an earlier layer; reading it again is "
            "not counted."
        )
    if keys.traits.latent and not _keeps_latent(keys):
        yield (
            "This conversion is from before llama.cpp kept a latent cache; it keeps expanded keys "
            "and values, many times larger. A newer conversion needs far less memory."
        )


def _attends(has: frozenset[str]) -> bool:
    """A layer looks back at keys; linear attention has the same names for its projections."""
    return bool(has & LOOKS_BACK) and not has & DELTA_NET and "ssm_conv1d_q" not in has


def _windows(keys: Keys, layers: int) -> tuple[int | None, ...]:
    """Tokens each layer looks back; None for all [tokens]."""
    traits = keys.traits
    if traits.period is None:
        return (None,) * layers
    size = keys.number("attention.sliding_window", traits.window)
    if not size or traits.windowed_depth not in (0, layers):
        return (None,) * layers
    flags = _windowed_layers(keys, traits.period, layers)
    return tuple((traits.fixed_window or size) if flag else None for flag in flags)


def _windowed_layers(keys: Keys, usual: int, layers: int) -> tuple[bool, ...]:
    """Layers with the window, from the file's list or a period [2]."""
    pattern = "attention.sliding_window_pattern"
    if isinstance(keys.find(pattern), tuple):
        return tuple(flag != 0 for flag in keys.per_layer(pattern, layers, 0))
    if usual < 0:
        return (True,) * layers
    if usual == 0:
        raise Refusal(
            f"{keys.architecture}.{pattern} does not list which layers have the sliding window, so "
            "the size of the cache cannot be told. Download a newer conversion."
        )
    period = keys.number(pattern, usual)
    if period == 0:
        return (True,) * layers
    if keys.traits.full_first:
        full = 0
    else:
        full = period - 1
    return tuple(layer % period != full for layer in range(layers))


def _sharing(keys: Keys, layers: int) -> int:
    """Number of last layers that reuse the cache of an earlier layer."""
    if not keys.traits.shares_cache:
        return 0
    caching = keys.traits.caching_layers
    if caching is None:
        unsaid = 0
    else:
        unsaid = max(layers - caching, 0)
    shared = keys.number("attention.shared_kv_layers", unsaid)
    if shared >= layers:
        raise InputError(
            f"{keys.architecture}.attention.shared_kv_layers is {shared} of {layers} layers; one "
            "at least must keep its own."
        )
    return shared


class _Attention:
    """Sizes of attention, read once for all layers."""

    def __init__(self, keys: Keys, layers: int, hidden: int) -> None:
        self._name = keys.architecture
        self._heads = keys.per_layer("attention.head_count", layers, 0)
        self._kv_heads = keys.per_layer("attention.head_count_kv", layers, -1)
        each = hidden // max(1, *self._heads)
        self._ranks = _latent_ranks(keys, layers)
        least = None if any(self._ranks) else each
        self._keys = _with_ranks(keys.per_layer("attention.key_length", layers, least), self._ranks)
        self._value = keys.number("attention.value_length", each)
        self._window_key = keys.number("attention.key_length_swa", max(self._keys))
        self._window_value = keys.number("attention.value_length_swa", self._value)
        self._index = keys.number("attention.indexer.key_length", 0)
        narrow = [pair for pair in zip(self._keys, self._ranks, strict=True) if pair[0] < pair[1]]
        if narrow:
            raise InputError(
                f"{self._name}.attention.key_length is {narrow[0][0]}, less than the latent's "
                f"{narrow[0][1]}. The file is damaged."
            )

    def layer(self, layer: int, has: frozenset[str], windowed: bool) -> tuple[int, int, int]:
        """Values of K and V cached per token, and those that a query meets per past token.

        Latent attention keeps one latent with its rotary key [3]. A layer with an indexer keeps the
        indexer's key beside.
        """
        index = 0
        if has & INDEXED:
            index = self._index
        key = self._keys[layer]
        rank = self._ranks[layer]
        if rank and "attn_kv_a_mqa" in has:
            return key + index, 0, self._heads[layer] * (key + rank)
        heads = self._heads[layer]
        kv_heads = self._kv_heads[layer]
        if kv_heads < 0:
            kv_heads = heads
        value = self._value
        if windowed:
            key = self._window_key
            value = self._window_value
        if not (heads and kv_heads and key and value):
            raise InputError(
                f"Layer {layer} has attention tensors, but {self._name} gives it {heads} heads, "
                f"{kv_heads} key heads and heads of {key} and {value} values. The file is damaged."
            )
        return key * kv_heads + index, value * kv_heads, heads * (key + value)


def _latent_ranks(keys: Keys, layers: int) -> tuple[int, ...]:
    """Rank of each layer's latent cache; 0 where keys and values are cached expanded."""
    if not keys.traits.latent:
        return (0,) * layers
    ranks = keys.per_layer("attention.kv_lora_rank", layers, None)
    if not any(ranks):
        raise InputError(f"{keys.architecture}.attention.kv_lora_rank is 0; MLA needs a rank.")
    if _keeps_latent(keys):
        return ranks
    return (0,) * layers


def _with_ranks(lengths: tuple[int, ...], ranks: tuple[int, ...]) -> tuple[int, ...]:
    """Values of each layer's key; the rotary part behind a latent is as wide in all layers."""
    if len(set(lengths)) > 1 or not any(ranks):
        return lengths
    rotary = lengths[0] - max(ranks)
    return tuple(rank + rotary if rank else lengths[0] for rank in ranks)


def _keeps_latent(keys: Keys) -> bool:
    """The conversion is one that llama.cpp keeps a latent cache for."""
    sizes = ("attention.key_length_mla", "attention.value_length_mla")
    return all(keys.number(size, 0) for size in sizes)


def _state(keys: Keys, has: frozenset[str], hidden: int) -> int:
    """Values a layer keeps whatever the context: recurrent state and convolution's past [2]."""
    if "time_mix_key" in has or "time_mix_receptance" in has:
        return hidden * (keys.number("token_shift_count", 2) + keys.number("wkv.head_size"))
    if "shortconv.conv" in has:
        return hidden * (_taps(keys, "shortconv.l_cache"))
    if "ssm_conv1d_q" in has:
        heads = keys.number("attention.head_count")
        size = keys.number("kda.head_dim")
        return heads * size * (3 * _taps(keys, "ssm.conv_kernel") + size)
    if "ssm_conv1d" not in has:
        return 0
    inner = keys.number("ssm.inner_size")
    state = keys.number("ssm.state_size")
    if keys.architecture in NO_GROUPS:
        groups = 0
    else:
        groups = keys.number("ssm.group_count", 0)
    return inner * state + _taps(keys, "ssm.conv_kernel") * (inner + 2 * groups * state)


def _taps(keys: Keys, key: str) -> int:
    """Past inputs that a convolution keeps: all its taps but the present one."""
    return max(keys.number(key) - 1, 0)


GUESSED = 1024  # added to a file type that a loader guessed
MAX_LAYERS = 1024  # llama.cpp loads 512
COMPANIONS = {
    "attn_k_b": (("attn_kv_a_norm",), ("attn_kv_a_mqa",)),
    "ssm_conv1d": (("ssm_out",),),
    "ffn_down": (("ffn_up", "ffn_gate"),),
    "ffn_down_shexp": (("ffn_up_shexp", "ffn_gate_shexp"),),
}
"""Tensors without which another of the same layer computes nothing: one of each group is needed
(ggml-org/llama.cpp, src/llama-model.cpp, `create_tensor` without `TENSOR_NOT_REQUIRED`)."""
OTHER_KINDS = {
    "adapter": "a LoRA adapter",
    "mmproj": "an image or sound encoder (mmproj)",
    "imatrix": "an importance matrix",
}
"""Values of `general.type` that are no model."""


def describe_path(path: Path) -> Described:
    """Model in a file, in the beginning of one, or in all parts of a split file."""
    with ExitStack() as stack:
        parts = [opened(part_path, stack) for part_path in part_paths(path)]
        return describe_parts(parts)


def describe_prefix(name: str, data: bytes) -> Described:
    """The model whose file begins with these bytes; NeedMoreBytes if they end in the header."""
    return describe_parts([prefix(name, data)])


def describe_parts(parts: Sequence[Part]) -> Described:
    """Model in files whose bytes can be read, with all parts in their order."""
    headers = [read_header(part) for part in parts]
    infos = joined(headers)
    keys = Keys(headers[0], _architecture_of(headers[0], infos))
    contents = _contents(keys, infos)
    kinds = [storage_type(info) for info, _ in contents.used]
    architecture = _architecture(keys, headers[0], contents)
    form = _format(headers[0], architecture.tensors, kinds, keys)
    return Described(
        architecture=architecture,
        model=Model.from_tensors(architecture, kinds, form),
        format=form,
        source=architecture.source,
        notes=(
            *cut_short(parts, headers),
            *_notes(contents),
            *cache_notes(keys, contents.layers),
            *_unread_notes(keys),
        ),
        facts=keys.facts,
    )


def _architecture_of(header: Header, infos: Sequence[TensorInfo]) -> GgufArchitecture:
    """The architecture, if it is one that can be described."""
    kind = header.values.get("general.type", "model")
    if isinstance(kind, str) and kind in OTHER_KINDS:
        raise Refusal(f"{header.name} is {OTHER_KINDS[kind]}, not a language model's file.")
    name = header.values.get("general.architecture")
    if not isinstance(name, str) or not name:
        raise InputError(
            f"{header.name} does not name its architecture (general.architecture). Give a "
            "language model's file."
        )
    traits = traits_of(brief(name), header)
    pooled = header.values.get(f"{brief(name)}.pooling_type", 0)
    if isinstance(pooled, int) and pooled > 0:
        if pooled == RANKING:
            gives = "scores"
        else:
            gives = "vectors"
        raise Refusal(f"{header.name} answers with {gives}, not with text (pooling_type).")
    if not infos:
        raise Refusal(
            f"{header.name} holds only a vocabulary: it has no tensors. Give the model's own file."
        )
    return traits


@dataclass(frozen=True, kw_only=True)
class _Contents:
    """Tensors by use."""

    layers: int  # repeating layers that the file holds
    visits: tuple[int, ...]  # times that a token passes each; empty for once
    used: list[tuple[TensorInfo, TensorName]]  # tensors of the text model
    predicting: list[TensorInfo]  # those of layers for multi-token prediction
    foreign: list[TensorInfo]  # those of other networks in the same file


def _contents(keys: Keys, infos: Sequence[TensorInfo]) -> _Contents:
    """Tensors that a token passes; the blocks for multi-token prediction are the last ones."""
    blocks = keys.number("block_count")
    ahead = keys.number("nextn_predict_layers", 0)
    layers = blocks - ahead
    if not 1 <= layers <= blocks <= MAX_LAYERS:
        raise InputError(
            f"{keys.architecture}.block_count is {blocks} with {ahead} layers for prediction; 1 to "
            f"{MAX_LAYERS} are allowed. The file is damaged."
        )
    visits = _visits(keys, blocks)
    layers = len(visits) or layers
    contents = _Contents(layers=layers, visits=visits, used=[], predicting=[], foreign=[])
    for info in infos:
        name = named(info.name)
        if name.group is None:
            contents.foreign.append(info)
        elif name.layer is not None and name.layer >= layers:
            contents.predicting.append(info)
        else:
            contents.used.append((info, name))
    return contents


MOST_LOOPS = 64


def _visits(keys: Keys, blocks: int) -> tuple[int, ...]:
    """Visits of a token to each layer of two stacks that think in cycles; empty for one each.

    The lower stack runs `l_cycles` times for each of the `h_cycles` of the upper one. `block_count`
    counts every pass, each with a cache of its own; the file holds both stacks once
    (ggml-org/llama.cpp, src/models/hrm-text.cpp, read 2026-11-28).
    """
    stack = keys.number("hrm.layers_per_stack", 0)
    if not stack:
        return ()
    upper = keys.number("hrm.h_cycles")
    lower = keys.number("hrm.l_cycles")
    possible = 1 <= upper <= MOST_LOOPS and 1 <= lower <= MOST_LOOPS
    if not possible or blocks != stack * upper * (lower + 1):
        raise InputError(
            f"{keys.architecture}.block_count is {blocks}, while {stack} layers of each stack in "
            f"{upper} x ({lower} + 1) cycles make {stack * upper * (lower + 1)}; cycles are 1 to "
            f"{MOST_LOOPS}. The file is damaged."
        )
    return (upper * lower,) * stack + (upper,) * stack


def _notes(contents: _Contents) -> Iterator[str]:
    """Tensors that are counted without a known name, and sizes of those that are not counted."""
    if contents.visits:
        yield "A token passes its layers several times; each time is read and cached."
    unknown = [brief(info.name) for info, name in contents.used if not name.known]
    if unknown:
        if len(unknown) > 3:
            more = f" and {len(unknown) - 3} more"
        else:
            more = ""
        first = ", ".join(unknown[:3])
        yield f"Tensors with unknown names are counted where they fit best: {first}{more}."
    what = {
        "for multi-token prediction, which plain decoding does not run": contents.predicting,
        "of an image or sound encoder": contents.foreign,
    }
    for use, infos in what.items():
        if infos:
            yield f"{sum(map(stored_bytes, infos)) / GIB:.2f} GB {use} are not counted."


MOST_NAMED = 4  # keys that a remark names


def _unread_notes(keys: Keys) -> Iterator[str]:
    """Remark on keys of the file that may change what is kept or read, and were not understood."""
    unread = keys.unread()
    if not unread:
        return
    more = len(unread) - MOST_NAMED
    named_keys = ", ".join(map(brief, unread[:MOST_NAMED])) + (
        f" and {more} more" if more > 0 else ""
    )
    yield (
        f"The file states {named_keys}, which are not understood here: if they make layers run "
        "several times, or keep more or less of a text, speeds and the cache are others."
    )


def _architecture(keys: Keys, header: Header, contents: _Contents) -> Architecture:
    tensors = tuple(tensor(info, name) for info, name in contents.used)
    roles = _roles(keys, contents.layers, tensors)
    outside = {outer.role: outer for outer in tensors if outer.layer is None}
    if "token_embd" not in outside:
        raise InputError(f"{header.name} has no token table (token_embd). Download it again.")
    hidden = keys.number("embedding_length")
    kept = memory(keys, roles, hidden)
    return Architecture(
        name=_model_name(header),
        layers=contents.layers,
        visits=contents.visits,
        hidden=hidden,
        vocab=outside["token_embd"].rows,
        tied="output" not in outside,
        max_context=keys.number("context_length", 0) or None,
        tensors=tensors,
        cache=tuple(layer.cache for layer in kept),
        attention_values=tuple(layer.attention_values for layer in kept),
        experts=_experts(keys, tensors),
        source=f"GGUF header of {header.name[:120]}",
        head_dim=max(keys.per_layer("attention.key_length", contents.layers, 0)),
        draft_layers=keys.number("nextn_predict_layers", 0),
        unknown_kinds=() if keys.architecture in architectures() else (keys.architecture,),
    )


def _roles(keys: Keys, layers: int, tensors: Sequence[Tensor]) -> list[frozenset[str]]:
    roles_by_layer: list[set[str]] = [set() for _ in range(layers)]
    for entry in tensors:
        if entry.layer is not None:
            roles_by_layer[entry.layer].add(entry.role)
    empty = [layer for layer, roles in enumerate(roles_by_layer) if not roles]
    if empty and keys.architecture != "deci":
        raise InputError(
            f"Layer {empty[0]} of {layers} has no tensors, so a part of the model is missing. "
            "Give all of its files."
        )
    for layer, roles in enumerate(roles_by_layer):
        _check_companions(layer, roles)
    return [frozenset(roles) for roles in roles_by_layer]


def _check_companions(layer: int, roles: AbstractSet[str]) -> None:
    """Refuse a layer that lacks a tensor without which another computes nothing."""
    for role in sorted(roles & COMPANIONS.keys()):
        for needed in COMPANIONS[role]:
            if not roles & set(needed):
                raise InputError(
                    f"Layer {layer} has the tensor {role}, but not {' or '.join(needed)}, which "
                    "llama.cpp needs beside it. The file is damaged; download it again."
                )


def _experts(keys: Keys, tensors: Sequence[Tensor]) -> Experts | None:
    total = keys.number("expert_count", 0)
    used = keys.number("expert_used_count", 0)
    routed = any(tensor.group is Group.ROUTED_EXPERTS for tensor in tensors)
    if not routed:
        return None
    if not 1 <= used <= total:
        raise InputError(
            f"{keys.architecture} has routed experts, but expert_used_count is {used} of "
            f"expert_count {total}. The file is damaged."
        )
    return Experts(total=total, used=used)


def _model_name(header: Header) -> str:
    """The model's own name; the file's where it has none."""
    name = header.values.get("general.name")
    if isinstance(name, str) and name.strip():
        text = name
    else:
        text = header.name.removesuffix(".gguf")
    return (
        "".join(character for character in text[:80] if character.isprintable()).strip()
        or "unnamed model"
    )


def _format(
    header: Header, tensors: Sequence[Tensor], kinds: Sequence[StorageType], keys: Keys
) -> str:
    """The format's name as people know it; where the file does not say, that of most weights."""
    number = header.values.get("general.file_type")
    if isinstance(number, int) and number & ~GUESSED in numbered("file type"):
        keys.facts["general.file_type"] = str(number)
        return numbered("file type")[number & ~GUESSED]
    weights: dict[str, int] = {}
    for entry, kind in zip(tensors, kinds, strict=True):
        weights[kind.name] = weights.get(kind.name, 0) + entry.params
    return max(weights, key=lambda name: weights[name])
