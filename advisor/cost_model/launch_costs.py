"""Time that a slow processor takes to start a layer's kernels on its GPU.

The fixed cost of a layer is fitted to cards in desktops and servers. Boards of a few slow cores
take longer to hand each kernel to the GPU: a row of data/hardware/launch_costs.csv says how much
longer for a layer, by patterns of the names of processors, and of GPUs on such a board.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.timing import FixedTime, StepTime
from advisor.machine.machine import Machine
from advisor.units import Array


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchCostRow:
    """One row of data/hardware/launch_costs.csv."""

    pattern: str  # pattern of names of processors and GPUs, in lower case
    seconds: float  # time beyond the fitted one for a layer [s]
    source: str
    source_date: str
    note: str


@cache
def _rows() -> Sequence[tuple[re.Pattern[str], float]]:
    rows = read(DATA / "hardware/launch_costs.csv", LaunchCostRow)
    return [(re.compile(row.pattern), row.seconds) for row in rows]


@cache
def _of_names(names: tuple[str, ...]) -> float:
    costs = (
        seconds for pattern, seconds in _rows() for name in names if pattern.search(name.casefold())
    )
    return max(costs, default=0.0)


def launch_cost(machine: Machine) -> float:
    """Time of a layer on the GPU beyond the fitted fixed cost; 0 for usual machines [s]."""
    if not machine.gpus:
        return 0.0
    return _of_names((machine.host.name, *(gpu.name for gpu in machine.gpus)))


def with_launches(time: StepTime | None, layers: Array, cost: float) -> StepTime | None:
    """Step with the time to start the kernels of a number of layers on the GPU."""
    if time is None or not cost:
        return time
    further = cost * np.asarray(layers, dtype=float)
    parts = dict(time.parts)
    parts[FixedTime.LAYERS] = parts.get(FixedTime.LAYERS, 0.0) + further
    return replace(time, total=time.total + further, parts=parts)
