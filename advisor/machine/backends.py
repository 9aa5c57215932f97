"""Software of a machine: operating system, llama.cpp's backend and build, graphics driver."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache, lru_cache
from typing import ClassVar

import numpy as np

from advisor.catalog.constants import Names, in_common, names_of
from advisor.catalog.csv_tables import DATA, read, texts
from advisor.errors import InputError


class OperatingSystem(StrEnum):
    """Operating system of a machine."""

    LINUX = "linux"
    WINDOWS = "windows"
    MACOS = "macos"

    @property
    def label(self) -> str:
        """Name in words."""
        return {"linux": "Linux", "windows": "Windows", "macos": "macOS"}[self]

    @classmethod
    def seen(cls, text: str) -> "OperatingSystem | None":
        """Operating system that a text names, in any spelling; None for texts without one."""
        folded = text.strip().casefold()
        name = OTHER_SPELLINGS.get(folded, folded)
        return next((system for system in cls if system == name), None)

    @classmethod
    def named(cls, text: str) -> "OperatingSystem":
        """Operating system as typed: "Windows" is "windows"; raises InputError for an unknown
        one.
        """
        system = cls.seen(text)
        if system is None:
            allowed = ", ".join(cls)
            raise InputError(f"Operating system (--system) is {text[:40]!r}; allowed is {allowed}.")
        return system


OTHER_SPELLINGS = {
    "win": "windows", "win32": "windows", "mac": "macos", "osx": "macos", "darwin": "macos",
}  # fmt: skip


class Backend(StrEnum):
    """Backend of llama.cpp: the interface through which it computes."""

    CUDA = "cuda"
    ROCM = "rocm"
    SYCL = "sycl"
    METAL = "metal"
    VULKAN = "vulkan"
    CPU = "cpu"  # no GPU
    UNKNOWN = "unknown"  # widens ranges

    @property
    def label(self) -> str:
        """Name in words; with a number appended, llama.cpp's name of a device (GGML_CUDA_NAME,
        GGML_SYCL_NAME and GGML_VK_NAME in its ggml/include). Empty without a GPU.
        """
        return LABELS.get(self, "")

    @staticmethod
    def label_of(backend: str) -> str:
        """Name in words of a backend by its text; empty for a backend without a device."""
        return LABELS.get(backend, "")

    @classmethod
    def of_vendor(cls, vendor: str, system: str = "") -> "tuple[Backend, ...]":
        """Backends of a vendor's cards on an operating system, the usual one first."""
        backends = OF_VENDOR.get(vendor, (cls.VULKAN,))
        if system == OperatingSystem.WINDOWS:
            return ON_WINDOWS.get(vendor, backends)
        return backends

    @classmethod
    def usual(cls, vendor: str, system: str = "") -> "Backend":
        """Default backend of a vendor's cards on an operating system."""
        return (cls.of_vendor(vendor, system) or (cls.UNKNOWN,))[0]

    @classmethod
    def reaches(cls, backend: str, vendor: str) -> bool:
        """Whether a backend drives a vendor's cards."""
        return backend == cls.UNKNOWN or backend in cls.of_vendor(vendor)


LABELS = {"cuda": "CUDA", "rocm": "ROCm", "sycl": "SYCL", "metal": "Metal", "vulkan": "Vulkan"}
OF_VENDOR = {
    "NVIDIA": (Backend.CUDA, Backend.VULKAN),
    "AMD": (Backend.ROCM, Backend.VULKAN),
    "Intel": (Backend.SYCL, Backend.VULKAN),
    "Apple": (Backend.METAL,),
    "Intel Gaudi": (),
}
"""Backends of each vendor's cards, the vendor's own first; none for cards that llama.cpp does not
support (its ggml/src has no backend for Gaudi)."""
ON_WINDOWS = {"AMD": (Backend.VULKAN, Backend.ROCM), "Intel": (Backend.VULKAN, Backend.SYCL)}
"""Backends on Windows where another comes first than on Linux: packages for Windows are built with
CUDA or Vulkan (llama.cpp, docs/install.md: conda-forge; github.com/danmoreng/llama.cpp-installer
takes Vulkan for cards of AMD and Intel; both 2026-11)."""


@lru_cache(maxsize=256)
def of_vendors(vendors: Names, stated: str, system: str) -> Names:
    """Backend of a vendor's cards; of several vendors one for each where they differ.

    It is the stated backend for cards that it drives, and the usual one for others.
    """
    return in_common(
        stated if stated and Backend.reaches(stated, vendor) else Backend.usual(vendor, system)
        for vendor in names_of(vendors)
    )


