"""The process behind an address: a real one of this machine, and GPUs of a pretended driver."""

import os
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from advisor.probes import server_process
from advisor.probes.gpu.detect import GpuFacts, GpuState
from advisor.probes.server_process import ProcessReading, ServerProcess
from advisor.units import GIB

PROGRAM = """
import socket, sys
with socket.create_server(("127.0.0.1", 0)) as server:
    print(server.getsockname()[1], flush=True)
    while sys.stdin.readline():
        sum(range(30_000_000))
        print("done", flush=True)
"""


@pytest.fixture
def busy() -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """A process that listens, and computes for each line that it is given."""
    words = [sys.executable, "-c", PROGRAM]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, text=True, **pipes) as program:
        assert program.stdout is not None
        yield int(program.stdout.readline()), program
        program.kill()


def work(program: "subprocess.Popen[str]") -> None:
    """Have the process compute once."""
    assert program.stdin is not None
    assert program.stdout is not None
    program.stdin.write("\n")
    program.stdin.flush()
    program.stdout.readline()


@pytest.mark.skipif(sys.platform != "linux", reason="affinity and bytes read as Linux tells them")
def test_a_process_of_this_machine_is_seen(busy: "tuple[int, subprocess.Popen[str]]") -> None:
    port, program = busy
    process = ServerProcess(f"http://localhost:{port}")
    before = psutil.Process(program.pid).cpu_times()
    work(program)
    now = psutil.Process(program.pid).cpu_times()
    reading = process.reading()
    assert reading.words == (sys.executable, "-c", PROGRAM)
    assert reading.processors == len(os.sched_getaffinity(program.pid))
    spent = now.user + now.system - before.user - before.system
    assert reading.busy == pytest.approx(spent, abs=0.05)
    assert reading.read is not None
    assert reading.others is not None
    assert (reading.gpu_bytes, reading.slowed_by) == (None, None)
    assert reading.spare is not None
    assert 0 < reading.spare <= psutil.virtual_memory().total


@pytest.mark.parametrize(
    "url", ["http://192.0.2.7:8000", "http://models.example", "http://[::1]:1"]
)
def test_what_is_elsewhere_is_not_seen(url: str) -> None:
    assert ServerProcess(url).reading() == ProcessReading()


def test_gpus_tell_what_the_process_holds_and_what_holds_them_back(
    busy: "tuple[int, subprocess.Popen[str]]", monkeypatch: pytest.MonkeyPatch
) -> None:
    port, program = busy
    idle = GpuState(busy=0.0, link_generation=1, link_width=16, held_by={program.pid: 6.0 * GIB})
    loaded = GpuState(
        link_generation=4,
        link_width=16,
        power_limit=150.0,
        usual_power=300.0,
        slowed_by=("heat",),
        held_by={program.pid: 6.0 * GIB, 999_999: 1.0 * GIB},
        memory_used=8.0 * GIB,
        busy=1.0,
    )
    card = GpuFacts(name="RTX 3090", vendor="NVIDIA", bus="0000:01:00.0")
    monkeypatch.setattr(server_process.detect, "gpus", lambda: ((card,), ()))
    states = iter((idle, loaded))
    monkeypatch.setattr(server_process.detect, "state", lambda _: next(states))
    process = ServerProcess(f"http://127.0.0.1:{port}")
    process.look()
    process.look()
    reading = process.reading()
    assert (reading.gpu_bytes, reading.gpu_programs) == (6.0 * GIB, 1)
    assert reading.gpu_busy == pytest.approx(0.5)  # idle at first, then at work throughout
    assert (reading.slowed_by, reading.power, reading.link) == (("heat",), 0.5, (4, 16))


def test_a_driver_that_does_not_list_the_process_tells_all_memory_in_use(
    busy: "tuple[int, subprocess.Popen[str]]", monkeypatch: pytest.MonkeyPatch
) -> None:
    port, _ = busy
    card = GpuFacts(name="RTX 3090", vendor="NVIDIA", bus="0000:01:00.0")
    monkeypatch.setattr(server_process.detect, "gpus", lambda: ((card,), ()))
    state = GpuState(memory_used=5.0 * GIB, held_by={4: 5.0 * GIB})
    monkeypatch.setattr(server_process.detect, "state", lambda _: state)
    process = ServerProcess(f"http://127.0.0.1:{port}")
    process.look()
    reading = process.reading()
    assert (reading.gpu_bytes, reading.gpu_programs) == (5.0 * GIB, None)
