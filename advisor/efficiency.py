"""What share of a datasheet's speed is reached, and what each layer and token costs besides.

The numbers stand in data/efficiency.csv, never beside datasheet values. A row holds for the scope
it names; an empty field stands for all. The most specific row that matches is used.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from advisor.errors import DataError


@dataclass(frozen=True, kw_only=True)
class EfficiencyRow:
    """One constant in one scope; fields as the columns of data/efficiency.csv.

    Attributes:
        constant: what it is ("gpu_read_share").
        runtime: the runtime it holds for; None for all.
        family: GPU family, link or host segment it holds for; None for all.
        decode_class: format class it holds for; None for all.
        value: in `unit`.
        unit: "share", "s", "B/s", "FLOP/s".
        kind: assumed, derived or fitted.
        source: where it comes from, or the rows behind it.
        date: when.
        note: what to know.
    """

    constant: str
    runtime: str | None
    family: str | None
    decode_class: str | None
    value: float
    unit: str
    kind: str
    source: str
    date: str
    note: str | None

    def fits(self, runtime: str, family: str, decode_class: str) -> bool:
        """The row's scope covers this case."""
        return (
            self.runtime in (None, runtime)
            and self.family in (None, family)
            and self.decode_class in (None, decode_class)
        )

    @property
    def precision(self) -> int:
        """How specific its scope is: a family counts most, then runtime, then format."""
        return (
            4 * (self.family is not None)
            + 2 * (self.runtime is not None)
            + (self.decode_class is not None)
        )


class Efficiency:
    """All constants, for one runtime and format class; it remembers which were asked for.

    Args:
        rows: the table.
        runtime: whose constants are asked for.
        decode_class: of the model's format.
    """

    def __init__(
        self, rows: Iterable[EfficiencyRow], runtime: str = "", decode_class: str = ""
    ) -> None:
        self._by_constant: dict[str, list[EfficiencyRow]] = {}
        for row in rows:
            self._by_constant.setdefault(row.constant, []).append(row)
        self._found: dict[tuple[str, str, str, str], EfficiencyRow] = {}
        self._runtime = runtime
        self._decode_class = decode_class
        self._used: dict[EfficiencyRow, None] = {}

    def bound(self, runtime: str, decode_class: str) -> "Efficiency":
        """The same table for another runtime and format class, nothing asked for yet."""
        other = Efficiency((), runtime, decode_class)
        other._by_constant = self._by_constant
        other._found = self._found
        return other

    def row(self, constant: str, family: str = "") -> EfficiencyRow:
        """The row that holds here.

        Raises:
            DataError: no row covers this case.
        """
        case = (constant, self._runtime, family, self._decode_class)
        if case not in self._found:
            self._found[case] = self._most_precise(*case)
        found = self._found[case]
        self._used[found] = None
        return found

    def _most_precise(
        self, constant: str, runtime: str, family: str, decode_class: str
    ) -> EfficiencyRow:
        rows = self._by_constant.get(constant, [])
        fitting = [row for row in rows if row.fits(runtime, family, decode_class)]
        if not fitting:
            raise DataError(f"data/efficiency.csv has no {constant!r} for {family!r}.")
        return max(fitting, key=lambda row: row.precision)

    @property
    def used(self) -> tuple[EfficiencyRow, ...]:
        """Rows asked for so far, each once."""
        return tuple(self._used)

    def value(self, constant: str, family: str = "") -> float:
        """The constant's value here, in the unit of its row."""
        return self.row(constant, family).value
