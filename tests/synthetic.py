"""GGUF files that llama.cpp loads, in any catalogue shape and format, without a weight on disk.

Names and shapes of all tensors are those that `advisor.tensors` derives, so the engine checks them:
it refuses a file that lacks a tensor or has one of another shape. Weights are a hole in the file,
that is zeros with valid scales; memory does not depend on them.

Reference: ggml-org/llama.cpp, src/llama-arch.cpp (keys and names), src/models (shapes they must
have), read 2026-11-21.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gguf import GGMLQuantizationType
from gguf_files import F32, Tensors, write

from advisor.architecture import Architecture, ArchitectureFacts, Tensor
from advisor.catalog import model_formats, storage_types
from advisor.layers import FeedForward, Mixer, feed_forward, key_value_heads, mixer
from advisor.quantization import tensor_types
from advisor.tensors import build

SPECIAL = ("<unk>", "<s>", "</s>")
BYTES = tuple(f"<0x{value:02X}>" for value in range(256))
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6
"""Token types of llama.h."""

NAMES: Mapping[str, Mapping[str, str]] = {
    "gpt-oss": {"ffn_norm": "post_attention_norm"},
    "qwen35": {"ffn_norm": "post_attention_norm"},
    "qwen35moe": {"ffn_norm": "post_attention_norm"},
    "glm4moe": {"ffn_norm": "post_attention_norm"},
}
"""Roles that an architecture calls otherwise than we do."""
BIASED_ROUTERS = frozenset({"deepseek32", "glm4moe", "minimax-m2", "nemotron_h_moe"})
"""Architectures whose routers carry a correction per expert, which the catalogue leaves out."""
SUFFIXES = {"ssm_a": "", "ssm_d": "", "ssm_dt": ".bias"}
"""Ends of names that are not `.weight`."""


def write_model(path: Path, arch: str, facts: ArchitectureFacts, form: str) -> Path:
    """A file that llama.cpp loads as its architecture `arch`."""
    return write(
        path, arch, {**keys(arch, facts), **vocabulary(facts.vocab)}, tensors(arch, facts, form)
    )


def tensors(arch: str, facts: ArchitectureFacts, form: str) -> Tensors:
    """Every tensor by its name in the file, with shape and type."""
    built = build(facts)
    kinds = tensor_types(built, model_formats()[form], storage_types())
    found = {
        name_of(arch, one): (shape(facts, one), GGMLQuantizationType[kind.name])
        for one, kind in zip(built.tensors, kinds, strict=True)
    }
    return found | unlisted(arch, facts, built)


def unlisted(arch: str, facts: ArchitectureFacts, built: Architecture) -> Tensors:
    """Small tensors that llama.cpp wants and the catalogue leaves out."""
    if arch == "gemma4":
        return {"rope_freqs.weight": ((facts.global_head_dim // 2,), F32)}
    if arch not in BIASED_ROUTERS:
        return {}
    routers = [one.layer for one in built.tensors if one.role == "ffn_gate_inp"]
    return {f"blk.{layer}.exp_probs_b.bias": ((facts.experts,), F32) for layer in routers}


def name_of(arch: str, tensor: Tensor) -> str:
    role = NAMES.get(arch, {}).get(tensor.role, tensor.role)
    suffix = "" if role.endswith(".bias") else SUFFIXES.get(role, ".weight")
    return f"{role}{suffix}" if tensor.layer is None else f"blk.{tensor.layer}.{role}{suffix}"


def shape(facts: ArchitectureFacts, tensor: Tensor) -> tuple[int, ...]:
    """Dimensions, values in a row first; experts and heads of MLA are stacked in the third."""
    if tensor.role.endswith("_exps"):
        return (tensor.width, tensor.rows // facts.experts, facts.experts)
    if tensor.role in ("attn_k_b", "attn_v_b"):
        return (tensor.width, tensor.rows // facts.heads, facts.heads)
    if facts.ssm_heads and tensor.role in ("ssm_a", "ssm_d"):
        return (1, tensor.width)
    if facts.ssm_heads and tensor.role == "ssm_norm":
        return (tensor.width // facts.ssm_groups, facts.ssm_groups)
    return (tensor.width,) if tensor.rows == 1 else (tensor.width, tensor.rows)


def keys(arch: str, facts: ArchitectureFacts) -> dict[str, Any]:
    """What the header says of the architecture."""
    return {
        "block_count": facts.layers,
        "context_length": facts.max_context or 4096,
        "embedding_length": facts.hidden,
        "feed_forward_length": facts.intermediate or facts.moe_intermediate,
        "attention.layer_norm_rms_epsilon": 1e-5,
        "attention.layer_norm_epsilon": 1e-5,
        "vocab_size": facts.vocab,
        **attention(facts),
        **experts(facts),
        **recurrence(facts),
    }


def attention(facts: ArchitectureFacts) -> dict[str, Any]:
    found: dict[str, Any] = {"attention.head_count": facts.heads}
    if facts.window:
        found["attention.sliding_window"] = facts.window
        windowed = [mixer(facts, layer) is Mixer.WINDOW for layer in range(facts.layers)]
        found["attention.sliding_window_pattern"] = windowed
    if facts.kv_lora_rank:
        return found | {
            "attention.head_count_kv": 1,
            "attention.key_length": facts.kv_lora_rank + facts.qk_rope_dim,
            "attention.value_length": facts.kv_lora_rank,
            "attention.key_length_mla": facts.qk_nope_dim + facts.qk_rope_dim,
            "attention.value_length_mla": facts.v_head_dim,
            "attention.kv_lora_rank": facts.kv_lora_rank,
            "rope.dimension_count": facts.qk_rope_dim,
            **({"attention.q_lora_rank": facts.q_lora_rank} if facts.q_lora_rank else {}),
            "attention.indexer.head_count": facts.index_heads,
            "attention.indexer.key_length": facts.index_dim,
            "attention.indexer.top_k": 2048,
        }
    layers = range(facts.layers)
    heads = [key_value_heads(facts, layer) for layer in layers]
    full = facts.global_head_dim or facts.head_dim
    return found | {
        "attention.head_count_kv": [count for count, _ in heads],
        "attention.key_length": full,
        "attention.value_length": full,
        "rope.dimension_count": full,
        "attention.key_length_swa": facts.head_dim,
        "attention.value_length_swa": facts.head_dim,
        "rope.dimension_count_swa": facts.head_dim,
        "attention.shared_kv_layers": 0,
        "embedding_length_per_layer_input": 0,
    }


def experts(facts: ArchitectureFacts) -> dict[str, Any]:
    if not facts.experts:
        return {}
    return {
        "expert_count": facts.experts,
        "expert_used_count": facts.experts_per_token,
        "expert_feed_forward_length": facts.moe_intermediate,
        "expert_shared_count": facts.shared_experts,
        "expert_shared_feed_forward_length": facts.shared_experts
        * (facts.shared_intermediate or facts.moe_intermediate),
        "expert_weights_scale": 1.0,
        "expert_weights_norm": True,
        "expert_gating_func": 2,
        "leading_dense_block_count": facts.first_dense,
        "interleave_moe_layer_step": facts.moe_every,
    }


def recurrence(facts: ArchitectureFacts) -> dict[str, Any]:
    if facts.linear_value_heads:
        return {
            "rope.dimension_sections": [11, 11, 10, 0],
            "full_attention_interval": len(facts.layer_pattern),
            "ssm.conv_kernel": facts.linear_conv,
            "ssm.inner_size": facts.linear_value_heads * facts.linear_value_dim,
            "ssm.state_size": facts.linear_key_dim,
            "ssm.time_step_rank": facts.linear_value_heads,
            "ssm.group_count": facts.linear_key_heads,
        }
    if facts.ssm_heads:
        layers = range(facts.layers)
        return {
            "attention.head_count_kv": [
                facts.kv_heads if mixer(facts, one) is Mixer.FULL else 0 for one in layers
            ],
            "feed_forward_length": [
                facts.moe_intermediate or facts.intermediate
                if feed_forward(facts, one) is not FeedForward.NONE
                else 0
                for one in layers
            ],
            "ssm.conv_kernel": facts.ssm_conv,
            "ssm.inner_size": facts.ssm_heads * facts.ssm_head_dim,
            "ssm.state_size": facts.ssm_state,
            "ssm.time_step_rank": facts.ssm_heads,
            "ssm.group_count": facts.ssm_groups,
        }
    return {}


def vocabulary(size: int) -> dict[str, Any]:
    return {"tokenizer.ggml.model": "none"}
