"""A machine with a GPU as its probes found it, medians over the rounds.

All that is known of it is kept with the readings, so that predictions can be made anew when the
machine is gone.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from advisor.calibration import local_machine
from advisor.calibration.imported_store import as_probed
from advisor.calibration.local_machine import Calibration
from advisor.calibration.measurement_file import MeasurementHistory, fingerprint
from advisor.failures import ProbeError
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.probes import ram
from advisor.probes.gpu import cuda, transfer
from advisor.probes.llama_cpp import engine
from advisor.probes.measurement import Measurement
from benchmarks.engine_parts.readings import Readings

PROBES: Mapping[str, tuple[Callable[[float], Sequence[Measurement]], float]] = {
    "GPU": (transfer.measure, 8.0),
    "RAM": (ram.measure, 2.5),
    "engine": (engine.measure, 15.0),
}
"""What measures the machine, and for how long [s]."""


def missing() -> str:
    """Why nothing can be run on a GPU here; empty where it can."""
    if sys.platform != "linux":
        return "it needs Linux."
    try:
        cuda.devices(cuda.driver())
    except ProbeError as error:
        return str(error)
    here = Readings(Path(), fingerprint())
    if as_found(here).gpus:
        return ""
    names = here.machine and ", ".join(here.machine.gpus)
    return f"data/hardware/gpus.csv has no row of {names}; add one."


def probe(record: Readings, names: Sequence[str] = tuple(PROBES)) -> None:
    """Measure the machine once more; what cannot be measured is told."""
    for name in names:
        measure, seconds = PROBES[name]
        try:
            record.probes.extend(measure(seconds))
        except ProbeError as error:
            print(f"gpu_engine: the {name} probe measured nothing: {error}", file=sys.stderr)
    record.keep()


def measured(record: Readings, ram_gib: float | None = None) -> Machine:
    """With the medians of what its probes found, and its first GPU alone."""
    medians = MeasurementHistory(fingerprint=record.machine, history=tuple(record.medians()))
    return _first_gpu(medians, local_machine.judged(medians), ram_gib)


def as_found(record: Readings, ram_gib: float | None = None) -> Machine:
    """As the catalogue has its parts."""
    bare = MeasurementHistory(fingerprint=record.machine, history=())
    return _first_gpu(bare, Calibration(), ram_gib)


def _first_gpu(
    history: MeasurementHistory, calibration: Calibration, ram_gib: float | None
) -> Machine:
    machine = as_probed(history, calibration, MachineSpec(ram_gb=ram_gib))
    return replace(machine, gpus=machine.gpus[:1])
