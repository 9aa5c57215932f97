"""Constants of the cost model: shares of datasheet speeds, fixed costs per layer and token.

The numbers stand in data/generated/efficiency.csv, never beside datasheet values. A row holds for
the scope it names; an empty field stands for all.
"""

import math
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import DataError

STACKED = "|"
"""Between the families, or the backends, of several GPUs that are asked for at once."""
FACTOR = "factor"
"""Unit of rows that multiply."""


@dataclass(frozen=True, kw_only=True)
class ConstantRow:
    """One constant in one scope; fields as the columns of data/generated/efficiency.csv.

    Attributes:
        constant: what it is ("gpu_read_share").
        runtime: the runtime it holds for; None for all.
        family: GPU family, link, host segment or arithmetic it holds for; None for all.
        backend: the runtime's way to the GPU it holds for ("cuda", "vulkan"); None for all.
        build: the build it holds for ("2024", "ik"); None for all.
        decode_class: format class it holds for; None for all.
        value: in `unit`.
        unit: "share", "s", "B/s", "FLOP/s", or "factor" for one that multiplies the others.
        kind: assumed, derived, measured or fitted.
        rows: measurements it was fitted on; None where it was not.
        spread: standard deviation of its logarithm, from the fit's curvature; None where it was
            not fitted.
        source: where it comes from.
        date: when.
        note: what to know.
    """

    constant: str
    runtime: str | None = None
    family: str | None = None
    backend: str | None = None
    build: str | None = None
    decode_class: str | None = None
    value: float
    unit: str
    kind: str
    rows: int | None = None
    spread: float | None = None
    source: str
    date: str = ""
    note: str | None = None

    def fits(self, scope: "Scope", family: str) -> bool:
        """The row holds in a scope."""
        return (
            self.runtime in (None, scope.runtime)
            and self.family in (None, family)
            and self.backend in (None, scope.backend)
            and self.build in (None, scope.build)
            and self.decode_class in (None, scope.decode_class)
        )

    @property
    def precision(self) -> int:
        """How specific its scope is: a family counts most, then runtime, then format."""
        return (
            4 * (self.family is not None)
            + 2 * (self.runtime is not None)
            + (self.decode_class is not None)
        )


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Scope that selects constants: runtime, format class, backend, build.

    Attributes:
        runtime: key of the runtime.
        decode_class: of the model's format.
        backend: the runtime's way to the GPU; "cpu" where there is none.
        build: "2024" for builds before October 2024, "ik" for the ik_llama.cpp fork, else empty.
    """

    runtime: str = ""
    decode_class: str = ""
    backend: str = ""
    build: str = ""


@dataclass(frozen=True, kw_only=True)
class ScopedConstant:
    """A constant in one scope: its row and the factors upon it, and their product.

    The product is a float; for several GPUs at once an array of theirs.
    """

    rows: tuple[ConstantRow, ...]
    value: Any


class Constants:
    """All constants, for one scope.

    A constant is its most specific row times every factor whose scope covers the case, so that an
    unseen family or backend falls back to what all have in common. A runtime with a row of its own
    takes its own factors alone.

    Args:
        rows: the table.
        scope: of the case.
    """

    def __init__(self, rows: Iterable[ConstantRow], scope: Scope | None = None) -> None:
        self._by_constant: dict[str, list[ConstantRow]] = {}
        for row in rows:
            self._by_constant.setdefault(row.constant, []).append(row)
        self._scope = scope or Scope()
        self._measured: Mapping[tuple[str, str], ConstantRow] = {}
        self._by_scope: dict[Scope, dict[tuple[str, str], ScopedConstant]] = {}
        self._known = self._by_scope.setdefault(self._scope, {})

    def with_measured(self, rows: Iterable[ConstantRow]) -> "Constants":
        """Constants of which some were measured; those hold as they are, without factors.

        Args:
            rows: one for each constant, or for each constant and family.
        """
        measured = copy(self)
        measured._measured = {(row.constant, row.family or ""): row for row in rows}
        measured._by_scope = {}
        measured._known = measured._by_scope.setdefault(self._scope, {})
        return measured

    def bound(self, scope: Scope) -> "Constants":
        """Constants of the same table for another scope."""
        bound = copy(self)
        bound._scope = scope
        bound._known = self._by_scope.setdefault(scope, {})
        return bound

    @property
    def scope(self) -> Scope:
        """Whose constants these are."""
        return self._scope

    def scaled(self, factors: Mapping[str, float], source: str) -> "Constants":
        """Constants of the same scope, some of them multiplied.

        Args:
            factors: by constant.
            source: who says so.
        """
        rows = (row for rows in self._by_constant.values() for row in rows)
        more = (_factor(constant, factor, source) for constant, factor in factors.items())
        scaled = Constants((*rows, *more), self._scope)
        scaled._measured = {
            key: replace(row, value=row.value * factors.get(row.constant, 1.0))
            for key, row in self._measured.items()
        }
        return scaled

    def _look_up(self, constant: str, family: str) -> ScopedConstant:
        key = (constant, family)
        scoped = self._known.get(key)
        if scoped is None:
            scoped = self._known[key] = self._search(constant, family)
        return scoped

    def _search(self, constant: str, family: str) -> ScopedConstant:
        measured = self._measured.get((constant, family)) or self._measured.get((constant, ""))
        if measured is not None:
            return ScopedConstant(rows=(measured,), value=measured.value)
        if STACKED in family or STACKED in self._scope.backend:
            return self._search_each(constant, family)
        rows = self._by_constant.get(constant, [])
        fitting = [row for row in rows if row.fits(self._scope, family)]
        whole = [row for row in fitting if row.unit != FACTOR]
        if not whole:
            raise DataError(f"data/generated/efficiency.csv has no {constant!r} for {family!r}.")
        first = max(whole, key=lambda row: row.precision)
        alike = (row for row in fitting if row.unit == FACTOR and row.runtime == first.runtime)
        factors = (first, *alike)
        return ScopedConstant(rows=factors, value=math.prod(row.value for row in factors))

    def _search_each(self, constant: str, family: str) -> ScopedConstant:
        """A constant for each of several GPUs, whose families or backends are joined."""
        families, backends = family.split(STACKED), self._scope.backend.split(STACKED)
        count = max(len(families), len(backends))
        each = [
            self.bound(replace(self._scope, backend=backend))._look_up(constant, part)
            for part, backend in zip(
                families * (count // len(families)),
                backends * (count // len(backends)),
                strict=True,
            )
        ]
        values = [float(scoped.value) for scoped in each]
        same = len(set(values)) == 1
        return ScopedConstant(rows=each[0].rows, value=values[0] if same else np.array(values))

    def row(self, constant: str, family: str = "") -> ConstantRow:
        """The row that holds here, without factors.

        Raises:
            DataError: no row covers this case.
        """
        return self._look_up(constant, family).rows[0]

    def value(self, constant: str, family: str = "") -> float:
        """The constant's value here, in the unit of its row.

        Raises:
            DataError: no row covers this case.
        """
        value: float = self._look_up(constant, family).value
        return value


class RecordedConstants(Constants):
    """Constants that record which were looked up, to list what a figure rests on.

    Args:
        constants: bound to the case.
    """

    def __init__(self, constants: Constants) -> None:
        vars(self).update(vars(constants))
        self._looked_up: dict[tuple[str, str], ScopedConstant] = {}

    def _look_up(self, constant: str, family: str) -> ScopedConstant:
        scoped = super()._look_up(constant, family)
        return self._looked_up.setdefault((constant, family), scoped)

    @property
    def used(self) -> tuple[tuple[ConstantRow, ...], ...]:
        """Constants looked up so far, each with its factors."""
        return tuple(scoped.rows for scoped in self._looked_up.values())


def _factor(constant: str, value: float, source: str) -> ConstantRow:
    return ConstantRow(constant=constant, value=value, unit=FACTOR, kind="assumed", source=source)


@cache
def fitted_constants() -> Constants:
    """Shares of peak and fixed costs; those of serving engines come first and so win."""
    files = (DATA / "generated/engine_kernels.csv", DATA / "generated/efficiency.csv")
    return Constants(row for file in files for row in read(file, ConstantRow))
