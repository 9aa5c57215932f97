"""Measurement of this machine in a background thread, one job at a time on the server.

The thread never touches Streamlit; it fills the job, and the pages look at it.
"""

import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from advisor.calibration import local_machine
from advisor.errors import AdvisorError
from advisor.formatting import quantity
from advisor.probes.measurement import UNSTEADY, USELESS, Measurement, ProbeStep, title

HEADS = {"ram": "RAM", "disk": "Drive", "gpu": "GPU", "engine": "llama.cpp"}
"""Names of the measured parts, at the start of a line."""
SHORT = ("ram", "disk")  # parts that matter on every machine
GRACE = 2.0  # times its planned time and as many tens of seconds, after which a job is stopped


@dataclass
class ProbeJob:
    """Measurement in progress, or its result."""

    parts: tuple[str, ...] = SHORT  # parts to measure, in order
    full: bool = False  # with more repeats and complete curves
    steps: dict[str, ProbeStep] = field(default_factory=dict)  # progress of each part begun
    measurements: tuple[Measurement, ...] = ()  # measurements so far
    # reasons for parts that could not be measured, a sentence each
    troubles: dict[str, str] = field(default_factory=dict)
    failure: str = ""  # reason for unsaved measurements
    running: bool = True  # the thread is running
    saved: bool = False  # the measurements are saved
    # secret of the session that started the job
    token: str = field(default_factory=lambda: secrets.token_urlsafe(8))
    cancelled: bool = False  # a person stopped it
    _started: float = field(default_factory=time.monotonic)

    def planned(self, part: str) -> float:
        """Planned time of a part [s]."""
        from advisor.probes import suite  # with all probes, which no page needs

        return (suite.FULL if self.full else suite.QUICK)[part]

    @property
    def whole(self) -> float:
        """Planned time of all parts [s]."""
        return sum(self.planned(part) for part in self.parts)

    @property
    def longest(self) -> float:
        """Time after which the job is stopped [s]."""
        return GRACE * (self.whole + 10.0)

    @property
    def unsaved(self) -> bool:
        """Whether its measurements could not be saved."""
        return bool(self.measurements) and not (self.running or self.cancelled or self.saved)

    @property
    def seconds_left(self) -> float:
        """Estimated remaining time [s]."""
        steps = dict(self.steps)
        return sum(
            steps[part].seconds_left if part in steps else self.planned(part) for part in self.parts
        )

    def told(self, part: str) -> str:
        """Words on the progress of a part, all fixed in the program and therefore safe as
        Markdown.
        """
        label = HEADS.get(part, part)
        step = self.steps.get(part)
        if part in self.troubles:
            return f"{label}: not measured"
        if step is None:
            return f"{label}: waits, {self.planned(part):.0f} s"
        if step.share >= 1.0:
            return f"{label}: done"
        doing = step.doing.removeprefix(f"{label}, ")
        return f"{label}: {f'{doing}, ' if doing else ''}{step.seconds_left:.0f} s left"

    def cancel(self) -> None:
        """Stop at the next repeat."""
        self.cancelled = True

    def stopping(self) -> bool:
        """Whether the probes should stop, checked between repeats."""
        return self.cancelled or time.monotonic() - self._started > self.longest

    def outcome(self) -> tuple[str, str]:
        """Words on the result, and the kind of notice; `troubles` has the parts that failed."""
        if self.cancelled:
            return "Stopped. Nothing was changed, and nothing is left behind.", "note"
        if not self.measurements:
            if self.stopping():
                late = f"It was stopped after {self.longest:.0f} s."
            else:
                late = ""
            return f"Nothing could be measured. {late}{self.failure}", "error"
        figures = (
            f"{title(measurement.name)} {quantity(measurement.value, measurement.unit)} "
            f"(repeats within {100 * measurement.spread:.0f} %)"
            for measurement in self.measurements
        )
        told = f"Measured and saved: {', '.join(figures)}."
        if not self.saved:
            told = f"Measured, but shown here only. {self.failure}"
        if any(measurement.spread > UNSTEADY for measurement in self.measurements):
            told += " The machine was busy; measure again when it is idle."
        return told, "note" if self.saved else "warning"


class Prober:
    """Starter of jobs, one at a time; one per server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.job: ProbeJob | None = None

    def start(self, chosen: Sequence[str] = SHORT, *, full: bool = False) -> ProbeJob:
        """Start a job of parts of `suite.QUICK`, in full if wished, or return the running one."""
        with self._lock:
            if self.job is None or not self.job.running:
                self.job = ProbeJob(parts=tuple(chosen), full=full)
                threading.Thread(target=_work, args=(self.job,), daemon=True).start()
            return self.job


def _work(job: ProbeJob) -> None:
    try:
        for part in job.parts:
            _measure(job, part)
        if job.measurements and not job.cancelled:
            local_machine.save(job.measurements)
            job.saved = True
    except AdvisorError as error:
        job.failure = str(error)
    except Exception as error:  # noqa: BLE001 - a thread's error would be lost, and the page wait
        job.failure = f"Measuring failed ({type(error).__name__})."
    finally:
        job.running = False


def _measure(job: ProbeJob, part: str) -> None:
    """Run one probe; its failure is noted and the others continue."""

    def progress(step: ProbeStep) -> None:
        job.steps[part] = step

    if job.cancelled:
        return
    progress(ProbeStep(share=0.0, seconds_left=job.planned(part)))
    try:
        from advisor.probes import suite

        measured = suite.measure(part, job.planned(part), progress, job.stopping)
        kept = tuple(own for own in measured if own.spread <= USELESS)
        job.measurements = (*job.measurements, *kept)
        if wild := [own for own in measured if own.spread > USELESS]:
            named = " and ".join(f"{title(own.name)} {100 * own.spread:.0f} %" for own in wild)
            job.troubles[part] = (
                f"repeats differ by more than half each way ({named}), so it is not saved. Other "
                "programs were running; measure again when the machine is idle."
            )
    except AdvisorError as error:
        job.troubles[part] = str(error)
    except Exception as error:  # noqa: BLE001 - what the other parts found would be lost with it
        job.troubles[part] = f"Measuring failed ({type(error).__name__})."
    progress(ProbeStep(share=1.0, seconds_left=0.0))
