"""GPUs of this machine: NVIDIA by NVML, AMD and Intel by sysfs, Apple by sysctl. Never raises."""

import io
import json
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from advisor.failures import ProbeError
from advisor.probes.host import command, number, operating_system, sysctl, text
from advisor.units import GIB, MIB

# GPU facts from drivers: identity and present state.


@dataclass(frozen=True, kw_only=True)
class GpuFacts:
    """Facts about a GPU from its driver; None for unknown values."""

    name: str  # name given by the driver
    vendor: str  # NVIDIA, AMD, Intel, Apple
    # size of its memory [B]; for unified memory that of the machine's RAM
    memory_total: int | None = None
    link_generation_now: int | None = None  # present PCIe generation; lower while the GPU is idle
    link_generation_max: int | None = None  # highest PCIe generation of GPU and slot together
    link_width_now: int | None = None  # PCIe lanes in use
    link_width_max: int | None = None  # most PCIe lanes of GPU and slot together
    driver: str | None = None  # version of the driver
    bus: str | None = None  # PCI address ("0000:01:00.0")
    unified: bool = False  # the GPU uses the host's memory

    @property
    def link(self) -> tuple[int, int] | None:
        """PCIe generation and lanes under load; None where either is unknown."""
        generation = self.link_generation_max or self.link_generation_now
        width = self.link_width_now or self.link_width_max
        if generation and width:
            return (generation, width)
        return None


@dataclass(frozen=True, kw_only=True)
class GpuState:
    """State of a GPU at one moment; None for unknown values."""

    link_generation: int | None = None  # PCIe generation
    link_width: int | None = None  # PCIe lanes
    clock: float | None = None  # clock of the processors [Hz]
    memory_clock: float | None = None  # clock of the memory [Hz]
    power: float | None = None  # power draw [W]
    power_limit: float | None = None  # enforced power limit [W]
    usual_power: float | None = None  # power limit as the card was sold [W]
    slowed_by: tuple[str, ...] = ()  # reasons for reduced clocks, in words
    memory_used: float | None = None  # memory in use, by whatever [B]
    busy: float | None = None  # share of the last moment in which it computed
    # memory of each process that computes on it [B]; empty where the driver tells none
    held_by: Mapping[int, float] = field(default_factory=dict)

    def sentence(self) -> str:
        """State in a sentence; empty where nothing is known."""
        parts = []
        if self.clock:
            parts.append(f"processors at {self.clock / 1e6:.0f} MHz")
        if self.memory_clock:
            parts.append(f"memory at {self.memory_clock / 1e6:.0f} MHz")
        if self.power and self.power_limit:
            parts.append(f"{self.power:.0f} of {self.power_limit:.0f} W")
        if self.slowed_by:
            parts.append(f"slowed by {' and '.join(self.slowed_by)}")
        if parts:
            return f"Under load: {', '.join(parts)}."
        return ""


def figure_name(name: str, place: int) -> str:
    """Name of a measurement for the GPU at an index in the drivers' order, from 0."""
    if place == 0:
        return name
    return f"{name}_gpu{place}"


def same_bus(bus: str, other: str) -> bool:
    """Whether two PCI addresses are of one device: NVML writes more digits for the domain."""
    return bus.casefold().lstrip("0") == other.casefold().lstrip("0")


# GPUs of a Mac by sysctl and system_profiler. Never raises.

_UNIT = {"MB": MIB, "GB": GIB}


def apple_gpus() -> tuple[tuple[GpuFacts, ...], tuple[str, ...]]:
    """GPUs, and remarks on them, a sentence each."""
    cards = _cards()
    if platform.machine() != "arm64":
        seen = tuple(map(_card, cards))
        return seen, () if seen else ("No GPU of this Mac can be seen; choose one by hand.",)
    chip = command("sysctl", "-n", "machdep.cpu.brand_string") or "Apple GPU"
    # Chips of the same name differ in their GPU cores.
    cores = next((str(card["sppci_cores"]) for card in cards if "sppci_cores" in card), "")
    gpu = GpuFacts(
        name=f"{chip} {cores}-core GPU" if cores.isdigit() else chip,
        vendor="Apple",
        memory_total=sysctl("hw.memsize"),
        unified=True,
    )
    limit = sysctl("iogpu.wired_limit_mb")
    if limit:
        share = f"{limit} MB of it"
    else:
        share = "about two thirds to three quarters of it"
    return (gpu,), (f"{chip}: GPU and host share one memory; the GPU may use {share}.",)


