"""Architecture from the published numbers of a model: its layers, and the tensors around them."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from advisor.errors import DataError, Refusal
from advisor.model.architecture import (
    Architecture,
    ArchitectureSpec,
    Experts,
    LayerCache,
    Shapes,
    Tensor,
)

# Layers of a model: how each mixes tokens, and what it keeps of the past.
#
# `layer_pattern` has one letter per layer; this file gives the letters their meaning. Roles of
# tensors are llama.cpp's names without layer and suffix.
#
# References:
# [1] Ainslie et al. 2023, GQA, arXiv:2305.13245.
# [2] DeepSeek-AI 2024, DeepSeek-V2, arXiv:2405.04434, section 2.1 (multi-head latent attention).
# [3] Yang, Kautz, Hatamizadeh 2024, Gated Delta Networks, arXiv:2412.06464.
# [4] Dao, Gu 2024, Mamba-2, arXiv:2405.21060, section 7.
# [5] DeepSeek-AI 2025, DeepSeek-V3.2-Exp report (sparse attention and its indexer).
# [6] ggml-org/llama.cpp, src/llama-arch.cpp (tensor names), src/llama-model.cpp (their shapes).
# [7] ggml-org/llama.cpp, src/llama-hparams.cpp, n_embd_r and n_embd_s (recurrent state).


class Mixer(StrEnum):
    """Kind of token mixer."""

    FULL = "full attention"
    INDEXED = "sparse attention with an indexer"
    WINDOW = "windowed attention"
    DELTA_NET = "gated DeltaNet"
    MAMBA2 = "Mamba-2"
    NONE = "none"


class FeedForward(StrEnum):
    """Kind of feed-forward block."""

    DENSE = "dense"
    EXPERTS = "experts"
    NONE = "none"


MIXER_OF_LETTER = {
    "F": Mixer.FULL,
    "I": Mixer.INDEXED,
    "W": Mixer.WINDOW,
    "L": Mixer.DELTA_NET,
    "M": Mixer.MAMBA2,
    "*": Mixer.FULL,
    "-": Mixer.NONE,
    "E": Mixer.NONE,
}
FEED_FORWARD_OF_SINGLE_BLOCK = {
    "M": FeedForward.NONE,
    "*": FeedForward.NONE,
    "-": FeedForward.DENSE,
    "E": FeedForward.EXPERTS,
}


def mixer(facts: ArchitectureSpec, layer: int) -> Mixer:
    """Kind of a layer's token mixer."""
    return MIXER_OF_LETTER[_letter(facts, layer)]


def feed_forward(facts: ArchitectureSpec, layer: int) -> FeedForward:
    """Kind of a layer's feed-forward block."""
    single = FEED_FORWARD_OF_SINGLE_BLOCK.get(_letter(facts, layer))
    if single is not None:
        return single
    routed = layer >= facts.first_dense and (layer + 1) % facts.moe_every == 0
    if facts.experts and routed:
        return FeedForward.EXPERTS
    return FeedForward.DENSE


