"""Twenty further models that nobody has seen: other families, each with one thing changed.

Shapes are those of transformers 5.23.0, models/*/modeling_*.py, written out here, so that weights
are counted by hand and not by the program.
"""

from typing import Any

from twenty_configs import (
    BASE,
    HEAD,
    HEADS,
    HIDDEN,
    KV_HEADS,
    LATENT,
    LAYERS,
    NOPE,
    NORMS,
    OF_LATENT,
    QK_NORM,
    ROPE,
    VOCAB,
    WIDE,
    Unseen,
    attention,
    biased,
    dense,
    experts,
    whole,
)

NARROW = 256  # width of an expert
AFTER = {
    "post_attention_layernorm.weight": (HIDDEN,),
    "post_feedforward_layernorm.weight": (HIDDEN,),
}
UNGATED = {"mlp.up_proj.weight": (WIDE, HIDDEN), "mlp.down_proj.weight": (HIDDEN, WIDE)}
NORMS_WITH_BIAS = {
    **NORMS,
    **{name.replace("weight", "bias"): shape for name, shape in NORMS.items()},
}
LAST_BIAS = {"model.norm.bias": (HIDDEN,)}


def wide_norms(kv: int = KV_HEADS) -> dict[str, Any]:
    """Norms of queries and keys over all heads together."""
    return {"self_attn.q_norm.weight": (HEADS * HEAD,), "self_attn.k_norm.weight": (kv * HEAD,)}


def shared(width: int, block: str = "mlp.shared_expert") -> dict[str, Any]:
    """An expert that every token passes."""
    return {
        f"{block}.gate_proj.weight": (width, HIDDEN),
        f"{block}.up_proj.weight": (width, HIDDEN),
        f"{block}.down_proj.weight": (HIDDEN, width),
    }


CORRECTED = "e_score_correction_bias"
CORRECTION = {f"mlp.gate.{CORRECTED}": (8,)}
SHARED_GATE = {"mlp.shared_expert_gate.weight": (1, HIDDEN)}


def _starcoder(_: int) -> dict[str, Any]:
    return {
        **attention(),
        **biased(),
        "self_attn.o_proj.bias": (HIDDEN,),
        **NORMS_WITH_BIAS,
        "mlp.c_fc.weight": (WIDE, HIDDEN),
        "mlp.c_fc.bias": (WIDE,),
        "mlp.c_proj.weight": (HIDDEN, WIDE),
        "mlp.c_proj.bias": (HIDDEN,),
    }


def _qwen2_moe(at: int) -> dict[str, Any]:
    if at == 0:
        return {**attention(), **biased(), **NORMS, **dense()}
    routed = experts(8, NARROW)
    return {**attention(), **biased(), **NORMS, **routed, **shared(384), **SHARED_GATE}


def _glm_moe(at: int) -> dict[str, Any]:
    block = {**experts(8, NARROW, shared=NARROW), **CORRECTION}
    if at < 2:
        block = dense()
    return {**attention(), **NORMS, **block}


def _deepseek(at: int) -> dict[str, Any]:
    whole_queries = {"self_attn.q_proj.weight": (HEADS * (NOPE + ROPE), HIDDEN)}
    latent = {
        name: shape for name, shape in LATENT.items() if "q_a" not in name and "q_b" not in name
    }
    block = {**experts(8, NARROW, shared=2 * NARROW), **CORRECTION}
    if at < 2:
        block = dense()
    return {**whole_queries, **latent, **NORMS, **block}


def _gpt_oss(_: int) -> dict[str, Any]:
    return {
        **attention(),
        **biased(),
        "self_attn.o_proj.bias": (HIDDEN,),
        "self_attn.sinks": (HEADS,),
        **NORMS,
        "mlp.router.weight": (8, HIDDEN),
        "mlp.router.bias": (8,),
        "mlp.experts.gate_up_proj": (8, HIDDEN, 2 * WIDE),
        "mlp.experts.gate_up_proj_bias": (8, 2 * WIDE),
        "mlp.experts.down_proj": (8, WIDE, HIDDEN),
        "mlp.experts.down_proj_bias": (8, HIDDEN),
    }


def _qwen3_next(at: int) -> dict[str, Any]:
    """Every second layer attends; the others keep 4 key and 8 value heads of 32 values."""
    keys = 4 * 32
    values = 8 * 32
    linear = {
        "linear_attn.in_proj_qkvz.weight": (2 * keys + 2 * values, HIDDEN),
        "linear_attn.in_proj_ba.weight": (2 * 8, HIDDEN),
        "linear_attn.conv1d.weight": (2 * keys + values, 1, 4),
        "linear_attn.dt_bias": (8,),
        "linear_attn.A_log": (8,),
        "linear_attn.norm.weight": (32,),
        "linear_attn.out_proj.weight": (HIDDEN, values),
    }
    full = {**attention(), **QK_NORM, "self_attn.q_proj.weight": (2 * HEADS * HEAD, HIDDEN)}
    mixer = linear
    if at % 2 == 1:
        mixer = full
    return {**mixer, **NORMS, **experts(8, NARROW), **shared(NARROW), **SHARED_GATE}