def _card(card: dict[str, Any]) -> GpuFacts:
    """GPU of a Mac with an Intel processor; `spdisplays_vram` is text such as "8 GB"."""
    size = re.match(r"(\d+) (MB|GB)", str(card.get("spdisplays_vram", "")))
    name = str(card.get("sppci_model") or card.get("_name") or "GPU")
    maker = re.search(r"AMD|Intel|NVIDIA", f"{card.get('spdisplays_vendor', '')} {name}")
    return GpuFacts(
        name=name,
        vendor=maker[0] if maker else "",
        memory_total=int(int(size[1]) * _UNIT[size[2]]) if size else None,
    )


@cache
def _cards() -> tuple[dict[str, Any], ...]:
    """Entries of system_profiler, which takes up to a second; empty on failure."""
    try:
        report = json.loads(command("system_profiler", "-json", "SPDisplaysDataType"))
        return tuple(entry for entry in report["SPDisplaysDataType"] if isinstance(entry, dict))
    except (ValueError, KeyError, TypeError):
        return ()


# Names of AMD GPUs from AMD's library `amdsmi`, where installed. Never raises.
#
# The Python package comes with ROCm; without the driver's library, its import prints to the screen
# and raises KeyError (seen with 7.0.2).


def market_names() -> dict[str, str]:
    """Known product names by PCI address."""
    try:
        with redirect_stdout(io.StringIO()):
            smi = import_module("amdsmi")
    except (ImportError, KeyError, OSError, AttributeError):
        return {}
    names = {}
    try:
        smi.amdsmi_init()
        for card in smi.amdsmi_get_processor_handles():
            name = str(smi.amdsmi_get_gpu_asic_info(card)["market_name"])
            # "N/A" or the device's number where the library has no name
            if name != "N/A" and not name.startswith("0x"):
                names[str(smi.amdsmi_get_gpu_device_bdf(card)).casefold()] = name
        smi.amdsmi_shut_down()
    except smi.AmdSmiException:
        return {}
    return names


# Display devices from /sys of Linux, with names from the system's pci.ids.

_GENERATION = {"2.5": 1, "5.0": 2, "8.0": 3, "16.0": 4, "32.0": 5, "64.0": 6}
_ID_LISTS = ("usr/share/hwdata/pci.ids", "usr/share/misc/pci.ids")


AMD = 0x1002
INTEL = 0x8086
NVIDIA = 0x10DE
VENDORS = {AMD: "AMD", INTEL: "Intel", NVIDIA: "NVIDIA"}


@dataclass(frozen=True, kw_only=True)
class DisplayDevice:
    """Display device of the system."""

    folder: Path  # its folder in /sys
    vendor: int  # PCI number of the vendor
    device: int  # PCI number of the device
    revision: int  # revision of the device
    gpu: GpuFacts  # its facts; the name is that of pci.ids, the driver the kernel's module


def display_devices(root: Path = Path("/")) -> tuple[DisplayDevice, ...]:
    """Display devices by card number; empty without /sys."""
    cards = (path for path in (root / "sys/class/drm").glob("card*") if path.name[4:].isdigit())
    ordered = sorted(cards, key=lambda path: int(path.name[4:]))
    devices = (_device(root, (path / "device").resolve()) for path in ordered)
    return tuple(device for device in devices if device is not None)


