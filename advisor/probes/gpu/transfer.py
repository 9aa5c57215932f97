"""Rates between host and GPU, and of the GPU's memory: NVIDIA, through the CUDA driver.

Decoding reads weights and writes next to nothing. `device_read` is therefore the rate of a kernel
that only reads; a copy on the device would read and write, and be slower. The same kernel over
page-locked host memory gives `zero_copy_read`.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from advisor.errors import ProbeError
from advisor.probes import host, ram
from advisor.probes import measurement as clock
from advisor.probes.gpu import detect
from advisor.probes.gpu.cuda import Device, Reader, Session, devices, driver
from advisor.probes.gpu.detect import GpuFacts, GpuState, figure_name, same_bus
from advisor.probes.measurement import (
    Cancelled,
    Measurement,
    Progress,
    Repeats,
    Watch,
    measurement,
    moment,
    repeated,
    size,
    with_troubles,
)
from advisor.probes.ram import Readers
from advisor.units import GB, GIB, KIB, MIB

# Contention probe: RAM reads while the link to a GPU is busy.

BATCH = 4  # copies queued at once; two queues in turn, so that the link never waits
RAM_SHARE = 1 / 8  # of free memory that readers may take


def while_copying(
    session: Session,
    queue: Callable[[int, int, Any], None],
    block: int,
    seconds: float,
    watch: Watch,
) -> tuple[Measurement, ...]:
    """`ram_read_while_copying` and `h2d_while_reading` [B/s]: rate of RAM reads by all cores, and
    of copies to the GPU at the same time; empty when stopped. `queue` queues the n-th copy in a
    stream.
    """
    facts = host.facts()
    total = ram.buffer_bytes(facts, RAM_SHARE)
    copied: list[float] = []
    with (
        Readers(facts.cores, total // facts.cores) as readers,
        _Copying(session, queue, block) as copying,
    ):
        passes = max(1, math.ceil(ram.WINDOW / readers.seconds(passes=1)))

        def rate() -> float:
            before, began = copying.bytes, clock.now()
            took = readers.seconds(passes)
            copying.check()
            copied.append((copying.bytes - before) / (clock.now() - began))
            return readers.bytes_per_pass * passes / took

        read = repeated(rate, seconds, watch)
    if not read:
        return ()
    reading = Repeats(threads=facts.cores, rates=read)
    moving = Repeats(threads=facts.cores, block=block, rates=tuple(copied))
    return (
        measurement(
            "ram_read_while_copying",
            [reading],
            f"Read RAM while {moving.median / GB:.3g} GB/s were copied to the GPU.",
        ),
        measurement(
            "h2d_while_reading",
            [moving],
            f"Copied to the GPU while {reading.median / GB:.3g} GB/s were read from RAM.",
        ),
    )


class _Copying:
    """Thread that copies to the GPU without a pause until the block ends."""

    def __init__(
        self, session: Session, queue: Callable[[int, int, Any], None], block: int
    ) -> None:
        self.bytes = 0  # bytes copied so far [B]
        self._session = session
        self._queue = queue
        self._block = block
        self._streams = (session.stream(), session.stream())
        self._busy, self._enough = Event(), Event()
        self._error: ProbeError | None = None
        self._thread = Thread(target=self._work, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._busy.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._enough.set()
        self._thread.join()
        if error is None:
            self.check()

    def check(self) -> None:
        """Raise ProbeError if copying has failed."""
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        try:
            self._session.bind()
            self._copy()
        except ProbeError as error:
            self._error = error
        finally:
            self._busy.set()

    def _copy(self) -> None:
        numbers = itertools.count()
        for turn in itertools.count():
            stream = self._streams[turn % 2]
            self._session.wait(stream)
            if turn >= len(self._streams):
                self.bytes += BATCH * self._block
                self._busy.set()
            if self._enough.is_set():
                break
            for _ in range(BATCH):
                self._queue(next(numbers), self._block, stream)
        for stream in self._streams:
            self._session.wait(stream)


BLOCKS = (int(64 * MIB), int(4 * MIB), int(256 * KIB))
"""Sizes of copies, most important first: a tensor, a small one, and pieces so small that
starting a copy takes as long as the copy."""
LEAST_HOST, MOST_HOST = int(64 * MIB), int(512 * MIB)
HOST_PART = 16
"""Free memory over the size of a host buffer: two are allocated, and readers beside copies take
twice as much."""
LEAST_DEVICE = int(GIB)
DEVICE_PART = 4  # GPU buffer: at most this part of free GPU memory
CACHES = 16  # GPU memory that is read, in last-level caches
WINDOW = 0.02  # seconds of one repeat; queueing and end are negligible beside it
MOST_QUEUED = 4096
UNDER_LOAD = 0.3  # seconds of queued work while the state of the GPU is read
CONTENTION = 3  # duration, relative to that of another rate

Queue = Callable[[int, int, Any], None]
"""Queues the n-th piece of so many bytes in a stream, None for the session's own."""


