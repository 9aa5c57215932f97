"""Container and systemd limits of this process."""

import re
from collections.abc import Iterator
from pathlib import Path

from advisor.probes.system import number, text

UNLIMITED = 2**60  # version 1 writes "no limit" as a number near 2**63


def cpu_limit(root: Path = Path("/")) -> float | None:
    """Limit on processor time, as a number of processors; None for no limit.

    Args:
        root: folder that contains /proc and /sys.
    """
    quotas = [
        *(_quota(folder / "cpu.max") for folder in _folders(root, "")),
        *(_quota_v1(folder) for folder in _folders(root, "cpu")),
    ]
    return min((quota for quota in quotas if quota is not None), default=None)


def memory_limit(root: Path = Path("/")) -> int | None:
    """Limit on the memory of the process [B]; None for no limit."""
    return min((limit for limit, _ in _memory_groups(root)), default=None)


def memory_left(root: Path = Path("/")) -> int | None:
    """Memory that the process may still allocate under its limits [B]; None for no limit.

    Page cache that the kernel would drop first counts as free.
    """
    left = (max(0, limit - _working_set(folder)) for limit, folder in _memory_groups(root))
    return min(left, default=None)


def _memory_groups(root: Path) -> Iterator[tuple[int, Path]]:
    for controller, name in (("", "memory.max"), ("memory", "memory.limit_in_bytes")):
        for folder in _folders(root, controller):
            limit = number(folder / name)
            if limit is not None and limit < UNLIMITED:
                yield limit, folder


def _folders(root: Path, controller: str) -> Iterator[Path]:
    """Folders of the process's control group and its parents; no `controller` for version 2."""
    for line in text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controller in controllers.split(","):
            parts = [part for part in path.split("/") if part and part != ".."]
            for mount in _mounts(root, controller, controllers):
                for depth in range(len(parts), -1, -1):
                    yield mount.joinpath(*parts[:depth])


def _mounts(root: Path, controller: str, controllers: str) -> tuple[Path, ...]:
    base = root / "sys/fs/cgroup"
    return (base / controllers, base / controller) if controller else (base, base / "unified")


def _quota(path: Path) -> float | None:
    match = re.match(r"(\d+) (\d+)", text(path))
    return int(match[1]) / int(match[2]) if match and int(match[2]) else None


def _quota_v1(folder: Path) -> float | None:
    quota, period = number(folder / "cpu.cfs_quota_us"), number(folder / "cpu.cfs_period_us")
    return quota / period if quota and period else None


def _working_set(folder: Path) -> int:
    used = number(folder / "memory.current") or number(folder / "memory.usage_in_bytes") or 0
    match = re.search(
        r"^(?:total_)?inactive_file (\d+)", text(folder / "memory.stat"), re.MULTILINE
    )
    return max(0, used - int(match[1])) if match else used
