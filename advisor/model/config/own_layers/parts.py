"""Token mixers that only some families have, the stack of layers that they make, DeepSeek-V4.

Roles are llama.cpp's tensor names where it has the family, else in its manner.

References:
    [1] huggingface/transformers 5.23.0, src/transformers/models/*/modeling_*.py.
    [2] sgl-project/sglang 0.5.23, python/sglang/srt/models/kimi_k3.py.
    [3] Moonshot AI 2025, Kimi Linear, arXiv:2510.26692 (Kimi Delta Attention).
    [4] Gu, Dao 2023, Mamba, arXiv:2312.00752.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from advisor.errors import InputError
from advisor.model.architecture import (
    Architecture,
    ArchitectureSpec,
    Group,
    LayerCache,
    Shapes,
    Tensor,
)
from advisor.model.build import Layer, Mixing
from advisor.model.config.values import Config

Entry = TypeVar("Entry")


def stacked(
    facts: ArchitectureSpec,
    mixing: Callable[[int], Mixing],
    routed: Sequence[bool] | None = None,
    outside: tuple[Tensor, ...] = (),
) -> Architecture:
    """Architecture whose layers differ in their token mixers and, where `routed` says so, in having
    experts.
    """
    dense = replace(facts, experts=0)
    layers = [
        Layer(mixing=mixing(at), facts=facts if routed is None or routed[at] else dense)
        for at in range(facts.layers)
    ]
    return Layer.stacked(facts, layers, outside)


def of_layers(
    config: Config, facts: ArchitectureSpec, key: str, listed: Sequence[Entry]
) -> list[Entry]:
    """Entries that a file lists for each layer; the list may go on with drafting layers."""
    if len(listed) < facts.layers:
        raise InputError(
            f"The config.json of {config.name} has {len(listed)} entries in {key} for "
            f"{facts.layers} layers; it needs one for each. Give the model's own file, unchanged."
        )
    return list(listed[: facts.layers])


def attention(facts: ArchitectureSpec, layer: int, gate: int = 0) -> Mixing:
    """Attention of the table's kinds (grouped, windowed, latent), by the letter of the layer's
    facts.

    A gate on its output has an output for each head or each value, 0 for none.
    """
    if gate:
        gates = Tensor.of_shapes(layer, {"attn_gate": (facts.hidden, gate)})
    else:
        gates = ()
    return Mixing.of(facts, layer).beside(*gates)


def two_size_attention(facts: ArchitectureSpec, layer: int, value_dim: int) -> Mixing:
    """Grouped attention whose values are narrower than its keys (MiMo-V2) [1].

    `head_dim` of the facts is the width of queries and keys.
    """
    mixing = attention(facts, layer)
    values = facts.kv_heads * value_dim
    out = facts.heads * value_dim
    narrowed = {"attn_v": (values, facts.hidden), "attn_output": (facts.hidden, out)}
    sized = []
    for tensor in mixing.tensors:
        rows, width = narrowed.get(tensor.role, (tensor.rows, tensor.width))
        sized.append(replace(tensor, rows=rows, width=width))
    return Mixing(
        tensors=tuple(sized),
        cache=replace(mixing.cache, value_values=values),
        attention_values=facts.heads * (facts.head_dim + value_dim),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class DeltaSizes:
    """Sizes of Kimi Delta Attention."""

    heads: int  # number of heads of queries, of keys and of values
    dim: int  # values per head
    taps: int  # taps of the three short convolutions
    full_gate: bool = False  # whether the output gate is one matrix, not two of rank `dim`
    full_decay: bool = False  # whether the forget gate is one matrix


def kimi_delta(facts: ArchitectureSpec, layer: int, sizes: DeltaSizes) -> Mixing:
    """Kimi Delta Attention [2, 3], with D = heads x dim.

    hidden x (3 D + heads) in, 3 D x taps of convolution, gates of hidden x dim + dim x D or
    hidden x D, D x hidden out; a state of heads x dim x dim, and the convolutions' past.
    """
    inner = sizes.heads * sizes.dim
    hidden = facts.hidden
    weights: Shapes = {
        "attn_q": (hidden, inner),
        "attn_k": (hidden, inner),
        "attn_v": (hidden, inner),
        "ssm_conv1d": (sizes.taps, 3 * inner),
        "ssm_beta": (hidden, sizes.heads),
        **_gate("ssm_f", hidden, sizes, full=sizes.full_decay),
        **_gate("ssm_g", hidden, sizes, full=sizes.full_gate),
        "ssm_out": (inner, hidden),
        "ssm_dt": inner,
        "ssm_a": sizes.heads,
        "ssm_norm": sizes.dim,
    }
    state = sizes.heads * sizes.dim**2 + (sizes.taps - 1) * 3 * inner
    return Mixing(tensors=Tensor.of_shapes(layer, weights), cache=LayerCache(state_values=state))


def _gate(role: str, hidden: int, sizes: DeltaSizes, *, full: bool) -> dict[str, tuple[int, int]]:
    inner = sizes.heads * sizes.dim
    if full:
        return {role: (hidden, inner)}
    return {f"{role}_a": (hidden, sizes.dim), f"{role}_b": (sizes.dim, inner)}


def short_convolution(facts: ArchitectureSpec, layer: int, taps: int) -> Mixing:
    """Gated short convolution (LFM2) [1]: hidden x 3 hidden in, hidden x hidden out."""
    hidden = facts.hidden
    weights = {
        "shortconv.in_proj": (hidden, 3 * hidden),
        "shortconv.conv": (taps, hidden),
        "shortconv.out_proj": (hidden, hidden),
    }
    state = (taps - 1) * hidden
    return Mixing(tensors=Tensor.of_shapes(layer, weights), cache=LayerCache(state_values=state))


@dataclass(frozen=True, kw_only=True, slots=True)
class MambaSizes:
    """Sizes of Mamba-1: inner width, state values per channel, rank of the step, taps; whether its
    step and state have norms, as Jamba's.
    """

    inner: int
    state: int
    rank: int
    taps: int
    norms: bool = False


def mamba1(facts: ArchitectureSpec, layer: int, sizes: MambaSizes) -> Mixing:
    """Mamba-1 [4], with three norms in Jamba: hidden x 2 D in, D x (rank + 2 state), D x hidden."""
    inner = sizes.inner
    hidden = facts.hidden
    weights: dict[str, int | tuple[int, int]] = {
        "ssm_in": (hidden, 2 * inner),
        "ssm_conv1d": (sizes.taps, inner),
        "ssm_x": (inner, sizes.rank + 2 * sizes.state),
        "ssm_dt": (sizes.rank, inner),
        "ssm_a": (sizes.state, inner),
        "ssm_out": (inner, hidden),
        "ssm_d": inner,
        "ssm_dt.bias": inner,
        "ssm_conv1d.bias": inner,
    }
    if sizes.norms:
        weights |= {"ssm_dt_norm": sizes.rank, "ssm_b_norm": sizes.state, "ssm_c_norm": sizes.state}
    state = inner * sizes.state + (sizes.taps - 1) * inner
    return Mixing(tensors=Tensor.of_shapes(layer, weights), cache=LayerCache(state_values=state))


def hyper_connections(facts: ArchitectureSpec, layer: int, streams: int) -> tuple[Tensor, ...]:
    """Weights that mix `streams` residual streams around attention and feed-forward [1].

    Twice (2 + n) n outputs from n x hidden inputs; kept in 32 bits, counted with the norms.
    """
    mixes = (2 + streams) * streams
    wide = streams * facts.hidden
    weights: Shapes = {
        "hc_attn_norm": (wide, mixes),
        "hc_attn_base": mixes + 3,
        "hc_ffn_norm": (wide, mixes),
        "hc_ffn_base": mixes + 3,
    }
    return Tensor.of_shapes(layer, weights, group=Group.NORMS)


# K2 Horizon, whose expert layers may route the projection of values, too.
#
# Reference: huggingface/transformers, src/transformers/models/k2_horizon/modular_k2_horizon.py
# (K2HorizonMoVAAttention), read on 2026-11-22.


def k2_horizon(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Architecture of K2 Horizon: grouped attention, gated by value where the file says so.

    Where it has value experts, expert layers choose among their projections in place of one of
    their own.
    """
    facts = replace(facts, qk_norm="layer" if config.flag("query_key_norm") else "")
    if config.word("attention_gate_func"):
        gate = facts.heads * facts.head_dim
    else:
        gate = 0
    value_experts = config.whole("mova_num_experts")
    alone = set(config.numbers("mlp_only_layers"))
    step = config.whole("decoder_sparse_step") or 1
    routed = [
        facts.experts > 0 and at not in alone and (at + 1) % step == 0 for at in range(facts.layers)
    ]

    def mixing(at: int) -> Mixing:
        attends = attention(facts, at, gate=gate)
        if not routed[at] or not value_experts:
            return attends
        return _with_value_experts(attends, facts, at, value_experts)

    return stacked(facts, mixing, routed)


