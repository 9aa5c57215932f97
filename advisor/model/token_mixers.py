"""Tensors by which layers mix tokens: attention, gated DeltaNet, Mamba-2.

One function per family. Roles are llama.cpp's tensor names without layer and suffix.

References:
    [1] Ainslie et al. 2023, GQA, arXiv:2305.13245.
    [2] DeepSeek-AI 2024, DeepSeek-V2, arXiv:2405.04434, section 2.1 (multi-head latent attention).
    [3] Yang, Kautz, Hatamizadeh 2024, Gated Delta Networks, arXiv:2412.06464.
    [4] Dao, Gu 2024, Mamba-2, arXiv:2405.21060, section 7.
    [5] DeepSeek-AI 2025, DeepSeek-V3.2-Exp report (sparse attention and its indexer).
    [6] ggml-org/llama.cpp, src/llama-arch.cpp (tensor names), src/llama-model.cpp (their shapes).
"""

from advisor.model.architecture import Group, Tensor, linear, norm, vectors
from advisor.model.layers import Mixer, delta_net_channels, key_value_heads, mamba2_channels, mixer
from advisor.model.spec import ArchitectureSpec


def mixer_tensors(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Tensors by which a layer mixes tokens."""
    match mixer(facts, layer):
        case Mixer.NONE:
            return ()
        case Mixer.DELTA_NET:
            return gated_delta_net(facts, layer)
        case Mixer.MAMBA2:
            return mamba2(facts, layer)
        case Mixer.INDEXED:
            return latent_attention(facts, layer) + indexer(facts, layer)
        case Mixer.FULL | Mixer.WINDOW:
            attention = latent_attention if facts.kv_lora_rank else grouped_query_attention
            return attention(facts, layer)


def grouped_query_attention(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Q, K, V and output projections [1].

    hidden x head_dim x (2 heads + 2 kv_heads) weights; Q counts twice where it carries an output
    gate; no V where K serves as V.
    """
    _, head_dim = key_value_heads(facts, layer)
    return (
        _query_key_value(facts, layer)
        + linear(
            "attn_output",
            Group.ATTENTION,
            layer,
            inputs=facts.heads * head_dim,
            outputs=facts.hidden,
            bias=facts.attn_output_bias,
        )
        + _query_key_norms(facts, layer)
        + (vectors(Group.ATTENTION, layer, attn_sinks=facts.heads) if facts.attn_sinks else ())
    )


def latent_attention(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Multi-head latent attention, K and V up-projections apart as llama.cpp keeps them [2, 6].

    hidden x (kv rank + rope) down, heads x (nope + v) x kv rank up, heads x v x hidden out, and the
    queries.
    """
    rank, heads, group = facts.kv_lora_rank, facts.heads, Group.ATTENTION
    return (
        _latent_queries(facts, layer)
        + linear(
            "attn_kv_a_mqa", group, layer, inputs=facts.hidden, outputs=rank + facts.qk_rope_dim
        )
        + linear("attn_k_b", group, layer, inputs=facts.qk_nope_dim, outputs=rank, stacked=heads)
        + linear("attn_v_b", group, layer, inputs=rank, outputs=facts.v_head_dim, stacked=heads)
        + linear("attn_output", group, layer, inputs=heads * facts.v_head_dim, outputs=facts.hidden)
        + vectors(Group.NORMS, layer, attn_kv_a_norm=rank)
    )


def indexer(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """The lightning indexer that picks the tokens to attend to [5].

    q rank x heads x dim + hidden x dim + hidden x heads weights.
    """
    heads, dim, group = facts.index_heads, facts.index_dim, Group.ATTENTION
    return (
        linear("indexer.attn_q_b", group, layer, inputs=facts.q_lora_rank, outputs=heads * dim)
        + linear("indexer.attn_k", group, layer, inputs=facts.hidden, outputs=dim)
        + linear("indexer.proj", group, layer, inputs=facts.hidden, outputs=heads)
        + norm("indexer.k_norm", layer, dim, bias=True)
    )


def gated_delta_net(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Gated DeltaNet [3], with K and V all keys' and all values' width.

    hidden x (2 K + 2 V + 2 value heads) in, (2 K + V) x taps of convolution, V x hidden out.
    """
    values = facts.linear_value_heads * facts.linear_value_dim
    mixed = delta_net_channels(facts)
    heads, hidden, group = facts.linear_value_heads, facts.hidden, Group.ATTENTION
    return (
        linear("attn_qkv", group, layer, inputs=hidden, outputs=mixed)
        + linear("attn_gate", group, layer, inputs=hidden, outputs=values)
        + linear("ssm_beta", group, layer, inputs=hidden, outputs=heads)
        + linear("ssm_alpha", group, layer, inputs=hidden, outputs=heads)
        + linear("ssm_conv1d", group, layer, inputs=facts.linear_conv, outputs=mixed)
        + linear("ssm_out", group, layer, inputs=values, outputs=hidden)
        + vectors(group, layer, ssm_dt=heads, ssm_a=heads)
        + vectors(Group.NORMS, layer, ssm_norm=facts.linear_value_dim)
    )


def mamba2(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    """Mamba-2 [4], with D = heads x head_dim.

    hidden x (2 D + 2 groups x state + heads) in, (D + 2 groups x state) x taps of convolution,
    D x hidden out.
    """
    inner = facts.ssm_heads * facts.ssm_head_dim
    mixed = mamba2_channels(facts)
    heads, group = facts.ssm_heads, Group.ATTENTION
    return (
        linear("ssm_in", group, layer, inputs=facts.hidden, outputs=inner + mixed + heads)
        + linear("ssm_conv1d", group, layer, inputs=facts.ssm_conv, outputs=mixed)
        + linear("ssm_out", group, layer, inputs=inner, outputs=facts.hidden)
        + vectors(group, layer, ssm_dt=heads, ssm_a=heads, ssm_d=heads)
        + vectors(group, layer, **{"ssm_conv1d.bias": mixed})
        + vectors(Group.NORMS, layer, ssm_norm=inner)
    )


def _query_key_value(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    kv_heads, head_dim = key_value_heads(facts, layer)
    sizes = {
        "attn_q": facts.heads * head_dim * (2 if facts.attn_output_gate else 1),
        "attn_k": kv_heads * head_dim,
        "attn_v": kv_heads * head_dim,
    }
    if facts.attention_k_eq_v and mixer(facts, layer) is Mixer.FULL:
        del sizes["attn_v"]
    if facts.fused_qkv:
        sizes = {"attn_qkv": sum(sizes.values())}
    return tuple(
        tensor
        for role, outputs in sizes.items()
        for tensor in linear(
            role,
            Group.ATTENTION,
            layer,
            inputs=facts.hidden,
            outputs=outputs,
            bias=facts.qkv_bias,
        )
    )


def _query_key_norms(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    if not facts.qk_norm:
        return ()
    kv_heads, head_dim = key_value_heads(facts, layer)
    queries, keys = (facts.heads, kv_heads) if facts.qk_norm == "layer" else (1, 1)
    return vectors(Group.NORMS, layer, attn_q_norm=queries * head_dim, attn_k_norm=keys * head_dim)


def _latent_queries(facts: ArchitectureSpec, layer: int) -> tuple[Tensor, ...]:
    outputs = facts.heads * (facts.qk_nope_dim + facts.qk_rope_dim)
    rank, hidden, group = facts.q_lora_rank, facts.hidden, Group.ATTENTION
    if not rank:
        return linear("attn_q", group, layer, inputs=hidden, outputs=outputs)
    return (
        linear("attn_q_a", group, layer, inputs=hidden, outputs=rank)
        + linear("attn_q_b", group, layer, inputs=rank, outputs=outputs)
        + vectors(Group.NORMS, layer, attn_q_a_norm=rank)
    )
