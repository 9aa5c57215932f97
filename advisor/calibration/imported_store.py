"""Store of imported machines, by name."""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from advisor.calibration import local_store
from advisor.calibration.fingerprint import Fingerprint, difference
from advisor.calibration.local_store import Calibration
from advisor.calibration.measurement_file import MeasurementHistory, alone, imported, to_json, write
from advisor.calibration.measurement_file import delete as delete_file
from advisor.errors import InputError, StoreError, UnknownName
from advisor.paths import DATA_VARIABLE, data_folder

FOLDER = "machines"
THIS = "this"
"""The name of the machine that the program runs on."""
LONGEST_NAME = 40
_NAME = re.compile(r"\w([\w .()+-]*[\w)+])?")


def names() -> tuple[str, ...]:
    """Names of all imported machines, in alphabetical order."""
    stems = (path.stem for path in (data_folder() / FOLDER).glob("*.json"))
    return tuple(sorted(stems, key=str.casefold))


def is_imported(name: str) -> bool:
    """This machine, or one that was measured elsewhere, is called so."""
    return name.casefold() in {THIS, *map(str.casefold, names())}


def probed(name: str) -> MeasurementHistory:
    """Measurements of a machine.

    Raises:
        UnknownName: there is none of that name.
        StoreError: its file cannot be read.
    """
    if name.casefold() == THIS:
        return local_store.exported()
    path = _path(_known(name))
    try:
        return imported(path.read_bytes(), str(path))
    except (InputError, OSError) as error:
        raise StoreError(
            f"What was measured on {path.stem} cannot be read. {error} "
            "Delete that machine and import it again."
        ) from error


def measured(name: str, now: datetime | None = None) -> Calibration:
    """Measurements of a machine, marked stale after 92 days.

    Args:
        name: of the machine.
        now: the moment at which ages are judged; the present where none is given.

    Raises:
        UnknownName: there is none of that name.
        StoreError: its file cannot be read.
    """
    if name.casefold() == THIS:
        return local_store.load(now)
    return local_store.judged(probed(name), now, f"probed on {_known(name)}")


def keep(history: MeasurementHistory, name: str) -> MeasurementHistory:
    """Save imported measurements; earlier ones of that machine stay beside them.

    Returns:
        All that is known of it now.

    Raises:
        InputError: a name that cannot be used, or that another machine has.
        StoreError: the data folder cannot be written, or the old file cannot be read.
    """
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
    """Rename a machine.

    Returns:
        The name it has now.

    Raises:
        UnknownName: there is none of that name.
        InputError: a name that cannot be used, or that another machine has.
        StoreError: the data folder cannot be written.
    """
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
    """Delete a machine; for this one, delete all its measurements.

    Raises:
        UnknownName: there is none of that name.
        StoreError: the data folder cannot be written.
    """
    if name.casefold() == THIS:
        local_store.forget()
        return
    delete_file(_path(_known(name)))


def with_parts(
    history: MeasurementHistory, *, cpu: str = "", gpus: Iterable[str] = (), memory: int = 0
) -> MeasurementHistory:
    """Fill parts missing from a file with those a person typed.

    Args:
        history: what was measured.
        cpu: name of the processor; empty for unknown.
        gpus: names, in order.
        memory: RAM; 0 for unknown [B].
    """
    known = history.fingerprint or Fingerprint(cpu="", cores=0, memory=0, gpus=())
    known = replace(
        known,
        cpu=known.cpu or cpu,
        memory=known.memory or memory,
        gpus=known.gpus or tuple(gpus),
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
        fingerprint=added.fingerprint or known.fingerprint,
        history=known.with_more(added.history),
    )


def _usable(name: str) -> str:
    """The stored spelling of a name, compared without case."""
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
