"""Contention probe: RAM reads while the link to a GPU is busy."""

import itertools
import math
from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from advisor.errors import ProbeError
from advisor.probes import progress as clock
from advisor.probes.gpu.cuda import Session
from advisor.probes.host import inventory, ram
from advisor.probes.host.ram_readers import Readers
from advisor.probes.measurement import Measurement
from advisor.probes.progress import Watch
from advisor.probes.repeats import Repeats, measurement, repeated
from advisor.units import GB

BATCH = 4  # copies queued at once; two queues in turn, so that the link never waits
RAM_SHARE = 1 / 8  # of free memory that readers may take


def while_copying(
    session: Session,
    queue: Callable[[int, int, Any], None],
    block: int,
    seconds: float,
    watch: Watch,
) -> tuple[Measurement, ...]:
    """Rate of RAM reads by all cores, and of copies to the GPU at the same time.

    Args:
        session: GPU in use.
        queue: function that queues the n-th copy of a block in a stream.
        block: size of each copy [B].
        seconds: time for the measurement [s].
        watch: progress and stop button.

    Returns:
        `ram_read_while_copying` and `h2d_while_reading` [B/s]; empty when stopped.

    Raises:
        ProbeError: too little free memory, or an error of the driver.
    """
    facts = inventory.facts()
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
    """Thread that copies to the GPU without a pause until the block ends.

    Attributes:
        bytes: bytes copied so far [B].
    """

    def __init__(
        self, session: Session, queue: Callable[[int, int, Any], None], block: int
    ) -> None:
        self.bytes = 0
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
