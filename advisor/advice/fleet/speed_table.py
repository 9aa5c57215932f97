"""Speeds of many machines in one placement: a table by context and machine, filled by estimates."""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from advisor.advice.fleet.stacks import Answered, Mask
from advisor.advice.speeds import Speed
from advisor.cost_model.many_machines import Index
from advisor.cost_model.placement import PlacementStrategy
from advisor.model.model import Floats
from advisor.units import Array

COLUMNS = ("decode", "low", "high", "first_token", "load", "waiting")
"""Numbers of a machine's speed."""


@dataclass(frozen=True, kw_only=True)
class Speeds:
    """Speeds of many machines in one placement, each field of shape (machines,), or (contexts,
    machines) with several contexts.

    Attributes:
        strategy: placement strategy.
        runtime: name of the runtime.
        formats: format of the model, shape (machines,); empty where it does not run.
        fits: whether every memory is large enough.
        decode: decode speed for each user; NaN where it does not run or is not wanted [tokens/s].
        low: lower end of the 80 % range [tokens/s].
        high: upper end of the 80 % range [tokens/s].
        first_token: time to first token [s].
        load: time to read the file from the drive; NaN where unknown [s].
        waiting: users in the queue; NaN as `decode`.
    """

    strategy: PlacementStrategy
    runtime: str
    formats: npt.NDArray[np.object_]
    fits: Mask
    decode: Floats
    low: Floats
    high: Floats
    first_token: Floats
    load: Floats
    waiting: Floats

    def at(self, machine: int, context: int | None = None) -> Speed | None:
        """Speed of one machine; None where the model does not run or does not fit.

        Args:
            machine: index of the machine.
            context: index of the context, where there are several.
        """
        place = machine if context is None else (context, machine)
        if not self.fits[place]:
            return None
        load, waiting = float(self.load[place]), float(self.waiting[place])
        return Speed(
            strategy=self.strategy,
            runtime=self.runtime,
            format=str(self.formats[machine]),
            decode=float(self.decode[place]),
            low=float(self.low[place]),
            high=float(self.high[place]),
            first_token=float(self.first_token[place]),
            load=None if math.isnan(load) else load,
            waiting=0.0 if math.isnan(waiting) else waiting,
        )

    def take_over(self, others: "Speeds", where: Mask) -> None:
        """Replace the speeds of some machines, shape (machines,), by those of another record."""
        for name in ("formats", "fits", *COLUMNS):
            getattr(self, name)[where] = getattr(others, name)[where]


def fill(speeds: Speeds, places: tuple[Index, Index], part: Answered, least: Array) -> None:
    """Fill in the speeds of an estimate, and its ranges if any speed is high enough.

    Args:
        speeds: speeds of all requests and machines.
        places: indices of the estimate's requests and machines.
        part: estimate with its pairs.
        least: speed from which ranges are needed, a number or one for each machine of the stack
            [tokens/s].
    """
    numbers = part.estimate
    if numbers.decode_tps is None:
        return
    fits, decode = part.of_pairs(part.fits), part.of_pairs(numbers.decode_tps)
    speeds.fits[places] = fits
    speeds.decode[places] = decode
    enough = least if np.ndim(least) == 0 else np.asarray(least)[part.machine]
    first = numbers.first_token_seconds if np.any(fits & (decode >= enough)) else None
    if first is None or not numbers.decode:
        return
    speeds.low[places] = part.of_pairs(numbers.decode.low)
    speeds.high[places] = part.of_pairs(numbers.decode.high)
    speeds.first_token[places] = part.of_pairs(first)
    speeds.load[places] = part.of_pairs(np.nan if numbers.load is None else numbers.load)
    speeds.waiting[places] = part.of_pairs(numbers.waiting)


def of_one_context(speeds: Speeds) -> Speeds:
    """Speeds of a single context, without its axis."""
    return replace(
        speeds, fits=speeds.fits[0], **{name: getattr(speeds, name)[0] for name in COLUMNS}
    )
