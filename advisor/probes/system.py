"""Small operating-system queries that return empty or None instead of raising."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def operating_system() -> str:
    """Value of `sys.platform`; a function, so that mypy checks the code for all systems."""
    return sys.platform


def text(path: Path) -> str:
    """Text of a small file, stripped; empty if unreadable."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip("\x00 \n")
    except OSError:
        return ""


def number(path: Path) -> int | None:
    """Whole number in a file; None for anything else."""
    return _whole(text(path))


def command(*words: str) -> str:
    """Output of a short program, in English; empty if it is missing or fails."""
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


def read_ahead(path: Path) -> int | None:
    """Linux read-ahead of a file's drive [B]; None if unknown."""
    try:
        device = path.stat().st_dev
    except OSError:
        return None
    name = f"{os.major(device)}:{os.minor(device)}" if hasattr(os, "major") else ""
    size = number(Path("/sys/class/bdi") / name / "read_ahead_kb")
    return None if size is None else size * 2**10


def sysctl(key: str) -> int | None:
    """Whole number of a macOS sysctl key; None if unknown."""
    return _whole(command("sysctl", "-n", key))


def _whole(words: str) -> int | None:
    return int(words) if words.isascii() and words.isdigit() else None
