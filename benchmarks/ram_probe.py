"""The memory probe beside a compiled OpenMP read loop, in turns, at the same thread count.

    python -m benchmarks.ram_probe [rounds]

Prints the median ratio (1.00: the probe reads as fast as compiled code) and its range.
"""

import ctypes
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from advisor.probes import host, ram
from advisor.units import GB

SECONDS = 0.6
REPEATS = 3
SOURCE = r"""
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Bytes per second of the median of `repeats` reads of a buffer that its readers filled. */
static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double read_rate(size_t bytes, int threads, int passes, int repeats, uint64_t *sink) {
    size_t n = bytes / 8;
    size_t whole = (n * 8 + (1 << 21) - 1) >> 21 << 21;
    uint64_t *buffer = aligned_alloc(1 << 21, whole);
    madvise(buffer, whole, MADV_HUGEPAGE);  /* as numpy does for its arrays */
    double *rates = malloc(repeats * sizeof(double));
    omp_set_num_threads(threads);
    #pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) buffer[i] = i;
    for (int r = 0; r < repeats; r++) {
        uint64_t sum = 0;
        double start = omp_get_wtime();
        #pragma omp parallel reduction(+ : sum)
        for (int pass = 0; pass < passes; pass++) {
            #pragma omp for schedule(static) nowait
            for (size_t i = 0; i < n; i++) sum += buffer[i];
            __asm__ volatile("" ::: "memory");
        }
        rates[r] = 8.0 * n * passes / (omp_get_wtime() - start);
        *sink += sum;
    }
    qsort(rates, repeats, sizeof(double), by_value);
    double median = rates[repeats / 2];
    free(rates);
    free(buffer);
    return median;
}
"""


def main(rounds: int) -> str:
    """One line of result, or why there is none."""
    compiler = shutil.which("gcc")
    if compiler is None:
        return "ram_probe: skipped, gcc is missing."
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "read.so"
        # Unrolled as numpy's loops are: more loads under way read RAM faster.
        flags = ("-O3", "-funroll-loops", "-march=native", "-fopenmp", "-shared", "-fPIC")
        command = (compiler, *flags, "-x", "c", "-", "-o", str(library))
        built = subprocess.run(command, input=SOURCE, text=True, capture_output=True, check=False)
        if built.returncode:
            return f"ram_probe: skipped, gcc cannot build it: {built.stderr.strip()[:200]}"
        return compared(ctypes.CDLL(str(library)).read_rate, rounds)


def compared(read_rate: Callable[..., float], rounds: int) -> str:
    """Probe and loop in turns, so that both meet the same neighbours."""
    read_rate.restype = ctypes.c_double  # type: ignore[attr-defined]
    size, sink = ram.buffer_bytes(host.facts()), ctypes.c_uint64()
    ours, theirs, threads = [], [], 0
    for _ in range(rounds):
        (read,) = ram.measure(SECONDS)
        threads = read.threads
        passes = max(1, math.ceil(ram.WINDOW * read.value / size))
        loop = read_rate(ctypes.c_size_t(size), threads, passes, REPEATS, ctypes.byref(sink))
        ours.append(read.value)
        theirs.append(loop)
    ratios = [mine / loop for mine, loop in zip(ours, theirs, strict=True)]
    return (
        f"ram_probe: {statistics.median(ratios):.3f} of a compiled OpenMP loop "
        f"({min(ratios):.2f} to {max(ratios):.2f} in {rounds} rounds, {threads} threads; medians "
        f"{statistics.median(ours) / GB:.1f} and {statistics.median(theirs) / GB:.1f} GB/s)"
    )


if __name__ == "__main__":
    print(main(int(sys.argv[1]) if len(sys.argv) > 1 else 15))
