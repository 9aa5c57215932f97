"""What is asked of the model: how much text, by how many users, with what cache."""

from dataclasses import dataclass

import numpy as np

from advisor.catalog.inputs import REQUEST, check_all
from advisor.errors import InputError
from advisor.model.kv_cache import KV_BYTES_PER_VALUE
from advisor.units import Array


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One kind of request.

    Attributes:
        prompt: tokens sent [tokens].
        output: tokens generated [tokens].
        cached: prompt tokens whose keys and values are kept from before [tokens].
        context: tokens the cache is allocated for, per user [tokens].
        users: sequences decoded together.
        kv_type: format of the cache, a key of `KV_BYTES_PER_VALUE`.
        ubatch: prompt tokens computed together (llama.cpp's `-ub`) [tokens].
        swa_full: window layers keep the whole context (llama.cpp's `--swa-full`).

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

    def __post_init__(self) -> None:
        check_all(REQUEST, vars(self))
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
    def fresh(self) -> Array:
        """Prompt tokens that must be computed [tokens]."""
        return np.maximum(self.prompt - self.cached, 0)
