"""Backends: interfaces through which llama.cpp uses a GPU (CUDA, ROCm, Vulkan ...), by vendor."""

import re
from calendar import month_name
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache

import numpy as np

from advisor.catalog.constants import STACKED
from advisor.catalog.csv_tables import DATA, read, texts
from advisor.errors import InputError
from advisor.machine.machine import Machine

CPU = "cpu"
UNKNOWN = "unknown"
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
    backends = OF_VENDOR.get(vendor, ("vulkan",))
    if system == WINDOWS:
        return ON_WINDOWS.get(vendor, backends)
    return backends


def usual(vendor: str, system: str = "") -> str:
    """Default backend of a vendor's cards on an operating system."""
    return (of_vendor(vendor, system) or (UNKNOWN,))[0]


def drives(machine: Machine) -> bool:
    """Whether llama.cpp has a backend for each GPU of a machine, or of several stacked ones."""
    return all(of_vendor(each) for gpu in machine.gpus for each in gpu.vendor.split(STACKED))


def reaches(backend: str, vendor: str) -> bool:
    """Whether a backend drives a vendor's cards."""
    return backend == UNKNOWN or backend in of_vendor(vendor)


def of_machine(machine: Machine) -> str:
    """Backend of the first GPU, the stated one where it drives the card; "cpu" without a GPU."""
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
    """Check that a backend exists and drives the machine's cards."""
    if backend not in NAMES:
        raise InputError(f"Backend (--backend) is {backend[:40]!r}; allowed is {', '.join(NAMES)}.")
    for vendor in vendors:
        if backend != CPU and not reaches(backend, vendor):
            there = ", ".join((*of_vendor(vendor), CPU, UNKNOWN))
            raise InputError(
                f"Backend (--backend) is {backend}, which drives no card of {vendor}; allowed here "
                f"is {there}."
            )


def check_system(system: str, vendors: Iterable[str], backend: str | None) -> None:
    """Check that llama.cpp drives the cards there: Metal is for Apple's chips on macOS alone."""
    if backend in (CPU, UNKNOWN):
        return
    for vendor in vendors:
        if (vendor == "Apple") != (system == MACOS):
            raise InputError(
                f"Operating system (--system) is {system}; llama.cpp has no backend for cards of "
                f"{vendor} on {SYSTEMS[system]}. Leave it out, or state the backend {CPU}."
            )


# Software beside llama.cpp's kernels: operating system, graphics driver, age of the build.
#
# Each is read from what a person types. Published speeds with and without are rows of
# data/runtimes/software_effects.csv.

LINUX = "linux"
WINDOWS = "windows"
MACOS = "macos"
SYSTEMS = {LINUX: "Linux", WINDOWS: "Windows", MACOS: "macOS"}
"""Operating systems and their names in words."""
OTHER_SPELLINGS = {"win": WINDOWS, "win32": WINDOWS, "mac": MACOS, "osx": MACOS, "darwin": MACOS}
MESA = "mesa"
AMDVLK = "amdvlk"
ROCM = "rocm"
DRIVER_BACKENDS = {MESA: "vulkan", AMDVLK: "vulkan", ROCM: "rocm"}
"""Drivers that can be stated, with the backend of llama.cpp that computes through each."""
DRIVER_LABELS = {MESA: "Mesa", AMDVLK: "AMDVLK", ROCM: "ROCm"}
DRIVER_SPELLINGS = {"radv": MESA, "anv": MESA, "nvk": MESA, "hip": ROCM}
"""Parts of Mesa, and other names, by which people call a driver."""
DRIVER = re.compile(r"([a-z]+)\s*v?(\d+(?:\.\d+)*)?")
OLDEST_BUILD = "2024"  # builds before October 2024, as in `catalog.constants.Scope`
KERNELS = {"rocm": "2025-12", "vulkan": "2025-11", "cuda": "2025-11", "metal": "2025-11"}
"""Month from which prompts in quantized formats use integer dot products for k-quants and, on AMD's
RDNA 3, matrix units (llama.cpp, pull requests 17576 and 16536); from which CUDA joins norms, sums
and gates with the products beside them (15631 of August 2025, 16715 of 26 October 2025), and Metal
uses the tensor units of an M5 (16634); builds before it are "2025"."""
USUAL_FLASH_ATTENTION = "2024-10"
"""Month from which flash attention and CUDA graphs are usual; builds before it are "2024"."""


