"""Families that mix attention with a state: Kimi Delta Attention, gated DeltaNet, Mamba, LFM2.

References: huggingface/transformers 5.23.0, models/{kimi_linear,bailing_hybrid,glm5_next,
qwen4_exp,jamba,granitemoehybrid,falcon_h1,lfm2,lfm2_moe}; sgl-project/sglang 0.5.23,
srt/models/kimi_k3.py.
"""

from dataclasses import replace

from advisor.model.architecture import Architecture, Group, Tensor, linear, vectors
from advisor.model.config.own_layers.parts import (
    ATTENTION,
    DeltaSizes,
    MambaSizes,
    Mixing,
    OwnLayer,
    attention,
    dense,
    hyper_connections,
    kimi_delta,
    mamba1,
    short_convolution,
    stack,
)
from advisor.model.config.values import Config
from advisor.model.spec import ArchitectureSpec

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
    listed = told.numbers("full_attn_layers")
    default = [bool(at) and at % 4 == 0 for at in range(facts.layers)]
    full = [at + 1 in listed for at in range(facts.layers)] if listed else default
    first = config.optional("first_k_dense_replace")
    gate = facts.heads * facts.v_head_dim if config.flag("mla_use_output_gate") else 0
    across = config.whole("attn_res_block_size")
    layers = []
    for at in range(facts.layers):
        layer = facts if at >= (1 if first is None else first) else dense(facts)
        mixing = attention(layer, at, gate=gate) if full[at] else kimi_delta(layer, at, sizes)
        extra = _across_blocks(facts, at) if across else ()
        layers.append(OwnLayer(mixing=mixing.beside(*extra), facts=layer))
    return stack(facts, layers)


