"""Architecture from the published numbers of a model.

Roles are llama.cpp's tensor names without layer and suffix, with `.bias` appended for biases.
Multi-token prediction layers and vision towers are left out.

References:
    [1] DeepSeek-AI 2024, DeepSeekMoE, arXiv:2401.06066 (shared and routed experts).
    [2] ggml-org/llama.cpp, src/llama-arch.cpp (tensor names), src/llama-model.cpp (their shapes).
"""

from collections.abc import Iterator

from advisor.errors import DataError, Refusal
from advisor.model.architecture import Architecture, Experts, Group, Tensor, linear, norm, vectors
from advisor.model.layers import (
    MIXER_OF_LETTER,
    FeedForward,
    Mixer,
    attention_values,
    feed_forward,
    layer_cache,
    mixer,
)
from advisor.model.spec import ArchitectureSpec
from advisor.model.token_mixers import mixer_tensors

NORM_ROLES = {
    1: ("attn_norm",),
    2: ("attn_norm", "ffn_norm"),
    4: ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"),
}


def build(facts: ArchitectureSpec) -> Architecture:
    """Architecture of a model from its published numbers."""
    _check(facts)
    layers = range(facts.layers)
    return Architecture(
        name=facts.name,
        layers=facts.layers,
        hidden=facts.hidden,
        vocab=facts.vocab,
        tied=facts.tied,
        max_context=facts.max_context,
        tensors=tuple(_tensors(facts)),
        cache=tuple(layer_cache(facts, layer) for layer in layers),
        attention_values=tuple(attention_values(facts, layer) for layer in layers),
        experts=experts(facts),
        source=facts.source,
        head_dim=facts.head_dim,
        expert_type=facts.expert_type,
    )


def experts(facts: ArchitectureSpec) -> Experts | None:
    """Routed experts of a layer, None for a dense model."""
    if not facts.experts:
        return None
    return Experts(total=facts.experts, used=facts.experts_per_token)


def embedding(facts: ArchitectureSpec) -> tuple[Tensor, ...]:
    """Token embedding, vocab x hidden, and learned positions where a model has them."""
    tokens = linear("token_embd", Group.EMBEDDING, None, inputs=facts.hidden, outputs=facts.vocab)
    if not facts.positions:
        return tokens
    return tokens + linear(
        "position_embd", Group.EMBEDDING, None, inputs=facts.hidden, outputs=facts.positions
    )


def output_head(facts: ArchitectureSpec) -> tuple[Tensor, ...]:
    """Final norm and output head; a tied head is the embedding and has no tensor of its own."""
    final = norm("output_norm", None, facts.hidden, bias=facts.norm_bias)
    if facts.tied:
        return final
    return final + linear("output", Group.OUTPUT, None, inputs=facts.hidden, outputs=facts.vocab)


def dense_feed_forward(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """A dense feed-forward layer: 3 x hidden x intermediate weights gated, 2 x without a gate."""
    return _feed_forward_matrices(
        facts, layer, Group.DENSE_FFN, suffix="", inputs=facts.hidden, width=facts.intermediate
    )


def expert_feed_forward(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Router, routed experts and shared experts of a layer [1]."""
    routed = _feed_forward_matrices(
        facts,
        layer,
        Group.ROUTED_EXPERTS,
        suffix="_exps",
        inputs=facts.moe_latent or facts.hidden,
        width=facts.moe_intermediate,
        stacked=facts.experts,
    )
    beside = dense_feed_forward(facts, layer) if facts.dense_beside_experts else ()
    return (
        router(facts, layer)
        + routed
        + latent_projections(facts, layer)
        + shared_experts(facts, layer)
        + beside
    )


def router(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """The router, hidden x experts weights."""
    return linear(
        "ffn_gate_inp",
        Group.ROUTER,
        layer,
        inputs=facts.hidden,
        outputs=facts.experts,
        bias=facts.ffn_bias,
    )


def latent_projections(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Projections into and out of the narrower space of routed experts, where a model has one."""
    if not facts.moe_latent:
        return ()
    hidden, latent, group = facts.hidden, facts.moe_latent, Group.SHARED_EXPERTS
    return linear("ffn_latent_down", group, layer, inputs=hidden, outputs=latent) + linear(
        "ffn_latent_up", group, layer, inputs=latent, outputs=hidden
    )


def shared_experts(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Experts that every token uses, held as one matrix of their summed width [1, 2]."""
    if not facts.shared_experts:
        return ()
    each = facts.shared_intermediate or facts.moe_intermediate
    matrices = _feed_forward_matrices(
        facts,
        layer,
        Group.SHARED_EXPERTS,
        suffix="_shexp",
        inputs=facts.hidden,
        width=facts.shared_experts * each,
    )
    if not facts.shared_expert_gate:
        return matrices
    return matrices + vectors(Group.ROUTER, layer, ffn_gate_inp_shexp=facts.hidden)


def layer_norms(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Norms on the residual stream; a single block has one."""
    single = Mixer.NONE is mixer(facts, layer) or FeedForward.NONE is feed_forward(facts, layer)
    roles = NORM_ROLES[1 if single else facts.norms_per_layer]
    return tuple(
        tensor for role in roles for tensor in norm(role, layer, facts.hidden, bias=facts.norm_bias)
    )


def _tensors(facts: ArchitectureSpec) -> Iterator[Tensor]:
    yield from embedding(facts)
    for layer in range(facts.layers):
        yield from layer_norms(facts, layer)
        yield from mixer_tensors(facts, layer)
        yield from feed_forward_tensors(facts, layer)
    yield from output_head(facts)


def feed_forward_tensors(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Feed-forward tensors of a layer."""
    match feed_forward(facts, layer):
        case FeedForward.NONE:
            return ()
        case FeedForward.DENSE:
            return dense_feed_forward(facts, layer)
        case FeedForward.EXPERTS:
            return expert_feed_forward(facts, layer)


def _feed_forward_matrices(
    facts: ArchitectureSpec,
    layer: int,
    group: Group,
    *,
    suffix: str,
    inputs: int,
    width: int,
    stacked: int = 1,
) -> tuple[Tensor, ...]:
    shapes = {"ffn_gate": (inputs, width), "ffn_up": (inputs, width), "ffn_down": (width, inputs)}
    if not facts.gated_ffn:
        del shapes["ffn_gate"]
    return tuple(
        tensor
        for role, (ins, outs) in shapes.items()
        for tensor in linear(
            role + suffix,
            group,
            layer,
            inputs=ins,
            outputs=outs,
            stacked=stacked,
            bias=facts.ffn_bias,
        )
    )


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
