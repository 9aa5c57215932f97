"""K2 Horizon, whose expert layers may route the projection of values, too.

Reference: huggingface/transformers, src/transformers/models/k2_horizon/modular_k2_horizon.py
(K2HorizonMoVAAttention), read on 2026-11-22.
"""

from dataclasses import replace

from advisor.model.architecture import Architecture, Group, Tensor, linear
from advisor.model.config.own_layers.parts import Mixing, OwnLayer, attention, dense, stack
from advisor.model.config.values import Config
from advisor.model.spec import ArchitectureSpec


def k2_horizon(config: Config, facts: ArchitectureSpec) -> Architecture:
    """K2 Horizon: grouped attention, gated by value where the file says so; where it has value
    experts, expert layers choose among their projections in place of one of their own.
    """
    heads = "layer" if config.flag("query_key_norm") else ""
    facts = replace(facts, qk_norm=heads)
    gate = facts.heads * facts.head_dim if config.word("attention_gate_func") else 0
    value_experts = config.whole("mova_num_experts")
    alone = set(config.numbers("mlp_only_layers"))
    step = config.whole("decoder_sparse_step") or 1
    layers = []
    for at in range(facts.layers):
        routed = facts.experts > 0 and at not in alone and (at + 1) % step == 0
        own = facts if routed else dense(facts)
        mixing = attention(own, at, gate=gate)
        if routed and value_experts:
            mixing = _with_value_experts(mixing, own, at, value_experts)
        layers.append(OwnLayer(mixing=mixing, facts=own))
    return stack(facts, layers)


def _with_value_experts(
    mixing: Mixing, facts: ArchitectureSpec, layer: int, experts: int
) -> Mixing:
    """One value projection of hidden x KV weights for each expert, and their router.

    They count with the routed experts of the feed-forward, of which a token uses another share: 8
    of 100 there, 4 of 64 here, so that active weights of MoVA-36B-A4B come out 3 % high.
    """
    values = facts.kv_heads * facts.head_dim
    kept: tuple[Tensor, ...] = tuple(tensor for tensor in mixing.tensors if tensor.role != "attn_v")
    routed = linear(
        "attn_v_exps", Group.ROUTED_EXPERTS, layer,
        inputs=facts.hidden, outputs=values, stacked=experts,
    )  # fmt: skip
    router = linear("attn_v_gate_inp", Group.ROUTER, layer, inputs=facts.hidden, outputs=experts)
    return replace(mixing, tensors=kept + routed + router)
