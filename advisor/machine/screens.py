"""Memory of a graphics card that its screens take, and which cards have screens."""

import re
from dataclasses import replace

import numpy as np

from advisor.errors import InputError
from advisor.machine.machine import Gpu, Machine
from advisor.machine.quantity import Provenance, Quantity
from advisor.machine.rows import GpuRow
from advisor.machine.software import WINDOWS
from advisor.units import GIB

ON_WINDOWS_GIB = 0.75
"""Memory of a desktop card that Windows takes before a model is loaded [GiB], plausibly 0.3 to 1.6.
Free of an RTX 5070: 11013 of 12226 MiB (https://github.com/antirez/llama.cpp-deepseek-v4-flash/issues/11,
2026-05-17), of an RTX 2080 Ti: 9.9 of 11.0 GiB (https://github.com/ollama/ollama/pull/10569,
2025-05-05); 0.4 GiB of both is the context that a placement counts by itself."""
NO_SCREEN = "; no screen subtracted, which takes 0.3 to 1.6 GB of the card it hangs on"
"""Taken by Windows before a model is loaded, and by KDE with a browser
(https://github.com/ollama/ollama/issues/8723, 2025-01-31)."""
SCREENS = re.compile(r"(?:RTX|GTX|GT|RX|Arc|Titan|Quadro|Radeon|GeForce|FirePro)\b")
HEADLESS = re.compile(r"Laptop|Max-Q|Embedded|Server|\d[MS]\b|Pro V\d|PRO V\d|6000D|FirePro S")


def drives_screens(row: GpuRow) -> bool:
    """Whether a card usually has a screen: a desktop's, since a laptop's hangs on the processor's
    graphics and cards of data centres have no connector.
    """
    named = SCREENS.match(row.name) is not None and HEADLESS.search(row.name) is None
    return named and not row.unified


def with_screen(machine: Machine, stated_gib: float | None) -> Machine:
    """A machine whose first GPU has the memory that its screens leave.

    Args:
        machine: machine with its operating system.
        stated_gib: stated memory of screens and other programs; None for the usual one [GiB].

    Raises:
        InputError: more than the GPU has.
    """
    if not machine.gpus:
        return machine
    first = machine.gpus[0]
    usual = ON_WINDOWS_GIB if machine.system == WINDOWS and _hangs_on(first) else 0.0
    taken = usual if stated_gib is None else stated_gib
    if np.any(taken * GIB >= first.memory.value):
        size = float(np.min(first.memory.value)) / GIB
        raise InputError(
            f"Memory of the screen (--screen-gb) is {taken:g} GiB; {first.name} has {size:.3g} GiB."
        )
    if taken == 0 and stated_gib is None:
        return machine
    words = "that a screen takes on Windows" if stated_gib is None else "of screens, as stated"
    source = f"{first.memory.source.removesuffix(NO_SCREEN)}; less {taken:g} GiB {words}"
    left = Quantity(
        value=first.memory.value - taken * GIB,
        kind=Provenance.DERIVED,
        source=source,
        date=first.memory.date,
    )
    return replace(machine, gpus=(replace(first, memory=left), *machine.gpus[1:]))


def _hangs_on(gpu: Gpu) -> bool:
    """Whether a GPU is a desktop card with the catalogue's memory, not with a typed one."""
    return gpu.memory.source.endswith(NO_SCREEN)
