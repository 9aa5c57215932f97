"""Rows of data/*.csv as typed records, each field checked once.

Read with the standard library: importing pandas would take half of a command's second.
"""

import csv
import io
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from advisor.errors import DataError
from advisor.paths import product_folder

DATA = product_folder() / "data"
Row = TypeVar("Row")


def _true_or_false(text: str) -> bool:
    return {"true": True, "false": False}[text.casefold()]


READERS: dict[object, Callable[[str], object]] = {
    str: str,
    int: int,
    float: float,
    bool: _true_or_false,
}


def read(path: Path, record: type[Row]) -> tuple[Row, ...]:
    """All rows of a CSV file as instances of a dataclass whose fields are the file's columns.

    An empty field takes the field's default, else None where the type allows it, else "" for `str`.

    Raises:
        DataError: wrong columns, a value of the wrong type, or a file that cannot be read.
    """
    annotations = typing.get_type_hints(record)
    columns = fields(record)  # type: ignore[arg-type]
    expected = [field.name for field in columns]
    defaults = frozenset(field.name for field in columns if field.default is not MISSING)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if list(reader.fieldnames or ()) != expected:
                raise DataError(_columns(path, expected, list(reader.fieldnames or ())))
            return tuple(
                _record(row, record, annotations, defaults, f"{path.name} line {reader.line_num}")
                for row in reader
            )
    except OSError as error:
        raise DataError(
            f"{path} cannot be read: {error.strerror}; reinstall the package."
        ) from error


def assignments(text: str, where: str) -> Iterator[tuple[str, str]]:
    """Keys and values of a field written `key=value; key=value`.

    Args:
        text: content of the field.
        where: name of the file, for errors.

    Raises:
        DataError: a part without an equals sign.
    """
    for assignment in filter(None, (part.strip() for part in text.split(";"))):
        key, equals, value = assignment.partition("=")
        if not equals:
            raise DataError(f"data/{where}: {assignment!r} must be written key=value.")
        yield key, value


def _record(
    row: dict[str, str],
    record: type[Row],
    annotations: dict[str, Any],
    defaults: frozenset[str],
    where: str,
) -> Row:
    if None in row or None in row.values():
        raise DataError(
            f"data/{where}: the number of values differs from the {len(annotations)} columns."
        )
    values = {
        name: _value(text.strip(), annotations[name], f"{where}, {name}")
        for name, text in row.items()
        if text.strip() or name not in defaults
    }
    return record(**values)


def _value(text: str, annotation: Any, where: str) -> object:
    optional = isinstance(annotation, types.UnionType) and type(None) in annotation.__args__
    kind = annotation.__args__[0] if optional else annotation
    if not text and (optional or kind is str):
        return None if optional else ""
    try:
        return READERS[kind](text)
    except (ValueError, KeyError) as error:
        raise DataError(f"data/{where}: {text!r} is not a {kind.__name__}.") from error


def _columns(path: Path, expected: list[str], columns: list[str]) -> str:
    missing = ", ".join(name for name in expected if name not in columns) or "none"
    unknown = ", ".join(name for name in columns if name not in expected) or "none"
    return f"{path}: columns missing: {missing}; unknown: {unknown}; or out of order."


def as_text(rows: Iterable[Row]) -> str:
    """CSV text of one or more rows, in the form that `read` takes; None is an empty field."""
    records = [asdict(row) for row in rows]  # type: ignore[call-overload]
    file = io.StringIO()
    writer = csv.DictWriter(file, list(records[0]), lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow({key: "" if value is None else value for key, value in record.items()})
    return file.getvalue()
