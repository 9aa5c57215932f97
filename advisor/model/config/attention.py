"""Sizes of attention, gated DeltaNet and Mamba-2 layers from a config.json.

Each function answers with fields of ArchitectureSpec. Names of keys and defaults:
huggingface/transformers 5.23.0, src/transformers/models/*/configuration_*.py.
"""

from collections.abc import Mapping
from typing import Any

from advisor.errors import InputError, Refusal
from advisor.model.config import layer_types
from advisor.model.config.values import Config

HIDDEN = ("hidden_size", "n_embd", "d_model")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num")
HEAD_DIM = ("head_dim", "attention_head_dim", "kv_channels")


def attention(config: Config, pattern: str) -> dict[str, Any]:
    """Heads, their sizes and the window; ranks instead for latent attention."""
    if not set(pattern) & set("FIW*"):
        return {}
    heads = config.required(*HEADS)
    if config.whole("kv_lora_rank"):
        return {"heads": heads, **_latent(config, pattern)}
    head_dim = config.optional(*HEAD_DIM, low=1) or _even_share(config, heads)
    return {
        "heads": heads,
        "kv_heads": _key_value_heads(config, heads),
        "head_dim": head_dim,
        "window": layer_types.window(config) if "W" in pattern else 0,
        "attn_output_gate": config.flag("attn_output_gate"),
        **_global_heads(config, pattern, head_dim),
    }


def _latent(config: Config, pattern: str) -> dict[str, int]:
    latent = {
        "kv_lora_rank": config.required("kv_lora_rank"),
        "q_lora_rank": config.whole("q_lora_rank"),
        "qk_nope_dim": config.required("qk_nope_head_dim"),
        "qk_rope_dim": config.required("qk_rope_head_dim"),
        "v_head_dim": config.required("v_head_dim"),
    }
    if "I" in pattern:
        latent["index_heads"] = config.required("index_n_heads")
        latent["index_dim"] = config.required("index_head_dim")
    return latent


def _even_share(config: Config, heads: int) -> int:
    hidden = config.required(*HIDDEN)
    if hidden % heads:
        raise InputError(
            f"The config.json of {config.name} gives no head_dim, and hidden_size {hidden} does "
            f"not divide by {heads} heads. Add head_dim, or check both."
        )
    return hidden // heads


def _key_value_heads(config: Config, heads: int) -> int:
    """Key and value heads; Falcon and StarCoder say `multi_query` for a single one."""
    if config.flag("multi_query") and not config.flag("new_decoder_architecture"):
        return 1
    return config.optional(*KV_HEADS, low=1, high=heads) or heads


def _global_heads(config: Config, pattern: str, head_dim: int) -> dict[str, Any]:
    """Gemma 4's full layers: heads of their own size, and a number of them where K serves as V."""
    overrides = _of_full_layers(config)
    size = overrides.whole("head_dim") or config.whole("global_head_dim")
    if overrides.values and "W" not in pattern:
        raise _sizes_of_their_own(config)
    if "W" not in pattern or not size:
        return {}
    reused = config.flag("attention_k_eq_v")
    heads = overrides.whole("num_key_value_heads") or config.whole("num_global_key_value_heads")
    return {
        "global_head_dim": size if size != head_dim else 0,
        "global_kv_heads": heads if reused else 0,
        "attention_k_eq_v": reused,
    }


def _of_full_layers(config: Config) -> Config:
    """Overrides of full-attention layers in `per_layer_config`, as transformers 5 saves it.

    Raises:
        Refusal: overrides that differ between layers.
    """
    layers = [
        layer for layer in config.part("per_layer_config").values() if isinstance(layer, Mapping)
    ]
    first = layers[0] if layers else {}
    if any(layer != first for layer in layers) or set(first) - {"head_dim", "num_key_value_heads"}:
        raise _sizes_of_their_own(config)
    return Config(name=config.name, values=first)


def _sizes_of_their_own(config: Config) -> Refusal:
    return Refusal(
        f"{config.name} has layers that each have sizes of their own (per_layer_config), for which "
        "this program has no formula."
    )


def linear_attention(config: Config, pattern: str) -> dict[str, int]:
    """Sizes of gated DeltaNet layers; none for a pattern without such layers."""
    return delta_sizes(config) if "L" in pattern else {}


def delta_sizes(config: Config) -> dict[str, int]:
    """Heads of gated DeltaNet layers and taps of their convolution."""
    return {
        "linear_key_heads": config.required("linear_num_key_heads"),
        "linear_value_heads": config.required("linear_num_value_heads"),
        "linear_key_dim": config.required("linear_key_head_dim"),
        "linear_value_dim": config.required("linear_value_head_dim"),
        "linear_conv": config.required("linear_conv_kernel_dim"),
    }


def state_space(config: Config, pattern: str) -> dict[str, int]:
    """Heads, groups and state of Mamba-2 layers."""
    if "M" not in pattern:
        return {}
    return {
        "ssm_heads": config.required("mamba_num_heads"),
        "ssm_head_dim": config.required("mamba_head_dim"),
        "ssm_groups": config.required("n_groups", "mamba_n_groups"),
        "ssm_state": config.required("ssm_state_size"),
        "ssm_conv": config.required("conv_kernel", "mamba_d_conv"),
    }
