"""The disk probe beside fio, in turns, on one file with the same block size and queue depth.

    python -m benchmarks.disk_probe [folder] [rounds]

Prints the median ratios (1.00: the probe reads as fast as fio) and their ranges.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from advisor.probes.disk import read_rates
from advisor.probes.disk.test_file import BLOCK
from advisor.probes.measurement import Measurement
from advisor.units import GB

FILE_BYTES = 2**30
SECONDS = 4.0
SAME = ((BLOCK, 4),)
"""One block size and queue depth for both sides; fio's maps of several jobs would be one map."""


def main(folder: Path, rounds: int) -> str:
    """One line of result, or why there is none."""
    fio = shutil.which("fio")
    if fio is None:
        return "disk_probe: skipped, fio is missing."
    pairs: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place) / "random"
        generator = np.random.default_rng()
        with path.open("wb") as file:
            for _ in range(FILE_BYTES // BLOCK):
                file.write(generator.bytes(BLOCK))
            file.flush()
            os.fsync(file.fileno())
        read_rates.DIRECT, read_rates.THROUGH_CACHE = SAME, ((BLOCK, 1),)
        for _ in range(rounds):
            for read in read_rates.measure(SECONDS, path=path):
                pairs.setdefault(read.name, []).append((read.value, fio_rate(fio, path, read)))
    return "disk_probe: " + "; ".join(line(name, both) for name, both in pairs.items())


def fio_rate(fio: str, path: Path, read: Measurement) -> float:
    """Rate of fio for the same kind of read, with as much in flight [B/s]."""
    ways = {
        "disk_read_direct": (
            *("--ioengine=libaio", "--direct=1", f"--iodepth={read.threads}"),
            *(f"--size={FILE_BYTES}", "--time_based", "--runtime=1"),
        ),
        "disk_read_mmap": (
            *("--ioengine=mmap", "--thread", "--fadvise_hint=0", f"--size={FILE_BYTES}"),
        ),
        "disk_read_buffered": (
            *("--ioengine=psync", "--thread", "--fadvise_hint=0", f"--size={FILE_BYTES}"),
        ),
    }
    command = (
        *(fio, "--name=read", "--rw=read", f"--filename={path}", f"--bs={BLOCK}"),
        *("--output-format=json", *ways[read.name]),
    )
    forget(path)
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(ran.stdout[ran.stdout.index("{") :])["jobs"][0]["read"]["bw_bytes"])


def forget(path: Path) -> None:
    """Empty the page cache of a file; fio's own way does not for its memory maps."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def line(name: str, pairs: list[tuple[float, float]]) -> str:
    """Ratio of one kind of read."""
    ratios = [ours / theirs for ours, theirs in pairs]
    ours, theirs = (statistics.median(side) / GB for side in zip(*pairs, strict=True))
    return (
        f"{name} {statistics.median(ratios):.3f} of fio ({min(ratios):.2f} to {max(ratios):.2f} "
        f"in {len(pairs)} rounds; medians {ours:.2f} and {theirs:.2f} GB/s)"
    )


if __name__ == "__main__":
    given = sys.argv[1:]
    print(main(Path(given[0]) if given else Path(), int(given[1]) if len(given) > 1 else 7))
