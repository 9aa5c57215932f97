"""Workload: prompt, output, context, users and cache type."""

from dataclasses import dataclass

import numpy as np

from advisor.catalog.inputs import DRAFT, REQUEST, check_all
from advisor.errors import InputError
from advisor.model.kv_cache import KV_BYTES_PER_VALUE
from advisor.units import Array

DRAFTS = {"mtp": 1.0, "eagle": 1.0, "ngram": 0.0}
"""Who drafts, and how many layers it has: a head of multi-token prediction is one layer and the
output head (DeepSeek-V3, arXiv 2412.19437, section 2.2), EAGLE's the same (arXiv 2401.15077); text
that is looked up in the prompt costs nothing."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A kind of request.

    Attributes:
        prompt: tokens sent [tokens].
        output: tokens generated [tokens].
        cached: prompt tokens whose keys and values are kept from before [tokens].
        context: tokens the cache is allocated for, per user [tokens].
        users: sequences decoded together.
        kv_type: format of the cache, a key of `KV_BYTES_PER_VALUE`.
        ubatch: prompt tokens computed together (llama.cpp's `-ub`) [tokens].
        swa_full: window layers keep the whole context (llama.cpp's `--swa-full`).
        draft: who drafts tokens that the model then checks, a key of `DRAFTS`; empty for nobody.
        drafted: tokens drafted for each step [tokens].
        acceptance: share of them that the model would have written itself, 0 to 1.

    The numbers may be arrays along a sweep.

    Raises:
        InputError: a number out of its limits, an unknown cache type, more cached than sent.
    """

    prompt: Array = 512
    output: Array = 256
    cached: Array = 0
    context: Array = 8192
    users: Array = 1
    kv_type: str = "f16"
    ubatch: Array = 512
    swa_full: bool = False
    draft: str = ""
    drafted: Array = 0
    acceptance: Array = 0.0

    def __post_init__(self) -> None:
        check_all((*REQUEST, *DRAFT), vars(self))
        if self.draft and self.draft not in DRAFTS:
            raise InputError(
                f"{self.draft[:40]!r} drafts no tokens here; use one of {', '.join(DRAFTS)}."
            )
        if self.kv_type not in KV_BYTES_PER_VALUE:
            raise InputError(
                f"KV type {self.kv_type[:40]!r} is not known; use one of "
                f"{', '.join(KV_BYTES_PER_VALUE)}."
            )
        if np.any(np.asarray(self.cached) > self.prompt):
            raise InputError(
                f"cached is {self.cached}, more than the prompt of {self.prompt} tokens; "
                "lower it or raise the prompt."
            )

    @property
    def decode_depth(self) -> Array:
        """Mean tokens in the cache while decoding: the prompt and half the output [tokens]."""
        return self.prompt + self.output / 2

    @property
    def tokens_per_step(self) -> Array:
        """Tokens that a step yields for each user, drafted ones with the next one [tokens].

        (1 - a^(k+1)) / (1 - a) where each of k drafted tokens is accepted with probability a as
        long as all before it were (Leviathan et al. 2023, equation 1, arXiv 2211.17192).
        """
        accepted = np.minimum(np.asarray(self.acceptance, dtype=float), 1.0 - 1e-9)
        drafted = np.asarray(self.drafted, dtype=float)
        return np.asarray((1.0 - accepted ** (drafted + 1.0)) / (1.0 - accepted))

    @property
    def fresh(self) -> Array:
        """Prompt tokens that must be computed [tokens]."""
        return np.maximum(self.prompt - self.cached, 0)
