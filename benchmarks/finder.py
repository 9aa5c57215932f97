"""Combinations per second of the finder: python -m benchmarks.finder [MODEL].

Every GPU of the catalogue in every count and every whole machine, in every runtime, placement,
format of weights and cache, at five contexts; on all cores, one process for each. What counts is
a combination that was answered: refused, too large, or with speed, range and first token.
"""

import os
import resource
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np

from advisor.advice.finder.candidates import fleet_of
from advisor.advice.finder.combinations import Combinations, RunSetup, cases, combinations, joined
from advisor.advice.finder.formats import in_formats
from advisor.cost_model.workload import Workload
from advisor.machine import from_spec
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.runtimes import RUNTIMES

CONTEXTS = (8192.0, 16_384.0, 32_768.0, 65_536.0, 131_072.0)
MIN_TPS = 10.0
"""Least speed of what is kept [tokens/s]."""


def main() -> None:
    """Print combinations, seconds and memory."""
    name = sys.argv[1] if len(sys.argv) > 1 else "Llama-3.1-70B"
    host = from_spec.machine(MachineSpec())
    models = list(in_formats(resolve.find(name).model))
    work = Workload()
    wanted = cases(models, work, RUNTIMES, (), MIN_TPS, all_caches=False)
    deep = [replace(case, work=replace(case.work, context=np.array(CONTEXTS))) for case in wanted]
    cores = os.cpu_count() or 1
    with ProcessPoolExecutor(cores) as pool:
        list(pool.map(_warm, [host] * cores))
        for label, asked in ((f"{len(CONTEXTS)} contexts", deep), ("one context", wanted)):
            start = time.perf_counter()
            rows = _spread(pool, host, asked, cores)
            taken = time.perf_counter() - start
            print(
                f"{name}, {label}: {rows.tried:,} combinations in {taken:.1f} s on {cores} cores, "
                f"{rows.tried / taken:,.0f} a second; {len(rows.decode):,} reach {MIN_TPS:g} "
                "tokens/s"
            )
        peak = sum(pool.map(_memory, range(cores)))
    print(f"Memory at most: {peak / 2**20:.2f} GiB in {cores} processes")


def _warm(host: Machine) -> int:
    """Stack the machines, as every search after the first finds them."""
    return len(fleet_of(host)[0])


def _spread(
    pool: ProcessPoolExecutor, host: Machine, wanted: Sequence[RunSetup], cores: int
) -> Combinations:
    """Every so many-th case to each process."""
    parts = list(
        pool.map(
            combinations, [host] * 4 * cores, [wanted[at :: 4 * cores] for at in range(4 * cores)]
        )
    )
    return joined(parts, sum(part.tried for part in parts))


def _memory(_: int) -> int:
    """Largest memory of this process [KiB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
