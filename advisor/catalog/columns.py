"""Columns of the records that commands, reports and files print, each stated once in
data/columns.csv: an interface for other programs, in SI units that the names say.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from advisor.catalog.csv_tables import DATA, read

FORMS: Mapping[str, Callable[[Any], Any]] = {
    "": lambda value: value.value if isinstance(value, Enum) else value,
    "number": float,
    "whole": int,
    "text": lambda text: text or None,
    "list": list,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One row of data/columns.csv."""

    record: str  # kind of record
    name: str  # key of the value
    path: str  # attributes that lead to it ("speed.decode"); empty where that is the name
    form: str  # a key of `FORMS`; `given` for a value that is no attribute
    unit: str  # unit, where it is stated beside the value

    def value(self, source: Any) -> Any:
        """Value of a record; None where an attribute on the way is."""
        for name in (self.path or self.name).split("."):
            if source is None:
                return None
            at_place = isinstance(source, Mapping | Sequence) and not hasattr(source, name)
            key = int(name) if name.isdecimal() else name
            source = source[key] if at_place else getattr(source, name)
        return None if source is None else FORMS[self.form](source)


@cache
def columns(record: str) -> tuple[Column, ...]:
    """Columns of a kind of record, in their order."""
    return tuple(row for row in read(DATA / "columns.csv", Column) if row.record == record)


def as_record(record: str, source: Any, **given: Any) -> dict[str, Any]:
    """Record of a kind from its source, with some values given."""
    return {
        column.name: given[column.name] if column.name in given else column.value(source)
        for column in columns(record)
    }
