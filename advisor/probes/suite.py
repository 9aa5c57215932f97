"""Probes by name of the part, with their time budgets."""

from pathlib import Path

from advisor.probes import ram
from advisor.probes.disk import read_rates
from advisor.probes.gpu import transfer
from advisor.probes.llama_cpp import engine
from advisor.probes.measurement import Cancelled, Measurement, Progress

QUICK = {"ram": 2.5, "disk": 5.0, "gpu": 3.5, "engine": 6.5}
"""Seconds for each part when a person waits; under 20 in total, start-up included."""
FULL = {"ram": 8.0, "disk": 23.0, "gpu": 15.0, "engine": 40.0}
"""Seconds for each part for steady values and complete curves; under 90 in total."""


def measure(
    part: str,
    seconds: float,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
    path: Path | None = None,
) -> tuple[Measurement, ...]:
    """Measurements of a part, a key of `QUICK`; empty when cancelled.

    `path` is a file or folder on the drive for "disk", and for "engine" a GGUF file to time
    llama.cpp with.

    Raises:
        ProbeError: this machine does not allow the measurement.
        InputError: a GGUF file that is not a model.
        Refusal: an unsupported model.
    """
    if part == "engine":
        if path is not None and path.suffix == ".gguf":
            model = path
        else:
            model = None
        return engine.measure(seconds, progress, cancelled, path=model)
    if part == "disk":
        rates = read_rates.measure(seconds, progress, cancelled, path=path)
        if rates:
            return (*rates, *read_rates.looking_ahead(path))
        return ()
    return {"ram": ram.measure, "gpu": transfer.measure}[part](seconds, progress, cancelled)
