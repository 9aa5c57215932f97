"""The probes of memory, drive and GPU beside compiled programs that measure the same, in turns.

    python -m benchmarks.probes [ram] [disk] [gpu] [--rounds N] [--folder FOLDER]

Memory: an OpenMP loop (engine_parts/read_loop.c) at the probe's number of threads. Drive: fio on
one file of FOLDER with the same block size and queue depth. GPU: a CUDA loop
(engine_parts/read_loop.cu), and nvbandwidth where it is installed. Prints the median ratios (1.00:
the probe is as fast as the reference) and their ranges; probe and reference take turns, so that
both meet the same neighbours.
"""

import argparse
import ctypes
import json
import math
import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from advisor.failures import ProbeError
from advisor.probes import host, ram
from advisor.probes.disk import read_rates
from advisor.probes.disk.test_file import BLOCK
from advisor.probes.gpu import cuda, transfer
from advisor.probes.measurement import Measurement
from advisor.units import GB, MIB
from benchmarks.engine_parts.capped import forget

PARTS = Path(__file__).parent / "engine_parts"
ROUNDS = {"ram": 15, "disk": 7, "gpu": 5}  # usual number of rounds
Turns = Iterator[tuple[str, float, float]]
"""Figures of one round, each with the probe's rate and the reference's [B/s]."""


def compared(name: str, rounds: int, turn: Callable[[], Turns]) -> str:
    """Ratios of all figures after some rounds."""
    pairs: dict[str, list[tuple[float, float]]] = {}
    for _ in range(rounds):
        for figure, ours, theirs in turn():
            pairs.setdefault(figure, []).append((ours, theirs))
    return f"{name}: " + "; ".join(_ratio(figure, both) for figure, both in pairs.items())


def _ratio(figure: str, pairs: list[tuple[float, float]]) -> str:
    ratios = [ours / theirs for ours, theirs in pairs]
    ours, theirs = (statistics.median(side) / GB for side in zip(*pairs, strict=True))
    return (
        f"{figure} {statistics.median(ratios):.3f} ({min(ratios):.2f} to {max(ratios):.2f} in "
        f"{len(pairs)} rounds; medians {ours:.2f} and {theirs:.2f} GB/s)"
    )


def _program(name: str) -> str:
    """Path of a program; raises ProbeError where it is not installed."""
    program = shutil.which(name)
    if program is None:
        raise ProbeError(f"{name} is missing.")
    return program


def _built(compiler: str, source: str, *flags: str) -> None:
    """Compile a source of `PARTS`; raises ProbeError without such a compiler, or where it fails."""
    command = (_program(compiler), *flags, str(PARTS / source))
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    if done.returncode:
        raise ProbeError(f"{compiler} cannot build {source}: {done.stderr.strip()[:200]}")


# Memory.

SECONDS_OF_RAM = 0.6
REPEATS = 3


def ram_turns(folder: Path, rounds: int) -> Iterator[str]:
    """Line of the memory probe beside the compiled loop."""
    library = folder / "read.so"
    # Unrolled as numpy's loops are: more loads under way read RAM faster.
    flags = ("-O3", "-funroll-loops", "-march=native", "-fopenmp", "-shared", "-fPIC")
    _built("gcc", "read_loop.c", *flags, "-o", str(library))
    read_rate = ctypes.CDLL(str(library)).read_rate
    read_rate.restype = ctypes.c_double
    yield compared("ram beside a compiled OpenMP loop", rounds, partial(_ram_turn, read_rate))


def _ram_turn(read_rate: Callable[..., float]) -> Turns:
    size = ram.buffer_bytes(host.facts())
    sink = ctypes.c_uint64()
    (read,) = ram.measure(SECONDS_OF_RAM)
    passes = max(1, math.ceil(ram.WINDOW * read.value / size))
    loop = read_rate(ctypes.c_size_t(size), read.threads, passes, REPEATS, ctypes.byref(sink))
    yield f"{read.threads} threads", read.value, loop


# Drive.

FILE_BYTES = 2**30
SECONDS_OF_DISK = 4.0
ONE_SECOND = ("--time_based", "--runtime=1")
SAME = ((BLOCK, 4),)
"""One block size and queue depth for both sides; fio's maps of several jobs would be one map."""


