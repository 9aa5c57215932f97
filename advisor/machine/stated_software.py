"""Machine with the software that a person states: system, backend, driver, build, memory nodes.

What is left open is taken as usual, and the machine's notes say so where it changes the speed.
"""

from collections.abc import Iterator
from dataclasses import replace

from advisor.errors import InputError
from advisor.machine import backends
from advisor.machine.backends import (
    Backend,
    Build,
    GraphicsDriver,
    NumaPolicy,
    OperatingSystem,
    SoftwareEffect,
    ThreadExcess,
)
from advisor.machine.machine import Host, Machine
from advisor.machine.spec import MachineSpec
from advisor.units import memory, number


def with_software(
    machine: Machine,
    spec: MachineSpec,
    usual_system: str = OperatingSystem.LINUX,
    *,
    seen: bool = False,
) -> Machine:
    """Machine with its software, as typed or as usual."""
    apple = any(gpu.vendor == "Apple" for gpu in machine.gpus)
    if apple:
        system = OperatingSystem.MACOS
    else:
        system = OperatingSystem(usual_system)
    vendors = {gpu.vendor for gpu in machine.gpus}
    if spec.system is not None:
        system = OperatingSystem.named(spec.system)
        backends.check_system(system, vendors, spec.backend)
    if spec.driver is None:
        driver = None
    else:
        driver = backends.driver_named(spec.driver)
    if driver is not None:
        system = _system_of(driver, vendors, system, spec)
    if spec.numa in (None, "none"):
        numa = ""
    else:
        numa = str(spec.numa)
    stated = replace(
        machine,
        host=replace(machine.host, numa=numa),
        system=system,
        backend=spec.backend or (driver.backend if driver else ""),
        driver="" if driver is None else str(driver),
        build="" if spec.build is None else Build.named(spec.build).month,
    )
    told = tuple(_notes(stated, seen or spec.system is not None))
    return replace(stated, notes=(*machine.notes, *told), software_notes=told)


def _system_of(
    driver: GraphicsDriver, vendors: set[str], system: OperatingSystem, spec: MachineSpec
) -> OperatingSystem:
    """Operating system of a stated driver: Linux for Mesa and AMDVLK, which Windows lacks."""
    reached = all(Backend.reaches(driver.backend, vendor) for vendor in vendors)
    amd = driver.name in (backends.AMDVLK, backends.ROCM)
    if not vendors or not reached or (amd and vendors != {"AMD"}):
        cards = " and ".join(sorted(vendors)) or "no GPU"
        raise InputError(
            f"Driver (--driver) is {driver.words}; the machine has {cards}, which it does not "
            "drive. Leave it out, or name the GPU that it belongs to."
        )
    if driver.name == backends.ROCM:
        return system
    if spec.system is not None and system != OperatingSystem.LINUX:
        raise InputError(
            f"Driver (--driver) is {driver.words}, which drives cards on Linux; the operating "
            f"system is {system.label}. Leave one of them out."
        )
    return OperatingSystem.LINUX


def _notes(machine: Machine, known: bool) -> Iterator[str]:
    """Notes on a machine's software; its operating system is known, or assumed."""
    if machine.gpus:
        vendor = machine.gpus[0].vendor
    else:
        vendor = ""
    # NVIDIA's cards have CUDA in every usual build.
    if vendor in backends.ON_WINDOWS and not machine.backend:
        usual, other = Backend.of_vendor(vendor, machine.system)
        first = usual.label
        second = other.label
        system = OperatingSystem(machine.system).label
        if known:
            where = f"On {system}, llama.cpp"
        else:
            where = f"{system} and, as usual there, llama.cpp"
        yield f"{where} with {first} is assumed; for {second}, state the backend {other}."
    if machine.gpus:
        yield from _driver_notes(machine)
    if machine.build:
        yield _build_note(machine)
    if machine.host.thread_excess:
        yield _threads_note(machine.host)
    if machine.host.numa:
        yield _numa_note(machine.host)