def _lfm2(at: int) -> dict[str, Any]:
    conv = {
        "conv.in_proj.weight": (3 * HIDDEN, HIDDEN),
        "conv.conv.weight": (HIDDEN, 1, 3),
        "conv.out_proj.weight": (HIDDEN, HIDDEN),
    }
    full = {
        "self_attn.q_proj.weight": (HEADS * HEAD, HIDDEN),
        "self_attn.k_proj.weight": (KV_HEADS * HEAD, HIDDEN),
        "self_attn.v_proj.weight": (KV_HEADS * HEAD, HIDDEN),
        "self_attn.out_proj.weight": (HIDDEN, HEADS * HEAD),
        "self_attn.q_layernorm.weight": (HEAD,),
        "self_attn.k_layernorm.weight": (HEAD,),
    }
    mixer = conv
    if at % 2 == 1:
        mixer = full
    return {
        **mixer,
        "operator_norm.weight": (HIDDEN,),
        "ffn_norm.weight": (HIDDEN,),
        "feed_forward.w1.weight": (WIDE, HIDDEN),
        "feed_forward.w3.weight": (WIDE, HIDDEN),
        "feed_forward.w2.weight": (HIDDEN, WIDE),
    }


def _mamba2(_: int) -> dict[str, Any]:
    """16 heads of 64 values, two groups, a state of 32."""
    inner = 16 * 64
    mixed = inner + 2 * 2 * 32
    return {
        "norm.weight": (HIDDEN,),
        "mixer.in_proj.weight": (inner + mixed + 16, HIDDEN),
        "mixer.conv1d.weight": (mixed, 1, 4),
        "mixer.conv1d.bias": (mixed,),
        "mixer.dt_bias": (16,),
        "mixer.A_log": (16,),
        "mixer.D": (16,),
        "mixer.norm.weight": (inner,),
        "mixer.out_proj.weight": (HIDDEN, inner),
    }


def _llama4(at: int) -> dict[str, Any]:
    """Every third layer has experts."""
    routed = {
        "feed_forward.router.weight": (4, HIDDEN),
        "feed_forward.experts.gate_up_proj": (4, HIDDEN, 2 * NARROW),
        "feed_forward.experts.down_proj": (4, NARROW, HIDDEN),
        **shared(NARROW, "feed_forward.shared_expert"),
    }
    block = shared(WIDE, "feed_forward")
    if at % 3 == 2:
        block = routed
    return {**attention(), **NORMS, **block}


def _ernie(at: int) -> dict[str, Any]:
    correction = {f"mlp.moe_statics.{CORRECTED}": (1, 8)}
    block = {**experts(8, NARROW, shared=2 * NARROW), **correction}
    if at == 0:
        block = dense()
    return {**attention(), **NORMS, **block}


