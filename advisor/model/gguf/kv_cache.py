"""Cache of each layer of a GGUF model, by the keys that llama.cpp reads.

Which layers see a window follows the architecture's rule in `gguf_architectures.py`; which are
recurrent follows from the tensors they have.

References:
    [1] ggml-org/llama.cpp, src/llama-model.cpp and src/models/*.cpp (`load_arch_hparams`), read
        2026-11-21.
    [2] ggml-org/llama.cpp, src/llama-hparams.cpp (`set_swa_pattern`, `n_embd_k_gqa`, `n_embd_r`,
        `n_embd_s`, `has_kv`).
    [3] DeepSeek-AI 2024, DeepSeek-V2, arXiv:2405.04434, section 2.1.3 (latent cache).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from advisor.errors import InputError, Refusal
from advisor.model.architecture import LayerCache
from advisor.model.gguf.architectures import BARE_LAYERS, LATENT, SHARED_KV, WINDOWED, Window
from advisor.model.gguf.metadata import Keys

LOOKS_BACK = frozenset({"attn_q", "attn_qkv", "attn_q_a", "attn_kv_a_mqa"})
DELTA_NET = frozenset({"ssm_beta", "ssm_alpha", "ssm_ba"})
NO_GROUPS = frozenset({"mamba", "jamba"})
"""Mamba of the first generation: B and C do not pass through the convolution."""


class LayerMemory(NamedTuple):
    """Cache of a layer, with its attention work as in `Architecture.attention_values`."""

    cache: LayerCache
    attention_values: int


def memory(keys: Keys, roles: Sequence[frozenset[str]], hidden: int) -> tuple[LayerMemory, ...]:
    """Cache of each layer.

    Args:
        keys: the architecture's metadata.
        roles: roles of the tensors of each layer.
        hidden: width of the residual stream.

    Raises:
        InputError: keys that are missing or contradict the tensors.
        Refusal: windows that the file does not place, or a layer that is not understood.
    """
    layers = len(roles)
    windows = _windows(keys, layers)
    kept = _own_cache(keys, layers)
    attention = _Attention(keys, layers, hidden)
    memories = []
    for layer, has in enumerate(roles):
        state = _state(keys, has, hidden)
        if not _attends(has):
            if not state and keys.architecture not in BARE_LAYERS:
                raise Refusal(
                    f"Layer {layer} of this {keys.architecture} has neither attention nor a state "
                    "under the names that are known, so what it keeps of the past is not "
                    "understood. Choose another conversion."
                )
            memories.append(LayerMemory(LayerCache(state_values=state), 0))
            continue
        size = attention.layer(layer, has, windows[layer] is not None)
        cache = LayerCache(
            key_values=size.keys if kept[layer] else 0,
            value_values=size.values if kept[layer] else 0,
            window=windows[layer],
            state_values=state,
        )
        memories.append(LayerMemory(cache, size.attended))
    return tuple(memories)


def cache_notes(keys: Keys, layers: int) -> Iterator[str]:
    """Unusual properties of the cache, a sentence each."""
    window = keys.number("attention.sliding_window", 0)
    if window and keys.architecture not in WINDOWED:
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
    if keys.architecture in LATENT and not _keeps_latent(keys):
        yield (
            "This conversion is from before llama.cpp kept a latent cache; it keeps expanded keys "
            "and values, many times larger. A newer conversion needs far less memory."
        )


def _attends(has: frozenset[str]) -> bool:
    """A layer looks back at keys; linear attention has the same names for its projections."""
    return bool(has & LOOKS_BACK) and not has & DELTA_NET and "ssm_conv1d_q" not in has


def _windows(keys: Keys, layers: int) -> tuple[int | None, ...]:
    """Tokens each layer looks back; None for all [tokens]."""
    rule = WINDOWED.get(keys.architecture)
    if rule is None:
        return (None,) * layers
    size = keys.number("attention.sliding_window", rule.default)
    if not size or rule.layers not in (0, layers):
        return (None,) * layers
    flags = _windowed_layers(keys, rule, layers)
    return tuple((rule.fixed or size) if flag else None for flag in flags)


def _windowed_layers(keys: Keys, rule: Window, layers: int) -> tuple[bool, ...]:
    """Layers with the window, from the file's list or a period [2]."""
    pattern = "attention.sliding_window_pattern"
    if keys.has_list(pattern):
        return tuple(flag != 0 for flag in keys.per_layer(pattern, layers, 0))
    if rule.period < 0:
        return (True,) * layers
    if rule.period == 0:
        raise Refusal(
            f"{keys.architecture}.{pattern} does not list which layers have the sliding window, so "
            "the size of the cache cannot be told. Download a newer conversion."
        )
    period = keys.number(pattern, rule.period)
    if period == 0:
        return (True,) * layers
    full = 0 if rule.full_first else period - 1
    return tuple(layer % period != full for layer in range(layers))


