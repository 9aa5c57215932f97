"""What `watch` says of a real llama.cpp server on this processor, sound and with planted faults.

    python -m benchmarks.planted_faults [--megabytes 60] [FAULT ...]

A model of random weights with the shapes of a Llama is served by xllamacpp (Linux; some faults need
root). Faults: a single processor is left to the server; its pages are taken again and again, as
other programs do (`process_madvise`, MADV_PAGEOUT); its control group may hold half of the file;
its pages are dropped once, at rest; every processor has another program to run. A limit of memory
needs a file larger than the engine's own memory (--megabytes 300).
The machine is taken as it describes itself and was measured (`python -m advisor probe --save`). Run
it at rest: other programs are a fault of their own.
"""

import argparse
import ctypes
import json
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from random import Random

import psutil

from advisor.advice.diagnosis.watching import LEAST_TOKENS, Watched
from advisor.model.architecture import ArchitectureSpec
from advisor.probes.llama_cpp.synthetic_model import in_type, write
from advisor.probes.server import read_server
from advisor.probes.server_process import ServerProcess
from advisor.request.request import Request
from advisor.units import tokens_per_second
from benchmarks.engine_parts.capped import capped, forget, repeated
from benchmarks.watching import expected

PROGRAM = """
import sys, time
import xllamacpp as engine

params = engine.CommonParams()
params.model.path, params.port = sys.argv[1], int(sys.argv[2])
params.n_ctx, params.endpoint_metrics = 2048, True
params.warmup = params.fit_params = False
params.no_extra_bufts = True  # weights stay in the mapped file, whose pages can be taken
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(sys.argv[3])
server = engine.Server(params)
print(server.listening_address, flush=True)
time.sleep(3600)
"""
PROMPT = 32
REPLY = 64
PROCESS_MADVISE = 440
PAGEOUT = 21
"""Number of the system call and of its advice (Linux, asm-generic/unistd.h and mman-common.h)."""
EVERY = 0.5  # time between two takings of pages [s]
Planted = Callable[[int, Path], AbstractContextManager[None]]


def llama(megabytes: float) -> ArchitectureSpec:
    """Shapes of a Llama with a file of about this size in Q8_0."""
    layers = max(round(megabytes / 28), 2)  # a layer has 27 MB, the tables as much as four
    return ArchitectureSpec(
        name="planted",
        layers=layers,
        hidden=1536,
        intermediate=4096,
        heads=12,
        kv_heads=4,
        head_dim=128,
        vocab=32000,
    )


@contextmanager
def served(path: Path) -> Iterator[tuple[str, int]]:
    """Address and process of a server with a thread for each processor."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    words = [sys.executable, "-c", PROGRAM, str(path), port, str(os.cpu_count())]
    with subprocess.Popen(
        words, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip(), server.pid
        finally:
            server.kill()


def one_processor(pid: int, _: Path) -> AbstractContextManager[None]:
    """A single processor for all threads of the server."""
    first = next(iter(os.sched_getaffinity(pid)))
    for thread in psutil.Process(pid).threads():
        os.sched_setaffinity(thread.id, {first})
    return nullcontext()


def _takes(pid: int, path: Path) -> Callable[[], None]:
    """Takes the file's pages from memory."""
    maps = psutil.Process(pid).memory_maps(grouped=False)
    spans = [
        [int(end, 16) for end in each.addr.split("-")] for each in maps if each.path == str(path)
    ]
    flat = [number for start, end in spans for number in (start, end - start)]
    vectors = (ctypes.c_size_t * len(flat))(*flat)
    call = ctypes.CDLL(None, use_errno=True).syscall

    def take() -> None:
        target = os.pidfd_open(pid)
        if call(PROCESS_MADVISE, target, vectors, ctypes.c_size_t(len(spans)), PAGEOUT, 0) < 0:
            print(f"no page was taken: {os.strerror(ctypes.get_errno())}", file=sys.stderr)
        os.close(target)
        forget(path)  # what was mapped by nobody stayed in the page cache

    return take


