"""`python -m lab`: refit the constants from data/measurements/.

Constants go to data/generated/efficiency.csv, where rows of constants without a fit stay as they
are; predictions made without each source go to left_out.csv beside it. The fit of frameworks reads
llama.cpp's constants from the shipped table, so run the command again after they changed; the
second run and all later ones write the same files.
"""

import csv
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from advisor.catalog.constants import FACTOR, STACKED, ConstantRow, constant_rows
from advisor.catalog.csv_tables import DATA, as_text
from advisor.cost_model.uncertainty import PUBLISHERS, SEVERAL, THIN
from lab import engine_tables, held_out, rounded, write
from lab.fit import Fit
from lab.frameworks import fitted, stream_rows
from lab.held_out import left_out_row
from lab.llama_cpp import LEAST_GROUPS, LlamaFit, published, rows_of, solved, whole_architectures
from lab.parameters import LLAMA_CPP, fitted_row, parameters
from lab.row_errors import layer_publishers, sources
from lab.spreads import COVERED, Spread, spreads

OWN = DATA / "measurements" / "own.csv"
TABLE = DATA / "generated" / "efficiency.csv"
SMALLEST = 0.004
"""Smallest logarithm of a factor that is written; smaller ones make no difference."""
SOURCE = "python -m lab on data/measurements/llama_cpp*.csv"
OF_HARDWARE = "expected of the hardware (lab/parameters.csv)"
"""Source of factors with too few groups to be fitted."""
OWN_TO_LLAMA_CPP = {
    "spread_by": 1.0, "spread_prompt_by": 1.0, "lean": 0.0, "lean_prompt": 0.0,
}  # fmt: skip
"""Constants of ranges that are fitted for llama.cpp and its forks, with their neutral values for
other runtimes: factors of 1, leans of 0."""
ROWS_OF_LLAMA_CPP = (*OWN_TO_LLAMA_CPP, PUBLISHERS)
"""Constants with rows of their own for llama.cpp and its forks."""
NOBODY_COUNTED = 1000.0
"""Publishers of a kind of layer in runtimes for which none are counted: it widens no range."""
SPREADS = (
    "spread", "spread_unmeasured", "spread_prompt", "spread_timed", "sources", PUBLISHERS,
    *OWN_TO_LLAMA_CPP,
)  # fmt: skip
"""Constants of ranges, rewritten for all runtimes without their own."""
_row = partial(fitted_row, source=SOURCE)
"""Row of a constant; columns of its scope are further arguments."""
ENGINES_OF_LLAMA_CPP = ("llama.cpp", "ollama", "lm-studio")
"""Runtimes with the ranges of llama.cpp."""
OF_ALL = (THIN, SEVERAL)
"""Traits that widen the ranges of every runtime."""


def main() -> int:
    """Write every table anew; returns the exit code."""
    return write(refitted())


def refitted() -> Mapping[Path, str]:
    """Text of every file of data/generated/, fitted to the measurements."""
    rows = rows_of(published())
    done = solved(rows)
    anew = {(name, parameter.runtime or None) for name, parameter in parameters(LLAMA_CPP).items()}
    anew |= {(name, None) for name in SPREADS}
    anew |= {(name, key) for name in ROWS_OF_LLAMA_CPP for key in ENGINES_OF_LLAMA_CPP}
    streams = {_key(row): row for row in stream_rows()}
    rows_before = tuple(constant_rows(TABLE))
    unfitted = [row for row in rows_before if (row.constant, row.runtime) not in anew]
    former = [row for row in rows_before if (row.constant, row.runtime) in anew]
    of_llama_cpp = [
        *or_published(_rows(done.fit), former),
        *_spread_rows(spreads(done)),
        *_source_rows(sources(rows)),
        *_publisher_rows(layer_publishers(rows)),
        _timed_row(),
    ]
    constants = [row for row in (*of_llama_cpp, *unfitted) if _key(row) not in streams]
    frameworks = fitted()
    whole = zip(frameworks.runs, frameworks.predicted, strict=True)
    without = (
        *_held_out(done),
        *(left_out_row(held_out.WHOLE, run.id, seconds) for run, seconds in whole),
    )
    return {
        engine_tables.TABLE: constant_table(engine_tables.constants()),
        engine_tables.LEFT_OUT: as_text(engine_tables.left_out()),
        TABLE: constant_table((*constants, *streams.values())),
        held_out.LEFT_OUT: as_text(without),
    }


def constant_table(rows: Iterable[ConstantRow]) -> str:
    """Text of a table, with a line for all runtimes and families that have the same row.

    Factors keep a line each, since the order in which they multiply decides the last digit.
    """
    lines = list(rows)
    for column in ("runtime", "family"):
        alike: dict[object, list[ConstantRow]] = {}
        for place, row in enumerate(lines):
            without: dict[str, Any] = {column: None}
            apart = row.unit == FACTOR or not getattr(row, column)
            alike.setdefault(place if apart else replace(row, **without), []).append(row)
        lines = [_together(same, column) for same in alike.values()]
    return as_text(lines)


