"""NVIDIA GPU through the CUDA driver: its memory, copies to and from it, and a reading kernel.

Uses the driver interface of NVIDIA's `cuda-bindings` only: the runtime in that package refuses
drivers older than itself. The host's clock times the work, not events, because the bindings have
`cuEventElapsedTime` only as in CUDA 12.8. Work is timed in batches of many milliseconds, so that
the overhead of start and end is negligible.
"""

import ctypes
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from advisor.failures import ProbeError
from advisor.probes.host import operating_system
from advisor.units import MIB

KERNEL = Path(__file__).with_name("read_all.ptx")
BLOCK_THREADS = 256
BYTES_PER_ROUND = 64  # bytes that each thread of the kernel reads at once
SINK = 4  # bytes it may write
MEMORY_SHORT = "CUDA_ERROR_OUT_OF_MEMORY"


@dataclass(frozen=True, kw_only=True)
class Device:
    """A GPU in CUDA's list."""

    handle: Any  # handle of the driver
    name: str  # name given by the driver
    bus: str  # PCI address


class Driver:
    """The CUDA driver; its errors are raised as ProbeError."""

    def __init__(self, bindings: Any) -> None:
        self._bindings = bindings

    def call(self, name: str, *about: Any) -> Any:
        """Result of a driver function, None for none; its error is raised as ProbeError."""
        try:
            code, *results = getattr(self._bindings, name)(*about)
        except RuntimeError as error:
            raise ProbeError(
                f"The NVIDIA driver does not offer {name} ({error}); update the driver."
            ) from error
        if code != self._bindings.CUresult.CUDA_SUCCESS:
            raise ProbeError(_refusal(name, getattr(code, "name", str(code))))
        if results:
            return results[0]
        return None

    def constant(self, group: str, name: str) -> Any:
        """Named constant of the driver, such as an attribute of a device."""
        return getattr(getattr(self._bindings, group), name)


def _refusal(name: str, code: str) -> str:
    if code == MEMORY_SHORT:
        return (
            "The GPU or the host has too little free memory for the copies; close other programs "
            "and try again."
        )
    if code == "CUDA_ERROR_NO_DEVICE":
        return (
            "CUDA shows no GPU; if one is there, look at CUDA_VISIBLE_DEVICES and at the "
            "container's options (--gpus)."
        )
    return f"The NVIDIA driver refused {name} ({code}); run nvidia-smi to see what is wrong."


def driver() -> Driver:
    """The CUDA driver, initialised."""
    if operating_system() == "darwin":
        raise ProbeError("CUDA does not exist on macOS; GPU figures are taken from the catalogue.")
    try:
        bindings = import_module("cuda.bindings.driver")  # costs 80 ms, needed only here
    except ImportError:
        raise ProbeError(
            "The Python package cuda-bindings is missing; NVIDIA GPUs cannot be measured. "
            "Install it with pip install 'offload-advisor[gpu]'."
        ) from None
    cuda = Driver(bindings)
    try:
        cuda.call("cuInit", 0)
    except ProbeError as error:
        if isinstance(error.__cause__, RuntimeError):  # DynamicLibNotFoundError of cuda.pathfinder
            raise ProbeError("No CUDA driver is here; no GPU can be measured.") from None
        raise
    return cuda


def devices(cuda: Driver) -> tuple[Device, ...]:
    """GPUs in CUDA's order, fastest first."""
    count = cuda.call("cuDeviceGetCount")
    if not count:
        raise ProbeError(_refusal("cuDeviceGetCount", "CUDA_ERROR_NO_DEVICE"))
    handles = (cuda.call("cuDeviceGet", number) for number in range(count))

    def words(call: str, most: int, handle: Any) -> str:
        return str(cuda.call(call, most, handle).split(b"\x00")[0].decode(errors="replace"))

    return tuple(
        Device(
            handle=handle,
            name=words("cuDeviceGetName", 256, handle),
            bus=words("cuDeviceGetPCIBusId", 16, handle),
        )
        for handle in handles
    )


