"""Measurement history of a machine, and its file format.

The file holds all measurements, oldest first; the latest of each name counts. The same format is
used for saving, export and import:

    {"version": 1, "fingerprint": {...} or null, "measurements": [...]}
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from advisor import given_files
from advisor.catalog.records import checked
from advisor.errors import InputError
from advisor.failures import StoreError
from advisor.paths import DATA_VARIABLE
from advisor.probes import host
from advisor.probes.gpu import detect
from advisor.probes.measurement import Measurement
from advisor.units import GIB

# Fingerprint of a machine: the parts that must match its measurements.

_SAME_MEMORY = 0.03
"""Tolerance for the size of RAM, as a share of it: the kernel's own part changes with updates."""


@dataclass(frozen=True, kw_only=True)
class Fingerprint:
    """Known parts of a machine."""

    cpu: str  # name of the processor; empty where unknown
    cores: int  # usable physical cores; 0 where unknown
    memory: int  # size of RAM; 0 where unknown [B]
    gpus: tuple[str, ...]  # names of the GPUs, in the driver's order
    sockets: int = 1  # number of processor packages
    instruction_sets: tuple[str, ...] = ()  # as `HostFacts.instruction_sets`, in alphabetical order
    # memory of each GPU; 0 where the driver does not report it [B]
    gpu_memory: tuple[int, ...] = ()
    driver: str = ""  # version of the GPU driver; empty where unknown


def fingerprint() -> Fingerprint:
    """Fingerprint of this machine; its GPU driver takes tens of milliseconds to answer."""
    facts = host.facts()
    gpus, _ = detect.gpus()
    return Fingerprint(
        cpu=facts.name,
        cores=facts.cores,
        memory=facts.memory_total,
        gpus=tuple(gpu.name for gpu in gpus),
        sockets=facts.sockets,
        instruction_sets=tuple(sorted(facts.instruction_sets)),
        gpu_memory=tuple(gpu.memory_total or 0 for gpu in gpus),
        driver=next((gpu.driver for gpu in gpus if gpu.driver), ""),
    )


def difference(saved: Fingerprint, now: Fingerprint) -> str:
    """Sentence on the difference between the measured and the present machine; empty if there is
    none.
    """
    if saved.cpu != now.cpu:
        return f"Measured on {saved.cpu}, and this is {now.cpu}; probe again."
    if saved.cores != now.cores:
        return f"Measured with {saved.cores} cores, and {now.cores} can be used now; probe again."
    if abs(saved.memory - now.memory) > _SAME_MEMORY * saved.memory:
        sizes = f"{saved.memory / GIB:.1f} GB of RAM, and this has {now.memory / GIB:.1f} GB"
        return f"Measured with {sizes}; probe again."
    if saved.gpus != now.gpus:
        before, after = (", ".join(names) or "no GPU" for names in (saved.gpus, now.gpus))
        return f"Measured with {before}, and this has {after}; probe again."
    return ""


def other_driver(saved: Fingerprint, now: Fingerprint) -> str:
    """Sentence on a change of the GPU driver since the measurement; empty if there is none, or
    unknown.
    """
    if not saved.driver or not now.driver or saved.driver == now.driver:
        return ""
    return f"Measured with GPU driver {saved.driver}, and this is {now.driver}; probe again."


VERSION = 1
MOST_KEPT = 200  # most measurements kept of each name; older ones are dropped
LARGEST = 16_000_000
"""Largest file that is read, twice the size of 200 measurements of each name [B]."""
UNITS = frozenset({"B", "B/s", "s", "FLOP/s", "generation", "lanes"})
"""Allowed units; a value in another unit would be misread."""
UNREADABLE = (
    InputError, ValueError, KeyError, TypeError, RecursionError, AttributeError, OverflowError,
)  # fmt: skip
"""Errors raised by files of a wrong format."""
WRITERS = "`python -m advisor calibration export` or `python -m advisor probe --json`"


class NewerFile(ValueError):
    """File of a newer version of this program."""