def _own_cache(keys: Keys, layers: int) -> tuple[bool, ...]:
    """Layers with keys and values of their own; the others reuse an earlier layer's."""
    own = layers - _sharing(keys, layers)
    return tuple(layer < own for layer in range(layers))


def _sharing(keys: Keys, layers: int) -> int:
    """Number of last layers that reuse the cache of an earlier layer.

    Raises:
        InputError: it leaves none that keeps its own.
    """
    if keys.architecture not in SHARED_KV:
        return 0
    default = SHARED_KV[keys.architecture]
    unsaid = 0 if default is None else max(layers - default, 0)
    shared = keys.number("attention.shared_kv_layers", unsaid)
    if shared >= layers:
        raise InputError(
            f"{keys.architecture}.attention.shared_kv_layers is {shared} of {layers} layers; one "
            "at least must keep its own."
        )
    return shared


class _Size(NamedTuple):
    """Values of K and V cached per token, and values that a token's query meets per past token."""

    keys: int
    values: int
    attended: int


class _Attention:
    """Sizes of attention, read once for all layers."""

    def __init__(self, keys: Keys, layers: int, hidden: int) -> None:
        self._name = keys.architecture
        self._heads = keys.per_layer("attention.head_count", layers, 0)
        self._kv_heads = keys.per_layer("attention.head_count_kv", layers, -1)
        each = hidden // max(1, *self._heads)
        self._latent = _latent_rank(keys)
        self._key = keys.number("attention.key_length", None if self._latent else each)
        self._value = keys.number("attention.value_length", each)
        self._window_key = keys.number("attention.key_length_swa", self._key)
        self._window_value = keys.number("attention.value_length_swa", self._value)
        self._index = keys.number("attention.indexer.key_length", 0)
        if self._latent and self._key < self._latent:
            raise InputError(
                f"{self._name}.attention.key_length is {self._key}, less than the latent's "
                f"{self._latent}. The file is damaged."
            )

    def layer(self, layer: int, has: frozenset[str], windowed: bool) -> _Size:
        """Sizes of one layer that attends.

        Raises:
            InputError: it has no heads, though it has their tensors.
        """
        if self._latent and "attn_kv_a_mqa" in has:
            return self._latent_layer(layer, has)
        heads, kv_heads = self._heads[layer], self._kv_heads[layer]
        kv_heads = heads if kv_heads < 0 else kv_heads
        key = self._window_key if windowed else self._key
        value = self._window_value if windowed else self._value
        if not (heads and kv_heads and key and value):
            raise InputError(
                f"Layer {layer} has attention tensors, but {self._name} gives it {heads} heads, "
                f"{kv_heads} key heads and heads of {key} and {value} values. The file is damaged."
            )
        return _Size(key * kv_heads, value * kv_heads, heads * (key + value))

    def _latent_layer(self, layer: int, has: frozenset[str]) -> _Size:
        """One latent with its rotary key per token [3], and the indexer's key where it has one."""
        index = self._index if "indexer.attn_k" in has else 0
        return _Size(self._key + index, 0, self._heads[layer] * (self._key + self._latent))


def _latent_rank(keys: Keys) -> int:
    """Rank of the latent cache; 0 where keys and values are cached expanded."""
    if keys.architecture not in LATENT:
        return 0
    rank = keys.number("attention.kv_lora_rank")
    if not rank:
        raise InputError(f"{keys.architecture}.attention.kv_lora_rank is 0; MLA needs a rank.")
    return rank if _keeps_latent(keys) else 0


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
        heads, size = keys.number("attention.head_count"), keys.number("kda.head_dim")
        return heads * size * (3 * _taps(keys, "ssm.conv_kernel") + size)
    if "ssm_conv1d" not in has:
        return 0
    inner, state = keys.number("ssm.inner_size"), keys.number("ssm.state_size")
    groups = 0 if keys.architecture in NO_GROUPS else keys.number("ssm.group_count", 0)
    return inner * state + _taps(keys, "ssm.conv_kernel") * (inner + 2 * groups * state)


def _taps(keys: Keys, key: str) -> int:
    """Past inputs that a convolution keeps: all its taps but the present one."""
    return max(keys.number(key) - 1, 0)