@contextmanager
def pages_taken(pid: int, path: Path) -> Iterator[None]:
    """The file's pages taken from memory, again and again."""
    with repeated(_takes(pid, path), EVERY):
        yield


def pages_dropped(pid: int, path: Path) -> AbstractContextManager[None]:
    """The file's pages dropped once, while the server is at rest."""
    _takes(pid, path)()
    return nullcontext()


@contextmanager
def memory_limited(pid: int, path: Path) -> Iterator[None]:
    """A control group that holds half of the file, whose pages are charged to it anew."""
    with capped(path.stat().st_size // 2) as group:
        (group / "cgroup.procs").write_text(str(pid))
        _takes(pid, path)()
        yield
        (group.parent / "cgroup.procs").write_text(str(pid))


def _forever() -> None:
    while True:
        sum(range(10_000_000))


@contextmanager
def other_programs(_: int, __: Path) -> Iterator[None]:
    """A program that computes on each processor."""
    programs = [multiprocessing.Process(target=_forever) for _ in range(os.cpu_count() or 1)]
    for each in programs:
        each.start()
    yield
    for each in programs:
        each.kill()


FAULTS: dict[str, tuple[str, Planted]] = {
    "none": ("", lambda *_: nullcontext()),
    "one processor left": ("few_threads", one_processor),
    "pages taken": ("pages_lost", pages_taken),
    "memory limited": ("memory_limit", memory_limited),
    "pages dropped once": ("", pages_dropped),
    "other programs": ("other_load", other_programs),
}
"""What is planted, by name, with the cause that it is."""


def complete(url: str, random: Random) -> None:
    """A reply to a prompt that was never seen."""
    prompt = [random.randrange(300, 30_000) for _ in range(PROMPT)]
    body = {"prompt": prompt, "n_predict": REPLY, "ignore_eos": True}
    request = urllib.request.Request(
        f"{url}/completion", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=600) as answer:
        answer.read()


def main() -> None:
    """Serve, plant, watch; print a line for each fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=60)
    parser.add_argument("faults", nargs="*", choices=list(FAULTS), default=list(FAULTS))
    args = parser.parse_args()
    facts = llama(args.megabytes)
    with ExitStack() as stack:
        path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "planted-Q8_0.gguf"
        with path.open("wb") as file:
            write(file, in_type(facts, "Q8_0"), filled=True)
            os.fsync(file.fileno())  # pages that are not written yet cannot be taken
        for name in args.faults:
            cause, planted = FAULTS[name]
            with served(path) as (url, pid), planted(pid, path):
                print(f"{name}: {_line(url, path, cause)}", flush=True)


def _line(url: str, path: Path, cause: str) -> str:
    """What watch says of a server."""
    random = Random(url)
    complete(url, random)  # loads the file
    before = read_server(url)
    process = ServerProcess(url)
    while ((now := read_server(url).since(before)).tokens or 0) < LEAST_TOKENS:
        complete(url, random)
    request = Request(
        model=str(path),
        runtime="llama.cpp",
        placement="cpu-offload",
        context=2048,
        prompt=PROMPT,
        output=REPLY,
    )
    estimate = expected(request)
    if estimate is None or estimate.decode is None:
        return "this machine holds no such model"
    answer = Watched(reading=now, estimate=estimate, system="Linux", process=process.reading())
    if answer.diagnosis:
        keys = [each.row.key for each in answer.diagnosis.causes]
    else:
        keys = []
    speed = (now.tokens or 0.0) / (now.token_seconds or 1.0)
    low = float(estimate.decode.low)
    high = float(estimate.decode.high)
    if cause in keys:
        rank = f", true cause at {keys.index(cause) + 1}"
    else:
        rank = ""
    return (
        f"{tokens_per_second(speed)} of {low:.0f} to {high:.0f}, alarm {answer.alarm}{rank} of "
        f"{keys[:3]}; {' '.join(answer.signs) or 'no sign'}"
    )


if __name__ == "__main__":
    main()