@dataclass(frozen=True, kw_only=True)
class _Work:
    """One rate to measure."""

    name: str  # as `Measurement.name`
    note: str  # description of the measurement
    blocks: tuple[int, ...]  # sizes of a piece, most important first [B]
    queue: Queue  # function that queues a piece
    watched: bool = False  # the state of the GPU is read meanwhile


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
                figures = _measured(session, device, share, watch.stretch(part, len(listed)))
        except ProbeError as error:
            troubles.append(f"{device.name} was not measured: {error}")
            continue
        if not figures:
            return ()
        index = _place(device, seen, part)
        measurements += [
            replace(figure, name=figure_name(figure.name, index)) for figure in figures
        ]
    watch.stop(1.0)
    return with_troubles(measurements, troubles)


def _place(device: Device, seen: tuple[GpuFacts, ...], otherwise: int) -> int:
    """Index of a CUDA device in NVML's order, by PCI address; CUDA lists the fastest first."""
    places = (n for n, gpu in enumerate(seen) if gpu.bus and same_bus(gpu.bus, device.bus))
    return next(places, otherwise)


def _measured(session: Session, device: Device, seconds: float, watch: Watch) -> list[Measurement]:
    """All measurements of one GPU; empty when stopped."""
    works = _works(session)
    cells = sum(len(work.blocks) for work in works) + CONTENTION
    measurements: list[Measurement] = []
    done = 0
    for work in works:
        until = done + len(work.blocks)
        part = watch.between(done / cells, until / cells)
        curve = _curve(session, work, seconds * len(work.blocks) / cells, part)
        if not curve:
            return []
        measurements += _figures(session, work, curve, device)
        done = until
    to_device = works[0]
    beside = watch.between(done / cells, 1.0, f"{device.name}: RAM beside copies")
    share = seconds * CONTENTION / cells
    reading = while_copying(session, to_device.queue, to_device.blocks[0], share, beside)
    return [*measurements, *reading] if reading else []


def _works(session: Session) -> list[_Work]:
    """Rates to measure, with their memory allocated; pinned copies to the device first."""
    host_bytes, device_bytes = _host_bytes(), _device_bytes(session)
    device = session.on_device(device_bytes)
    pinned, pageable = session.pinned(host_bytes), session.pageable(host_bytes)
    to, back, span = session.to_device, session.to_host, min(device_bytes, host_bytes)
    blocks = tuple(block for block in BLOCKS if block <= span)
    copies = (
        ("h2d_pinned", "Copied page-locked memory to the GPU.", to, device, pinned),
        ("h2d_pageable", "Copied ordinary memory to the GPU.", to, device, pageable),
        ("d2h_pinned", "Copied from the GPU to page-locked memory.", back, pinned, device),
        ("d2h_pageable", "Copied from the GPU to ordinary memory.", back, pageable, device),
    )
    works = [
        _Work(name=name, note=note, blocks=blocks, queue=_copies(copy, target, source, span))
        for name, note, copy, target, source in copies
    ]
    works[0] = replace(works[0], watched=True)
    try:
        reader = session.reader()
        ours = _reads("device_read", "Read the GPU's memory.", reader, device, device_bytes)
        note = "Read page-locked memory of the host by a kernel."
        seen = session.seen_by_device(pinned)
        works += [
            replace(ours, watched=True),
            _reads("zero_copy_read", note, reader, seen, host_bytes),
        ]
    except ProbeError as error:
        works[0] = replace(works[0], note=f"{works[0].note} No kernel ran: {error}")
    return works


