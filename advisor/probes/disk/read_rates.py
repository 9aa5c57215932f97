"""Read rate of a drive: past the page cache, through it, and through a cold memory map.

Direct reads are what loaders with their own queues reach. A cold map is the case of llama.cpp with
a model larger than RAM: the kernel reads at each page fault and guesses what comes next.
"""

import math
from dataclasses import dataclass
from pathlib import Path

from advisor.errors import ProbeError
from advisor.probes import host
from advisor.probes import measurement as clock
from advisor.probes.disk import direct_reads
from advisor.probes.disk.direct_reads import Window
from advisor.probes.disk.test_file import DriveFile, default_folder, existing, look_at, temporary
from advisor.probes.host import operating_system, read_ahead
from advisor.probes.measurement import (
    LEAST_REPEATS,
    Cancelled,
    Measurement,
    Progress,
    Repeats,
    Watch,
    measurement,
    moment,
    size,
    with_troubles,
)
from advisor.units import GIB, KIB, MIB

FILE_BYTES = int(2 * GIB)
LARGE, MIDDLE, SMALL = int(4 * MIB), int(1 * MIB), int(256 * KIB)
DIRECT: tuple[tuple[int, int], ...] = (
    *((LARGE, 4), (LARGE, 16), (LARGE, 1), (SMALL, 16), (SMALL, 1)),
    *((MIDDLE, 4), (MIDDLE, 16), (SMALL, 4), (MIDDLE, 1)),
)
"""Block sizes and queue depths of direct reads, those that matter most first."""
THROUGH_CACHE: tuple[tuple[int, int], ...] = ((LARGE, 4), (LARGE, 1))
CHUNK = SMALL
"""What a thread takes of a map at a time [B], as threads of llama.cpp take 64 rows of a matrix in
turns, some hundred KiB."""
SHORTEST, LONGEST = 0.2, 0.5  # seconds of one repeat; cancelling waits for the one that runs
MEMORY_SHARE = 1 / 4  # of free memory, for blocks that wait at once
WRITING = 0.4  # most of the time that writing the file may take


@dataclass(frozen=True, kw_only=True)
class _Way:
    """One way to read, with its share of the time."""

    name: str  # as `Measurement.name`
    note: str  # description of the way
    window: Window  # function that reads once
    grid: tuple[tuple[int, int], ...]  # block sizes and thread counts, most important first
    share: float  # share of the reading time
    doing: str  # description for the progress bar


def measure(
    seconds: float = 8.0,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
    *,
    path: Path | None = None,
    file_bytes: int = FILE_BYTES,
) -> tuple[Measurement, ...]:
    """`disk_read_direct` and, where the page cache can be emptied of a file, `disk_read_mmap` and
    `disk_read_buffered` [B/s]: rates of direct reads, of a cold memory map, and through the cold
    page cache.

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
        return _measured(existing(target), seconds, watch)
    writing = watch.between(0.0, WRITING, "writing a test file")
    with temporary(target, file_bytes, WRITING * seconds, writing.stop) as file:
        if file is None:
            return ()
        left = seconds - (clock.now() - watch.began)
        return _measured(file, max(left, seconds / 2), watch.between(WRITING, 1.0))


def looking_ahead(path: Path | None = None) -> tuple[Measurement, ...]:
    """`disk_read_ahead`: read-ahead window of the kernel for a mapped file on the drive [B].

    A setting of the drive, read from the system; empty where unknown.
    """
    window = read_ahead(path or default_folder())
    if not window:
        return ()
    note = "As the operating system has it set (read_ahead_kb)."
    return (
        Measurement(
            name="disk_read_ahead", value=float(window), unit="B", spread=0.0, threads=1,
            when=moment(), note=note,
        ),
    )  # fmt: skip


def _measured(file: DriveFile, seconds: float, watch: Watch) -> tuple[Measurement, ...]:
    """Measurements of every way that this machine allows, and problems; empty when stopped."""
    measurements: list[Measurement] = []
    troubles: list[str] = []
    before = 0.0
    for way in _ways(file):
        part = watch.between(before, before + way.share)
        before += way.share
        try:
            curve = _curve(way, seconds * way.share, part)
        except ProbeError as error:
            troubles.append(str(error))
            continue
        if not curve:
            return ()
        measurements.append(measurement(way.name, curve, f"{file.note} {way.note}"))
    watch.stop(1.0)
    return with_troubles(measurements, troubles)


def _ways(file: DriveFile) -> tuple[_Way, ...]:
    opened, how = direct_reads.way_past_cache(file)
    direct = _Way(
        name="disk_read_direct",
        note=how,
        window=direct_reads.blocks(file, opened),
        grid=DIRECT,
        share=0.55 if direct_reads.CAN_EMPTY_CACHE else 1.0,
        doing="direct reads",
    )
    if not direct_reads.CAN_EMPTY_CACHE:
        return (direct,)
    held = _held(file)
    mapped = _Way(
        name="disk_read_mmap",
        note=f"Cold map.{held}",
        window=direct_reads.mapped(file),
        grid=((CHUNK, host.facts().cores),),
        share=0.25,
        doing="page faults of a cold map",
    )
    buffered = _Way(
        name="disk_read_buffered",
        note=f"Read through the page cache, emptied before.{held}",
        window=direct_reads.blocks(file, direct_reads.buffered(file)),
        grid=THROUGH_CACHE,
        share=0.2,
        doing="buffered reads",
    )
    return direct, mapped, buffered


def _held(file: DriveFile) -> str:
    """Warning where the page cache keeps a part of the file; else empty."""
    share = direct_reads.still_cached(file)
    if share <= direct_reads.HELD:
        return ""
    return (
        f" {share:.0%} of the file stayed in memory, held by another program, and was read from "
        "there: close it, or give another file."
    )


def _bearable(grid: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Points whose blocks fit into a share of free memory; always the smallest."""
    most = host.facts().memory_available * MEMORY_SHARE
    fitting = tuple(point for point in grid if math.prod(point) <= most)
    return fitting or (min(grid, key=math.prod),)


def _curve(way: _Way, seconds: float, watch: Watch) -> list[Repeats]:
    """Repeats at as many points of the grid as the time allows; empty when stopped."""
    deadline = clock.now() + seconds
    points = _bearable(way.grid)[: max(1, int(seconds / (LEAST_REPEATS * SHORTEST)))]
    repeats = max(LEAST_REPEATS, round(seconds / len(points) / LONGEST))
    curve: list[Repeats] = []
    for part, (block, threads) in enumerate(points):
        if curve and clock.now() > deadline:
            break
        doing = f"{way.doing}, {size(block)} x {threads}"
        stretch = watch.stretch(part, len(points), doing)
        rates = []
        for repeat in range(repeats):
            if stretch.stop(repeat / repeats):
                return []
            rates.append(way.window(block, threads, seconds / len(points) / repeats))
        curve.append(Repeats(threads=threads, block=block, rates=tuple(rates)))
    return curve
