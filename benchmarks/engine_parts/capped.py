"""A process whose memory, page cache included, is capped by a control group of its own."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
NAME = "offload-advisor-benchmark"
CAPS = ("memory.max", "memory.limit_in_bytes")  # files that cap a group's memory, in cgroup 2 and 1
LOOKS = 0.1  # seconds between two looks at what a control group holds
TRIES = 50  # looks after which a group whose processes have ended ought to be empty


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
    group = _folder()
    if group is None:
        raise OSError(2, "no control group for memory")
    parent, file = group
    if file == CAPS[0]:
        (parent / "cgroup.subtree_control").write_text("+memory", encoding="ascii")
    folder = parent / f"{NAME}-{os.getpid()}"
    folder.mkdir()
    try:
        limit(folder, size)
        if (folder / "memory.swap.max").exists():
            (folder / "memory.swap.max").write_text("0", encoding="ascii")
        yield folder
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Take a control group down, as soon as the kernel has let go of its last process."""
    for _ in range(TRIES):
        try:
            folder.rmdir()
        except OSError:
            time.sleep(LOOKS)
        else:
            return
    folder.rmdir()


def limit(folder: Path, size: int) -> None:
    """Cap a control group anew; pages of files go first [B]."""
    names = (name for name in CAPS if (folder / name).exists())
    (folder / next(names)).write_text(str(size), encoding="ascii")


def inside(folder: Path, command: Sequence[str]) -> tuple[str, ...]:
    """The command, begun in a control group."""
    enter = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
    return ("/bin/sh", "-c", enter, str(folder), *command)


def cached(folder: Path) -> int:
    """Pages of files that a control group holds [B]."""
    return _held(folder, "file", "cache")


def kept(folder: Path) -> int:
    """What a control group holds beside pages of files that no program has mapped [B]."""
    sizes = (folder / name for name in ("memory.current", "memory.usage_in_bytes"))
    held = next(int(size.read_text(encoding="ascii")) for size in sizes if size.exists())
    return held - cached(folder) + _held(folder, "file_mapped", "mapped_file")


def _held(folder: Path, *names: str) -> int:
    """A size of which both kinds of control groups have a name of their own [B]."""
    lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
    sizes = dict(line.split() for line in lines)
    return next(int(sizes[name]) for name in names if name in sizes)


@contextmanager
def looked_at(group: Path) -> Iterator[list[int]]:
    """Pages that a control group holds, looked at again and again [B]."""
    sizes: list[int] = []
    with repeated(lambda: sizes.append(cached(group)), LOOKS):
        yield sizes


@contextmanager
def repeated(act: Callable[[], None], every: float) -> Iterator[None]:
    """Something done again and again, after so long each time, until the block ends [s]."""
    done = threading.Event()

    def again() -> None:
        while not done.wait(every):
            act()

    thread = threading.Thread(target=again, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def forget(path: Path) -> None:
    """Drop the pages of a file that no program has mapped."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _folder() -> tuple[Path, str] | None:
    """Where groups for memory are made, and the file that caps one."""
    if (ROOT / "memory" / CAPS[1]).exists():
        return ROOT / "memory", CAPS[1]
    controllers = ROOT / "cgroup.controllers"
    if controllers.exists() and "memory" in controllers.read_text(encoding="ascii").split():
        return ROOT, CAPS[0]
    return None