def _copies(
    copy: Callable[[int, int, int, Any], None], target: int, source: int, span: int
) -> Queue:
    """Copies piece by piece through a buffer, over and over."""

    def queue(number: int, block: int, stream: Any) -> None:
        offset = number % (span // block) * block
        copy(target + offset, source + offset, block, stream)

    return queue


def _reads(name: str, note: str, reader: Reader, address: int, size: int) -> _Work:
    rounds = reader.rounds(size)

    def queue(number: int, block: int, stream: Any) -> None:  # noqa: ARG001 - as copies are queued
        reader.launch(address, rounds)

    return _Work(name=name, note=note, blocks=(rounds * reader.round_bytes,), queue=queue)


def _host_bytes() -> int:
    free = host.facts().memory_available
    most = min(MOST_HOST, free // HOST_PART) // LEAST_HOST * LEAST_HOST
    if not most:
        raise ProbeError(
            f"The copies need {LEAST_HOST * HOST_PART / MIB:.0f} MiB of free memory and "
            f"{free / MIB:.0f} MiB is free; close other programs and try again."
        )
    return most


def _device_bytes(session: Session) -> int:
    free = session.free_memory()
    wanted = max(LEAST_DEVICE, CACHES * session.attribute("L2_CACHE_SIZE"))
    most = min(wanted, free // DEVICE_PART)
    if most < LEAST_HOST:
        raise ProbeError(
            f"The copies need {LEAST_HOST * DEVICE_PART / MIB:.0f} MiB of free GPU memory and "
            f"{free / MIB:.0f} MiB is free; close other programs and try again."
        )
    return most


def _curve(session: Session, work: _Work, seconds: float, watch: Watch) -> list[Repeats]:
    """Repeats of each block size within a time; empty when stopped."""
    curve = []
    for part, block in enumerate(work.blocks):
        stretch = watch.stretch(part, len(work.blocks), f"{work.name}, {size(block)}")
        rate = partial(_rate, session, work, block, _pieces(session, work, block))
        rates = repeated(rate, seconds / len(work.blocks), stretch)
        if not rates:
            return []
        curve.append(Repeats(block=block, rates=rates))
    return curve


def _pieces(session: Session, work: _Work, block: int) -> int:
    """Number of pieces that take a window, in which the overhead at the end is negligible."""
    count = 1
    for _ in range(3):  # the first run touches new pages
        taken = _seconds(session, work, block, count)
        count = max(1, min(MOST_QUEUED, math.ceil(count * WINDOW / taken)))
    return count


def _rate(session: Session, work: _Work, block: int, count: int) -> float:
    return block * count / _seconds(session, work, block, count)


def _seconds(session: Session, work: _Work, block: int, count: int) -> float:
    """Time until a number of pieces is done [s]."""
    started = clock.now()
    for number in range(count):
        work.queue(number, block, None)
    session.wait()
    return clock.now() - started


def _figures(
    session: Session, work: _Work, curve: Sequence[Repeats], device: Device
) -> list[Measurement]:
    note = f"{device.name}: {work.note}"
    if not work.watched:
        return [measurement(work.name, curve, note)]
    state = _under_load(session, work, curve[0], device)
    rate = measurement(work.name, curve, f"{note} {state.sentence()}".rstrip())
    if work.name != "h2d_pinned":
        return [rate]
    link = (
        ("pcie_generation", state.link_generation, "generation"),
        ("pcie_width", state.link_width, "lanes"),
    )
    figure = partial(Measurement, spread=0.0, threads=1, when=moment())
    note = f"{device.name}: while it copied."
    return [
        rate,
        *(
            figure(name=name, value=float(value), unit=unit, note=note)
            for name, value, unit in link
            if value
        ),
    ]


def _under_load(session: Session, work: _Work, fastest: Repeats, device: Device) -> GpuState:
    """State of the GPU under load; an idle one lowers its clocks and its link."""
    pieces = math.ceil(UNDER_LOAD * fastest.median / fastest.block)
    for number in range(min(MOST_QUEUED, pieces)):
        work.queue(number, fastest.block, None)
    state = detect.state(device.bus)
    session.wait()
    return state or GpuState()
