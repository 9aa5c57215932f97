"""Sustained rate at which threads read RAM, as decoding reads weights that lie there.

Each thread takes the largest byte of its own buffer: numpy does that outside the interpreter's
lock, with vector instructions, at the rate of a compiled loop (benchmarks/ram_probe.py). A dot
product would not do: its library starts threads of its own, so that "one thread" is all of them.
"""

import math
import time
from threading import Barrier, BrokenBarrierError, Thread
from types import TracebackType
from typing import Self

import numpy as np

from advisor.errors import ProbeError
from advisor.measurement import Measurement
from advisor.probes import host
from advisor.probes.repeats import Cancelled, Progress, Repeats, Watch, measurement
from advisor.units import GIB, MIB

CACHES = 8  # buffers, in last-level caches: what is left of the last pass is then an eighth
LEAST_BYTES = int(64 * MIB)
UNKNOWN_LLC = int(32 * MIB)
LEAST_REPEATS = 3
WINDOW = 0.1  # seconds of one repeat: long beside starting 100 threads through one lock


def measure(
    seconds: float = 3.0,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> tuple[Measurement, ...]:
    """Read RAM with 1, 2, 4 ... threads up to the usable cores.

    Args:
        seconds: time for it all; the largest thread count is measured in any case [s].
        progress: told the share done, 0 to 1.
        cancelled: asked between repeats.

    Returns:
        `ram_read` [B/s]: the median of the thread count whose median is highest; empty when
        cancelled.

    Raises:
        ProbeError: less memory is free than the smallest buffers need.
    """
    facts = host.facts()
    total = buffer_bytes(facts)
    counts = thread_counts(facts.cores)
    watch = Watch(progress=progress, cancelled=cancelled)
    deadline = time.perf_counter() + seconds
    curve: list[Repeats] = []
    for part, threads in enumerate(counts):
        left = deadline - time.perf_counter()
        if curve and left <= 0:
            break
        share = max(0.0, left) / (len(counts) - part)
        rates = _rates(threads, total, share, watch.stretch(part, len(counts)))
        if not rates:
            return ()
        curve.append(Repeats(threads=threads, rates=rates))
    watch.stop(1.0)
    note = f"Read {total / MIB:.0f} MiB of RAM, {sum(len(one.rates) for one in curve)} repeats."
    return (measurement("ram_read", curve, note),)


def thread_counts(cores: int) -> tuple[int, ...]:
    """Powers of two up to the cores, and the cores, most first.

    Most first: when time runs out, the counts that matter least are the ones left out.
    """
    powers = {2**power for power in range(cores.bit_length())}
    return tuple(sorted(powers | {cores}, reverse=True))


def buffer_bytes(facts: host.HostFacts) -> int:
    """Bytes all threads read together: past every cache, within a quarter of free memory [B].

    Raises:
        ProbeError: less than 256 MiB of memory is free.
    """
    most = facts.memory_available // 4
    if most < LEAST_BYTES:
        raise ProbeError(
            f"The memory probe needs {4 * LEAST_BYTES / MIB:.0f} MiB of free memory and "
            f"{facts.memory_available / MIB:.0f} MiB is free; close other programs and try again."
        )
    return min(most, max(LEAST_BYTES, CACHES * (facts.llc or UNKNOWN_LLC)))


def _rates(threads: int, total: int, seconds: float, watch: Watch) -> tuple[float, ...]:
    """Read rate of each repeat [B/s], some in any case; empty when stopped."""
    started = time.perf_counter()
    rates: list[float] = []
    with _Readers(threads, total // threads) as readers:
        passes = max(1, math.ceil(WINDOW / readers.seconds(passes=1)))
        while len(rates) < LEAST_REPEATS or time.perf_counter() < started + seconds:
            if watch.stop((time.perf_counter() - started) / seconds if seconds else 0.0):
                return ()
            rates.append(readers.bytes_per_pass * passes / readers.seconds(passes))
    return tuple(rates)


class _Readers:
    """Threads that each fill a buffer and then read it whenever all are told to.

    Who fills a page decides the socket it lies on, so each thread fills what it reads.
    """

    def __init__(self, threads: int, size: int) -> None:
        self.bytes_per_pass = threads * size
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._gate.abort()
        for thread in self._threads:
            thread.join()

    def seconds(self, passes: int) -> float:
        """Let every thread read its buffer so many times; until the last has done [s]."""
        self._passes = passes
        self._wait()
        started = time.perf_counter()
        self._wait()
        return time.perf_counter() - started

    def _wait(self) -> None:
        try:
            self._gate.wait()
        except BrokenBarrierError:
            raise ProbeError(
                f"No memory for buffers of {self.bytes_per_pass / GIB:.2f} GiB; close other "
                "programs and try again."
            ) from None

    def _work(self, size: int) -> None:
        try:
            buffer = np.full(size, 1, dtype=np.uint8)
            self._gate.wait()
            while True:
                self._gate.wait()
                for _ in range(self._passes):
                    buffer.max()
                self._gate.wait()
        except MemoryError:
            self._gate.abort()
        except BrokenBarrierError:
            return
