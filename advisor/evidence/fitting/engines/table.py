"""Tables of the fit of serving engines: data/generated/engine_kernels.csv, engine_left_out.csv."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np

from advisor.catalog.constants import FACTOR, ConstantRow
from advisor.catalog.csv_tables import DATA
from advisor.evidence.fitting.engines.cases import EngineCases
from advisor.evidence.fitting.engines.grid import simulated
from advisor.evidence.fitting.engines.order import OLDER, Rows, ordered_generations
from advisor.evidence.fitting.engines.parameters import ENGINE, ENGINE_PARAMETERS, FAMILY, RELEASE
from advisor.evidence.fitting.engines.published import published
from advisor.evidence.fitting.engines.solve import EngineFit, EngineTerm, limited, problem, solve
from advisor.evidence.fitting.engines.spreads import spread_rows, traits
from advisor.evidence.fitting.frameworks.runs import SERVING

TABLE = DATA / "generated/engine_kernels.csv"
LEFT_OUT = DATA / "generated/engine_left_out.csv"
SOURCE = (
    "python -m advisor.evidence.fitting on data/measurements/simulated_engines.csv, "
    "frameworks_more.csv, frameworks_2026.csv and offload_papers.csv"
)
DATE = "2026-11"
SMALLEST = 0.03
"""Smallest logarithm of a factor that is written; smaller ones make no difference."""
FEWEST = 3
"""Fewest cases for a row of a family or engine; others use the row of all."""
SHARED = ("token", "all_reduce", "peer_share")
"""Constants that other runtimes have under the same name; rows here are for serving engines."""


@dataclass(frozen=True, kw_only=True)
class EngineLeftOutRow:
    """One case; fields as the columns of data/generated/engine_left_out.csv.

    Attributes:
        id: id of its row, with the timed part where a row has several.
        group: group that was left out with it.
        evidence: simulated or published.
        seconds: simulated or measured time [s].
        predicted: time predicted by the fit without its group [s].
        tokens: tokens of all users in that time [tokens].
        experts: degree of the trait "routed experts", 0 to 1 (`cost_model/uncertainty.py`).
        deep: degree of the trait "deep context".
        several: degree of the trait "several GPUs".
        together: degree of the trait "several users".
        thin: degree of the trait "few publishers with a GPU of the family".
    """

    id: str
    group: str
    evidence: str
    seconds: float
    predicted: float
    tokens: float
    experts: float
    deep: float
    several: float
    together: float
    thin: float


@cache
def fitted_engines() -> tuple[EngineCases, EngineFit]:
    """All cases and their fit."""
    cases = EngineCases((*simulated(), *published()))
    return cases, solve(problem(cases))


def engine_tables() -> Mapping[Path, list[ConstantRow] | list[EngineLeftOutRow]]:
    """Rows of both tables."""
    cases, fit = fitted_engines()
    return {
        TABLE: [*_constants(fit), *spread_rows(cases, fit.predicted, SOURCE)],
        LEFT_OUT: list(_left_out(cases, fit)),
    }


def _constants(fit: EngineFit) -> Iterator[ConstantRow]:
    """Rows of each constant: for all, then for families and engines that differ."""
    rows: dict[tuple[str, str, str], ConstantRow] = {}
    for name, parameter in ENGINE_PARAMETERS.items():
        if RELEASE in parameter.factors:
            yield from _releases(fit, name)
            continue
        families = _values(fit, name, FAMILY)
        if FAMILY in parameter.factors:
            families = sorted({*families, *chain.from_iterable(OLDER)})
        for engine in (*_values(fit, name, ENGINE), ""):
            for family in (*families, ""):
                known = [(name, ENGINE, engine), (name, FAMILY, family)]
                terms = [term for term in known if term[2] and term in fit.values]
                rows[name, engine, family] = _row(fit, name, terms, engine, family)
    ordered = ordered_formats(ordered_generations(rows))
    for row in ordered.values():
        yield from _shared(row, ordered)
    yield ConstantRow(
        constant="peer_sharing", family="NVLink", value=0.0, unit="ratio", kind="derived",
        source="each GPU has links of its own", date=DATE,
        note="time that each further GPU adds to a sum of long vectors",
    )  # fmt: skip


FORMAT_ORDER = (("f16", "fp8", 0.55), ("fp8", "nvfp4", 0.65))
"""A format, the next smaller one, and the smallest ratio of the smaller one's share of bandwidth to
its own. The smaller has about half the bytes, so fewer bits are not predicted slower."""
OWN_PEAK = {
    "fp8": ("Ada", "Hopper", "Blackwell", "Blackwell HBM", "Blackwell LPDDR"),
    "nvfp4": ("Blackwell", "Blackwell HBM", "Blackwell LPDDR"),
}  # fmt: skip
"""Generations that multiply a format natively, at twice the peak; others reach the same share of
the same peak as with more bits."""


def ordered_formats(rows: Rows) -> Rows:
    """Rows with shares raised so that fewer bits are not slower in the same part of the model."""
    ordered = dict(rows)
    for part in ("dense", "experts"):
        for more, less, share in FORMAT_ORDER:
            for kind in ("read_share", "flop_share", "tile"):
                for (name, engine, family), row in list(ordered.items()):
                    if name == f"{part}_{less}_{kind}":
                        larger = _nearest(ordered, f"{part}_{more}_{kind}", engine, family)
                        value = _ordered(kind, row.value, larger, share, family in OWN_PEAK[less])
                        ordered[name, engine, family] = replace(row, value=float(f"{value:.4g}"))
    return ordered


def _ordered(kind: str, value: float, larger: float, share: float, own_peak: bool) -> float:
    """Share of a format, raised so that it is not slower than the next larger format."""
    if kind == "tile":
        return min(value, larger)
    return max(value, larger * (share if kind == "read_share" or own_peak else 1.0))


def _nearest(rows: Rows, name: str, engine: str, family: str) -> float:
    """Value of a constant for an engine and family, as `Constants` looks it up."""
    keys = ((name, engine, family), (name, "", family), (name, engine, ""), (name, "", ""))
    return next(rows[key].value for key in keys if key in rows)


def _values(fit: EngineFit, name: str, column: str) -> list[str]:
    """Families or engines with a row of their own: different enough, on enough cases."""
    return sorted(
        term[2]
        for term, value in fit.values.items()
        if term[:2] == (name, column) and abs(value) >= SMALLEST and fit.rows[term] >= FEWEST
    )


def _row(
    fit: EngineFit, name: str, terms: list[EngineTerm], engine: str, family: str
) -> ConstantRow:
    parameter = ENGINE_PARAMETERS[name]
    whole = (name, "", "")
    log = fit.values[whole] + sum(fit.values[term] for term in terms)
    value = float(limited(np.exp(np.array(log)), parameter.low, parameter.high))
    rows = min(fit.rows[term] for term in (*terms, whole))
    spread = float(np.sqrt(sum(fit.spreads[term] ** 2 for term in (*terms, whole))))
    constant, _, link = name.partition(" ")
    return ConstantRow(
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


def _shared(row: ConstantRow, rows: Rows) -> Iterable[ConstantRow]:
    """Rows of serving engines without their own, for constants that other runtimes also have."""
    if row.constant not in SHARED or row.runtime:
        return (row,)
    own = {engine for name, engine, _ in rows if name == row.constant}
    return tuple(replace(row, runtime=key) for key in SERVING if key not in own)


def _releases(fit: EngineFit, name: str) -> Iterator[ConstantRow]:
    """Rows of releases: factor on the time of earlier years, 1 for today's."""
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


def _left_out(cases: EngineCases, fit: EngineFit) -> Iterator[EngineLeftOutRow]:
    reached = traits(cases)
    for at, (case, predicted) in enumerate(zip(cases.cases, fit.predicted.tolist(), strict=True)):
        yield EngineLeftOutRow(
            id=case.id,
            group=case.group,
            evidence=case.evidence,
            seconds=float(f"{case.seconds:.5g}"),
            predicted=float(f"{predicted:.5g}"),
            tokens=float(f"{case.tokens:.5g}"),
            **{name: float(f"{values[at]:.3g}") for name, values in reached.items()},
        )
