"""Options of runtimes: those that a command prints, and those that a release is known to have.

Each file of tests/samples/flags says in its first lines which release was read, where and when.
"""

import re
from collections.abc import Iterable
from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "samples" / "flags"


def flags(words: Iterable[str]) -> set[str]:
    """Words of a command that are options."""
    return {word for word in words if re.fullmatch(r"--?[a-z][\w-]*", word)}


def listed(name: str) -> set[str]:
    """Options of a release, and other names it is told by."""
    lines = (SAMPLES / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return {one for one in lines if not one.startswith("#")}
