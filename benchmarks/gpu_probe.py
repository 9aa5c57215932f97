"""The GPU probe beside a compiled CUDA loop, and nvbandwidth where it is installed, in turns.

    python -m benchmarks.gpu_probe [rounds]

Prints the median ratios (1.00: the probe is as fast as the reference) and their ranges.
"""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from advisor.errors import ProbeError
from advisor.probes.gpu import cuda, transfer
from advisor.units import GB, MIB

SECONDS = 3.0
SOURCE = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <algorithm>
#include <functional>
#include <cuda_runtime.h>

#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { \
    fprintf(stderr, "%s\n", cudaGetErrorString(e)); exit(1); } } while (0)

__global__ void read(const uint4 *source, size_t count, unsigned *sink) {
    size_t step = (size_t)gridDim.x * blockDim.x;
    uint4 sum = make_uint4(0, 0, 0, 0);
    #pragma unroll 8
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        uint4 one = source[i];
        sum.x ^= one.x; sum.y ^= one.y; sum.z ^= one.z; sum.w ^= one.w;
    }
    if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 1) *sink = sum.x;
}

/* Bytes per second of the median of 9 batches, timed by the GPU's own events. */
static double rate(size_t bytes, int batch, const std::function<void()> &work) {
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start)); CHECK(cudaEventCreate(&end));
    work(); CHECK(cudaDeviceSynchronize());
    std::vector<double> rates;
    for (int repeat = 0; repeat < 9; repeat++) {
        CHECK(cudaEventRecord(start));
        for (int i = 0; i < batch; i++) work();
        CHECK(cudaEventRecord(end)); CHECK(cudaEventSynchronize(end));
        float ms; CHECK(cudaEventElapsedTime(&ms, start, end));
        rates.push_back((double)bytes * batch / (ms / 1000));
    }
    std::sort(rates.begin(), rates.end());
    return rates[rates.size() / 2];
}

int main(int argc, char **argv) {
    size_t block = strtoull(argv[1], 0, 10), reads = strtoull(argv[2], 0, 10);
    void *device, *pinned; unsigned *sink; cudaDeviceProp about;
    CHECK(cudaGetDeviceProperties(&about, 0));
    CHECK(cudaMalloc(&device, std::max(block, reads))); CHECK(cudaMalloc(&sink, 4));
    CHECK(cudaMallocHost(&pinned, block));
    void *pageable = malloc(block); memset(pageable, 1, block); memset(pinned, 1, block);
    int blocks = about.multiProcessorCount * (about.maxThreadsPerMultiProcessor / 256);
    auto copy = [&](void *to, void *from, cudaMemcpyKind kind) {
        return rate(block, 16, [=] { CHECK(cudaMemcpyAsync(to, from, block, kind)); });
    };
    auto scan = [&](void *from, size_t bytes, int batch) {
        return rate(bytes, batch, [=] { read<<<blocks, 256>>>((uint4 *)from, bytes / 16, sink); });
    };
    printf("{\"h2d_pinned\": %g, ", copy(device, pinned, cudaMemcpyHostToDevice));
    printf("\"d2h_pinned\": %g, ", copy(pinned, device, cudaMemcpyDeviceToHost));
    printf("\"h2d_pageable\": %g, ", copy(device, pageable, cudaMemcpyHostToDevice));
    printf("\"d2h_pageable\": %g, ", copy(pageable, device, cudaMemcpyDeviceToHost));
    printf("\"device_read\": %g, ", scan(device, reads, 32));
    printf("\"zero_copy_read\": %g}\n", scan(pinned, block, 16));
    return 0;
}
"""
READS = 2**30
NVBANDWIDTH = {
    "h2d_pinned": "host_to_device_memcpy_ce",
    "d2h_pinned": "device_to_host_memcpy_ce",
}
"""Its tests that measure what the probe does."""

Reference = Callable[[], Mapping[str, float]]


def main(rounds: int) -> list[str]:
    """Lines of result, or why there are none."""
    try:
        cuda.devices(cuda.driver())
    except ProbeError as error:
        return [f"gpu_probe: skipped, {error}"]
    with tempfile.TemporaryDirectory() as folder:
        references = {"a compiled CUDA loop": loop(Path(folder)), "nvbandwidth": nvbandwidth()}
        return [
            compared(name, reference, rounds)
            if reference is not None
            else f"gpu_probe: {name} skipped, it cannot be built or is not installed."
            for name, reference in references.items()
        ]


def loop(folder: Path) -> Reference | None:
    """The compiled loop; None where there is no compiler, or one that cannot build it."""
    compiler = shutil.which("nvcc")
    if compiler is None:
        return None
    source, program = folder / "loop.cu", folder / "loop"
    source.write_text(SOURCE)
    command = (compiler, "-O3", "-arch=native", "-o", str(program), str(source))
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return None
    sizes = (str(transfer.BLOCKS[0]), str(READS))

    def rates() -> Mapping[str, float]:
        ran = subprocess.run((str(program), *sizes), capture_output=True, text=True, check=True)
        return {name: float(rate) for name, rate in json.loads(ran.stdout).items()}

    return rates


def nvbandwidth() -> Reference | None:
    """NVIDIA's own benchmark; None where it is not installed."""
    program = shutil.which("nvbandwidth")
    if program is None:
        return None
    sizes = ("-b", str(int(transfer.BLOCKS[0] / MIB)))

    def rates() -> Mapping[str, float]:
        command = (program, "-j", *sizes, "-t", *NVBANDWIDTH.values())
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        cases = json.loads(ran.stdout)["nvbandwidth"]["testcases"]
        sums = {case["name"]: float(case["bandwidth_matrix"][0][0]) * GB for case in cases}
        return {ours: sums[theirs] for ours, theirs in NVBANDWIDTH.items()}

    return rates


def compared(name: str, reference: Reference, rounds: int) -> str:
    """Probe and reference in turns, so that both meet the same neighbours."""
    pairs: dict[str, list[tuple[float, float]]] = {}
    for _ in range(rounds):
        ours = {measurement.name: measurement.value for measurement in transfer.measure(SECONDS)}
        for figure, theirs in reference().items():
            pairs.setdefault(figure, []).append((ours[figure], theirs))
    return f"gpu_probe beside {name}: " + "; ".join(
        ratio(figure, both) for figure, both in pairs.items()
    )


def ratio(name: str, pairs: list[tuple[float, float]]) -> str:
    """Ratio of one figure."""
    ratios = [ours / theirs for ours, theirs in pairs]
    ours, theirs = (statistics.median(side) / GB for side in zip(*pairs, strict=True))
    return (
        f"{name} {statistics.median(ratios):.3f} ({min(ratios):.2f} to {max(ratios):.2f} in "
        f"{len(pairs)} rounds; medians {ours:.2f} and {theirs:.2f} GB/s)"
    )


if __name__ == "__main__":
    print("\n".join(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)))
