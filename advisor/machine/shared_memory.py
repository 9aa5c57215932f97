"""Memory that a chip's GPU and processor share: the GPU's part, and the system's part."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import InputError
from advisor.machine.backends import OperatingSystem
from advisor.machine.catalog import GPUS
from advisor.machine.machine import Gpu, Machine
from advisor.machine.names.words import any_of
from advisor.machine.rows import GpuRow
from advisor.units import GIB, MIB, Provenance, Quantity, number

# Memory of a graphics card that its screens take, and which cards have screens.

ON_WINDOWS_GIB = 0.75
"""Memory of a desktop card that Windows takes before a model is loaded [GiB], plausibly 0.3 to 1.6.
Free of an RTX 5070: 11013 of 12226 MiB (https://github.com/antirez/llama.cpp-deepseek-v4-flash/issues/11,
2026-05-17), of an RTX 2080 Ti: 9.9 of 11.0 GiB (https://github.com/ollama/ollama/pull/10569,
2025-05-05); 0.4 GiB of both is the context that a placement counts by itself."""
KEPT_BY_WINDOWS_GIB = 0.36
"""Of it what Windows keeps of a card without a screen, 0.2 to 0.78 in five logs [GiB]; beyond it
the driver spills into RAM without a word. 372 MiB is the median of what was not free on Windows
beside the driver's part and 400 MiB of context: 216 of the RTX 5070 above, 361 of an RTX 5060
Ti (https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1360, 2026-01-07), 372 of an RTX
4060 Ti (https://github.com/ollama/ollama/issues/11292, 2025-07-03), 540 of an RTX 3080 without
a screen (500 to 580 stay free as it spills: https://github.com/sudoingX/qwen38-mtp,
sweeps/rtx-3090.md, 2026-08-17) and 795 of an RTX 4090 (22994 MiB free)."""
NO_SCREEN = "; no screen subtracted, which takes 0.3 to 1.6 GB of the card it hangs on"
"""Taken by Windows before a model is loaded, and by KDE with a browser
(https://github.com/ollama/ollama/issues/8723, 2025-01-31)."""


def drives_screens(row: GpuRow) -> bool:
    """Whether a card usually has a screen: laptops' and data centres' have none."""
    name = row.name.casefold()
    headless = row.unified or any_of("without screen").search(name)
    return not headless and any_of("with screen").match(name) is not None


def with_screen(machine: Machine, stated_gib: float | None) -> Machine:
    """Machine whose first GPU lacks the memory of its screens, as stated or as usual [GiB].

    Windows keeps a part of a card without a screen too, so it is taken beside a stated screen.
    """
    if not machine.gpus:
        return machine
    first = machine.gpus[0]
    desktop_card = first.memory.source.endswith(NO_SCREEN)  # with the catalogue's memory
    on_windows = machine.system == OperatingSystem.WINDOWS and desktop_card
    if stated_gib is None:
        screen = ON_WINDOWS_GIB * on_windows
        words = f"less {screen:g} GB that a screen takes on Windows"
    else:
        screen = stated_gib + KEPT_BY_WINDOWS_GIB * on_windows
        words = f"less {stated_gib:g} GB of screens, as stated"
        words += f", and {KEPT_BY_WINDOWS_GIB:g} GB that Windows keeps" * on_windows
    if np.any(screen * GIB >= first.memory.value):
        size = float(np.min(first.memory.value)) / GIB
        raise InputError(
            f"Memory of the screen (--screen-gb) is {screen:g} GB; {first.name} has {size:.3g} GB."
        )
    if screen == 0 and stated_gib is None:
        return machine
    source = f"{first.memory.source.removesuffix(NO_SCREEN)}; {words}"
    left = Quantity(
        first.memory.value - screen * GIB, Provenance.DERIVED, source, first.memory.date
    )
    return replace(machine, gpus=(replace(first, memory=left), *machine.gpus[1:]))


PAGE = 4096  # size of a page of memory in the settings of Linux [B]


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedMemoryRow:
    """Row of data/hardware/shared_memory.csv: the part of a memory size that its GPU may use."""

    vendor: str  # maker of the chip
    chip: str  # word in the names of its GPUs; empty for all of the maker
    system: str  # operating system; empty for any
    from_gib: float  # smallest memory that it is for
    share: float  # part that counts
    default_share: float  # part without the setting
    system_gib: float  # memory that the setting must leave to the system
    setting: str  # command or switch that sets the part, with {mib} or {pages} for its size
    source: str  # page
    source_date: str  # day of the page, ISO
    note: str  # remarks


shared_memory_rows = cache(lambda: read(DATA / "hardware/shared_memory.csv", SharedMemoryRow))
"""Parts of shared memory, by maker and size."""


def shared_memory_row(gpu: Gpu, size: float, system: str) -> SharedMemoryRow | None:
    """Row of a GPU with a memory size [B] under an operating system; None without one."""
    rows = [
        row
        for row in shared_memory_rows()
        if row.vendor == gpu.vendor
        and row.chip in gpu.name
        and row.system in ("", system)
        and row.from_gib * GIB <= size
    ]
    return max(rows, key=lambda row: row.from_gib, default=None)


WORTH_SETTING = 1.05  # gain of a part by its setting from which the setting is named


def with_shared_memory(machine: Machine) -> Machine:
    """Machine whose GPU has its part of the host's memory, with a note on how to set that part."""
    if not machine.unified:
        return machine
    memory = machine.host.memory
    gpus = []
    for gpu in machine.gpus:
        row = shared_memory_row(gpu, float(np.max(memory.value)), machine.system)
        entry = row or GPUS.find(gpu.name)
        if isinstance(entry, SharedMemoryRow):
            share = entry.share
        else:
            share = entry.usable_share
        source = f"{share:.3g} of the memory that GPU and processor share: {entry.source}"
        part = Quantity(memory.value * share, Provenance.DERIVED, source, entry.source_date)
        gpus.append(replace(gpu, memory=part))
    shared = replace(machine, gpus=tuple(gpus))
    return replace(shared, notes=(*machine.notes, *_on_setting(shared)))


def _on_setting(machine: Machine) -> Iterable[str]:
    """Note on the GPU's part of memory and the setting of it; empty without such a setting."""
    row = _row_of(machine)
    if row is None:
        return
    size = float(machine.host.memory.value)
    part = float(machine.gpus[0].memory.value)
    if machine.nodes > 1:
        of_each = " of each machine"
    else:
        of_each = ""
    most = size - row.system_gib * GIB
    if row.default_share < row.share:
        yield (
            f"The GPU counts with {_gib(part)} of {_gib(size)} GB{of_each}; that takes a setting "
            f"({_filled(row, part)}), without it the GPU has {_gib(size * row.default_share)}."
        )
    elif most > WORTH_SETTING * part:
        yield (
            f"The GPU may use {_gib(part)} of {_gib(size)} GB{of_each}; "
            f"{_filled(row, most)} raises that to {_gib(most)}, until the next start."
        )


def _gib(size: float) -> str:
    return number(round(size / GIB, 1 if size < 100 * GIB else 0))


def _filled(row: SharedMemoryRow, size: float) -> str:
    """Setting for a size of the GPU's part [B]."""
    return row.setting.format(mib=int(size // MIB), pages=int(size // PAGE))


def _row_of(machine: Machine) -> SharedMemoryRow | None:
    if not machine.unified:
        return None
    return shared_memory_row(machine.gpus[0], float(machine.host.memory.value), machine.system)


def raised(machine: Machine) -> tuple[Machine, str] | None:
    """Machine whose GPU has all memory but the system's, and the setting for that; None if it has
    that already.
    """
    row = _row_of(machine)
    if row is None:
        return None
    most = float(machine.host.memory.value) - row.system_gib * GIB
    if most <= float(machine.gpus[0].memory.value):
        return None
    setting = _filled(row, most)
    memory = Quantity(most, Provenance.DERIVED, setting)
    gpus = tuple(replace(gpu, memory=memory) for gpu in machine.gpus)
    return replace(machine, gpus=gpus), setting