def _with_value_experts(
    mixing: Mixing, facts: ArchitectureSpec, layer: int, experts: int
) -> Mixing:
    """One value projection of hidden x KV weights for each expert, and their router.

    They count with the routed experts of the feed-forward, of which a token uses another share: 8
    of 100 there, 4 of 64 here, so that active weights of MoVA-36B-A4B come out 3 % high.
    """
    values = facts.kv_heads * facts.head_dim
    others = tuple(tensor for tensor in mixing.tensors if tensor.role != "attn_v")
    routed = Tensor.of_shapes(
        layer, {"attn_v_exps": (facts.hidden, values)}, group=Group.ROUTED_EXPERTS, stacked=experts
    )
    router = Tensor.of_shapes(
        layer, {"attn_v_gate_inp": (facts.hidden, experts)}, group=Group.ROUTER
    )
    return replace(mixing, tensors=others + routed + router)


# DeepSeek-V4 and V4.1: one shared key and value per token, kept compressed, beside a short window.
#
# A layer keeps the last `sliding_window` tokens as they are, and of all before them one entry per
# `ratio` tokens; at a ratio of four an index of small keys chooses among those. In V4.1 a few
# layers compress for all that follow them, and two look rows up in tables of n-grams.
#
# References: huggingface/transformers 5.23.0, models/deepseek_v4 (`DeepseekV4Attention`,
# `DeepseekV4CSACompressor`, `DeepseekV4HCACompressor`, `DeepseekV4Indexer`); of its main branch on
# 2026-11-22, models/deepseek_v41 (`DeepseekV41TextConfig`, `DeepseekV41Compressor`).

