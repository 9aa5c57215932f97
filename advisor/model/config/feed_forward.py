"""Sizes of dense and expert feed-forward layers from a config.json.

Each function answers with fields of ArchitectureSpec. Names of keys and defaults:
huggingface/transformers 5.23.0, src/transformers/models/*/configuration_*.py.
"""

from collections.abc import Mapping
from typing import Any

from advisor.model.config import layer_types
from advisor.model.config.attention import HIDDEN
from advisor.model.config.values import Config

DENSE_WIDTH = ("intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size")
DENSE_WIDTH_BESIDE_EXPERTS = ("dense_intermediate_size", "intermediate_size_mlp")
"""Keys of the dense width, for families whose `intermediate_size` is that of the experts (Llama 4,
MiniMax).
"""
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
USED = (
    "num_experts_per_tok",
    "num_experts_per_token",
    "top_k_experts",
    "experts_per_token",
    "moe_k",
    "moe_topk",
)
EXPERT_WIDTH = ("moe_intermediate_size", "expert_intermediate_size")
SHARED = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts")
SHARED_WIDTH = (
    "shared_expert_intermediate_size",
    "moe_shared_expert_intermediate_size",
    "shared_intermediate_size",
    "share_expert_dim",
)
SINGLE_BLOCKS = frozenset("M*-E")


def feed_forward(
    config: Config, layers: int, pattern: str, known: Mapping[str, Any]
) -> dict[str, Any]:
    """Widths and experts, with the layers that have them; `known` are facts read before."""
    routed = _routed_layers(config, layers, pattern)
    answer: dict[str, Any] = {}
    if any(routed):
        answer = experts_of(config, known) | {"moe_latent": config.whole("moe_latent_size")}
    if any(routed) and "E" not in pattern:
        first, step = layer_types.leading_dense_and_step(config, routed)
        answer |= {"first_dense": first, "moe_every": step}
    has_dense = "-" in pattern if SINGLE_BLOCKS & set(pattern) else not all(routed)
    if has_dense or known.get("dense_beside_experts"):
        answer["intermediate"] = dense_width(config, known)
    return answer


def _routed_layers(config: Config, layers: int, pattern: str) -> tuple[bool, ...]:
    if SINGLE_BLOCKS & set(pattern):
        return tuple(letter == "E" for letter in (pattern * layers)[:layers])
    if config.whole(*EXPERTS) < 2 or (_has_switch(config) and not config.flag("enable_moe_block")):
        return (False,) * layers
    return layer_types.expert_layers(config, layers)


def _has_switch(config: Config) -> bool:
    """Gemma 4 lists experts but switches them on apart."""
    return "enable_moe_block" in config.defaults


def experts_of(config: Config, known: Mapping[str, Any]) -> dict[str, int]:
    """Number, use and width of routed and shared experts; `known` are facts read before."""
    width = config.optional(*EXPERT_WIDTH, low=1) or config.required("intermediate_size")
    total = config.required(*EXPERTS)
    shared, shared_width = _shared_experts(config, width, int(known.get("shared_experts", 0)))
    return {
        "experts": total,
        "experts_per_token": config.required(*USED, high=total),
        "moe_intermediate": width,
        "shared_experts": shared,
        "shared_intermediate": shared_width,
    }


def _shared_experts(config: Config, width: int, fixed: int) -> tuple[int, int]:
    """Number of shared experts, and the width of one; 0 for the width of a routed expert.

    A width in the file is that of all of them together (Qwen2-MoE, Nemotron-H), so it counts as
    one expert; a number alone means experts as wide as routed ones (DeepSeek).
    """
    together = config.optional(*SHARED_WIDTH)
    if together is not None:
        return min(together, 1), together if together != width else 0
    return config.optional(*SHARED) or fixed, 0


def dense_width(config: Config, known: Mapping[str, Any]) -> int:
    """Width of dense feed-forward layers; 4 x hidden where older families leave it out."""
    beside = config.optional(*DENSE_WIDTH_BESIDE_EXPERTS, low=1)
    stated = beside or config.optional(*DENSE_WIDTH, low=1)
    if stated is None and known.get("gated_ffn") is False:
        return 4 * config.required(*HIDDEN)
    return stated or config.required(*DENSE_WIDTH)
