"""Typed memory size of a card against the sizes that it is sold with."""

from collections.abc import Iterator

import numpy as np

from advisor.machine.catalog import sizes_of
from advisor.machine.rows import GpuRow
from advisor.units import Array

CHANGED = 2.0
"""Largest memory of a changed card, relative to what it is sold with: RTX 2080 Ti with 22 GB, 3080
with 20, 4090 with 48 (data/hardware/gpus.csv)."""


def size_notes(row: GpuRow, typed_gib: Array | None) -> Iterator[str]:
    """Note on a typed memory size that no card of a name has, even a changed one [GiB]."""
    sizes = sizes_of(row)
    if typed_gib is None or row.unified or np.max(typed_gib) <= CHANGED * sizes[-1]:
        return
    listed = " or ".join(f"{size:g}" for size in sizes)
    yield (
        f"The typed {np.max(typed_gib):g} GiB of GPU memory count; {row.name} is sold with "
        f"{listed} GiB, and changed cards have twice that at most."
    )