SPARSE = 4  # the ratio of layers whose entries an index chooses among


def deepseek_v4(config: Config, facts: ArchitectureSpec) -> Architecture:
    """DeepSeek-V4 Flash and Pro; every layer has experts."""
    usual = tuple(128 if at < 2 or at % 2 else SPARSE for at in range(facts.layers))
    stated = config.numbers("compress_ratios") or usual
    ratios = of_layers(config, facts, "compress_ratios", stated)

    def mixing(at: int) -> Mixing:
        return Mixing(
            tensors=_weights(
                config,
                facts,
                at,
                _compressor(facts, ratios[at]) if ratios[at] else {},
                _index(config, facts) if ratios[at] == SPARSE else {},
            ),
            cache=_cache(config, facts, ratios[at]),
            attention_values=_values_per_past_token(config, facts, ratios[at]),
        )

    return stacked(facts, mixing, outside=_head(config, facts))


def deepseek_v41(config: Config, facts: ArchitectureSpec) -> Architecture:
    """DeepSeek-V4.1: compressed entries of a few layers, shared by those behind them."""
    ratios = of_layers(config, facts, "compress_ratios", config.numbers("compress_ratios"))
    sources = set(config.numbers("kv_source_layer_ids"))
    indexes = set(config.numbers("index_source_layer_ids"))

    def mixing(at: int) -> Mixing:
        return Mixing(
            tensors=_weights(
                config,
                facts,
                at,
                _shared_compressor(config, facts, ratios[at]) if at in sources else {},
                _index_queries(config, facts) if at in indexes else {},
            ),
            cache=_shared_cache(config, facts, ratios[at], source=at in sources),
            # what an index reads per past token; what it chooses does not grow with them
            attention_values=_index_values(config) // ratios[at] if at in indexes else 0,
        )

    return stacked(facts, mixing, outside=_head(config, facts) + _ngram_tables(config))


def _head(config: Config, facts: ArchitectureSpec) -> tuple[Tensor, ...]:
    """Weights that join the residual streams before the output head."""
    streams = config.required("hc_mult")
    return Tensor.of_shapes(None, {"hc_head": (streams * facts.hidden, streams)})