def _letter(facts: ArchitectureSpec, layer: int) -> str:
    return facts.layer_pattern[layer % len(facts.layer_pattern)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mixing:
    """Token mixer of one layer."""

    tensors: tuple[Tensor, ...] = ()  # weights
    cache: LayerCache = field(default_factory=LayerCache)
    attention_values: int = 0  # as `Architecture.attention_values`

    def beside(self, *further: Tensor) -> "Mixing":
        """Copy with further weights."""
        return replace(self, tensors=self.tensors + further)

    @staticmethod
    def of(facts: ArchitectureSpec, layer: int) -> "Mixing":
        """Token mixer of a layer."""
        kind = mixer(facts, layer)
        match kind:
            case Mixer.NONE:
                return Mixing()
            case Mixer.DELTA_NET:
                return gated_delta_net(facts, layer)
            case Mixer.MAMBA2:
                return mamba2(facts, layer)
        if kind is Mixer.INDEXED or facts.kv_lora_rank:
            return latent_attention(facts, layer)
        return grouped_query_attention(facts, layer)


def key_value_heads(facts: ArchitectureSpec, layer: int) -> tuple[int, int]:
    """Key heads of a layer and values per head; Gemma 4's full layers have their own."""
    if mixer(facts, layer) is Mixer.WINDOW:
        return facts.kv_heads, facts.head_dim
    return facts.global_kv_heads or facts.kv_heads, facts.global_head_dim or facts.head_dim


def grouped_query_attention(facts: ArchitectureSpec, layer: int) -> Mixing:
    """Q, K, V and output projections; kv_heads x head_dim values of K and of V are cached [1].

    hidden x head_dim x (2 heads + 2 kv_heads) weights; Q counts twice where it carries an output
    gate; no V where K serves as V. A query meets heads x (key + value head size) values.
    """
    kind = mixer(facts, layer)
    kv_heads, head_dim = key_value_heads(facts, layer)
    queries = facts.heads * head_dim
    keys = kv_heads * head_dim
    outputs = {
        "attn_q": queries * (2 if facts.attn_output_gate else 1),
        "attn_k": keys,
        "attn_v": keys,
    }
    if facts.attention_k_eq_v and kind is Mixer.FULL:
        del outputs["attn_v"]
    if facts.fused_qkv:
        outputs = {"attn_qkv": sum(outputs.values())}
    projections = {role: (facts.hidden, size) for role, size in outputs.items()}
    output = {"attn_output": (queries, facts.hidden)}
    vectors = {}
    if facts.qk_norm == "layer":
        vectors = {"attn_q_norm": queries, "attn_k_norm": keys}
    elif facts.qk_norm:
        vectors = {"attn_q_norm": head_dim, "attn_k_norm": head_dim}
    if facts.attn_sinks:
        vectors["attn_sinks"] = facts.heads
    return Mixing(
        tensors=(
            *Tensor.of_shapes(layer, projections, bias=facts.qkv_bias),
            *Tensor.of_shapes(layer, output, bias=facts.attn_output_bias),
            *Tensor.of_shapes(layer, vectors),
        ),
        cache=LayerCache(
            key_values=keys,
            value_values=keys,
            window=facts.window if kind is Mixer.WINDOW else None,
        ),
        attention_values=2 * queries,
    )


def latent_attention(facts: ArchitectureSpec, layer: int) -> Mixing:
    """Multi-head latent attention, K and V up-projections apart as llama.cpp keeps them [2, 6].

    hidden x (kv rank + rope) down, heads x (nope + v) x kv rank up, heads x v x hidden out, and the
    queries. One latent and one rotary key are cached, kv rank + rope. Attention is counted as
    runtimes decode it, absorbed: each head sees the latent, heads x (kv rank + rope + kv rank).
    """
    rank = facts.kv_lora_rank
    heads = facts.heads
    hidden = facts.hidden
    queries = heads * (facts.qk_nope_dim + facts.qk_rope_dim)
    latent = rank + facts.qk_rope_dim
    q_rank = facts.q_lora_rank
    of_queries: Shapes
    if q_rank:
        of_queries = {
            "attn_q_a": (hidden, q_rank),
            "attn_q_b": (q_rank, queries),
            "attn_q_a_norm": q_rank,
        }
    else:
        of_queries = {"attn_q": (hidden, queries)}
    by_head = {"attn_k_b": (facts.qk_nope_dim, rank), "attn_v_b": (rank, facts.v_head_dim)}
    tensors = [
        *Tensor.of_shapes(layer, of_queries),
        *Tensor.of_shapes(layer, {"attn_kv_a_mqa": (hidden, latent)}),
        *Tensor.of_shapes(layer, by_head, stacked=heads),
        *Tensor.of_shapes(layer, {"attn_output": (heads * facts.v_head_dim, hidden)}),
        *Tensor.of_shapes(layer, {"attn_kv_a_norm": rank}),
    ]
    cached_values = latent
    if mixer(facts, layer) is Mixer.INDEXED:
        tensors += indexer(facts, layer)
        cached_values += facts.index_dim
    return Mixing(
        tensors=tuple(tensors),
        cache=LayerCache(key_values=cached_values),
        attention_values=heads * (latent + rank),
    )


def indexer(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Weights of the lightning indexer, which picks the tokens to attend to [5].

    q rank x heads x dim + hidden x dim + hidden x heads weights.
    """
    heads = facts.index_heads
    dim = facts.index_dim
    weights = {
        "indexer.attn_q_b": (facts.q_lora_rank, heads * dim),
        "indexer.attn_k": (facts.hidden, dim),
        "indexer.proj": (facts.hidden, heads),
    }
    return Tensor.of_shapes(layer, weights) + Tensor.of_shapes(
        layer, {"indexer.k_norm": dim}, bias=True
    )


def gated_delta_net(facts: ArchitectureSpec, layer: int) -> Mixing:
    """Gated DeltaNet [3]; K and V are the widths of all keys and of all values.

    hidden x (2 K + 2 V + 2 value heads) in, (2 K + V) x taps of convolution, V x hidden out. It
    keeps value heads x key x value values and the convolution's past, which do not grow [7].
    """
    heads = facts.linear_value_heads
    hidden = facts.hidden
    taps = facts.linear_conv
    values = heads * facts.linear_value_dim
    mixed = 2 * facts.linear_key_heads * facts.linear_key_dim + values
    weights: Shapes = {
        "attn_qkv": (hidden, mixed),
        "attn_gate": (hidden, values),
        "ssm_beta": (hidden, heads),
        "ssm_alpha": (hidden, heads),
        "ssm_conv1d": (taps, mixed),
        "ssm_out": (values, hidden),
        "ssm_dt": heads,
        "ssm_a": heads,
        "ssm_norm": facts.linear_value_dim,
    }
    state = values * facts.linear_key_dim + (taps - 1) * mixed
    return Mixing(tensors=Tensor.of_shapes(layer, weights), cache=LayerCache(state_values=state))


def mamba2(facts: ArchitectureSpec, layer: int) -> Mixing:
    """Mamba-2 [4], with D = heads x head_dim.

    hidden x (2 D + 2 groups x state + heads) in, (D + 2 groups x state) x taps of convolution,
    D x hidden out. It keeps D x state values and the convolution's past [7].
    """
    heads = facts.ssm_heads
    hidden = facts.hidden
    taps = facts.ssm_conv
    inner = heads * facts.ssm_head_dim
    mixed = inner + 2 * facts.ssm_groups * facts.ssm_state
    weights: Shapes = {
        "ssm_in": (hidden, inner + mixed + heads),
        "ssm_conv1d": (taps, mixed),
        "ssm_out": (inner, hidden),
        "ssm_dt": heads,
        "ssm_a": heads,
        "ssm_d": heads,
        "ssm_conv1d.bias": mixed,
        "ssm_norm": inner,
    }
    state = inner * facts.ssm_state + (taps - 1) * mixed
    return Mixing(tensors=Tensor.of_shapes(layer, weights), cache=LayerCache(state_values=state))


# Architecture from the published numbers of a model.
#
# Roles are llama.cpp's tensor names without layer and suffix, with `.bias` appended for biases.
# Multi-token prediction layers and vision towers are left out.
#
# References:
# [1] DeepSeek-AI 2024, DeepSeekMoE, arXiv:2401.06066 (shared and routed experts).
# [2] ggml-org/llama.cpp, src/llama-arch.cpp (tensor names), src/llama-model.cpp (their shapes).


NORM_ROLES = {
    1: ("attn_norm",),
    2: ("attn_norm", "ffn_norm"),
    4: ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """Layer of a model: its token mixer, and the facts that its feed-forward block and norms
    follow.
    """

    mixing: Mixing
    facts: ArchitectureSpec
    norms: bool = True  # whether it has norms on the residual stream

    @staticmethod
    def stacked(
        facts: ArchitectureSpec, layers: "Iterable[Layer]", outside: tuple[Tensor, ...] = ()
    ) -> Architecture:
        """Architecture of some layers, and of tensors outside them beside embedding and head."""
        built = tuple(layers)
        if facts.experts:
            experts = Experts(total=facts.experts, used=facts.experts_per_token)
        else:
            experts = None
        inner: list[Tensor] = []
        for at, layer in enumerate(built):
            inner += _norms(layer.facts, at) if layer.norms else ()
            inner += layer.mixing.tensors + _feed_forward(layer.facts, at)
        return Architecture(
            name=facts.name,
            layers=len(built),
            hidden=facts.hidden,
            vocab=facts.vocab,
            tied=facts.tied,
            max_context=facts.max_context,
            tensors=(*_embedding(facts), *inner, *outside, *_output_head(facts)),
            cache=tuple(layer.mixing.cache for layer in built),
            attention_values=tuple(layer.mixing.attention_values for layer in built),
            experts=experts,
            source=facts.source,
            head_dim=facts.head_dim,
            expert_type=facts.expert_type,
        )


def build(facts: ArchitectureSpec) -> Architecture:
    """Architecture of a model from its published numbers."""
    _check(facts)
    at = range(facts.layers)
    return Layer.stacked(
        facts, (Layer(mixing=Mixing.of(facts, layer), facts=facts) for layer in at)
    )


def _embedding(facts: ArchitectureSpec) -> tuple[Tensor, ...]:
    """Token embedding, vocab x hidden, and learned positions where a model has them."""
    if facts.positions:
        positions = {"position_embd": (facts.hidden, facts.positions)}
    else:
        positions = {}
    table = Tensor.of_shapes(None, {"token_embd": (facts.hidden, facts.vocab), **positions})
    if not facts.embedding_norm:
        return table
    return table + Tensor.of_shapes(None, {"token_embd_norm": facts.hidden}, bias=facts.norm_bias)


def _output_head(facts: ArchitectureSpec) -> tuple[Tensor, ...]:
    """Final norm and output head; a tied head is the embedding and has no tensor."""
    if facts.tied:
        head = {}
    else:
        head = {"output": (facts.hidden, facts.vocab)}
    norm = Tensor.of_shapes(None, {"output_norm": facts.hidden}, bias=facts.norm_bias)
    bias: Shapes = {"output.bias": facts.vocab} if facts.output_bias else {}
    return norm + Tensor.of_shapes(None, head) + Tensor.of_shapes(None, bias)


def _norms(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Norms on the residual stream; a single block has one."""
    single = Mixer.NONE is mixer(facts, layer) or FeedForward.NONE is feed_forward(facts, layer)
    roles = NORM_ROLES[1 if single else facts.norms_per_layer]
    return Tensor.of_shapes(layer, dict.fromkeys(roles, facts.hidden), bias=facts.norm_bias)


def _feed_forward(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    match feed_forward(facts, layer):
        case FeedForward.NONE:
            return ()
        case FeedForward.DENSE:
            return _dense(facts, layer)
        case FeedForward.EXPERTS:
            return _experts(facts, layer)


def _dense(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Dense feed-forward block."""
    return _matrices(facts, layer, "", (facts.hidden, facts.intermediate))


def _experts(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Router, routed experts and the weights that every token uses beside them [1].

    Routed experts may work in a narrower space, with projections into and out of it. Shared experts
    are held as one matrix of their summed width [1, 2].
    """
    hidden = facts.hidden
    latent = facts.moe_latent
    shared = facts.shared_experts * (facts.shared_intermediate or facts.moe_intermediate)
    width = (latent or hidden, facts.moe_intermediate)
    router = {"ffn_gate_inp": (hidden, facts.experts)}
    projections = {"ffn_latent_down": (hidden, latent), "ffn_latent_up": (latent, hidden)}
    tensors = [*Tensor.of_shapes(layer, router, bias=facts.ffn_bias)]
    if facts.router_bias:
        tensors += Tensor.of_shapes(layer, {"exp_probs_b": facts.experts})
    tensors += _matrices(facts, layer, "_exps", width, stacked=facts.experts)
    if latent:
        tensors += Tensor.of_shapes(layer, projections)
    if facts.shared_experts:
        tensors += _matrices(facts, layer, "_shexp", (hidden, shared))
        if facts.shared_expert_gate:
            tensors += Tensor.of_shapes(layer, {"ffn_gate_inp_shexp": hidden})
    if facts.dense_beside_experts:
        tensors += _dense(facts, layer)
    return tuple(tensors)


def _matrices(
    facts: ArchitectureSpec, layer: int, suffix: str, shape: tuple[int, int], stacked: int = 1
) -> tuple[Tensor, ...]:
    """Matrices of a feed-forward block of some inputs and width: 3 x inputs x width weights with a
    gate, 2 x without one.
    """
    inputs, width = shape
    if facts.gated_ffn:
        gate = {f"ffn_gate{suffix}": shape}
    else:
        gate = {}
    shapes = gate | {f"ffn_up{suffix}": shape, f"ffn_down{suffix}": (width, inputs)}
    return Tensor.of_shapes(layer, shapes, stacked=stacked, bias=facts.ffn_bias)


def _check(facts: ArchitectureSpec) -> None:
    if not facts.layers:
        raise Refusal(f"{facts.name} cannot be derived: {facts.note}")
    unknown = set(facts.layer_pattern) - set(MIXER_OF_LETTER)
    if unknown or not facts.layer_pattern:
        raise DataError(
            f"{facts.name}: layer_pattern {facts.layer_pattern!r} may only use the letters "
            f"{' '.join(MIXER_OF_LETTER)}."
        )
    if facts.hidden <= 0 or facts.vocab <= 0:
        raise DataError(
            f"{facts.name}: hidden ({facts.hidden}) and vocab ({facts.vocab}) must be positive."
        )
