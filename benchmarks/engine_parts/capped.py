"""A process whose memory, page cache included, is capped by a control group of its own."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
NAME = "offload-advisor-benchmark"


def missing() -> str:
    """Why no memory can be capped here; empty where it can."""
    if _folder() is None:
        return "no control group for memory (Linux, cgroup 1 or 2)"
    try:
        with capped(2**30):
            return ""
    except OSError as error:
        return f"no right to make a control group ({error.strerror}); run it as root"


@contextmanager
def capped(size: int) -> Iterator[Path]:
    """A control group with so much memory and no swap, gone when the block ends [B]."""
    found = _folder()
    if found is None:
        raise OSError(2, "no control group for memory")
    parent, file = found
    if file == "memory.max":
        (parent / "cgroup.subtree_control").write_text("+memory", encoding="ascii")
    folder = parent / f"{NAME}-{os.getpid()}"
    folder.mkdir()
    try:
        (folder / file).write_text(str(size), encoding="ascii")
        if (folder / "memory.swap.max").exists():
            (folder / "memory.swap.max").write_text("0", encoding="ascii")
        yield folder
    finally:
        folder.rmdir()


def inside(folder: Path, command: Sequence[str]) -> tuple[str, ...]:
    """The command, begun in a control group."""
    enter = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
    return ("/bin/sh", "-c", enter, str(folder), *command)


def cached(folder: Path) -> int:
    """Pages of files that a control group holds [B]."""
    lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
    sizes = dict(line.split() for line in lines)
    return int(sizes["file"] if "file" in sizes else sizes["cache"])


def _folder() -> tuple[Path, str] | None:
    """Where groups for memory are made, and the file that caps one."""
    if (ROOT / "memory/memory.limit_in_bytes").exists():
        return ROOT / "memory", "memory.limit_in_bytes"
    controllers = ROOT / "cgroup.controllers"
    if controllers.exists() and "memory" in controllers.read_text(encoding="ascii").split():
        return ROOT, "memory.max"
    return None