class Session:
    """A GPU in use; its allocated memory and the host's are freed at the end of the block."""

    def __init__(self, cuda: Driver, device: Device) -> None:
        self._cuda = cuda
        self.device = device
        self._given_back = ExitStack()
        self._context: Any = None
        self._stream: Any = None
        self._ordinary: list[npt.NDArray[np.uint8]] = []

    def __enter__(self) -> Self:
        device = self.device.handle
        with ExitStack() as taken:
            self._given_back = taken
            # Threads that wait for the GPU sleep; spinning, they would take cores from readers. A
            # process that uses the GPU already keeps its flags.
            flags = self._cuda.constant("CUctx_flags", "CU_CTX_SCHED_BLOCKING_SYNC")
            with suppress(ProbeError):
                self._cuda.call("cuDevicePrimaryCtxSetFlags", device, flags)
            self._context = self._cuda.call("cuDevicePrimaryCtxRetain", device)
            taken.callback(self._cuda.call, "cuDevicePrimaryCtxRelease", device)
            self.bind()
            self._stream = self.stream()
            self._given_back = taken.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._given_back.callback(self._ordinary.clear)
        self._given_back.callback(self.wait)
        self._given_back.close()

    def bind(self) -> None:
        """Let the calling thread use the GPU."""
        self._cuda.call("cuCtxSetCurrent", self._context)

    def stream(self) -> Any:
        """New queue of work."""
        stream = self._cuda.call("cuStreamCreate", 0)
        self._given_back.callback(self._cuda.call, "cuStreamDestroy", stream)
        return stream

    def free_memory(self) -> int:
        """Free memory of the GPU [B]."""
        return int(self._cuda.call("cuMemGetInfo"))

    def attribute(self, name: str) -> int:
        """Attribute of the GPU by its name in the driver."""
        key = self._cuda.constant("CUdevice_attribute", f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self._cuda.call("cuDeviceGetAttribute", key, self.device.handle))

    def on_device(self, size: int) -> int:
        """Address of newly allocated GPU memory."""
        return self._taken("cuMemAlloc", "cuMemFree", size)

    def pinned(self, size: int) -> int:
        """Address of newly allocated page-locked host memory."""
        mapped = 0x2  # CU_MEMHOSTALLOC_DEVICEMAP: kernels may read it
        return self._taken("cuMemHostAlloc", "cuMemFreeHost", size, mapped)

    def pageable(self, size: int) -> int:
        """Address of newly allocated pageable host memory, with every page touched."""
        try:
            self._ordinary.append(np.full(size, 1, dtype=np.uint8))
        except MemoryError:
            raise ProbeError(_refusal("pageable", MEMORY_SHORT)) from None
        return self._ordinary[-1].ctypes.data

    def _taken(self, take: str, give_back: str, size: int, *flags: int) -> int:
        address = self._cuda.call(take, size, *flags)
        self._given_back.callback(self._cuda.call, give_back, address)
        return int(address)

    def seen_by_device(self, pinned: int) -> int:
        """Address by which kernels read page-locked memory of the host."""
        return int(self._cuda.call("cuMemHostGetDevicePointer", pinned, 0))

    def to_device(self, target: int, source: int, size: int, stream: Any = None) -> None:
        """Queue a copy from the host; from pageable memory it may finish before this returns."""
        self._cuda.call("cuMemcpyHtoDAsync", target, source, size, stream or self._stream)

    def to_host(self, target: int, source: int, size: int, stream: Any = None) -> None:
        """Queue a copy to the host."""
        self._cuda.call("cuMemcpyDtoHAsync", target, source, size, stream or self._stream)

    def wait(self, stream: Any = None) -> None:
        """Wait until all queued work is finished."""
        self._cuda.call("cuStreamSynchronize", stream or self._stream)

    def reader(self) -> "Reader":
        """Reading kernel, compiled for this GPU, with as many threads as it can run at once."""
        module = self._cuda.call("cuModuleLoadData", KERNEL.read_bytes() + b"\x00")
        self._given_back.callback(self._cuda.call, "cuModuleUnload", module)
        kernel = self._cuda.call("cuModuleGetFunction", module, KERNEL.stem.encode())
        occupancy = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
        resident = self._cuda.call(occupancy, kernel, BLOCK_THREADS, 0)
        blocks = int(resident) * self.attribute("MULTIPROCESSOR_COUNT")
        shape = (blocks, 1, 1, BLOCK_THREADS, 1, 1)
        round_bytes = blocks * BLOCK_THREADS * BYTES_PER_ROUND
        sink = self.on_device(SINK)

        def read(address: int, size: int) -> tuple[int, Callable[[], None]]:
            rounds = size // round_bytes
            if not rounds:
                raise ProbeError(
                    f"{size / MIB:.0f} MB are too little to read at full speed on this GPU, which "
                    f"reads {round_bytes / MIB:.0f} MB at once."
                )
            given = ((address, sink, rounds), (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32))
            about = (kernel, *shape, 0, self._stream, given, 0)
            return rounds * round_bytes, partial(self._cuda.call, "cuLaunchKernel", *about)

        return read


Reader = Callable[[int, int], tuple[int, Callable[[], None]]]
"""Reader of memory from an address: bytes that it reads of so many, and what queues the reading."""
