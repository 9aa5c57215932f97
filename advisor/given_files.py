"""Files that a person names: regular ones of a stated size, read in one way at every door.

A pipe, a device or a file of the kernel is refused rather than waited for, and nothing is read
beyond the limit, however large the file says it is.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from advisor.errors import InputError
from advisor.permission import check_path

FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""A pipe without a writer, and a log of the kernel, answer at once instead of waiting."""


def content(path: Path, most: int) -> bytes:
    """Content of a regular file that a person names; InputError if it may not or cannot be read, or
    has more than `most` bytes.
    """
    check_path(path)
    return kept(path, most)


def kept(path: Path, most: int) -> bytes:
    """Content of a file that the program wrote itself under a name of its own; raises what
    `content` raises.
    """
    with _opened(path) as file:
        try:
            # None where the system has nothing to give now.
            data = file.read(most + 1) or b""
        except OSError as error:
            raise InputError(f"{shown(path)} cannot be read: {reason(error)}.") from error
    if len(data) > most:
        raise InputError(
            f"{shown(path)} has more than {most:,} bytes, the most that is read of such a file; "
            "give a smaller one."
        )
    return data


UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""Marks at the start of a text in UTF-16, as Windows PowerShell writes what a program printed."""


def decoded(data: bytes) -> str:
    """Text of the content of a file: in UTF-8 with or without a mark, or in UTF-16 with one; raises
    UnicodeDecodeError.
    """
    if data.startswith(UTF_16):
        return data.decode("utf-16")
    return data.decode("utf-8-sig")


def text(path: Path, most: int) -> str:
    """Text of a file in UTF-8, with or without a mark; InputError as `content`."""
    try:
        return content(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{shown(path)} is no text in UTF-8: {error.reason}.") from error


def opened(path: Path) -> BinaryIO:
    """Regular file that a person names, opened for reading.

    Raises InputError for a file that may not be read, or does not exist, and for a folder, a pipe
    or a device.
    """
    check_path(path)
    return _opened(path)


def _opened(path: Path) -> BinaryIO:
    try:
        descriptor = os.open(path, FLAGS)
    except (OSError, ValueError) as error:
        raise InputError(f"{shown(path)} cannot be read: {reason(error)}.") from error
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    with suppress(OSError):
        os.close(descriptor)
    raise InputError(
        f"{shown(path)} cannot be read: it is a folder, a pipe or a device. Give the path of an "
        "ordinary file."
    )


def shown(path: Path) -> str:
    """Path as errors print it: one line of 200 characters at most."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in str(path))
    if len(printable) <= 200:
        return printable
    return f"{printable[:197]}..."


def reason(error: Exception) -> str:
    """Reason of a failed access, in the system's words."""
    return getattr(error, "strerror", None) or str(error)


def replace_file(path: Path, text: str) -> None:
    """Write a file at once: readers see the old one or the new one, even after a power cut.

    Raises:
        OSError: it cannot be written; the old one stays.
    """
    # A fixed name, so that the remains of a killed process are overwritten and do not pile up.
    fresh = path.with_name(f"{path.name}.new")
    try:
        with fresh.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
