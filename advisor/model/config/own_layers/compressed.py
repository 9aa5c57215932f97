"""DeepSeek-V4 and V4.1: one shared key and value per token, kept compressed, beside a short window.

A layer keeps the last `sliding_window` tokens as they are, and of all before them one entry per
`ratio` tokens; at a ratio of four an index of small keys chooses among those. In V4.1 a few layers
compress for all that follow them, and two look rows up in tables of n-grams.

References: huggingface/transformers 5.23.0, models/deepseek_v4 (`DeepseekV4Attention`,
`DeepseekV4CSACompressor`, `DeepseekV4HCACompressor`, `DeepseekV4Indexer`); of its main branch on
2026-11-22, models/deepseek_v41 (`DeepseekV41TextConfig`, `DeepseekV41Compressor`).
"""

from advisor.model.architecture import (
    LAYER_TABLES,
    Architecture,
    Group,
    LayerCache,
    Shapes,
    Tensor,
    tensors,
)
from advisor.model.config.own_layers.parts import hyper_connections, of_layers, stacked
from advisor.model.config.values import Config
from advisor.model.layers import Mixing
from advisor.model.spec import ArchitectureSpec

SPARSE = 4
"""The ratio of layers whose entries an index chooses among."""
HALF_OF_A_STATE = 2
"""A window's values are kept in 16 bits; states are counted in 32."""


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
    return tensors(None, {"hc_head": (streams * facts.hidden, streams)})


def _ngram_tables(config: Config) -> tuple[Tensor, ...]:
    """Tables of hashed n-grams, of which a token reads a few rows, as of the embedding."""
    rows = sum(config.numbers("engram_num_embeddings"))
    return tensors(None, {LAYER_TABLES: (config.required("engram_head_dim"), rows)} if rows else {})


def _weights(
    config: Config, facts: ArchitectureSpec, layer: int, *further: Shapes
) -> tuple[Tensor, ...]:
    """Weights of a layer's attention with further ones, and those that mix its streams.

    Queries and output are of low rank; one key and value of a head's width serves all heads.
    """
    rank, dim, hidden = config.required("q_lora_rank"), facts.head_dim, facts.hidden
    groups, out_rank = config.required("o_groups"), config.required("o_lora_rank")
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
    weights = tuple(
        tensor
        for shapes in (attention, *further)
        for role, shape in shapes.items()
        for tensor in tensors(
            layer, {role: shape}, group=None if role.endswith("norm") else Group.ATTENTION
        )
    )
    return weights + hyper_connections(facts, layer, config.required("hc_mult"))


def _shared_compressor(config: Config, facts: ArchitectureSpec, ratio: int) -> Shapes:
    """One entry per `ratio` tokens for all layers behind, pooled by a gate where it is several."""
    hidden, dim, keys = facts.hidden, facts.head_dim, config.required("index_head_dim")
    pooled = {"compressor.gate": (hidden, dim)} if ratio > 1 else {}
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
    """The window of every layer; entries and index keys in those that compress alone."""
    window = config.required("sliding_window") * facts.head_dim // HALF_OF_A_STATE
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
    window = config.required("sliding_window")
    if not ratio:
        return LayerCache(key_values=facts.head_dim, window=window)
    index = config.required("index_head_dim") if ratio == SPARSE else 0
    return LayerCache(
        key_values=(facts.head_dim + index) // ratio,
        state_values=window * facts.head_dim // HALF_OF_A_STATE,
    )


def _values_per_past_token(config: Config, facts: ArchitectureSpec, ratio: int) -> int:
    """Values read per past token: all cached entries, or their index keys only."""
    values = _index_values(config) if ratio == SPARSE else 2 * facts.heads * facts.head_dim
    return values // (ratio or 1)
