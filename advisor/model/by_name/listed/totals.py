"""Totals of the list: counted from files, or estimated by a formula.

If a repository's files do not state their weights, or state less than half of what its sizes need,
as packed files do, llmfit estimates the total (scripts/scrape_hf_models.py at
github.com/AlexsJones/llmfit, commit 3f44fd3, read on 2026-11-22). Such a total adds no
information to the sizes, and its formulas leave out norms, biases and all layers of other kinds.
"""

import re

from advisor.model.by_name.listed.hub_list import HubRow

ROUNDED = 100_000_000
"""Unit of rounded totals, which come from a name or a model card [weights]."""
PACKED = re.compile(
    r"awq|gptq|int[48]|[2-8][-_ ]?bit|fp[48]|mlx|w\da\d|gguf|exl|bnb|quant|oq\d|jang|npu|hqq"
    r"|autoround|mxfp|nf[34]|aqlm|q4|qat|onnx|ternary|bitnet|1\.58|draft|dspark|dflash|eagle|optiq",
    re.IGNORECASE,
)


def is_unpacked(row: HubRow) -> bool:
    """Whether files hold one number per weight: no packed format or drafting head in the name."""
    return not PACKED.search(row.name)


def counts_weights(row: HubRow) -> bool:
    """Whether the stated total was counted from the repository's files."""
    worked_out = (_by_widths(row), _by_tensors(row))
    return row.parameters % ROUNDED != 0 and row.parameters not in worked_out


def _by_widths(row: HubRow) -> int:
    """`layers x hidden^2 x (4 + 2 x width / hidden) + vocab x hidden` [weights].

    llmfit's formula for repositories without metadata (`_estimate_params_from_config`).
    """
    ratio = row.feed_forward / row.hidden if row.feed_forward and row.hidden else 4.0
    layers = row.layers * row.hidden * row.hidden * (4 + 2 * ratio)
    return int(layers + row.vocab * row.hidden)


def _by_tensors(row: HubRow) -> int:
    """Attention, gated feed-forward or experts with their router, and both tables [weights].

    llmfit's formula for packed repositories (`estimate_params_from_arch`).
    """
    attention = 2 * (row.heads + row.kv_heads) * row.head_dim * row.hidden
    width = row.shared_feed_forward + row.experts * row.feed_forward
    experts = 3 * row.hidden * width + row.experts * row.hidden
    dense = 3 * row.hidden * row.feed_forward
    return row.layers * (attention + (experts if row.experts else dense)) + 2 * (
        row.vocab * row.hidden
    )
