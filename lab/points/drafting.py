"""Points of runs with drafted tokens, predicted from the same source's speed without drafting.

Predicted is the gain; nothing is fitted to it. A row states the share s of all drafted tokens that
was accepted, so a step with k drafts yields 1 + k s tokens. The acceptance probability a of one
draft solves (1 - a^(k+1)) / (1 - a) = 1 + k s (`Workload.tokens_per_step`).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.catalog.constants import Constants
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.estimate import estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.uncertainty import Range
from advisor.cost_model.workload import Draft, Workload
from advisor.evidence.accuracy.regimes import GENERATION
from advisor.evidence.published.engines import engine
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.runtimes.compare import as_run
from lab.points import decode_of, margins_of, point_of

USUAL_FORMAT = "Q4_K_M"  # format assumed for rows that state none


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftedRow:
    """One row of data/measurements/drafting.csv; its README describes the columns."""

    id: str
    runtime: str
    gpu: str
    ram_gb: float
    model: str
    quant: str
    draft: str
    drafted: int
    accepted_share: float
    plain_tps: float
    drafted_tps: float
    date: str
    source_url: str
    source_note: str

    @property
    def work(self) -> Workload:
        """Request with the acceptance that gives the stated share of accepted drafts."""
        acceptance = Draft.chance(self.drafted, self.accepted_share)
        return Workload(draft=self.draft, drafted=self.drafted, acceptance=acceptance)


def rows() -> tuple[DraftedRow, ...]:
    """All published pairs."""
    return read(DATA / "measurements/drafting.csv", DraftedRow)


def points() -> Iterable[AccuracyPoint]:
    """Points of all rows."""
    for row in rows():
        yield point_of(
            row,
            {"category": "drafted", "timed": GENERATION},
            group=f"{row.source_url} {row.gpu}",
            measured=row.drafted_tps,
            predicted=row.plain_tps * gain(row),
            margins=margins_of(_decode(row, row.work)),
        )


def gain(row: DraftedRow) -> float:
    """Predicted rate with drafting over that without."""
    return float(_decode(row, row.work).value / _decode(row, Workload()).value)


def _decode(row: DraftedRow, work: Workload) -> Range:
    """Speed in a row's engine: in the GPU where the model fits, else offloaded."""
    runtime = engine(row.runtime, "resident")
    if runtime is None:
        raise ValueError(f"{row.id}: no engine is called {row.runtime}.")
    where = machine(MachineSpec(gpu=row.gpu, ram_gb=row.ram_gb))
    model = as_run(resolve.find(row.model, row.quant or USUAL_FORMAT).model, runtime, where)
    order = (PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD)
    tried = [estimate(model, where, work, runtime, way, Constants.fitted()) for way in order]
    return decode_of(row, next((answer for answer in tried if np.all(answer.fits)), tried[-1]))