def _driver_notes(machine: Machine) -> Iterator[str]:
    """Notes on the effect of the stated driver, or on the assumption of today's driver."""
    effect = machine.effect_of_driver()
    driver = machine.stated_driver
    if effect is not None and effect.token == effect.prompt == 1.0:
        yield f"{driver} is taken as fast as a driver of today {_compared(effect)}."
    elif effect is not None:
        yield (
            f"With {driver}, tokens are taken at {number(effect.token, 2)} and prompts at "
            f"{number(effect.prompt, 2)} of the speed with a driver of today {_rests_on(effect)}."
        )
    elif machine.driver:
        yield (
            f"{driver} means llama.cpp with {Backend(machine.interface).label}; no "
            "published speed tells it from a driver of today on this card, so its age changes "
            "nothing here."
        )
    elif machine.system == OperatingSystem.LINUX:
        yield from _slower_drivers(machine)


def _slower_drivers(machine: Machine) -> Iterator[str]:
    gpu = machine.gpus[0]
    rows = SoftwareEffect.slower_drivers(gpu.vendor, gpu.family, machine.interface)
    row = next(iter(rows), None)
    if row is not None:
        label = GraphicsDriver(row.value).label
        if row.before:
            older = f"{label} before {row.before}"
        else:
            older = label
        if row.token <= SoftwareEffect.NOTABLE:
            what = "tokens"
        else:
            what = "prompts"
        yield (
            f"A graphics driver of today is assumed; with {older}, {what} come at about "
            f"{number(min(row.token, row.prompt), 2)} of the speed: state yours (driver)."
        )


def _rests_on(effect: SoftwareEffect) -> str:
    return f"{_compared(effect)}, and the range is wider for it"


def _compared(effect: SoftwareEffect) -> str:
    few = effect.sources == 1
    if few:
        sources = "one published comparison"
    else:
        sources = f"{effect.sources} published comparisons"
    return f"({sources}, {effect.date[:7]})"


def _threads_note(host: Host) -> str:
    effect = SoftwareEffect.of("threads", host.thread_excess)
    if effect is None:
        return ""
    cores = host.cores_there or host.cores
    bound = NumaPolicy.on_one_node(host.numa)  # to one socket
    if bound:
        usable = cores // host.sockets
    else:
        usable = cores
    there = {
        ThreadExcess.HYPER_THREADS: f"one on every hyper-thread of {usable} cores",
        ThreadExcess.PAST_CORES: f"more than the {usable} cores",
        ThreadExcess.SLOWER_CORES: f"also on slower cores beside the {host.cores_there} fast ones",
    }[ThreadExcess(host.thread_excess)]
    return (
        f"{host.threads} threads, {there}: weights in RAM are read at "
        f"{number(effect.token, 2)} of the speed {_rests_on(effect)}."
    )


def _build_note(machine: Machine) -> str:
    build = Build(machine.build)
    backend = machine.interface
    if build.kernels(backend):
        return f"A build of llama.cpp of {build} is taken with the kernels of that time."
    slower = [f"models in {form}" for form in build.without_kernel(backend)]
    if build.effects:
        slower.append("models with linear attention (Qwen3-Next, 3.5 and 3.6)")
    if slower:
        but = f", but for {' and '.join(slower)}"
    else:
        but = ""
    return f"A build of llama.cpp of {build} is taken as fast as one of today{but}."


def _numa_note(host: Host) -> str:
    if host.sockets < 2:
        return (
            f"--numa {host.numa} changes nothing here: no published speed tells it on a single "
            "socket."
        )
    if host.engine is not None:
        return f"llama.cpp was timed here without --numa {host.numa}, so it changes nothing."
    if NumaPolicy.on_one_node(host.numa):
        held = memory(float(host.memory.value) / host.sockets)
        return (
            f"--numa {host.numa}: the cores and memory channels of one socket work, and its {held} "
            "hold the model."
        )
    effect = SoftwareEffect.of("numa", host.numa)
    if effect is None:
        gain = ""
    else:
        gain = f"{number(effect.token, 3)} times as fast {_rests_on(effect)}"
    return f"--numa {host.numa}: weights in RAM are read {gain}."
