"""Estimate that represents each placement."""

from advisor.advice.advise import Advice
from advisor.advice.compare import usable
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy

TITLES = {
    PlacementStrategy.GPU_RESIDENT: "In the GPU",
    PlacementStrategy.CPU_OFFLOAD: "Offload to RAM",
    PlacementStrategy.NVME_OFFLOAD: "Offload to NVMe",
}
"""Title of each placement."""


def card_of(advice: Advice, strategy: PlacementStrategy) -> Estimate | None:
    """Estimate that represents a placement: the fastest that fits, else the first possible.

    If a runtime was chosen, only its estimates count.
    """
    possible = [estimate for estimate in advice.meant(strategy) if not estimate.refusal]
    fitting = usable(possible)
    if fitting:
        return fitting[0]
    return possible[0] if possible else None
