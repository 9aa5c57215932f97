"""Token mixers that only some families have, and the stack of layers that they make.

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
    Group,
    LayerCache,
    Shapes,
    Tensor,
    tensors,
)
from advisor.model.build import Layer, stack
from advisor.model.config.values import Config
from advisor.model.layers import Mixing, mixing_of
from advisor.model.spec import ArchitectureSpec

Entry = TypeVar("Entry")


def stacked(
    facts: ArchitectureSpec,
    mixing: Callable[[int], Mixing],
    routed: Sequence[bool] | None = None,
    outside: tuple[Tensor, ...] = (),
) -> Architecture:
    """Architecture whose layers differ in their token mixers.

    Args:
        facts: what all layers share.
        mixing: token mixer of a layer.
        routed: whether each layer has experts; None for all, where the model has any.
        outside: further tensors outside the layers.
    """
    dense = replace(facts, experts=0)
    layers = [
        Layer(mixing=mixing(at), facts=facts if routed is None or routed[at] else dense)
        for at in range(facts.layers)
    ]
    return stack(facts, layers, outside)


def of_layers(
    config: Config, facts: ArchitectureSpec, key: str, listed: Sequence[Entry]
) -> list[Entry]:
    """What a file lists for each layer; the list may go on with drafting layers.

    Raises:
        InputError: fewer than there are layers.
    """
    if len(listed) < facts.layers:
        raise InputError(
            f"The config.json of {config.name} has {len(listed)} entries in {key} for "
            f"{facts.layers} layers; it needs one for each. Give the model's own file, unchanged."
        )
    return list(listed[: facts.layers])


def attention(facts: ArchitectureSpec, layer: int, gate: int = 0) -> Mixing:
    """Attention of the table's kinds (grouped, windowed, latent) by the letter of the layer's
    facts; a gate on its output has an output for each head or each value, 0 for none.
    """
    gates = tensors(layer, {"attn_gate": (facts.hidden, gate)}) if gate else ()
    return mixing_of(facts, layer).beside(*gates)


def two_size_attention(facts: ArchitectureSpec, layer: int, value_dim: int) -> Mixing:
    """Grouped attention whose values are narrower than its keys (MiMo-V2) [1]; `head_dim` of the
    facts is that of queries and keys.
    """
    mixing = attention(facts, layer)
    values, out = facts.kv_heads * value_dim, facts.heads * value_dim
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
    inner, hidden = sizes.heads * sizes.dim, facts.hidden
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
    return Mixing(tensors=tensors(layer, weights), cache=LayerCache(state_values=state))


def _gate(role: str, hidden: int, sizes: DeltaSizes, *, full: bool) -> dict[str, tuple[int, int]]:
    inner = sizes.heads * sizes.dim
    if full:
        return {role: (hidden, inner)}
    return {f"{role}_a": (hidden, sizes.dim), f"{role}_b": (sizes.dim, inner)}


def short_convolution(facts: ArchitectureSpec, layer: int, taps: int) -> Mixing:
    """A gated short convolution (LFM2) [1]: hidden x 3 hidden in, hidden x hidden out."""
    hidden = facts.hidden
    weights = {
        "shortconv.in_proj": (hidden, 3 * hidden),
        "shortconv.conv": (taps, hidden),
        "shortconv.out_proj": (hidden, hidden),
    }
    state = (taps - 1) * hidden
    return Mixing(tensors=tensors(layer, weights), cache=LayerCache(state_values=state))


@dataclass(frozen=True, kw_only=True, slots=True)
class MambaSizes:
    """Sizes of Mamba-1: inner width, state values per channel, rank of the step, taps."""

    inner: int
    state: int
    rank: int
    taps: int


def mamba1(facts: ArchitectureSpec, layer: int, sizes: MambaSizes) -> Mixing:
    """Mamba-1 [4] with Jamba's three norms: hidden x 2 D in, D x (rank + 2 state), D x hidden."""
    inner, hidden = sizes.inner, facts.hidden
    weights: Shapes = {
        "ssm_in": (hidden, 2 * inner),
        "ssm_conv1d": (sizes.taps, inner),
        "ssm_x": (inner, sizes.rank + 2 * sizes.state),
        "ssm_dt": (sizes.rank, inner),
        "ssm_a": (sizes.state, inner),
        "ssm_out": (inner, hidden),
        "ssm_d": inner,
        "ssm_dt.bias": inner,
        "ssm_conv1d.bias": inner,
        "ssm_dt_norm": sizes.rank,
        "ssm_b_norm": sizes.state,
        "ssm_c_norm": sizes.state,
    }
    state = inner * sizes.state + (sizes.taps - 1) * inner
    return Mixing(tensors=tensors(layer, weights), cache=LayerCache(state_values=state))


def hyper_connections(facts: ArchitectureSpec, layer: int, streams: int) -> tuple[Tensor, ...]:
    """Weights that mix `streams` residual streams around attention and feed-forward [1].

    Twice (2 + n) n outputs from n x hidden inputs; kept in 32 bits, counted with the norms.
    """
    mixes, wide = (2 + streams) * streams, streams * facts.hidden
    weights: Shapes = {
        "hc_attn_norm": (wide, mixes),
        "hc_attn_base": mixes + 3,
        "hc_ffn_norm": (wide, mixes),
        "hc_ffn_base": mixes + 3,
    }
    return tensors(layer, weights, group=Group.NORMS)


# K2 Horizon, whose expert layers may route the projection of values, too.
#
# Reference: huggingface/transformers, src/transformers/models/k2_horizon/modular_k2_horizon.py
# (K2HorizonMoVAAttention), read on 2026-11-22.


def k2_horizon(config: Config, facts: ArchitectureSpec) -> Architecture:
    """K2 Horizon: grouped attention, gated by value where the file says so; where it has value
    experts, expert layers choose among their projections in place of one of their own.
    """
    facts = replace(facts, qk_norm="layer" if config.flag("query_key_norm") else "")
    gate = facts.heads * facts.head_dim if config.word("attention_gate_func") else 0
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
    routed = tensors(
        layer, {"attn_v_exps": (facts.hidden, values)}, group=Group.ROUTED_EXPERTS, stacked=experts
    )
    router = tensors(layer, {"attn_v_gate_inp": (facts.hidden, experts)}, group=Group.ROUTER)
    return replace(mixing, tensors=others + routed + router)
