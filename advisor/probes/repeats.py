"""Repeated readings of one rate, and the figure that is reported of them."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeAlias

from advisor.measurement import Measurement
from advisor.units import GB

Progress: TypeAlias = Callable[[float], None]
"""Told the share that is done, 0 to 1."""
Cancelled: TypeAlias = Callable[[], bool]
"""Asked between repeats; true stops the probe."""


@dataclass(frozen=True, kw_only=True)
class Watch:
    """A stretch of the progress bar, and the person's finger on the stop button.

    Attributes:
        progress: told the share of the whole that is done.
        cancelled: asked whenever the work can stop.
        start: where this stretch begins, 0 to 1.
        end: where it ends.
    """

    progress: Progress | None = None
    cancelled: Cancelled | None = None
    start: float = 0.0
    end: float = 1.0

    def stop(self, share: float) -> bool:
        """Report how much of this stretch is done; whether to stop now."""
        if self.progress is not None:
            self.progress(self.start + (self.end - self.start) * min(1.0, share))
        return self.cancelled is not None and self.cancelled()

    def stretch(self, part: int, parts: int) -> "Watch":
        """One of equal parts of this stretch."""
        step = (self.end - self.start) / parts
        start = self.start + part * step
        return replace(self, start=start, end=start + step)


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """Rates read with one number of threads.

    Attributes:
        threads: that read at once.
        rates: one for each repeat, at least one [B/s].
    """

    threads: int
    rates: tuple[float, ...]

    @property
    def median(self) -> float:
        """Middle of the repeats [B/s]."""
        return statistics.median(self.rates)

    @property
    def spread(self) -> float:
        """Half the range over the median; 0.03 for 3 %."""
        return (max(self.rates) - min(self.rates)) / (2 * self.median) if self.median else 0.0


def measurement(name: str, curve: Sequence[Repeats], note: str) -> Measurement:
    """The best median over thread counts, with the whole curve in its note.

    The median, not the best repeat: decoding meets the same neighbours and refresh cycles.

    Args:
        name: as `Measurement.name`.
        curve: at least one thread count.
        note: what was read.
    """
    best = max(curve, key=lambda repeats: repeats.median)
    by_threads = sorted(curve, key=lambda repeats: repeats.threads)
    medians = ", ".join(f"{one.threads}: {one.median / GB:.3g}" for one in by_threads)
    return Measurement(
        name=name,
        value=best.median,
        unit="B/s",
        spread=best.spread,
        threads=best.threads,
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        note=f"{note} Median by threads: {medians} GB/s; best repeat {max(best.rates) / GB:.3g}.",
    )
