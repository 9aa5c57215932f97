"""Constants of the cost model: shares of datasheet speeds, fixed costs per layer and token.

The numbers are kept in data/generated/efficiency.csv, apart from the datasheet values. A row
applies to the scope it names; an empty field matches everything, and a runtime or family may be a
list, divided by "|".
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import DataError

FACTOR = "factor"  # unit of rows that multiply another row
BETWEEN = "|"  # sign between the runtimes or families that a line of a table lists
Names: TypeAlias = str | tuple[str, ...]
"""A name, or where those of several GPUs or formats differ one for each, as a number may be an
array."""


def names_of(names: Names) -> tuple[str, ...]:
    """Names as a tuple: a single one where all share it."""
    if isinstance(names, str):
        return (names,)
    return names


def shared_name(names: Names) -> str:
    """Name that several things share; empty where their names differ."""
    if isinstance(names, str):
        return names
    return ""


def in_common(names: Iterable[str]) -> Names:
    """Common name of several things; one for each where their names differ."""
    listed = tuple(names)
    if len(set(listed)) == 1:
        return listed[0]
    return listed


@dataclass(frozen=True, kw_only=True)
class ConstantRow:
    """One constant in one scope; the fields are the columns of data/generated/efficiency.csv."""

    constant: str  # name of the constant ("gpu_read_share")
    runtime: str | None = None  # runtime it applies to, or several; None for all
    # GPU family, link, host segment or arithmetic it applies to; None for all
    family: str | None = None
    # GPU interface of the runtime it applies to ("cuda", "vulkan"); None for all
    backend: str | None = None
    build: str | None = None  # build it applies to ("2024", "ik"); None for all
    decode_class: str | None = None  # format class it applies to; None for all
    value: float  # number in `unit`
    # "share", "s", "B/value", "B/s", "FLOP/s", or "factor" for a row that multiplies another
    unit: str
    kind: str  # assumed, derived, measured or fitted
    rows: int | None = None  # number of measurements in the fit; None where it was not fitted
    # standard deviation of its logarithm, from the fit's curvature; None where it was not fitted
    spread: float | None = None
    source: str  # origin of the value
    date: str = ""  # date of the source or of the fit; empty where unknown
    note: str | None = None  # description for the list of assumptions; None for the constant's name

    @property
    def is_factor(self) -> bool:
        """Whether the row is a factor on other rows."""
        return self.unit == FACTOR

    def fits(self, scope: "Scope") -> bool:
        """Whether the row applies to a scope, for any family."""
        return (
            self.runtime in (None, scope.runtime)
            and self.backend in (None, scope.backend)
            and self.build in (None, scope.build)
            and self.decode_class in (None, scope.decode_class)
        )

    @property
    def precision(self) -> int:
        """Specificity of the row's scope: a family counts most, then runtime, build, format,
        backend.
        """
        return (
            16 * (self.family is not None)
            + 8 * (self.runtime is not None)
            + 4 * (self.build is not None)
            + 2 * (self.decode_class is not None)
            + (self.backend is not None)
        )


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Scope that selects constants: runtime, format class, backend, build."""

    runtime: str = ""  # key of the runtime
    decode_class: Names = ""  # class of the model's format; of several formats, one for each
    backend: Names = ""  # GPU interface of the runtime; "cpu" without a GPU
    # "2024" for builds before October 2024, "ik" for the ik_llama.cpp fork, else empty
    build: str = ""

    @property
    def interface(self) -> str:
        """Backend of all machines; empty where their backends differ."""
        return shared_name(self.backend)


@dataclass(frozen=True, kw_only=True, slots=True)
class ScopedConstant:
    """Value of a constant in one scope, with the rows that it comes from."""

    rows: tuple[ConstantRow, ...]  # row of the constant, followed by the factors that multiply it
    value: Any  # product of the rows; a float, or an array with a value for each of several GPUs


