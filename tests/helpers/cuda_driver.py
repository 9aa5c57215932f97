"""Simulated CUDA driver with the interface of `cuda.bindings.driver`.

Work takes simulated time, which passes only while the host waits for a stream. Link and memory have
given speeds.
"""

# ruff: noqa: N802 - functions are called as the driver's are

from enum import IntEnum
from types import SimpleNamespace

MIB = 2**20
# addresses far from those of ordinary memory
PINNED_AT = 1 << 50
DEVICE_AT = 1 << 52
START = 4e-6  # seconds that starting a copy or a kernel costs
RATES = {
    "h2d_pinned": 24e9,
    "h2d_pageable": 15e9,
    "d2h_pinned": 26e9,
    "d2h_pageable": 11e9,
    "device_read": 900e9,
    "zero_copy_read": 17e9,
}


class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_PTX = 218
    CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE = 708


class CudaDriver:
    """Driver whose functions return an error code, then the results."""

    CUresult = CUresult
    CUctx_flags = SimpleNamespace(CU_CTX_SCHED_BLOCKING_SYNC=4)
    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT="processors",
        CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE="cache",
    )

    def __init__(self, buses=("0000:01:00.0",), free=24 * 2**30, **refusals):
        self.buses = buses
        self.free = free
        self.refusals = refusals
        self.time = 0.0
        self.until = {}
        self.link_until = 0.0
        self.taken = {}
        self.launches = []
        self.largest = {}

    def __getattr__(self, name):
        """A function of the driver, by its name without the leading underscore."""
        refusal = self.refusals.get(name)
        if isinstance(refusal, Exception):
            return lambda *_: self._raise(refusal)
        if refusal is not None:
            return lambda *_: (refusal, None)
        answer = object.__getattribute__(self, f"_{name}")
        return lambda *about: (CUresult.CUDA_SUCCESS, *answer(*about))

    @staticmethod
    def _raise(error):
        raise error

    def now(self):
        return self.time

    def _cuInit(self, _):
        return ()

    def _cuDeviceGetCount(self):
        return (len(self.buses),)

    def _cuDeviceGet(self, number):
        return (number,)

    def _cuDeviceGetName(self, _, device):
        return (f"GPU {device}".encode() + b"\x00" * 5,)

    def _cuDeviceGetPCIBusId(self, _, device):
        return (self.buses[device].encode() + b"\x00\x00",)

    def _cuDeviceGetAttribute(self, key, _):
        return ({"processors": 128, "cache": 72 * MIB}[key],)

    def _cuDevicePrimaryCtxSetFlags(self, *_):
        return ()

    def _cuDevicePrimaryCtxRetain(self, device):
        self.taken["context", device] = 1
        return ("context",)

    def _cuDevicePrimaryCtxRelease(self, device):
        del self.taken["context", device]
        return ()

    def _cuCtxSetCurrent(self, _):
        return ()

    def _cuStreamCreate(self, _):
        stream = f"stream {len(self.until)}"
        self.until[stream] = self.time
        self.taken["stream", stream] = 1
        return (stream,)

    def _cuStreamDestroy(self, stream):
        del self.taken["stream", stream]
        return ()

    def _cuStreamSynchronize(self, stream):
        self.time = max(self.time, self.until[stream])
        return ()

    def _cuMemGetInfo(self):
        return (self.free, self.free)

    def _take(self, kind, start, size):
        address = start + sum(entry for (what, _), entry in self.taken.items() if what == kind)
        self.taken[kind, address] = size
        self.largest[kind] = max(size, self.largest.get(kind, 0))
        return (address,)

    def _cuMemAlloc(self, size):
        return self._take("device", DEVICE_AT, size)

    def _cuMemFree(self, address):
        del self.taken["device", address]
        return ()

    def _cuMemHostAlloc(self, size, _):
        return self._take("pinned", PINNED_AT, size)

    def _cuMemFreeHost(self, address):
        del self.taken["pinned", address]
        return ()

    def _cuMemHostGetDevicePointer(self, address, _):
        return (address,)

    def _work(self, stream, size, name):
        """The link does one thing after another, in any stream."""
        begin = max(self.time, self.until[stream], self.link_until)
        self.until[stream] = self.link_until = begin + START + size / RATES[name]
        return ()

    def _held(self, address, size):
        """Address of a piece, which must be within one allocation."""
        if address < PINNED_AT:
            return "pageable"
        for what, start in (entry for entry in self.taken if entry[0] in ("device", "pinned")):
            if start <= address and address + size <= start + self.taken[what, start]:
                return what
        raise AssertionError(f"{size} bytes at {address} are nobody's")

    def _cuMemcpyHtoDAsync(self, target, source, size, stream):
        assert self._held(target, size) == "device"
        return self._work(stream, size, f"h2d_{self._held(source, size)}")

    def _cuMemcpyDtoHAsync(self, target, source, size, stream):
        assert self._held(source, size) == "device"
        return self._work(stream, size, f"d2h_{self._held(target, size)}")

    def _cuModuleLoadData(self, image):
        assert image.endswith(b"\x00")
        self.taken["module", image[:2]] = 1
        return (image[:2],)

    def _cuModuleUnload(self, module):
        del self.taken["module", module]
        return ()

    def _cuModuleGetFunction(self, _, name):
        return (name,)

    def _cuOccupancyMaxActiveBlocksPerMultiprocessor(self, *_):
        return (6,)

    def _cuLaunchKernel(self, _kernel, *rest):
        (blocks, _, _, threads, _, _, _, stream, (given, _types), _extra) = rest
        address, sink, rounds = given
        size = blocks * threads * 64 * rounds
        assert self._held(sink, 4) == "device"
        self.launches.append((blocks, threads, rounds))
        if self._held(address, size) == "device":
            name = "device_read"
        else:
            name = "zero_copy_read"
        return self._work(stream, size, name)
