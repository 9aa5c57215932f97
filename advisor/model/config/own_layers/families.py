"""Families of models whose layers differ: with windows, a state, or gates on what they attend.

References: huggingface/transformers 5.23.0, models/{step3p7,laguna,muse_glimmer,mimo_v2_flash,
inkling,minimax_m3_vl,kimi_linear,bailing_hybrid,glm5_next,qwen4_exp,jamba,granitemoehybrid,
falcon_h1,lfm2,lfm2_moe}; ml-explore/mlx-lm 0.32.2, models/spark2_5.py; sgl-project/sglang 0.5.23,
srt/models/kimi_k3.py.
"""

from collections.abc import Mapping
from dataclasses import replace

from advisor.errors import InputError
from advisor.model.architecture import Architecture, ArchitectureSpec, Group, Shapes, Tensor
from advisor.model.build import Layer, Mixing, build
from advisor.model.config.own_layers.parts import (
    DeltaSizes,
    MambaSizes,
    attention,
    hyper_connections,
    kimi_delta,
    mamba1,
    of_layers,
    short_convolution,
    stacked,
    two_size_attention,
)
from advisor.model.config.own_layers.states import heads_by_layer
from advisor.model.config.values import Config

# Families that alternate windows and full attention of different sizes, or gate what they attend.

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
    if config.raw("gating")[1] == "per-element":
        values_of_a_gate = facts.head_dim
    else:
        values_of_a_gate = 1
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
    if local:
        usual = [at in local for at in range(facts.layers)]
    else:
        usual = None
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
    positions = config.required("d_rel")
    extent = config.required("rel_extent")
    taps = config.required("conv_kernel_size")
    hidden = facts.hidden
    convolved = 2 * (facts.kv_heads * facts.head_dim + hidden)
    weights = {
        "attn_rel": (hidden, facts.heads * positions),
        "attn_rel_proj": (extent, positions),
        "attn_conv1d": (taps, convolved),
    }
    mixing = attention(facts, layer).beside(*Tensor.of_shapes(layer, weights))
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
        if indexed[at]:
            return _indexed(attends, facts, at, heads, dim)
        return attends

    return stacked(facts, mixing, routed)


def _indexed(mixing: Mixing, facts: ArchitectureSpec, layer: int, heads: int, dim: int) -> Mixing:
    weights: Shapes = {
        "indexer.attn_q": (facts.hidden, heads * dim),
        "indexer.attn_k": (facts.hidden, dim),
        "indexer.q_norm": dim,
        "indexer.k_norm": dim,
    }
    cache = replace(mixing.cache, key_values=mixing.cache.key_values + dim)
    return replace(mixing.beside(*Tensor.of_shapes(layer, weights)), cache=cache)


