"""Backends: llama.cpp's ways to a GPU, by the maker of the card."""

from collections.abc import Iterable

from advisor.catalog.constants import STACKED
from advisor.errors import InputError
from advisor.machine.machine import Machine

CPU, UNKNOWN = "cpu", "unknown"
"""Without the GPU, and a backend that nobody knows: the range is wider then."""
OF_VENDOR = {
    "NVIDIA": ("cuda", "vulkan"),
    "AMD": ("rocm", "vulkan"),
    "Intel": ("sycl", "vulkan"),
    "Apple": ("metal",),
}
"""Backends of each maker's cards, the one that their own software brings first."""
NAMES = ("cuda", "rocm", "sycl", "metal", "vulkan", CPU, UNKNOWN)
LABELS = {"cuda": "CUDA", "rocm": "ROCm", "sycl": "SYCL", "metal": "Metal", "vulkan": "Vulkan"}
"""As people write them; with a number behind, the device of llama.cpp (GGML_CUDA_NAME,
GGML_SYCL_NAME and GGML_VK_NAME of its ggml/include)."""


def usual(vendor: str) -> str:
    """The backend of a maker's cards where nobody states another."""
    return OF_VENDOR.get(vendor, ("vulkan",))[0]


def reaches(backend: str, vendor: str) -> bool:
    """A backend drives a maker's cards."""
    return backend == UNKNOWN or backend in OF_VENDOR.get(vendor, ("vulkan",))


def of_machine(machine: Machine) -> str:
    """The backend of a machine's first GPU; "cpu" where there is none.

    The one that was stated, where it drives the card: another card may have taken its place.
    """
    if not machine.gpus:
        return CPU
    vendors = machine.gpus[0].vendor.split(STACKED)
    stated = machine.backend
    return STACKED.join(
        stated if stated and reaches(stated, vendor) else usual(vendor) for vendor in vendors
    )


def only_of(machine: Machine, vendor: str) -> bool:
    """All GPUs of a machine, or of each of several stacked ones, are of one maker; there is one."""
    return {name for gpu in machine.gpus for name in gpu.vendor.split(STACKED)} == {vendor}


def check(backend: str, vendors: Iterable[str] = ()) -> None:
    """Refuse a backend that does not exist, or does not drive a card.

    Args:
        backend: as typed, in lower case.
        vendors: makers of the machine's cards.

    Raises:
        InputError: it says which there are.
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
