"""Coverage: how well published runs like the present one were predicted, by regime.

data/generated/coverage.csv holds it, written from the ledger by `python -m lab.ledger`, so that a
page need not compute the ledger.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.evidence.accuracy.regimes import (
    BATCHED,
    DATASHEET,
    DEEP,
    GENERATION,
    INFERRED,
    PAGED,
    RESIDENT,
    STAGED,
    STATED,
    STREAMED,
    regime_of,
)
from advisor.machine.quantity import Provenance

COVERAGE = DATA / "generated/coverage.csv"


@dataclass(frozen=True, kw_only=True)
class CoverageRow:
    """One regime; fields as the columns of data/generated/coverage.csv."""

    regime: str  # name in `regimes.REGIMES`
    rows: int  # published figures that were predicted without their group
    groups: int  # groups of figures, each of one source on one machine
    held: int  # number of figures within their 80 % range
    held_groups: float  # share of figures within their range, with equal weight for each group
    median_error: float  # median of the absolute relative error [share]
    group_error: float  # median of the groups' median errors [share]
    width: float  # median of upper end over lower end of the range
    source: str  # the command that wrote the line


@cache
def coverage() -> Mapping[str, CoverageRow]:
    """Rows of data/generated/coverage.csv by regime."""
    return {row.regime: row for row in read(COVERAGE, CoverageRow)}


def coverage_like(estimate: Estimate) -> CoverageRow | None:
    """Coverage of published runs like an estimate's decoding; None where there are none."""
    if estimate.placement is None or estimate.machine is None:
        return None
    in_place = estimate.how.computes_in_ram
    return coverage().get(regime_of((_in_place if in_place else _streaming)(estimate)))


def _streaming(estimate: Estimate) -> dict[str, object]:
    kinds = {PlacementStrategy.CPU_OFFLOAD: STREAMED, PlacementStrategy.NVME_OFFLOAD: STAGED}
    together = BATCHED if float(estimate.work.users) > 1 else RESIDENT
    return {"category": kinds.get(estimate.strategy, together), "timed": GENERATION}


def _in_place(estimate: Estimate) -> dict[str, object]:
    """Traits of a run of llama.cpp or one of its forks."""
    ram_known = estimate.machine is not None and estimate.machine.host.bandwidth.kind in (
        Provenance.MEASURED,
        Provenance.GIVEN,
    )
    category = _where(estimate)
    told = INFERRED if category == "partial" else STATED
    return {
        "category": category,
        "timed": GENERATION,
        "build": estimate.how.build,
        "together": float(estimate.work.users) > 1,
        "deep": float(estimate.work.decode_depth) >= DEEP,
        "experts": estimate.model.architecture.experts is not None,
        "ram": told if ram_known else DATASHEET,
    }


def _where(estimate: Estimate) -> str:
    """Category of published runs with the placement of an estimate."""
    placement = estimate.placement
    if estimate.strategy is PlacementStrategy.GPU_RESIDENT or placement is None:
        return "resident"
    if estimate.strategy is PlacementStrategy.NVME_OFFLOAD:
        return PAGED
    if float(placement.gpu_layers) == 0:
        return "cpu"
    return "moe_offload" if float(placement.cpu_moe) > 0 else "partial"
