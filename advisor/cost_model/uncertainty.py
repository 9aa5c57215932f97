"""How far a predicted time may be off: an interval that should hold it four times in five."""

from dataclasses import dataclass

import numpy as np

from advisor.catalog.constants import Constants
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import CROSSINGS, LAYERS, TOKEN, StepTime
from advisor.machine.machine import Machine
from advisor.machine.quantity import Provenance, Quantity
from advisor.units import Array

IN_DECODE, IN_PROMPT = "spread", "spread_prompt"
"""Constants with the ranges of a token's time and of a prompt's."""


@dataclass(frozen=True, kw_only=True)
class Range:
    """A figure and the interval that should hold it four times in five."""

    value: Array
    low: Array
    high: Array


def spread(time: StepTime, machine: Machine, constants: Constants, constant: str) -> Array:
    """Half width of the 80 % interval of a time, as the logarithm of a factor.

    Each part of the time is uncertain by its own spread, and by that of the figure behind it where
    nobody measured it; where few measured a GPU of the family, by more still. Parts are taken to
    err together, so their spreads add by share of time.
    """
    total: Array = 0.0
    thin: Array = np.where(_thin(machine, constants), constants.value("spread_thin"), 0.0)
    for name, seconds in time.parts.items():
        own: Array = constants.value(constant, str(name))
        if name in ON_GPU and constant == IN_DECODE:
            own = np.hypot(own, thin)
        behind = constants.value("spread_unmeasured", str(name)) if not _known(name, machine) else 0
        total = total + seconds / time.total * np.hypot(own, behind)
    return total


ON_GPU = (Route.RESIDENT, LAYERS, TOKEN, CROSSINGS)
"""Parts of the time that a GPU and its runtime decide."""
ENOUGH = 2
"""Sources with a GPU of a family from which its constants are known as well as those of others."""


def _thin(machine: Machine, constants: Constants) -> bool:
    return bool(machine.gpus) and constants.value("sources", machine.gpus[0].family) < ENOUGH


def _known(part: str, machine: Machine) -> bool:
    """The figure behind a part of the time was measured or given on this machine."""
    figure: Quantity | None = None
    if part == Route.IN_PLACE:
        figure = machine.host.bandwidth
    elif part == Route.STREAMED and machine.gpus:
        figure = machine.gpus[0].link.pinned
    elif part in (Route.PAGED, Route.STAGED) and machine.disk:
        figure = machine.disk.for_pages if part == Route.PAGED else machine.disk.sequential
    return figure is None or figure.kind in (Provenance.MEASURED, Provenance.GIVEN)
