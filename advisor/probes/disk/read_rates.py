"""Read rate of a drive: past the page cache, through it, and through a cold memory map.

Direct reads are what loaders with their own queues reach. A cold map is the case of llama.cpp with
a model larger than RAM: the kernel reads at each page fault and guesses what comes next.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TypeAlias

from advisor.failures import ProbeError
from advisor.probes import host
from advisor.probes.disk import direct_reads
from advisor.probes.disk.direct_reads import Window
from advisor.probes.disk.test_file import DriveFile, default_folder, existing, look_at, temporary
from advisor.probes.host import operating_system
from advisor.probes.measurement import (
    LEAST_REPEATS,
    Cancelled,
    Measurement,
    Progress,
    Series,
    Watch,
    measured,
    now,
    setting,
)
from advisor.units import GIB, KIB, MIB

Grid: TypeAlias = tuple[tuple[int, int], ...]
"""Block sizes [B] and thread counts, those that matter most first."""
FILE_BYTES = int(2 * GIB)
LARGE = int(4 * MIB)
MIDDLE = int(1 * MIB)
SMALL = int(256 * KIB)
DIRECT: Grid = (
    *((LARGE, 4), (LARGE, 16), (LARGE, 1), (SMALL, 16), (SMALL, 1)),
    *((MIDDLE, 4), (MIDDLE, 16), (SMALL, 4), (MIDDLE, 1)),
)
"""Block sizes and queue depths of direct reads, those that matter most first."""
THROUGH_CACHE: Grid = ((LARGE, 4), (LARGE, 1))
CHUNK = SMALL
"""What a thread takes of a map at a time [B], as threads of llama.cpp take 64 rows of a matrix in
turns, some hundred KiB."""
# seconds of one repeat; cancelling waits for the one that runs
SHORTEST = 0.2
LONGEST = 0.5
MEMORY_SHARE = 1 / 4  # of free memory, for blocks that wait at once
WRITING = 0.4  # most of the time that writing the file may take


def measure(
    seconds: float = 8.0,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
    *,
    path: Path | None = None,
    file_bytes: int = FILE_BYTES,
) -> tuple[Measurement, ...]:
    """Rates of reads from the drive: `disk_read_direct`, `disk_read_mmap` and `disk_read_buffered`
    [B/s].

    They are rates of direct reads, of a cold memory map, and through the cold page cache; the last
    two only where a file's page cache can be emptied.

    `path` is the file to read, or the folder for a test file of `file_bytes`, at most a quarter of
    the free space; writing it counts into the seconds. Empty when cancelled.
    """
    if operating_system() == "win32":
        raise ProbeError(
            "On Windows this probe knows no way past the page cache and would measure memory; "
            "give the drive's sequential read rate by hand."
        )
    target = path or default_folder()
    look_at(target)
    watch = Watch(progress=progress, cancelled=cancelled, seconds=seconds)
    if target.is_file():
        return measured(_series(existing(target), seconds), seconds, watch)
    writing = watch.between(0.0, WRITING, "writing a test file")
    with temporary(target, file_bytes, WRITING * seconds, writing.stop) as file:
        if file is None:
            return ()
        left = max(seconds - (now() - watch.began), seconds / 2)
        return measured(_series(file, left), left, watch.between(WRITING, 1.0))


def looking_ahead(path: Path | None = None) -> tuple[Measurement, ...]:
    """Measurement `disk_read_ahead`, the kernel's setting for mapped files [B]; empty where
    unknown.
    """
    window = host.read_ahead(path or default_folder())
    note = "As the operating system has it set (read_ahead_kb)."
    if window:
        return (setting("disk_read_ahead", window, "B", note),)
    return ()


def _series(file: DriveFile, seconds: float) -> Iterator[Series]:
    """Ways to read, each with the points that free memory and the time allow."""
    opened, how = direct_reads.way_past_cache(file)
    cold = direct_reads.CAN_EMPTY_CACHE

    def series(name: str, how: str, share: float, grid: Grid, window: Window, doing: str) -> Series:
        points = _bearable(grid)[: max(1, int(seconds * share / (LEAST_REPEATS * SHORTEST)))]
        note = f"{file.note} {how}"
        reader = partial(_reading, window)
        return Series(name, note, share, points, reader, f"{doing}, {{block}} x {{threads}}")

    direct = direct_reads.blocks(file, opened)
    share = 0.55 if cold else 1.0
    yield series("disk_read_direct", how, share, DIRECT, direct, "direct reads")
    if cold:
        held = _cache_warning(file)
        chunks = ((CHUNK, host.facts().cores),)
        mapped = direct_reads.mapped(file)
        doing = "page faults of a cold map"
        yield series("disk_read_mmap", f"Cold map.{held}", 0.25, chunks, mapped, doing)
        buffered = direct_reads.blocks(file, direct_reads.buffered(file))
        how = f"Read through the page cache, emptied before.{held}"
        yield series("disk_read_buffered", how, 0.2, THROUGH_CACHE, buffered, "buffered reads")


def _reading(
    window: Window, block: int, threads: int, seconds: float
) -> AbstractContextManager[Callable[[], float]]:
    """Reader of a point, of whose repeats at least three fit into the seconds."""
    return nullcontext(partial(window, block, threads, min(seconds / LEAST_REPEATS, LONGEST)))


def _cache_warning(file: DriveFile) -> str:
    """Warning where the page cache keeps a part of the file; empty where it keeps none."""
    share = direct_reads.still_cached(file)
    if share <= direct_reads.HELD:
        return ""
    return (
        f" {share:.0%} of the file stayed in memory, held by another program, and was read from "
        "there: close it, or give another file."
    )


def _bearable(grid: Grid) -> Grid:
    """Points whose blocks fit into a share of free memory; always the smallest."""
    most = host.facts().memory_available * MEMORY_SHARE
    fitting = tuple(point for point in grid if math.prod(point) <= most)
    return fitting or (min(grid, key=math.prod),)
