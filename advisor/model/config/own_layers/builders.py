"""Builders of families whose layers differ, and the facts that they share."""

from collections.abc import Callable
from typing import Any

from advisor.model.architecture import Architecture
from advisor.model.config import layer_types
from advisor.model.config.layer_types import (
    EXPERTS,
    HEAD_DIM,
    HEADS,
    HIDDEN,
    KV_HEADS,
    VOCAB,
    delta_sizes,
    dense_width,
    experts_of,
)
from advisor.model.config.own_layers import compressed, parts, recurrent, windowed
from advisor.model.config.values import Config, FamilyRow, fixed_facts
from advisor.model.spec import ArchitectureSpec

MODULES = {"windowed": windowed, "recurrent": recurrent, "parts": parts, "compressed": compressed}
"""Modules whose functions data/models/families.csv names as builders."""


def own_architecture(config: Config, family: FamilyRow) -> Architecture | None:
    """The architecture of a family that is built layer by layer; None for all others."""
    if not family.builder:
        return None
    module, _, function = family.builder.partition(".")
    builder: Callable[[Config, ArchitectureSpec], Architecture]
    builder = getattr(MODULES[module], function)
    return builder(config, base_facts(config, family))


def base_facts(config: Config, family: FamilyRow) -> ArchitectureSpec:
    """Sizes that a config.json states for the whole model."""
    heads = config.required(*HEADS)
    hidden = config.required(*HIDDEN)
    fixed = fixed_facts(config, family)
    values: dict[str, Any] = {
        "name": config.name,
        "layers": config.required(*layer_types.LAYERS, high=1000),
        "hidden": hidden,
        "vocab": config.required(*VOCAB),
        "tied": config.flag("tie_word_embeddings"),
        "max_context": config.whole(*layer_types.CONTEXT) or None,
        "heads": heads,
        "kv_heads": config.optional(*KV_HEADS, low=1, high=heads) or heads,
        "head_dim": config.optional(*HEAD_DIM, low=1) or hidden // heads,
        "source": f"config.json of {config.name}",
        "note": family.note,
        **_latent(config),
        **(delta_sizes(config) if config.whole("linear_num_key_heads") else {}),
        **fixed,
    }
    if config.whole(*EXPERTS) > 1:
        latent = config.whole("moe_latent_size", "routed_expert_hidden_size")
        values |= experts_of(config, fixed) | {"moe_latent": latent}
    if config.optional("dense_intermediate_size", "intermediate_size"):
        values["intermediate"] = dense_width(config, fixed)
    return ArchitectureSpec(**values)


def _latent(config: Config) -> dict[str, int]:
    if not config.whole("kv_lora_rank"):
        return {}
    return {
        "kv_lora_rank": config.required("kv_lora_rank"),
        "q_lora_rank": config.whole("q_lora_rank"),
        "qk_nope_dim": config.required("qk_nope_head_dim"),
        "qk_rope_dim": config.whole("qk_rope_head_dim"),
        "v_head_dim": config.required("v_head_dim"),
    }
