"""Builders of families whose layers differ, and the facts that they share."""

from collections.abc import Callable, Mapping
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

Builder = Callable[[Config, ArchitectureSpec], Architecture]

BUILDERS: Mapping[str, Builder] = {
    "step3p5": windowed.step3,
    "step3p7": windowed.step3,
    "laguna": windowed.laguna,
    "muse_glimmer": windowed.muse_glimmer,
    "muse_glimmer_text": windowed.muse_glimmer,
    "spark2_5": windowed.spark,
    "mimo_v2_flash": windowed.mimo_v2,
    "mimo_v2": windowed.mimo_v2,
    "inkling": windowed.inkling,
    "inkling_text": windowed.inkling,
    "inkling_mm_model": windowed.inkling,
    "minimax_m3": windowed.minimax_m3,
    "minimax_m3_vl": windowed.minimax_m3,
    "minimax_m3_vl_text": windowed.minimax_m3,
    "nemotron-nas": windowed.nemotron_nas,
    "deci": windowed.nemotron_nas,
    "kimi_linear": recurrent.kimi_linear,
    "kimi_k3": recurrent.kimi_linear,
    "bailing_hybrid": recurrent.bailing_hybrid,
    "glm5_next": recurrent.glm5_next,
    "glm5_next_text": recurrent.glm5_next,
    "qwen4_exp": recurrent.qwen4_exp,
    "qwen4_exp_text": recurrent.qwen4_exp,
    "jamba": recurrent.jamba,
    "granitemoehybrid": recurrent.granite_hybrid,
    "falcon_h1": recurrent.falcon_h1,
    "lfm2": recurrent.lfm2,
    "lfm2_moe": recurrent.lfm2,
    "k2_horizon": parts.k2_horizon,
    "deepseek_v41": compressed.deepseek_v41,
    "deepseek_v41_text": compressed.deepseek_v41,
    "deepseek_v4": compressed.deepseek_v4,
    "deepseek_ref": compressed.deepseek_v4,
}
"""By `model_type`."""


def own_architecture(config: Config, family: FamilyRow) -> Architecture | None:
    """The architecture of a family that is built layer by layer; None for all others."""
    builder = BUILDERS.get(config.word("model_type"))
    return None if builder is None else builder(config, base_facts(config, family))


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
