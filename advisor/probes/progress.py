"""Progress and cancellation of probes.

Every probe is called as `measure(seconds, progress, cancelled)`. Between repeats it reports a
`ProbeStep` and checks for cancellation; unfinished measurements are not returned.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias


@dataclass(frozen=True, kw_only=True)
class ProbeStep:
    """Progress of a probe.

    Attributes:
        share: finished share, 0 to 1.
        seconds_left: estimated remaining time [s].
        doing: current activity in a few words; may be empty.
    """

    share: float
    seconds_left: float
    doing: str = ""


Progress: TypeAlias = Callable[[ProbeStep], None]
"""Receiver of a probe's progress."""
Cancelled: TypeAlias = Callable[[], bool]
"""Check between repeats; true stops the probe."""


def now() -> float:
    """Monotonic clock of all probes [s]."""
    return time.perf_counter()


@dataclass(frozen=True, kw_only=True)
class Watch:
    """Stretch of a probe's progress bar, with its stop button.

    Attributes:
        progress: receiver of the progress; None for none.
        cancelled: check for cancellation; None for none.
        seconds: planned time of the whole probe [s].
        start: start of this stretch, 0 to 1.
        end: end of this stretch, 0 to 1.
        doing: activity in this stretch.
        began: start time of the whole probe [s].
    """

    progress: Progress | None = None
    cancelled: Cancelled | None = None
    seconds: float = 0.0
    start: float = 0.0
    end: float = 1.0
    doing: str = ""
    began: float = field(default_factory=lambda: now())

    def stop(self, share: float) -> bool:
        """Report the finished share of this stretch, and return whether to stop."""
        if self.progress is not None:
            done = self.start + (self.end - self.start) * min(1.0, share)
            self.progress(ProbeStep(share=done, seconds_left=self._left(done), doing=self.doing))
        return self.cancelled is not None and self.cancelled()

    def stretch(self, part: int, parts: int, doing: str = "") -> "Watch":
        """One of several equal parts of this stretch."""
        return self.between(part / parts, (part + 1) / parts, doing)

    def between(self, low: float, high: float, doing: str = "") -> "Watch":
        """Part of this stretch between two shares of it."""
        size = self.end - self.start
        return replace(
            self,
            start=self.start + low * size,
            end=self.start + high * size,
            doing=doing or self.doing,
        )

    def _left(self, done: float) -> float:
        """Remaining share of the planned time, or of the elapsed time where that is longer [s]."""
        return (1 - done) * max(self.seconds, now() - self.began)