class Constants:
    """All constants in one scope.

    The value of a constant is its most specific row times every factor that applies. A family or
    backend without rows of its own thus gets the common value. Factors apply to rows of the same
    runtime only.
    """

    OF_PART: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "GPU reads": ("gpu_read_share", "gpu_kv_share"),  # in proportion to the read rate of a GPU
        # fixed times of a GPU, and the operations that its cores take to unpack a weight
        "GPU times": (
            "gpu_layer",
            "gpu_expert_layer",
            "gpu_state_layer",
            "gpu_scan_layer",
            "gpu_stream_layer",
            "gpu_latent_layer",
            "gpu_latent_value",
            "gpu_unpack_operations",
        ),
        # in proportion to a GPU's speed in a prompt
        "GPU products": ("gpu_flop_share", "gpu_attention_share"),
        # fixed times of a processor
        "CPU times": ("cpu_layer", "cpu_barrier", "cpu_expert_layer", "cpu_state_layer"),
        # in proportion to the speed of the cores
        "core rates": (
            "core_decode_rate",
            "core_flops",
            "core_attention_flops",
            "core_batch_attention_flops",
            "core_cache_rate",
        ),
    }
    """Names of the constants that a change of one part concerns, by what it changes."""

    def __init__(self, rows: Iterable[ConstantRow], scope: Scope | None = None) -> None:
        self.rows: dict[str, list[ConstantRow]] = {}  # all of the table, by name of the constant
        for row in rows:
            self.rows.setdefault(row.constant, []).append(row)
        self.scope = scope or Scope()
        self._measured: Mapping[tuple[str, Names], ConstantRow] = {}
        self._by_scope: dict[Scope, dict[tuple[str, Names], ScopedConstant]] = {}
        self._known = self._by_scope.setdefault(self.scope, {})
        self._rows_in: dict[tuple[Scope, str], tuple[ConstantRow, ...]] = {}
        self._looked_up: dict[tuple[str, Names], ScopedConstant] | None = None
        self._pairs: tuple[npt.NDArray[np.int_], npt.NDArray[np.int_]] | None = None

    def with_measured(self, rows: Iterable[ConstantRow]) -> "Constants":
        """Copy with some constants measured; factors do not change a measured row."""
        measured = copy(self)
        measured._measured = {(row.constant, row.family or ""): row for row in rows}
        measured._by_scope = {}
        measured._known = measured._by_scope.setdefault(self.scope, {})
        return measured

    def bound(self, scope: Scope) -> "Constants":
        """Copy for another scope."""
        bound = copy(self)
        bound.scope = scope
        bound._known = self._by_scope.setdefault(scope, {})
        return bound

    def recorded(self) -> "Constants":
        """Copy that keeps a list of the constants that are looked up, for an estimate's
        assumptions.
        """
        recorded = copy(self)
        recorded._looked_up = {}
        return recorded

    @property
    def used(self) -> tuple[tuple[ConstantRow, ...], ...]:
        """Constants looked up in a recorded copy, each with its factors."""
        return tuple(scoped.rows for scoped in (self._looked_up or {}).values())

    def for_pairs(self, classes: npt.NDArray[np.int_], gpus: npt.NDArray[np.int_]) -> "Constants":
        """Copy whose values have one number for each pair of a class of formats and a GPU, shape
        (pairs,).

        Both are given by their places among those of the scope.
        """
        picked = copy(self)
        picked._pairs = classes, gpus
        return picked

    def scaled(self, factors: Mapping[str, float], source: str) -> "Constants":
        """Copy with some constants multiplied in every runtime."""
        rows = (row for rows in self.rows.values() for row in rows)
        more = (
            ConstantRow(
                constant=name,
                runtime=runtime,
                value=factor,
                unit=FACTOR,
                kind="assumed",
                source=source,
            )
            for name, factor in factors.items()
            for runtime in {row.runtime for row in self.rows.get(name, ())}
        )
        scaled = Constants((*rows, *more), self.scope)
        scaled._measured = {
            key: replace(row, value=row.value * factors.get(row.constant, 1.0))
            for key, row in self._measured.items()
        }
        return scaled

    def _look_up(self, constant: str, family: Names) -> ScopedConstant:
        key = (constant, family)
        if key not in self._known:
            self._known[key] = self._search(constant, family)
        if self._looked_up is not None:
            self._looked_up.setdefault(key, self._known[key])
        return self._known[key]

    def _search(self, constant: str, family: Names) -> ScopedConstant:
        measured = self._measured.get((constant, family)) or self._measured.get((constant, ""))
        if measured is not None:
            return ScopedConstant(rows=(measured,), value=measured.value)
        several = (family, self.scope.backend, self.scope.decode_class)
        if any(not isinstance(names, str) for names in several):
            return self._search_several(constant, family)
        fitting = [row for row in self._in_scope(constant) if row.family in (None, family)]
        bases = [row for row in fitting if not row.is_factor]
        if not bases:
            raise DataError(f"data/generated/efficiency.csv has no {constant!r} for {family!r}.")
        first = max(bases, key=lambda row: row.precision)
        alike = (row for row in fitting if row.is_factor and row.runtime == first.runtime)
        factors = (first, *alike)
        return ScopedConstant(rows=factors, value=math.prod(row.value for row in factors))

    def _in_scope(self, constant: str) -> tuple[ConstantRow, ...]:
        """Rows of a constant that apply to the scope, for some family."""
        key = (self.scope, constant)
        if key not in self._rows_in:
            rows = self.rows.get(constant, ())
            self._rows_in[key] = tuple(row for row in rows if row.fits(self.scope))
        return self._rows_in[key]

    def _search_several(self, constant: str, family: Names) -> ScopedConstant:
        """Constant for several classes of formats, or for GPUs with different families or backends.

        The value is of shape (classes, GPUs); (GPUs,) where all classes share it, (classes, 1)
        where all GPUs do, and a number where both do.
        """
        classes = names_of(self.scope.decode_class)
        pairs, gpus = _distinct(family, self.scope.backend)
        scopes = {
            (name, backend): self.bound(replace(self.scope, decode_class=name, backend=backend))
            for name in classes
            for backend in {backend for _, backend in pairs}
        }
        by_class = [
            [scopes[name, backend]._look_up(constant, part) for part, backend in pairs]
            for name in classes
        ]
        values = np.array([[float(scoped.value) for scoped in of_class] for of_class in by_class])
        if np.any(values != values[:, :1]):
            values = values[:, gpus]
        else:
            values = values[:, :1]
        if np.all(values == values[0]):
            values = values[0]
        return ScopedConstant(
            rows=by_class[0][0].rows, value=float(values[0]) if values.shape == (1,) else values
        )

    def value_by_family(self, constant: str, families: Names) -> Any:
        """Value of a constant, where families are given one for each pair of `for_pairs`.

        Paths between cards are such families, as they follow from figures of each pair; the
        families that `value` takes are one for each machine.
        """
        if self._pairs is None or isinstance(families, str):
            return self.value(constant, families)
        names = names_of(self.scope.decode_class)
        backends = names_of(self.scope.backend)
        classes, gpus = (
            places if len(listed) > 1 else np.zeros_like(places)
            for places, listed in zip(self._pairs, (names, backends), strict=True)
        )
        keys = [
            (names[class_at], backends[gpu_at], family)
            for class_at, gpu_at, family in zip(classes, gpus, families, strict=True)
        ]
        values = {}
        for name, backend, family in dict.fromkeys(keys):
            scope = replace(self.scope, decode_class=name, backend=backend)
            row = self.bound(scope)._look_up(constant, family)
            values[name, backend, family] = float(row.value)
        return np.array([values[key] for key in keys])

    def row(self, constant: str, family: Names = "") -> ConstantRow:
        """Row of a constant in this scope, without factors."""
        return self._look_up(constant, family).rows[0]

    def value(self, constant: str, family: Names = "") -> float:
        """Value of a constant in this scope, in the unit of its row, shape (pairs,) where pairs
        differ.

        Raises DataError where no row applies.
        """
        value: Any = self._look_up(constant, family).value
        if self._pairs is not None and np.ndim(value):
            classes, gpus = self._pairs
            if value.ndim == 1:
                value = value[gpus]
            elif value.shape[-1] > 1:
                value = value[classes, gpus]
            else:
                value = value[classes, 0]
        picked: float = value
        return picked

    @staticmethod
    @cache
    def fitted() -> "Constants":
        """Constants of data/generated/; of equally specific rows, those of serving engines come
        first.
        """
        files = tuple(DATA / "generated" / name for name in TABLES)
        return Constants(row for file in files for row in constant_rows(file))


