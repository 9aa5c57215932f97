"""The parts of a machine that can be measured, by name, and how long that may take."""

from pathlib import Path

from advisor.measurement import Measurement
from advisor.probes import disk, gpu_transfer, ram
from advisor.probes.progress import Cancelled, Progress

QUICK = {"ram": 3.0, "disk": 8.0, "gpu": 5.0}
"""Seconds for each part when a person waits; under 20 together, with what starting them takes."""
FULL = {"ram": 12.0, "disk": 25.0, "gpu": 15.0}
"""Seconds for each part when figures should be steady and curves complete; under 90 together."""


def measure(
    part: str,
    seconds: float,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
    path: Path | None = None,
) -> tuple[Measurement, ...]:
    """Measure one part.

    Args:
        part: a key of `QUICK`.
        seconds: time for it [s].
        progress: told how far it is.
        cancelled: asked between repeats.
        path: a file or folder on the drive that is meant; other parts leave it alone.

    Returns:
        What was found; empty when cancelled.

    Raises:
        ProbeError: this machine does not allow it, and why.
    """
    if part == "disk":
        return disk.measure(seconds, progress, cancelled, path=path)
    return {"ram": ram.measure, "gpu": gpu_transfer.measure}[part](seconds, progress, cancelled)
