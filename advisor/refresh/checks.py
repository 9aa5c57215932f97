"""Checks of whole tables: what contradicts itself, its name, its siblings or its segment.

They run before a renewal is kept, and in the tests over the package's own tables. A row that fails
is kept out and listed with the reason.
"""

import math

from advisor.model.model import Described

# Models: totals that contradict their sizes or their names.

AGREES = math.log(1.15)
"""Logarithm of how far the weights of files may lie from what a config.json counts: layers that
draft and encoders that no file describes make up to a seventh."""
PLAIN = ("BF16-hf", "FP8")  # formats whose files hold a number for each weight


def contradicted_total(described: Described, parameters: int) -> str:
    """Sentence on a config.json whose layers count other weights than its files; else empty."""
    if not parameters or described.format not in PLAIN:
        return ""
    counted = described.architecture.params + described.architecture.tower
    if abs(math.log(parameters / counted)) <= AGREES:
        return ""
    return (
        f"{described.architecture.name}: its files hold {parameters / 1e9:,.4g} B weights, while "
        f"its config.json describes {counted / 1e9:,.4g} B."
    )
