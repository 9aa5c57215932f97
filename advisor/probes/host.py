"""Inventory of the host: processor, memory, caches. Needs no root, never raises."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import psutil

# Small operating-system queries that return empty or None instead of raising.


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
    """Whole number in a file; None for other content."""
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
    if hasattr(os, "major"):
        name = f"{os.major(device)}:{os.minor(device)}"
    else:
        name = ""
    size = number(Path("/sys/class/bdi") / name / "read_ahead_kb")
    if size is None:
        return None
    return size * 2**10


def sysctl(key: str) -> int | None:
    """Whole number of a macOS sysctl key; None if unknown."""
    return _whole(command("sysctl", "-n", key))


def _whole(words: str) -> int | None:
    if words.isascii() and words.isdigit():
        return int(words)
    return None


# Processor time taken by other programs during a measurement.


class Neighbours:
    """Watch on the processor time of other programs from its creation, without ended child
    processes.
    """

    def __init__(self) -> None:
        self._all, self._idle, self._own = _times()

    def share(self) -> float:
        """Share of all processors that others took; 0 on Windows, which hides ended children."""
        if operating_system() == "win32":
            return 0.0
        everything, idle, own = _times()
        taken = (everything - self._all) - (idle - self._idle) - (own - self._own)
        return min(max(taken / max(everything - self._all, 1e-9), 0.0), 1.0)

    def note(self, least: float) -> str:
        """Warning where other programs took more than the share `least`; empty where they did
        not.
        """
        share = self.share()
        if share <= least:
            return ""
        return f"Other programs took {share:.0%} of the processor meanwhile; repeat it at rest."


def _times() -> tuple[float, float, float]:
    """Processor times: total, idle, and own with ended child processes [s]."""
    seen = psutil.cpu_times()
    own = os.times()
    # Time of guests is counted in `user` and `nice` already.
    everything = sum(seen) - getattr(seen, "guest", 0.0) - getattr(seen, "guest_nice", 0.0)
    idle = seen.idle + getattr(seen, "iowait", 0.0)
    used = own.user + own.system + own.children_user + own.children_system
    return everything, idle, used


# Container and systemd limits of this process, or of that of a number.

UNLIMITED = 2**60  # version 1 writes "no limit" as a number near 2**63


def cpu_limit(root: Path = Path("/"), process: str = "self") -> float | None:
    """Limit on processor time, as a number of processors; None for no limit."""
    stated = [text(folder / "cpu.max") for folder in _folders(root, "", process)]
    stated += (
        f"{text(folder / 'cpu.cfs_quota_us')} {text(folder / 'cpu.cfs_period_us')}"
        for folder in _folders(root, "cpu", process)
    )
    quotas = (re.match(r"([1-9]\d*) ([1-9]\d*)", words) for words in stated)
    return min((int(quota[1]) / int(quota[2]) for quota in quotas if quota), default=None)


def memory_limit(root: Path = Path("/"), process: str = "self") -> int | None:
    """Limit on the memory of the process [B]; None for no limit."""
    return min((limit for limit, _ in _memory_groups(root, process)), default=None)


def memory_left(root: Path = Path("/")) -> int | None:
    """Memory that the limits still allow [B]; None for none. Droppable cache is free."""
    left = []
    for limit, folder in _memory_groups(root, "self"):
        used = number(folder / "memory.current") or number(folder / "memory.usage_in_bytes") or 0
        files = r"^(?:total_)?inactive_file (\d+)"
        match = re.search(files, text(folder / "memory.stat"), re.MULTILINE)
        left.append(limit - max(0, used - int(match[1]) if match else used))
    if left:
        return max(0, min(left))
    return None


def _memory_groups(root: Path, process: str) -> Iterator[tuple[int, Path]]:
    for controller, name in (("", "memory.max"), ("memory", "memory.limit_in_bytes")):
        for folder in _folders(root, controller, process):
            limit = number(folder / name)
            if limit is not None and limit < UNLIMITED:
                yield limit, folder


def _folders(root: Path, controller: str, process: str) -> Iterator[Path]:
    """Folders of the process's control group and its parents; no `controller` for version 2."""
    for line in text(root / f"proc/{process}/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controller in controllers.split(","):
            parts = [part for part in path.split("/") if part and part != ".."]
            for mount in (controllers, controller) if controller else ("", "unified"):
                for depth in range(len(parts), -1, -1):
                    yield (root / "sys/fs/cgroup" / mount).joinpath(*parts[:depth])


X86_SETS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_int8", "amx_bf16")
ARM_SETS = ("asimd", "asimddp", "i8mm", "sve")
INSTRUCTION_SETS = frozenset((*X86_SETS, *ARM_SETS))
"""Instruction sets that change the speed of a quantized model, by their names in Linux."""

_MAC_INSTRUCTION_SETS = {
    "hw.optional.avx2_0": "avx2",
    "hw.optional.avx512f": "avx512f",
    "hw.optional.AdvSIMD": "asimd",
    "hw.optional.arm.FEAT_DotProd": "asimddp",
    "hw.optional.arm.FEAT_I8MM": "i8mm",
}
_SUFFIX = {"K": 2**10, "M": 2**20, "G": 2**30}


@dataclass(frozen=True, kw_only=True)
class HostFacts:
    """Processor and main memory as reported by the operating system."""

    name: str  # name of the processor; empty where unknown
    cores: int  # physical cores usable by this process
    sockets: int  # processor packages usable by this process
    instruction_sets: frozenset[str]  # available ones of `INSTRUCTION_SETS`
    memory_total: int  # size of RAM, or the container's limit where that is lower [B]
    memory_available: int  # memory that a program can still allocate [B]
    llc: int | None  # total last-level cache of the usable cores [B]; None where unknown
    os: str  # name and version of the operating system
    notes: tuple[str, ...]  # problems, a sentence each


@dataclass(frozen=True, kw_only=True)
class Node:
    """Memory node (NUMA) with processors of its own."""

    cpus: frozenset[int]  # its logical processors that this process may use
    cores: int  # number of physical cores among them


def nodes(root: Path = Path("/")) -> tuple[Node, ...]:
    """Memory nodes with processors that this process may use; empty where unknown."""
    usable = set(_usable_cpus())
    paths = (root / "sys/devices/system/node").glob("node[0-9]*/cpulist")
    ordered = sorted(paths, key=lambda path: int(path.parent.name.removeprefix("node")))
    lists = [_expanded(text(path)) & usable for path in ordered]
    return tuple(
        Node(cpus=frozenset(cpus), cores=_cores(root, tuple(cpus))) for cpus in lists if cpus
    )


def facts(root: Path = Path("/")) -> HostFacts:
    """Inventory of this machine."""
    cpus = _usable_cpus()
    info = text(root / "proc/cpuinfo")
    name = _name(info)
    llc = _llc(root, cpus)
    sets = _instruction_sets(info)
    total, available = _memory(root)
    return HostFacts(
        name=name,
        cores=_cores(root, cpus),
        sockets=max(1, len(_topology(root, cpus, "physical_package_id"))),
        instruction_sets=sets,
        memory_total=total,
        memory_available=available,
        llc=llc,
        os=_os(root),
        notes=tuple(_notes(root, name, llc, sets)),
    )


def _notes(root: Path, name: str, llc: int | None, sets: frozenset[str]) -> Iterable[str]:
    if not name:
        yield "The processor does not say its name; choose it by hand."
    if llc is None:
        yield "The size of the last-level cache cannot be seen."
    if not sets:
        yield f"The processor's instruction sets cannot be seen on {platform.system()}."
    if "microsoft" in platform.release().lower():
        yield "This is WSL: it has half of the machine's RAM unless .wslconfig says otherwise."
    quota = cpu_limit(root)
    if quota is not None:
        yield f"A container limits this process to {quota:.3g} processors' worth of time."


def _usable_cpus() -> tuple[int, ...]:
    """Logical processors that the scheduler may assign to this process."""
    if operating_system() == "linux":
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(psutil.cpu_count() or 1))


