"""NVIDIA GPUs through NVML: identity, and state under load. Never raises."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from advisor.probes.gpu.facts import GpuFacts, GpuState

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
MILLI, MEGA = 1e-3, 1e6


def gpus() -> tuple[tuple[GpuFacts, ...], str]:
    """GPUs in NVML's order, and the reason why some or all are missing."""
    try:
        with _started() as nvml:
            return _devices(nvml)
    except _Unusable as error:
        return (), str(error)


def state(bus: str) -> GpuState | None:
    """Present state of a GPU; None where NVML does not show it.

    Args:
        bus: PCI address of the GPU.
    """
    try:
        with _started() as nvml:
            card = _asked(nvml, nvml.nvmlDeviceGetHandleByPciBusId, bus.encode())
            return _state(nvml, card) if card is not None else None
    except _Unusable:
        return None


class _Unusable(Exception):
    """NVML does not answer; the message gives the reason."""


@contextmanager
def _started() -> Iterator[ModuleType]:
    try:
        nvml = import_module("pynvml")  # costs 20 ms, needed only here
    except ImportError:
        raise _Unusable(
            "The Python package nvidia-ml-py is missing; NVIDIA GPUs cannot be seen."
        ) from None
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        raise _Unusable(_refusal(nvml, error)) from None
    try:
        yield nvml
    except nvml.NVMLError as error:
        raise _Unusable(_refusal(nvml, error)) from None
    finally:
        _asked(nvml, nvml.nvmlShutdown)


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
    gpus, lost = [], 0
    for index in range(nvml.nvmlDeviceGetCount()):
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
        except nvml.NVMLError:
            lost += 1
        else:
            parts = _mig_parts(nvml, handle) or (handle,)
            gpus += [_device(nvml, part, handle, driver) for part in parts]
    if lost:
        return tuple(gpus), f"{lost} NVIDIA GPU(s) did not answer and are left out."
    return tuple(gpus), "" if gpus else "The NVIDIA driver runs but shows no GPU."


def _mig_parts(nvml: ModuleType, handle: Any) -> tuple[Any, ...]:
    """Handles of a GPU's MIG partitions; empty for a whole GPU."""
    mode = _asked(nvml, nvml.nvmlDeviceGetMigMode, handle)
    if not mode or not mode[0]:
        return ()
    slots = range(_asked(nvml, nvml.nvmlDeviceGetMaxMigDeviceCount, handle) or 0)
    parts = (_asked(nvml, nvml.nvmlDeviceGetMigDeviceHandleByIndex, handle, n) for n in slots)
    return tuple(part for part in parts if part is not None)


def _device(nvml: ModuleType, handle: Any, card: Any, driver: Any) -> GpuFacts:
    """GPU or partition: name and memory of its own; link, power and clocks of the whole card."""
    memory = _asked(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
    address = _asked(nvml, nvml.nvmlDeviceGetPciInfo, card)
    fastest = nvml.nvmlDeviceGetMaxClockInfo
    return GpuFacts(
        name=_words(_asked(nvml, nvml.nvmlDeviceGetName, handle)) or "NVIDIA GPU",
        vendor="NVIDIA",
        memory_total=memory.total if memory else None,
        memory_free=memory.free if memory else None,
        link_generation_now=_asked(nvml, nvml.nvmlDeviceGetCurrPcieLinkGeneration, card) or None,
        link_generation_max=_asked(nvml, nvml.nvmlDeviceGetMaxPcieLinkGeneration, card) or None,
        link_width_now=_asked(nvml, nvml.nvmlDeviceGetCurrPcieLinkWidth, card) or None,
        link_width_max=_asked(nvml, nvml.nvmlDeviceGetMaxPcieLinkWidth, card) or None,
        power_limit=_scaled(MILLI, _asked(nvml, nvml.nvmlDeviceGetEnforcedPowerLimit, card)),
        clock_max=_scaled(MEGA, _asked(nvml, fastest, card, nvml.NVML_CLOCK_SM)),
        memory_clock_max=_scaled(MEGA, _asked(nvml, fastest, card, nvml.NVML_CLOCK_MEM)),
        driver=_words(driver),
        bus=_words(address.busId) if address else None,
    )


def _state(nvml: ModuleType, card: Any) -> GpuState:
    clock = nvml.nvmlDeviceGetClockInfo
    # The name of the call before drivers of 2023.
    reasons = _asked(nvml, nvml.nvmlDeviceGetCurrentClocksEventReasons, card) or _asked(
        nvml, nvml.nvmlDeviceGetCurrentClocksThrottleReasons, card
    )
    return GpuState(
        link_generation=_asked(nvml, nvml.nvmlDeviceGetCurrPcieLinkGeneration, card) or None,
        link_width=_asked(nvml, nvml.nvmlDeviceGetCurrPcieLinkWidth, card) or None,
        clock=_scaled(MEGA, _asked(nvml, clock, card, nvml.NVML_CLOCK_SM)),
        memory_clock=_scaled(MEGA, _asked(nvml, clock, card, nvml.NVML_CLOCK_MEM)),
        power=_scaled(MILLI, _asked(nvml, nvml.nvmlDeviceGetPowerUsage, card)),
        power_limit=_scaled(MILLI, _asked(nvml, nvml.nvmlDeviceGetEnforcedPowerLimit, card)),
        slowed_by=tuple(
            dict.fromkeys(word for bit, word in SLOWED_BY.items() if (reasons or 0) & bit)
        ),
    )


def _asked(nvml: ModuleType, question: Callable[..., Any], *about: Any) -> Any:
    """Result of a driver call; None where virtual machines, MIG or old drivers refuse it."""
    try:
        return question(*about)
    except nvml.NVMLError:
        return None


def _scaled(unit: float, answer: int | None) -> float | None:
    return answer * unit if answer else None


def _words(answer: Any) -> str | None:
    return answer.decode(errors="replace") if isinstance(answer, bytes) else answer
