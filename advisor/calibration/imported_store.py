"""Store of imported machines, by name.

An unknown name raises UnknownName, an invalid one InputError, a folder or file that cannot be read
or written StoreError.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from advisor import given_files
from advisor.calibration import local_machine
from advisor.calibration.local_machine import Calibration
from advisor.calibration.measurement_file import (
    LARGEST,
    Fingerprint,
    MeasurementHistory,
    alone,
    difference,
    imported,
    to_json,
    write,
)
from advisor.calibration.measurement_file import delete as delete_file
from advisor.errors import InputError, StoreError, UnknownName
from advisor.paths import DATA_VARIABLE, data_folder

FOLDER = "machines"
THIS = "this"
"""Name of the machine that the program runs on."""
LONGEST_NAME = 40
"""Most characters of a machine's name."""
_NAME = re.compile(r"\w([\w .()+-]*[\w)+])?")


def names() -> tuple[str, ...]:
    """Names of all imported machines, in alphabetical order."""
    stems = (path.stem for path in (data_folder() / FOLDER).glob("*.json"))
    return tuple(sorted(stems, key=str.casefold))


def is_imported(name: str) -> bool:
    """Whether the name is "this" or that of an imported machine, ignoring case."""
    return name.casefold() in {THIS, *map(str.casefold, names())}


def probed(name: str) -> MeasurementHistory:
    """Measurement history of a machine."""
    if name.casefold() == THIS:
        return local_machine.exported()
    path = _path(_known(name))
    try:
        return imported(given_files.content(path, LARGEST), str(path))
    except InputError as error:
        raise StoreError(
            f"Measurements of {path.stem} cannot be read. {error} "
            "Delete that machine and import it again."
        ) from error


def measured(name: str, now: datetime | None = None) -> Calibration:
    """Measurements of a machine, marked stale after 92 days."""
    if name.casefold() == THIS:
        return local_machine.load(now)
    return local_machine.judged(probed(name), now, f"probed on {_known(name)}")


def keep(history: MeasurementHistory, name: str) -> MeasurementHistory:
    """Merged history after saving imported measurements beside earlier ones of the same machine."""
    name = _usable(name)
    try:
        with alone(data_folder() / FOLDER):
            if name in names():
                history = _together(probed(name), history, name)
            write(_path(name), to_json(history))
    except OSError as error:
        raise StoreError(
            f"{name} cannot be saved in {_path(name).parent} ({error.strerror}); set "
            f"{DATA_VARIABLE} to a folder that can be written."
        ) from error
    return history


def rename(name: str, new: str) -> str:
    """New name of a machine after renaming it, without surrounding spaces."""
    if name.casefold() == THIS:
        raise InputError(f"{THIS!r} is the machine you are on; only others have names.")
    old, new = _known(name), new.strip()
    _check(new)
    if any(taken.casefold() == new.casefold() for taken in names() if taken != old):
        raise InputError(f"Another machine is called {new} already; give another name.")
    try:
        with alone(data_folder() / FOLDER):
            _path(old).rename(_path(new))
    except OSError as error:
        raise StoreError(
            f"{old} cannot be renamed in {_path(old).parent} ({error.strerror})."
        ) from error
    return new


def delete(name: str) -> None:
    """Delete an imported machine, or all measurements of this one."""
    if name.casefold() == THIS:
        local_machine.forget()
        return
    delete_file(_path(_known(name)))


def with_parts(
    history: MeasurementHistory, *, cpu: str = "", gpus: Iterable[str] = (), memory: int = 0
) -> MeasurementHistory:
    """History with the parts missing from its file as typed; empty or 0 for unknown."""
    known = history.fingerprint or Fingerprint(cpu="", cores=0, memory=0, gpus=())
    known = replace(
        known, cpu=known.cpu or cpu, memory=known.memory or memory, gpus=known.gpus or tuple(gpus)
    )
    nothing = known == Fingerprint(cpu="", cores=0, memory=0, gpus=())
    return replace(history, fingerprint=None if nothing else known)


def _together(
    known: MeasurementHistory, added: MeasurementHistory, name: str
) -> MeasurementHistory:
    if known.fingerprint and added.fingerprint:
        differs = difference(known.fingerprint, added.fingerprint).removesuffix("; probe again.")
        if differs:
            raise InputError(
                f"{name} is another machine already. {differs}. Give another name, or delete "
                f"{name} first."
            )
    return MeasurementHistory(
        fingerprint=added.fingerprint or known.fingerprint, history=known.with_more(added.history)
    )


def _usable(name: str) -> str:
    """Stored spelling of a name, ignoring case; a new name unchanged."""
    name = name.strip()
    _check(name)
    return next((kept for kept in names() if kept.casefold() == name.casefold()), name)


def _check(name: str) -> None:
    if name.casefold() == THIS:
        raise InputError(f"{THIS!r} is the machine you are on; give another name.")
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        raise InputError(
            f"{name[:80]!r} cannot be the name of a machine; use up to {LONGEST_NAME} letters, "
            "digits, spaces and . ( ) + - _ and begin with a letter or digit."
        )


def _known(name: str) -> str:
    for kept in names():
        if kept.casefold() == name.strip().casefold():
            return kept
    raise UnknownName(
        "machine", name, (THIS, *names()), "`python -m advisor calibration list` names them all."
    )


def _path(name: str) -> Path:
    return data_folder() / FOLDER / f"{name}.json"
