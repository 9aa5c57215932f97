"""What was fitted on runs of frameworks: rows of data/efficiency.csv, entries of a ledger."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from advisor import catalog
from advisor.cost import LAYERS, TOKEN
from advisor.efficiency import EfficiencyRow, Scope
from advisor.estimate import IN_DECODE
from advisor.fitting.stream_parameters import RUNTIME, STREAM_PARAMETERS
from advisor.fitting.stream_solve import StreamFit, solve, task
from advisor.fitting.streams import (
    BATCHED,
    RESIDENT,
    STAGED,
    STREAMED,
    Run,
    Streams,
    papers,
    regime,
    teaches,
)
from advisor.schedule import Route

SOURCE = "python -m advisor.fitting on data/measurements/offload_papers.csv"
DATE = "2026-11"
ON_GPU = (Route.RESIDENT, LAYERS, TOKEN)
COVERED = 0.8


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One published run beside its prediction by a fit that did not see its group.

    Attributes:
        id: of the row.
        regime: what kind of run it is.
        group: source and hardware; rows of a group err together.
        gpu: as the source calls it; empty for none.
        cpu: likewise.
        model: likewise.
        format: likewise.
        runtime: likewise.
        date: when it was measured or published; empty where unknown.
        measured: speed of the whole batch [tokens/s].
        predicted: likewise [tokens/s].
        half_width: of the 80 % range, as a logarithm.
        source: where it was published.
    """

    id: str
    regime: str
    group: str
    gpu: str
    cpu: str
    model: str
    format: str
    runtime: str
    date: str
    measured: float
    predicted: float
    half_width: float
    source: str


@cache
def fitted() -> tuple[Streams, StreamFit]:
    """All runs and their fit."""
    streams = Streams(papers())
    return streams, solve(task(streams))


def stream_rows() -> list[EfficiencyRow]:
    """Constants and spreads of frameworks for data/efficiency.csv."""
    streams, fit = fitted()
    return [*_constants(streams, fit), *_spreads(streams, fit)]


def _constants(streams: Streams, fit: StreamFit) -> Iterator[EfficiencyRow]:
    for name, parameter in STREAM_PARAMETERS.items():
        for key in sorted(set(parameter.only or streams.engines)):
            own = (name, key) if RUNTIME in parameter.factors else (name, "")
            factor = fit.values.get((name, key), 0.0)
            value = float(np.exp(fit.values[name, ""] + factor))
            rows = fit.rows.get(own, 0)
            yield _row(name, key, "", value, parameter.unit, rows, parameter.note)


def _spreads(streams: Streams, fit: StreamFit) -> Iterator[EfficiencyRow]:
    """Half widths by part of the time, from what was left out."""
    note = "80 % range, as the logarithm of a factor"
    off, kinds = _off(streams, fit)
    behind = catalog.efficiency().value("spread_unmeasured", Route.STREAMED)  # links are derived
    streamed = float(np.sqrt(max(_most(off, kinds, STREAMED) ** 2 - behind**2, 0.01)))
    halves: tuple[tuple[str, float, str], ...] = (
        (Route.STREAMED, streamed, STREAMED),
        (Route.STAGED, _most(off, kinds, STAGED), STAGED),
    )
    for part, value, kind in halves:
        yield _row(IN_DECODE, None, part, value, "share", kinds.count(kind), note)
    resident = _most(off, kinds, BATCHED, RESIDENT)
    count = kinds.count(BATCHED) + kinds.count(RESIDENT)
    for key in sorted(set(streams.engines)):
        for part in ON_GPU:
            yield _row(IN_DECODE, key, part, resident, "share", count, note)


def _off(streams: Streams, fit: StreamFit) -> tuple[list[float], list[str]]:
    """Logarithms of errors of runs left out that state their batch, and what kind each is."""
    taught = [index for index, run in enumerate(streams.runs) if teaches(run)]
    logs = np.abs(np.log(streams.seconds / fit.predicted))
    return [float(logs[index]) for index in taught], [regime(streams.runs[i]) for i in taught]


def _most(off: list[float], kinds: list[str], *wanted: str) -> float:
    return float(np.quantile([one for one, kind in zip(off, kinds, strict=True) if kind in wanted],
                             COVERED))  # fmt: skip


def _row(
    constant: str, runtime: str | None, family: str, value: float, unit: str, rows: int, note: str
) -> EfficiencyRow:
    return EfficiencyRow(
        constant=constant,
        runtime=runtime,
        family=family or None,
        backend=None,
        build=None,
        decode_class=None,
        value=float(f"{value:.4g}"),
        unit=unit,
        kind="fitted" if rows else "assumed",
        rows=rows or None,
        source=SOURCE if rows else "expected before any measurement",
        date=DATE,
        note=note,
    )


def judged() -> Iterable[Judged]:
    """Every run of a framework that the advisor understands, its group left out."""
    streams, fit = fitted()
    for run, group, seconds in zip(streams.runs, streams.groups, fit.predicted, strict=True):
        measured = run.tokens / run.seconds
        yield Judged(
            id=run.row["id"],
            regime=regime(run),
            group=group,
            gpu=run.row["gpu"],
            cpu=run.row["cpu"],
            model=run.row["model"],
            format=run.row["quant"],
            runtime=run.row["runtime"],
            date=run.row["date"],
            measured=measured,
            predicted=run.tokens / float(seconds),
            half_width=half_width(run),
            source=run.row["source_url"],
        )


def half_width(run: Run) -> float:
    """Half width of a run's range by what most of its time goes to, as a logarithm."""
    table = catalog.efficiency().bound(Scope(runtime=run.case.runtime.key))
    kind = regime(run)
    if kind in (BATCHED, RESIDENT):
        return table.value(IN_DECODE, Route.RESIDENT)
    part = Route.STAGED if kind == STAGED else Route.STREAMED
    own = table.value(IN_DECODE, part)
    behind = table.value("spread_unmeasured", part) if part is Route.STREAMED else 0.0
    return float(np.hypot(own, behind))