def _device(root: Path, folder: Path) -> DisplayDevice | None:
    vendor = _hex(folder / "vendor")
    device = _hex(folder / "device")
    if vendor is None or device is None:
        return None
    driver = folder / "driver"
    bridges = _bridges(folder)
    # The root port's link is the slot's: cards with a switch of their own (AMD, Intel Arc) show the
    # link behind the switch. The next device is the card's end of it.
    slot, card = (*bridges, folder, folder)[:2] if len(bridges) != 1 else (bridges[0], bridges[0])
    gpu = GpuFacts(
        name=_name(root, vendor, device),
        vendor=VENDORS.get(vendor, ""),
        link_generation_now=_generation(slot, "current_link_speed"),
        link_generation_max=_least(_generation(end, "max_link_speed") for end in (slot, card)),
        link_width_now=number(slot / "current_link_width") or None,
        link_width_max=_least(number(end / "max_link_width") for end in (slot, card)),
        driver=driver.resolve().name if driver.exists() else None,
        bus=folder.name.casefold() if bridges else "",
    )
    revision = _hex(folder / "revision") or 0
    return DisplayDevice(folder=folder, vendor=vendor, device=device, revision=revision, gpu=gpu)


def _bridges(folder: Path) -> tuple[Path, ...]:
    """PCI devices from the root port down to the device itself."""
    chain = (folder, *folder.parents)
    return tuple(reversed([part for part in chain if re.fullmatch(r"\w+:\w+:\w+\.\w", part.name)]))


def _generation(folder: Path, name: str) -> int | None:
    match = re.match(r"([\d.]+) GT/s", text(folder / name))
    if match:
        return _GENERATION.get(match[1])
    return None


def _least(sides: Iterable[int | None]) -> int | None:
    return min((side for side in sides if side), default=None)


def _hex(path: Path) -> int | None:
    words = text(path)
    if re.fullmatch(r"0x[0-9a-fA-F]+", words):
        return int(words, 16)
    return None


def _name(root: Path, vendor: int, device: int) -> str:
    """Product's name, which pci.ids writes after that of the chip: "Navi 31 [RX 7900 XT]"."""
    for path in _ID_LISTS:
        names = text(root / path)
        block = re.search(rf"^{vendor:04x}  .*\n((?:[\t#].*\n)*)", names, re.MULTILINE)
        match = block and re.search(rf"^\t{device:04x}  (.+)$", block[1], re.MULTILINE)
        if match:
            return re.sub(r".*?\[(.+)\].*", r"\1", str(match[1]))
    return f"GPU {vendor:04x}:{device:04x}"


# AMD and Intel GPUs from /sys/class/drm of Linux, with AMD's library where installed.
#
# Files of amdgpu: https://docs.kernel.org/gpu/amdgpu/driver-misc.html (mem_info_*) and
# https://docs.kernel.org/gpu/amdgpu/thermal.html (power1_cap in microwatts, pp_dpm_* in MHz). Of
# xe: tile*/physical_vram_size_bytes, as Intel's compute runtime reads it; i915 has
# lmem_total_bytes outside the mainline kernel only.

AMD_IDS = ("usr/share/libdrm/amdgpu.ids", "opt/amdgpu/share/libdrm/amdgpu.ids")


def drm_gpus(cards: tuple[DisplayDevice, ...], root: Path = Path("/")) -> tuple[GpuFacts, ...]:
    """GPUs by AMD and Intel among the display devices."""
    if any(card.vendor == AMD for card in cards):
        names = market_names()
    else:
        names = {}
    gpus = []
    for card in (card for card in cards if card.vendor == AMD):
        name = names.get(card.gpu.bus or "") or text(card.folder / "product_name")
        name = name or _listed(card, root) or card.gpu.name
        size = number(card.folder / "mem_info_vram_total")
        gpus.append(replace(card.gpu, name=name, memory_total=size))
    return (*gpus, *(_intel(card) for card in cards if card.vendor == INTEL))


def _intel(card: DisplayDevice) -> GpuFacts:
    tiles = [number(path) for path in card.folder.glob("tile*/physical_vram_size_bytes")]
    local = [number(path) for path in card.folder.glob("drm/card*/lmem_total_bytes")]
    return replace(card.gpu, memory_total=sum(size or 0 for size in tiles or local) or None)


