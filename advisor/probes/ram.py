"""Sustained rate at which threads read RAM, as decoding reads weights."""

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Barrier, BrokenBarrierError, Thread
from typing import Self

import numpy as np

from advisor.errors import ProbeError
from advisor.probes import host
from advisor.probes import measurement as clock
from advisor.probes.measurement import (
    Cancelled,
    Measurement,
    Progress,
    Repeats,
    Watch,
    measurement,
    repeated,
)
from advisor.units import GIB, MIB

# Threads that read RAM together.
#
# Each thread takes the largest byte of its own buffer: numpy does that outside the interpreter's
# lock, with vector instructions, at the rate of a compiled loop (benchmarks/probes.py). A dot
# product is unsuitable: its library starts threads of its own, even for "one thread".


class Readers:
    """Threads that each fill a buffer, and then read it together on request.

    A page is placed on the memory node of the thread that fills it, so each thread fills its own.
    """

    def __init__(self, threads: int, size: int, cpus: frozenset[int] | None = None) -> None:
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
        started = clock.now()
        self._wait()
        return clock.now() - started

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


@dataclass(frozen=True, kw_only=True)
class _Series:
    """Thread counts to measure for one rate."""

    name: str  # as `Measurement.name`
    threads: tuple[int, ...]  # thread counts, most important first
    cpus: frozenset[int] | None = None  # logical processors to run on; None for all
    what: str = "RAM"  # what is read, in words


def measure(
    seconds: float = 3.0, progress: Progress | None = None, cancelled: Cancelled | None = None
) -> tuple[Measurement, ...]:
    """`ram_read` [B/s]: highest median over 1, 2, 4 ... threads up to all cores. On a machine with
    several memory nodes also `ram_read_node0`, ...: each node's cores reading its own memory.

    The largest thread count is always measured. Empty when cancelled.
    """
    facts = host.facts()
    total = buffer_bytes(facts)
    watch = Watch(progress=progress, cancelled=cancelled, seconds=seconds)
    measurements: list[Measurement] = []
    for series, low, high in _shared_out(facts.cores):
        part = watch.between(low, high)
        curve = _curve(series, total, (high - low) * seconds, part)
        if not curve:
            return ()
        measurements.append(measurement(series.name, curve, _note(series, curve, total, facts)))
    watch.stop(1.0)
    return tuple(measurements)


def thread_counts(cores: int) -> tuple[int, ...]:
    """Powers of two up to the cores, and the cores, in falling order.

    When time runs out, the least important counts are thus left out.
    """
    powers = {2**power for power in range(cores.bit_length())}
    return tuple(sorted(powers | {cores}, reverse=True))


def buffer_bytes(facts: host.HostFacts, share: float = 1 / 4) -> int:
    """Size of all threads' buffers, larger than every cache, within a share of free memory, which
    has to be 64 MiB [B].
    """
    most = int(facts.memory_available * share)
    if most < LEAST_BYTES:
        raise ProbeError(
            f"The memory probe needs {LEAST_BYTES / share / MIB:.0f} MiB of free memory and "
            f"{facts.memory_available / MIB:.0f} MiB is free; close other programs and try again."
        )
    return min(most, max(LEAST_BYTES, CACHES * (facts.llc or UNKNOWN_LLC)))


def _shared_out(cores: int) -> Iterator[tuple[_Series, float, float]]:
    """Series to measure, each with the start and end of its share of the time."""
    nodes = host.nodes()
    together = _Series(name="ram_read", threads=thread_counts(cores))
    if len(nodes) < 2:
        yield together, 0.0, 1.0
        return
    yield together, 0.0, TOGETHER
    step = (1.0 - TOGETHER) / len(nodes)
    for number, node in enumerate(nodes):
        alone = _Series(
            name=f"ram_read_node{number}",
            threads=(node.cores,),
            cpus=node.cpus,
            what=f"memory node {number} by its own cores",
        )
        yield alone, TOGETHER + number * step, TOGETHER + (number + 1) * step


def _curve(series: _Series, total: int, seconds: float, watch: Watch) -> list[Repeats]:
    """Repeats of each thread count, at least of the first; empty when stopped."""
    deadline = clock.now() + seconds
    curve: list[Repeats] = []
    for part, threads in enumerate(series.threads):
        left = deadline - clock.now()
        if curve and left <= 0:
            break
        share = max(0.0, left) / (len(series.threads) - part)
        doing = f"{series.what}, {threads} thread{'s' if threads > 1 else ''}"
        with Readers(threads, total // threads, series.cpus) as readers:
            passes = max(1, math.ceil(WINDOW / readers.seconds(passes=1)))

            def rate(readers: Readers = readers, passes: int = passes) -> float:
                return readers.bytes_per_pass * passes / readers.seconds(passes)

            speeds = repeated(rate, share, watch.stretch(part, len(series.threads), doing))
        if not speeds:
            return []
        curve.append(Repeats(threads=threads, rates=speeds))
    return curve


def _note(series: _Series, curve: list[Repeats], total: int, facts: host.HostFacts) -> str:
    repeats = sum(len(point.rates) for point in curve)
    note = f"Read {total / MIB:.0f} MiB of {series.what}, {repeats} repeats."
    if facts.llc and total < CACHES * facts.llc:
        note += (
            f" Only {facts.memory_available / GIB:.1f} GiB were free: the buffers are "
            f"{total / facts.llc:.1f} times the caches, which may have served a part."
        )
    return note
