"""Fitted constants: rows of parameters.csv, each with its start, its limits and what it differs by.

Each constant is one value times a factor for each scope. The prior keeps factors near 1: a GPU
family with one measurement hardly moves, one with fifty does. A scope is kept only if it improves
predictions of left-out sources. Start values come from other sources than the fitted rows: probes
of links and drives, PyTorch's kernels, the values that FlexGen's authors fitted to their T4
(experimental/cost_model.py at 004ffef), and times of single operations (aiconfigurator 0.12.0).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from advisor.catalog.constants import ConstantRow
from advisor.catalog.csv_tables import assignments, read

LLAMA_CPP, FRAMEWORKS, SERVING_ENGINES = "llama.cpp", "frameworks", "engines"
"""Regimes that are fitted apart: llama.cpp and its forks, frameworks that stream, stage or batch,
and serving engines."""
DATE = "2026-11"
"""Month of the fit."""
TABLE = Path(__file__).with_name("parameters.csv")


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One constant of a regime; the fields are the columns of parameters.csv."""

    regime: str  # `LLAMA_CPP`, `FRAMEWORKS` or `SERVING_ENGINES`
    name: str  # name in data/generated/; one path between GPUs follows after a blank
    start: float  # value expected before any measurement
    least: float = 0.0  # smallest plausible value, over all scopes
    most: float = math.inf  # largest plausible value, over all scopes
    width: float  # standard deviation of the prior of its logarithm; 0 for a constant that is set
    unit: str  # unit of the value
    # standard deviation of the prior of a factor's logarithm, by the columns it differs by
    # ("family=0.3; build+decode_class=0.2")
    factors: str = ""
    # expected factors other than 1, by the values of their columns joined by blanks ("sse=0.2")
    expected: str = ""
    family: str = "family"  # column of a run that the factors' column `family` means
    # column and values of the runs that have the constant ("engine=vllm|flexgen"); empty for all
    only: str = ""
    absent: float = 0.0  # value in the other runs
    runtime: str = ""  # runtime that the constant is for; empty for all
    note: str  # description
    source: str = ""  # why it starts, ends or differs there

    @cached_property
    def scopes(self) -> Mapping[tuple[str, ...], float]:
        """Width of the prior by the columns that a factor differs by."""
        pairs = assignments(self.factors, TABLE.name)
        return {tuple(columns.split("+")): float(width) for columns, width in pairs}

    @cached_property
    def expectations(self) -> Mapping[str, float]:
        """Expected factors by the values of their columns, joined by blanks."""
        return {key: float(value) for key, value in assignments(self.expected, TABLE.name)}

    def in_scope(self, scope: Mapping[str, str]) -> bool:
        """Whether a run with these values of its columns has the constant."""
        column, _, values = self.only.partition("=")
        return not column or scope[column] in values.split("|")


def fitted_row(
    constant: str, value: float, unit: str, rows: int, note: str, source: str, **scope: str | None
) -> ConstantRow:
    """Row of a constant in a scope, assumed where no measured rows are behind it."""
    where: dict[str, Any] = {column: name or None for column, name in scope.items()}
    return ConstantRow(
        constant=constant,
        value=value,
        unit=unit,
        kind="fitted" if rows else "assumed",
        rows=rows or None,
        source=source if rows else "expected before any measurement",
        date=DATE,
        note=note,
        **where,
    )


@cache
def parameters(regime: str) -> Mapping[str, Parameter]:
    """Constants of a regime by name, in the order of the fit."""
    return {row.name: row for row in read(TABLE, Parameter) if row.regime == regime}
