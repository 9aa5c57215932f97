"""Use of routed experts along a text: the number that tokens use, and those of them that a cache
holds.

Within a text every expert of a layer has a frequency of its own. With `k` of `E` experts per token,
one of weight w is used by a token with probability

    p(w) = 1 - exp(-a w),  ln w normal with standard deviation u,  a such that E[p] = k / E

so that t tokens touch D(t) experts. A cache of C slots that evicts what was unused for longest
holds the experts of the last T tokens, and misses what one more token adds (Denning 1968, the
working set model; Che, Tung and Wang 2002):

    D(t) = E (1 - E[(1 - p)^t]),  D(T) = C,  miss = (D(T + 1) - D(T)) / k

One number, the unevenness u, thus gives drafted tokens, prompts and caches. Traces of Qwen3-30B-A3B
and Gemma 4 26B-A4B (Helldez/BigMoeOnEdge, docs/bench-data/2026-07-15-route-trace) have u = 2.1 to
2.35 at every t from 2 to 128 tokens.

A round computes r tokens: one, and the drafted ones that it verifies. A cache that follows the text
misses, in a round,

    m = D(T + r) - D(T)

A cache of a share s, filled by a profile, holds the most used experts over many texts. The lookups
outside, 1 - h(s) of them (`served_by_fixed`), concern experts that hardly any other token of the
round uses, the more so the fewer lie outside:

    m = r k (1 - h(s)) (d + (1 - d) s),  d = D(r) / (r k)
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

import numpy as np

from advisor.catalog.csv_tables import texts
from advisor.units import Array

NODES = 48  # points of the mean over a normal distribution
LEAST_MISSED = 1e-15  # share of experts that texts miss at least, so that its logarithm is finite
LONGEST = 1e9  # tokens whose experts a cache of all of them holds [tokens]
STEPS = 60  # halvings of an interval in search of a root
USUAL = 0.5  # variety of an ordinary text
VARIED = 1.4
"""Factor of the unevenness between a text that repeats itself and an ordinary one, and from there
to mixed topics. Of Qwen3-30B-A3B, a repeated benchmark prompt has u = 2.9 (kekzl/imp, pull request
1365, 88.7 % served by 24 slots of 128) and prompts of their own 2.0 to 2.5 (1359)."""
STATIC = 0.75
"""Unevenness of a layer's experts over many texts, which a fixed set of the most used ones is
chosen by: 0.7 from KTransformers' sweep of its `frequency` placement, 0.25 over code, mathematics,
prose and several languages (llama.cpp, pull request 27861), 0.75 to 1.06 from a prompt for its own
reply (route traces above)."""


BETWEEN = 1.8
"""Unevenness of a layer's experts over the texts of users who are served together: on a GB10,
gpt-oss-120b's steps of 8, 16 and 32 sequences last 55, 91 and 163 ms at 512, 4096 and 8192 tokens
(llama.cpp's benches/dgx-spark), in which 0.17, 0.24 and 0.34 of its experts can be read at the
219 GB/s that the same report's dense model reaches, not the 0.22, 0.40 and 0.64 of even choices.
NVIDIA's simulator draws them by a power law, too (`power_law_1.2` of aiconfigurator)."""


@lru_cache(maxsize=1024)
def unevenness(name: str) -> float:
    """Unevenness of a model's experts in an ordinary text, by the model's name."""
    by_pattern = texts("models/expert_use.csv", "pattern", "unevenness")
    values = (value for part, value in by_pattern.items() if re.search(part, name, re.IGNORECASE))
    return float(next(values))  # the last pattern takes every name


def in_text(usual: float, variety: float) -> float:
    """Unevenness in a text of some variety, 0 (repeats itself) to 1 (mixed topics)."""
    return float(usual * VARIED ** (1.0 - 2.0 * variety))


@dataclass(frozen=True)
class ExpertUse:
    """Use of a layer's routed experts in a text."""

    total: int  # experts of a layer
    used: int  # experts that a token uses
    uneven: float  # standard deviation of the logarithm of an expert's weight

    def touched(self, tokens: Array) -> Array:
        """Number of experts that some consecutive tokens use together."""
        _, shares = _quadrature()
        spared = np.log1p(-_probabilities(self))
        counts = np.asarray(tokens, dtype=float)[..., None]
        return np.asarray(-self.total * np.sum(shares * np.expm1(counts * spared), axis=-1))

    def distinct_texts(self, texts: Array) -> Array:
        """Number of texts with even choices that would use as many experts together as some texts
        do.

        Experts that one text prefers are preferred by others too, with unevenness `BETWEEN`, or
        that of a text where it is less.
        """
        if np.all(np.asarray(texts) <= 1.0):
            return texts
        together = ExpertUse(self.total, self.used, min(BETWEEN, self.uneven))
        touched = np.minimum(together.touched(texts) / self.total, 1.0 - LEAST_MISSED)
        missed = np.log1p(-touched)
        alone = np.log1p(-self.used / self.total)
        return np.where(np.asarray(texts) <= 1.0, texts, missed / alone)

    def lasting(self, slots: Array) -> Array:
        """Number of tokens whose experts fill a cache; 1e9 for a cache that holds all [tokens]."""
        wanted = np.asarray(slots, dtype=float)
        low = np.zeros_like(wanted)
        high = np.full_like(wanted, np.log(1e9))
        for _ in range(STEPS):
            middle = (low + high) / 2.0
            full = self.touched(np.exp(middle)) >= wanted
            low = np.where(full, low, middle)
            high = np.where(full, middle, high)
        return np.asarray(np.exp(high))

    def missed(self, tokens: Array) -> Array:
        """Share of lookups outside the experts of the last `tokens` tokens."""
        added = self.touched(np.asarray(tokens) + 1.0) - self.touched(tokens)
        return np.asarray(added / self.used)

    def served(self, slots: Array, tokens: Array = np.inf, *, by_layer: bool = False) -> Array:
        """Share of lookups that a cache serves; the cache evicts the expert that was unused for
        longest.

        Empty at first, it misses D(min(N, T)) and then the steady share of each token's lookups.
        With fewer slots than a token uses nothing survives a pass over all layers; a list for each
        layer keeps a part.

        Args:
            slots: experts of each layer that it holds, in the mean.
            tokens: length N of the text; infinite for a steady state [tokens].
            by_layer: each layer has its own list; else all share one.
        """
        room = np.asarray(slots, dtype=float)
        lasting = self.lasting(np.maximum(room, self.used))
        length = np.maximum(np.asarray(tokens, dtype=float), 1.0)
        steady = np.where(room >= self.total, 0.0, self.missed(lasting))
        cold = np.minimum(length, lasting)
        first = self.touched(cold) / (self.used * cold)
        share = np.where(np.isinf(length), 0.0, cold / length)
        hits = 1.0 - (share * first + (1.0 - share) * steady)
        if by_layer:
            small = np.minimum(room / self.used, 1.0)
        else:
            small = (room >= self.used).astype(float)
        return np.asarray(np.clip(hits, 0.0, 1.0) * small)


@cache
def _quadrature() -> tuple[Array, Array]:
    """Points of a standard normal, and the share of each in a mean over it (Gauss and Hermite)."""
    nodes, masses = np.polynomial.hermite_e.hermegauss(NODES)
    return nodes, masses / masses.sum()


@cache
def _normal() -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """Distribution function of a standard normal, and its inverse."""
    from statistics import NormalDist  # takes time to load, and few answers need it

    normal = NormalDist()
    below = np.vectorize(normal.cdf, otypes=[float])
    quantile = np.vectorize(normal.inv_cdf, otypes=[float])
    return below, quantile


@lru_cache(maxsize=256)
def _probabilities(use: ExpertUse) -> Array:
    """Probability that a token uses an expert, at each node of the distribution of weights."""
    nodes, shares = _quadrature()
    weights = np.exp(use.uneven * nodes)
    low = -80.0
    high = 80.0
    for _ in range(STEPS + 20):
        middle = (low + high) / 2.0
        mean = -np.sum(shares * np.expm1(-np.exp(middle) * weights))
        low, high = (middle, high) if mean < use.used / use.total else (low, middle)
    return np.asarray(np.clip(-np.expm1(-np.exp(high) * weights), 0.0, 1.0 - 1e-15))


def served_by_fixed(share: Array, uneven: float = STATIC) -> Array:
    """Share of lookups served by a fixed set of a layer's most used experts.

    The heaviest share s of a log-normal weight holds Phi(u - Phi^-1(1 - s)) of it, with s the part
    of the experts in the set and u their unevenness over the texts that it was chosen for.
    """
    part = np.asarray(share, dtype=float)
    inside = np.clip(part, 1e-12, 1.0 - 1e-12)
    below, quantile = _normal()
    hits = below(uneven - quantile(1.0 - inside))
    return np.asarray(np.where(part >= 1.0, 1.0, np.where(part <= 0.0, 0.0, hits)))


# Hits of a cache of experts in a round of several tokens.


class Fill(StrEnum):
    """Way in which the experts of a cache are chosen."""

    PROFILE = "profile"  # the most used ones over many texts, which then stay
    ADAPTIVE = "adaptive"  # those of a profile at first, then exchanged as the text goes on
    LRU = "lru"  # the experts that were used last


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
    cached = np.clip(np.asarray(share, dtype=float), 0.0, 1.0)
    touched = np.asarray(use.touched(rows), dtype=float)
    if fill == Fill.PROFILE:
        missed = _outside_profile(use, cached, rows, touched)
    else:
        missed = _missed(use, cached * use.total / texts, rows, touched)
    missed = np.where(cached >= 1.0, 0.0, missed)
    return Lookups(
        touched=_of_texts(use, touched / use.total, texts),
        missed=_of_texts(use, missed / use.total, texts),
    )


def _outside_profile(use: ExpertUse, cached: Array, rows: Array, touched: Array) -> Array:
    """Number of a text's experts that a round uses and that a cache filled by a profile lacks.

    Four rows miss 22 of the 29.5 experts of Qwen3.8-Flash-Next that they touch with 8.3 % cached
    (Strata, docs/DGX_SPARK.md), and 7.3 with 61 % in VRAM and RAM (docs/UNSLOTH_Q4.md, 1.1 GB a
    round); this gives 21 and 5.6.
    """
    looked_up = np.asarray(rows, dtype=float) * use.used
    apart = touched / looked_up
    outside = looked_up * (1.0 - served_by_fixed(cached))
    return np.asarray(np.minimum(outside * (apart + (1.0 - apart) * cached), touched))


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
