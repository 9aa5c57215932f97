"""Cache of each layer of a GGUF model, by the keys that llama.cpp reads.

Which layers see a window follows the architecture's row in gguf_architectures.csv; which are
recurrent follows from the tensors they have.

References:
    [1] ggml-org/llama.cpp, src/llama-model.cpp and src/models/*.cpp (`load_arch_hparams`), read
        2026-11-21.
    [2] ggml-org/llama.cpp, src/llama-hparams.cpp (`set_swa_pattern`, `n_embd_k_gqa`, `n_embd_r`,
        `n_embd_s`, `has_kv`).
    [3] DeepSeek-AI 2024, DeepSeek-V2, arXiv:2405.04434, section 2.1.3 (latent cache).
    [4] ggml-org/llama.cpp, src/models/deepseek4.cpp at 00395eb28 and src/llama-kv-cache-dsv4.cpp
        at 035aa95b0 (one key for all heads, kept compressed behind a window).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from advisor.errors import InputError, Refusal
from advisor.model.architecture import LayerCache
from advisor.model.build import Mixing
from advisor.model.gguf.keys import Keys, architectures

LOOKS_BACK = frozenset({"attn_q", "attn_qkv", "attn_q_a", "attn_kv_a_mqa"})
COMPRESSOR = "attn_compressor_kv"  # projection of the entries of a compressed cache [4]
SHARED_KEY = "attn_kv"  # one projection whose output is key and value of all heads [4]
INDEXED = frozenset({"indexer.attn_k", "indexer.k_proj", "indexer_compressor_kv"})
DELTA_NET = frozenset({"ssm_beta", "ssm_alpha", "ssm_ba"})
NO_GROUPS = frozenset({"mamba", "jamba"})
"""Mamba of the first generation: B and C do not pass through the convolution."""


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
    """Whether a layer attends to keys; linear attention has the same names for its projections."""
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
    """Whether the file is of a conversion that llama.cpp keeps a latent cache for."""
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
