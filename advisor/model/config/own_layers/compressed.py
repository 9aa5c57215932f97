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
    Tensor,
    linear,
    vectors,
)
from advisor.model.config.own_layers.parts import (
    ATTENTION,
    Mixing,
    OwnLayer,
    hyper_connections,
    stack,
)
from advisor.model.config.values import Config
from advisor.model.spec import ArchitectureSpec

SPARSE = 4
"""The ratio of layers whose entries an index chooses among."""
HALF_OF_A_STATE = 2
"""A window's values are kept in 16 bits; states are counted in 32."""


def deepseek_v4(config: Config, facts: ArchitectureSpec) -> Architecture:
    """DeepSeek-V4 Flash and Pro; every layer has experts."""
    streams = config.required("hc_mult")
    layers = []
    for at, ratio in enumerate(_ratios(config, facts.layers)):
        mixing = _compressed(config, facts, at, ratio)
        mixing = mixing.beside(*hyper_connections(facts, at, streams))
        layers.append(OwnLayer(mixing=mixing, facts=facts))
    head = linear("hc_head", Group.OUTPUT, None, inputs=streams * facts.hidden, outputs=streams)
    return stack(facts, layers, head)


def deepseek_v41(config: Config, facts: ArchitectureSpec) -> Architecture:
    """DeepSeek-V4.1: compressed entries of a few layers, shared by those behind them."""
    streams = config.required("hc_mult")
    ratios = config.numbers("compress_ratios")
    sources = set(config.numbers("kv_source_layer_ids"))
    indexes = set(config.numbers("index_source_layer_ids"))
    layers = []
    for at in range(facts.layers):
        weights = _latent_attention(config, facts, at)
        if at in sources:
            weights += _shared_compressor(config, facts, at, ratios[at])
        if at in indexes:
            weights += _index_queries(config, facts, at)
        mixing = Mixing(
            tensors=weights + hyper_connections(facts, at, streams),
            cache=_shared_cache(config, facts, ratios[at], source=at in sources),
            attention_values=_index_values(config, ratios[at], index=at in indexes),
        )
        layers.append(OwnLayer(mixing=mixing, facts=facts))
    head = linear("hc_head", Group.OUTPUT, None, inputs=streams * facts.hidden, outputs=streams)
    return stack(facts, layers, head + _ngram_tables(config))


def _ngram_tables(config: Config) -> tuple[Tensor, ...]:
    """Tables of hashed n-grams, of which a token reads a few rows, as of the embedding."""
    rows = sum(config.numbers("engram_num_embeddings"))
    if not rows:
        return ()
    width = config.required("engram_head_dim")
    return linear(LAYER_TABLES, Group.EMBEDDING, None, inputs=width, outputs=rows)


def _shared_compressor(
    config: Config, facts: ArchitectureSpec, layer: int, ratio: int
) -> tuple[Tensor, ...]:
    """One entry per `ratio` tokens for all layers behind, pooled by a gate where it is several."""
    hidden, dim, keys = facts.hidden, facts.head_dim, config.required("index_head_dim")
    pooled = linear("compressor.gate", ATTENTION, layer, inputs=hidden, outputs=dim)
    return (
        *linear("compressor.kv", ATTENTION, layer, inputs=hidden, outputs=dim),
        *(pooled if ratio > 1 else ()),
        *linear("indexer.attn_k", ATTENTION, layer, inputs=dim, outputs=keys),
        *vectors(Group.NORMS, layer, **{"compressor.norm": dim, "indexer.k_norm": keys}),
    )


