"""Sequential read rate of a drive past the page cache, and through a cold memory map.

Direct reads are what loaders with their own queues reach; a cold map is what llama.cpp does
when a model is larger than RAM: the kernel reads on each page fault and guesses what comes next.
"""

import errno
import itertools
import mmap
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from advisor.errors import ProbeError
from advisor.folders import data_folder
from advisor.measurement import Measurement
from advisor.probes.drive_file import BLOCK, DriveFile, existing, refuse_memory, temporary
from advisor.probes.repeats import Cancelled, Progress, Repeats, Watch, measurement
from advisor.probes.system import operating_system
from advisor.units import GIB

FILE_BYTES = int(2 * GIB)
DIRECT_THREADS: tuple[int, ...] = (1, 4, 8)
MAPPED_THREADS: tuple[int, ...] = (1, 4)
LEAST_REPEATS = 3
WINDOW = 0.5  # longest repeat [s]; cancelling waits for the one that runs
CAN_EMPTY_CACHE = hasattr(os, "posix_fadvise")
WRITING = 0.4  # share of the progress bar that writing the file takes

Window: TypeAlias = Callable[[int, float], float]
"""Rate [B/s] of one repeat with so many threads for so many seconds."""


def measure(
    seconds: float = 3.0,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
    *,
    path: Path | None = None,
    file_bytes: int = FILE_BYTES,
) -> tuple[Measurement, ...]:
    """Read a drive directly and through a cold memory map.

    Args:
        seconds: time for reading; writing the test file takes up to three times that more [s].
        progress: told the share done, 0 to 1.
        cancelled: asked between repeats.
        path: a file, which is only read, or a folder, in which a test file lives meanwhile; the
            program's data folder where none is given.
        file_bytes: size of that test file, at most a quarter of the free space [B].

    Returns:
        `disk_read_direct` and, where the page cache can be emptied of a file, `disk_read_mmap`
        [B/s]; empty when cancelled.

    Raises:
        ProbeError: the path lies in memory, cannot be read or written, or has too little room;
            or the system is Windows.
    """
    if operating_system() == "win32":
        raise ProbeError(
            "On Windows this probe knows no way past the page cache and would measure memory; "
            "give the drive's sequential read rate by hand."
        )
    place = path or _default_folder()
    refuse_memory(place)
    watch = Watch(progress=progress, cancelled=cancelled)
    if place.is_file():
        return _measured(existing(place), seconds, watch)
    writing, reading = replace(watch, end=WRITING), replace(watch, start=WRITING)
    with temporary(place, file_bytes, 3 * seconds, writing.stop) as file:
        return _measured(file, seconds, reading) if file is not None else ()


def _default_folder() -> Path:
    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ProbeError(
            f"{folder} cannot be made ({error.strerror}); give a folder or a model file to read."
        ) from None
    return folder


def _measured(file: DriveFile, seconds: float, watch: Watch) -> tuple[Measurement, ...]:
    opened, how = _way_past_cache(file)
    plans = [("disk_read_direct", how, _direct(file, opened), DIRECT_THREADS)]
    if CAN_EMPTY_CACHE:
        plans.append(("disk_read_mmap", "Cold map.", _mapped(file), MAPPED_THREADS))
    share = seconds / sum(len(counts) for *_, counts in plans)
    found = []
    for part, (name, note, window, counts) in enumerate(plans):
        curve = _curve(window, counts, share, watch.stretch(part, len(plans)))
        if not curve:
            return ()
        found.append(measurement(name, curve, f"{file.note} {note}"))
    watch.stop(1.0)
    return tuple(found)


def _curve(window: Window, counts: tuple[int, ...], seconds: float, watch: Watch) -> list[Repeats]:
    """Repeats of each thread count, so many seconds each; empty when stopped."""
    repeats = max(LEAST_REPEATS, round(seconds / WINDOW))
    curve = []
    for part, threads in enumerate(counts):
        rates = []
        for repeat in range(repeats):
            if watch.stretch(part, len(counts)).stop(repeat / repeats):
                return []
            rates.append(window(threads, seconds / repeats))
        curve.append(Repeats(threads=threads, rates=tuple(rates)))
    return curve


