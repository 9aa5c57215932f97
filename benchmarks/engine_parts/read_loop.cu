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