def system_named(text: str) -> str:
    """Operating system as typed: "Windows" is "windows"."""
    folded = text.strip().casefold()
    name = OTHER_SPELLINGS.get(folded, folded)
    if name not in SYSTEMS:
        allowed = ", ".join(SYSTEMS)
        raise InputError(f"Operating system (--system) is {text[:40]!r}; allowed is {allowed}.")
    return name


@dataclass(frozen=True)
class GraphicsDriver:
    """Graphics driver."""

    name: str  # key of `DRIVER_BACKENDS`
    version: tuple[int, ...] = ()  # numbers of its version; empty where not stated

    def __str__(self) -> str:
        return f"{self.name} {'.'.join(map(str, self.version))}".strip()

    @property
    def words(self) -> str:
        """Name and version as its makers write them: "Mesa 24.2"."""
        return f"{DRIVER_LABELS[self.name]} {'.'.join(map(str, self.version))}".strip()

    @property
    def backend(self) -> str:
        """Backend of llama.cpp that computes through it."""
        return DRIVER_BACKENDS[self.name]

    def before(self, version: str) -> bool:
        """Whether its version is older than another; every one is where the other is empty."""
        if not version:
            return True
        return bool(self.version) and self.version < tuple(map(int, version.split(".")))


@lru_cache(maxsize=64)
def driver_named(text: str) -> GraphicsDriver:
    """GraphicsDriver as typed: "Mesa 24.2.8", "radv 25.0", "ROCm 6.4", "amdvlk"."""
    match = DRIVER.fullmatch(text.strip().casefold())
    if match:
        name = DRIVER_SPELLINGS.get(match[1], match[1])
    else:
        name = ""
    if match and match[2]:
        version = tuple(map(int, match[2].split(".")))
    else:
        version = ()
    if name not in DRIVER_BACKENDS or (name != AMDVLK and not version):
        raise InputError(
            f"Driver (--driver) is {text[:40]!r}; allowed is mesa or rocm with a version (mesa "
            "24.2, rocm 6.4), or amdvlk. No published speed tells other drivers apart: leave it "
            "out for a driver of today."
        )
    return GraphicsDriver(name, version)


def build_month(text: str) -> str:
    """Month of a typed month or build (b6715), whose day lies between those of dated builds."""
    folded = text.strip().casefold()
    if re.fullmatch(r"20[2-9]\d-(0[1-9]|1[0-2])", folded):
        return folded
    number = re.fullmatch(r"b?(\d{1,6})", folded)
    if number is None:
        raise InputError(
            f"Build (--build) is {text[:40]!r}; allowed is a number of llama.cpp's builds (b6715) "
            "or a month (2025-10); `llama-server --version` prints the number."
        )
    dated = texts("runtimes/llama_cpp_builds.csv", "number", "date")  # oldest first
    days = [date.fromisoformat(day).toordinal() for day in dated.values()]
    day = np.interp(int(number[1]), [*map(int, dated)], days)
    return date.fromordinal(int(day)).isoformat()[:7]


def kernels_of(month: str, backend: str) -> str:
    """Kernels of a build's month, as `Scope.build` names them; empty for those of today."""
    if not month:
        return ""
    if month < USUAL_FLASH_ATTENTION:
        return OLDEST_BUILD
    if month < KERNELS.get(backend, ""):
        return "2025"
    return ""


