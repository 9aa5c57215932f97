"""File reads that bypass or drop the page cache."""

import errno
import itertools
import mmap
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from advisor.failures import ProbeError
from advisor.probes import measurement
from advisor.probes.disk.test_file import DriveFile

CAN_EMPTY_CACHE = hasattr(os, "posix_fadvise")
SAMPLES = 256  # places of a file at which the page cache is looked for
HELD = 0.02  # share of them from which it matters

Open: TypeAlias = Callable[[], int]  # descriptor of a file, opened in some way
Window: TypeAlias = Callable[[int, int, float], float]
"""Rate [B/s] of one repeat: bytes of a block, threads, seconds."""


def way_past_cache(file: DriveFile) -> tuple[Open, str]:
    """Function that opens a file for reads from the drive itself, and a sentence on it."""
    if hasattr(os, "O_DIRECT"):
        direct = partial(os.open, file.path, os.O_RDONLY | os.O_DIRECT)
        if _reads(direct):
            return direct, "Direct reads (O_DIRECT)."
    if CAN_EMPTY_CACHE:
        how = "The file system refuses O_DIRECT: read through the page cache, emptied before."
        return buffered(file), how
    return lambda: _uncached_on_mac(file.path), "Uncached reads (F_NOCACHE)."


def buffered(file: DriveFile) -> Open:
    """Way to open a file for reads through the page cache."""
    return partial(os.open, file.path, os.O_RDONLY)


def blocks(file: DriveFile, open_file: Open) -> Window:
    """Threads that each read the next block; their number is the queue depth of the drive."""
    once_around = _around(file.size)

    def window(block: int, threads: int, seconds: float) -> float:
        forget(file)
        once = once_around(block)

        def work(until: float) -> int:
            with _reader(open_file, block) as read:
                return _read_until(until, once, read)

        return _rate(threads, seconds, work)

    return window


def mapped(file: DriveFile) -> Window:
    """Threads that each read every byte of the next block of a memory map without cached pages.

    The kernel is told that the file is read in sequence, for which it reads twice as far ahead, as
    llama.cpp tells it (src/llama-mmap.cpp at 0650ea8, read 2026-11-21).
    """
    once_around = _around(file.size)

    def window(block: int, threads: int, seconds: float) -> float:
        forget(file)
        pages = _mapping(file)
        once = once_around(block)

        def read(offset: int) -> int:
            pages[offset : offset + block].max()
            return block

        return _rate(threads, seconds, lambda until: _read_until(until, once, read))

    return window


def _mapping(file: DriveFile) -> npt.NDArray[np.uint8]:
    try:
        with file.path.open("rb") as opened:
            if CAN_EMPTY_CACHE:
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
            memory = mmap.mmap(opened.fileno(), file.size, access=mmap.ACCESS_READ)
    except OSError as error:
        raise ProbeError(
            f"The file cannot be mapped into memory ({error.strerror}); raise the limit of "
            "addresses (ulimit -v), or give a smaller file."
        ) from error
    return np.frombuffer(memory, dtype=np.uint8)


def forget(file: DriveFile) -> None:
    """Drop the file's pages from the page cache where the system allows it."""
    if CAN_EMPTY_CACHE:
        with file.path.open("rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def still_cached(file: DriveFile) -> float:
    """Share of the file that remains in the page cache after `forget`.

    Pages mapped by another program remain, such as those of a loaded model. 0 where the system or
    the file system does not report it.
    """
    if not hasattr(os, "RWF_NOWAIT"):
        return 0.0
    forget(file)
    step = max(mmap.PAGESIZE, file.size // SAMPLES // mmap.PAGESIZE * mmap.PAGESIZE)
    offsets = range(0, file.size - mmap.PAGESIZE + 1, step)
    with file.path.open("rb", buffering=0) as opened:
        # A read that finds nothing still begins to fetch; one page, then, and not all that follow.
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        held = sum(_in_memory(opened.fileno(), offset) for offset in offsets)
    return held / len(offsets)


def _in_memory(descriptor: int, offset: int) -> bool:
    """Whether a read succeeds without waiting for the drive."""
    try:
        return os.preadv(descriptor, [bytearray(1)], offset, os.RWF_NOWAIT) > 0
    except OSError:
        return False


def _around(size: int) -> Callable[[int], Iterator[int]]:
    """Offsets of blocks in a file, each at most once in a repeat, as a second read may come from
    memory; the next repeat goes on where the last one ended.

    Threads share the iterators: those of itertools take one step at a time, generators would not.
    """

    @cache
    def cycle(block: int) -> Iterator[int]:
        return itertools.cycle(range(0, size // block * block, block))

    return lambda block: itertools.islice(cycle(block), size // block)


def _uncached_on_mac(path: Path) -> int:
    import fcntl  # does not exist on Windows

    descriptor = os.open(path, os.O_RDONLY)
    fcntl.fcntl(descriptor, getattr(fcntl, "F_NOCACHE"), 1)  # noqa: B009 - absent on Linux
    return descriptor


def _reads(open_file: Open) -> bool:
    """Whether reads work; some file systems refuse O_DIRECT at opening, others only at reading."""
    try:
        with _reader(open_file, mmap.PAGESIZE) as read:
            return read(0) > 0
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOTSUP):
            return False
        raise ProbeError(f"The drive cannot be read ({error.strerror}).") from error


@contextmanager
def _reader(open_file: Open, block: int) -> Iterator[Callable[[int], int]]:
    """Function that reads the block at an offset into page-aligned memory, as O_DIRECT requires."""
    with os.fdopen(open_file(), "rb", buffering=0) as file, mmap.mmap(-1, block) as buffer:
        yield lambda offset: os.preadv(file.fileno(), [buffer], offset)


def _read_until(until: float, offsets: Iterator[int], read: Callable[[int], int]) -> int:
    """Read blocks until the time is up or each was read once, and return the bytes read [B]."""
    done = 0
    for offset in offsets:
        done += read(offset)
        if measurement.now() >= until:
            break
    return done


def _rate(threads: int, seconds: float, work: Callable[[float], int]) -> float:
    """Bytes of all threads over the time until the last thread finishes [B/s]."""
    started = measurement.now()
    try:
        with ThreadPoolExecutor(threads) as pool:
            done = sum(pool.map(work, [started + seconds] * threads))
    except RuntimeError as error:
        raise ProbeError(
            f"{threads} threads cannot be started ({error}); raise the limits of processes and "
            "addresses (ulimit -u, ulimit -v)."
        ) from error
    except OSError as error:
        option = {errno.EMFILE: "-n", errno.ENOMEM: "-v"}.get(error.errno or 0)
        if option is None:
            raise ProbeError(f"The drive stopped answering ({error.strerror}).") from error
        raise ProbeError(
            f"This process may not have what {threads} readers need ({error.strerror}); raise the "
            f"limit (ulimit {option})."
        ) from error
    return done / (measurement.now() - started)