def _across_blocks(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Norms and weights by which a layer reads the blocks before it [sglang kimi_k3.py]."""
    roles = ("attn_res_norm", "attn_res_proj", "ffn_res_norm", "ffn_res_proj")
    return vectors(Group.NORMS, layer, **dict.fromkeys(roles, facts.hidden))


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
    first = config.whole("first_k_dense_replace")
    layers = []
    for at in range(facts.layers):
        layer = facts if at >= first else dense(facts)
        full = (at + 1) % group == 0
        mixing = attention(layer, at, gate=layer.heads) if full else kimi_delta(layer, at, sizes)
        layers.append(OwnLayer(mixing=mixing, facts=layer))
    return stack(facts, layers)


def glm5_next(config: Config, facts: ArchitectureSpec) -> Architecture:
    """GLM-5.3-Flash: delta attention, every fourth layer latent with an indexer, four streams."""
    sizes = DeltaSizes(
        heads=config.required("linear_num_heads"),
        dim=config.required("linear_head_dim"),
        taps=config.required("linear_conv_kernel_dim"),
    )
    facts = replace(
        facts,
        index_heads=config.required("index_n_heads"),
        index_dim=config.required("index_head_dim"),
    )
    words = config.words("layer_types")[: facts.layers]
    full = [word in ATTENDING for word in words] or [at % 4 == 3 for at in range(facts.layers)]
    streams, pooled = config.required("hc_mult"), config.required("index_kpool")
    layers = []
    for at in range(facts.layers):
        layer = facts if at >= 3 else dense(facts)
        mixing = kimi_delta(layer, at, sizes)
        if full[at]:
            mixing = _pooled_index(
                attention(replace(layer, layer_pattern="I"), at), facts, at, pooled
            )
        mixing = mixing.beside(*hyper_connections(facts, at, streams))
        layers.append(OwnLayer(mixing=mixing, facts=layer))
    return stack(facts, layers)


def _pooled_index(mixing: Mixing, facts: ArchitectureSpec, layer: int, pooled: int) -> Mixing:
    """The index key of each run of tokens, pooled by a gate, in place of one per token."""
    dim = facts.index_dim
    weights = linear("indexer.pool", ATTENTION, layer, inputs=facts.hidden, outputs=dim)
    spared = dim - dim // pooled
    cache = replace(mixing.cache, key_values=mixing.cache.key_values - spared)
    return replace(mixing.beside(*weights), cache=cache)


def qwen4_exp(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Qwen3.8-Flash-Next: gated DeltaNet, every fourth layer attends with an index; mixed streams.

    Some layers read rows of n-gram tables: `heads_per_ngram` heads per n, each with a table of
    about `ngram_vocab_size_base` rows; a token reads one row of each.
    """
    facts = replace(facts, qk_norm="head", attn_output_gate=True)
    dim, ratio = config.whole("indexer_head_dim"), config.whole("indexer_compress_ratio")
    heads = config.whole("indexer_n_heads")
    tables = config.numbers("ple_layer_ids")
    layers = []
    for at in range(facts.layers):
        full = (at + 1) % 4 == 0
        layer = replace(facts, layer_pattern="F" if full else "L")
        mixing = attention(layer, at)
        if full and dim:
            mixing = _block_index(mixing, facts, at, heads, dim, ratio or 1)
        mixing = mixing.beside(*_mixed_streams(config, facts, at))
        if at + 1 in tables:
            mixing = mixing.beside(*_ngram_reader(config, facts, at))
        layers.append(OwnLayer(mixing=mixing, facts=layer, norms=False))
    return stack(facts, layers, tuple(_ngram_tables(config, len(tables))))


def _block_index(
    mixing: Mixing, facts: ArchitectureSpec, layer: int, heads: int, dim: int, ratio: int
) -> Mixing:
    weights = linear(
        "indexer.attn_qk", ATTENTION, layer, inputs=facts.hidden, outputs=(heads + 1) * dim
    )
    cache = replace(mixing.cache, key_values=mixing.cache.key_values + dim // ratio)
    return replace(mixing.beside(*weights), cache=cache)


def _mixed_streams(config: Config, facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Twice a low-rank mix of the streams around attention and feed-forward."""
    streams, rank = config.required("hc_count"), config.required("hc_lowrank")
    wide = streams * facts.hidden
    return tuple(
        tensor
        for role in ("hc_attn", "hc_ffn")
        for tensor in (
            *linear(f"{role}_down", ATTENTION, layer, inputs=wide, outputs=rank),
            *linear(f"{role}_up", ATTENTION, layer, inputs=rank, outputs=wide),
            *linear(f"{role}_inject", ATTENTION, layer, inputs=wide, outputs=streams),
            *vectors(Group.NORMS, layer, **{f"{role}_norm": wide}),
        )
    )


def _ngram_reader(config: Config, facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    width, taps = (
        config.whole("ple_embed_dim") or facts.hidden,
        config.required("ple_conv_kernel_size"),
    )
    wide = config.required("hc_count") * facts.hidden
    return (
        *linear("ple_key", ATTENTION, layer, inputs=width, outputs=wide),
        *linear("ple_value", ATTENTION, layer, inputs=width, outputs=facts.hidden),
        *linear("ple_conv1d", ATTENTION, layer, inputs=taps, outputs=wide),
        *vectors(Group.NORMS, layer, ple_norm_k=wide, ple_norm_q=wide, ple_norm_conv=wide),
    )


def _ngram_tables(config: Config, count: int) -> tuple[Tensor, ...]:
    """The n-gram tables of the layers that read them, held as embeddings."""
    heads = (config.required("ngram_size") - 1) * config.required("heads_per_ngram")
    width = config.whole("ple_embed_dim") or config.required("hidden_size")
    rows = config.required("ngram_vocab_size_base") * heads
    return tuple(
        tensor
        for _ in range(count)
        for tensor in linear(
            "per_layer_token_embd", Group.EMBEDDING, None, inputs=width // heads, outputs=rows
        )
    )


def jamba(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Jamba: Mamba-1, one attention layer in each period, experts in every other layer."""
    sizes = MambaSizes(
        inner=config.required("mamba_expand") * facts.hidden,
        state=config.required("mamba_d_state"),
        rank=_step_rank(config, facts),
        taps=config.required("mamba_d_conv"),
    )
    period, offset = config.required("attn_layer_period"), config.whole("attn_layer_offset")
    every, first = config.required("expert_layer_period"), config.whole("expert_layer_offset")
    layers = []
    for at in range(facts.layers):
        layer = facts if at % every == first else dense(facts)
        mixing = attention(layer, at) if at % period == offset else mamba1(layer, at, sizes)
        layers.append(OwnLayer(mixing=mixing, facts=layer))
    return stack(facts, layers)


def _step_rank(config: Config, facts: ArchitectureSpec) -> int:
    """`auto` is a sixteenth of the hidden size, rounded up."""
    stated = config.raw("mamba_dt_rank")[1]
    return -(-facts.hidden // 16) if stated in (None, "auto") else config.required("mamba_dt_rank")


def granite_hybrid(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Granite 4: Mamba-2 or attention by the list, each followed by experts and a shared one."""
    words = config.words("layer_types") or config.words("layers_block_type")
    facts = _mamba2_sizes(config, facts)
    layers = []
    for at in range(facts.layers):
        mamba = bool(words) and words[at] == "mamba"
        mixing = attention(replace(facts, layer_pattern="M" if mamba else "F"), at)
        layers.append(OwnLayer(mixing=mixing, facts=replace(facts, layer_pattern="F")))
    return stack(facts, layers)


def falcon_h1(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Falcon-H1: attention and Mamba-2 side by side in every layer."""
    facts = _mamba2_sizes(config, facts)
    layers = []
    for at in range(facts.layers):
        states = attention(replace(facts, layer_pattern="M"), at)
        attends = attention(facts, at)
        normed = config.flag("mamba_rms_norm")
        beside = tuple(part for part in states.tensors if normed or part.role != "ssm_norm")
        mixing = replace(
            attends.beside(*beside),
            cache=replace(attends.cache, state_values=states.cache.state_values),
        )
        layers.append(OwnLayer(mixing=mixing, facts=facts))
    return stack(facts, layers)


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
    words = config.words("layer_types")
    listed = config.numbers("full_attn_idxs")
    full = [word in ATTENDING for word in words] or [at in listed for at in range(facts.layers)]
    facts = replace(facts, qk_norm="head", intermediate=_lfm2_width(config, facts))
    first = config.whole("num_dense_layers")
    taps = config.required("conv_L_cache")
    layers = []
    for at in range(facts.layers):
        layer = facts if at >= first else dense(facts)
        mixing = attention(layer, at) if full[at] else short_convolution(layer, at, taps)
        layers.append(OwnLayer(mixing=mixing, facts=layer))
    return stack(facts, layers)


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
