"""Families that mix attention with a state: Kimi Delta Attention, gated DeltaNet, Mamba, LFM2.

References: huggingface/transformers 5.23.0, models/{kimi_linear,bailing_hybrid,glm5_next,
qwen4_exp,jamba,granitemoehybrid,falcon_h1,lfm2,lfm2_moe}; sgl-project/sglang 0.5.23,
srt/models/kimi_k3.py.
"""

from dataclasses import replace

from advisor.model.architecture import Architecture, Group, Tensor, tensors
from advisor.model.build import Layer, stack
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
)
from advisor.model.config.values import Config
from advisor.model.layers import Mixing
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
    listed = told.numbers("full_attn_layers") or range(5, facts.layers + 1, 4)
    gate = facts.heads * facts.v_head_dim if config.flag("mla_use_output_gate") else 0
    across = config.whole("attn_res_block_size")

    def mixing(at: int) -> Mixing:
        full = at + 1 in listed
        mixed = attention(facts, at, gate=gate) if full else kimi_delta(facts, at, sizes)
        return mixed.beside(*_across_blocks(facts, at)) if across else mixed

    return stacked(facts, mixing, _behind_the_first(config, facts, usual=1))


def _across_blocks(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Norms and weights by which a layer reads the blocks before it [sglang kimi_k3.py]."""
    roles = ("attn_res_norm", "attn_res_proj", "ffn_res_norm", "ffn_res_proj")
    return tensors(layer, dict.fromkeys(roles, facts.hidden), group=Group.NORMS)


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

    return stacked(facts, mixing, _behind_the_first(config, facts, usual=0))


def _behind_the_first(config: Config, facts: ArchitectureSpec, usual: int) -> list[bool]:
    """Whether each layer has experts: all but some first ones."""
    stated = config.optional("first_k_dense_replace")
    return [at >= (usual if stated is None else stated) for at in range(facts.layers)]


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
    streams, pooled = config.required("hc_mult"), config.required("index_kpool")

    def mixing(at: int) -> Mixing:
        mixed = _pooled_index(indexed, at, pooled) if full[at] else kimi_delta(facts, at, sizes)
        return mixed.beside(*hyper_connections(facts, at, streams))

    return stacked(facts, mixing, [at >= 3 for at in range(facts.layers)])


def _attending(config: Config, facts: ArchitectureSpec, key: str) -> list[bool]:
    """Whether each layer attends, as a file lists it; empty where it does not."""
    words = config.words(key)
    return [word in ATTENDING for word in of_layers(config, facts, key, words)] if words else []


def _pooled_index(facts: ArchitectureSpec, layer: int, pooled: int) -> Mixing:
    """The index key of each run of tokens, pooled by a gate, in place of one per token."""
    mixing, dim = attention(facts, layer), facts.index_dim
    spared = dim - dim // pooled
    cache = replace(mixing.cache, key_values=mixing.cache.key_values - spared)
    return replace(
        mixing.beside(*tensors(layer, {"indexer.pool": (facts.hidden, dim)})), cache=cache
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
        mixing = _block_index(config, mixing, facts, at) if full else mixing
        mixing = mixing.beside(*_mixed_streams(config, facts, at))
        if at + 1 in tables:
            mixing = mixing.beside(*_ngram_reader(config, facts, at))
        layers.append(Layer(mixing=mixing, facts=facts, norms=False))
    return stack(facts, layers, _ngram_table(config) * len(tables))


def _block_index(config: Config, mixing: Mixing, facts: ArchitectureSpec, layer: int) -> Mixing:
    """An index of blocks of tokens, where the model has one."""
    dim, ratio = config.whole("indexer_head_dim"), config.whole("indexer_compress_ratio")
    if not dim:
        return mixing
    outputs = (config.whole("indexer_n_heads") + 1) * dim
    cache = replace(mixing.cache, key_values=mixing.cache.key_values + dim // (ratio or 1))
    return replace(
        mixing.beside(*tensors(layer, {"indexer.attn_qk": (facts.hidden, outputs)})), cache=cache
    )


def _mixed_streams(config: Config, facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Twice a low-rank mix of the streams around attention and feed-forward."""
    streams, rank = config.required("hc_count"), config.required("hc_lowrank")
    wide = streams * facts.hidden
    return tuple(
        tensor
        for role in ("hc_attn", "hc_ffn")
        for tensor in (
            *tensors(
                layer,
                {
                    f"{role}_down": (wide, rank),
                    f"{role}_up": (rank, wide),
                    f"{role}_inject": (wide, streams),
                },
                group=Group.ATTENTION,
            ),
            *tensors(layer, {f"{role}_norm": wide}),
        )
    )


def _ngram_reader(config: Config, facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    width = config.whole("ple_embed_dim") or facts.hidden
    taps, wide = config.required("ple_conv_kernel_size"), config.required("hc_count") * facts.hidden
    weights = {
        "ple_key": (width, wide),
        "ple_value": (width, facts.hidden),
        "ple_conv1d": (taps, wide),
    }
    norms = dict.fromkeys(("ple_norm_k", "ple_norm_q", "ple_norm_conv"), wide)
    return tensors(layer, weights, group=Group.ATTENTION) + tensors(layer, norms, group=Group.NORMS)


def _ngram_table(config: Config) -> tuple[Tensor, ...]:
    """The n-gram table of a layer that reads one, held as an embedding."""
    heads = (config.required("ngram_size") - 1) * config.required("heads_per_ngram")
    width = config.whole("ple_embed_dim") or config.required("hidden_size")
    rows = config.required("ngram_vocab_size_base") * heads
    return tensors(None, {"per_layer_token_embd": (width // heads, rows)})


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
    return stacked(
        facts,
        lambda at: attention(facts, at) if at % period == offset else mamba1(facts, at, sizes),
        [at % every == first for at in range(facts.layers)],
    )


def _step_rank(config: Config, facts: ArchitectureSpec) -> int:
    """`auto` is a sixteenth of the hidden size, rounded up."""
    stated = config.raw("mamba_dt_rank")[1]
    return -(-facts.hidden // 16) if stated in (None, "auto") else config.required("mamba_dt_rank")


def granite_hybrid(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Granite 4: Mamba-2 or attention by the list, each followed by experts and a shared one."""
    key = "layer_types" if config.words("layer_types") else "layers_block_type"
    words = config.words(key) or ("attention",) * facts.layers
    words = tuple(of_layers(config, facts, key, words))
    mamba = replace(_mamba2_sizes(config, facts), layer_pattern="M")
    return stacked(facts, lambda at: attention(mamba if words[at] == "mamba" else facts, at))


def falcon_h1(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Falcon-H1: attention and Mamba-2 side by side in every layer."""
    mamba = replace(_mamba2_sizes(config, facts), layer_pattern="M")
    normed = config.flag("mamba_rms_norm")

    def mixing(at: int) -> Mixing:
        states, attends = attention(mamba, at), attention(facts, at)
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
