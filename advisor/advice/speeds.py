"""Speed of one machine in one placement: what options and money are worked out from."""

from collections.abc import Iterable
from dataclasses import dataclass

from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy


@dataclass(frozen=True, kw_only=True)
class Speed:
    """What a machine reaches in one placement.

    Attributes:
        strategy: where the model lies.
        runtime: name of what runs it; empty for somebody else's.
        format: that it has there.
        decode: tokens generated for each user [tokens/s].
        low: lower end of the range that should hold it four times in five [tokens/s].
        high: its upper end [tokens/s].
        first_token: until the first token comes [s].
        load: to read the file from the drive [s]; None where its speed is not known.
    """

    strategy: PlacementStrategy
    runtime: str = ""
    format: str
    decode: float
    low: float
    high: float
    first_token: float
    load: float | None

    @property
    def whole(self) -> bool:
        """The whole model lies in the GPUs."""
        return self.strategy is PlacementStrategy.GPU_RESIDENT


def speed_of(estimate: Estimate) -> Speed | None:
    """The speed of a single estimate; None where it does not run."""
    if estimate.decode is None or estimate.first_token is None or not bool(estimate.fits):
        return None
    return Speed(
        strategy=estimate.strategy,
        runtime=estimate.runtime,
        format=estimate.model.format,
        decode=float(estimate.decode.value),
        low=float(estimate.decode.low),
        high=float(estimate.decode.high),
        first_token=float(estimate.first_token.value),
        load=None if estimate.load is None else float(estimate.load),
    )


def fastest_of(speeds: Iterable[Speed | None]) -> Speed | None:
    """The one with most tokens a second, the first of equals; None where there is none."""
    return max((speed for speed in speeds if speed), key=lambda speed: speed.decode, default=None)
