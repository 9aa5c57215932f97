"""The process behind a server's address, as this machine's system and its GPUs' driver see it.

Of a server of another machine, of another user or in a container nothing is told. Windows and WSL
tell no GPU memory by process (docs.nvidia.com, `nvmlProcessInfo_t`); Linux counts pages of mapped
files among the bytes read (`read_bytes`, proc_pid_io(5)). Both read 2026-11-23.
"""

import ipaddress
import math
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import psutil

from advisor.probes import host
from advisor.probes.gpu import detect
from advisor.probes.gpu.detect import GpuState
from advisor.probes.host import Neighbours
from advisor.probes.server import address

UNSEEN = (psutil.Error, OSError, NotImplementedError, AttributeError)
"""Refusals of a system that tells less than Linux, or less to this user."""


@dataclass(frozen=True, kw_only=True)
class ProcessReading:
    """Records of a server's process over some time; None for what the system does not tell."""

    words: tuple[str, ...] = ()  # its command line
    processors: float | None = None  # logical processors that it may use
    busy: float | None = None  # processor time that it took [s]
    others: float | None = None  # share of all processors that other programs took
    read: float | None = None  # bytes that it fetched from the drive [B]
    memory_limit: float | None = None  # limit on its RAM, infinite for none [B]
    spare: float | None = None  # RAM that no other program holds [B]
    # GPU memory that it holds, or all in use where the driver does not list the process [B]
    gpu_bytes: float | None = None
    gpu_programs: int | None = None  # programs besides it that compute on the GPUs
    slowed_by: tuple[str, ...] | None = None  # reasons for reduced clocks of a GPU, in words
    power: float | None = None  # power limit of a GPU, relative to its usual one
    gpu_busy: float | None = None  # share of the time in which a GPU computed
    # PCIe generation and lanes of the first GPU, the fastest that was seen
    link: tuple[int, int] | None = None


class ServerProcess:
    """Process behind an address, watched from now on."""

    def __init__(self, url: str) -> None:
        if is_here(url):
            self._process = _listening(address(url).port or 80)
        else:
            self._process = None
        if self._process:
            facts = detect.gpus()[0]
        else:
            facts = ()
        self._buses = [gpu.bus for gpu in facts if gpu.bus and gpu.vendor == "NVIDIA"]
        self._states: list[tuple[GpuState, ...]] = []
        self._neighbours = Neighbours()
        self._start = time.monotonic()
        self._before = self._counted()

    def look(self) -> None:
        """Record the state of the GPUs, which is most useful while the server works."""
        states = tuple(filter(None, map(detect.state, self._buses)))
        self._states += [states] if states else []

    def reading(self) -> ProcessReading:
        """Records since the beginning; empty for a server that cannot be seen."""
        if self._process is None:
            return ProcessReading()
        busy, read = (
            None if now is None or before is None else now - before
            for now, before in zip(self._counted(), self._before, strict=True)
        )
        # Share of all processors that neither the server nor this program took.
        everything = (psutil.cpu_count() or 1) * (time.monotonic() - self._start)
        if busy is None:
            others = None
        else:
            others = max(self._neighbours.share() - busy / everything, 0.0)
        reading = ProcessReading(busy=busy, others=others, read=read)
        with suppress(*UNSEEN):
            reading = replace(reading, words=tuple(self._process.cmdline()))
        with suppress(*UNSEEN):  # a Mac knows no such list
            allowed = float(len(self._process.cpu_affinity() or ()))
            number = str(self._process.pid)
            limit = host.memory_limit(process=number)
            held = [each.memory_info() for each in self._family()]
            # RAM beside pages of files, where the system tells both.
            private = sum(each.rss - getattr(each, "shared", each.rss) for each in held)
            reading = replace(
                reading,
                processors=min(allowed, host.cpu_limit(process=number) or allowed),
                memory_limit=math.inf if limit is None else float(limit),
                spare=float(psutil.virtual_memory().available + private),
            )
        if self._states:
            return self._with_gpus(reading)
        return reading

    def _with_gpus(self, reading: ProcessReading) -> ProcessReading:
        """Reading with the state of the GPUs over the time that they were looked at."""
        states = [state for states in self._states for state in states]
        gpu_bytes, gpu_programs = self._on_gpus(self._states[-1])
        gpu_busy = None
        if states[0].busy is not None:
            busy = [sum(state.busy or 0.0 for state in look) for look in self._states]
            gpu_busy = min(sum(busy) / len(busy), 1.0)
        limits = [
            state.power_limit / state.usual_power
            for state in states
            if state.power_limit and state.usual_power
        ]
        links = [(look[0].link_generation, look[0].link_width) for look in self._states]
        known_links = [(made, lanes) for made, lanes in links if made and lanes]
        reasons = [reason for state in states for reason in state.slowed_by]
        return replace(
            reading,
            gpu_busy=gpu_busy,
            gpu_bytes=gpu_bytes,
            gpu_programs=gpu_programs,
            slowed_by=tuple(dict.fromkeys(reasons)),
            power=min(limits, default=None),
            link=max(known_links, default=None),
        )

    def _on_gpus(self, states: Iterable[GpuState]) -> tuple[float, int | None]:
        """Memory of the process on the GPUs [B], and number of other programs there; all memory in
        use, and None, where the driver does not list the process.
        """
        states = tuple(states)
        mine = {process.pid for process in self._family()}
        held = [entry for state in states for entry in state.held_by.items()]
        listed = any(pid in mine for pid, _ in held)  # not from a container, WSL or Windows
        if listed:
            gpu_bytes = sum(size for pid, size in held if pid in mine)
            return gpu_bytes, len({pid for pid, _ in held} - mine)
        used = [state.memory_used for state in states if state.memory_used is not None]
        return sum(used), None

    def _family(self) -> Iterator[psutil.Process]:
        """Process and those that it started: Ollama and vLLM compute in children."""
        if self._process is not None:
            yield self._process
            with suppress(*UNSEEN):
                yield from self._process.children(recursive=True)

    def _counted(self) -> tuple[float | None, float | None]:
        """Processor time [s] and bytes from the drive [B] so far."""
        busy = None
        read = None
        for each in self._family():
            with suppress(*UNSEEN):
                times = each.cpu_times()
                busy = (busy or 0.0) + times.user + times.system
            with suppress(*UNSEEN):
                read = (read or 0.0) + each.io_counters().read_bytes
        return busy, read


def is_here(url: str) -> bool:
    """Whether an address is this machine's, by its number or the name localhost."""
    with suppress(ValueError):
        host = address(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    return False


def _listening(port: int) -> psutil.Process | None:
    """Process that answers on a port; None where the system does not name it."""
    with suppress(*UNSEEN):
        for each in psutil.net_connections("tcp"):
            listens = each.status == psutil.CONN_LISTEN and getattr(each.laddr, "port", 0) == port
            if listens and each.pid:
                return psutil.Process(each.pid)
    return None
