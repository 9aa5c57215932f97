"""Architecture from the published numbers of a model.

Roles are llama.cpp's tensor names without layer and suffix, with `.bias` appended for biases.
Multi-token prediction layers and vision towers are left out.

References:
    [1] DeepSeek-AI 2024, DeepSeekMoE, arXiv:2401.06066 (shared and routed experts).
    [2] ggml-org/llama.cpp, src/llama-arch.cpp (tensor names), src/llama-model.cpp (their shapes).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from advisor.errors import DataError, Refusal
from advisor.model.architecture import Architecture, Experts, Tensor
from advisor.model.layers import MIXER_OF_LETTER, FeedForward, Mixer, Mixing, feed_forward, mixer
from advisor.model.spec import ArchitectureSpec

NORM_ROLES = {
    1: ("attn_norm",),
    2: ("attn_norm", "ffn_norm"),
    4: ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """One layer: its token mixer, and the facts that its feed-forward block and norms follow."""

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
    return Tensor.of_shapes(None, {"token_embd": (facts.hidden, facts.vocab), **positions})


def _output_head(facts: ArchitectureSpec) -> tuple[Tensor, ...]:
    """Final norm and output head; a tied head is the embedding and has no tensor of its own."""
    if facts.tied:
        head = {}
    else:
        head = {"output": (facts.hidden, facts.vocab)}
    norm = Tensor.of_shapes(None, {"output_norm": facts.hidden}, bias=facts.norm_bias)
    return norm + Tensor.of_shapes(None, head)


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
    """A dense feed-forward block."""
    return _matrices(facts, layer, "", (facts.hidden, facts.intermediate))


def _experts(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Router, routed experts and what every token uses beside them [1].

    Routed experts may work in a narrower space, with projections into and out of it. Shared experts
    are held as one matrix of their summed width [1, 2].
    """
    hidden = facts.hidden
    latent = facts.moe_latent
    shared = facts.shared_experts * (facts.shared_intermediate or facts.moe_intermediate)
    width = (latent or hidden, facts.moe_intermediate)
    router = {"ffn_gate_inp": (hidden, facts.experts)}
    projections = {"ffn_latent_down": (hidden, latent), "ffn_latent_up": (latent, hidden)}
    gated = facts.shared_experts and facts.shared_expert_gate
    return (
        *Tensor.of_shapes(layer, router, bias=facts.ffn_bias),
        *_matrices(facts, layer, "_exps", width, stacked=facts.experts),
        *(Tensor.of_shapes(layer, projections) if latent else ()),
        *(_matrices(facts, layer, "_shexp", (hidden, shared)) if facts.shared_experts else ()),
        *(Tensor.of_shapes(layer, {"ffn_gate_inp_shexp": hidden}) if gated else ()),
        *(_dense(facts, layer) if facts.dense_beside_experts else ()),
    )


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