def _way_past_cache(file: DriveFile) -> tuple[Callable[[], int], str]:
    """How to open a file so that reads come from the drive, and the sentence that says so."""
    if hasattr(os, "O_DIRECT"):

        def direct() -> int:
            return os.open(file.path, os.O_RDONLY | os.O_DIRECT)

        if _reads(direct):
            return direct, "Direct reads (O_DIRECT)."
    if CAN_EMPTY_CACHE:
        return (
            lambda: os.open(file.path, os.O_RDONLY),
            "The file system refuses O_DIRECT: read through the page cache, emptied before.",
        )
    return lambda: _uncached_on_mac(file.path), "Uncached reads (F_NOCACHE)."


def _uncached_on_mac(path: Path) -> int:
    import fcntl  # does not exist on Windows

    descriptor = os.open(path, os.O_RDONLY)
    fcntl.fcntl(descriptor, getattr(fcntl, "F_NOCACHE"), 1)  # noqa: B009 - absent on Linux
    return descriptor


def _reads(open_file: Callable[[], int]) -> bool:
    """Some file systems refuse O_DIRECT on opening, others only on reading."""
    try:
        with _blocks(open_file) as read:
            return read(0) > 0
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOTSUP):
            return False
        raise ProbeError(f"The drive cannot be read ({error.strerror}).") from error


@contextmanager
def _blocks(open_file: Callable[[], int]) -> Iterator[Callable[[int], int]]:
    """Reading of the block at an offset into memory aligned to pages, as O_DIRECT wants it."""
    with os.fdopen(open_file(), "rb", buffering=0) as file, mmap.mmap(-1, BLOCK) as buffer:
        yield lambda offset: os.preadv(file.fileno(), [buffer], offset)


def _direct(file: DriveFile, open_file: Callable[[], int]) -> Window:
    """Threads that each take the next block, as deep a queue at the drive as there are threads."""
    around = itertools.cycle(range(0, file.size, BLOCK))

    def window(threads: int, seconds: float) -> float:
        _forget(file)
        once = itertools.islice(around, file.size // BLOCK)

        def work(until: float) -> int:
            with _blocks(open_file) as read:
                return _read_until(until, once, read)

        return _rate(threads, seconds, work)

    return window


def _mapped(file: DriveFile) -> Window:
    """Threads that each read every byte of the next block of a map whose pages were dropped."""
    around = itertools.cycle(range(0, file.size, BLOCK))

    def window(threads: int, seconds: float) -> float:
        _forget(file)
        with file.path.open("rb") as opened:
            memory = mmap.mmap(opened.fileno(), file.size, access=mmap.ACCESS_READ)
        pages = np.frombuffer(memory, dtype=np.uint8)
        once = itertools.islice(around, file.size // BLOCK)

        def read(offset: int) -> int:
            pages[offset : offset + BLOCK].max()
            return BLOCK

        return _rate(threads, seconds, lambda until: _read_until(until, once, read))

    return window


def _read_until(until: float, offsets: Iterator[int], read: Callable[[int], int]) -> int:
    """Take blocks until the time is up or each was read once: again may come from memory [B]."""
    done = 0
    for offset in offsets:
        done += read(offset)
        if time.perf_counter() >= until:
            break
    return done


def _rate(threads: int, seconds: float, work: Callable[[float], int]) -> float:
    """Bytes of all threads over the time until the last of them is done [B/s]."""
    started = time.perf_counter()
    try:
        with ThreadPoolExecutor(threads) as pool:
            done = sum(pool.map(work, [started + seconds] * threads))
    except OSError as error:
        raise ProbeError(f"The drive stopped answering ({error.strerror}).") from error
    return done / (time.perf_counter() - started)


def _forget(file: DriveFile) -> None:
    """Drop the file's pages from the page cache where the system allows it."""
    if CAN_EMPTY_CACHE:
        with file.path.open("rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
