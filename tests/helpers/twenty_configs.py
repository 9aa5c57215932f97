"""Twenty models that nobody has seen: public families with one thing changed, and what is true.

Shapes are those of transformers 5.23.0, models/*/modeling_*.py, written out here, so that weights
are counted by hand and not by the program.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from stand_in_hub import Shapes, StandIn

HIDDEN = 512
VOCAB = 4096
LAYERS = 6
HEADS = 8
KV_HEADS = 2
HEAD = 64
WIDE = 1536
BASE: Mapping[str, Any] = {
    "hidden_size": HIDDEN, "vocab_size": VOCAB, "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "head_dim": HEAD,
    "intermediate_size": WIDE, "max_position_embeddings": 32768, "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}  # fmt: skip


@dataclass(frozen=True)
class Unseen:
    """A model that nobody has seen."""

    name: str
    config: Mapping[str, Any] | bytes
    shapes: Shapes = field(default_factory=dict)
    served: bool = False  # whether its tensors can be asked for
    refused: str = ""  # part of the reason where it cannot be described

    @property
    def weights(self) -> int:
        return sum(prod(shape) for shape in self.shapes.values())


def _layered(layers: int, inner: Any) -> Iterator[tuple[str, tuple[int, ...]]]:
    for at in range(layers):
        for name, shape in inner(at).items():
            yield f"model.layers.{at}.{name}", shape


def whole(inner: Any, layers: int = LAYERS, tied: bool = False) -> Shapes:
    """Shapes of a model whose layers have some, and of its table, norm and head."""
    head = {} if tied else {"lm_head.weight": (VOCAB, HIDDEN)}
    table = {"model.embed_tokens.weight": (VOCAB, HIDDEN), "model.norm.weight": (HIDDEN,)}
    return {**table, **dict(_layered(layers, inner)), **head}


def attention(heads: int = HEADS, kv: int = KV_HEADS, head: int = HEAD) -> dict[str, Any]:
    return {
        "self_attn.q_proj.weight": (heads * head, HIDDEN),
        "self_attn.k_proj.weight": (kv * head, HIDDEN),
        "self_attn.v_proj.weight": (kv * head, HIDDEN),
        "self_attn.o_proj.weight": (HIDDEN, heads * head),
    }


def biased(heads: int = HEADS, kv: int = KV_HEADS) -> dict[str, Any]:
    sizes = {"q": heads * HEAD, "k": kv * HEAD, "v": kv * HEAD}
    return {f"self_attn.{name}_proj.bias": (size,) for name, size in sizes.items()}


QK_NORM = {"self_attn.q_norm.weight": (HEAD,), "self_attn.k_norm.weight": (HEAD,)}
NORMS = {"input_layernorm.weight": (HIDDEN,), "post_attention_layernorm.weight": (HIDDEN,)}
FOUR_NORMS = {
    **NORMS,
    "pre_feedforward_layernorm.weight": (HIDDEN,),
    "post_feedforward_layernorm.weight": (HIDDEN,),
}


def dense(width: int = WIDE) -> dict[str, Any]:
    return {
        "mlp.gate_proj.weight": (width, HIDDEN),
        "mlp.up_proj.weight": (width, HIDDEN),
        "mlp.down_proj.weight": (HIDDEN, width),
    }


def experts(number: int, width: int, block: str = "mlp", shared: int = 0) -> dict[str, Any]:
    shapes: dict[str, Any] = {f"{block}.gate.weight": (number, HIDDEN)}
    for at in range(number):
        shapes |= {
            f"{block}.experts.{at}.gate_proj.weight": (width, HIDDEN),
            f"{block}.experts.{at}.up_proj.weight": (width, HIDDEN),
            f"{block}.experts.{at}.down_proj.weight": (HIDDEN, width),
        }
    if shared:
        shapes |= {
            f"{block}.shared_experts.{part}": shape
            for part, shape in (
                ("gate_proj.weight", (shared, HIDDEN)),
                ("up_proj.weight", (shared, HIDDEN)),
                ("down_proj.weight", (HIDDEN, shared)),
            )
        }
    return shapes


RANK = 128
QUERY_RANK = 192
NOPE = 64
ROPE = 32
VALUE = 64
LATENT = {
    "self_attn.q_a_proj.weight": (QUERY_RANK, HIDDEN),
    "self_attn.q_a_layernorm.weight": (QUERY_RANK,),
    "self_attn.q_b_proj.weight": (HEADS * (NOPE + ROPE), QUERY_RANK),
    "self_attn.kv_a_proj_with_mqa.weight": (RANK + ROPE, HIDDEN),
    "self_attn.kv_a_layernorm.weight": (RANK,),
    "self_attn.kv_b_proj.weight": (HEADS * (NOPE + VALUE), RANK),
    "self_attn.o_proj.weight": (HIDDEN, HEADS * VALUE),
}
OF_LATENT = {
    "kv_lora_rank": RANK, "q_lora_rank": QUERY_RANK, "qk_nope_head_dim": NOPE,
    "qk_rope_head_dim": ROPE, "v_head_dim": VALUE, "num_key_value_heads": HEADS,
}  # fmt: skip
MIXER = {
    "memory.read_proj.weight": (768, HIDDEN),
    "memory.write_proj.weight": (768, HIDDEN),
    "memory.out_proj.weight": (HIDDEN, 768),
}
"""A token mixer that nobody described."""
ROUTED = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 256}


def _mixed(at: int) -> dict[str, Any]:
    """Every third layer attends, the others mix in a way that nobody described."""
    mixer = {**attention(), **QK_NORM} if at % 3 == 2 else MIXER
    return {**mixer, **NORMS, **dense()}


MIXED_TYPES = ["titan_memory", "titan_memory", "full_attention"] * 2


def _deep(at: int) -> dict[str, Any]:
    return {**LATENT, **NORMS, **(dense() if at == 0 else experts(8, 256, shared=256))}


def unseen() -> tuple[Unseen, ...]:
    """The twenty."""
    llama = whole(lambda at: {**attention(), **NORMS, **dense()})
    qwen3 = whole(lambda at: {**attention(), **QK_NORM, **NORMS, **dense()})
    routed = whole(lambda at: {**attention(), **QK_NORM, **NORMS, **experts(8, 256)})
    mixed = whole(_mixed)
    own = {"auto_map": {"AutoModelForCausalLM": "modeling_nova.NovaForCausalLM"}}
    return (
        Unseen("meta-llama/Llama-9-Nano", {**BASE, "model_type": "llama"}, llama),
        Unseen(
            "mistralai/Mistral-Pico-9",
            {**BASE, "model_type": "mistral", "num_key_value_heads": 4},
            whole(lambda at: {**attention(kv=4), **NORMS, **dense()}),
        ),
        Unseen(
            "Qwen/Qwen2-Pico-9",
            {**BASE, "model_type": "qwen2", "num_hidden_layers": 9},
            whole(lambda at: {**attention(), **biased(), **NORMS, **dense()}, 9),
        ),
        Unseen("Qwen/Qwen9-Nano", {**BASE, "model_type": "qwen3"}, qwen3),
        Unseen(
            "Qwen/Qwen9-Tied",
            {**BASE, "model_type": "qwen3", "tie_word_embeddings": True},
            whole(lambda at: {**attention(), **QK_NORM, **NORMS, **dense()}, tied=True),
        ),
        Unseen(
            "google/gemma-9-nano",
            {**BASE, "model_type": "gemma2", "tie_word_embeddings": True, "head_dim": 32},
            whole(lambda at: {**attention(head=32), **FOUR_NORMS, **dense()}, tied=True),
        ),
        Unseen(
            "google/gemma-9-windows",
            {
                **BASE,
                "model_type": "gemma3_text",
                "sliding_window": 512,
                "tie_word_embeddings": True,
            },
            whole(lambda at: {**attention(), **QK_NORM, **FOUR_NORMS, **dense()}, tied=True),
        ),
        Unseen(
            "microsoft/Phi-9-nano",
            {**BASE, "model_type": "phi3"},
            whole(
                lambda at: {
                    "self_attn.qkv_proj.weight": ((HEADS + 2 * KV_HEADS) * HEAD, HIDDEN),
                    "self_attn.o_proj.weight": (HIDDEN, HEADS * HEAD),
                    "mlp.gate_up_proj.weight": (2 * WIDE, HIDDEN),
                    "mlp.down_proj.weight": (HIDDEN, WIDE),
                    **NORMS,
                }
            ),
        ),
        Unseen(
            "mistralai/Mixtral-9-nano",
            {**BASE, "model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2},
            whole(lambda at: {**attention(), **NORMS, **experts(4, WIDE, "block_sparse_moe")}),
        ),
        Unseen("Qwen/Qwen9-Nano-MoE", {**BASE, **ROUTED, "model_type": "qwen3_moe"}, routed),
        Unseen(
            "deepseek-ai/DeepSeek-V9-Nano",
            {
                **BASE,
                **OF_LATENT,
                "model_type": "deepseek_v2",
                "n_routed_experts": 8,
                "num_experts_per_tok": 2,
                "moe_intermediate_size": 256,
                "n_shared_experts": 1,
                "first_k_dense_replace": 1,
            },
            whole(_deep),
        ),
        Unseen(
            "zai-org/GLM-9-nano",
            {**BASE, "model_type": "glm4", "attention_bias": True},
            whole(
                lambda at: {
                    **attention(),
                    **biased(),
                    **FOUR_NORMS,
                    "mlp.gate_up_proj.weight": (2 * WIDE, HIDDEN),
                    "mlp.down_proj.weight": (HIDDEN, WIDE),
                }
            ),
        ),
        Unseen(
            "ByteDance/Ouro-Nano-9",
            {**BASE, "model_type": "ouro", "num_key_value_heads": HEADS, "total_ut_steps": 3},
            whole(lambda at: {**attention(kv=HEADS), **FOUR_NORMS, **dense()}),
        ),
        # From here on families and kinds of layers that nobody described.
        Unseen("novel-lab/Novel-1B", {**BASE, "model_type": "novel_lm"}, llama, served=True),
        Unseen(
            "novel-lab/Titan-1B",
            {**BASE, "model_type": "titan_lm", "layer_types": MIXED_TYPES},
            mixed,
            served=True,
        ),
        Unseen(
            "Qwen/Qwen9-Memory",
            {**BASE, "model_type": "qwen3", "layer_types": MIXED_TYPES},
            mixed,
            served=True,
        ),
        Unseen("novel-lab/Nova", {**BASE, **own, "model_type": "nova"}, qwen3, served=True),
        Unseen(
            "novel-lab/Nova-MoE",
            {**BASE, **ROUTED, **own, "model_type": "nova_moe"},
            routed,
            served=True,
        ),
        Unseen(
            "novel-lab/Closed-Memory",
            {**BASE, "model_type": "titan_lm", "layer_types": MIXED_TYPES, "delta_rank": 8},
            refused="does not know",
        ),
        Unseen(
            "novel-lab/Contradiction",
            {**BASE, "model_type": "llama", "hidden_size": 2 * HIDDEN, "head_dim": 128},
            {"model.embed_tokens.weight": (VOCAB, HIDDEN)},
            refused="its files hold",
        ),
    )


def hub_of(models: tuple[Unseen, ...]) -> StandIn:
    """A Hub that serves some models."""
    held = StandIn()
    for place, model in enumerate(models):
        held.configs[model.name] = model.config
        held.downloads[model.name] = 1000 - place
        held.parameters[model.name] = model.weights
        if model.served:
            held.shapes[model.name] = model.shapes
    return held
