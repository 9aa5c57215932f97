"""Threads that read RAM together.

Each thread takes the largest byte of its own buffer: numpy does that outside the interpreter's
lock, with vector instructions, at the rate of a compiled loop (benchmarks/ram_probe.py). A dot
product is unsuitable: its library starts threads of its own, even for "one thread".
"""

import os
from threading import Barrier, BrokenBarrierError, Thread
from typing import Self

import numpy as np

from advisor.errors import ProbeError
from advisor.probes import progress
from advisor.units import GIB


class Readers:
    """Threads that each fill a buffer, and then read it together on request.

    A page is placed on the memory node of the thread that fills it, so each thread fills its own.

    Args:
        threads: number of threads.
        size: size of each thread's buffer [B].
        cpus: logical processors to run on; None for all.
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
        started = progress.now()
        self._wait()
        return progress.now() - started

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
