"""Hits of a cache of experts: the experts that a round uses, and those of them that the cache
holds.

A round computes r tokens: one, and the drafted ones that it verifies. Over a text they touch D(r)
experts of a layer together (`expert_use.ExpertUse.touched`). A cache that follows the text holds
the experts of the last T tokens, so that the round misses

    m = D(T + r) - D(T),  D(T) = C slots

A cache of a share s, filled by a profile, holds the most used experts over many texts. The lookups
outside, 1 - h(s) of them (`served_by_fixed`), concern experts that hardly any other token of the
round uses, the more so the fewer lie outside:

    m = r k (1 - h(s)) (d + (1 - d) s),  d = D(r) / (r k)

The engines' caches hit somewhat less often than a model's unevenness within one text tells; theirs
is a table of its own, data/models/tier_expert_use.csv.

References: Denning 1968; Che, Tung and Wang 2002, as in `expert_use`.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from advisor.catalog.csv_tables import texts
from advisor.model.expert_use import ExpertUse, served_by_fixed
from advisor.model.model import Model
from advisor.runtimes.tiered.engines import Fill
from advisor.units import Array

LONGEST = 1e9  # tokens whose experts a cache of all of them holds [tokens]


@lru_cache(maxsize=256)
def unevenness(name: str) -> float:
    """Unevenness of a model's experts in caches of these engines, by the model's name."""
    by_pattern = texts("models/tier_expert_use.csv", "pattern", "unevenness")
    values = (value for part, value in by_pattern.items() if re.search(part, name, re.IGNORECASE))
    return float(next(values))  # the last pattern takes every name


def use_of(model: Model) -> ExpertUse | None:
    """Use of a model's experts; None for a model without experts."""
    experts = model.architecture.experts
    if experts is None:
        return None
    return ExpertUse(experts.total, experts.used, unevenness(model.name))


@dataclass(frozen=True, kw_only=True)
class Lookups:
    """Experts of a layer in one round, as shares of all of the layer."""

    touched: Array  # experts that its tokens use
    missed: Array  # those of them outside a cache

    @property
    def served(self) -> Array:
        """Share of a layer's experts that the round uses and the cache holds."""
        return self.touched - self.missed


def lookups(use: ExpertUse, share: Array, rows: Array, fill: str, texts: Array = 1.0) -> Lookups:
    """Lookups of a round in a cache.

    Args:
        use: use of the experts of a layer.
        share: part of the experts that the cache holds, 0 to 1.
        rows: tokens of one text that the round computes [tokens].
        fill: way in which the cache is filled, a `Fill`.
        texts: texts side by side, which divide a cache that follows them.
    """
    held = np.clip(np.asarray(share, dtype=float), 0.0, 1.0)
    each = np.asarray(use.touched(rows), dtype=float)
    if fill == Fill.PROFILE:
        missed = _outside_profile(use, held, rows, each)
    else:
        missed = _missed(use, held * use.total / texts, rows, each)
    missed = np.where(held >= 1.0, 0.0, missed)
    return Lookups(
        touched=_of_texts(use, each / use.total, texts),
        missed=_of_texts(use, missed / use.total, texts),
    )


def _outside_profile(use: ExpertUse, held: Array, rows: Array, touched: Array) -> Array:
    """Number of a text's experts that a round uses and that a cache filled by a profile lacks.

    Four rows miss 22 of the 29.5 experts of Qwen3.8-Flash-Next that they touch with 8.3 % cached
    (Strata, docs/DGX_SPARK.md), and 7.3 with 61 % in VRAM and RAM (docs/UNSLOTH_Q4.md, 1.1 GB a
    round); this gives 21 and 5.6.
    """
    looked_up = np.asarray(rows, dtype=float) * use.used
    apart = touched / looked_up
    outside = looked_up * (1.0 - served_by_fixed(held))
    return np.asarray(np.minimum(outside * (apart + (1.0 - apart) * held), touched))


def _missed(use: ExpertUse, slots: Array, rows: Array, touched: Array) -> Array:
    """Number of a text's experts that a round uses and that a cache of the last used ones lacks.

    Below the experts of one token, each slot serves its part.
    """
    lasting = np.minimum(use.lasting(np.maximum(slots, use.used)), LONGEST)
    added = use.touched(lasting + rows) - use.touched(lasting)
    few = np.minimum(np.asarray(slots) / use.used, 1.0)
    return np.asarray(touched - few * (touched - np.minimum(added, touched)))


def _of_texts(use: ExpertUse, share: Array, texts: Array) -> Array:
    """Share of a layer's experts that some texts use together, each of which uses a share."""
    return np.asarray(1.0 - (1.0 - share) ** use.distinct_texts(texts))