def check(backend: str, vendors: Iterable[str] = ()) -> None:
    """Check that a backend exists and drives the machine's cards."""
    if backend not in [*Backend]:
        allowed = ", ".join(Backend)
        raise InputError(f"Backend (--backend) is {backend[:40]!r}; allowed is {allowed}.")
    for vendor in vendors:
        if backend != Backend.CPU and not Backend.reaches(backend, vendor):
            there = ", ".join((*Backend.of_vendor(vendor), Backend.CPU, Backend.UNKNOWN))
            raise InputError(
                f"Backend (--backend) is {backend}, which drives no card of {vendor}; allowed here "
                f"is {there}."
            )


def check_system(system: OperatingSystem, vendors: Iterable[str], backend: str | None) -> None:
    """Check that llama.cpp drives the cards on an operating system: Metal needs Apple's chips and
    macOS.
    """
    if backend in (Backend.CPU, Backend.UNKNOWN):
        return
    for vendor in vendors:
        if (vendor == "Apple") != (system == OperatingSystem.MACOS):
            raise InputError(
                f"Operating system (--system) is {system}; llama.cpp has no backend for cards of "
                f"{vendor} on {system.label}. Leave it out, or state the backend {Backend.CPU}."
            )


# Software beside llama.cpp's kernels: operating system, graphics driver, age of the build.
#
# Each is read from what a person types. Published speeds with and without are rows of
# data/runtimes/software_effects.csv.

MESA = "mesa"
AMDVLK = "amdvlk"
ROCM = "rocm"
DRIVER_BACKENDS = {MESA: Backend.VULKAN, AMDVLK: Backend.VULKAN, ROCM: Backend.ROCM}
"""Drivers that can be stated, with the backend of llama.cpp that computes through each."""
DRIVER_LABELS = {MESA: "Mesa", AMDVLK: "AMDVLK", ROCM: "ROCm"}
DRIVER_SPELLINGS = {"radv": MESA, "anv": MESA, "nvk": MESA, "hip": ROCM}
"""Parts of Mesa, and other names, by which people call a driver."""
DRIVER = re.compile(r"([a-z]+)\s*v?(\d+(?:\.\d+)*)?")


@dataclass(frozen=True)
class GraphicsDriver:
    """Driver of graphics cards, with its version."""

    name: str  # key of `DRIVER_BACKENDS`
    version: tuple[int, ...] = ()  # numbers of its version; empty where not stated

    def __str__(self) -> str:
        return f"{self.name} {'.'.join(map(str, self.version))}".strip()

    @property
    def label(self) -> str:
        """Name of the driver in its makers' spelling; empty for an unknown name."""
        return DRIVER_LABELS.get(self.name, "")

    @property
    def words(self) -> str:
        """Name and version of the driver in its makers' spelling ("Mesa 24.2")."""
        return f"{self.label} {'.'.join(map(str, self.version))}".strip()

    @property
    def backend(self) -> Backend:
        """Backend of llama.cpp that computes through the driver."""
        return DRIVER_BACKENDS[self.name]

    def before(self, version: str) -> bool:
        """Whether the driver's version is older than another one; true where the other one is
        empty.
        """
        if not version:
            return True
        return bool(self.version) and self.version < tuple(map(int, version.split(".")))


@lru_cache(maxsize=64)
def driver_named(text: str) -> GraphicsDriver:
    """Graphics driver as typed: "Mesa 24.2.8", "radv 25.0", "ROCm 6.4", "amdvlk"."""
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

    NOTABLE: ClassVar = 0.95  # speed beside today's driver, from which an older one is warned of

    @property
    def label(self) -> str:
        """Driver in its makers' spelling; the value of another option unchanged."""
        return DRIVER_LABELS.get(self.value, self.value)

    @property
    def last_driver(self) -> GraphicsDriver:
        """Last driver for which the effect holds."""
        return GraphicsDriver(self.value, self.last_version)

    @property
    def last_version(self) -> tuple[int, ...]:
        """Version of the last driver for which the effect holds."""
        if not self.before:
            return ()
        year, release = map(int, self.before.split("."))
        if release:
            return (year, release - 1)
        return (year - 1, 3)

    @staticmethod
    @cache
    def rows() -> "tuple[SoftwareEffect, ...]":
        """All rows in the order of the table; of several rows that apply, the first counts."""
        return read(DATA / "runtimes/software_effects.csv", SoftwareEffect)

    @classmethod
    def of(cls, option: str, value: str) -> "SoftwareEffect | None":
        """Published effect of a policy or of too many threads; None without one."""
        rows = (row for row in cls.rows() if (row.option, row.value) == (option, value))
        return next(rows, None)

    @classmethod
    def of_drivers(
        cls, vendor: str, family: str, backend: str, option: str = "driver"
    ) -> "Iterator[SoftwareEffect]":
        """Published effects of drivers on a card."""
        for row in cls.rows():
            of_card = row.vendor == vendor and row.family in ("", family)
            if row.option == option and of_card and row.backend == backend:
                yield row

    @classmethod
    def slower_drivers(cls, vendor: str, family: str, backend: str) -> "Iterator[SoftwareEffect]":
        """Published effects of drivers that are notably slower than today's on a card."""
        for row in cls.of_drivers(vendor, family, backend):
            if min(row.token, row.prompt) <= cls.NOTABLE:
                yield row


