"""DeepSeek-V4: one shared key and value per token, kept compressed, beside a short window.

A layer keeps the last `sliding_window` tokens as they are, and of all before them one entry per
`ratio` tokens; at a ratio of four an index of small keys chooses among those.

Reference: huggingface/transformers 5.23.0, models/deepseek_v4 (`DeepseekV4Attention`,
`DeepseekV4CSACompressor`, `DeepseekV4HCACompressor`, `DeepseekV4Indexer`).
"""

from advisor.model.architecture import Architecture, Group, LayerCache, Tensor, linear, vectors
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


def _ratios(config: Config, layers: int) -> tuple[int, ...]:
    """Tokens per kept entry of each layer; 0 keeps the window alone."""
    stated = config.numbers("compress_ratios")
    if stated:
        return stated[:layers]
    return tuple(128 if at < 2 or at % 2 else SPARSE for at in range(layers))


def _compressed(config: Config, facts: ArchitectureSpec, layer: int, ratio: int) -> Mixing:
    rank, dim, hidden = config.required("q_lora_rank"), facts.head_dim, facts.hidden
    groups, out_rank = config.required("o_groups"), config.required("o_lora_rank")
    wide = facts.heads * dim
    weights = (
        *linear("attn_q_a", ATTENTION, layer, inputs=hidden, outputs=rank),
        *linear("attn_q_b", ATTENTION, layer, inputs=rank, outputs=wide),
        *linear("attn_kv", ATTENTION, layer, inputs=hidden, outputs=dim),
        *linear(
            "attn_output_a", ATTENTION, layer, inputs=wide // groups, outputs=groups * out_rank
        ),
        *linear("attn_output_b", ATTENTION, layer, inputs=groups * out_rank, outputs=hidden),
        *vectors(Group.NORMS, layer, attn_q_a_norm=rank, attn_kv_norm=dim),
        *vectors(ATTENTION, layer, attn_sinks=facts.heads),
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