@dataclass(frozen=True, kw_only=True)
class MeasurementHistory:
    """Measurements of one machine."""

    fingerprint: Fingerprint | None  # parts of the machine; None where unknown
    history: tuple[Measurement, ...]  # all measurements, oldest first

    @property
    def latest(self) -> dict[str, Measurement]:
        """Newest measurement of each name."""
        return {measurement.name: measurement for measurement in self.history}

    def with_more(self, measurements: Iterable[Measurement]) -> tuple[Measurement, ...]:
        """History merged with other measurements, without duplicates, oldest first."""
        both = dict.fromkeys((*self.history, *measurements))
        ordered = sorted(both, key=lambda measurement: moment(measurement.when))
        return tuple(reversed(list(_newest(reversed(ordered)))))


def _newest(measurements: Iterable[Measurement]) -> Iterator[Measurement]:
    """Newest `MOST_KEPT` measurements of each name."""
    seen: Counter[str] = Counter()
    for measurement in measurements:
        seen[measurement.name] += 1
        if seen[measurement.name] <= MOST_KEPT:
            yield measurement


def to_json(probed: MeasurementHistory) -> dict[str, Any]:
    """JSON content of a history."""
    return {
        "version": VERSION,
        "fingerprint": None if probed.fingerprint is None else asdict(probed.fingerprint),
        "measurements": [asdict(measurement) for measurement in probed.history],
    }


def from_json(content: Any) -> MeasurementHistory:
    """History of JSON content; raises `UNREADABLE`. A plain list has no fingerprint."""
    if isinstance(content, list):
        content = {"fingerprint": None, "measurements": content}
    if int(content.get("version", VERSION)) > VERSION:
        raise NewerFile(f"it is version {content['version']}, the newest known is {VERSION}")
    seen = content["fingerprint"]
    measured = [_measurement(*row) for row in enumerate(content["measurements"])]
    return MeasurementHistory(
        fingerprint=checked(Fingerprint | None, seen, "fingerprint"),
        history=tuple(sorted(measured, key=lambda measurement: moment(measurement.when))),
    )


def imported(text: str | bytes, name: str) -> MeasurementHistory:
    """History of an exported file; InputError for another, an empty or too large one."""
    if len(text) > LARGEST:
        raise InputError(
            f"{name} has more than {LARGEST:,} bytes, too many for the measurements of a machine; "
            f"give a file that {WRITERS} wrote."
        )
    try:
        history = from_json(json.loads(text))
    except UNREADABLE as error:
        raise InputError(
            f"{name} holds no measurements of a machine ({_reason(error)}); give a file that "
            f"{WRITERS} wrote."
        ) from error
    if not history.history:
        raise InputError(f"{name} holds no measurement; give a file that {WRITERS} wrote.")
    return history


def _reason(error: Exception) -> str:
    missing = isinstance(error, KeyError)
    if missing:
        return f"{error} is missing"
    return str(error).removesuffix(".")[:120]


@contextmanager
def alone(folder: Path, failure: str) -> Iterator[None]:
    """Lock on a folder, which is created if missing; other processes wait for it.

    (No lock on Windows, nor on network drives without locks.)
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as locks:
            with suppress(ImportError, OSError):
                import fcntl  # does not exist on Windows

                descriptor = os.open(folder, os.O_RDONLY)
                locks.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise StoreError(
            f"{failure} in {folder} ({error.strerror}); set {DATA_VARIABLE} to a folder that can "
            "be written."
        ) from error


def write(path: Path, content: Any) -> None:
    """Write JSON to a file in one step (`given_files.replace_file`). OSError leaves the old
    file.
    """
    given_files.replace_file(path, json.dumps(content, indent=1))


def delete(path: Path) -> None:
    """Delete a file if it exists."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be deleted ({error.strerror}); delete it by hand."
        ) from error


def moment(when: str) -> datetime:
    """Time of a measurement, in UTC where it has no offset; ValueError or TypeError for no ISO 8601
    time.
    """
    time = datetime.fromisoformat(when)
    if time.tzinfo:
        return time
    return time.replace(tzinfo=UTC)


def _measurement(number: int, row: Any) -> Measurement:
    where = f"measurements[{number}]"
    read: Measurement = checked(Measurement, row, where)
    if not read.value > 0:
        raise InputError(f"{where}.value is {read.value}; it should be above 0.")
    if read.unit not in UNITS:
        units = ", ".join(sorted(UNITS))
        raise InputError(f"{read.name} is in {read.unit[:20]}; units are {units}")
    return replace(read, when=moment(read.when).isoformat())
