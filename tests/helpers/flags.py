"""Options of runtimes: those in a command, and those of a release.

The first lines of each file of tests/samples/flags state release, source and date.
"""

import re
from collections.abc import Iterable
from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "samples" / "flags"


def flags(words: Iterable[str]) -> set[str]:
    """Options among the words of a command."""
    return {word for word in words if re.fullmatch(r"--?[a-z][\w-]*", word)}


def listed(name: str) -> set[str]:
    """Options of a release, and names of its environment variables and parameters."""
    lines = (SAMPLES / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return {line for line in lines if not line.startswith("#")}
