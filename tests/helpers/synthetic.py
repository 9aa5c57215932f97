"""GGUF files that llama.cpp loads, in any catalogue shape and format, without a weight on disk.

Names and shapes of all tensors are those that `advisor.model.build` derives, so the engine checks
them: it refuses a file that lacks a tensor or has one of another shape. Weights are a hole in the
file, which reads as zeros with valid scales; memory does not depend on them. There is no
vocabulary.

Reference: ggml-org/llama.cpp, src/llama-arch.cpp (keys and names) and src/models (shapes they must
have), October 2026.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gguf import GGMLQuantizationType
from gguf_files import F32, Tensors, write

from advisor.model.architecture import Architecture, ArchitectureSpec, Tensor
from advisor.model.build import FeedForward, Mixer, build, feed_forward, key_value_heads, mixer
from advisor.model.formats import Format

NAMES: Mapping[str, Mapping[str, str]] = {
    arch: {"ffn_norm": "post_attention_norm"}
    for arch in ("glm4moe", "gpt-oss", "qwen35", "qwen35moe")
}
"""Roles that an architecture calls otherwise than we do."""
SUFFIXES = {"ssm_a": "", "ssm_d": "", "ssm_dt": ".bias", "exp_probs_b": ".bias"}
"""Ends of names that are not `.weight`."""


def write_model(path: Path, arch: str, facts: ArchitectureSpec, form: str) -> Path:
    """A file of llama.cpp's architecture `arch`, with weights in a format of the catalogue."""
    return write(path, arch, keys(arch, facts), tensors(arch, facts, form))


def tensors(arch: str, facts: ArchitectureSpec, form: str) -> Tensors:
    """All tensors by their name in the file, with shape and type."""
    built = build(facts)
    kinds = Format.by_name()[form].tensor_types(built)
    listed = {
        name_of(arch, tensor): (shape(facts, tensor), GGMLQuantizationType[kind.name])
        for tensor, kind in zip(built.tensors, kinds, strict=True)
    }
    return listed | unlisted(arch, facts, built)


