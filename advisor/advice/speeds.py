"""Speed of a machine in one placement, the basis of options and costs."""

from dataclasses import dataclass

from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy


@dataclass(frozen=True, kw_only=True)
class Speed:
    """Speed of a machine in one placement.

    Attributes:
        strategy: placement strategy.
        runtime: name of the runtime; empty for an API.
        format: format of the model there.
        decode: decode speed for each user [tokens/s].
        low: lower end of the 80 % range [tokens/s].
        high: upper end of the 80 % range [tokens/s].
        first_token: time to first token [s].
        load: time to load the file from the drive [s]; None where unknown.
        waiting: users in the queue, for whom the caches have no room at the same time.
    """

    strategy: PlacementStrategy
    runtime: str = ""
    format: str
    decode: float
    low: float
    high: float
    first_token: float
    load: float | None
    waiting: float = 0.0

    @property
    def whole(self) -> bool:
        """Whether the GPUs hold the whole model."""
        return self.strategy is PlacementStrategy.GPU_RESIDENT


def speed_of(estimate: Estimate) -> Speed | None:
    """Speed of a single estimate; None where it does not run."""
    first = estimate.first_token_seconds
    if estimate.decode is None or first is None or not bool(estimate.fits):
        return None
    return Speed(
        strategy=estimate.strategy,
        runtime=estimate.runtime,
        format=estimate.model.format,
        decode=float(estimate.decode.value),
        low=float(estimate.decode.low),
        high=float(estimate.decode.high),
        first_token=float(first),
        load=None if estimate.load is None else float(estimate.load),
        waiting=float(estimate.waiting),
    )
