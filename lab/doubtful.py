"""Doubtful rows: physically impossible speeds, by a rule that was fixed before any scoring.

A speed is doubtful if a perfect program could not reach it on the stated machine, or if a program
that wastes 95 % of the machine would be faster. Then something else ran than the row states:
another card, pages from a drive, layers on the processor. Doubts of the sources themselves are in
the column `doubtful`.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from advisor.model.model import Floats

PERFECT: Mapping[str, float] = {
    "core_decode_rate": 100e9,  # more than a core can read
    "core_clock": 1.0,
    "core_matrix_clock": 1.0,
    "core_flops": 4e12,  # AMX: 2048 operations of 8 bits a cycle, half as many of 16
    "core_attention_flops": 4e12,
    "core_batch_attention_flops": 4e12,
    "gpu_layer": 0.0,
    "gpu_expert_layer": 0.0,
    "gpu_state_layer": 0.0,
    "gpu_scan_layer": 0.0,
    "gpu_stream_layer": 0.0,
    "gpu_latent_layer": 0.0,
    "gpu_expert_read_share": 1.0,
    "gpu_latent_value": 0.0,
    "cpu_layer": 0.0,
    "cpu_barrier": 0.0,
    "cpu_expert_layer": 0.0,
    "crossing": 0.0,
    "token": 0.0,
    "others_cache_share": 0.0,
    "gpu_tile": 0.0,
    "gpu_expert_tile": 0.0,
    "host_copy": 1e15,
    "pageable_copy": 1e15,
    "staging_wait": 0.0,
    "all_reduce": 0.0,
    "network_hop": 0.0,
}
"""Constants of a perfect program; every share is 1."""
WASTEFUL: Mapping[str, float] = {
    **PERFECT,
    "core_decode_rate": 0.5e9,
    "core_clock": 1.0,
    "core_matrix_clock": 1.0,
    "core_flops": 2e9,
    "core_attention_flops": 0.1e9,
    "core_batch_attention_flops": 0.5e9,
    "gpu_layer": 1e-3,
    "gpu_expert_layer": 1e-3,
    "gpu_state_layer": 1e-3,
    "gpu_scan_layer": 5e-3,
    "gpu_stream_layer": 3e-3,
    "gpu_latent_layer": 1e-3,
    "gpu_expert_read_share": 0.3,
    "gpu_latent_value": 2e4,
    "cpu_layer": 1e-4,
    "cpu_barrier": 1e-4,
    "cpu_expert_layer": 2e-3,
    "crossing": 1e-3,
    "token": 10e-3,
    "others_cache_share": 1.0,
    "gpu_tile": 256.0,
    "gpu_expert_tile": 256.0,
    "host_copy": 1e9,
    "pageable_copy": 1e9,
    "staging_wait": 1.0,
    "all_reduce": 1e-3,
    "network_hop": 10e-3,
}
"""Constants of a program that wastes nearly everything; every share is `WASTED`."""
WASTED = 0.05
ROUNDED = 0.85
"""Smallest ratio of a row's time to the perfect time: datasheets round, boost clocks exceed them,
and RAM is overclocked."""


class Bound:
    """Constants with one value in every scope: their own, or that of all shares."""

    def __init__(self, values: Mapping[str, float], share: float) -> None:
        self._values = values
        self._share = share

    def value(self, constant: str, family: str = "") -> float:  # noqa: ARG002 - bounds know no scope
        """Value of a constant."""
        return self._values.get(constant, self._share)


FASTEST, SLOWEST = Bound(PERFECT, 1.0), Bound(WASTEFUL, WASTED)


def doubtful(seconds: Floats, fastest: Floats, slowest: Floats) -> npt.NDArray[np.bool_]:
    """Mask of the rows with an impossible time, shape (rows,): under that predicted with `FASTEST`,
    or over that with `SLOWEST`.
    """
    return np.asarray((seconds < ROUNDED * fastest) | (seconds > slowest))
