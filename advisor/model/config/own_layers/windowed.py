"""Families that alternate windows and full attention of different sizes, or gate what they attend.

References: huggingface/transformers 5.23.0, models/{step3p7,laguna,muse_glimmer,mimo_v2_flash,
inkling,minimax_m3_vl}; ml-explore/mlx-lm 0.32.2, models/spark2_5.py.
"""

from collections.abc import Mapping
from dataclasses import replace

from advisor.errors import InputError
from advisor.model.architecture import Architecture, Shapes, tensors
from advisor.model.build import Layer, stack
from advisor.model.config.own_layers.parts import (
    attention,
    of_layers,
    stacked,
    two_size_attention,
)
from advisor.model.config.values import Config
from advisor.model.layers import Mixing
from advisor.model.spec import ArchitectureSpec

SLIDING = ("sliding_attention", "sliding_window_attention", "local_attention")


def step3(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Step-3.5 and 3.7: windowed layers may have more heads, each head's output is gated."""
    other = config.part("attention_other_setting").get("num_attention_heads")
    sliding_heads = config.whole("num_sliding_attention_heads") or other or facts.heads
    facts = replace(facts, qk_norm="head", window=config.whole("sliding_window"))
    inside = replace(facts, layer_pattern="W", heads=int(str(sliding_heads)))
    windows = _windows(config, facts)

    def mixing(at: int) -> Mixing:
        layer = inside if windows[at] else facts
        return attention(layer, at, gate=layer.heads)

    return stacked(facts, mixing, _routed(config, facts, first=3))


def laguna(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Laguna: heads by layer, a gate per head or per value, the first layer dense."""
    heads = config.numbers("num_attention_heads_per_layer") or (facts.heads,) * facts.layers
    heads = tuple(of_layers(config, facts, "num_attention_heads_per_layer", heads))
    facts = replace(facts, qk_norm="head", window=config.whole("sliding_window"))
    values_of_a_gate = facts.head_dim if config.raw("gating")[1] == "per-element" else 1
    windows = _windows(config, facts)

    def mixing(at: int) -> Mixing:
        layer = replace(facts, heads=heads[at], layer_pattern="W" if windows[at] else "F")
        return attention(layer, at, gate=layer.heads * values_of_a_gate)

    return stacked(facts, mixing, _routed(config, facts, first=1))


def muse_glimmer(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Muse Glimmer: every fourth layer counted from the last sees all; outputs gated by value."""
    last = facts.layers - 1
    windows = _windows(config, facts, [bool((last - at) % 4) for at in range(facts.layers)])
    facts = replace(facts, norms_per_layer=4)
    return _gated(config, facts, windows, facts.heads * facts.head_dim)


def spark(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Spark X2.5: three windowed layers, then one that sees all; outputs gated by head."""
    windows = _windows(config, facts, [at % 4 != 3 for at in range(facts.layers)])
    return _gated(config, facts, windows, facts.heads)


def _gated(config: Config, facts: ArchitectureSpec, windows: list[bool], gate: int) -> Architecture:
    facts = replace(facts, window=config.whole("sliding_window"))
    inside = replace(facts, layer_pattern="W")
    return stacked(facts, lambda at: attention(inside if windows[at] else facts, at, gate=gate))


def mimo_v2(config: Config, facts: ArchitectureSpec) -> Architecture:
    """MiMo-V2: values narrower than keys, windowed layers with more key heads, sinks there."""
    usual = tuple(int(at != 0 and (at + 1) % 6 != 0) for at in range(facts.layers))
    windows = config.numbers("hybrid_layer_pattern") or usual
    windows = tuple(of_layers(config, facts, "hybrid_layer_pattern", windows))
    inside = replace(
        facts,
        layer_pattern="W",
        window=config.whole("sliding_window_size") or config.whole("sliding_window"),
        heads=config.whole("swa_num_attention_heads") or facts.heads,
        kv_heads=config.whole("swa_num_key_value_heads") or facts.kv_heads,
        head_dim=config.whole("swa_head_dim") or facts.head_dim,
        attn_sinks=config.flag("add_swa_attention_sink_bias"),
    )
    values = config.required("v_head_dim")
    inside_values = config.required("swa_v_head_dim", "v_head_dim")

    def mixing(at: int) -> Mixing:
        if windows[at]:
            return two_size_attention(inside, at, inside_values)
        return two_size_attention(facts, at, values)

    return stacked(facts, mixing, _routed(config, facts, first=1))


def inkling(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Inkling: windowed layers with more key heads, relative positions, four short convolutions."""
    local = config.numbers("local_layer_ids")
    usual = [at in local for at in range(facts.layers)] if local else None
    windows = _windows(config, facts, usual)
    facts = replace(facts, qk_norm="head")
    inside = replace(
        facts,
        layer_pattern="W",
        window=config.whole("sliding_window_size"),
        heads=config.required("swa_num_attention_heads"),
        kv_heads=config.required("swa_num_key_value_heads"),
        head_dim=config.required("swa_head_dim"),
    )
    return stacked(
        facts,
        lambda at: _with_relative_positions(config, inside if windows[at] else facts, at),
        _routed(config, facts, first=2),
    )


def _with_relative_positions(config: Config, facts: ArchitectureSpec, layer: int) -> Mixing:
    positions, extent = config.required("d_rel"), config.required("rel_extent")
    taps, hidden = config.required("conv_kernel_size"), facts.hidden
    convolved = 2 * (facts.kv_heads * facts.head_dim + hidden)
    weights = {
        "attn_rel": (hidden, facts.heads * positions),
        "attn_rel_proj": (extent, positions),
        "attn_conv1d": (taps, convolved),
    }
    mixing = attention(facts, layer).beside(*tensors(layer, weights))
    return replace(mixing, cache=replace(mixing.cache, state_values=(taps - 1) * convolved))


def minimax_m3(config: Config, facts: ArchitectureSpec) -> Architecture:
    """MiniMax-M3: grouped attention to blocks that an index of small heads chooses.

    The index adds hidden x heads x dim + hidden x dim weights and a key of `dim` per token.
    """
    sparse = config.part("sparse_attention_config")
    inner = Config(name=config.name, values={**config.values, **sparse})
    heads = inner.optional("sparse_num_index_heads", "index_n_heads") or 4
    dim = inner.optional("sparse_index_dim", "index_head_dim") or 128
    facts = replace(facts, qk_norm="head")
    routed = _routed(config, facts, first=3)
    words = config.words("layer_types")
    flags = [word == "minimax_m3_sparse" for word in words] or [
        bool(flag) for flag in inner.numbers("sparse_attention_freq")
    ]
    indexed = of_layers(config, facts, "sparse_attention_freq", flags or routed)

    def mixing(at: int) -> Mixing:
        attends = attention(facts, at)
        return _indexed(attends, facts, at, heads, dim) if indexed[at] else attends

    return stacked(facts, mixing, routed)


def _indexed(mixing: Mixing, facts: ArchitectureSpec, layer: int, heads: int, dim: int) -> Mixing:
    weights: Shapes = {
        "indexer.attn_q": (facts.hidden, heads * dim),
        "indexer.attn_k": (facts.hidden, dim),
        "indexer.q_norm": dim,
        "indexer.k_norm": dim,
    }
    cache = replace(mixing.cache, key_values=mixing.cache.key_values + dim)
    return replace(mixing.beside(*tensors(layer, weights)), cache=cache)


def nemotron_nas(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Layers that a search gave their own widths, some without attention or feed-forward.

    `ffn_mult` times two thirds of four hidden sizes, rounded up to 256 (DeciLM's
    `_ffn_mult_to_intermediate_size`).
    """
    blocks = config.raw("block_configs")[1]
    if not isinstance(blocks, list | tuple) or len(blocks) != facts.layers:
        raise InputError(f"{config.name}: block_configs must list its {facts.layers} layers.")
    return stack(facts, [_searched(config, facts, at, block) for at, block in enumerate(blocks)])


def _searched(config: Config, facts: ArchitectureSpec, layer: int, block: object) -> Layer:
    values = block if isinstance(block, Mapping) else _written_out(block)
    inner = Config(name=config.name, values=values)
    heads = Config(name=config.name, values=inner.part("attention"))
    widths = Config(name=config.name, values=inner.part("ffn"))
    shared = heads.whole("n_heads_in_group") or 1
    searched = replace(facts, kv_heads=facts.heads // shared, norms_per_layer=2)
    mixing = Mixing()
    if not _absent(heads):
        mixing = attention(searched, layer)
    elif heads.flag("replace_with_linear"):
        weights = {"attn_output": (searched.hidden, searched.hidden)}
        mixing = Mixing(tensors=tensors(layer, weights))
    return Layer(
        mixing=mixing, facts=replace(searched, intermediate=_searched_width(searched, widths))
    )


def _written_out(block: object) -> Mapping[str, object]:
    """A pair of heads in a group and `ffn_mult`, null where a layer has none, as a block_config."""
    heads, multiple = block if isinstance(block, list | tuple) and len(block) == 2 else (None, 1)
    return {
        "attention": {"n_heads_in_group": heads, "no_op": heads is None},
        "ffn": {"ffn_mult": multiple, "no_op": multiple is None},
    }


def _absent(part: Config) -> bool:
    return part.flag("no_op") or part.flag("replace_with_linear")


def _searched_width(facts: ArchitectureSpec, widths: Config) -> int:
    if _absent(widths):
        return 0
    multiple = widths.raw("ffn_mult")[1]
    if not isinstance(multiple, int | float):
        return widths.required("intermediate_size")
    return -(-int(2 * float(multiple) * facts.hidden / 3) // 256) * 256


def _windows(
    config: Config, facts: ArchitectureSpec, usual: list[bool] | None = None
) -> list[bool]:
    """Whether each layer is windowed; the list of a file may go on with drafting layers."""
    words = config.words("layer_types")[: facts.layers]
    if words:
        return [words[at % len(words)] in SLIDING for at in range(facts.layers)]
    return usual or [False] * facts.layers


def _routed(config: Config, facts: ArchitectureSpec, first: int) -> list[bool]:
    """Whether each layer has experts: as the file lists it, else all but the first."""
    words = config.words("mlp_layer_types")
    if words:
        listed = of_layers(config, facts, "mlp_layer_types", words)
        return [word != "dense" for word in listed]
    if isinstance(config.raw("moe_layer_freq")[1], list | tuple):
        numbers = of_layers(config, facts, "moe_layer_freq", config.numbers("moe_layer_freq"))
        return [bool(number) for number in numbers]
    written = config.raw("moe_layers_enum")[1]
    if isinstance(written, str) and written:
        chosen = {int(part) for part in written.split(",")}
        return [at in chosen for at in range(facts.layers)]
    start = config.optional("first_k_dense_replace")
    return [at >= (first if start is None else start) for at in range(facts.layers)]
