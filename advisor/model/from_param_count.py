"""A stand-in for a model of which only size, active size and depth are known."""

import math
from functools import lru_cache

from advisor.errors import InputError
from advisor.model.architecture import Architecture, Experts, Group, LayerCache, Tensor

VOCAB = 128_000
KV_HEADS, HEAD_DIM = 8, 128
EXPERTS = 1024
"""Experts of a stand-in: many, so that the share a token uses can be close to the published one."""
DENSE_SHARE = 0.35
"""Part of the active weights of a mixture of experts that every token uses; between 0.2 (Mixtral)
and 0.6 (Qwen3-Next) in data/models/models.csv; assumed."""
WIDTH = 256
"""Row length, a whole quantization block."""


@lru_cache(maxsize=256)
def outline(
    name: str, params: float, active: float | None = None, layers: int | None = None
) -> Architecture:
    """An architecture of the right size whose inner shapes are guessed.

    Hidden size from params = 12 layers hidden^2, the count of a classic transformer block; a depth
    left open from hidden = 128 layers. Cache as 8 key-value heads of 128.

    Args:
        name: as it will be shown.
        params: all weights.
        active: weights a token uses; None for a dense model.
        layers: repeating layers.

    Raises:
        InputError: no weights, or more active than there are.
    """
    if not params > 0 or (active is not None and not 0 < active <= params):
        raise InputError(f"{name}: {params:g} parameters, {active} active, is not a model.")
    depth = layers or max(round((params / (12 * 128**2)) ** (1 / 3)), 1)
    hidden = max(round(math.sqrt(min(active or params, params) / (12 * depth)) / 128) * 128, 128)
    table = min(VOCAB * hidden, params * 0.2)
    routed, used = _experts(params, active, 2 * table)
    dense = (params - 2 * table - routed) / depth
    return Architecture(
        name=name,
        layers=depth,
        hidden=hidden,
        vocab=max(round(table / hidden), 1),
        tied=False,
        max_context=None,
        tensors=_tensors(depth, dense, routed / depth, table),
        cache=(LayerCache(key_values=KV_HEADS * HEAD_DIM, value_values=KV_HEADS * HEAD_DIM),)
        * depth,
        attention_values=(2 * hidden,) * depth,
        experts=Experts(total=EXPERTS, used=used) if routed else None,
        source="published size, active size and depth; inner shapes guessed",
    )


def _experts(params: float, active: float | None, tables: float) -> tuple[float, int]:
    if active is None or active >= 0.98 * params:
        return 0.0, 0
    dense = DENSE_SHARE * active
    routed = params - dense - tables
    return routed, max(round(EXPERTS * (active - dense - tables) / routed), 1)


def _tensors(layers: int, dense: float, routed: float, table: float) -> tuple[Tensor, ...]:
    def tensor(role: str, group: Group, layer: int | None, params: float) -> Tensor:
        return Tensor(
            role=role, group=group, layer=layer, rows=max(round(params / WIDTH), 1), width=WIDTH
        )

    found = [tensor("token_embd", Group.EMBEDDING, None, table)]
    for layer in range(layers):
        found.append(tensor("attn_q", Group.ATTENTION, layer, dense / 4))
        found.append(tensor("ffn_up", Group.DENSE_FFN, layer, dense * 3 / 4))
        found.append(Tensor(role="attn_norm", group=Group.NORMS, layer=layer, rows=1, width=WIDTH))
        if routed:
            found.append(tensor("ffn_up_exps", Group.ROUTED_EXPERTS, layer, routed))
    return (*found, tensor("output", Group.OUTPUT, None, table))