@dataclass(frozen=True)
class Build:
    """Build of llama.cpp."""

    month: str  # "2025-10"; empty for today's

    OLDEST: ClassVar = "2024"  # kernels of builds before October 2024, as in `constants.Scope`
    USED_ALONE_SINCE: ClassVar = "2025-09"
    """Month from which builds of llama.cpp (pull request 15346, August 2025) and of its fork (698,
    4 September 2025) copy only the experts that a micro-batch asks for; older ones copy all."""

    @classmethod
    def named(cls, text: str) -> "Build":
        """Build of a typed month or number (b6715); raises InputError for other texts.

        The day of a number lies between the days of dated builds.
        """
        folded = text.strip().casefold()
        if re.fullmatch(r"20[2-9]\d-(0[1-9]|1[0-2])", folded):
            return cls(folded)
        number = re.fullmatch(r"b?(\d{1,6})", folded)
        if number is None:
            raise InputError(
                f"Build (--build) is {text[:40]!r}; allowed is a number of llama.cpp's builds "
                "(b6715) or a month (2025-10); `llama-server --version` prints the number."
            )
        dated = texts("runtimes/llama_cpp_builds.csv", "number", "date")  # oldest first
        days = [date.fromisoformat(day).toordinal() for day in dated.values()]
        day = np.interp(int(number[1]), [*map(int, dated)], days)
        return cls(date.fromordinal(int(day)).isoformat()[:7])

    @staticmethod
    def kinds(backend: str) -> "dict[str, Build]":
        """First build after each kind of older kernels, by its name, the oldest kind first."""
        kinds = {Build.OLDEST: Build(USUAL_FLASH_ATTENTION)}
        if backend in KERNELS:
            kinds["2025"] = Build(KERNELS[backend])
        return kinds

    def kernels(self, backend: str) -> str:
        """Name of the build's kernels, as in `Scope.build`; empty for today's kernels."""
        if not self.month:
            return ""
        kinds = Build.kinds(backend).items()
        return next((name for name, first in kinds if self.month < first.month), "")

    def __str__(self) -> str:
        from calendar import month_name  # takes time to load, and few answers need it

        year, number = self.month.split("-")
        return f"{month_name[int(number)]} {year}"

    @property
    def effects(self) -> tuple[SoftwareEffect, ...]:
        """Published effects on linear attention, on GPUs and on processors."""
        return tuple(self._of("build"))

    def effect_of_kernel(self, backend: str, kinds: frozenset[str]) -> SoftwareEffect | None:
        """Published effect of having no fast kernel for one of a model's storage types."""
        missing = self.without_kernel(backend)
        return next((row for kind, row in missing.items() if kind in kinds), None)

    def without_kernel(self, backend: str) -> Mapping[str, SoftwareEffect]:
        """Published effects of missing fast kernels, by storage type."""
        return {row.value: row for row in self._of("kernel") if row.backend == backend}

    def _of(self, option: str) -> Iterator[SoftwareEffect]:
        rows = (row for row in SoftwareEffect.rows() if row.option == option)
        return (row for row in rows if self.month and self.month < row.before)


KERNELS = {"rocm": "2025-12", "vulkan": "2025-11", "cuda": "2025-11", "metal": "2025-11"}
"""Month from which prompts in quantized formats use integer dot products for k-quants and, on AMD's
RDNA 3, matrix units (llama.cpp, pull requests 17576 and 16536); from which CUDA joins norms, sums
and gates with the products beside them (15631 of August 2025, 16715 of 26 October 2025), and Metal
uses the tensor units of an M5 (16634); builds before it are "2025"."""
USUAL_FLASH_ATTENTION = "2024-10"
"""Month from which flash attention and CUDA graphs are usual; builds before it are "2024"."""


class NumaPolicy(StrEnum):
    """Value of llama.cpp's `--numa`, and "none" for starting it without."""

    NONE = "none"
    DISTRIBUTE = "distribute"
    ISOLATE = "isolate"
    NUMACTL = "numactl"

    @staticmethod
    def on_one_node(text: str | None) -> bool:
        """Whether a policy keeps threads and memory on one node.

        It is the node that the program starts on, or the one that numactl binds it to.
        """
        return text in (NumaPolicy.ISOLATE, NumaPolicy.NUMACTL)


def check_policy(text: str) -> None:
    """Check a typed value of `--numa`."""
    if text not in [*NumaPolicy]:
        allowed = ", ".join(NumaPolicy)
        raise InputError(f"Memory nodes (--numa) is {text[:40]!r}; allowed is {allowed}.")


class ThreadExcess(StrEnum):
    """Kind of excess of stated threads over the cores that llama.cpp takes by default."""

    HYPER_THREADS = "every hyper-thread"
    PAST_CORES = "past the cores"
    SLOWER_CORES = "slower cores"
