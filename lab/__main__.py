"""`python -m lab`: refit the constants from data/measurements/.

Constants go to data/generated/efficiency.csv, where rows of constants without a fit stay as they
are; predictions made without each source go to left_out.csv beside it. The fit of frameworks reads
llama.cpp's constants from the shipped table, so run the command again after they changed; the
second run and all later ones write the same files.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from advisor.catalog.constants import BETWEEN, FACTOR, ConstantRow, constant_rows
from advisor.catalog.csv_tables import DATA
from advisor.catalog.records import csv_text
from lab import engine_tables, folds, held_out, llama_cpp, write
from lab.fit import Fit
from lab.frameworks import held_out as frameworks
from lab.frameworks import papers, stream_rows
from lab.held_out import left_out_row
from lab.spreads import centre_rows, centred, range_rows

TABLE = DATA / "generated" / "efficiency.csv"
SMALLEST = 0.004  # smallest logarithm of a factor that is written; smaller ones make no difference
OF_HARDWARE = "expected of the hardware (lab/parameters.csv)"
"""Source of factors with too few groups to be fitted."""


def main() -> int:
    """Write every table anew; returns the exit code."""
    return write(refitted())


def refitted() -> Mapping[Path, str]:
    """Text of every file of data/generated/, fitted to the measurements."""
    done, strangers = centred(llama_cpp.solved(llama_cpp.rows_of(llama_cpp.published())))
    fit = tuple(_rows(done.fit))
    builds = done.fit.task.cases.column("build").tolist()
    ranges = (*range_rows(done), *centre_rows(strangers, builds))
    anew = {(row.constant, row.runtime) for row in (*fit, *ranges)}
    before = tuple(constant_rows(TABLE))
    former = [row for row in before if (row.constant, row.runtime) in anew]
    unfitted = [row for row in before if (row.constant, row.runtime) not in anew]
    streams = {_key(row): row for row in stream_rows()}
    every = (*or_published(fit, former), *ranges, *unfitted)
    constants = [row for row in every if _key(row) not in streams]
    whole = zip(papers(), frameworks().predicted, strict=True)
    without = (
        *_held_out(done),
        *(left_out_row(held_out.WHOLE, run.id, seconds) for run, seconds in whole),
    )
    return {
        engine_tables.TABLE: constant_table(engine_tables.constants()),
        engine_tables.LEFT_OUT: csv_text(engine_tables.left_out()),
        TABLE: constant_table((*constants, *streams.values())),
        held_out.LEFT_OUT: csv_text(without),
        folds.TABLE: csv_text(folds.fold_rows(llama_cpp.left_out_with(done.fit.task.cases))),
    }


def constant_table(rows: Iterable[ConstantRow]) -> str:
    """Text of a table, with a line for all runtimes and families that have the same row.

    Factors keep a line each, since the order in which they multiply decides the last digit.
    """
    lines = list(rows)
    for column in ("runtime", "family"):
        alike: dict[object, list[ConstantRow]] = {}
        for place, row in enumerate(lines):
            apart = row.unit == FACTOR or not getattr(row, column)
            alike.setdefault(place if apart else _with(row, column, None), []).append(row)
        lines = [
            _with(same[0], column, BETWEEN.join(getattr(row, column) or "" for row in same) or None)
            for same in alike.values()
        ]
    return csv_text(lines)


def _with(row: ConstantRow, column: str, value: str | None) -> ConstantRow:
    scope: dict[str, Any] = {column: value}
    return replace(row, **scope)


def _held_out(done: llama_cpp.LlamaFit) -> Iterable[held_out.LeftOutRow]:
    cases = done.fit.task.cases
    architectures = llama_cpp.whole_architectures(cases)
    pairs = zip(cases.timed, done.predicted, done.without_kinds, architectures, strict=True)
    for row, seconds, unseen, architecture in pairs:
        yield left_out_row(row.timed, row.id, seconds)
        if architecture and row.timed == held_out.GENERATED:
            yield left_out_row(held_out.UNSEEN, row.id, unseen)


def _key(row: ConstantRow) -> tuple[str | None, ...]:
    """Scope of a row."""
    return (
        row.constant,
        row.runtime,
        row.family,
        row.backend,
        row.build,
        row.decode_class,
    )


def _rows(fit: Fit) -> Iterable[ConstantRow]:
    for place, (_, scope) in enumerate(fit.task.terms):
        if scope and (abs(fit.logs[place]) < SMALLEST or not fit.rows[place]):
            continue
        held = bool(scope) and fit.groups[place] < llama_cpp.LEAST_GROUPS
        rows = 0 if held else int(fit.rows[place])
        row = fit.row(llama_cpp.SOURCE, [place], rows, **dict(scope))
        yield replace(row, kind="derived", source=OF_HARDWARE) if held else row


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


if __name__ == "__main__":
    sys.exit(main())