def _cores(root: Path, cpus: tuple[int, ...]) -> int:
    siblings = _topology(root, cpus, "core_cpus_list") or _topology(
        root, cpus, "thread_siblings_list"
    )
    cores = len(siblings) or min(psutil.cpu_count(logical=False) or len(cpus), len(cpus))
    quota = cpu_limit(root)
    return max(1, cores if quota is None else min(cores, int(quota)))


def _topology(root: Path, cpus: tuple[int, ...], name: str) -> set[str]:
    folder = root / "sys/devices/system/cpu"
    return {text(folder / f"cpu{cpu}/topology/{name}").strip() for cpu in cpus} - {""}


def _name(info: str) -> str:
    if operating_system() == "darwin":
        return command("sysctl", "-n", "machdep.cpu.brand_string")
    if operating_system() == "win32":
        return _windows_name()
    match = re.search(r"^model name\s*:\s*(\S.*)$", info, re.MULTILINE)
    # Arm kernels print part numbers only; lscpu knows the names that go with them.
    match = match or re.search(r"^Model name:\s*([^\s-].*)$", command("lscpu"), re.MULTILINE)
    if match:
        return match[1].strip()
    return platform.processor()


def _windows_name() -> str:
    winreg = import_module("winreg")  # exists on Windows only
    key = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as processor:
            return str(winreg.QueryValueEx(processor, "ProcessorNameString")[0]).strip()
    except OSError:
        return platform.processor()