def _listed(card: DisplayDevice, root: Path) -> str:
    """AMD's name for a device and revision, which distinguishes cards with the same chip."""
    pattern = rf"^{card.device:04X},\s*{card.revision:02X},\s*(.+)$"
    for path in AMD_IDS:
        match = re.search(pattern, text(root / path), re.MULTILINE | re.IGNORECASE)
        if match:
            return match[1].strip()
    return ""


# NVIDIA GPUs through NVML: identity, and state under load. Never raises.

SLOWED_BY = {
    0x4: "the power limit",
    0x8: "the hardware",
    0x10: "the clocks of other GPUs",
    0x20: "heat",
    0x40: "heat",
    0x80: "the power supply",
}
"""Reasons for reduced clocks in NVML's clock event bits, in words; idling and set clocks are
none."""
LINK = {
    "link_generation_now": "GetCurrPcieLinkGeneration",
    "link_generation_max": "GetMaxPcieLinkGeneration",
    "link_width_now": "GetCurrPcieLinkWidth",
    "link_width_max": "GetMaxPcieLinkWidth",
}
"""Calls by field of `GpuFacts`."""
STATE = {
    "link_generation": ("GetCurrPcieLinkGeneration", 1),
    "link_width": ("GetCurrPcieLinkWidth", 1),
    "power": ("GetPowerUsage", 1e-3),
    "power_limit": ("GetEnforcedPowerLimit", 1e-3),
    "usual_power": ("GetPowerManagementDefaultLimit", 1e-3),
}
"""Calls by field of `GpuState`, with the sizes of their units."""
CLOCKS = {"clock": "NVML_CLOCK_SM", "memory_clock": "NVML_CLOCK_MEM"}


def state(bus: str) -> GpuState | None:
    """Present state of a GPU; None where NVML does not show it."""
    with suppress(ProbeError), _started() as nvml:
        card = _told(nvml, "DeviceGetHandleByPciBusId", bus.encode())
        if card is not None:
            return _state(nvml, card)
        return None
    return None


@contextmanager
def _started() -> Iterator[ModuleType]:
    """NVML; ProbeError with the reason where it does not answer."""
    try:
        nvml = import_module("pynvml")  # costs 20 ms, needed only here
    except ImportError:
        raise ProbeError(
            "The Python package nvidia-ml-py is missing; NVIDIA GPUs cannot be seen."
        ) from None
    try:
        nvml.nvmlInit()
        yield nvml
    except nvml.NVMLError as error:
        raise ProbeError(_refusal(nvml, error)) from None
    finally:
        _told(nvml, "Shutdown")


def _refusal(nvml: ModuleType, error: Exception) -> str:
    reason = getattr(error, "value", None)
    if reason == nvml.NVML_ERROR_NO_PERMISSION:
        return (
            "The NVIDIA driver refuses this user (no permission); start as a user who may run "
            "nvidia-smi, or choose the GPU by hand."
        )
    if reason in (nvml.NVML_ERROR_LIBRARY_NOT_FOUND, nvml.NVML_ERROR_DRIVER_NOT_LOADED):
        return "No NVIDIA driver is running here; NVIDIA GPUs cannot be seen."
    return f"The NVIDIA driver does not answer ({error}); NVIDIA GPUs cannot be seen."


def _devices(nvml: ModuleType) -> tuple[tuple[GpuFacts, ...], str]:
    """GPUs in NVML's order, and the reason why some or all are missing."""
    gpus = []
    lost = 0
    for index in range(nvml.nvmlDeviceGetCount()):
        handle = _told(nvml, "DeviceGetHandleByIndex", index)
        lost += handle is None
        if handle is not None:
            parts = _mig_parts(nvml, handle) or (handle,)
        else:
            parts = ()
        gpus += [_part(nvml, part, handle) for part in parts]
    if lost:
        return tuple(gpus), f"{lost} NVIDIA GPU(s) did not answer and are left out."
    return tuple(gpus), "" if gpus else "The NVIDIA driver runs but shows no GPU."


