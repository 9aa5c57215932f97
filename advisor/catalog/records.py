"""Records: checked against the types of a dataclass, made from another one, printed by columns."""

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, fields, is_dataclass
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import DataError, InputError
from advisor.lazy import lazy

Made = TypeVar("Made")
Size = Annotated[float, "not negative"]  # number that means nothing below zero


def like(kind: type[Made], source: object, /, **others: Any) -> Made:
    """Record whose fields are those of another record with the same names, except `others`."""
    names = (field.name for field in fields(kind))  # type: ignore[arg-type]  # of any dataclass
    copied = {name: getattr(source, name) for name in names if name not in others}
    return kind(**copied, **others)


# Checked is what files are made of: text, numbers, flags, one of several words, "or nothing",
# tuples, text-to-text dictionaries and dataclasses of these. The message names the wrong field.

LONGEST_TEXT = 20_000
LONGEST_LIST = 10_000
LARGEST_NUMBER = 1e24  # far above any byte count, far below where sums overflow


def checked(kind: Any, value: object, where: str) -> Any:
    """Value of a type, `kind`, with lists as tuples and mappings as dataclasses."""
    origin = get_origin(kind)
    arguments = get_args(kind)
    if origin in (UnionType, Union):
        if value is None:
            return None
        return checked(arguments[0], value, where)
    if origin is Literal:
        if not isinstance(value, str) or value not in arguments:
            raise _wrong(where, value, f"one of {', '.join(arguments)}")
        return value
    if origin is tuple:
        items = _bounded(list | tuple, value, where, "a list")
        return tuple(checked(arguments[0], item, f"{where}[{at}]") for at, item in enumerate(items))
    if origin is dict:
        texts = _bounded(Mapping, value, where, "an object", " of text")
        return {
            _text(key, f"{where}: key"): _text(text, f"{where}[{str(key)[:80]!r}]")
            for key, text in texts.items()
        }
    if is_dataclass(kind):
        return _record(kind, value, where)
    return _LEAVES[kind](value, where)


def _wrong(where: str, value: object, wanted: str) -> InputError:
    if isinstance(value, str | int | float | NoneType):
        shown = repr(value)
    else:
        shown = type(value).__name__
    return InputError(f"{where} is {shown[:80]}; it should be {wanted}.")


def _bounded(kinds: Any, value: Any, where: str, wanted: str, of: str = "") -> Any:
    """Value of some kinds with at most `LONGEST_LIST` entries."""
    if not isinstance(value, kinds):
        raise _wrong(where, value, f"{wanted}{of}")
    if len(value) > LONGEST_LIST:
        raise _wrong(where, len(value), f"{wanted} of at most {LONGEST_LIST:,} entries")
    return value


def _record(kind: Any, value: object, where: str) -> Any:
    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        raise _wrong(where, value, "an object")
    values = {field.name: _field(field, value, where) for field in fields(kind)}
    try:
        return kind(**values)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _field(field: Field[Any], record: Mapping[str, object], where: str) -> Any:
    path = f"{where}.{field.name}"
    if field.name in record:
        return checked(field.type, record[field.name], path)
    if field.default is not MISSING:
        return field.default
    if field.default_factory is not MISSING:
        return field.default_factory()
    raise InputError(f"{path} is missing; the file is not whole.")


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong(where, value, "text")
    if len(value) > LONGEST_TEXT:
        raise InputError(f"{where} has {len(value):,} characters; at most {LONGEST_TEXT:,} fit.")
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise _wrong(where, value, "text without NUL and half characters, which no file can hold")
    return str(value)


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(where, value, "true or false")
    return value


def _whole(value: object, where: str) -> int:
    if not isinstance(value, Integral):
        raise _wrong(where, value, "a whole number")
    return int(_number(value, where))


def _number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise _wrong(where, value, "a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not abs(number) <= LARGEST_NUMBER:  # so that NaN, which compares false, is refused too
        raise _wrong(where, number, "a finite number of at most 1e24")
    return number


def _size(value: object, where: str) -> float:
    size = _number(value, where)
    if size < 0:
        raise InputError(f"{where} is {size}; it cannot be below zero.")
    return size


_LEAVES = {str: _text, bool: _flag, int: _whole, float: _number, Size: _size}


# Columns of the records that commands, reports and files print, stated once in data/columns.csv: an
# interface for other programs, in SI units that the names say.

FORMS: Mapping[str, Callable[[Any], Any] | None] = {
    "": None,
    "word": lambda kind: kind.value,
    "number": float,
    "whole": int,
    "text": lambda text: text or None,
    "list": list,
    "time": lambda when: when.isoformat(),
    "joined": ", ".join,
    "yes": lambda flag: "yes" if flag else "no",
}


@dataclass(frozen=True, kw_only=True)
class Column:
    """One row of data/columns.csv."""

    record: str  # kind of record
    name: str  # key of the value
    path: str  # attributes that lead to it ("speed.decode"); empty where that is the name
    # a key of `FORMS`, or a kind of record behind "record" or "records" for what holds one or many;
    # `given` for a value that is no attribute
    form: str
    unit: str  # unit, where it is stated beside the value

    @lazy
    def _names(self) -> Sequence[str]:
        return (self.path or self.name).split(".")

    @lazy
    def _form(self) -> Callable[[Any], Any] | None:
        number, _, kind = self.form.partition(" ")
        if not kind:
            return FORMS[self.form]
        if number == "record":
            return lambda held: as_record(kind, held)
        return lambda held: [as_record(kind, each) for each in held]

    def value(self, source: Any) -> Any:
        """Value of a record; None where a step of the path is None.

        Raises:
            DataError: the path names no attribute.
            AttributeError: an attribute on the way fails while it is computed.
        """
        value = source
        for name in self._names:
            if value is None:
                return None
            holder = value
            try:
                value = getattr(holder, name)
            except AttributeError as error:
                if error.obj is not holder or error.name != name:
                    raise  # a fault inside the attribute, which is there
                raise DataError(
                    f"{DATA / 'columns.csv'}: the column {self.name!r} of {self.record!r} has no "
                    f"value: {type(holder).__name__} has no {name!r}, which its path "
                    f"{'.'.join(self._names)} names. Give the path of a field that is there."
                ) from error
        if self._form is None or value is None:
            return value
        return self._form(value)


@cache
def columns(record: str) -> tuple[Column, ...]:
    """Columns of a kind of record, in their order."""
    return tuple(row for row in read(DATA / "columns.csv", Column) if row.record == record)


def as_record(record: str, source: Any, /, **given: Any) -> dict[str, Any]:
    """Record of a kind with the values of its source, except those that are given."""
    return {
        column.name: given[column.name] if column.name in given else column.value(source)
        for column in columns(record)
    }


def csv_text(rows: Iterable[object]) -> str:
    """CSV text of one or more rows, as `csv_tables.read` takes it; None is an empty field."""
    records = [asdict(row) for row in rows]  # type: ignore[call-overload]  # of any dataclass
    file = io.StringIO()
    writer = csv.DictWriter(file, list(records[0]), lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow({key: "" if value is None else value for key, value in record.items()})
    return file.getvalue()
