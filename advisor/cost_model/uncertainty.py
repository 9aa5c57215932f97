"""Uncertainty of a predicted time: its 80 % interval.

Two machines of one name differ by driver, build, power limit, cooling and other load, which no
datasheet tells; what that comes to is fitted to sources that no prediction knew (`python -m
advisor.evidence.fitting`). A range is wider the less is known of runs like it, and leans to the
side on which errors lie.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from advisor.catalog.constants import Constants
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import CROSSINGS, LAYERS, TOKEN, StepTime
from advisor.machine import backends
from advisor.machine.machine import Machine
from advisor.machine.quantity import Provenance, Quantity
from advisor.units import Array

IN_DECODE, IN_PROMPT = "spread", "spread_prompt"
"""Constants with the half widths of a token's time and of a prompt's, by part of the time."""
BY_TRAIT = {IN_DECODE: "spread_by", IN_PROMPT: "spread_prompt_by"}
"""Factors on the half width, by what a run is like."""
LEAN = {IN_DECODE: "lean", IN_PROMPT: "lean_prompt"}
"""How far each leans to the slow side, as a part of the half width: 0 is even, 1 all of it; below 0
it leans to the fast side."""
EXPERTS, DEEP, SPLIT, THIN, SEVERAL, TOGETHER, UNKNOWN = (
    "experts", "deep", "split", "thin", "several", "together", "unknown backend",
)  # fmt: skip
"""What a run may be like: a model with routed experts, deep context, divided between processors, a
GPU of a family that few measured, several GPUs, several users, a backend that nobody states."""
TRAITS = (EXPERTS, DEEP, SPLIT, THIN, SEVERAL, TOGETHER, UNKNOWN)
OF_GPUS = (EXPERTS, DEEP, THIN, SEVERAL, UNKNOWN)


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


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What a range is wider by.

    Attributes:
        on_gpu: GPUs take part, so that the fixed costs are theirs.
        traits: how far each of `TRAITS` holds, 0 to 1; absent is 0. `SPLIT` follows from the time.
        unmeasured: parts of the time, 1 where nobody measured the figure behind it, else 0.
    """

    on_gpu: bool
    traits: Mapping[str, Array]
    unmeasured: Mapping[str, Array]


def circumstances(
    machine: Machine, constants: Constants, *, experts: bool, depth: Array, users: Array
) -> Circumstances:
    """What the range of a run is wider by.

    Args:
        machine: where.
        constants: bound to the case.
        experts: the model has routed experts.
        depth: of the cache [tokens].
        users: served together.
    """
    gpu = bool(machine.gpus)
    unknown = gpu and constants.scope.backend == backends.UNKNOWN
    return Circumstances(
        on_gpu=gpu,
        traits={
            EXPERTS: float(experts),
            DEEP: depth_reached(depth),
            THIN: _few_sources(machine, constants) if gpu else 0.0,
            SEVERAL: float(len(machine.gpus) > 1),
            TOGETHER: np.asarray(np.asarray(users) > 1, dtype=float),
            UNKNOWN: float(unknown),
        },
        unmeasured={part: float(not _known(part, machine)) for part in BEHIND},
    )


SHALLOW, DEEPER = 1000.0, 3000.0
"""Tokens up to which a context counts as none, and how many more make it deep."""
ENOUGH = 2
"""Sources with a GPU of a family from which its constants are known as well as those of others."""
BEHIND = (Route.IN_PLACE, Route.STREAMED, Route.PAGED, Route.STAGED)
"""Parts of the time that rest on a rate which machines differ by."""
FIXED = (LAYERS, TOKEN, CROSSINGS)
"""Fixed costs: of the GPU where one takes part, else of the processor."""
ON_GPU = (Route.RESIDENT, Route.STREAMED, *FIXED)
"""Parts of the time that a GPU, its link and its runtime decide."""


def depth_reached(depth: Array) -> Array:
    """How far a context counts as deep, 0 to 1."""
    return np.clip((np.asarray(depth, dtype=float) - SHALLOW) / DEEPER, 0.0, 1.0)


def _few_sources(machine: Machine, constants: Constants) -> Array:
    sources = constants.value("sources", machine.gpus[0].family)
    return np.asarray(np.asarray(sources) < ENOUGH, dtype=float)


def margins(
    time: StepTime, circumstances: Circumstances, constants: Constants, constant: str
) -> Margins:
    """How far the speed of a time may be off.

    below = w (1 + lean), above = w (1 - lean), with w = `half_width` and the lean of each part of
    the time by its share

    Args:
        time: of a step or a prompt, by part.
        circumstances: of the run.
        constants: bound to the case.
        constant: `IN_DECODE` or `IN_PROMPT`.
    """
    half = half_width(time, circumstances, constants, constant)
    lean: Array = 0.0
    for name, share in _shares(time, circumstances):
        lean = lean + share * constants.value(LEAN[constant], name)
    return Margins(below=half * (1.0 + lean), above=half * (1.0 - lean))


def half_width(
    time: StepTime, circumstances: Circumstances, constants: Constants, constant: str
) -> Array:
    """Half width of the 80 % interval of a time, as the logarithm of a factor.

    w = sum over parts of share hypot(w_part, u_part) times f_trait^trait

    Parts are taken to err together, so their spreads add by share of time; u counts in a token's
    time where nobody measured the figure behind the part. Traits of `OF_GPUS` count by the GPUs'
    share of the time.
    """
    total: Array = 0.0
    for name, share in _shares(time, circumstances):
        own: Array = constants.value(constant, name)
        if constant == IN_DECODE and name in circumstances.unmeasured:
            behind = constants.value("spread_unmeasured", name)
            own = np.hypot(own, behind * circumstances.unmeasured[name])
        total = total + share * own
    gpu = on_gpu(time, circumstances)
    for trait, reached in {**circumstances.traits, SPLIT: divided(gpu)}.items():
        counts = reached * (gpu if trait in OF_GPUS else 1.0)
        total = total * constants.value(BY_TRAIT[constant], trait) ** counts
    return total


def on_gpu(time: StepTime, circumstances: Circumstances) -> Array:
    """Share of a time that GPUs and their link take."""
    return sum(
        (share for name, share in _shares(time, circumstances) if name in ON_GPU),
        start=np.zeros(()),
    )


def divided(share: Array) -> Array:
    """How far a run is divided between processors: 1 where each takes half of the time."""
    return np.asarray(4.0 * np.asarray(share) * (1.0 - np.asarray(share)))


def _shares(time: StepTime, circumstances: Circumstances) -> list[tuple[str, Array]]:
    """Parts of a time with their shares; fixed costs without a GPU are the processor's."""
    processors = () if circumstances.on_gpu else FIXED
    return [
        (str(Route.IN_PLACE if name in processors else name), seconds / time.total)
        for name, seconds in time.parts.items()
    ]


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