def disk_turns(folder: Path, rounds: int) -> Iterator[str]:
    """Line of the probe of the drive beside fio."""
    fio = _program("fio")
    path = folder / "random"
    generator = np.random.default_rng()
    with path.open("wb") as file:
        for _ in range(FILE_BYTES // BLOCK):
            file.write(generator.bytes(BLOCK))
        file.flush()
        os.fsync(file.fileno())
    read_rates.DIRECT = SAME
    read_rates.THROUGH_CACHE = ((BLOCK, 1),)
    yield compared("disk beside fio", rounds, partial(_disk_turn, fio, path))


def _disk_turn(fio: str, path: Path) -> Turns:
    for read in read_rates.measure(SECONDS_OF_DISK, path=path):
        yield read.name, read.value, fio_rate(fio, path, read)


def fio_rate(fio: str, path: Path, read: Measurement) -> float:
    """Rate of fio for the same kind of read, with as much in flight [B/s]."""
    depth = f"--iodepth={read.threads}"
    through_cache = ("--thread", "--fadvise_hint=0")
    ways = {
        "disk_read_direct": ("--ioengine=libaio", "--direct=1", depth, *ONE_SECOND),
        "disk_read_mmap": ("--ioengine=mmap", *through_cache),
        "disk_read_buffered": ("--ioengine=psync", *through_cache),
    }
    command = (
        *(fio, "--name=read", "--rw=read", f"--filename={path}", f"--bs={BLOCK}"),
        *(f"--size={FILE_BYTES}", "--output-format=json", *ways[read.name]),
    )
    forget(path)  # fio's own way to empty the page cache does not for its maps
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(ran.stdout[ran.stdout.index("{") :])["jobs"][0]["read"]["bw_bytes"])


# GPU.

SECONDS_OF_GPU = 3.0
READS = 2**30
NVBANDWIDTH = {
    "h2d_pinned": "host_to_device_memcpy_ce",
    "d2h_pinned": "device_to_host_memcpy_ce",
}
"""Its tests that measure what the probe does."""
Reference = Callable[[], Mapping[str, float]]


def gpu_turns(folder: Path, rounds: int) -> Iterator[str]:
    """Lines of the probe of the GPU beside each reference."""
    cuda.devices(cuda.driver())
    for name, made in (("a compiled CUDA loop", cuda_loop), ("nvbandwidth", nvbandwidth)):
        try:
            reference = made(folder)
        except ProbeError as error:
            yield f"gpu beside {name}: skipped, {error}"
        else:
            yield compared(f"gpu beside {name}", rounds, partial(_gpu_turn, reference))


def cuda_loop(folder: Path) -> Reference:
    """The compiled loop."""
    program = str(folder / "loop")
    _built("nvcc", "read_loop.cu", "-O3", "-arch=native", "-o", program)

    def rates() -> Mapping[str, float]:
        command = (program, str(transfer.BLOCKS[0]), str(READS))
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        return {name: float(rate) for name, rate in json.loads(ran.stdout).items()}

    return rates


def nvbandwidth(_: Path) -> Reference:
    """NVIDIA's own benchmark."""
    program = _program("nvbandwidth")
    block = str(int(transfer.BLOCKS[0] / MIB))

    def rates() -> Mapping[str, float]:
        command = (program, "-j", "-b", block, "-t", *NVBANDWIDTH.values())
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        cases = json.loads(ran.stdout)["nvbandwidth"]["testcases"]
        sums = {case["name"]: float(case["bandwidth_matrix"][0][0]) * GB for case in cases}
        return {ours: sums[theirs] for ours, theirs in NVBANDWIDTH.items()}

    return rates


def _gpu_turn(reference: Reference) -> Turns:
    ours = {each.name: each.value for each in transfer.measure(SECONDS_OF_GPU)}
    for figure, theirs in reference().items():
        yield figure, ours[figure], theirs


PROBES = {"ram": ram_turns, "disk": disk_turns, "gpu": gpu_turns}


def main() -> None:
    """Print a line for each probe, or why there is none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("probes", nargs="*", choices=list(PROBES), default=list(PROBES))
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--folder", type=Path, default=Path())
    args = parser.parse_args()
    for name in args.probes:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            try:
                for line in PROBES[name](Path(folder), args.rounds or ROUNDS[name]):
                    print(line, flush=True)
            except ProbeError as error:
                print(f"{name}: skipped, {error}")


if __name__ == "__main__":
    main()
