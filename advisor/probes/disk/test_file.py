"""File for the disk probe: an existing file, never changed, or a temporary one."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from advisor.failures import ProbeError
from advisor.paths import data_folder
from advisor.probes import measurement
from advisor.probes.host import operating_system
from advisor.units import GB, MIB

BLOCK = int(4 * MIB)
SYNC = int(64 * MIB)
LEAST_FREE = int(GB)
LOW_FREE = int(10 * GB)
MEMORY_FILESYSTEMS = frozenset({"tmpfs", "ramfs", "devtmpfs"})
NETWORK = "a network file system, whose server may answer from memory"
OF_HOST = "a folder of the host, which may answer from memory"
OTHERS = {
    "overlay": "a container's layered file system: a model in a mounted folder may lie elsewhere",
    "zfs": "a file system with a cache of its own that cannot be emptied",
    **dict.fromkeys(("nfs", "nfs4", "cifs", "smb3"), NETWORK),
    **dict.fromkeys(("9p", "virtiofs"), OF_HOST),
}
"""File systems whose reads may not come from the drive they seem to be on."""
NAMED = "offload-advisor-probe-"
ABANDONED = 600  # seconds after which a test file belongs to no probe that still runs


@dataclass(frozen=True, kw_only=True)
class DriveFile:
    """File to read."""

    path: Path  # path for opening it
    size: int  # size in whole blocks [B]
    note: str  # description of the file


def default_folder() -> Path:
    """Program's data folder; where it cannot be written, a folder for temporary files."""
    wanted = data_folder()
    with suppress(OSError):
        wanted.mkdir(parents=True, exist_ok=True)
    folders = [wanted, Path("/var/tmp")]  # noqa: S108  files in it are made with random names
    with suppress(ProbeError):
        folders.append(temporary_folder())
    for folder in folders:
        if os.access(folder, os.W_OK) and filesystem(folder) not in MEMORY_FILESYSTEMS:
            return folder
    raise ProbeError(
        f"{wanted} cannot be written, and neither can a folder for temporary files on a drive; "
        "give a folder or a model file to read."
    )


def temporary_folder() -> Path:
    """Folder for temporary files."""
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        raise ProbeError(
            f"Nowhere can temporary files be written ({error.strerror}); set TMPDIR to a folder "
            "with room that can."
        ) from error


def filesystem(path: Path) -> str:
    """Type of a path's file system ("ext4"); empty where unknown."""
    target = path.resolve()
    mounts = [
        (len(mount.mountpoint), mount.fstype)
        for mount in psutil.disk_partitions(all=True)
        if target.is_relative_to(mount.mountpoint)
    ]
    # Of two on one mount point the later hides the earlier.
    return max(reversed(mounts), key=lambda entry: entry[0], default=(0, ""))[1]


def look_at(path: Path) -> None:
    """Check that a path exists, can be read and is not in memory."""
    try:
        path.stat()
    except OSError as error:
        raise ProbeError(
            f"{path} cannot be accessed ({error.strerror}); give a folder or file that exists."
        ) from error
    kind = filesystem(path)
    if kind in MEMORY_FILESYSTEMS:
        raise ProbeError(
            f"{path} lies on {kind}, which is memory and not a drive; give a folder or a model "
            "file on the drive that holds the model."
        )


def existing(path: Path) -> DriveFile:
    """File of the user, which is only read."""
    try:
        size = path.stat().st_size
        with path.open("rb"):
            pass
    except OSError as error:
        raise ProbeError(f"{path} cannot be read ({error.strerror}); give another file.") from None
    if size < BLOCK:
        raise ProbeError(
            f"{path} has {size / MIB:.1f} MB and the probe reads blocks of {BLOCK / MIB:.0f} MB; "
            "give a larger file, such as a model, or a folder to write one in."
        )
    note = f"Read a file of {size / GB:.2f} GB{_place(path)}."
    return DriveFile(path=path, size=size // BLOCK * BLOCK, note=note)


def _place(path: Path) -> str:
    """Words about the file system of a path, for a note."""
    kind = filesystem(path)
    if kind in OTHERS:
        return f" on {kind}, {OTHERS[kind]}"
    if kind:
        return f" on {kind}"
    return ""


@contextmanager
def temporary(
    folder: Path, size: int, seconds: float, stop: Callable[[float], bool]
) -> Iterator[DriveFile | None]:
    """Temporary file of incompressible bytes, None when stopped; deleted at the end of the block,
    even after a kill.

    At most a quarter of the free space is written, and as much as the seconds allow. (Outside
    Linux, where a file without a name cannot be opened again, a kill leaves it; the next probe
    there removes it.)
    """
    with ExitStack() as stack:
        try:
            free = shutil.disk_usage(folder).free
            if free < LEAST_FREE:
                raise ProbeError(
                    f"{folder} has {free / GB:.2f} GB free and a test file needs "
                    f"{LEAST_FREE / GB:.0f} GB free; make room, or give a model file to read."
                )
            size = min(size, free // 4) // BLOCK * BLOCK
            descriptor, path = stack.enter_context(unnamed(folder))
            written = _fill(descriptor, size, seconds, stop)
        except OSError as error:
            raise ProbeError(
                f"{folder} cannot hold a test file ({error.strerror}); give another folder, or a "
                "model file to read."
            ) from error
        note = f"Read an own file of {written / GB:.2f} GB in {folder}{_place(folder)}."
        if free < LOW_FREE:
            note += f" Only {free / GB:.1f} GB are free there, and full drives are slow."
        yield DriveFile(path=path, size=written, note=note) if written else None


@contextmanager
def unnamed(folder: Path) -> Iterator[tuple[int, Path]]:
    """Descriptor of a new file without a name, and a path by which it is opened again."""
    if operating_system() == "linux":
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            yield file.fileno(), Path(f"/proc/self/fd/{file.fileno()}")
        return
    for path in folder.glob(f"{NAMED}*"):
        if time.time() - path.stat().st_mtime > ABANDONED:
            path.unlink(missing_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=NAMED, dir=folder)
    try:
        yield descriptor, Path(name)
    finally:
        os.close(descriptor)
        Path(name).unlink(missing_ok=True)


def _fill(descriptor: int, size: int, seconds: float, stop: Callable[[float], bool]) -> int:
    """Write random bytes through to the drive, and return their number; 0 when stopped [B]."""
    generator = np.random.Generator(np.random.SFC64())
    until = measurement.now() + seconds
    written = 0
    while written < size and (written < SYNC or measurement.now() < until):
        if stop(written / size):
            return 0
        written += os.write(descriptor, generator.bytes(min(BLOCK, size - written)))
        if written % SYNC == 0:
            os.fsync(descriptor)
    os.fsync(descriptor)
    return written // BLOCK * BLOCK
