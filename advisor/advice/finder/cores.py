"""Combinations of the finder computed on all cores, with the same results.

Processes are forked, so that they share what the first one has read and stacked. Where a process
cannot be forked safely (Windows, macOS, beside other threads), one computes all.
"""

import multiprocessing
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import groupby

from advisor.advice.finder.candidates import fleet_of
from advisor.advice.finder.combinations import Combinations, RunSetup, combinations, joined
from advisor.machine.machine import Machine


def on_cores(host: Machine, wanted: Sequence[RunSetup]) -> Combinations:
    """Combinations that are fast enough, as `combinations` has them.

    A runtime is computed by one process, so that no constant is looked up twice.
    """
    tasks = [list(setups) for _, setups in groupby(wanted, key=lambda setup: setup.runtime)]
    workers = min(os.cpu_count() or 1, len(tasks))
    if workers < 2 or not _forks():
        return combinations(host, wanted)
    fleet_of(host)
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork")) as pool:
        parts = list(pool.map(partial(combinations, host), tasks))
    return joined(parts, sum(part.tried for part in parts))


def _forks() -> bool:
    """Whether this process can be forked safely."""
    return sys.platform == "linux" and threading.active_count() == 1