def twenty_more() -> tuple[Unseen, ...]:
    """The twenty."""
    tied = {"tie_word_embeddings": True}
    mixture = {"num_experts_per_tok": 2, "moe_intermediate_size": NARROW}
    lfm = whole(_lfm2, tied=True)
    return (
        Unseen(
            "allenai/Olmo-9-nano",
            {**BASE, "model_type": "olmo2", "num_key_value_heads": 4},
            whole(lambda at: {**attention(kv=4), **wide_norms(4), **AFTER, **dense()}),
        ),
        Unseen(
            "CohereLabs/Command-9-nano",
            {**BASE, **tied, "model_type": "cohere2", "num_hidden_layers": 8},
            whole(
                lambda at: {**attention(), "input_layernorm.weight": (HIDDEN,), **dense()},
                8,
                tied=True,
            ),
        ),
        Unseen(
            "bigcode/starcoder9-nano",
            {**BASE, **tied, "model_type": "starcoder2", "use_bias": True},
            {**whole(_starcoder, tied=True), **LAST_BIAS},
        ),
        Unseen(
            "HuggingFaceTB/SmolLM9-nano",
            {**BASE, "model_type": "smollm3", "no_rope_layer_interval": 3},
            whole(lambda at: {**attention(), **NORMS, **dense()}),
        ),
        Unseen(
            "nvidia/Nemotron-9-nano",
            {**BASE, "model_type": "nemotron", "num_key_value_heads": 4},
            {**whole(lambda at: {**attention(kv=4), **NORMS_WITH_BIAS, **UNGATED}), **LAST_BIAS},
        ),
        Unseen(
            "arcee-ai/AFM-9-nano",
            {**BASE, "model_type": "arcee"},
            whole(lambda at: {**attention(), **NORMS, **UNGATED}),
        ),
        Unseen(
            "ByteDance-Seed/Seed-OSS-9-nano",
            {**BASE, "model_type": "seed_oss", "attention_bias": True, "attention_out_bias": False},
            whole(lambda at: {**attention(), **biased(), **NORMS, **dense()}),
        ),
        Unseen(
            "LGAI-EXAONE/EXAONE-9-nano",
            {**BASE, **tied, "model_type": "exaone4"},
            whole(lambda at: {**attention(), **QK_NORM, **AFTER, **dense()}, tied=True),
        ),
        Unseen(
            "Qwen/Qwen1.9-MoE-nano",
            {
                **BASE,
                **mixture,
                "model_type": "qwen2_moe",
                "num_experts": 8,
                "shared_expert_intermediate_size": 384,
                "decoder_sparse_step": 1,
                "mlp_only_layers": [0],
            },
            whole(_qwen2_moe),
        ),
        Unseen(
            "allenai/OLMoE-9-nano",
            {
                **BASE,
                "model_type": "olmoe",
                "num_experts": 8,
                "num_experts_per_tok": 2,
                "intermediate_size": NARROW,
            },
            whole(lambda at: {**attention(), **wide_norms(), **NORMS, **experts(8, NARROW)}),
        ),
        Unseen(
            "zai-org/GLM-9-Air-nano",
            {
                **BASE,
                **mixture,
                "model_type": "glm4_moe",
                "n_routed_experts": 8,
                "n_shared_experts": 1,
                "first_k_dense_replace": 2,
                "attention_bias": False,
                "use_qk_norm": False,
            },
            whole(_glm_moe),
        ),
        Unseen(
            "deepseek-ai/DeepSeek-V9-Lite",
            {
                **BASE,
                **OF_LATENT,
                **mixture,
                "model_type": "deepseek_v3",
                "q_lora_rank": None,
                "n_routed_experts": 8,
                "n_shared_experts": 2,
                "first_k_dense_replace": 2,
            },
            whole(_deepseek),
        ),
        Unseen(
            "openai/gpt-oss-nano",
            {
                **BASE,
                "model_type": "gpt_oss",
                "num_local_experts": 8,
                "num_experts_per_tok": 2,
                "sliding_window": 128,
            },
            whole(_gpt_oss),
        ),
        Unseen(
            "Qwen/Qwen3-Next-nano",
            {
                **BASE,
                **mixture,
                "model_type": "qwen3_next",
                "num_experts": 8,
                "shared_expert_intermediate_size": NARROW,
                "full_attention_interval": 2,
                "linear_num_key_heads": 4,
                "linear_num_value_heads": 8,
                "linear_key_head_dim": 32,
                "linear_value_head_dim": 32,
                "linear_conv_kernel_dim": 4,
                "decoder_sparse_step": 1,
            },
            whole(_qwen3_next),
        ),
        Unseen(
            "LiquidAI/LFM9-nano",
            {
                **BASE,
                **tied,
                "model_type": "lfm2",
                "layer_types": ["conv", "full_attention"] * (LAYERS // 2),
                "conv_L_cache": 3,
                "conv_bias": False,
                "block_auto_adjust_ff_dim": False,
            },
            lfm,
        ),
        Unseen(
            "mistralai/Mamba-Codestral-nano",
            {
                "model_type": "mamba2",
                "hidden_size": HIDDEN,
                "vocab_size": VOCAB,
                "num_hidden_layers": LAYERS,
                "num_heads": 16,
                "head_dim": 64,
                "state_size": 32,
                "n_groups": 2,
                "expand": 2,
                "conv_kernel": 4,
                "use_conv_bias": True,
                "use_bias": False,
                "tie_word_embeddings": False,
            },
            whole(_mamba2),
        ),
        Unseen(
            "meta-llama/Llama-4-nano",
            {
                **BASE,
                "model_type": "llama4_text",
                "intermediate_size": NARROW,
                "intermediate_size_mlp": WIDE,
                "num_local_experts": 4,
                "num_experts_per_tok": 1,
                "interleave_moe_layer_step": 3,
            },
            whole(_llama4),
        ),
        Unseen(
            "tencent/Hunyuan-9-nano",
            {**BASE, **tied, "model_type": "hunyuan_v1_dense", "num_key_value_heads": 4},
            whole(lambda at: {**attention(kv=4), **QK_NORM, **NORMS, **dense()}, tied=True),
        ),
        Unseen(
            "baidu/ERNIE-9-nano",
            {
                **BASE,
                **tied,
                "model_type": "ernie4_5_moe",
                "moe_num_experts": 8,
                "moe_k": 2,
                "moe_intermediate_size": NARROW,
                "moe_num_shared_experts": 2,
                "moe_layer_start_index": 1,
            },
            whole(_ernie, tied=True),
        ),
        Unseen(
            "MiniMaxAI/MiniMax-M9-nano",
            {
                **BASE,
                "model_type": "minimax_m2",
                "num_local_experts": 8,
                "num_experts_per_tok": 2,
                "intermediate_size": NARROW,
            },
            whole(
                lambda at: {
                    **attention(),
                    **wide_norms(),
                    **NORMS,
                    **experts(8, NARROW, "block_sparse_moe"),
                    f"block_sparse_moe.{CORRECTED}": (8,),
                }
            ),
        ),
    )