def _instruction_sets(info: str) -> frozenset[str]:
    if operating_system() == "darwin":
        names = (name for key, name in _MAC_INSTRUCTION_SETS.items() if sysctl(key) == 1)
        return frozenset(names)
    match = re.search(r"^(?:flags|Features)\s*:(.*)$", info, re.MULTILINE)
    if match:
        return INSTRUCTION_SETS & set(match[1].split())
    return frozenset()


def _memory(root: Path) -> tuple[int, int]:
    seen = psutil.virtual_memory()
    total = int(seen.total)
    available = int(seen.available)
    limit = memory_limit(root)
    left = memory_left(root)
    if limit is not None:
        total = min(total, limit)
    return total, min(total, available if left is None else min(available, left))


def _llc(root: Path, cpus: tuple[int, ...]) -> int | None:
    if operating_system() == "darwin":
        return sysctl("hw.l3cachesize") or sysctl("hw.perflevel0.l2cachesize")
    sizes = {}
    for cpu in cpus:
        caches = (root / f"sys/devices/system/cpu/cpu{cpu}/cache").glob("index*")
        last = max((_cache(folder) for folder in caches), default=None)
        if last:
            sizes[last[0], last[1]] = last[2]
    return sum(sizes.values()) or None


def _cache(folder: Path) -> tuple[int, str, int]:
    """Level, sharing processors and size [B] of a cache."""
    level = text(folder / "level").strip()
    size = text(folder / "size").strip()
    match = re.fullmatch(r"(\d+)([KMG]?)", size)
    if match:
        bytes_ = int(match[1]) * _SUFFIX.get(match[2], 1)
    else:
        bytes_ = 0
    return int(level) if level.isdigit() else 0, text(folder / "shared_cpu_list").strip(), bytes_


def _expanded(cpulist: str) -> set[int]:
    """Numbers in a list such as "0-3,8"."""
    ranges = re.findall(r"(\d+)(?:-(\d+))?", cpulist)
    return {cpu for low, high in ranges for cpu in range(int(low), int(high or low) + 1)}


def _os(root: Path) -> str:
    if operating_system() == "darwin":
        return f"macOS {platform.mac_ver()[0]}"
    pretty = re.search(r'^PRETTY_NAME="?([^"\n]+)', text(root / "etc/os-release"), re.MULTILINE)
    system = f"{platform.system()} {platform.release()}"
    if pretty:
        return f"{pretty[1]}, {system}"
    return system
