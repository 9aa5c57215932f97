"""Runs of serving engines, published and simulated, each predicted without its group."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

from advisor.catalog.constants import Scope, fitted_constants
from advisor.catalog.csv_tables import read
from advisor.cost_model.schedule import Route
from advisor.cost_model.uncertainty import IN_DECODE, IN_PROMPT, LEAN, Margins
from advisor.evidence.accuracy.points.point import AccuracyPoint
from advisor.evidence.accuracy.regimes import GENERATION, PROMPT, regime_of
from advisor.evidence.fitting.engines.cases import GRID, PUBLISHED, SIMULATED
from advisor.evidence.fitting.engines.published import FILES
from advisor.evidence.fitting.engines.table import LEFT_OUT, EngineLeftOutRow

SIMULATOR = "aiconfigurator 0.12.0, simulated from measured kernels"
EXPERTS = ("-A", "gpt-oss", "Mixtral", "Scout", "DeepSeek", "MiniMax", "GLM", "Kimi")
"""Parts of the names of models with routed experts."""


def points() -> Iterable[AccuracyPoint]:
    """Published runs."""
    return _points(PUBLISHED, FILES)


def simulated() -> Iterable[AccuracyPoint]:
    """A simulator's answers."""
    return _points(SIMULATED, (GRID,))


def _points(evidence: str, files: Iterable[Path]) -> Iterable[AccuracyPoint]:
    rows = {row["id"]: row for path in files for row in _read(path)}
    for case in read(LEFT_OUT, EngineLeftOutRow):
        name, _, part = case.id.partition(" ")
        if case.evidence == evidence:
            yield _point(case, rows[name], first=part.startswith("ttft"))


def _read(path: Path) -> Iterable[Mapping[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _point(case: EngineLeftOutRow, row: Mapping[str, str], *, first: bool) -> AccuracyPoint:
    return AccuracyPoint(
        id=row["id"],
        regime=regime_of(
            {
                "category": f"serving, {case.evidence}",
                "timed": PROMPT if first else GENERATION,
                "experts": any(word in row["model"] for word in EXPERTS),
            }
        ),
        group=case.group,
        gpu=row["gpu"],
        cpu=row.get("cpu", ""),
        model=row["model"],
        format=row["quant"],
        runtime=row["runtime"],
        date=row.get("date", "2026-11"),
        measured=case.tokens / case.seconds,
        predicted=case.tokens / case.predicted,
        margins=margins(row["runtime"], first=first),
        source=row.get("source_url", SIMULATOR),
    )


def margins(runtime: str, *, first: bool) -> Margins:
    """The 80 % range of a token's time, or of a prompt's, in an engine."""
    folded, constant = runtime.casefold(), IN_PROMPT if first else IN_DECODE
    key = next((key for key in ("vllm", "sglang") if key in folded), "tensorrt-llm")
    table = fitted_constants().bound(Scope(runtime=key))
    half, lean = table.value(constant, Route.RESIDENT), table.value(LEAN[constant])
    return Margins(below=half * (1.0 + lean), above=half * (1.0 - lean))
