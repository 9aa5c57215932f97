"""Does a cache of experts in the GPU pay? Published pairs of runs, and what is predicted for each.

    python -m benchmarks.expert_cache_pairs

Rows of data/measurements/expert_cache_pairs.csv. Experts outside the cache are copied over the link
(llama.cpp's `--moe-cache-mib`) or computed by the processor (forks). Aim: every sign right.
"""

import sys
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from advisor.advice.compare import compare
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model.model import Model
from advisor.runtimes import LLAMA_CPP, Runtime
from advisor.runtimes.llama_cpp.passes import phases
from advisor.scripting import find_model
from advisor.units import GIB

FILE = DATA / "measurements/expert_cache_pairs.csv"
WORK = Workload(prompt=64, output=200, context=2048)
"""Most rows state a reply of 200 tokens or none at all."""
ROOM_GIB = 256.0
"""RAM of a machine whose row states none: all of the experts fit."""


@dataclass(frozen=True, kw_only=True)
class PairRow:
    """One row of the table; data/measurements/README.md describes its columns."""

    id: str
    publisher: str
    gpu: str
    gpu_count: int
    backend: str
    ram_channels: float
    ram_mts: float
    pcie_gbs: float | None
    model: str
    quant: str
    cpu_moe: float
    cached_cpu_moe: float
    cache_gib: float
    misses: str
    plain_tps: float
    cached_tps: float
    source_url: str
    source_date: str
    note: str

    @property
    def measured(self) -> float:
        """Rate with the cache over that without."""
        return self.cached_tps / self.plain_tps


def rows() -> tuple[PairRow, ...]:
    """All published pairs."""
    return read(FILE, PairRow)


def _machine(row: PairRow) -> Machine:
    return machine(MachineSpec(
        gpu=row.gpu, gpu_count=row.gpu_count, backend=row.backend, ram_gb=ROOM_GIB,
        ram_channels=row.ram_channels, ram_mts=row.ram_mts, pcie_gbs=row.pcie_gbs,
    ))  # fmt: skip


def gain(row: PairRow) -> float:
    """Predicted rate with the cache over that without."""
    model, where = find_model(row.model, row.quant), _machine(row)
    runtime = LLAMA_CPP
    if row.misses == "computed":
        schedule = partial(phases, copies_experts=True, copies_misses=False)
        runtime = replace(LLAMA_CPP, schedule=schedule)
    plain = Settings(gpu_layers=float(model.layers), cpu_moe=row.cpu_moe)
    cached = replace(plain, cpu_moe=row.cached_cpu_moe, expert_cache=row.cache_gib * GIB)
    before, after = (rate(model, where, runtime, settings) for settings in (plain, cached))
    return after / before


def rate(model: Model, where: Machine, runtime: Runtime, settings: Settings) -> float:
    """Predicted rate of decoding with experts in RAM; NaN for what does not fit [tokens/s]."""
    for outcome in compare(model, where, WORK, settings=settings, runtimes=(runtime,)):
        if outcome.strategy is PlacementStrategy.CPU_OFFLOAD and outcome.decode_tps is not None:
            return float(outcome.decode_tps)
    return np.nan


def main() -> int:
    """Print the table; returns the exit code: 0 where every sign is right."""
    right = 0
    known = rows()
    for row in known:
        predicted = gain(row)
        right += (predicted > 1.0) == (row.measured > 1.0)
        print(
            f"{row.publisher:12} {row.gpu_count}x {row.gpu:16} {row.model:20} "
            f"{row.cache_gib:5.1f} GiB, misses {row.misses:8} {row.measured:5.2f} {predicted:5.2f}"
        )
    print(f"signs right: {right} of {len(known)}")
    return 0 if right == len(known) else 1


if __name__ == "__main__":
    sys.exit(main())
