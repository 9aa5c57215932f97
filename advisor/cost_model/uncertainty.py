"""Uncertainty of a predicted time: its 80 % interval.

Two machines of one name differ by driver, build, power limit, cooling and other load, which no
datasheet tells; what that comes to is fitted to sources that no prediction knew (`python -m
advisor.evidence.fitting`). Things run slower than they should far more often than faster, so
ranges lean to the slow side.
"""

from dataclasses import dataclass

import numpy as np

from advisor.catalog.constants import Constants
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import CROSSINGS, LAYERS, TOKEN, StepTime
from advisor.machine.machine import Machine
from advisor.machine.quantity import Provenance, Quantity
from advisor.units import Array

IN_DECODE, IN_PROMPT = "spread", "spread_prompt"
"""Constants with the half widths of a token's time and of a prompt's."""
LEAN = {IN_DECODE: "lean", IN_PROMPT: "lean_prompt"}
"""How far each leans to the slow side, as a part of the half width: 0 is even, 1 all of it."""


@dataclass(frozen=True, kw_only=True)
class Range:
    """Value with its 80 % interval."""

    value: Array
    low: Array
    high: Array


@dataclass(frozen=True, kw_only=True)
class Margins:
    """How far a speed may lie from what is predicted, as logarithms of factors.

    Attributes:
        below: on the slow side.
        above: on the fast side.
    """

    below: Array
    above: Array

    def around(self, rate: Array) -> Range:
        """The range of a speed."""
        return Range(value=rate, low=rate * np.exp(-self.below), high=rate * np.exp(self.above))

    def wider(self, by: Array) -> "Margins":
        """Both with something else that may be off, which adds in squares."""
        return Margins(below=np.hypot(self.below, by), above=np.hypot(self.above, by))


def margins(time: StepTime, machine: Machine, constants: Constants, constant: str) -> Margins:
    """How far the speed of a time may be off.

    below = w (1 + lean), above = w (1 - lean), with w = `half_width`

    Args:
        time: of a step or a prompt, by part.
        machine: where.
        constants: bound to the case.
        constant: `IN_DECODE` or `IN_PROMPT`.
    """
    half, lean = half_width(time, machine, constants, constant), constants.value(LEAN[constant])
    return Margins(below=half * (1.0 + lean), above=half * (1.0 - lean))


def half_width(time: StepTime, machine: Machine, constants: Constants, constant: str) -> Array:
    """Half width of the 80 % interval of a time, as the logarithm of a factor.

    Each part of the time is uncertain by its own spread. A token's is besides, in squares, by that
    of the figure behind it where nobody measured it, of several GPUs, and of a family that few
    measured; prompts vary by more than these already. Parts are taken to err together, so their
    spreads add by share of time.
    """
    total: Array = 0.0
    for name, seconds in time.parts.items():
        own: Array = constants.value(constant, str(name))
        if constant == IN_DECODE:
            own = np.hypot(own, _beside(name, machine, constants))
        total = total + seconds / time.total * own
    return total


ON_GPU = (Route.RESIDENT, LAYERS, TOKEN, CROSSINGS)
"""Parts of the time that a GPU and its runtime decide."""
ENOUGH = 2
"""Sources with a GPU of a family from which its constants are known as well as those of others."""


def _beside(part: str, machine: Machine, constants: Constants) -> Array:
    """What the range of a part of a token's time is wider by, in squares."""
    known = _known(part, machine)
    behind: Array = 0.0 if known else constants.value("spread_unmeasured", str(part))
    if part not in ON_GPU or not machine.gpus:
        return behind
    few = np.asarray(constants.value("sources", machine.gpus[0].family)) < ENOUGH
    thin = np.where(few, constants.value("spread_thin"), 0.0)
    several: Array = constants.value("spread_several") if len(machine.gpus) > 1 else 0.0
    return np.hypot(np.hypot(behind, thin), several)


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