def _mig_parts(nvml: ModuleType, handle: Any) -> tuple[Any, ...]:
    """Handles of a GPU's MIG partitions; empty for a whole GPU."""
    mode = _told(nvml, "DeviceGetMigMode", handle)
    if not mode or not mode[0]:
        return ()
    slots = range(_told(nvml, "DeviceGetMaxMigDeviceCount", handle) or 0)
    parts = (_told(nvml, "DeviceGetMigDeviceHandleByIndex", handle, slot) for slot in slots)
    return tuple(part for part in parts if part is not None)


def _part(nvml: ModuleType, handle: Any, card: Any) -> GpuFacts:
    """GPU or partition: name and memory of its own, link of the whole card."""
    memory = _told(nvml, "DeviceGetMemoryInfo", handle)
    address = _told(nvml, "DeviceGetPciInfo", card)
    link: dict[str, Any] = {
        name: _told(nvml, f"Device{call}", card) or None for name, call in LINK.items()
    }
    return GpuFacts(
        name=_told(nvml, "DeviceGetName", handle) or "NVIDIA GPU",
        vendor="NVIDIA",
        memory_total=memory.total if memory else None,
        driver=_told(nvml, "SystemGetDriverVersion"),
        bus=address.busId if address else None,
        **link,
    )


def _state(nvml: ModuleType, card: Any) -> GpuState:
    # The name of the call before drivers of 2023.
    reasons = _told(nvml, "DeviceGetCurrentClocksEventReasons", card) or _told(
        nvml, "DeviceGetCurrentClocksThrottleReasons", card
    )
    programs = _told(nvml, "DeviceGetComputeRunningProcesses", card) or ()
    busy = _told(nvml, "DeviceGetUtilizationRates", card)
    figures: dict[str, Any] = {
        name: told * unit if (told := _told(nvml, f"Device{call}", card)) else None
        for name, (call, unit) in STATE.items()
    }
    for name, kind in CLOCKS.items():
        megahertz = _told(nvml, "DeviceGetClockInfo", card, getattr(nvml, kind))
        figures[name] = megahertz * 1e6 if megahertz else None
    # The first version, all that drivers before 510 know, counts the driver's own (480 MiB of an
    # H100) as used.
    memory = _told(nvml, "DeviceGetMemoryInfo", card, nvml.nvmlMemory_v2) or _told(
        nvml, "DeviceGetMemoryInfo", card
    )
    bits = reasons or 0
    slowed_by = [words for bit, words in SLOWED_BY.items() if bits & bit]
    return GpuState(
        memory_used=float(memory.used) if memory else None,
        busy=busy.gpu / 100 if busy else None,
        held_by={
            program.pid: program.usedGpuMemory for program in programs if program.usedGpuMemory
        },
        slowed_by=tuple(dict.fromkeys(slowed_by)),
        **figures,
    )


def _told(nvml: ModuleType, call: str, *about: Any) -> Any:
    """Result of a driver call; None where virtual machines, MIG or old drivers refuse it."""
    try:
        return getattr(nvml, f"nvml{call}")(*about)
    except nvml.NVMLError:
        return None


def gpus(root: Path = Path("/")) -> tuple[tuple[GpuFacts, ...], tuple[str, ...]]:
    """GPUs in the drivers' order, and problems, a sentence each."""
    if operating_system() == "darwin":
        return apple_gpus()
    cards = display_devices(root)
    try:
        with _started() as nvml:
            seen, trouble = _devices(nvml)
    except ProbeError as error:
        seen = ()
        trouble = str(error)
    seen += drm_gpus(cards, root)
    notes = []
    for gpu in seen:
        if gpu.memory_total is None:
            notes.append(f"{gpu.name}: its driver does not tell its memory; choose it by hand.")
        if "MIG" in gpu.name:
            notes.append(f"{gpu.name}: is a part of a GPU; its bandwidth is a part of the card's.")
    if trouble and (not seen or any(card.vendor == NVIDIA for card in cards)):
        notes.insert(0, trouble)
    if operating_system() == "win32":
        notes.append("On Windows only NVIDIA GPUs can be seen; choose another by hand.")
    return seen, tuple(notes)
