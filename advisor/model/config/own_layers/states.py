"""Families whose layers keep a state, alone or with attention, and families that read images.

A state is of fixed size: the cache of these models does not grow with the text, or grows in a few
layers only.

References:
    [1] huggingface/transformers 5.23.0, models/{bamba,mamba,falcon_mamba,mamba2,minimax,mllama}.
    [2] Gu, Dao 2023, Mamba, arXiv:2312.00752; Dao, Gu 2024, Mamba-2, arXiv:2405.21060.
    [3] MiniMax 2025, MiniMax-01, arXiv:2501.08313, section 2 (lightning attention).
    [4] Peng et al. 2025, RWKV-7, arXiv:2503.14456, section 4 and appendix on parameters.
    [5] DeciLM-7B, modeling_decilm.py (`num_key_value_heads_per_layer`).
    [6] Glorioso et al. 2024, The Zamba2 suite, arXiv:2411.15242, figure 2; models/zamba2 of [1].
"""

import math
from dataclasses import replace
from typing import Any

from advisor.model.architecture import Architecture, ArchitectureSpec, LayerCache, Shapes, Tensor
from advisor.model.build import Layer, Mixing
from advisor.model.config.own_layers.parts import (
    MambaSizes,
    attention,
    mamba1,
    of_layers,
    stacked,
)
from advisor.model.config.values import Config

ATTENDS = ("attention", "full_attention")


