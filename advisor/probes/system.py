"""Small questions to the operating system that are never worth an exception."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def operating_system() -> str:
    """As `sys.platform` names it; a function, so that types are checked for all systems at once."""
    return sys.platform


def text(path: Path) -> str:
    """What a small file holds, stripped; empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip("\x00 \n")
    except OSError:
        return ""


def number(path: Path) -> int | None:
    """The whole number that a file holds; None for anything else."""
    return _whole(text(path))


def command(*words: str) -> str:
    """What a short program prints, in English; empty where it is missing or fails."""
    program = shutil.which(words[0])
    if program is None:
        return ""
    try:
        ran = subprocess.run(  # noqa: S603 - a program of the system, words of this package
            (program, *words[1:]),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=5,
            check=True,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return ran.stdout.strip()


def sysctl(key: str) -> int | None:
    """A whole number that macOS knows by `key`; None where it does not."""
    return _whole(command("sysctl", "-n", key))


def _whole(words: str) -> int | None:
    return int(words) if words.isascii() and words.isdigit() else None
