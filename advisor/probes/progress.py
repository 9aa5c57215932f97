"""Progress and cancellation of probes.

Every probe is called as `measure(seconds, progress, cancelled)`. It reports a `ProbeStep` between
its repeats, and asks there whether to stop; what was not finished is not returned.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias


@dataclass(frozen=True, kw_only=True)
class ProbeStep:
    """Progress of a probe.

    Attributes:
        share: done, 0 to 1.
        seconds_left: about [s].
        doing: what it does now, in a few words; empty where there is nothing to tell.
    """

    share: float
    seconds_left: float
    doing: str = ""


Progress: TypeAlias = Callable[[ProbeStep], None]
"""Told how far the probe is."""
Cancelled: TypeAlias = Callable[[], bool]
"""Asked between repeats; true stops the probe."""


def now() -> float:
    """Monotonic clock of all probes [s]."""
    return time.perf_counter()


@dataclass(frozen=True, kw_only=True)
class Watch:
    """Part of a probe's progress bar, with its stop button.

    Attributes:
        progress: told how far the whole is.
        cancelled: asked whenever the work can stop.
        seconds: planned for the whole [s].
        start: where this stretch begins, 0 to 1.
        end: where it ends.
        doing: what is done in this stretch.
        began: when the whole began [s].
    """

    progress: Progress | None = None
    cancelled: Cancelled | None = None
    seconds: float = 0.0
    start: float = 0.0
    end: float = 1.0
    doing: str = ""
    began: float = field(default_factory=lambda: now())

    def stop(self, share: float) -> bool:
        """Report how much of this stretch is done; whether to stop now."""
        if self.progress is not None:
            done = self.start + (self.end - self.start) * min(1.0, share)
            self.progress(ProbeStep(share=done, seconds_left=self._left(done), doing=self.doing))
        return self.cancelled is not None and self.cancelled()

    def stretch(self, part: int, parts: int, doing: str = "") -> "Watch":
        """One of equal parts of this stretch."""
        return self.between(part / parts, (part + 1) / parts, doing)

    def between(self, low: float, high: float, doing: str = "") -> "Watch":
        """The part of this stretch between two shares of it."""
        size = self.end - self.start
        return replace(
            self,
            start=self.start + low * size,
            end=self.start + high * size,
            doing=doing or self.doing,
        )

    def _left(self, done: float) -> float:
        """Of the planned time, or of the time it takes where that is longer [s]."""
        return (1 - done) * max(self.seconds, now() - self.began)