def bamba(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Bamba: Mamba-2, some layers attend; each is followed by a feed-forward block [1]."""
    listed = config.numbers("attn_layer_indices")
    words = config.words("layers_block_type")
    if words:
        attends = [word in ATTENDS for word in of_layers(config, facts, "layers_block_type", words)]
    else:
        attends = [at in listed for at in range(facts.layers)]
    mamba = replace(facts, layer_pattern="M", **_mamba2_sizes(config))
    return stacked(facts, lambda at: attention(facts if attends[at] else mamba, at))


def _mamba2_sizes(config: Config) -> dict[str, Any]:
    return {
        "ssm_heads": config.required("mamba_n_heads"),
        "ssm_head_dim": config.required("mamba_d_head"),
        "ssm_groups": config.required("mamba_n_groups"),
        "ssm_state": config.required("mamba_d_state"),
        "ssm_conv": config.required("mamba_d_conv"),
    }


def mamba(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Mamba and Falcon-Mamba: Mamba-1 alone, without attention and feed-forward [1, 2]."""
    inner = config.optional("intermediate_size") or config.required("expand") * facts.hidden
    rank = config.raw("time_step_rank")[1]
    sizes = MambaSizes(
        inner=inner,
        state=config.required("state_size"),
        rank=rank if isinstance(rank, int) else math.ceil(facts.hidden / 16),
        taps=config.required("conv_kernel"),
    )
    return _alone(facts, [mamba1(facts, at, sizes) for at in range(facts.layers)])


def mamba2(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Mamba-2 alone, as Codestral Mamba [1, 2]."""
    head_dim = config.optional("ssm_head_dim", "head_dim") or config.required("head_dim")
    sized = replace(
        facts,
        layer_pattern="M",
        ssm_heads=config.required("expand") * facts.hidden // head_dim,
        ssm_head_dim=head_dim,
        ssm_groups=config.required("n_groups"),
        ssm_state=config.required("state_size"),
        ssm_conv=config.required("conv_kernel"),
    )
    return _alone(facts, [attention(sized, at) for at in range(facts.layers)])


EVERY_SIXTH = slice(5, None, 6)
"""Layers before which a shared block stands where a file does not say: as many as of the three
published sizes (6 of 38, 9 of 54, 13 of 81)."""
ZAMBA_HEAD = 64  # values of a head of Mamba-2 in the three published sizes


def zamba2(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Zamba2: Mamba-2 layers, before some of which a token passes a shared block [1, 6].

    The shared blocks, attention of twice the width and feed-forward, take turns. They stand behind
    the other layers, with one visit for each time that they are used; a projection and adapters of
    low rank belong to each use.
    """
    words = config.words("layers_block_type")
    listed = [at for at, word in enumerate(words) if word == "hybrid"]
    uses = config.numbers("hybrid_layer_ids") or listed or range(facts.layers)[EVERY_SIXTH]
    blocks = config.required("num_mem_blocks")
    visits = [len(uses[block::blocks]) for block in range(blocks)]
    inner = config.required("mamba_expand") * facts.hidden
    heads = config.optional("n_mamba_heads") or inner // ZAMBA_HEAD
    single = replace(
        facts,
        layer_pattern="M",
        intermediate=0,
        ssm_heads=heads,
        ssm_head_dim=inner // heads,
        ssm_groups=config.required("mamba_ngroups"),
        ssm_state=config.required("mamba_d_state"),
        ssm_conv=config.required("mamba_d_conv"),
    )
    layers = []
    for at in range(facts.layers):
        mixing = attention(single, at)
        if at in uses:
            mixing = mixing.beside(*_of_a_use(config, facts, at))
        layers.append(Layer(mixing=mixing, facts=single))
    for block in range(blocks):
        mixing = _shared_attention(config, facts, facts.layers + block)
        layers.append(Layer(mixing=mixing, facts=facts))
    stack = Layer.stacked(facts, layers)
    return replace(stack, visits=(*[1] * facts.layers, *visits))


def _of_a_use(config: Config, facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Weights of one use of a shared block: its projection, and adapters of the block's own."""
    rank = config.required("adapter_rank")
    wide = config.optional("attention_hidden_size") or 2 * facts.hidden
    weights: dict[str, int | tuple[int, int]] = {
        "attn_shared": (facts.hidden, facts.hidden),
        "ffn_up_adapter_a": (facts.hidden, rank),
        "ffn_up_adapter_b": (rank, 2 * facts.intermediate),
    }
    if config.flag("use_shared_attention_adapter"):
        for role in ("attn_q", "attn_k", "attn_v"):
            weights[f"{role}_adapter_a"] = (wide, rank)
            weights[f"{role}_adapter_b"] = (rank, wide)
    return Tensor.of_shapes(layer, weights)


def _shared_attention(config: Config, facts: ArchitectureSpec, layer: int) -> Mixing:
    """Attention on the embedding beside the present values, twice as wide as these."""
    wide = config.optional("attention_hidden_size") or 2 * facts.hidden
    dim = config.optional("attention_head_dim") or wide // facts.heads
    queries = facts.heads * dim
    values = facts.kv_heads * dim
    weights: Shapes = {
        "attn_q": (wide, queries),
        "attn_k": (wide, values),
        "attn_v": (wide, values),
        "attn_output": (queries, facts.hidden),
    }
    return Mixing(
        tensors=Tensor.of_shapes(layer, weights),
        cache=LayerCache(key_values=values, value_values=values),
        attention_values=2 * queries,
    )


def _alone(facts: ArchitectureSpec, mixings: list[Mixing]) -> Architecture:
    """Architecture of token mixers without feed-forward blocks."""
    single = replace(facts, layer_pattern="M", intermediate=0, experts=0, max_context=None)
    return Layer.stacked(single, [Layer(mixing=mixing, facts=single) for mixing in mixings])


def minimax(config: Config, facts: ArchitectureSpec) -> Architecture:
    """MiniMax-Text-01 and M1: lightning attention, every eighth layer attends fully [1, 3]."""
    words = config.words("layer_types")
    kinds = config.numbers("attn_type_list")
    if words:
        full = [word in ATTENDS for word in of_layers(config, facts, "layer_types", words)]
    elif kinds:
        full = [kind == 1 for kind in of_layers(config, facts, "attn_type_list", kinds)]
    else:
        full = [at % 8 == 7 for at in range(facts.layers)]
    return stacked(facts, lambda at: attention(facts, at) if full[at] else _lightning(facts, at))


def _lightning(facts: ArchitectureSpec, layer: int) -> Mixing:
    """Linear attention of all query heads, its output gated; a state of heads x dim x dim [3]."""
    inner = facts.heads * facts.head_dim
    weights: Shapes = {
        "attn_qkv": (facts.hidden, 3 * inner),
        "attn_gate": (facts.hidden, inner),
        "ssm_out": (inner, facts.hidden),
        "ssm_norm": inner,
    }
    state = facts.heads * facts.head_dim**2
    return Mixing(tensors=Tensor.of_shapes(layer, weights), cache=LayerCache(state_values=state))


RWKV_HEAD = 64  # values of a head of RWKV-7


def rwkv7(config: Config, facts: ArchitectureSpec) -> Architecture:
    """RWKV-7: four matrices and four low-rank ones mix time, two mix channels [4].

    Ranks of decay, rate, value and gate: 1.8, 1.8 and 1.3 times the root of the width, 0.6 times
    its 0.8th power, in steps of 32.
    """
    return _alone(facts, [_time_mix(config, facts, at) for at in range(facts.layers)])


def _time_mix(config: Config, facts: ArchitectureSpec, layer: int) -> Mixing:
    hidden = facts.hidden
    wide = config.optional("intermediate_size") or 4 * hidden
    root = math.sqrt(hidden)
    ranks = {
        "decay": 1.8 * root,
        "rate": 1.8 * root,
        "value": 1.3 * root,
        "gate": 0.6 * hidden**0.8,
    }
    weights: dict[str, int | tuple[int, int]] = {
        "attn_r": (hidden, hidden),
        "attn_k": (hidden, hidden),
        "attn_v": (hidden, hidden),
        "attn_output": (hidden, hidden),
        "channel_mix_key": (hidden, wide),
        "channel_mix_value": (wide, hidden),
    }
    for name, rank in ranks.items():
        steps = max(32, round(rank / 32) * 32)
        weights[f"ssm_{name}_a"] = (hidden, steps)
        weights[f"ssm_{name}_b"] = (steps, hidden)
    state = hidden * RWKV_HEAD + 2 * hidden
    return Mixing(tensors=Tensor.of_shapes(layer, weights), cache=LayerCache(state_values=state))


IMAGE = 4 * (40**2 + 1)
"""Tokens of an image in Llama 3.2 Vision: four tiles of (560 / 14)^2 patches and one more each."""


def mllama(config: Config, facts: ArchitectureSpec) -> Architecture:
    """Llama 3.2 Vision: some layers attend to an image and cache its keys and values, nothing of
    the text [1].
    """
    images = set(config.numbers("cross_attention_layers"))

    def mixing(at: int) -> Mixing:
        attends = attention(facts, at)
        if at not in images:
            return attends
        of_a_token = attends.cache.key_values + attends.cache.value_values
        return replace(attends, cache=LayerCache(image_values=IMAGE * of_a_token))

    return stacked(facts, mixing)


def heads_by_layer(config: Config, facts: ArchitectureSpec) -> Architecture:
    """DeciLM: key and value heads of each layer as the file lists them [5]."""
    key = "num_key_value_heads_per_layer"
    heads = of_layers(config, facts, key, config.numbers(key))
    return stacked(facts, lambda at: attention(replace(facts, kv_heads=heads[at]), at))
