"""Points of frameworks and serving engines, published and simulated, each predicted without its
group.
"""

from collections.abc import Iterable
from functools import cache

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.catalog.constants import Scope, fitted_constants
from advisor.catalog.csv_tables import read
from advisor.cost_model.schedule import Route
from advisor.cost_model.uncertainty import (
    BY_TRAIT,
    IN_DECODE,
    IN_PROMPT,
    LEAN,
    SEVERAL,
    THIN,
    TOGETHER,
    Margins,
    widened,
)
from advisor.evidence.accuracy.regimes import BOTH, GENERATION, PROMPT, regime_of
from advisor.evidence.published.row import PublishedRow, published_rows
from lab.engine_tables import LEFT_OUT, EngineLeftOutRow
from lab.engines import FILES, PUBLISHED, SIMULATED, SimulatedRow, simulated_rows
from lab.frameworks import margins as framework_margins
from lab.frameworks import papers, regime
from lab.held_out import WHOLE, left_out
from lab.points.point import point_of

WIDER = (SEVERAL, TOGETHER, THIN)
"""Traits whose degree a row of engine_left_out.csv states."""


def points() -> Iterable[AccuracyPoint]:
    """Points of published runs."""
    return _points(PUBLISHED, (row for path in FILES for row in published_rows(path)))


def simulated() -> Iterable[AccuracyPoint]:
    """Points of the simulator's answers."""
    return _points(SIMULATED, simulated_rows())


def of_frameworks() -> Iterable[AccuracyPoint]:
    """Points of data/measurements/offload_papers.csv, with speeds of the whole batch."""
    for run in papers():
        seconds = left_out().get((WHOLE, run.id))
        if seconds is None:
            continue
        timed = BOTH if run.prompts else GENERATION
        yield point_of(
            run.row,
            regime=regime_of(
                {"category": regime(run), "timed": timed, "batch_stated": bool(run.weight)}
            ),
            group=run.group,
            measured=run.tokens / run.seconds,
            predicted=run.tokens / seconds,
            margins=framework_margins(run),
        )


def _points(evidence: str, every: Iterable[PublishedRow | SimulatedRow]) -> Iterable[AccuracyPoint]:
    rows = {row.id: row for row in every}
    for case in _left_out():
        name, _, part = case.id.partition(" ")
        if case.evidence == evidence:
            yield _point(case, rows[name], first=part.startswith("ttft"))


@cache
def _left_out() -> tuple[EngineLeftOutRow, ...]:
    return read(LEFT_OUT, EngineLeftOutRow)


def _point(
    case: EngineLeftOutRow, row: PublishedRow | SimulatedRow, *, first: bool
) -> AccuracyPoint:
    return point_of(
        row,
        regime=regime_of(
            {
                "category": f"serving, {case.evidence}",
                "timed": PROMPT if first else GENERATION,
                "experts": bool(case.experts),
            }
        ),
        group=case.group,
        measured=case.tokens / case.seconds,
        predicted=case.tokens / case.predicted,
        margins=margins(case, row.runtime, first=first),
    )


def margins(case: EngineLeftOutRow, runtime: str, *, first: bool) -> Margins:
    """Margins of the 80 % range of a token's or a prompt's time in a serving engine."""
    folded, constant = runtime.casefold(), IN_PROMPT if first else IN_DECODE
    key = next((key for key in ("vllm", "sglang") if key in folded), "tensorrt-llm")
    table = fitted_constants().bound(Scope(runtime=key))
    usual, lean = table.value(constant, Route.RESIDENT), table.value(LEAN[constant], Route.RESIDENT)
    traits = {trait: getattr(case, trait) for trait in WIDER}
    factors = {trait: table.value(BY_TRAIT[constant], trait) for trait in WIDER}
    half = widened(usual, factors, traits)
    return Margins(below=half * (1.0 + lean), above=half * (1.0 - lean))
