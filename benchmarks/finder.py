"""Combinations per second of the finder: python -m benchmarks.finder [MODEL].

Every GPU of the catalogue in every count and every whole machine, at five contexts: for one model
in every runtime, placement, format of weights and cache; then for every curated model in every
placement of llama.cpp, in its usual format and in every format. On all cores, one process for each.

A combination counts when it is answered: refused, ruled out by an exact bound, too large, or with
speed, range and first token. How many were placed and timed is printed beside. Machines are stacked
and constants looked up before the clock starts, as every search after the first finds them.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from advisor.advice.finder.combinations import (
    SEARCHED,
    Combinations,
    RunSetup,
    cases,
    combinations,
    in_formats,
    joined,
    stack_of,
)
from advisor.advice.finder.runnable import curated_models
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.machine import from_spec
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.model.model import Model
from advisor.runtimes import LLAMA_CPP

CONTEXTS = (8192.0, 16_384.0, 32_768.0, 65_536.0, 131_072.0)
MIN_TPS = 10.0  # least speed of what is kept [tokens/s]
HOST = from_spec.machine(MachineSpec())


def main() -> None:
    """Print combinations, seconds and memory."""
    if len(sys.argv) > 1:
        name = sys.argv[1]
    else:
        name = "Llama-3.1-70B"
    as_a_user(name)
    model = resolve.find(name).model
    curated = curated_models()
    tasks = {
        f"{name}, every runtime, format and cache, five contexts": in_all(model, CONTEXTS),
        f"{name}, every runtime, format and cache, one context": in_all(model, CONTEXTS[:1]),
        **{
            f"{len(curated)} curated models, llama.cpp, usual format, {words} contexts": [
                setup
                for model in curated
                for setup in setups([model], contexts, [LLAMA_CPP], ["f16"])
            ]
            for words, contexts in (("three", CONTEXTS[:3]), ("five", CONTEXTS))
        },
        f"{len(curated)} curated models, llama.cpp, every format, five contexts": [
            setup
            for model in curated
            for setup in setups(list(in_formats(model)), CONTEXTS, [LLAMA_CPP], ["f16"])
        ],
    }
    warm(in_all(model, CONTEXTS))
    cores = os.cpu_count() or 1
    with ProcessPoolExecutor(cores) as pool:
        for label, wanted in tasks.items():
            start = time.perf_counter()
            rows, busy = spread(pool, wanted)
            taken = time.perf_counter() - start
            print(
                f"{label}: {rows.tried:,} combinations in {taken:.1f} s on {cores} cores "
                f"({busy:.1f} s of processor time), {rows.tried / taken:,.0f} a second; "
                f"{rows.costed:,} placed and timed, "
                f"{len(rows.decode):,} reach {MIN_TPS:g} tokens/s"
            )
        peak = sum(pool.map(_memory, range(cores)))
    print(f"Memory at most: {peak / 2**20:.2f} GiB in {cores} processes")


def as_a_user(name: str) -> None:
    """Time `find` from its start to its last line, with a process's first search in it."""
    command = [sys.executable, "-m", "advisor", "find", "--model", name, "--min-tps", "15"]
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    taken = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"find --model {name} --min-tps 15, start and output included: {taken:.1f} s "
        f"({used.ru_utime + used.ru_stime:.1f} s of processor time)"
    )


def in_all(model: Model, contexts: Sequence[float]) -> list[RunSetup]:
    """A model in every runtime, format of weights and format of the cache."""
    return setups(list(in_formats(model)), contexts, SEARCHED, ())


def setups(
    models: Sequence[Model],
    contexts: Sequence[float],
    runtimes: Iterable[Runtime],
    caches: Sequence[str],
) -> list[RunSetup]:
    """Setups of a model in its formats."""
    work = Workload(context=np.array(contexts))
    setup = RunSetup(work=work, caches=tuple(caches), min_tps=MIN_TPS, all_caches=False)
    return cases(setup, models, runtimes)


def warm(wanted: Sequence[RunSetup]) -> None:
    """Stack machines and look constants up; processes that are forked have both."""
    start = time.process_time()
    stack_of(HOST)
    combinations(HOST, wanted)
    taken = time.process_time() - start
    print(f"First search of a process: {taken:.1f} s of processor time on one core")


def spread(pool: ProcessPoolExecutor, wanted: Sequence[RunSetup]) -> tuple[Combinations, float]:
    """Setups given to whichever process is free, the largest first; with processor time [s]."""
    order = sorted(wanted, key=lambda setup: -setup.size)
    answers = list(pool.map(_answered, order))
    parts = [rows for rows, _ in answers]
    tried = sum(part.tried for part in parts)
    return joined(parts, tried), sum(seconds for _, seconds in answers)


def _answered(setup: RunSetup) -> tuple[Combinations, float]:
    start = time.process_time()
    return combinations(HOST, [setup]), time.process_time() - start


def _memory(_: int) -> int:
    """Largest memory of this process [KiB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
