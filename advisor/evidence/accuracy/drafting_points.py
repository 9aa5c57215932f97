"""Published speeds with drafted tokens, predicted from the same source's speed without them.

What is predicted is the gain; nothing is fitted to it. A row says which share of all drafted tokens
was accepted, so that a step of k drafts yields 1 + k share tokens; from that follows the
probability a that one is accepted: (1 - a^(k+1)) / (1 - a) tokens (`Workload.tokens_per_step`).
"""

import csv
import math
from collections.abc import Iterable, Mapping

import numpy as np

from advisor.advice.compare import as_run
from advisor.catalog.constants import fitted_constants
from advisor.catalog.csv_tables import DATA
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.uncertainty import Margins
from advisor.cost_model.workload import Workload
from advisor.evidence.accuracy.points.point import AccuracyPoint
from advisor.evidence.accuracy.regimes import GENERATION, regime_of
from advisor.evidence.published.engines import engine
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import resolve

FILE = DATA / "measurements" / "drafting.csv"
USUAL_FORMAT = "Q4_K_M"
"""Format of rows that state none."""
Row = Mapping[str, str]


def points() -> Iterable[AccuracyPoint]:
    """Every row."""
    with FILE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield _point(row)


def _point(row: Row) -> AccuracyPoint:
    plain, drafted = _estimate(row, Workload()), _estimate(row, drafted_work(row))
    if plain.decode is None or drafted.decode is None:
        raise ValueError(f"{row['id']}: {plain.refusal or drafted.refusal}")
    gain = float(drafted.decode.value / plain.decode.value)
    return AccuracyPoint(
        id=row["id"],
        regime=regime_of({"category": "drafted", "timed": GENERATION}),
        group=f"{row['source_url']} {row['gpu']}",
        gpu=row["gpu"],
        cpu="",
        model=row["model"],
        format=row["quant"],
        runtime=row["runtime"],
        date=row["date"],
        measured=float(row["drafted_tps"]),
        predicted=float(row["plain_tps"]) * gain,
        margins=_margins(drafted),
        source=row["source_url"],
    )


def drafted_work(row: Row) -> Workload:
    """The request of a row, with the acceptance that its share of accepted drafts means."""
    drafted, share = int(row["drafted"]), float(row["accepted_share"])
    chances = np.linspace(0.0, 0.999, 1000)
    tokens = (1.0 - chances ** (drafted + 1)) / (1.0 - chances)
    acceptance = float(np.interp(1.0 + drafted * share, tokens, chances))
    return Workload(draft=row["draft"], drafted=drafted, acceptance=acceptance)


def _estimate(row: Row, work: Workload) -> Estimate:
    """The fastest placement of a row's engine: in the GPU where it fits, else beside it."""
    how = engine(row["runtime"], "resident")
    if how is None:
        raise ValueError(f"{row['id']}: no engine is called {row['runtime']}.")
    where = machine(MachineSpec(gpu=row["gpu"], ram_gb=float(row["ram_gb"])))
    model = as_run(resolve.find(row["model"], row["quant"] or USUAL_FORMAT).model, how, where)
    order = (PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD)
    tried = [estimate(model, where, work, how, way, fitted_constants()) for way in order]
    return next((answer for answer in tried if np.all(answer.fits)), tried[-1])


def _margins(answer: Estimate) -> Margins:
    """The 80 % range of the speed with drafts: the share that is known apart stays in it."""
    known = answer.decode
    if known is None:
        return Margins(below=0.0, above=0.0)
    below, above = known.value / known.low, known.high / known.value
    return Margins(below=math.log(float(below)), above=math.log(float(above)))
