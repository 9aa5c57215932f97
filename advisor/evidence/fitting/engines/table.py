"""Rows of data/generated/engine_kernels.csv and engine_left_out.csv: the fit of serving engines."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np

from advisor.catalog.constants import FACTOR, ConstantRow
from advisor.catalog.csv_tables import DATA
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import CROSSINGS, LAYERS, TOKEN
from advisor.cost_model.uncertainty import IN_DECODE, IN_PROMPT
from advisor.evidence.fitting.engine_grid import simulated
from advisor.evidence.fitting.engines.cases import PUBLISHED, EngineCases
from advisor.evidence.fitting.engines.parameters import ENGINE, ENGINE_PARAMETERS, FAMILY, RELEASE
from advisor.evidence.fitting.engines.published import published
from advisor.evidence.fitting.engines.solve import EngineFit, EngineTerm, limited, problem, solve
from advisor.evidence.fitting.frameworks.runs import SERVING

TABLE = DATA / "generated/engine_kernels.csv"
LEFT_OUT = DATA / "generated/engine_left_out.csv"
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
    """One case; fields as the columns of data/generated/engine_left_out.csv.

    Attributes:
        id: of its row, and what of it is timed where that is not all.
        group: what was left out with it.
        evidence: simulated or published.
        seconds: simulated or measured [s].
        predicted: by the constants that are fitted without its group [s].
        tokens: that all users together got in that time.
    """

    id: str
    group: str
    evidence: str
    seconds: float
    predicted: float
    tokens: float


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
    rows: dict[tuple[str, str, str], ConstantRow] = {}
    for name, parameter in ENGINE_PARAMETERS.items():
        if RELEASE in parameter.factors:
            yield from _releases(fit, name)
            continue
        families = _values(fit, name, FAMILY)
        if name.endswith("_share") and FAMILY in parameter.factors:
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


Rows = dict[tuple[str, str, str], ConstantRow]
"""Rows by constant, engine and family; the latter two empty for all."""


def ordered_generations(rows: Rows) -> Rows:
    """Shares of an older generation are no larger than those of the next one.

    Few measured cards of some generations, and a card that is no worse than another in any figure
    of its datasheet is not slower.
    """
    ordered = dict(rows)
    for (name, engine, family), row in rows.items():
        for newer, older in OLDER:
            if family == newer and (name, engine, older) in ordered:
                most = ordered[name, engine, newer].value
                least = ordered[name, engine, older]
                ordered[name, engine, older] = replace(least, value=min(least.value, most))
        del row
    return ordered


OLDER = (
    ("Blackwell", "Ada"), ("Ada", "Ampere"), ("Ampere", "Turing"), ("Hopper", "Ampere HBM"),
)  # fmt: skip
"""Generations with GDDR memory and with HBM, each with the one before, newest first."""
FORMAT_ORDER = (("f16", "fp8", 0.55), ("fp8", "nvfp4", 0.65))
"""A format, the next smaller one, and the least part of its share of bandwidth that the smaller one
reaches: it has about half the bytes, so that fewer bits are not slower."""
OWN_PEAK = {
    "fp8": ("Ada", "Hopper", "Blackwell", "Blackwell HBM"), "nvfp4": ("Blackwell", "Blackwell HBM"),
}  # fmt: skip
"""Generations that multiply a format in numbers of its own, at twice the peak; others reach the
same share of the same peak as with more bits."""


def ordered_formats(rows: Rows) -> Rows:
    """Weights of fewer bits, in the kernels of the same part of the model, are not slower."""
    ordered = dict(rows)
    for part in ("dense", "experts"):
        for more, less, share in FORMAT_ORDER:
            for kind in ("read_share", "flop_share", "empty_rows"):
                for (name, engine, family), row in list(ordered.items()):
                    if name == f"{part}_{less}_{kind}":
                        larger = _nearest(ordered, f"{part}_{more}_{kind}", engine, family)
                        value = _ordered(kind, row.value, larger, share, family in OWN_PEAK[less])
                        ordered[name, engine, family] = replace(row, value=float(f"{value:.4g}"))
    return ordered


def _ordered(kind: str, value: float, larger: float, share: float, own_peak: bool) -> float:
    """A constant of a format, so that it is not slower than the next larger format."""
    if kind == "empty_rows":
        return min(value, larger)
    return max(value, larger * (share if kind == "read_share" or own_peak else 1.0))


def _nearest(rows: Rows, name: str, engine: str, family: str) -> float:
    """Value that a constant has for an engine and a family, as `Constants` finds it."""
    keys = ((name, engine, family), (name, "", family), (name, engine, ""), (name, "", ""))
    return next(rows[key].value for key in keys if key in rows)


def _values(fit: EngineFit, name: str, column: str) -> list[str]:
    """Families or engines that differ enough, on enough cases, to have a row."""
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
    """A row for each serving engine that has none of its own, where other runtimes have a constant
    of the same name.
    """
    if row.constant not in SHARED or row.runtime:
        return (row,)
    own = {engine for name, engine, _ in rows if name == row.constant}
    return tuple(replace(row, runtime=key) for key in SERVING if key not in own)


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
        for key in SERVING:
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
            tokens=float(f"{case.tokens:.5g}"),
        )
