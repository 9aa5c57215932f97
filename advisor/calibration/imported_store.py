"""Imported machines by name: their store, and the `Machine` that one makes.

An unknown name raises UnknownName, an invalid one InputError, a folder or file that cannot be read
or written StoreError.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from advisor import given_files
from advisor.calibration import local_machine, measurement_file
from advisor.calibration.imported_names import FOLDER, THIS, is_this, names, stored_name
from advisor.calibration.local_machine import Calibration
from advisor.calibration.measurement_file import Fingerprint, MeasurementHistory, difference
from advisor.errors import InputError, UnknownName
from advisor.failures import StoreError
from advisor.machine import from_spec
from advisor.machine.catalog import HOSTS
from advisor.machine.identify import machine_by_name
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.paths import data_folder
from advisor.permission import check_here
from advisor.probes.gpu.detect import GpuFacts
from advisor.probes.host import HostFacts
from advisor.probes.measurement import Measurement
from advisor.units import GIB

UNKNOWN = Fingerprint(cpu="", cores=0, memory=0, gpus=())
LONGEST_NAME = 40  # most characters of a machine's name
_NAME = re.compile(r"\w([\w .()+-]*[\w)+])?")


def probed(name: str) -> MeasurementHistory:
    """Measurement history of a machine; raises InputError for this machine where it is hidden."""
    if is_this(name):
        check_here(name)
        return local_machine.exported()
    path = _path(_known(name))
    try:
        return measurement_file.imported(
            given_files.kept(path, measurement_file.LARGEST), str(path)
        )
    except InputError as error:
        raise StoreError(
            f"Measurements of {path.stem} cannot be read. {error} "
            "Delete that machine and import it again."
        ) from error


def measured(name: str, now: datetime | None = None) -> Calibration:
    """Measurements of a machine, marked stale after 92 days."""
    if is_this(name):
        check_here(name)
        return local_machine.load(now)
    return local_machine.judged(probed(name), now, f"probed on {_known(name)}")


def keep(history: MeasurementHistory, name: str) -> MeasurementHistory:
    """Measurement history of a machine, with imported measurements merged in and saved."""
    name = name.strip()
    _check(name)
    name = stored_name(name) or name
    with measurement_file.alone(data_folder() / FOLDER, f"{name} cannot be saved"):
        if name in names():
            earlier = probed(name)
        else:
            earlier = None
        if earlier is not None:
            before = earlier.fingerprint
            added = history.fingerprint
            if before and added and (differs := difference(before, added)):
                raise InputError(
                    f"{name} is another machine already. {differs.removesuffix('; probe again.')}. "
                    f"Give another name, or delete {name} first."
                )
            history = MeasurementHistory(
                fingerprint=added or before, history=earlier.with_more(history.history)
            )
        measurement_file.write(_path(name), measurement_file.to_json(history))
    return history


def rename(name: str, new: str) -> str:
    """New name of a machine after renaming it, without surrounding spaces."""
    if is_this(name):
        raise InputError(f"{THIS!r} is the machine you are on; only others have names.")
    old = _known(name)
    new = new.strip()
    _check(new)
    if stored_name(new) not in ("", old):
        raise InputError(f"Another machine is called {new} already; give another name.")
    with measurement_file.alone(data_folder() / FOLDER, f"{old} cannot be renamed"):
        _path(old).rename(_path(new))
    return new


def delete(name: str) -> None:
    """Delete an imported machine, or all measurements of this one."""
    if is_this(name):
        local_machine.forget()
        return
    measurement_file.delete(_path(_known(name)))


def with_parts(
    history: MeasurementHistory, *, cpu: str = "", gpus: Iterable[str] = (), memory: int = 0
) -> MeasurementHistory:
    """History with the parts missing from its file as typed; empty or 0 for unknown."""
    parts = history.fingerprint or UNKNOWN
    parts = replace(
        parts, cpu=parts.cpu or cpu, memory=parts.memory or memory, gpus=parts.gpus or tuple(gpus)
    )
    return replace(history, fingerprint=None if parts == UNKNOWN else parts)


def _check(name: str) -> None:
    if is_this(name):
        raise InputError(f"{THIS!r} is the machine you are on; give another name.")
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        raise InputError(
            f"{name[:80]!r} cannot be the name of a machine; use up to {LONGEST_NAME} letters, "
            "digits, spaces and . ( ) + - _ and begin with a letter or digit."
        )


def _known(name: str) -> str:
    if stored := stored_name(name):
        return stored
    raise UnknownName(
        "machine", name, (THIS, *names()), "`python -m advisor calibration list` names them all."
    )


def _path(name: str) -> Path:
    return data_folder() / FOLDER / f"{name}.json"


# Machine built from imported measurements, with typed values on top.


def named_machine(
    name: str, overrides: MachineSpec | None = None, measured: Calibration | None = None
) -> Machine:
    """Imported machine, this one, or one that a name describes; typed values on top.

    Example:
        >>> named_machine("3090 with 64 GB").gpus[0].name
        'RTX 3090'
    """
    inputs = overrides or MachineSpec()
    if is_this(name):
        check_here(name)
        return local_machine.this_machine(inputs, measured)
    if not stored_name(name):
        with suppress(UnknownName):
            return machine_by_name(name, inputs)
    history = probed(name)
    parts = history.fingerprint or UNKNOWN
    if not parts.memory and inputs.ram_gb is None:
        raise InputError(
            f"The imported file does not state how much RAM {name} has; give it (--ram-gb on the "
            "command line), with its GPU and processor."
        )
    source = f"probed on {_known(name)}"
    return as_probed(history, measured or local_machine.judged(history, source=source), inputs)


def as_probed(
    history: MeasurementHistory, measured: Calibration, overrides: MachineSpec
) -> Machine:
    """Machine of a measurement history, completed by typical parts, typed values on top."""
    parts = history.fingerprint or UNKNOWN
    sizes = (*parts.gpu_memory, *(0 for _ in parts.gpus))
    cards = tuple(
        GpuFacts(name=name, vendor="", memory_total=size or None)
        for name, size in zip(parts.gpus, sizes, strict=False)
    )
    host = HostFacts(
        name=parts.cpu,
        cores=parts.cores or _cores(parts.cpu, history.latest),
        sockets=parts.sockets,
        instruction_sets=frozenset(parts.instruction_sets),
        memory_total=parts.memory or int(from_spec.TYPICAL.ram_gib * GIB),
        memory_available=parts.memory,
        llc=None,
        os="",
        notes=(),
    )
    return local_machine.seen_machine(host, cards, measured, overrides)


def _cores(cpu: str, latest: dict[str, Measurement]) -> int:
    """Cores from the catalogue, or the largest probed number of threads."""
    try:
        return HOSTS.find(cpu).cores
    except UnknownName:
        ram = latest.get("ram_read")
        if ram:
            return max([1, *(point.threads for point in ram.curve)], default=1)
        return 1
