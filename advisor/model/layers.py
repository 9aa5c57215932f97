"""Layers of a model: their tensors and caches.

`layer_pattern` has one letter per layer; this file gives the letters their meaning.

References:
    [1] Ainslie et al. 2023, GQA, arXiv:2305.13245.
    [2] DeepSeek-AI 2024, DeepSeek-V2, arXiv:2405.04434, section 2.1.3 (latent cache).
    [3] ggml-org/llama.cpp, src/llama-hparams.cpp, n_embd_r and n_embd_s (recurrent state).
"""

from enum import StrEnum

from advisor.model.architecture import LayerCache
from advisor.model.spec import ArchitectureSpec


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
    """Token mixer of a layer."""
    return MIXER_OF_LETTER[_letter(facts, layer)]


def feed_forward(facts: ArchitectureSpec, layer: int) -> FeedForward:
    """Feed-forward block of a layer."""
    single = FEED_FORWARD_OF_SINGLE_BLOCK.get(_letter(facts, layer))
    if single is not None:
        return single
    routed = layer >= facts.first_dense and (layer + 1) % facts.moe_every == 0
    return FeedForward.EXPERTS if facts.experts and routed else FeedForward.DENSE


def key_value_heads(facts: ArchitectureSpec, layer: int) -> tuple[int, int]:
    """Key heads of a layer and values per head; Gemma 4's full layers have their own."""
    if mixer(facts, layer) is Mixer.WINDOW:
        return facts.kv_heads, facts.head_dim
    return facts.global_kv_heads or facts.kv_heads, facts.global_head_dim or facts.head_dim


def layer_cache(facts: ArchitectureSpec, layer: int) -> LayerCache:
    """Cache of a layer.

    Attention keeps kv_heads x head_dim values of K and of V per token [1]; MLA one latent and one
    rotary key, kv rank + rope [2]; DeltaNet and Mamba-2 a state that does not grow [3].
    """
    match mixer(facts, layer):
        case Mixer.NONE:
            return LayerCache()
        case Mixer.DELTA_NET:
            return LayerCache(state_values=delta_net_state(facts))
        case Mixer.MAMBA2:
            return LayerCache(state_values=mamba2_state(facts))
        case Mixer.INDEXED | Mixer.FULL if facts.kv_lora_rank:
            index_key = facts.index_dim if mixer(facts, layer) is Mixer.INDEXED else 0
            latent = facts.kv_lora_rank + facts.qk_rope_dim
            return LayerCache(key_values=latent + index_key)
        case kind:
            kv_heads, head_dim = key_value_heads(facts, layer)
            return LayerCache(
                key_values=kv_heads * head_dim,
                value_values=kv_heads * head_dim,
                window=facts.window if kind is Mixer.WINDOW else None,
            )


def attention_values(facts: ArchitectureSpec, layer: int) -> int:
    """Query heads x (key + value head size); 0 for a layer that does not look back.

    MLA is counted as runtimes decode it, absorbed: each head sees the latent, heads x (kv rank +
    rope + kv rank) [2].
    """
    if mixer(facts, layer) in (Mixer.NONE, Mixer.DELTA_NET, Mixer.MAMBA2):
        return 0
    if facts.kv_lora_rank:
        return facts.heads * (2 * facts.kv_lora_rank + facts.qk_rope_dim)
    _, head_dim = key_value_heads(facts, layer)
    return 2 * facts.heads * head_dim


def delta_net_channels(facts: ArchitectureSpec) -> int:
    """Channels of a gated DeltaNet layer's convolution: Q, K and V."""
    keys = facts.linear_key_heads * facts.linear_key_dim
    return 2 * keys + facts.linear_value_heads * facts.linear_value_dim


def delta_net_state(facts: ArchitectureSpec) -> int:
    """Values a gated DeltaNet layer keeps: value heads x key x value, the convolution's past."""
    memory = facts.linear_value_heads * facts.linear_key_dim * facts.linear_value_dim
    return memory + (facts.linear_conv - 1) * delta_net_channels(facts)


def mamba2_channels(facts: ArchitectureSpec) -> int:
    """Channels of a Mamba-2 layer's convolution: x, B and C."""
    return facts.ssm_heads * facts.ssm_head_dim + 2 * facts.ssm_groups * facts.ssm_state


def mamba2_state(facts: ArchitectureSpec) -> int:
    """Values a Mamba-2 layer keeps: heads x head_dim x state, and the convolution's past."""
    memory = facts.ssm_heads * facts.ssm_head_dim * facts.ssm_state
    return memory + (facts.ssm_conv - 1) * mamba2_channels(facts)


def _letter(facts: ArchitectureSpec, layer: int) -> str:
    return facts.layer_pattern[layer % len(facts.layer_pattern)]
