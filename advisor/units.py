"""Units: SI inside, converted once at the edge.

Bytes, seconds and FLOP everywhere in the package. Memory sizes are as sold and as llama.cpp and
nvidia-smi print them, in GiB (2**30 bytes); bandwidths and drives are decimal, in GB (1e9 bytes).
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = float | npt.NDArray[np.float64]
"""A number, or an array of them along one sweep."""

KB, MB, GB = 1e3, 1e6, 1e9
KIB, MIB, GIB = 2.0**10, 2.0**20, 2.0**30
TERA = 1e12
HOURS_PER_MONTH = 365.25 * 24 / 12
DAYS_PER_MONTH = 365.25 / 12

FLOAT = 4.0
"""Bytes of an activation [B]."""
