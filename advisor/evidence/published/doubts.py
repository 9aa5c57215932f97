"""Rows that no physics explains, by a rule that was stated before anything was scored.

A speed is doubtful where even perfect programs could not reach it on the machine that the row
names, or where ones that waste nineteen parts in twenty of it would be faster: then something else
ran than the row says (another card, pages from a drive, layers on the processor). Sources' own
doubts stand in the column `doubtful`.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from advisor.model.model import Floats

PERFECT: Mapping[str, float] = {
    "core_decode_rate": 100e9,  # more than a core can read
    "core_clock": 1.0,
    "core_flops": 4e12,  # AMX: 2048 operations of 8 bits a cycle, half as many of 16
    "core_attention_flops": 4e12,
    "core_batch_attention_flops": 4e12,
    "gpu_layer": 0.0,
    "gpu_expert_layer": 0.0,
    "gpu_state_layer": 0.0,
    "cpu_layer": 0.0,
    "cpu_expert_layer": 0.0,
    "crossing": 0.0,
    "token": 0.0,
    "others_cache_share": 0.0,
    "gpu_tile": 0.0,
    "gpu_expert_tile": 0.0,
    "host_copy": 1e15,
    "all_reduce": 0.0,
    "network_hop": 0.0,
}
"""Constants of a program that wastes nothing; every share is 1."""
WASTEFUL: Mapping[str, float] = {
    **PERFECT,
    "core_decode_rate": 0.5e9,
    "core_clock": 1.0,
    "core_flops": 2e9,
    "core_attention_flops": 0.1e9,
    "core_batch_attention_flops": 0.5e9,
    "gpu_layer": 1e-3,
    "gpu_expert_layer": 1e-3,
    "gpu_state_layer": 1e-3,
    "cpu_layer": 1e-4,
    "cpu_expert_layer": 2e-3,
    "crossing": 1e-3,
    "token": 10e-3,
    "others_cache_share": 1.0,
    "gpu_tile": 256.0,
    "gpu_expert_tile": 256.0,
    "host_copy": 1e9,
    "all_reduce": 1e-3,
    "network_hop": 10e-3,
}
"""Constants of one that wastes nearly everything; every share is `WASTED`."""
WASTED = 0.05
ROUNDED = 0.85
"""Part of the perfect time that a row may take: datasheets round, boost clocks pass theirs, and RAM
is run faster than sold."""


class Bound:
    """Constants that are the same in every scope.

    Args:
        values: of those that are not shares.
        share: of all others.
    """

    def __init__(self, values: Mapping[str, float], share: float) -> None:
        self._values = values
        self._share = share

    def value(self, constant: str, family: str = "") -> float:  # noqa: ARG002 - bounds know no scope
        """The bound of a constant."""
        return self._values.get(constant, self._share)


FASTEST, SLOWEST = Bound(PERFECT, 1.0), Bound(WASTEFUL, WASTED)


def doubtful(seconds: Floats, fastest: Floats, slowest: Floats) -> npt.NDArray[np.bool_]:
    """Rows whose time cannot be that of the run that they name, shape (rows,).

    Args:
        seconds: measured, shape (rows,) [s].
        fastest: by the constants `FASTEST`, shape (rows,) [s].
        slowest: by the constants `SLOWEST`, shape (rows,) [s].
    """
    return np.asarray((seconds < ROUNDED * fastest) | (seconds > slowest))
