"""Rates between host and GPU, and of the GPU's memory: NVIDIA, through the CUDA driver.

Decoding reads weights and writes next to nothing. `device_read` is therefore the rate of a kernel
that only reads; a copy on the device would read and write, and be slower. The same kernel over
page-locked host memory gives `zero_copy_read`.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Any

from advisor.failures import ProbeError
from advisor.probes import host, ram
from advisor.probes import measurement as clock
from advisor.probes.gpu import detect
from advisor.probes.gpu.cuda import Session, devices, driver
from advisor.probes.gpu.detect import GpuState, figure_name, same_bus
from advisor.probes.measurement import Cancelled, Measurement, Progress, Repeats, Series, Watch
from advisor.probes.ram import Readers
from advisor.units import GB, GIB, KIB, MIB

Queue = Callable[[int, int, Any], None]
"""Queues the n-th piece of so many bytes in a stream, None for the session's own."""

# Contention probe: RAM reads while the link to a GPU is busy.

BATCH = 4  # copies queued at once; two queues in turn, so that the link never waits
RAM_SHARE = 1 / 8  # of free memory that readers may take


def while_copying(
    session: Session,
    queue: Queue,
    block: int,
    seconds: float,
    watch: Watch,
) -> tuple[Measurement, ...]:
    """Rate of RAM reads by all cores, and of copies to the GPU at the same time [B/s]; empty when
    stopped.

    They are `ram_read_while_copying` and `h2d_while_reading`. `queue` queues the n-th copy in a
    stream.
    """
    facts = host.facts()
    total = ram.buffer_bytes(facts, RAM_SHARE)
    copied: list[float] = []
    with (
        Readers(facts.cores, total // facts.cores) as readers,
        _copying(session, queue, block) as copied_so_far,
    ):
        passes = max(1, math.ceil(ram.WINDOW / readers.seconds(passes=1)))

        def rate() -> float:
            before = copied_so_far()
            began = clock.now()
            took = readers.seconds(passes)
            copied.append((copied_so_far() - before) / (clock.now() - began))
            return readers.bytes_per_pass * passes / took

        read = clock.repeated(rate, seconds, watch)
    if not read:
        return ()
    reading = Repeats(threads=facts.cores, rates=read)
    moving = Repeats(threads=facts.cores, block=block, rates=tuple(copied))
    read_note = f"Read RAM while {moving.median / GB:.3g} GB/s were copied to the GPU."
    copy_note = f"Copied to the GPU while {reading.median / GB:.3g} GB/s were read from RAM."
    return (
        clock.measurement("ram_read_while_copying", [reading], read_note),
        clock.measurement("h2d_while_reading", [moving], copy_note),
    )


@contextmanager
def _copying(session: Session, queue: Queue, block: int) -> Iterator[Callable[[], int]]:
    """Counter of the bytes that a thread has copied [B]; it raises the thread's error, if any."""
    busy = Event()
    enough = Event()
    copied = [0]

    def count(size: int) -> None:
        copied[0] += size
        busy.set()

    with ThreadPoolExecutor(1) as pool:
        copies = pool.submit(_copy, session, queue, block, enough, count)
        copies.add_done_callback(lambda _: busy.set())
        busy.wait()

        def so_far() -> int:
            if copies.done():
                copies.result()
            return copied[0]

        try:
            yield so_far
        finally:
            enough.set()
    copies.result()


def _copy(
    session: Session, queue: Queue, block: int, enough: Event, count: Callable[[int], None]
) -> None:
    """Copy in two streams in turn until it is enough, and count the bytes of each batch."""
    session.bind()
    streams = (session.stream(), session.stream())
    numbers = itertools.count()
    for turn in itertools.count():
        stream = streams[turn % 2]
        session.wait(stream)
        if turn >= len(streams):
            count(BATCH * block)
        if enough.is_set():
            break
        for _ in range(BATCH):
            queue(next(numbers), block, stream)
    for stream in streams:
        session.wait(stream)


BLOCKS = (int(64 * MIB), int(4 * MIB), int(256 * KIB))
"""Sizes of copies, most important first: a tensor, a small one, and pieces so small that
starting a copy takes as long as the copy."""
LEAST_HOST = int(64 * MIB)
MOST_HOST = int(512 * MIB)
HOST_PART = 16
"""Free memory over the size of a host buffer: two are allocated, and readers beside copies take
twice as much."""
LEAST_DEVICE = int(GIB)
DEVICE_PART = 4  # GPU buffer: at most this part of free GPU memory
CACHES = 16  # GPU memory that is read, in last-level caches
WINDOW = 0.02  # seconds of one repeat; queueing and end are negligible beside it
MOST_QUEUED = 4096
UNDER_LOAD = 0.3  # seconds of queued work while the state of the GPU is read
CONTENTION = 0.18  # share of the time for RAM reads beside copies


def measure(
    seconds: float = 6.0, progress: Progress | None = None, cancelled: Cancelled | None = None
) -> tuple[Measurement, ...]:
    """Rates of copies to and from every GPU in CUDA's list, and of reads of its memory.

    For the first GPU `h2d_pinned`, `h2d_pageable`, `d2h_pinned`, `d2h_pageable`, `device_read`,
    `zero_copy_read`, `ram_read_while_copying`, `h2d_while_reading` [B/s], `pcie_generation` and
    `pcie_width`, as far as its driver allows; for other GPUs with names by `figure_name`. Empty
    when cancelled. Allocating memory adds up to a second for each GPU.
    """
    cuda = driver()
    listed = devices(cuda)
    seen, _ = detect.gpus()
    watch = Watch(progress=progress, cancelled=cancelled, seconds=seconds)
    share = seconds / len(listed)
    measurements: list[Measurement] = []
    troubles: list[str] = []
    for part, device in enumerate(listed):
        try:
            with Session(cuda, device) as session:
                figures = _measured(session, share, watch.stretch(part, len(listed)))
        except ProbeError as error:
            troubles.append(f"{device.name} was not measured: {error}")
            continue
        if not figures:
            return ()
        # CUDA lists the fastest first, NVML by PCI address.
        places = (n for n, gpu in enumerate(seen) if gpu.bus and same_bus(gpu.bus, device.bus))
        index = next(places, part)
        measurements += [
            replace(figure, name=figure_name(figure.name, index)) for figure in figures
        ]
    watch.stop(1.0)
    return clock.with_troubles(measurements, troubles)


def _measured(session: Session, seconds: float, watch: Watch) -> list[Measurement]:
    """All measurements of one GPU; empty when stopped."""
    works = _works(session)
    alone = 1.0 - CONTENTION
    series = [each for each, _ in works]
    rates = clock.measured(series, seconds * alone, watch.between(0.0, alone))
    if not rates:
        return []
    queues = {each.name: (queue, each.points[0][0]) for each, queue in works}
    figures: list[Measurement] = []
    for rate in rates:
        work = queues[rate.name]
        figures += _under_load(session, rate, *work) if rate.name in WATCHED else [rate]
    beside = watch.between(alone, 1.0, f"{session.device.name}: RAM beside copies")
    queue, block = queues["h2d_pinned"]
    reading = while_copying(session, queue, block, seconds * CONTENTION, beside)
    if reading:
        return [*figures, *reading]
    return []


def _works(session: Session) -> list[tuple[Series, Queue]]:
    """Rates to measure and what queues a piece, with their memory allocated."""
    need = "The copies need"
    free = host.facts().memory_available
    host_bytes = clock.within_free(need, free, 1 / HOST_PART, LEAST_HOST, MOST_HOST)
    host_bytes -= host_bytes % LEAST_HOST
    device_bytes = _device_bytes(session)
    device = session.on_device(device_bytes)
    pinned = session.pinned(host_bytes)
    pageable = session.pageable(host_bytes)
    to = session.to_device
    back = session.to_host
    span = min(device_bytes, host_bytes)
    blocks = tuple(block for block in BLOCKS if block <= span)
    copies = (
        ("h2d_pinned", "Copied page-locked memory to the GPU.", to, device, pinned),
        ("h2d_pageable", "Copied ordinary memory to the GPU.", to, device, pageable),
        ("d2h_pinned", "Copied from the GPU to page-locked memory.", back, pinned, device),
        ("d2h_pageable", "Copied from the GPU to ordinary memory.", back, pageable, device),
    )
    works = [
        _series(session, name, note, blocks, _copies(copy, target, source, span))
        for name, note, copy, target, source in copies
    ]
    try:
        reader = session.reader()
        seen = session.seen_by_device(pinned)
        by_kernel = "Read page-locked memory of the host by a kernel."
        for name, note, address, size in (
            ("device_read", "Read the GPU's memory.", device, device_bytes),
            ("zero_copy_read", by_kernel, seen, host_bytes),
        ):
            works.append(_reads(session, name, note, *reader(address, size)))
    except ProbeError as error:
        first, queue = works[0]
        works[0] = first._replace(note=f"{first.note} No kernel ran: {error}"), queue
    return works


def _series(
    session: Session, name: str, note: str, blocks: Sequence[int], queue: Queue
) -> tuple[Series, Queue]:
    """Rate at blocks of several sizes, the most important first [B]."""
    points = [(block, 1) for block in blocks]
    reader = partial(_reading, session, queue)
    words = f"{session.device.name}: {note}"
    return Series(name, words, len(blocks), points, reader, f"{name}, {{block}}"), queue


def _copies(
    copy: Callable[[int, int, int, Any], None], target: int, source: int, span: int
) -> Queue:
    """Copies piece by piece through a buffer, over and over."""

    def queue(number: int, block: int, stream: Any) -> None:
        offset = number % (span // block) * block
        copy(target + offset, source + offset, block, stream)

    return queue


def _reads(
    session: Session, name: str, note: str, block: int, launch: Callable[[], None]
) -> tuple[Series, Queue]:
    return _series(session, name, note, (block,), lambda *_: launch())


def _device_bytes(session: Session) -> int:
    free = session.free_memory()
    caches = CACHES * session.attribute("L2_CACHE_SIZE")
    wanted = max(LEAST_DEVICE, caches)
    return clock.within_free(
        "The copies need", free, 1 / DEVICE_PART, LEAST_HOST, wanted, "GPU memory"
    )


def _reading(
    session: Session, queue: Queue, block: int, _threads: int, _seconds_of_point: float
) -> AbstractContextManager[Callable[[], float]]:
    """Rate of as many pieces as take a window, beside which the end is negligible [B/s]."""
    count = 1
    for _ in range(3):  # the first run touches new pages
        taken = _seconds(session, queue, block, count)
        count = max(1, min(MOST_QUEUED, math.ceil(count * WINDOW / taken)))
    return nullcontext(lambda: block * count / _seconds(session, queue, block, count))


def _seconds(session: Session, queue: Queue, block: int, count: int) -> float:
    """Time until a number of pieces is done [s]."""
    started = clock.now()
    for number in range(count):
        queue(number, block, None)
    session.wait()
    return clock.now() - started


WATCHED = ("h2d_pinned", "device_read")
"""Rates beside which the state of the GPU is read: idle, it lowers its clocks and its link."""


def _under_load(
    session: Session, rate: Measurement, queue: Queue, block: int
) -> Iterator[Measurement]:
    """Rate with the state of the GPU at that work, and the link of copies."""
    for number in range(min(MOST_QUEUED, math.ceil(UNDER_LOAD * rate.value / block))):
        queue(number, block, None)
    state = detect.state(session.device.bus) or GpuState()
    session.wait()
    yield replace(rate, note=f"{rate.note} {state.sentence()}".rstrip())
    link = (
        ("pcie_generation", state.link_generation, "generation"),
        ("pcie_width", state.link_width, "lanes"),
    )
    for kind, value, unit in link if rate.name == WATCHED[0] else ():
        if value:
            yield clock.setting(kind, value, unit, f"{session.device.name}: while it copied.")
