"""Layers by what serving engines compute in them: latent, sparse and linear attention.

Query heads are divided among the GPUs that share a layer, whatever lies on each of the cache.
Latent attention (MLA) has two forms: a token attends to the latents themselves, with wide heads; a
prompt unfolds them into keys and values, whose heads are narrow (DeepSeek-V2, arXiv 2405.04434,
appendix C; vllm/v1/attention/backends/mla/common.py, 0.33.0). Sparse attention scores all tokens
with a small indexer and attends to a fixed number of them, as latents (DeepSeek-V3.2-Exp, 2025).
Linear attention reads and writes its state for each token.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from advisor.cost_model.loads import ForwardPass
from advisor.model.architecture import Architecture, Group
from advisor.model.model import Floats, Model
from advisor.units import Array

CHOSEN = 2048.0
"""Tokens that an indexer selects (`index_topk` of DeepSeek-V3.2 and GLM-5) [tokens]."""
MOST_CHECKED = 16.0
"""Most tokens of a sequence that a step verifies together; more are a prompt."""
PER_STATE_VALUE = 4.0
"""Work on each value of a state for a token: it decays, is added to and is read [FLOP]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LayerKinds:
    """Kinds of layers by the kernels that they start; arrays have shape (layers,).

    Attributes:
        latent: 1 where the cache is a latent (MLA).
        unfolded: query heads x (key + value head size) where a prompt unfolds the latents; 0 where
            these are not known.
        indexed: 1 where an indexer chooses the tokens to attend to.
        index_values: query heads x head size of the indexer.
        index_share: part of a token's cache that is the indexer's key.
        products: matrix products beside the experts, as a share of those of attention and
            feed-forward: half for each, so that a layer of a hybrid which is one of the two, or
            whose feed-forward is of experts, counts half. Engines compute shared experts beside the
            routed ones, on a stream of their own or as one of them.
    """

    latent: Floats
    unfolded: Floats
    indexed: Floats
    index_values: Floats
    index_share: Floats
    products: Floats


@lru_cache(maxsize=256)
def layer_kinds(architecture: Architecture) -> LayerKinds:
    """Kinds of a model's layers."""
    rows: dict[str, Floats] = {}
    mixing, feeding = np.zeros(architecture.layers), np.zeros(architecture.layers)
    for tensor in architecture.tensors:
        if tensor.layer is None:
            continue
        by_layer = rows.setdefault(tensor.role, np.zeros(architecture.layers))
        by_layer[tensor.layer] += tensor.rows
        if tensor.group is Group.ATTENTION:
            mixing[tensor.layer] = 1.0
        if tensor.group is Group.DENSE_FFN:
            feeding[tensor.layer] = 1.0
    none = np.zeros(architecture.layers)
    kept = np.array([float(cache.key_values) for cache in architecture.cache])
    latent = np.array(
        [float(bool(cache.key_values) and not cache.value_values) for cache in architecture.cache]
    )
    keys = rows.get("indexer.attn_k", none)
    queries = rows.get("attn_q_b", none) + rows.get("attn_q", none)
    values = rows.get("attn_v_b", none)
    return LayerKinds(
        latent=latent,
        unfolded=latent * np.where(values > 0, queries + values, 0.0),
        indexed=(keys > 0).astype(float),
        index_values=rows.get("indexer.attn_q_b", none),
        index_share=keys / np.maximum(kept, 1.0),
        products=(mixing + feeding) / 2.0,
    )


def is_prompt(step: ForwardPass) -> bool:
    """Whether a step reads prompts; else each sequence gets a token, and drafts are checked."""
    tokens = np.asarray(step.tokens, dtype=float)
    return bool(np.any(tokens > MOST_CHECKED * np.asarray(step.sequences)))


def attention_work(model: Model, layers: Floats, step: ForwardPass) -> Array:
    """Work of attention and of indexers in some layers [FLOP].

    Args:
        model: model that is computed.
        layers: share of each layer's heads that is computed, shape (..., layers).
        step: pass over the layers.
    """
    kinds = layer_kinds(model.architecture)
    depth = np.asarray(step.depth, dtype=float)[..., None]
    attended = np.minimum(depth, model.windows)
    attended = np.where(kinds.indexed > 0, np.minimum(attended, CHOSEN), attended)
    values = model.attention_flops / 2.0
    if is_prompt(step):
        values = np.where((kinds.unfolded > 0) & (kinds.indexed <= 0), kinds.unfolded, values)
    work = 2.0 * (values * attended + kinds.index_values * depth)
    return np.asarray(np.sum(layers * work, axis=-1) * step.tokens)


def cache_read(model: Model, shares: Floats, step: ForwardPass) -> Array:
    """Cache that a step reads: with an indexer all of its keys, and the tokens that it chose [B].

    Args:
        model: model that is computed.
        shares: share of each layer's cache, shape (..., layers).
        step: pass over the layers.
    """
    kinds = layer_kinds(model.architecture)
    kept = model.kv_bytes(step.depth, step.kv_type)
    depth = np.maximum(np.asarray(step.depth, dtype=float), 1.0)[..., None]
    chosen = np.minimum(CHOSEN / depth, 1.0)
    sparse = kinds.index_share + (1.0 - kinds.index_share) * chosen
    read = np.where(kinds.indexed > 0, sparse, 1.0)
    return np.asarray(np.sum(shares * kept * read, axis=-1) * step.sequences)


def state_work(model: Model, layers: Floats, step: ForwardPass) -> Array:
    """Work of linear attention on the states of some layers, for all tokens [FLOP].

    Args:
        model: model that is computed.
        layers: share of each layer that is computed, shape (..., layers).
        step: pass over the layers.
    """
    return np.asarray(PER_STATE_VALUE * (layers @ model.state_values) * step.tokens)
