"""How long `predict` takes: `python -m benchmarks.predicted_rows [ROWS] [distinct]`.

The rows are the published ones, in turn. With `distinct` each has another depth or prompt, so that
no answer is given twice. Time is of the clock and of all processors, beside the load; memory is the
largest sum of what the processes hold alone and their shares of what they have in common.
"""

import csv
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import psutil

from advisor.catalog.csv_tables import DATA

ROWS = 100_000
FILES = (
    "llama_cpp", "llama_cpp_more", "llama_cpp_2026", "frameworks_more", "frameworks_2026",
    "offload_papers", "drafted_2026",
)  # fmt: skip
LENGTHS = ("context_depth", "prompt_len", "gen_len")
LONGEST = 8192  # longest length of a changed row [tokens]
CHANCE = random.Random(5)


def main() -> None:
    """Write a file, answer it, print what it took."""
    if len(sys.argv) > 1:
        count = int(sys.argv[1])
    else:
        count = ROWS
    rows = _rows()
    if "distinct" in sys.argv:
        rows = map(_changed, rows)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "rows.csv"
        with source.open("w", encoding="utf-8", newline="") as file:
            columns = dict.fromkeys(name for row in _published() for name in row)
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(islice(rows, count))
        command = [sys.executable, "-m", "advisor", "predict", str(source), "-o", os.devnull]
        before = os.times()
        start = time.perf_counter()
        most = _largest(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        wall = time.perf_counter() - start
        after = os.times()
    used = sum(after[2:4]) - sum(before[2:4])
    load = os.getloadavg()[0]
    print(f"{count:,} rows: {wall:.0f} s, {used:.0f} s of processors, {most / 1e6:.0f} MB at most")
    print(f"{os.cpu_count()} processors, load {load:.1f}")


def _published() -> Iterator[dict[str, str]]:
    for name in FILES:
        with (DATA / "measurements" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)


def _rows() -> Iterator[dict[str, str]]:
    for at, row in enumerate(cycle(_published())):
        yield {**row, "id": f"row {at}"}


def _changed(row: dict[str, str]) -> dict[str, str]:
    lengths = {name: str(CHANCE.randint(1, LONGEST)) for name in LENGTHS if row.get(name)}
    return {**row, **lengths}


def _largest(process: "subprocess.Popen[bytes]") -> int:
    """Largest memory of a process and its children until it ends [B]."""
    largest = 0
    while process.poll() is None:
        family = [psutil.Process(process.pid)]
        try:
            family += family[0].children(recursive=True)
            largest = max(largest, sum(each.memory_full_info().pss for each in family))
        except psutil.Error:
            continue
        time.sleep(0.2)
    return largest


if __name__ == "__main__":
    main()