def _index_queries(config: Config, facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    heads, dim = config.required("index_n_heads"), config.required("index_head_dim")
    rank = config.required("q_lora_rank")
    return (
        *linear("indexer.attn_q_b", ATTENTION, layer, inputs=rank, outputs=heads * dim),
        *linear("indexer.proj", ATTENTION, layer, inputs=facts.hidden, outputs=heads),
    )


def _shared_cache(
    config: Config, facts: ArchitectureSpec, ratio: int, *, source: bool
) -> LayerCache:
    """The window of every layer; entries and index keys in those that compress alone."""
    window = config.required("sliding_window") * facts.head_dim // HALF_OF_A_STATE
    if not source:
        return LayerCache(state_values=window)
    entry = facts.head_dim + config.required("index_head_dim")
    return LayerCache(key_values=entry // ratio, state_values=window)


def _index_values(config: Config, ratio: int, *, index: bool) -> int:
    """Values that an index reads per past token; what it chooses does not grow with them."""
    if not index:
        return 0
    return config.required("index_n_heads") * config.required("index_head_dim") // ratio


def _ratios(config: Config, layers: int) -> tuple[int, ...]:
    """Tokens per kept entry of each layer; 0 keeps the window alone."""
    stated = config.numbers("compress_ratios")
    if stated:
        return stated[:layers]
    return tuple(128 if at < 2 or at % 2 else SPARSE for at in range(layers))


def _latent_attention(config: Config, facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Queries and output of low rank, one key and value of a head's width for all heads."""
    rank, dim, hidden = config.required("q_lora_rank"), facts.head_dim, facts.hidden
    groups, out_rank = config.required("o_groups"), config.required("o_lora_rank")
    wide = facts.heads * dim
    return (
        *linear("attn_q_a", ATTENTION, layer, inputs=hidden, outputs=rank),
        *linear("attn_q_b", ATTENTION, layer, inputs=rank, outputs=wide),
        *linear("attn_kv", ATTENTION, layer, inputs=hidden, outputs=dim),
        *linear(
            "attn_output_a", ATTENTION, layer, inputs=wide // groups, outputs=groups * out_rank
        ),
        *linear("attn_output_b", ATTENTION, layer, inputs=groups * out_rank, outputs=hidden),
        *vectors(Group.NORMS, layer, attn_q_a_norm=rank, attn_kv_norm=dim),
        *vectors(ATTENTION, layer, attn_sinks=facts.heads),
    )


def _compressed(config: Config, facts: ArchitectureSpec, layer: int, ratio: int) -> Mixing:
    rank = config.required("q_lora_rank")
    weights = (
        *_latent_attention(config, facts, layer),
        *(_compressor(facts, layer, ratio) if ratio else ()),
        *(_index(config, facts, layer, rank) if ratio == SPARSE else ()),
    )
    return Mixing(
        tensors=weights,
        cache=_cache(config, facts, ratio),
        attention_values=_values_per_past_token(config, facts, ratio),
    )


def _compressor(facts: ArchitectureSpec, layer: int, ratio: int) -> tuple[Tensor, ...]:
    width = facts.head_dim * (2 if ratio == SPARSE else 1)
    return (
        *linear("compressor.kv", ATTENTION, layer, inputs=facts.hidden, outputs=width),
        *linear("compressor.gate", ATTENTION, layer, inputs=facts.hidden, outputs=width),
        *linear("compressor.position", ATTENTION, layer, inputs=width, outputs=ratio),
        *vectors(Group.NORMS, layer, **{"compressor.norm": facts.head_dim}),
    )


def _index(config: Config, facts: ArchitectureSpec, layer: int, rank: int) -> tuple[Tensor, ...]:
    heads, dim = config.required("index_n_heads"), config.required("index_head_dim")
    return (
        *linear("indexer.attn_q_b", ATTENTION, layer, inputs=rank, outputs=heads * dim),
        *linear("indexer.proj", ATTENTION, layer, inputs=facts.hidden, outputs=heads),
        *linear("indexer.kv", ATTENTION, layer, inputs=facts.hidden, outputs=2 * dim),
        *linear("indexer.gate", ATTENTION, layer, inputs=facts.hidden, outputs=2 * dim),
        *linear("indexer.position", ATTENTION, layer, inputs=2 * dim, outputs=SPARSE),
        *vectors(Group.NORMS, layer, **{"indexer.k_norm": dim}),
    )


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
    if not ratio:
        return 2 * facts.heads * facts.head_dim
    if ratio == SPARSE:
        return config.required("index_n_heads") * config.required("index_head_dim") // ratio
    return 2 * facts.heads * facts.head_dim // ratio
