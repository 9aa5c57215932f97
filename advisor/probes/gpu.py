"""GPUs of this machine: NVIDIA by NVML, AMD and Intel by sysfs, Apple by sysctl. Never raises."""

import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from advisor.probes.pci import PciDevice, display_devices
from advisor.probes.system import command, number, operating_system, sysctl, text

NVIDIA, AMD, INTEL = 0x10DE, 0x1002, 0x8086


@dataclass(frozen=True, kw_only=True)
class GpuFacts:
    """One GPU as its driver shows it; None is what the driver does not tell.

    Attributes:
        name: as the driver has it.
        vendor: NVIDIA, AMD, Intel, Apple.
        memory_total: all of its memory [B]; for unified memory the machine's RAM.
        memory_free: not taken by any program now [B].
        link_generation_now: PCIe generation at this moment; drops when the GPU rests.
        link_generation_max: what GPU and slot can do together.
        link_width_now: PCIe lanes in use.
        link_width_max: lanes that GPU and slot have.
        power_limit: enforced now [W].
        driver: version.
        unified: its memory is the host's.
    """

    name: str
    vendor: str
    memory_total: int | None = None
    memory_free: int | None = None
    link_generation_now: int | None = None
    link_generation_max: int | None = None
    link_width_now: int | None = None
    link_width_max: int | None = None
    power_limit: float | None = None
    driver: str | None = None
    unified: bool = False

    @property
    def link(self) -> tuple[int, int] | None:
        """PCIe generation and lanes under load; None where either is unknown."""
        generation = self.link_generation_max or self.link_generation_now
        width = self.link_width_now or self.link_width_max
        return (generation, width) if generation and width else None


def gpus(root: Path = Path("/")) -> tuple[tuple[GpuFacts, ...], tuple[str, ...]]:
    """GPUs in their drivers' order, and what could not be seen, one sentence each.

    Args:
        root: where /sys lies.
    """
    if operating_system() == "darwin":
        return _apple()
    cards = display_devices(root)
    nvidia, trouble = _nvidia()
    others = tuple(_from_sysfs(card) for card in cards if card.vendor in (AMD, INTEL))
    found = (*nvidia, *others)
    notes = list(_unseen(found))
    if trouble and (not found or any(card.vendor == NVIDIA for card in cards)):
        notes.insert(0, trouble)
    if operating_system() == "win32":
        notes.append("On Windows only NVIDIA GPUs can be seen; choose another by hand.")
    return found, tuple(notes)


def _unseen(found: tuple[GpuFacts, ...]) -> Iterator[str]:
    for gpu in found:
        if gpu.memory_total is None:
            yield f"{gpu.name}: its driver does not tell its memory; choose it by hand."
        if "MIG" in gpu.name:
            yield f"{gpu.name}: is a part of a GPU; its bandwidth is a part of the card's."


def _nvidia() -> tuple[tuple[GpuFacts, ...], str]:
    """GPUs that NVML shows, and why it shows none or not all of them."""
    try:
        pynvml = import_module("pynvml")  # costs 20 ms, needed only here
    except ImportError:
        return (), "The Python package nvidia-ml-py is missing; NVIDIA GPUs cannot be seen."
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return (), _refusal(pynvml, error)
    try:
        return _devices(pynvml)
    except pynvml.NVMLError as error:
        return (), _refusal(pynvml, error)
    finally:
        _asked(pynvml, pynvml.nvmlShutdown)


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
    driver = _asked(nvml, nvml.nvmlSystemGetDriverVersion)
    found, lost = [], 0
    for index in range(nvml.nvmlDeviceGetCount()):
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
        except nvml.NVMLError:
            lost += 1
        else:
            parts = _mig_parts(nvml, handle) or (handle,)
            found += [_device(nvml, part, handle, driver) for part in parts]
    if lost:
        return tuple(found), f"{lost} NVIDIA GPU(s) did not answer and are left out."
    return tuple(found), "" if found else "The NVIDIA driver runs but shows no GPU."


def _mig_parts(nvml: ModuleType, handle: Any) -> tuple[Any, ...]:
    """Handles of the parts that a GPU is split into; empty for a whole GPU."""
    mode = _asked(nvml, nvml.nvmlDeviceGetMigMode, handle)
    if not mode or not mode[0]:
        return ()
    slots = range(_asked(nvml, nvml.nvmlDeviceGetMaxMigDeviceCount, handle) or 0)
    parts = (_asked(nvml, nvml.nvmlDeviceGetMigDeviceHandleByIndex, handle, n) for n in slots)
    return tuple(part for part in parts if part is not None)


def _device(nvml: ModuleType, handle: Any, card: Any, driver: Any) -> GpuFacts:
    """Name and memory of a GPU or a part of it, link and power of the whole card."""
    memory = _asked(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
    watts = _asked(nvml, nvml.nvmlDeviceGetEnforcedPowerLimit, card)
    return GpuFacts(
        name=_words(_asked(nvml, nvml.nvmlDeviceGetName, handle)) or "NVIDIA GPU",
        vendor="NVIDIA",
        memory_total=memory.total if memory else None,
        memory_free=memory.free if memory else None,
        link_generation_now=_asked(nvml, nvml.nvmlDeviceGetCurrPcieLinkGeneration, card) or None,
        link_generation_max=_asked(nvml, nvml.nvmlDeviceGetMaxPcieLinkGeneration, card) or None,
        link_width_now=_asked(nvml, nvml.nvmlDeviceGetCurrPcieLinkWidth, card) or None,
        link_width_max=_asked(nvml, nvml.nvmlDeviceGetMaxPcieLinkWidth, card) or None,
        power_limit=watts / 1000 if watts else None,
        driver=_words(driver),
    )


def _asked(nvml: ModuleType, question: Callable[..., Any], *about: Any) -> Any:
    """The driver's answer; None where virtual machines, MIG or old drivers refuse it."""
    try:
        return question(*about)
    except nvml.NVMLError:
        return None


def _words(answer: Any) -> str | None:
    return answer.decode(errors="replace") if isinstance(answer, bytes) else answer


def _from_sysfs(card: PciDevice) -> GpuFacts:
    total = number(card.folder / "mem_info_vram_total")
    used = number(card.folder / "mem_info_vram_used")
    return GpuFacts(
        name=text(card.folder / "product_name") or card.name,
        vendor="AMD" if card.vendor == AMD else "Intel",
        memory_total=total,
        memory_free=total - used if total is not None and used is not None else None,
        link_generation_now=card.link_generation_now,
        link_generation_max=card.link_generation_max,
        link_width_now=card.link_width_now,
        link_width_max=card.link_width_max,
        driver=card.driver,
    )


def _apple() -> tuple[tuple[GpuFacts, ...], tuple[str, ...]]:
    if platform.machine() != "arm64":
        return (), ("GPUs of Macs with Intel processors are not looked at; choose one by hand.",)
    name = command("sysctl", "-n", "machdep.cpu.brand_string") or "Apple GPU"
    gpu = GpuFacts(name=name, vendor="Apple", memory_total=sysctl("hw.memsize"), unified=True)
    limit = sysctl("iogpu.wired_limit_mb")
    share = f"{limit} MiB of it" if limit else "about two thirds to three quarters of it"
    return (gpu,), (f"{name}: GPU and host share one memory; the GPU may use {share}.",)
