"""Backends: interfaces through which llama.cpp uses a GPU (CUDA, ROCm, Vulkan ...), by vendor."""

from collections.abc import Iterable
from functools import lru_cache

from advisor.catalog.constants import STACKED
from advisor.errors import InputError
from advisor.machine.machine import Machine
from advisor.machine.software import MACOS, SYSTEMS, WINDOWS

CPU, UNKNOWN = "cpu", "unknown"
"""Backend without a GPU, and an unknown backend, which widens ranges."""
OF_VENDOR = {
    "NVIDIA": ("cuda", "vulkan"),
    "AMD": ("rocm", "vulkan"),
    "Intel": ("sycl", "vulkan"),
    "Apple": ("metal",),
    "Intel Gaudi": (),
}
"""Backends of each vendor's cards, the vendor's own first; none for cards that llama.cpp does not
support (its ggml/src has no backend for Gaudi)."""
ON_WINDOWS = {"AMD": ("vulkan", "rocm"), "Intel": ("vulkan", "sycl")}
"""Backends on Windows where another comes first than on Linux: packages for Windows are built with
CUDA or Vulkan (llama.cpp, docs/install.md: conda-forge; github.com/danmoreng/llama.cpp-installer
takes Vulkan for cards of AMD and Intel; both 2026-11)."""
NAMES = ("cuda", "rocm", "sycl", "metal", "vulkan", CPU, UNKNOWN)
LABELS = {"cuda": "CUDA", "rocm": "ROCm", "sycl": "SYCL", "metal": "Metal", "vulkan": "Vulkan"}
"""Names of backends in words; with a number appended, llama.cpp's name of a device (GGML_CUDA_NAME,
GGML_SYCL_NAME and GGML_VK_NAME in its ggml/include)."""


def of_vendor(vendor: str, system: str = "") -> tuple[str, ...]:
    """Backends of a vendor's cards on an operating system, the usual one first."""
    own = OF_VENDOR.get(vendor, ("vulkan",))
    return ON_WINDOWS.get(vendor, own) if system == WINDOWS else own


def usual(vendor: str, system: str = "") -> str:
    """Default backend of a vendor's cards on an operating system."""
    return (of_vendor(vendor, system) or (UNKNOWN,))[0]


def drives(machine: Machine) -> bool:
    """Whether llama.cpp has a backend for each GPU of a machine."""
    return all(_drives(gpu.vendor) for gpu in machine.gpus)


@lru_cache(maxsize=256)
def _drives(vendors: str) -> bool:
    """Whether llama.cpp has a backend for each of several vendors' cards, joined by `STACKED`."""
    return all(OF_VENDOR.get(vendor, ("vulkan",)) for vendor in vendors.split(STACKED))


def reaches(backend: str, vendor: str) -> bool:
    """Whether a backend drives a vendor's cards."""
    return backend == UNKNOWN or backend in OF_VENDOR.get(vendor, ("vulkan",))


def of_machine(machine: Machine) -> str:
    """Backend of a machine's first GPU; "cpu" without a GPU.

    A stated backend counts only if it drives the card, which may be another than it was stated for.
    """
    if not machine.gpus:
        return CPU
    return _of_vendors(machine.gpus[0].vendor, machine.backend, machine.system)


@lru_cache(maxsize=256)
def _of_vendors(vendors: str, stated: str, system: str) -> str:
    """Backends of several vendors' cards, joined by `STACKED`."""
    return STACKED.join(
        stated if stated and reaches(stated, vendor) else usual(vendor, system)
        for vendor in vendors.split(STACKED)
    )


def only_of(machine: Machine, vendor: str) -> bool:
    """Whether a machine, or each of several stacked ones, has GPUs, all of one vendor."""
    return {name for gpu in machine.gpus for name in gpu.vendor.split(STACKED)} == {vendor}


def check(backend: str, vendors: Iterable[str] = ()) -> None:
    """Check that a backend exists and drives the machine's cards.

    Args:
        backend: backend as typed, in lower case.
        vendors: vendors of the machine's cards.

    Raises:
        InputError: an unknown backend, or one that does not drive a card; lists the allowed ones.
    """
    if backend not in NAMES:
        raise InputError(f"Backend (--backend) is {backend[:40]!r}; allowed is {', '.join(NAMES)}.")
    for vendor in vendors:
        if backend != CPU and not reaches(backend, vendor):
            there = ", ".join((*OF_VENDOR.get(vendor, ("vulkan",)), CPU, UNKNOWN))
            raise InputError(
                f"Backend (--backend) is {backend}, which drives no card of {vendor}; allowed here "
                f"is {there}."
            )


def check_system(system: str, vendors: Iterable[str], backend: str | None) -> None:
    """Check that a system drives the machine's cards through llama.cpp.

    Builds for Macs without an Apple chip have Metal switched off, and Apple's chips run macOS.

    Raises:
        InputError: a system without a backend for a card.
    """
    if backend in (CPU, UNKNOWN):
        return
    for vendor in vendors:
        if (vendor == "Apple") != (system == MACOS):
            raise InputError(
                f"Operating system (--system) is {system}; llama.cpp has no backend for cards of "
                f"{vendor} on {SYSTEMS[system]}. Leave it out, or state the backend {CPU}."
            )