def qwen1(config: Config, facts: ArchitectureSpec) -> Architecture:
    """The first Qwen, whose `intermediate_size` counts both halves of its gated feed-forward block.

    Reference: Qwen/Qwen-7B, modeling_qwen.py, `ff_dim_in = config.intermediate_size // 2`.
    """
    return build(replace(facts, intermediate=config.whole("intermediate_size") // 2))


def nemotron_nas(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Layers that a search gave their own widths, some without attention or feed-forward.

    `ffn_mult` times two thirds of four hidden sizes, rounded up to 256 (DeciLM's
    `_ffn_mult_to_intermediate_size`).
    """
    if config.states("num_key_value_heads_per_layer"):
        return heads_by_layer(config, facts)
    blocks = config.raw("block_configs")[1]
    if not isinstance(blocks, list | tuple) or len(blocks) != facts.layers:
        raise InputError(f"{config.name}: block_configs must list its {facts.layers} layers.")
    return Layer.stacked(
        facts, [_searched(config, facts, at, block) for at, block in enumerate(blocks)]
    )


def _searched(config: Config, facts: ArchitectureSpec, layer: int, block: object) -> Layer:
    if isinstance(block, Mapping):
        values = block
    else:
        values = _written_out(block)
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
        mixing = Mixing(tensors=Tensor.of_shapes(layer, weights))
    return Layer(
        mixing=mixing, facts=replace(searched, intermediate=_searched_width(searched, widths))
    )


def _written_out(block: object) -> Mapping[str, object]:
    """Pair of heads in a group and `ffn_mult`, null where a layer has none, as a block_config."""
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
    """Whether each layer has experts: as the file lists it, or in all layers but the first."""
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
    return _but_the_first(config, facts, usual=first)


def _but_the_first(config: Config, facts: ArchitectureSpec, usual: int) -> list[bool]:
    """Whether each layer has experts: all but some first ones."""
    stated = config.optional("first_k_dense_replace")
    return [at >= (usual if stated is None else stated) for at in range(facts.layers)]


# Families that mix attention with a state: Kimi Delta Attention, gated DeltaNet, Mamba, LFM2.

ATTENDING = ("full_attention", "attention", "indexed_attention")


def kimi_linear(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Kimi Linear and K3: delta attention, every fourth layer latent attention, gated in K3."""
    told = Config(name=config.name, values=config.part("linear_attn_config"))
    sizes = DeltaSizes(
        heads=told.whole("num_heads") or config.required("linear_num_heads"),
        dim=told.whole("head_dim") or config.required("linear_head_dim"),
        taps=told.whole("short_conv_kernel_size") or config.required("linear_conv_kernel_dim"),
        full_gate=told.flag("use_full_rank_gate"),
    )
    listed = told.numbers("full_attn_layers") or range(5, facts.layers + 1, 4)
    if config.flag("mla_use_output_gate"):
        gate = facts.heads * facts.v_head_dim
    else:
        gate = 0
    across = config.whole("attn_res_block_size")

    def mixing(at: int) -> Mixing:
        full = at + 1 in listed
        if full:
            mixed = attention(facts, at, gate=gate)
        else:
            mixed = kimi_delta(facts, at, sizes)
        if across:
            return mixed.beside(*_across_blocks(facts, at))
        return mixed

    return stacked(facts, mixing, _but_the_first(config, facts, usual=1))


def _across_blocks(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Norms and weights by which a layer reads the blocks before it [sglang kimi_k3.py]."""
    roles = ("attn_res_norm", "attn_res_proj", "ffn_res_norm", "ffn_res_proj")
    return Tensor.of_shapes(layer, dict.fromkeys(roles, facts.hidden), group=Group.NORMS)


def bailing_hybrid(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Ling 3.0: delta attention with gates of full rank; the last of each group attends."""
    group = config.required("layer_group_size")
    sizes = DeltaSizes(
        heads=facts.heads,
        dim=config.required("head_dim"),
        taps=config.required("short_conv_kernel_size"),
        full_gate=True,
        full_decay=True,
    )

    def mixing(at: int) -> Mixing:
        if (at + 1) % group == 0:
            return attention(facts, at, gate=facts.heads)
        return kimi_delta(facts, at, sizes)

    return stacked(facts, mixing, _but_the_first(config, facts, usual=0))


def glm5_next(config: Config, facts: ArchitectureSpec) -> Architecture:
    """GLM-5.3-Flash: delta attention, every fourth layer latent with an indexer, four streams."""
    sizes = DeltaSizes(
        heads=config.required("linear_num_heads"),
        dim=config.required("linear_head_dim"),
        taps=config.required("linear_conv_kernel_dim"),
    )
    indexed = replace(
        facts,
        layer_pattern="I",
        index_heads=config.required("index_n_heads"),
        index_dim=config.required("index_head_dim"),
    )
    usual = [at % 4 == 3 for at in range(facts.layers)]
    full = _attending(config, facts, "layer_types") or usual
    streams = config.required("hc_mult")
    pooled = config.required("index_kpool")

    def mixing(at: int) -> Mixing:
        if full[at]:
            mixed = _pooled_index(indexed, at, pooled)
        else:
            mixed = kimi_delta(facts, at, sizes)
        return mixed.beside(*hyper_connections(facts, at, streams))

    return stacked(facts, mixing, [at >= 3 for at in range(facts.layers)])


def _attending(config: Config, facts: ArchitectureSpec, key: str) -> list[bool]:
    """Whether each layer attends, as a file lists it; empty where it does not."""
    words = config.words(key)
    if words:
        return [word in ATTENDING for word in of_layers(config, facts, key, words)]
    return []


def _pooled_index(facts: ArchitectureSpec, layer: int, pooled: int) -> Mixing:
    """Index key of each run of tokens, pooled by a gate, in place of one per token."""
    mixing = attention(facts, layer)
    dim = facts.index_dim
    spared = dim - dim // pooled
    cache = replace(mixing.cache, key_values=mixing.cache.key_values - spared)
    return replace(
        mixing.beside(*Tensor.of_shapes(layer, {"indexer.pool": (facts.hidden, dim)})), cache=cache
    )


def qwen4_exp(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Qwen3.8-Flash-Next: gated DeltaNet, every fourth layer attends with an index; mixed streams.

    Some layers read rows of n-gram tables: `heads_per_ngram` heads per n, each with a table of
    about `ngram_vocab_size_base` rows; a token reads one row of each.
    """
    facts = replace(facts, qk_norm="head", attn_output_gate=True)
    tables = config.numbers("ple_layer_ids")
    layers = []
    for at in range(facts.layers):
        full = (at + 1) % 4 == 0
        mixing = attention(replace(facts, layer_pattern="F" if full else "L"), at)
        if full:
            mixing = _block_index(config, mixing, facts, at)
        mixing = mixing.beside(*_mixed_streams(config, facts, at))
        if at + 1 in tables:
            mixing = mixing.beside(*_ngram_reader(config, facts, at))
        layers.append(Layer(mixing=mixing, facts=facts, norms=False))
    return Layer.stacked(facts, layers, _ngram_table(config) * len(tables))


def _block_index(config: Config, mixing: Mixing, facts: ArchitectureSpec, layer: int) -> Mixing:
    """Index of blocks of tokens, where the model has one."""
    dim = config.whole("indexer_head_dim")
    ratio = config.whole("indexer_compress_ratio")
    if not dim:
        return mixing
    outputs = (config.whole("indexer_n_heads") + 1) * dim
    cache = replace(mixing.cache, key_values=mixing.cache.key_values + dim // (ratio or 1))
    return replace(
        mixing.beside(*Tensor.of_shapes(layer, {"indexer.attn_qk": (facts.hidden, outputs)})),
        cache=cache,
    )


def _mixed_streams(config: Config, facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Twice a low-rank mix of the streams around attention and feed-forward."""
    streams = config.required("hc_count")
    rank = config.required("hc_lowrank")
    wide = streams * facts.hidden
    return tuple(
        tensor
        for role in ("hc_attn", "hc_ffn")
        for tensor in (
            *Tensor.of_shapes(
                layer,
                {
                    f"{role}_down": (wide, rank),
                    f"{role}_up": (rank, wide),
                    f"{role}_inject": (wide, streams),
                },
                group=Group.ATTENTION,
            ),
            *Tensor.of_shapes(layer, {f"{role}_norm": wide}),
        )
    )


def _ngram_reader(config: Config, facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    width = config.whole("ple_embed_dim") or facts.hidden
    taps = config.required("ple_conv_kernel_size")
    wide = config.required("hc_count") * facts.hidden
    weights = {
        "ple_key": (width, wide),
        "ple_value": (width, facts.hidden),
        "ple_conv1d": (taps, wide),
    }
    norms = dict.fromkeys(("ple_norm_k", "ple_norm_q", "ple_norm_conv"), wide)
    return Tensor.of_shapes(layer, weights, group=Group.ATTENTION) + Tensor.of_shapes(
        layer, norms, group=Group.NORMS
    )


def _ngram_table(config: Config) -> tuple[Tensor, ...]:
    """N-gram table of a layer that reads one, held as an embedding."""
    heads = (config.required("ngram_size") - 1) * config.required("heads_per_ngram")
    width = config.whole("ple_embed_dim") or config.required("hidden_size")
    rows = config.required("ngram_vocab_size_base") * heads
    return Tensor.of_shapes(None, {"per_layer_token_embd": (width // heads, rows)})


def jamba(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Jamba: Mamba-1, one attention layer in each period, experts in every other layer."""
    sizes = MambaSizes(
        inner=config.required("mamba_expand") * facts.hidden,
        state=config.required("mamba_d_state"),
        rank=_step_rank(config, facts),
        taps=config.required("mamba_d_conv"),
        norms=True,
    )
    period = config.required("attn_layer_period")
    offset = config.whole("attn_layer_offset")
    every = config.required("expert_layer_period")
    first = config.whole("expert_layer_offset")
    return stacked(
        facts,
        lambda at: attention(facts, at) if at % period == offset else mamba1(facts, at, sizes),
        [at % every == first for at in range(facts.layers)],
    )


def _step_rank(config: Config, facts: ArchitectureSpec) -> int:
    """`auto` is a sixteenth of the hidden size, rounded up."""
    stated = config.raw("mamba_dt_rank")[1]
    if stated in (None, "auto"):
        return -(-facts.hidden // 16)
    return config.required("mamba_dt_rank")


def granite_hybrid(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Granite 4: Mamba-2 or attention by the list, each followed by experts and a shared one."""
    if config.words("layer_types"):
        key = "layer_types"
    else:
        key = "layers_block_type"
    words = config.words(key) or ("attention",) * facts.layers
    words = tuple(of_layers(config, facts, key, words))
    mamba = replace(_mamba2_sizes(config, facts), layer_pattern="M")
    return stacked(facts, lambda at: attention(mamba if words[at] == "mamba" else facts, at))


def falcon_h1(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Falcon-H1: attention and Mamba-2 side by side in every layer."""
    mamba = replace(_mamba2_sizes(config, facts), layer_pattern="M")
    normed = config.flag("mamba_rms_norm")

    def mixing(at: int) -> Mixing:
        states = attention(mamba, at)
        attends = attention(facts, at)
        beside = (part for part in states.tensors if normed or part.role != "ssm_norm")
        cache = replace(attends.cache, state_values=states.cache.state_values)
        return replace(attends.beside(*beside), cache=cache)

    return stacked(facts, mixing)


def _mamba2_sizes(config: Config, facts: ArchitectureSpec) -> ArchitectureSpec:
    inner = config.whole("mamba_d_ssm") or config.whole("mamba_expand") * facts.hidden
    heads = config.whole("mamba_n_heads")
    if not heads:
        return facts
    return replace(
        facts,
        ssm_heads=heads,
        ssm_head_dim=inner // heads,
        ssm_groups=config.required("mamba_n_groups"),
        ssm_state=config.required("mamba_d_state"),
        ssm_conv=config.required("mamba_d_conv"),
    )


def lfm2(config: Config, facts: ArchitectureSpec) -> Architecture:
    """LFM2: short convolutions, some layers attend; experts after the first layers in LFM2-MoE."""
    listed = config.numbers("full_attn_idxs")
    by_index = [at in listed for at in range(facts.layers)]
    full = _attending(config, facts, "layer_types") or by_index
    facts = replace(facts, qk_norm="head", intermediate=_lfm2_width(config, facts))
    first = config.whole("num_dense_layers")
    taps = config.required("conv_L_cache")
    return stacked(
        facts,
        lambda at: attention(facts, at) if full[at] else short_convolution(facts, at, taps),
        [at >= first for at in range(facts.layers)],
    )


def _lfm2_width(config: Config, facts: ArchitectureSpec) -> int:
    """Two thirds of the stated width, rounded up, where the file has it adjusted."""
    if facts.experts or not config.flag("block_auto_adjust_ff_dim"):
        return facts.intermediate
    step = config.required("block_multiple_of")
    factor = config.raw("block_ffn_dim_multiplier")[1]
    width = int(2 * facts.intermediate / 3)
    if isinstance(factor, int | float):
        width = int(factor * width)
    return -(-width // step) * step