@lru_cache(maxsize=1024)
def _distinct(
    families: Names, backends: Names
) -> tuple[tuple[tuple[str, str], ...], npt.NDArray[np.int_]]:
    """Distinct pairs of family and backend of several GPUs, and the place of each GPU's pair."""
    parts = names_of(families)
    interfaces = names_of(backends)
    count = max(len(parts), len(interfaces))
    pairs = list(
        zip(parts * (count // len(parts)), interfaces * (count // len(interfaces)), strict=True)
    )
    distinct = tuple(dict.fromkeys(pairs))
    number = {pair: at for at, pair in enumerate(distinct)}
    return distinct, np.array([number[pair] for pair in pairs])


def constant_rows(path: Path) -> Iterator[ConstantRow]:
    """Rows of a table, one for each of the runtimes and families that a line lists."""
    for row in read(path, ConstantRow):
        if BETWEEN not in f"{row.runtime}{row.family}":
            yield row
            continue
        listed = ((row.runtime or "").split(BETWEEN), (row.family or "").split(BETWEEN))
        for runtime, family in product(*listed):
            yield replace(row, runtime=runtime or None, family=family or None)


TABLES = ("engine_kernels.csv", "efficiency.csv", "tiers.csv")
"""Tables of constants; of equally specific rows the first counts."""