def unlisted(arch: str, facts: ArchitectureSpec, built: Architecture) -> Tensors:
    """Small tensors that llama.cpp needs and the catalogue omits."""
    if arch == "gemma4":
        return {"rope_freqs.weight": ((facts.global_head_dim // 2,), F32)}
    if arch != "nemotron_h_moe":
        return {}
    routers = [tensor.layer for tensor in built.tensors if tensor.role == "ffn_gate_inp"]
    return {f"blk.{layer}.exp_probs_b.bias": ((facts.experts,), F32) for layer in routers}


def name_of(arch: str, tensor: Tensor) -> str:
    role = NAMES.get(arch, {}).get(tensor.role, tensor.role)
    if role.endswith(".bias"):
        suffix = ""
    else:
        suffix = SUFFIXES.get(role, ".weight")
    if tensor.layer is None:
        return f"{role}{suffix}"
    return f"blk.{tensor.layer}.{role}{suffix}"


def shape(facts: ArchitectureSpec, tensor: Tensor) -> tuple[int, ...]:
    """Dimensions, values in a row first; experts and the heads of MLA are stacked in the third."""
    if tensor.role.endswith("_exps"):
        return (tensor.width, tensor.rows // facts.experts, facts.experts)
    if tensor.role in ("attn_k_b", "attn_v_b"):
        return (tensor.width, tensor.rows // facts.heads, facts.heads)
    if facts.ssm_heads and tensor.role in ("ssm_a", "ssm_d"):
        return (1, tensor.width)
    if facts.ssm_heads and tensor.role == "ssm_norm":
        return (tensor.width // facts.ssm_groups, facts.ssm_groups)
    if tensor.rows == 1:
        return (tensor.width,)
    return (tensor.width, tensor.rows)


def keys(arch: str, facts: ArchitectureSpec) -> dict[str, Any]:
    """Keys of the header; llama.cpp ignores keys of other architectures."""
    return {
        "block_count": facts.layers,
        "context_length": facts.max_context or 4096,
        "embedding_length": facts.hidden,
        "feed_forward_length": feed_forward_widths(facts),
        "attention.layer_norm_rms_epsilon": 1e-5,
        "attention.layer_norm_epsilon": 1e-5,
        "attention.head_count": facts.heads,
        "vocab_size": facts.vocab,
        "tokenizer.ggml.model": "none",
        **(latent_attention(facts) if facts.kv_lora_rank else attention(facts)),
        **(windows(facts) if facts.window else {}),
        **(experts(facts) if facts.experts else {}),
        **(delta_net(facts) if facts.linear_value_heads else {}),
        **(mamba2(facts) if facts.ssm_heads else {}),
    }


def feed_forward_widths(facts: ArchitectureSpec) -> int | list[int]:
    """One width, or one per layer where some layers have no feed-forward part."""
    width = facts.intermediate or facts.moe_intermediate
    parts = [feed_forward(facts, layer) for layer in range(facts.layers)]
    if FeedForward.NONE not in parts:
        return width
    return [0 if part is FeedForward.NONE else width for part in parts]


def attention(facts: ArchitectureSpec) -> dict[str, Any]:
    full = facts.global_head_dim or facts.head_dim
    return {
        "attention.head_count_kv": [cached_heads(facts, number) for number in range(facts.layers)],
        "attention.key_length": full,
        "attention.value_length": full,
        "rope.dimension_count": full,
        "attention.key_length_swa": facts.head_dim,
        "attention.value_length_swa": facts.head_dim,
        "rope.dimension_count_swa": facts.head_dim,
        "attention.shared_kv_layers": 0,
        "embedding_length_per_layer_input": 0,
    }


def cached_heads(facts: ArchitectureSpec, layer: int) -> int:
    """Key heads of a layer; in Nemotron-H a block without key heads is of another kind."""
    attends = mixer(facts, layer) not in (Mixer.NONE, Mixer.MAMBA2)
    if attends:
        return key_value_heads(facts, layer)[0]
    return 0


def latent_attention(facts: ArchitectureSpec) -> dict[str, Any]:
    """MLA as llama.cpp runs it: one key head as wide as latent and rotary key together."""
    return {
        "attention.head_count_kv": 1,
        "attention.key_length": facts.kv_lora_rank + facts.qk_rope_dim,
        "attention.value_length": facts.kv_lora_rank,
        "attention.key_length_mla": facts.qk_nope_dim + facts.qk_rope_dim,
        "attention.value_length_mla": facts.v_head_dim,
        "attention.q_lora_rank": facts.q_lora_rank,
        "attention.kv_lora_rank": facts.kv_lora_rank,
        "rope.dimension_count": facts.qk_rope_dim,
        "attention.indexer.head_count": facts.index_heads,
        "attention.indexer.key_length": facts.index_dim,
        "attention.indexer.top_k": 2048,
    }


def windows(facts: ArchitectureSpec) -> dict[str, Any]:
    kinds = [mixer(facts, layer) for layer in range(facts.layers)]
    return {
        "attention.sliding_window": facts.window,
        "attention.sliding_window_pattern": [kind is Mixer.WINDOW for kind in kinds],
    }


def experts(facts: ArchitectureSpec) -> dict[str, Any]:
    shared = facts.shared_intermediate or facts.moe_intermediate
    return {
        "expert_count": facts.experts,
        "expert_used_count": facts.experts_per_token,
        "expert_feed_forward_length": facts.moe_intermediate,
        "expert_shared_count": facts.shared_experts,
        "expert_shared_feed_forward_length": facts.shared_experts * shared,
        "expert_weights_scale": 1.0,
        "expert_weights_norm": True,
        "expert_gating_func": 2,  # sigmoid
        "leading_dense_block_count": facts.first_dense,
        "interleave_moe_layer_step": facts.moe_every,
    }


def delta_net(facts: ArchitectureSpec) -> dict[str, Any]:
    return {
        "rope.dimension_sections": [11, 11, 10, 0],
        "full_attention_interval": len(facts.layer_pattern),
        "ssm.conv_kernel": facts.linear_conv,
        "ssm.inner_size": facts.linear_value_heads * facts.linear_value_dim,
        "ssm.state_size": facts.linear_key_dim,
        "ssm.time_step_rank": facts.linear_value_heads,
        "ssm.group_count": facts.linear_key_heads,
    }


def mamba2(facts: ArchitectureSpec) -> dict[str, Any]:
    return {
        "ssm.conv_kernel": facts.ssm_conv,
        "ssm.inner_size": facts.ssm_heads * facts.ssm_head_dim,
        "ssm.state_size": facts.ssm_state,
        "ssm.time_step_rank": facts.ssm_heads,
        "ssm.group_count": facts.ssm_groups,
    }
