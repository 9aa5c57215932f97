"""What share of a datasheet's speed is reached, and what each layer and token costs besides.

The numbers stand in data/efficiency.csv, never beside datasheet values. A row holds for the scope
it names; an empty field stands for all.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from advisor.errors import DataError

FACTOR = "factor"
"""Unit of rows that multiply."""


@dataclass(frozen=True, kw_only=True)
class EfficiencyRow:
    """One constant in one scope; fields as the columns of data/efficiency.csv.

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
        source: where it comes from.
        date: when.
        note: what to know.
    """

    constant: str
    runtime: str | None
    family: str | None
    backend: str | None
    build: str | None
    decode_class: str | None
    value: float
    unit: str
    kind: str
    rows: int | None
    source: str
    date: str
    note: str | None

    def fits(self, case: "Scope", family: str) -> bool:
        """The row's scope covers a case."""
        return (
            self.runtime in (None, case.runtime)
            and self.family in (None, family)
            and self.backend in (None, case.backend)
            and self.build in (None, case.build)
            and self.decode_class in (None, case.decode_class)
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
    """What constants are asked for.

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


class Efficiency:
    """All constants, for one case; it remembers which were asked for.

    A constant is its most specific row times every factor whose scope covers the case, so that an
    unseen family or backend falls back to what all have in common.

    Args:
        rows: the table.
        case: whose constants are asked for.
    """

    def __init__(self, rows: Iterable[EfficiencyRow], case: Scope | None = None) -> None:
        self._by_constant: dict[str, list[EfficiencyRow]] = {}
        for row in rows:
            self._by_constant.setdefault(row.constant, []).append(row)
        self._found: dict[tuple[str, str, Scope], tuple[EfficiencyRow, ...]] = {}
        self._values: dict[tuple[str, str, Scope], float] = {}
        self._case = case or Scope()
        self._used: dict[tuple[EfficiencyRow, ...], None] = {}

    def bound(self, case: Scope) -> "Efficiency":
        """The same table for another case, nothing asked for yet."""
        other = Efficiency((), case)
        other._by_constant = self._by_constant
        other._found = self._found
        other._values = self._values
        return other

    def rows(self, constant: str, family: str = "") -> tuple[EfficiencyRow, ...]:
        """The row that holds here, then the factors upon it.

        Raises:
            DataError: no row covers this case.
        """
        key = (constant, family, self._case)
        if key not in self._found:
            self._found[key] = self._search(constant, family)
        found = self._found[key]
        self._used[found] = None
        return found

    def _search(self, constant: str, family: str) -> tuple[EfficiencyRow, ...]:
        rows = self._by_constant.get(constant, [])
        fitting = [row for row in rows if row.fits(self._case, family)]
        whole = [row for row in fitting if row.unit != FACTOR]
        if not whole:
            raise DataError(f"data/efficiency.csv has no {constant!r} for {family!r}.")
        factors = (row for row in fitting if row.unit == FACTOR)
        return (max(whole, key=lambda row: row.precision), *factors)

    def row(self, constant: str, family: str = "") -> EfficiencyRow:
        """The row that holds here, without factors.

        Raises:
            DataError: no row covers this case.
        """
        return self.rows(constant, family)[0]

    def value(self, constant: str, family: str = "") -> float:
        """The constant's value here, in the unit of its row."""
        key = (constant, family, self._case)
        if key not in self._values:
            self._values[key] = math.prod(row.value for row in self.rows(constant, family))
        else:
            self._used[self._found[key]] = None
        return self._values[key]

    @property
    def used(self) -> tuple[tuple[EfficiencyRow, ...], ...]:
        """Constants asked for so far, each with its factors."""
        return tuple(self._used)
