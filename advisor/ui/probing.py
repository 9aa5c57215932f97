"""Measuring this machine beside the pages: one job at a time on the server, in its own thread.

The thread never touches Streamlit; it fills the job, and the pages look at it.
"""

import os
import threading
import time
from dataclasses import dataclass, field

from advisor import calibration
from advisor.errors import AdvisorError
from advisor.measurement import Measurement
from advisor.probes import parts
from advisor.probes.progress import Step
from advisor.wording import rate

SWITCH = "ADVISOR_PROBES"
PARTS = (("ram", "RAM"), ("disk", "drive"))
"""What is measured, and what it is called."""
LONGEST = 45.0
"""After which a job is stopped, whatever it does [s]."""
UNSTEADY = 0.25
"""Half the range of the repeats over their median, from which other programs were at work."""
NAMES = {
    "ram_read": "RAM",
    "disk_read_direct": "Drive, direct",
    "disk_read_mmap": "Drive, memory map",
    "disk_read_buffered": "Drive, page cache",
}


def switched_off() -> bool:
    """Whoever runs the server does not want it to be measured."""
    return os.environ.get(SWITCH, "").casefold() in ("off", "0", "no", "false")


@dataclass
class Job:
    """A measurement under way, or its result.

    Attributes:
        share: done, 0 to 1.
        doing: what is measured now.
        found: what was measured.
        failures: why a part could not be, one sentence each.
        running: the thread still works.
    """

    share: float = 0.0
    doing: str = ""
    found: tuple[Measurement, ...] = ()
    failures: tuple[str, ...] = ()
    running: bool = True
    _cancelled: threading.Event = field(default_factory=threading.Event)
    _started: float = field(default_factory=time.monotonic)

    def cancel(self) -> None:
        """Stop at the next repeat."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        """A person stopped it."""
        return self._cancelled.is_set()

    @property
    def too_long(self) -> bool:
        """Its time is up."""
        return time.monotonic() - self._started > LONGEST

    def stopping(self) -> bool:
        """For the probes, which ask between repeats."""
        return self.cancelled or self.too_long

    def summary(self) -> str:
        """The result in one sentence."""
        if self.cancelled:
            return "Stopped; nothing was changed."
        figures = [
            f"{NAMES.get(one.name, one.name)} {rate(one.value)} "
            f"(repeats within {100 * one.spread:.0f} %)"
            for one in self.found
        ]
        measured = f"Measured and saved: {', '.join(figures)}." if figures else ""
        if any(one.spread > UNSTEADY for one in self.found):
            measured += " The machine was busy; measure again when it rests."
        late = f"It was stopped after {LONGEST:.0f} s." if self.too_long and not figures else ""
        return " ".join(part for part in (measured, late, *self.failures) if part)


class Prober:
    """Starts jobs, one at a time. One for the whole server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.job: Job | None = None

    def start(self) -> Job:
        """A new job, or the one that runs."""
        with self._lock:
            if self.job is None or not self.job.running:
                self.job = Job()
                threading.Thread(target=_work, args=(self.job,), daemon=True).start()
            return self.job


def _work(job: Job) -> None:
    try:
        for number, (part, doing) in enumerate(PARTS):
            job.doing = doing
            _measure(job, part, number / len(PARTS))
        if job.found and not job.cancelled:
            calibration.save(job.found)
    except AdvisorError as error:
        job.failures = (*job.failures, str(error))
    except Exception as error:  # noqa: BLE001 - a thread's error would be lost, and the page wait
        job.failures = (*job.failures, f"Measuring failed ({type(error).__name__}).")
    finally:
        job.running = False


def _measure(job: Job, part: str, start: float) -> None:
    """One probe; what it cannot do is noted, so that the other still counts."""

    def progress(step: Step) -> None:
        job.share = start + step.share / len(PARTS)

    try:
        found = parts.measure(part, parts.QUICK[part], progress, job.stopping)
        job.found = (*job.found, *found)
    except AdvisorError as error:
        job.failures = (*job.failures, str(error))
