"""Buffers of llama.cpp beside the weights: compute, KV cache, outputs.

Before it reads a prompt, llama.cpp lays out the graph of one micro-batch and allocates the most
that is alive at one moment; the memory of a tensor is reused after its last use. The layers are
alike, so the widest one decides and their number does not matter. Values are 32-bit floats.

    buffer = masks + 4 B x (5 n hidden + max(feed-forward, attention, recurrence, logits))

`n` is the number of tokens in the micro-batch. The five vectors of the hidden size are the input,
its copy, the residual stream, its norm and the layer's sum. All sizes are compared with the
engine's in `tests/runtimes/test_engine_memory.py`.

References:
    [1] ggml-org/llama.cpp, src/llama-context.cpp, `sched_reserve`: which micro-batch is laid out.
        Since May 2026 llama-server asks for one row of logits per sequence, before for one per
        token (ubatch x vocab).
    [2] ggml-org/llama.cpp, ggml/src/ggml-alloc.c: best fit, freed memory is reused.
    [3] ggml-org/llama.cpp, src/llama-kv-cache.cpp and src/llama-kv-cache-iswa.cpp: cells.
    [4] ggml-org/llama.cpp, src/llama-memory-recurrent.cpp: states in 32-bit floats.
    All as of October 2026, the log lines of build 2026.10.11549 of the Python package xllamacpp.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, reduce

import numpy as np

from advisor.cost_model.workload import Workload
from advisor.model.architecture import Architecture, Experts, LayerCache, Tensor
from advisor.model.model import Floats, Model, per_layer
from advisor.units import FLOAT, Array

MASK_VALUE = {True: 2.0, False: 4.0}
"""Size of a value of the attention mask, with flash attention and without [B]."""
CELLS = 256  # the number of cells is a multiple of this (`GGML_PAD` in [3])
STREAMS = 5  # vectors of the hidden size that are alive together with the widest part of a layer
INDEXED = 2048  # tokens selected by a sparse-attention indexer (DeepSeek-V3.2, GLM-5: `index_topk`)
Roles = Mapping[str, Tensor]  # tensors of a layer by role


@dataclass(frozen=True, kw_only=True, slots=True)
class Widths:
    """Largest number of values in memory at one moment in any layer, by kind of work."""

    feed_forward: float  # values per token in a feed-forward part or among experts
    attention: float  # values per token in attention, without its scores
    recurrence: float  # values per token in linear attention or a state-space layer
    state: float  # values of one layer's recurrent state, per sequence
    heads: Mapping[int | None, float]  # query heads by window; None is the whole context
    # values per token whose memory an indexer's scores reuse, heads x rank of MLA's latent, else 0
    index_room: float


def compute_buffer(architecture: Architecture, work: Workload) -> Array:
    """Compute buffer of a device for a single micro-batch [B].

    The formula at the top of this file, with feed-forward, attention and recurrence as
    `feed_forward_values`, `attention_values` and `recurrence_values` have them, and

        attention without flash attention: + n x the largest heads x cells of a layer
        attention with an indexer: + n x (3 values per selected token + the scores of all cells,
            where these are larger than the memory of MLA's latent)
        recurrence: + 2 sequences x state
        logits: sequences x vocab
    """
    tokens = micro_batch(work)
    users = np.asarray(work.users, dtype=float)
    shape = widths(architecture)
    seen = cells(work, None)
    attention: Array = shape.attention
    if not work.flash_attention:
        scores = (count * cells(work, window) for window, count in shape.heads.items())
        attention = attention + reduce(np.maximum, scores, np.zeros(()))
    if shape.index_room:
        scored = np.where(seen < shape.index_room, 0.0, seen)
        attention = attention + (3 * np.minimum(INDEXED, seen) + scored)
    parts: list[Array] = [
        tokens * shape.feed_forward,
        tokens * attention,
        tokens * shape.recurrence + 2 * users * shape.state,
        np.minimum(users, tokens) * architecture.vocab,
    ]
    streams = STREAMS * tokens * architecture.hidden
    widest = reduce(np.maximum, parts)
    return np.asarray(masks(architecture, work) + FLOAT * (streams + widest), dtype=float)


def input_buffer(architecture: Architecture, work: Workload) -> Array:
    """RAM for the inputs of a micro-batch with all layers on GPUs: masks and two vectors per token
    [B].

    Embeddings are looked up on the host (`CUDA_Host compute buffer size` in logs).
    """
    rows = 2 * micro_batch(work) * architecture.hidden
    return np.asarray(masks(architecture, work) + FLOAT * rows, dtype=float)


def output_buffer(architecture: Architecture, work: Workload) -> Array:
    """RAM for the logits handed to the sampler, one row per user [B]."""
    return np.asarray(FLOAT * architecture.vocab * np.asarray(work.users, dtype=float))


def spread_cache(model: Model, work: Workload) -> Array:
    """VRAM for a copy in 16 bits of one layer's cache of a smaller type, for CUDA's flash attention
    [B].

        2 B x the most values of a layer x users

    Reserved at the start for all cells (`ggml_cuda_flash_attn_ext_get_f16_extra`, pull request
    23907 of June 2026). Qwen3.8-27B with q4_0 took 18,842 MiB of an RTX 3090 Ti at 131,072 tokens
    and 21,786 MiB at 262,144: 2,944 more, of which 2,304 are its cache, 128 masks and 512 this
    (https://github.com/sudoingX/qwen38-mtp, 2026-08).
    """
    if not work.flash_attention or work.kv_type == "f16":
        return np.zeros(())
    layers = model.per_layer
    keys, values = Model.cache_types(work.kv_type)
    copied = layers.key_values * (keys != "f16")
    copied = copied + (layers.kv_values - layers.key_values) * (values != "f16")
    room = _cells_of_layers(model, work) * copied
    users = np.asarray(work.users, dtype=float)
    return np.asarray(Model.KV_BYTES_PER_VALUE["f16"] * np.max(room, axis=-1) * users)


def kv_cache_bytes(model: Model, work: Workload) -> Floats:
    """Cache of one user, per layer, shape (..., layers) [B].

    cells x (keys + values) x bytes of the cache type + 4 B x state, with `cells` by the layer's
    window, unless windowed layers keep the whole context (`--swa-full`). MLA caches a latent and a
    rotary key, no values. Keys and values of an image are kept in 32 bits (ollama/ollama,
    fs/ggml/ggml.go at 008a6cae, "mllama").
    """
    layers = model.per_layer
    room = _cells_of_layers(model, work)
    fixed = FLOAT * (layers.state_values + layers.image_values)
    return np.asarray(room * model.cached_bytes(work.kv_type) + fixed)


LATENT_SINCE = "2025-05"
"""First whole month of builds that keep latents: pull request 12801, merged on 15 April 2025."""
LATENT_ONCE_SINCE = "2026-02"
"""First whole month of those that keep them once: pull request 19067 ("support V-less cache"),
opened on 24 January 2026, "almost x2 less memory"."""


def as_built(model: Model, month: str) -> Model:
    """Model with its latent attention (MLA) cached as a build of some month does; as today without
    a month.

    Builds before `LATENT_SINCE` keep keys and values of each head, heads x (nope + rope + v),
    40,960 values of a layer of DeepSeek-V3 and as many to attend with; those before
    `LATENT_ONCE_SINCE` keep the latent as keys and once more as values, 576 + 512.
    """
    today = model.today or model.architecture
    built = _older(today, by_head=month < LATENT_SINCE) if "" < month < LATENT_ONCE_SINCE else today
    if built is model.architecture:
        return model
    return replace(model, architecture=built, today=None if built is today else today)


@lru_cache(maxsize=64)
def _older(architecture: Architecture, *, by_head: bool) -> Architecture:
    """Architecture with the cache of an older build.

    It is unchanged without latent attention, and with an indexer, which came after those builds.
    """
    shape = per_layer(architecture)
    if not np.any(shape.unfolded) or np.any(shape.indexed):
        return architecture
    by_layer = architecture.by_layer
    caches = list(architecture.cache)
    attended = list(architecture.attention_values)
    for layer in np.flatnonzero(shape.unfolded).tolist():
        cache = caches[layer]
        if by_head:
            values = int(by_layer[layer]["attn_v_b"].rows)
            keys = int(shape.unfolded[layer]) - values
            caches[layer] = replace(cache, key_values=keys, value_values=values)
            attended[layer] = keys + values
        else:
            rank = int(attended[layer] / architecture.query_heads[layer]) - cache.key_values
            caches[layer] = replace(cache, key_values=cache.key_values + rank)
    return replace(architecture, cache=tuple(caches), attention_values=tuple(attended))


def _cells_of_layers(model: Model, work: Workload) -> Array:
    """Tokens that fit in the cache of each layer, per user, shape (..., layers) [tokens]."""
    if work.swa_full:
        windows = np.full(model.layers, np.inf)
    else:
        windows = model.per_layer.windows
    whole = np.asarray(cells(work, None))[..., None]
    return _padded(np.minimum(whole, windows + np.asarray(micro_batch(work))[..., None]))


def cells(work: Workload, window: int | None) -> Array:
    """Tokens that fit in a layer's cache, per user [tokens].

    The context, rounded up to a multiple of 256; with a window min(context, window + micro-batch),
    rounded up too, since a micro-batch is written before the tokens it replaces are freed [3].
    """
    whole = _padded(np.asarray(work.context, dtype=float))
    if window is None:
        return whole
    return _padded(np.minimum(whole, window + micro_batch(work)))


def _padded(tokens: Array) -> Array:
    return np.asarray(np.ceil(np.asarray(tokens) / CELLS) * CELLS)


def micro_batch(work: Workload) -> Array:
    """Tokens computed together, at most the total context; `-b` is no smaller [tokens]."""
    return np.minimum(work.ubatch, np.asarray(work.context, dtype=float) * work.users)


def masks(architecture: Architecture, work: Workload) -> Array:
    """Masks of visible tokens: micro-batch x cells for each window, and for an indexer [B]."""
    shape = widths(architecture)
    cells_seen = sum(cells(work, window) for window in shape.heads)
    if shape.index_room:
        cells_seen = cells_seen + cells(work, None)
    return np.asarray(MASK_VALUE[work.flash_attention] * micro_batch(work) * cells_seen)


@lru_cache(maxsize=512)
def widths(architecture: Architecture) -> Widths:
    """Largest number of values in memory at one moment in any layer, by kind of work."""
    feed_forward = attention = recurrence = state = index_room = 0.0
    heads: dict[int | None, float] = {}
    layers = zip(architecture.by_layer, architecture.cache, architecture.query_heads, strict=True)
    for roles, cache, count in layers:
        feed_forward = max(feed_forward, feed_forward_values(architecture, roles))
        recurrence = max(recurrence, recurrence_values(roles))
        state = max(state, cache.state_values)
        if cache.key_values:
            attention = max(attention, attention_values(architecture.hidden, roles, cache))
            heads[cache.window] = max(heads.get(cache.window, 0.0), count)
        if {"indexer.attn_k", "attn_k_b"} <= roles.keys():
            index_room = max(index_room, float(roles["attn_k_b"].rows))
    return Widths(
        feed_forward=feed_forward,
        attention=attention,
        recurrence=recurrence,
        state=state,
        heads=heads,
        index_room=index_room,
    )


def feed_forward_values(architecture: Architecture, roles: Roles) -> float:
    """Number of values per token in memory at one moment in the feed-forward part of a layer.

    Gate, up and their product, 3 F; F without a gate. With `k` experts per token: 3 k F, and the
    outputs of all k, k hidden, where these are larger than the memory of gate and up, 2 k F; k F +
    k hidden without a gate.
    """
    if architecture.experts:
        routed = _expert_values(roles, architecture.experts)
    else:
        routed = 0.0
    return max(routed, _dense_values(roles, ""), _dense_values(roles, "_shexp"))


def attention_values(hidden: int, roles: Roles, cache: LayerCache) -> float:
    """Number of values per token in memory at one moment in attention, without its scores.

    Queries, keys, values and the result, 2 q + k + v; queries no wider than the residual stream
    reuse its memory. With an output gate 4 q. MLA holds, per head, the query (nope + rope), its
    rotated part (rope), the part projected to the latent space (rank) and both joined (rank +
    rope): heads x (nope + 2 rank + 3 rope).
    """
    if "attn_k_b" in roles:
        up = roles["attn_k_b"]
        rank = (roles.get("attn_kv_a_norm") or roles["attn_v_b"]).width
        rope = roles["attn_kv_a_mqa"].rows - rank
        return up.rows / rank * (up.width + 2 * rank + 3 * rope)
    if "attn_output" in roles:
        queries = roles["attn_output"].width
    else:
        queries = hidden
    if "attn_q" in roles and roles["attn_q"].rows == 2 * queries:
        return 4.0 * queries
    return (2 if queries > hidden else 1) * queries + cache.key_values + cache.value_values


def recurrence_values(roles: Roles) -> float:
    """Number of values per token in memory at one moment in a layer with a state; 0 for other
    layers.

    With C channels of the convolution and D values out: max(2 C, 3 D) for gated DeltaNet, max(3 D +
    2 C, D + 3 C) for Mamba-2.
    """
    if not {"ssm_conv1d", "ssm_out"} <= roles.keys():
        return 0.0
    channels = roles["ssm_conv1d"].rows
    out = roles["ssm_out"].width
    if "ssm_in" in roles:
        return max(3.0 * out + 2 * channels, out + 3.0 * channels)
    return max(2.0 * channels, 3.0 * out)


def _expert_values(roles: Roles, experts: Experts) -> float:
    down = roles.get("ffn_down_exps")
    if down is None:
        return 0.0
    inside = experts.used * down.width
    out = experts.used * down.rows / experts.total
    if not {"ffn_gate_exps", "ffn_gate_up_exps"} & roles.keys():
        return inside + out
    return 3 * inside + (out if out > 2 * inside else 0.0)


def _dense_values(roles: Roles, suffix: str) -> float:
    down = roles.get(f"ffn_down{suffix}")
    if down is None:
        return 0.0
    up = roles.get(f"ffn_up{suffix}")
    apart = {f"ffn_gate{suffix}", f"ffn_gate_up{suffix}"} & roles.keys()
    gated = bool(apart) or (up is not None and up.rows == 2 * down.width)
    return (3.0 if gated else 1.0) * down.width