def month_words(month: str) -> str:
    """A month in words: "2025-12" is "December 2025"."""
    year, number = month.split("-")
    return f"{month_name[int(number)]} {year}"


@dataclass(frozen=True, kw_only=True, slots=True)
class SoftwareEffect:
    """One row of data/runtimes/software_effects.csv."""

    # input that it belongs to, "driver", "build", "numa" or "threads"; "kernel" for a build without
    # a kernel for a format, "experts" for a driver that is slow in experts
    option: str
    value: str  # driver, policy, how threads exceed the cores, or format
    since: str  # version of the driver from which it holds; empty for all
    # version of the driver, or month of the build, from which it no longer holds; empty for all
    before: str
    instead: str  # format with a kernel there, for one without; empty for none
    vendor: str  # vendor of the GPU; empty for any
    family: str  # family of the GPU; empty for any
    backend: str  # backend of llama.cpp; empty for any
    token: float  # speed of the part that it concerns in a token, beside that without it
    prompt: float  # the same in a prompt
    doubt: float  # half width of its 80 % range, as the logarithm of a factor
    sources: int  # independent sources that it rests on; fewer than three are never fitted
    source: str  # page with the speeds
    date: str  # date of the page
    note: str  # speeds and arithmetic

    @property
    def last_version(self) -> tuple[int, ...]:
        """Version of the driver just before the one from which it no longer holds."""
        if not self.before:
            return ()
        year, release = map(int, self.before.split("."))
        if release:
            return (year, release - 1)
        return (year - 1, 3)


def drivers_of(
    vendor: str, family: str, backend: str, option: str = "driver"
) -> Iterator[SoftwareEffect]:
    """Drivers whose effect on a card was published."""
    for row in software_effects():
        of_card = row.vendor == vendor and row.family in ("", family)
        if row.option == option and of_card and row.backend == backend:
            yield row


software_effects = cache(lambda: read(DATA / "runtimes/software_effects.csv", SoftwareEffect))
"""All rows; of several that apply, the first counts."""


POLICIES = ("none", "distribute", "isolate", "numactl")
"""Values of llama.cpp's `--numa`, and "none" for starting it without."""
ONE_NODE = ("isolate", "numactl")
"""Policies with threads and memory on one node: the one that the program starts on, or the one that
numactl binds it to."""


def check_policy(text: str) -> None:
    """Check a typed value of `--numa`."""
    if text not in POLICIES:
        allowed = ", ".join(POLICIES)
        raise InputError(f"Memory nodes (--numa) is {text[:40]!r}; allowed is {allowed}.")


def effect_of(option: str, value: str) -> SoftwareEffect | None:
    """Published effect of a policy or of too many threads; None without one."""
    rows = (row for row in software_effects() if (row.option, row.value) == (option, value))
    return next(rows, None)


def effects_of_build(month: str) -> tuple[SoftwareEffect, ...]:
    """Published effects of a build on linear attention, on GPUs and on processors."""
    return tuple(_at("build", month))


def _at(option: str, month: str) -> Iterator[SoftwareEffect]:
    """Effects of an option that hold for builds of a month; none for today's, which is empty."""
    rows = (row for row in software_effects() if row.option == option)
    return (row for row in rows if month and month < row.before)


def effect_of_kernel(month: str, backend: str, kinds: frozenset[str]) -> SoftwareEffect | None:
    """Published effect of a build without kernels for one of a model's storage types."""
    missing = without_kernel(month, backend)
    return next((row for kind, row in missing.items() if kind in kinds), None)


def without_kernel(month: str, backend: str) -> Mapping[str, SoftwareEffect]:
    """Effects of a build by the storage types that it has no fast kernels for; as above."""
    return {row.value: row for row in _at("kernel", month) if row.backend == backend}


HYPER_THREADS = "every hyper-thread"
PAST_CORES = "past the cores"
SLOWER_CORES = "slower cores"
"""Ways in which stated threads exceed the cores that llama.cpp takes by itself."""
