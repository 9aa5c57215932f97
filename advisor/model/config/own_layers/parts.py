"""Token mixers that only some families have, and the stack of layers that they make.

Roles are llama.cpp's tensor names where it has the family, else in its manner.

References:
    [1] huggingface/transformers 5.23.0, src/transformers/models/*/modeling_*.py.
    [2] sgl-project/sglang 0.5.23, python/sglang/srt/models/kimi_k3.py.
    [3] Moonshot AI 2025, Kimi Linear, arXiv:2510.26692 (Kimi Delta Attention).
    [4] Gu, Dao 2023, Mamba, arXiv:2312.00752.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from advisor.model.architecture import Architecture, Group, LayerCache, Tensor, linear, vectors
from advisor.model.build import embedding, experts, feed_forward_tensors, layer_norms, output_head
from advisor.model.config.values import Config
from advisor.model.layers import attention_values, layer_cache
from advisor.model.spec import ArchitectureSpec
from advisor.model.token_mixers import mixer_tensors

ATTENTION = Group.ATTENTION


@dataclass(frozen=True, kw_only=True, slots=True)
class Mixing:
    """Token mixer of one layer."""

    tensors: tuple[Tensor, ...] = ()  # weights
    cache: LayerCache = field(default_factory=LayerCache)  # cache
    attention_values: int = 0  # as `Architecture.attention_values`

    def beside(self, *tensors: Tensor) -> "Mixing":
        """Copy with further weights."""
        return replace(self, tensors=self.tensors + tensors)


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnLayer:
    """One layer of a family: its mixer, and the facts that its feed-forward and norms follow."""

    mixing: Mixing
    facts: ArchitectureSpec
    norms: bool = True


def stack(
    facts: ArchitectureSpec, layers: Iterable[OwnLayer], extra: tuple[Tensor, ...] = ()
) -> Architecture:
    """The architecture of these layers between the embedding and the head."""
    known = tuple(layers)
    inner = (tensor for at, layer in enumerate(known) for tensor in _tensors(layer, at))
    return Architecture(
        name=facts.name,
        layers=len(known),
        hidden=facts.hidden,
        vocab=facts.vocab,
        tied=facts.tied,
        max_context=facts.max_context,
        tensors=(*embedding(facts), *inner, *extra, *output_head(facts)),
        cache=tuple(layer.mixing.cache for layer in known),
        attention_values=tuple(layer.mixing.attention_values for layer in known),
        experts=experts(facts),
        source=facts.source,
        head_dim=facts.head_dim,
    )


def _tensors(layer: OwnLayer, at: int) -> tuple[Tensor, ...]:
    norms = layer_norms(layer.facts, at) if layer.norms else ()
    return norms + layer.mixing.tensors + feed_forward_tensors(layer.facts, at)


def dense(facts: ArchitectureSpec) -> ArchitectureSpec:
    """The facts of a layer without experts."""
    return replace(facts, experts=0)


def attention(facts: ArchitectureSpec, layer: int, gate: int = 0) -> Mixing:
    """Attention of the table's kinds (grouped, windowed, latent) by the letter of the layer's
    facts; a gate on its output has an output for each head or each value, 0 for none.
    """
    gates = linear("attn_gate", ATTENTION, layer, inputs=facts.hidden, outputs=gate) if gate else ()
    return Mixing(
        tensors=mixer_tensors(facts, layer) + gates,
        cache=layer_cache(facts, layer),
        attention_values=attention_values(facts, layer),
    )


def two_size_attention(facts: ArchitectureSpec, layer: int, value_dim: int) -> Mixing:
    """Grouped attention whose values are narrower than its keys (MiMo-V2) [1]; `head_dim` of the
    facts is that of queries and keys.
    """
    mixing = attention(facts, layer)
    values, out = facts.kv_heads * value_dim, facts.heads * value_dim
    tensors = (
        replace(tensor, rows=values)
        if tensor.role == "attn_v"
        else replace(tensor, width=out)
        if tensor.role == "attn_output"
        else tensor
        for tensor in mixing.tensors
    )
    return Mixing(
        tensors=tuple(tensors),
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
    weights = (
        *(
            tensor
            for role in ("attn_q", "attn_k", "attn_v")
            for tensor in linear(role, ATTENTION, layer, inputs=hidden, outputs=inner)
        ),
        *linear("ssm_conv1d", ATTENTION, layer, inputs=sizes.taps, outputs=3 * inner),
        *linear("ssm_beta", ATTENTION, layer, inputs=hidden, outputs=sizes.heads),
        *_gate("ssm_f", facts, layer, sizes, full=sizes.full_decay),
        *_gate("ssm_g", facts, layer, sizes, full=sizes.full_gate),
        *linear("ssm_out", ATTENTION, layer, inputs=inner, outputs=hidden),
        *vectors(ATTENTION, layer, ssm_dt=inner, ssm_a=sizes.heads),
        *vectors(Group.NORMS, layer, ssm_norm=sizes.dim),
    )
    state = sizes.heads * sizes.dim**2 + (sizes.taps - 1) * 3 * inner
    return Mixing(tensors=weights, cache=LayerCache(state_values=state))


def _gate(
    role: str, facts: ArchitectureSpec, layer: int, sizes: DeltaSizes, *, full: bool
) -> tuple[Tensor, ...]:
    inner = sizes.heads * sizes.dim
    if full:
        return linear(role, ATTENTION, layer, inputs=facts.hidden, outputs=inner)
    down = linear(f"{role}_a", ATTENTION, layer, inputs=facts.hidden, outputs=sizes.dim)
    return down + linear(f"{role}_b", ATTENTION, layer, inputs=sizes.dim, outputs=inner)


def short_convolution(facts: ArchitectureSpec, layer: int, taps: int) -> Mixing:
    """A gated short convolution (LFM2) [1]: hidden x 3 hidden in, hidden x hidden out."""
    hidden = facts.hidden
    return Mixing(
        tensors=(
            *linear("shortconv.in_proj", ATTENTION, layer, inputs=hidden, outputs=3 * hidden),
            *linear("shortconv.conv", ATTENTION, layer, inputs=taps, outputs=hidden),
            *linear("shortconv.out_proj", ATTENTION, layer, inputs=hidden, outputs=hidden),
        ),
        cache=LayerCache(state_values=(taps - 1) * hidden),
    )


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
    steps = sizes.rank + 2 * sizes.state
    return Mixing(
        tensors=(
            *linear("ssm_in", ATTENTION, layer, inputs=hidden, outputs=2 * inner),
            *linear("ssm_conv1d", ATTENTION, layer, inputs=sizes.taps, outputs=inner),
            *linear("ssm_x", ATTENTION, layer, inputs=inner, outputs=steps),
            *linear("ssm_dt", ATTENTION, layer, inputs=sizes.rank, outputs=inner),
            *linear("ssm_a", ATTENTION, layer, inputs=sizes.state, outputs=inner),
            *linear("ssm_out", ATTENTION, layer, inputs=inner, outputs=hidden),
            *vectors(ATTENTION, layer, ssm_d=inner, **{"ssm_dt.bias": inner}),
            *vectors(ATTENTION, layer, **{"ssm_conv1d.bias": inner}),
            *vectors(Group.NORMS, layer, ssm_dt_norm=sizes.rank),
            *vectors(Group.NORMS, layer, ssm_b_norm=sizes.state, ssm_c_norm=sizes.state),
        ),
        cache=LayerCache(state_values=inner * sizes.state + (sizes.taps - 1) * inner),
    )


def hyper_connections(facts: ArchitectureSpec, layer: int, streams: int) -> tuple[Tensor, ...]:
    """Weights that mix `streams` residual streams around attention and feed-forward [1].

    Twice (2 + n) n outputs from n x hidden inputs; kept in 32 bits, counted with the norms.
    """
    mixes = (2 + streams) * streams
    return tuple(
        tensor
        for role in ("hc_attn", "hc_ffn")
        for tensor in (
            *linear(
                f"{role}_norm", Group.NORMS, layer, inputs=streams * facts.hidden, outputs=mixes
            ),
            *vectors(Group.NORMS, layer, **{f"{role}_base": mixes + 3}),
        )
    )


# K2 Horizon, whose expert layers may route the projection of values, too.
#
# Reference: huggingface/transformers, src/transformers/models/k2_horizon/modular_k2_horizon.py
# (K2HorizonMoVAAttention), read on 2026-11-22.


def k2_horizon(config: Config, facts: ArchitectureSpec) -> Architecture:
    """K2 Horizon: grouped attention, gated by value where the file says so; where it has value
    experts, expert layers choose among their projections in place of one of their own.
    """
    heads = "layer" if config.flag("query_key_norm") else ""
    facts = replace(facts, qk_norm=heads)
    gate = facts.heads * facts.head_dim if config.word("attention_gate_func") else 0
    value_experts = config.whole("mova_num_experts")
    alone = set(config.numbers("mlp_only_layers"))
    step = config.whole("decoder_sparse_step") or 1
    layers = []
    for at in range(facts.layers):
        routed = facts.experts > 0 and at not in alone and (at + 1) % step == 0
        layer = facts if routed else dense(facts)
        mixing = attention(layer, at, gate=gate)
        if routed and value_experts:
            mixing = _with_value_experts(mixing, layer, at, value_experts)
        layers.append(OwnLayer(mixing=mixing, facts=layer))
    return stack(facts, layers)


def _with_value_experts(
    mixing: Mixing, facts: ArchitectureSpec, layer: int, experts: int
) -> Mixing:
    """One value projection of hidden x KV weights for each expert, and their router.

    They count with the routed experts of the feed-forward, of which a token uses another share: 8
    of 100 there, 4 of 64 here, so that active weights of MoVA-36B-A4B come out 3 % high.
    """
    values = facts.kv_heads * facts.head_dim
    kept: tuple[Tensor, ...] = tuple(tensor for tensor in mixing.tensors if tensor.role != "attn_v")
    routed = linear(
        "attn_v_exps", Group.ROUTED_EXPERTS, layer,
        inputs=facts.hidden, outputs=values, stacked=experts,
    )  # fmt: skip
    router = linear("attn_v_gate_inp", Group.ROUTER, layer, inputs=facts.hidden, outputs=experts)
    return replace(mixing, tensors=kept + routed + router)