def _together(same: Sequence[ConstantRow], column: str) -> ConstantRow:
    """Rows that differ in a column only as one that lists its values."""
    if len(same) == 1:
        return same[0]
    listed: dict[str, Any] = {column: STACKED.join(getattr(row, column) for row in same)}
    return replace(same[0], **listed)


def _held_out(done: LlamaFit) -> Iterable[held_out.LeftOutRow]:
    architectures = whole_architectures(done.rows)
    pairs = zip(done.rows.timed, done.held_out, done.without_kinds, architectures, strict=True)
    for row, seconds, unseen, architecture in pairs:
        yield left_out_row(row.timed, row.id, seconds)
        if architecture and row.timed == held_out.GENERATED:
            yield left_out_row(held_out.UNSEEN, row.id, unseen)


def _key(row: ConstantRow) -> tuple[str | None, ...]:
    """Scope of a row."""
    return (
        row.constant, row.runtime, row.family, row.backend, row.build, row.decode_class,
    )  # fmt: skip


def _rows(fit: Fit) -> Iterable[ConstantRow]:
    terms = zip(fit.task.terms, fit.logs, fit.rows, fit.groups, fit.spreads, strict=True)
    for (constant, scope), value, rows, groups, spread in terms:
        parameter = parameters(LLAMA_CPP)[constant]
        if scope and (abs(value) < SMALLEST or not rows):
            continue
        held = bool(scope) and groups < LEAST_GROUPS
        row = _row(
            constant,
            rounded(np.exp(value), 4),
            FACTOR if scope else parameter.unit,
            0 if held else int(rows),
            parameter.note,
            runtime=parameter.runtime,
            **dict(scope),
        )
        if held:
            yield replace(row, kind="derived", source=OF_HARDWARE)
        else:
            yield replace(row, spread=rounded(spread, 2) if rows else None)


def or_published(fit: Iterable[ConstantRow], former: Iterable[ConstantRow]) -> list[ConstantRow]:
    """Rows of the fit, with factors derived from published runs where it has expected ones or none.

    A published run is the source of a row that is derived and names a page.
    """
    rows = {_key(row): row for row in fit}
    for row in former:
        anew = rows.get(_key(row))
        if row.kind == "derived" and "http" in row.source:
            rows[_key(row)] = row if anew is None or anew.source == OF_HARDWARE else anew
    return list(rows.values())


def _spread_rows(spreads: Iterable[Spread]) -> Iterable[ConstantRow]:
    for constant, neutral in OWN_TO_LLAMA_CPP.items():
        note = f"{_note(constant)}: the same for all where nothing is fitted"
        yield _row(constant, neutral, "share", 0, note)
    for spread in spreads:
        own = spread.constant in OWN_TO_LLAMA_CPP and spread.scope.get("family") not in OF_ALL
        for runtime in ENGINES_OF_LLAMA_CPP if own else ("",):
            unit, note = FACTOR if spread.factor else "share", _note(spread.constant)
            value = rounded(spread.value, 3)
            yield _row(
                spread.constant, value, unit, spread.rows, note, runtime=runtime, **spread.scope
            )


def _note(constant: str) -> str:
    if constant.startswith("lean"):
        return "how far an 80 % range leans to the slow side"
    if constant.endswith("_by"):
        return "80 % range of runs like this, as a factor on its half width"
    return RANGE_NOTE


RANGE_NOTE = "80 % range, as the logarithm of a factor"


def _timed_row() -> ConstantRow:
    """Half width of ranges on a machine where llama.cpp was timed, from the errors there."""
    with OWN.open(encoding="utf-8", newline="") as file:
        runs = [row for row in csv.DictReader(file) if row["category"] == "cpu"]
    off = [math.log(float(row["predicted_tps"]) / float(row["tg_tps"])) for row in runs]
    value = rounded(np.quantile(np.abs(off), COVERED), 3)
    note = "80 % range where llama.cpp was timed, as the logarithm of a factor"
    row = _row("spread_timed", value, "share", len(runs), note)
    return replace(row, source=f"python -m lab on data/measurements/{OWN.name}")


def _source_rows(urls_by_family: Mapping[str, frozenset[str]]) -> Iterable[ConstantRow]:
    note = "sources that measured a GPU of the family"
    yield _row("sources", 0.0, "count", 0, note)
    for family, urls in urls_by_family.items():
        yield _row("sources", float(len(urls)), "count", len(urls), note, family=family)


def _publisher_rows(counted: Mapping[tuple[str, str], frozenset[str]]) -> Iterable[ConstantRow]:
    note = "publishers who timed layers of a kind"
    yield _row(PUBLISHERS, NOBODY_COUNTED, "count", 0, f"{note}: not counted in other runtimes")
    for runtime in ENGINES_OF_LLAMA_CPP:
        yield _row(PUBLISHERS, 0.0, "count", 0, note, runtime=runtime)
        for (kind, backend), names in sorted(counted.items()):
            where = f"{kind} on {backend}" if backend else f"{kind}, together"
            scope = {"family": kind, "runtime": runtime, "backend": backend}
            words = f"publishers who timed {where}"
            yield _row(PUBLISHERS, float(len(names)), "count", len(names), words, **scope)


if __name__ == "__main__":
    sys.exit(main())
