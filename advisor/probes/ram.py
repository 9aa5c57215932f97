"""Sustained rate at which threads read RAM, as decoding reads weights."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Barrier, BrokenBarrierError, Thread
from typing import Self, TypeAlias

import numpy as np

from advisor.failures import ProbeError
from advisor.probes import host
from advisor.probes.measurement import (
    Cancelled,
    Measurement,
    Progress,
    Series,
    Watch,
    measured,
    now,
    within_free,
)
from advisor.units import GIB, MIB

Cpus: TypeAlias = frozenset[int] | None  # logical processors to run on; None for all

# Threads that read RAM together.
#
# Each thread takes the largest byte of its own buffer: numpy does that outside the interpreter's
# lock, with vector instructions, at the rate of a compiled loop (benchmarks/probes.py). A dot
# product is unsuitable: its library starts threads of its own, even for "one thread".


class Readers:
    """Threads that each fill a buffer, on their memory node, and read it together."""

    def __init__(self, threads: int, size: int, cpus: Cpus = None) -> None:
        self.bytes_per_pass = threads * size
        self._cpus = cpus
        self._passes = 0
        self._gate = Barrier(threads + 1)
        self._threads = [
            Thread(target=self._work, args=(size,), daemon=True) for _ in range(threads)
        ]

    def __enter__(self) -> Self:
        try:
            for thread in self._threads:
                thread.start()
        except RuntimeError as error:
            self._gate.abort()
            raise ProbeError(
                f"{len(self._threads)} threads cannot be started ({error}); raise the limit of "
                "processes (ulimit -u) or of the container."
            ) from error
        self._wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._gate.abort()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def seconds(self, passes: int) -> float:
        """Time until every thread has read its buffer `passes` times [s]."""
        self._passes = passes
        self._wait()
        started = now()
        self._wait()
        return now() - started

    def _wait(self) -> None:
        try:
            self._gate.wait()
        except BrokenBarrierError:
            raise ProbeError(
                f"No memory for buffers of {self.bytes_per_pass / GIB:.2f} GB; close other "
                "programs and try again."
            ) from None

    def _work(self, size: int) -> None:
        try:
            if self._cpus is not None:
                os.sched_setaffinity(0, self._cpus)  # of this thread alone
            buffer = np.full(size, 1, dtype=np.uint8)
            self._gate.wait()
            while True:
                self._gate.wait()
                for _ in range(self._passes):
                    buffer.max()
                self._gate.wait()
        except (MemoryError, OSError):
            self._gate.abort()
        except BrokenBarrierError:
            return


CACHES = 8  # buffers, in last-level caches: what is left of the last pass is then an eighth
LEAST_BYTES = int(64 * MIB)
UNKNOWN_LLC = int(32 * MIB)
WINDOW = 0.1  # seconds of one repeat: long beside starting 100 threads through one lock
TOGETHER = 0.6  # share of the time for all nodes at once, where there are several


def measure(
    seconds: float = 3.0, progress: Progress | None = None, cancelled: Cancelled | None = None
) -> tuple[Measurement, ...]:
    """Rate of RAM reads, `ram_read`: highest median over 1, 2, 4 ... threads up to all cores [B/s].

    A machine with several memory nodes also has `ram_read_node0`, ...: each node's cores read its
    own memory.

    The largest thread count is always measured. Empty when cancelled.
    """
    facts = host.facts()
    nodes = host.nodes()
    total = buffer_bytes(facts)
    several = len(nodes) > 1

    def series(name: str, what: str, share: float, counts: Sequence[int], cpus: Cpus) -> Series:
        return Series(
            name=name,
            note=f"Read {total / MIB:.0f} MB of {what}.{_cached(total, facts)}",
            share=share,
            points=[(0, count) for count in counts],
            reader=partial(_reading, total, cpus),
            doing=f"{what}, threads: {{threads}}",
        )

    together = TOGETHER if several else 1.0
    read = [series("ram_read", "RAM", together, thread_counts(facts.cores), None)]
    for number, node in enumerate(nodes if several else ()):
        words = f"memory node {number} by its own cores"
        share = (1.0 - TOGETHER) / len(nodes)
        read += [series(f"ram_read_node{number}", words, share, (node.cores,), node.cpus)]
    return measured(read, seconds, Watch(progress=progress, cancelled=cancelled, seconds=seconds))


def thread_counts(cores: int) -> tuple[int, ...]:
    """Numbers of threads, falling: all cores, then powers of two; when time runs out, the last are
    left out.
    """
    powers = {2**power for power in range(cores.bit_length())}
    return tuple(sorted(powers | {cores}, reverse=True))


def buffer_bytes(facts: host.HostFacts, share: float = 1 / 4) -> int:
    """Size of all threads' buffers, larger than every cache, within a share of free memory [B]."""
    needed = "The memory probe needs"
    wanted = CACHES * (facts.llc or UNKNOWN_LLC)
    free = facts.memory_available
    return within_free(needed, free, share, LEAST_BYTES, max(LEAST_BYTES, wanted))


@contextmanager
def _reading(
    total: int, cpus: Cpus, _block: int, threads: int, _seconds: float
) -> Iterator[Callable[[], float]]:
    """Rate at which threads read buffers of a size together [B/s]."""
    with Readers(threads, total // threads, cpus) as readers:
        passes = max(1, math.ceil(WINDOW / readers.seconds(passes=1)))
        yield lambda: readers.bytes_per_pass * passes / readers.seconds(passes)


def _cached(total: int, facts: host.HostFacts) -> str:
    """Warning on buffers that caches may have served; empty without any."""
    if not facts.llc or total >= CACHES * facts.llc:
        return ""
    return (
        f" Only {facts.memory_available / GIB:.1f} GB were free: the buffers are "
        f"{total / facts.llc:.1f} times the caches, which may have served a part."
    )
