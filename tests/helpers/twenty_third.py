"""Twenty-two further models that nobody has seen: older and rarer families, one thing changed.

Shapes are those of transformers 5.23.0, models/*/modeling_*.py, written out here, so that weights
are counted by hand and not by the program. The last two are of no family: one keeps entries of
several tokens behind a window, one has latent values of another rank in each layer.
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
    RANK,
    ROPE,
    VALUE,
    VOCAB,
    WIDE,
    Unseen,
    attention,
    biased,
    dense,
    experts,
    whole,
)
from twenty_more import AFTER, CORRECTION, LAST_BIAS, NARROW, NORMS_WITH_BIAS, wide_norms

LONG = 4 * HIDDEN  # width of feed-forward blocks of older families
MATRIX = (HIDDEN, HIDDEN)
TIED = {"tie_word_embeddings": True}
WHOLE_HEADS = {"num_key_value_heads": HEADS}
POSITIONS = 1024
MIXTURE = {"num_experts_per_tok": 2, "moe_intermediate_size": NARROW}
FUSED = {"mlp.gate_up_proj.weight": (2 * WIDE, HIDDEN), "mlp.down_proj.weight": (HIDDEN, WIDE)}
OUT_BIAS = {"self_attn.o_proj.bias": (HIDDEN,)}


def linear(name: str, rows: int, width: int) -> dict[str, Any]:
    """A matrix with its bias."""
    return {f"{name}.weight": (rows, width), f"{name}.bias": (rows,)}


def layer_norm(name: str) -> dict[str, Any]:
    return {f"{name}.weight": (HIDDEN,), f"{name}.bias": (HIDDEN,)}


def _gpt_neox(_: int) -> dict[str, Any]:
    return {
        **linear("attention.query_key_value", 3 * HIDDEN, HIDDEN),
        **linear("attention.dense", *MATRIX),
        **linear("mlp.dense_h_to_4h", LONG, HIDDEN),
        **linear("mlp.dense_4h_to_h", HIDDEN, LONG),
        **layer_norm("input_layernorm"),
        **layer_norm("post_attention_layernorm"),
    }


def _falcon(_: int) -> dict[str, Any]:
    """All query heads on a single key, in parallel with the feed-forward block."""
    return {
        "self_attention.query_key_value.weight": ((HEADS + 2) * HEAD, HIDDEN),
        "self_attention.dense.weight": MATRIX,
        "mlp.dense_h_to_4h.weight": (LONG, HIDDEN),
        "mlp.dense_4h_to_h.weight": (HIDDEN, LONG),
        **layer_norm("input_layernorm"),
    }


def _internlm2(_: int) -> dict[str, Any]:
    return {
        "attention.wqkv.weight": ((HEADS + 2 * KV_HEADS) * HEAD, HIDDEN),
        "attention.wo.weight": MATRIX,
        "feed_forward.w1.weight": (WIDE, HIDDEN),
        "feed_forward.w2.weight": (HIDDEN, WIDE),
        "feed_forward.w3.weight": (WIDE, HIDDEN),
        "attention_norm.weight": (HIDDEN,),
        "ffn_norm.weight": (HIDDEN,),
    }


def _granitemoe(_: int) -> dict[str, Any]:
    return {
        **attention(),
        **NORMS,
        "block_sparse_moe.input_linear.weight": (8, 2 * NARROW, HIDDEN),
        "block_sparse_moe.output_linear.weight": (8, HIDDEN, NARROW),
        "block_sparse_moe.router.layer.weight": (8, HIDDEN),
    }


def _cohere(_: int) -> dict[str, Any]:
    """Norms of each head of queries and keys, and one norm before both blocks."""
    norms = {"self_attn.q_norm.weight": (HEADS, HEAD), "self_attn.k_norm.weight": (KV_HEADS, HEAD)}
    return {**attention(), **norms, "input_layernorm.weight": (HIDDEN,), **dense()}


def _dots1(at: int) -> dict[str, Any]:
    block = {**experts(8, NARROW, shared=2 * NARROW), **CORRECTION}
    if at < 1:
        block = dense()
    return {**attention(), **QK_NORM, **NORMS, **block}


def _phimoe(_: int) -> dict[str, Any]:
    routed = experts(8, WIDE, "block_sparse_moe")
    return {**attention(), **biased(), **OUT_BIAS, **NORMS_WITH_BIAS, **routed}


def _ernie(_: int) -> dict[str, Any]:
    biases = {"gate": WIDE, "up": WIDE, "down": HIDDEN}
    return {
        **attention(),
        **biased(),
        **OUT_BIAS,
        **NORMS,
        **dense(),
        **{f"mlp.{name}_proj.bias": (size,) for name, size in biases.items()},
    }


def _gpt2(_: int) -> dict[str, Any]:
    return {
        "attn.c_attn.weight": (HIDDEN, 3 * HIDDEN),
        "attn.c_attn.bias": (3 * HIDDEN,),
        **linear("attn.c_proj", *MATRIX),
        "mlp.c_fc.weight": (HIDDEN, LONG),
        "mlp.c_fc.bias": (LONG,),
        **linear("mlp.c_proj", HIDDEN, LONG),
        **layer_norm("ln_1"),
        **layer_norm("ln_2"),
    }


def _lfm2_moe(at: int) -> dict[str, Any]:
    """Short convolutions but for each second layer; experts from the second layer on."""
    mixer: dict[str, Any] = {
        "conv.in_proj.weight": (3 * HIDDEN, HIDDEN),
        "conv.conv.weight": (HIDDEN, 1, 3),
        "conv.out_proj.weight": MATRIX,
    }
    if at % 2:
        mixer = {
            **attention(),
            "self_attn.q_layernorm.weight": (HEAD,),
            "self_attn.k_layernorm.weight": (HEAD,),
        }
    block = {**experts(8, NARROW, "feed_forward"), "feed_forward.expert_bias": (8,)}
    if at < 1:
        block = dense()
    return {**mixer, **NORMS, **block}


def _glm_lite(at: int) -> dict[str, Any]:
    block = {**experts(8, NARROW, shared=NARROW), **CORRECTION}
    if at < 1:
        block = dense()
    return {**LATENT, **NORMS, **block}


INNER = 2 * HIDDEN
STATE = 16
STEPS = 32  # rank of the steps of a state space
SPACE = {
    "mamba.in_proj.weight": (2 * INNER, HIDDEN),
    "mamba.conv1d.weight": (INNER, 1, 4),
    "mamba.conv1d.bias": (INNER,),
    "mamba.x_proj.weight": (STEPS + 2 * STATE, INNER),
    "mamba.dt_proj.weight": (INNER, STEPS),
    "mamba.dt_proj.bias": (INNER,),
    "mamba.A_log": (INNER, STATE),
    "mamba.D": (INNER,),
    "mamba.out_proj.weight": (HIDDEN, INNER),
}


def _jamba(at: int) -> dict[str, Any]:
    """The fourth layer of six attends; each second has experts."""
    mixer = {
        **SPACE,
        "mamba.dt_layernorm.weight": (STEPS,),
        "mamba.b_layernorm.weight": (STATE,),
        "mamba.c_layernorm.weight": (STATE,),
    }
    if at == 3:
        mixer = attention()
    block = dense()
    if at % 2:
        block = experts(4, WIDE, "feed_forward")
    return {**mixer, **NORMS, **block}


def _hunyuan(_: int) -> dict[str, Any]:
    shared = {f"mlp.shared_{name}": shape for name, shape in dense(NARROW).items()}
    return {**attention(), **QK_NORM, **NORMS, **experts(8, NARROW), **shared}


RATIOS = (0, 4, 16, 4, 16, 4)
INDEX = 32


def _pressed(at: int) -> dict[str, Any]:
    """One key of 64 values for all heads; entries of several tokens, chosen by an index at four."""
    compressor = {
        "self_attn.compressor.wkv.weight": (HEAD, HIDDEN),
        "self_attn.compressor.wgate.weight": (HEAD, HIDDEN),
    }
    index = {
        "self_attn.indexer.wq_b.weight": (4 * INDEX, HIDDEN),
        "self_attn.indexer.compressor.wkv.weight": (INDEX, HIDDEN),
        "self_attn.indexer.weights_proj.weight": (4, HIDDEN),
    }
    return {
        "self_attn.q_proj.weight": (HEADS * HEAD, HIDDEN),
        "self_attn.wkv.weight": (HEAD, HIDDEN),
        "self_attn.o_proj.weight": (HIDDEN, HEADS * HEAD),
        **(compressor if RATIOS[at] else {}),
        **(index if RATIOS[at] == 4 else {}),
        **NORMS,
        **dense(),
    }


def rank_of(layer: int) -> int:
    """Rank of the latent values of a layer."""
    return RANK - 16 * layer


def _ranked(at: int) -> dict[str, Any]:
    rank = rank_of(at)
    return {
        **LATENT,
        "self_attn.kv_a_proj_with_mqa.weight": (rank + ROPE, HIDDEN),
        "self_attn.kv_a_layernorm.weight": (rank,),
        "self_attn.kv_b_proj.weight": (HEADS * (NOPE + VALUE), rank),
        **NORMS,
        **dense(),
    }


def twenty_third() -> tuple[Unseen, ...]:
    """All of them."""
    older = {"model_type": "gpt2", "n_embd": HIDDEN, "n_layer": LAYERS, "n_head": HEADS}
    pressed = {"compress_ratios": list(RATIOS), "sliding_window": 128, "index_head_dim": INDEX}
    ranks = {**OF_LATENT, "kv_lora_rank": [rank_of(at) for at in range(LAYERS)]}
    return (
        Unseen(
            "zai-org/GLM-9-Chat",
            {**BASE, "model_type": "glm", "attention_bias": True},
            whole(lambda at: {**attention(), **biased(), **NORMS, **FUSED}),
        ),
        Unseen(
            "allenai/Olmo-10-nano",
            {**BASE, "model_type": "olmo3", "sliding_window": 512},
            whole(lambda at: {**attention(), **wide_norms(), **AFTER, **dense()}),
        ),
        Unseen(
            "stabilityai/StableLM-9-nano",
            {**BASE, **WHOLE_HEADS, "model_type": "stablelm", "use_qkv_bias": True},
            {
                **whole(
                    lambda at: {
                        **attention(kv=HEADS),
                        **biased(kv=HEADS),
                        **NORMS_WITH_BIAS,
                        **dense(),
                    }
                ),
                **LAST_BIAS,
            },
        ),
        Unseen(
            "EleutherAI/Pythia-9-nano",
            {**BASE, **WHOLE_HEADS, "model_type": "gpt_neox", "intermediate_size": LONG},
            {**whole(_gpt_neox), **LAST_BIAS},
        ),
        Unseen(
            "tiiuae/Falcon-9-nano",
            {
                **{key: value for key, value in BASE.items() if key != "intermediate_size"},
                **TIED,
                "model_type": "falcon",
                "multi_query": True,
                "parallel_attn": True,
                "new_decoder_architecture": False,
                "bias": False,
                "alibi": False,
                "ffn_hidden_size": LONG,
            },
            {**whole(_falcon, tied=True), **LAST_BIAS},
        ),
        Unseen(
            "internlm/InternLM-9-nano",
            {**BASE, "model_type": "internlm2", "bias": False},
            whole(_internlm2),
        ),
        Unseen(
            "ibm-granite/Granite-9-nano",
            {**BASE, **TIED, "model_type": "granite", "num_key_value_heads": 4},
            whole(lambda at: {**attention(kv=4), **NORMS, **dense()}, tied=True),
        ),
        Unseen(
            "ibm-granite/Granite-9-nano-a1",
            {
                **BASE,
                **TIED,
                "model_type": "granitemoe",
                "intermediate_size": NARROW,
                "num_local_experts": 8,
                "num_experts_per_tok": 2,
            },
            whole(_granitemoe, tied=True),
        ),
        Unseen(
            "CohereLabs/Command-R9-nano",
            {**BASE, **TIED, "model_type": "cohere", "use_qk_norm": True},
            whole(_cohere, tied=True),
        ),
        Unseen(
            "rednote-hilab/dots9-nano",
            {
                **BASE,
                **MIXTURE,
                "model_type": "dots1",
                "n_routed_experts": 8,
                "n_shared_experts": 2,
                "first_k_dense_replace": 1,
            },
            whole(_dots1),
        ),
        Unseen(
            "microsoft/Phi-9-MoE-nano",
            {
                **BASE,
                "model_type": "phimoe",
                "attention_bias": True,
                "lm_head_bias": True,
                "num_local_experts": 8,
                "num_experts_per_tok": 2,
            },
            {**whole(_phimoe), **LAST_BIAS, "lm_head.bias": (VOCAB,)},
        ),
        Unseen(
            "baidu/ERNIE-9-dense-nano",
            {**BASE, **TIED, "model_type": "ernie4_5", "use_bias": True},
            whole(_ernie, tied=True),
        ),
        Unseen(
            "openai-community/gpt2-nano",
            {**older, "vocab_size": VOCAB, "n_positions": POSITIONS},
            {
                **whole(_gpt2, tied=True),
                **LAST_BIAS,
                "model.wpe.weight": (POSITIONS, HIDDEN),
            },
        ),
        Unseen(
            "bigscience/bloom-nano",
            {
                "model_type": "bloom",
                "hidden_size": HIDDEN,
                "n_layer": LAYERS,
                "n_head": HEADS,
                "vocab_size": VOCAB,
            },
            {
                **whole(_gpt_neox, tied=True),
                **LAST_BIAS,
                **layer_norm("model.word_embeddings_layernorm"),
            },
        ),
        Unseen(
            "LiquidAI/LFM9-8B-A1B-nano",
            {
                **BASE,
                **TIED,
                **MIXTURE,
                "model_type": "lfm2_moe",
                "num_experts": 8,
                "num_dense_layers": 1,
                "use_expert_bias": True,
                "layer_types": ["conv", "full_attention"] * (LAYERS // 2),
                "conv_L_cache": 3,
                "conv_bias": False,
            },
            whole(_lfm2_moe, tied=True),
        ),
        Unseen(
            "zai-org/GLM-9-Flash-nano",
            {
                **BASE,
                **OF_LATENT,
                **MIXTURE,
                "model_type": "glm4_moe_lite",
                "n_routed_experts": 8,
                "n_shared_experts": 1,
                "mlp_layer_types": ["dense"] + ["sparse"] * (LAYERS - 1),
                "attention_bias": False,
            },
            whole(_glm_lite),
        ),
        Unseen(
            "openbmb/MiniCPM9-nano",
            {**BASE, **TIED, "model_type": "minicpm", "scale_emb": 12, "scale_depth": 1.4},
            whole(lambda at: {**attention(), **NORMS, **dense()}, tied=True),
        ),
        Unseen(
            "ai21labs/Jamba-9-nano",
            {
                **BASE,
                "model_type": "jamba",
                "attn_layer_period": 6,
                "attn_layer_offset": 3,
                "expert_layer_period": 2,
                "expert_layer_offset": 1,
                "num_experts": 4,
                "num_experts_per_tok": 2,
                "mamba_d_state": STATE,
                "mamba_d_conv": 4,
                "mamba_expand": 2,
                "mamba_dt_rank": STEPS,
                "mamba_conv_bias": True,
                "mamba_proj_bias": False,
            },
            whole(_jamba),
        ),
        Unseen(
            "tiiuae/Falcon-Mamba-9-nano",
            {
                **TIED,
                "model_type": "falcon_mamba",
                "hidden_size": HIDDEN,
                "vocab_size": VOCAB,
                "num_hidden_layers": LAYERS,
                "state_size": STATE,
                "conv_kernel": 4,
                "expand": 2,
                "time_step_rank": STEPS,
                "use_bias": False,
                "use_conv_bias": True,
            },
            whole(lambda at: {**SPACE, "norm.weight": (HIDDEN,)}, tied=True),
        ),
        Unseen(
            "tencent/Hunyuan-9-A2B-nano",
            {
                **BASE,
                **TIED,
                "model_type": "hunyuan_v1_moe",
                "intermediate_size": NARROW,
                "num_experts": 8,
                "moe_topk": [2] * LAYERS,
                "num_shared_expert": [1] * LAYERS,
            },
            whole(_hunyuan, tied=True),
        ),
        Unseen(
            "novel-lab/Pressed-1B",
            {**BASE, **pressed, "model_type": "pressed_lm", "num_key_value_heads": 1},
            whole(_pressed),
            served=True,
        ),
        Unseen(
            "novel-lab/Ranked-1B",
            {**BASE, **ranks, "model_type": "ranked_lm"},
            whole(_ranked),
            served=True,
        ),
    )