def _ngram_tables(config: Config) -> tuple[Tensor, ...]:
    """Tables of hashed n-grams, of which a token reads a few rows, as of the embedding."""
    rows = sum(config.numbers("engram_num_embeddings"))
    return Tensor.of_shapes(
        None, {Tensor.LAYER_TABLES: (config.required("engram_head_dim"), rows)} if rows else {}
    )


def _weights(
    config: Config, facts: ArchitectureSpec, layer: int, *further: Shapes
) -> tuple[Tensor, ...]:
    """Weights of a layer's attention with further ones, and those that mix its streams.

    Queries and output are of low rank; one key and value of a head's width serves all heads.
    """
    rank = config.required("q_lora_rank")
    dim = facts.head_dim
    hidden = facts.hidden
    groups = config.required("o_groups")
    out_rank = config.required("o_lora_rank")
    wide = facts.heads * dim
    attention: Shapes = {
        "attn_q_a": (hidden, rank),
        "attn_q_b": (rank, wide),
        "attn_kv": (hidden, dim),
        "attn_output_a": (wide // groups, groups * out_rank),
        "attn_output_b": (groups * out_rank, hidden),
        "attn_q_a_norm": rank,
        "attn_kv_norm": dim,
        "attn_sinks": facts.heads,
    }
    weights: list[Tensor] = []
    for shapes in (attention, *further):
        for role, shape in shapes.items():
            group = None if role.endswith("norm") else Group.ATTENTION
            weights += Tensor.of_shapes(layer, {role: shape}, group=group)
    return tuple(weights) + hyper_connections(facts, layer, config.required("hc_mult"))


def _shared_compressor(config: Config, facts: ArchitectureSpec, ratio: int) -> Shapes:
    """One entry per `ratio` tokens for all layers behind, pooled by a gate where it is several."""
    hidden = facts.hidden
    dim = facts.head_dim
    keys = config.required("index_head_dim")
    if ratio > 1:
        pooled = {"compressor.gate": (hidden, dim)}
    else:
        pooled = {}
    return {
        "compressor.kv": (hidden, dim),
        **pooled,
        "indexer.attn_k": (dim, keys),
        "compressor.norm": dim,
        "indexer.k_norm": keys,
    }


def _index_queries(config: Config, facts: ArchitectureSpec) -> Shapes:
    return {
        "indexer.attn_q_b": (config.required("q_lora_rank"), _index_values(config)),
        "indexer.proj": (facts.hidden, config.required("index_n_heads")),
    }


def _index_values(config: Config) -> int:
    """Values of an index's query."""
    return config.required("index_n_heads") * config.required("index_head_dim")


def _shared_cache(
    config: Config, facts: ArchitectureSpec, ratio: int, *, source: bool
) -> LayerCache:
    """Window of every layer; entries and index keys in those that compress alone."""
    window = config.required("sliding_window") * facts.head_dim // LayerCache.HALF_OF_A_STATE
    if not source:
        return LayerCache(state_values=window)
    entry = facts.head_dim + config.required("index_head_dim")
    return LayerCache(key_values=entry // ratio, state_values=window)


def _compressor(facts: ArchitectureSpec, ratio: int) -> Shapes:
    width = facts.head_dim * (2 if ratio == SPARSE else 1)
    return {
        "compressor.kv": (facts.hidden, width),
        "compressor.gate": (facts.hidden, width),
        "compressor.position": (width, ratio),
        "compressor.norm": facts.head_dim,
    }


def _index(config: Config, facts: ArchitectureSpec) -> Shapes:
    dim = config.required("index_head_dim")
    return {
        **_index_queries(config, facts),
        "indexer.kv": (facts.hidden, 2 * dim),
        "indexer.gate": (facts.hidden, 2 * dim),
        "indexer.position": (2 * dim, SPARSE),
        "indexer.k_norm": dim,
    }


def _cache(config: Config, facts: ArchitectureSpec, ratio: int) -> LayerCache:
    if ratio == SPARSE:
        index = config.required("index_head_dim")
    else:
        index = 0
    return LayerCache.compressed(facts.head_dim, ratio, config.required("sliding_window"), index)


def _values_per_past_token(config: Config, facts: ArchitectureSpec, ratio: int) -> int:
    """Values read per past token: all cached entries, or their index keys only."""
    if ratio == SPARSE:
        values = _index_values(config)
    else:
        values = 2 * facts.heads * facts.head_dim
    return values // (ratio or 1)
