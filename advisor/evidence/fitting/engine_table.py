"""Rows of data/engine_kernels.csv and data/engine_left_out.csv from the fit of serving engines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from advisor.catalog.constants import FACTOR, ConstantRow
from advisor.catalog.csv_tables import DATA
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import CROSSINGS, LAYERS, TOKEN
from advisor.cost_model.uncertainty import IN_DECODE, IN_PROMPT
from advisor.evidence.fitting.engine_cases import PUBLISHED, EngineCases
from advisor.evidence.fitting.engine_grid import simulated
from advisor.evidence.fitting.engine_parameters import ENGINE, ENGINE_PARAMETERS, FAMILY, RELEASE
from advisor.evidence.fitting.engine_published import ENGINES, published
from advisor.evidence.fitting.engine_solve import EngineFit, EngineTerm, limited, problem, solve

TABLE = DATA / "engine_kernels.csv"
LEFT_OUT = DATA / "engine_left_out.csv"
SOURCE = (
    "python -m advisor.evidence.fitting on data/measurements/simulated_engines.csv, "
    "frameworks_more.csv and offload_papers.csv"
)
DATE = "2026-11"
SMALLEST = 0.03
"""Factors whose logarithm is smaller say nothing and are left out."""
FEWEST = 3
"""Cases below which a family or engine takes what all have in common."""
COVERED = 0.8
PARTS = (Route.RESIDENT, LAYERS, TOKEN, CROSSINGS)
SHARED = ("token", "all_reduce", "peer_share")
"""Constants that other runtimes have by the same name: these hold for serving engines alone."""


@dataclass(frozen=True, kw_only=True)
class EngineLeftOutRow:
    """One case; fields as the columns of data/engine_left_out.csv.

    Attributes:
        id: of its row, and what of it is timed where that is not all.
        group: what was left out with it.
        evidence: simulated or published.
        seconds: simulated or measured [s].
        predicted: by the constants that are fitted without its group [s].
    """

    id: str
    group: str
    evidence: str
    seconds: float
    predicted: float


@cache
def fitted_engines() -> tuple[EngineCases, EngineFit]:
    """All cases and their fit."""
    cases = EngineCases((*simulated(), *published()))
    return cases, solve(problem(cases))


def engine_tables() -> Mapping[Path, list[ConstantRow] | list[EngineLeftOutRow]]:
    """Both files, row by row."""
    cases, fit = fitted_engines()
    return {
        TABLE: [*_constants(fit), *_spreads(cases, fit)],
        LEFT_OUT: list(_left_out(cases, fit)),
    }


def _constants(fit: EngineFit) -> Iterator[ConstantRow]:
    """Each constant for all, then for each family and engine that differs."""
    for name, parameter in ENGINE_PARAMETERS.items():
        if RELEASE in parameter.factors:
            yield from _releases(fit, name)
            continue
        families = _values(fit, name, FAMILY)
        engines = _values(fit, name, ENGINE)
        for engine in (*engines, ""):
            for family in (*families, ""):
                terms = [
                    term for term in ((name, ENGINE, engine), (name, FAMILY, family)) if term[2]
                ]
                yield from _rows(fit, name, terms, engine, family)

    yield ConstantRow(
        constant="peer_sharing", family="NVLink", value=0.0, unit="ratio", kind="derived",
        source="each GPU has links of its own", date=DATE,
        note="time that each further GPU adds to a sum of long vectors",
    )  # fmt: skip


def _values(fit: EngineFit, name: str, column: str) -> list[str]:
    """Families or engines that differ enough, on enough cases, to have a row."""
    return sorted(
        term[2]
        for term, value in fit.values.items()
        if term[:2] == (name, column) and abs(value) >= SMALLEST and fit.rows[term] >= FEWEST
    )


def _rows(
    fit: EngineFit, name: str, terms: list[EngineTerm], engine: str, family: str
) -> Iterator[ConstantRow]:
    parameter = ENGINE_PARAMETERS[name]
    whole = (name, "", "")
    log = fit.values[whole] + sum(fit.values[term] for term in terms)
    value = float(limited(np.exp(np.array(log)), parameter.low, parameter.high))
    rows = min((fit.rows[term] for term in (*terms, whole)), default=0)
    spread = float(np.sqrt(sum(fit.spreads[term] ** 2 for term in (*terms, whole))))
    constant, _, link = name.partition(" ")
    row = ConstantRow(
        constant=constant,
        runtime=engine or None,
        family=family or link or None,
        value=float(f"{value:.4g}"),
        unit=parameter.unit,
        kind="fitted" if rows else "assumed",
        rows=rows or None,
        spread=float(f"{spread:.2g}") if rows else None,
        source=SOURCE if rows else "expected before any measurement",
        date=DATE,
        note=parameter.note,
    )
    if constant not in SHARED or engine:
        yield row
        return
    for key in ENGINES:
        yield replace(row, runtime=key)


def _releases(fit: EngineFit, name: str) -> Iterator[ConstantRow]:
    """Today's release counts as 1; those of earlier years take a factor more of the time."""
    parameter = ENGINE_PARAMETERS[name]
    row = ConstantRow(
        constant=name, value=1.0, unit="share", kind="derived", source="by definition", date=DATE,
        note=parameter.note,
    )  # fmt: skip
    yield row
    for term, value in fit.values.items():
        if term[:2] == (name, RELEASE):
            yield replace(
                row, build=term[2], value=float(f"{np.exp(value):.4g}"), unit=FACTOR,
                kind="fitted", rows=fit.rows[term], spread=float(f"{fit.spreads[term]:.2g}"),
                source=SOURCE,
            )  # fmt: skip


def _spreads(cases: EngineCases, fit: EngineFit) -> Iterator[ConstantRow]:
    """Half widths from published runs that were left out: a token's, and a prompt's."""
    off = np.abs(np.log(cases.seconds / fit.predicted))
    real = cases.columns["evidence"] == PUBLISHED
    alone = np.array([case.steps == 0 for case in cases.cases])
    for constant, mine in ((IN_DECODE, real & ~alone), (IN_PROMPT, real & alone)):
        half = float(np.quantile(off[mine], COVERED))
        for key in ENGINES:
            for part in PARTS:
                yield ConstantRow(
                    constant=constant, runtime=key, family=str(part), value=float(f"{half:.3g}"),
                    unit="share", kind="fitted", rows=int(mine.sum()), source=SOURCE, date=DATE,
                    note="80 % range, as the logarithm of a factor",
                )  # fmt: skip


def _left_out(cases: EngineCases, fit: EngineFit) -> Iterator[EngineLeftOutRow]:
    for case, predicted in zip(cases.cases, fit.predicted.tolist(), strict=True):
        yield EngineLeftOutRow(
            id=case.id,
            group=case.group,
            evidence=case.evidence,
            seconds=float(f"{case.seconds:.5g}"),
            predicted=float(f"{predicted:.5g}"),
        )
