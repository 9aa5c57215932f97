"""Rows of data/*.csv as typed records, each field checked once.

Read with the standard library: importing pandas would take half of a command's second.
"""

import csv
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from advisor.errors import DataError


def product_folder() -> Path:
    """Folder of data/, app.py and .streamlit/: that of the clone, or advisor/installed/ of a wheel.

    A wheel copies them to advisor/installed/, which a clone does not have (pyproject.toml).
    """
    installed = Path(__file__).resolve().parents[1] / "installed"
    if installed.is_dir():
        return installed
    return installed.parents[1]


DATA = product_folder() / "data"
PROVENANCE = frozenset({"source", "source_date", "date", "retrieved", "note"})
"""Columns that any table may have beyond those of its record: where and when a row was read."""
Row = TypeVar("Row")


READERS: dict[type, Callable[[str], object]] = {
    str: str,
    int: int,
    float: float,
    bool: lambda text: {"true": True, "false": False}[text.casefold()],
}
"""Readers of a cell by the type of its field; any other, as a StrEnum, reads its text itself."""


class CsvColumn(NamedTuple):
    """Column of a file."""

    name: str  # name of the field
    kind: type  # type of its values
    read: Callable[[str], object]  # value of a text
    empty: object  # value of an empty cell
    required: bool  # no cell may be empty

    def value(self, text: str) -> object:
        """Value of a cell without blanks around it."""
        if text or self.required:
            return self.read(text)
        return self.empty


def read(path: Path, record: type[Row]) -> tuple[Row, ...]:
    """Rows of a CSV file, as instances of a dataclass whose fields are the file's columns.

    An empty field takes the field's default, else None where the type allows it, else "" for `str`.
    Columns of `PROVENANCE` that the record does not name are passed over.

    Raises:
        DataError: wrong columns, a value of the wrong type, or a file that cannot be read.
    """
    columns = _columns_of(record)
    return tuple(
        _record(cells, record, columns, f"data/{path.name} line {line}")
        for line, cells in _lines(path, columns)
    )


def _lines(path: Path, columns: Sequence[CsvColumn]) -> Iterator[tuple[int, list[str]]]:
    """Lines of a CSV file with their numbers, without the header."""
    expected = [column.name for column in columns]
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            names = next(reader, [])
            places = [
                at for at, name in enumerate(names) if name in expected or name not in PROVENANCE
            ]
            if [names[at] for at in places] != expected:
                missing = ", ".join(name for name in expected if name not in names) or "none"
                unknown = ", ".join(name for name in names if name not in expected) or "none"
                raise DataError(
                    f"{path}: columns missing: {missing}; unknown: {unknown}; or out of order."
                )
            for cells in filter(None, reader):
                if len(cells) != len(names):
                    raise DataError(
                        f"data/{path.name} line {reader.line_num}: the number of values differs "
                        f"from the {len(names)} columns."
                    )
                yield reader.line_num, [cells[at] for at in places]
    except OSError as error:
        raise DataError(
            f"{path} cannot be read: {error.strerror}; reinstall the package."
        ) from error


@cache
def texts(file: str, key: str, value: str) -> Mapping[str, str]:
    """Texts of one column of a file in data/, by the texts of another column; raises DataError for
    a missing column.
    """
    path = DATA / file
    with path.open(encoding="utf-8", newline="") as lines:
        try:
            return {row[key].strip(): row[value].strip() for row in csv.DictReader(lines)}
        except KeyError as error:
            raise DataError(f"{path} has no column {error}.") from error


class RowsByName(Mapping[str, Row]):
    """Rows of a long file by its first column in lower case; a row is made when it is looked up."""

    def __init__(self, path: Path, record: type[Row]) -> None:
        self._path = path
        self._record = record
        self._columns = _columns_of(record)
        self._cells = {
            cells[0].strip().casefold(): (line, cells)
            for line, cells in _lines(path, self._columns)
        }
        self._made: dict[str, Row] = {}

    def __getitem__(self, name: str) -> Row:
        if name not in self._made:
            line, cells = self._cells[name]
            where = f"data/{self._path.name} line {line}"
            self._made[name] = _record(cells, self._record, self._columns, where)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)


def _columns_of(record: type[Row]) -> tuple[CsvColumn, ...]:
    """Columns of a dataclass, worked out once for each file, as a file has thousands of cells."""
    annotations = typing.get_type_hints(record)
    return tuple(
        _column(field, annotations[field.name])
        for field in fields(record)  # type: ignore[arg-type]  # of any dataclass
    )


def _column(field: "Field[object]", annotation: Any) -> CsvColumn:
    optional = isinstance(annotation, types.UnionType) and type(None) in annotation.__args__
    if optional:
        kind = annotation.__args__[0]
    else:
        kind = annotation
    has_default = field.default is not MISSING
    empty: Any = ""
    if has_default:
        empty = field.default
    elif optional:
        empty = None
    return CsvColumn(
        name=field.name,
        kind=kind,
        read=READERS.get(kind, kind),
        empty=empty,
        required=not (has_default or optional or kind is str),
    )


def assignments(text: str, where: str) -> Iterator[tuple[str, str]]:
    """Keys and values of a field written `key=value; key=value`."""
    for assignment in filter(None, (part.strip() for part in text.split(";"))):
        key, equals, value = assignment.partition("=")
        if not equals:
            raise DataError(f"data/{where}: {assignment!r} must be written key=value.")
        yield key, value


def _record(row: list[str], record: type[Row], columns: Sequence[CsvColumn], where: str) -> Row:
    values = {}
    for column, text in zip(columns, map(str.strip, row), strict=True):
        try:
            values[column.name] = column.value(text)
        except (ValueError, KeyError) as error:
            kind = column.kind.__name__
            raise DataError(f"{where}, {column.name}: {text!r} is not a {kind}.") from error
    return record(**values)
