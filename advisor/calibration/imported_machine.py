"""Machine built from imported measurements, with typed values on top."""

from contextlib import suppress

from advisor.calibration import imported_store, local_machine
from advisor.calibration.local_machine import Calibration
from advisor.calibration.measurement_file import Fingerprint, MeasurementHistory
from advisor.errors import InputError, UnknownName
from advisor.machine import from_spec
from advisor.machine.catalog import find_host
from advisor.machine.identify import machine_by_name
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.probes.gpu.detect import GpuFacts
from advisor.probes.host import HostFacts
from advisor.probes.measurement import Measurement
from advisor.units import GIB

UNKNOWN = Fingerprint(cpu="", cores=0, memory=0, gpus=())


def named_machine(
    name: str, overrides: MachineSpec | None = None, measured: Calibration | None = None
) -> Machine:
    """Imported machine by name, this machine, or one that its name describes; typed values replace
    measured ones.

    The saved measurements are used where none are given.
    """
    inputs = overrides or MachineSpec()
    if name.casefold() == imported_store.THIS:
        return local_machine.this_machine(inputs, measured)
    if name.casefold() not in map(str.casefold, imported_store.names()):
        with suppress(UnknownName):
            return machine_by_name(name, inputs)
    history = imported_store.probed(name)
    parts = history.fingerprint or UNKNOWN
    if not parts.memory and inputs.ram_gb is None:
        raise InputError(
            f"The imported file does not state how much RAM {name} has; give it (--ram-gb on the "
            "command line), with its GPU and processor."
        )
    known = imported_store.measured(name) if measured is None else measured
    return as_probed(history, known, inputs)


def as_probed(
    history: MeasurementHistory, measured: Calibration, overrides: MachineSpec
) -> Machine:
    """Machine of a measurement history, with typical parts for unknown ones and typed values on
    top.
    """
    parts = history.fingerprint or UNKNOWN
    return local_machine.seen_machine(
        _host(parts, history.latest), _cards(parts), measured, overrides
    )


def _host(parts: Fingerprint, latest: dict[str, Measurement]) -> HostFacts:
    return HostFacts(
        name=parts.cpu,
        cores=parts.cores or _cores(parts.cpu, latest),
        sockets=parts.sockets,
        instruction_sets=frozenset(parts.instruction_sets),
        memory_total=parts.memory or int(from_spec.TYPICAL_RAM_GIB * GIB),
        memory_available=parts.memory,
        llc=None,
        numa_nodes=1,
        os="",
        notes=(),
    )


def _cores(cpu: str, latest: dict[str, Measurement]) -> int:
    """Cores from the catalogue, else the largest thread count probed."""
    try:
        return find_host(cpu).cores
    except UnknownName:
        ram = latest.get("ram_read")
        return max([1, *(point.threads for point in ram.curve)], default=1) if ram else 1


def _cards(parts: Fingerprint) -> tuple[GpuFacts, ...]:
    sizes = (*parts.gpu_memory, *(0 for _ in parts.gpus))
    return tuple(
        GpuFacts(name=name, vendor="", memory_total=size or None)
        for name, size in zip(parts.gpus, sizes, strict=False)
    )
