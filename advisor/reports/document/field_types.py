"""Check of parsed content against the types of a dataclass, with the wrong field in the message.

Covers what a report is made of: text, numbers, flags, one of several words, "or nothing", tuples,
text-to-text dictionaries and dataclasses of these.
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

from advisor.errors import InputError

LONGEST_TEXT = 20_000
LONGEST_LIST = 10_000
LARGEST_NUMBER = 1e24  # far above any byte count, far below where sums overflow


def checked(kind: Any, value: object, where: str) -> Any:
    """`value` as the type `kind`, with lists as tuples and mappings as dataclasses.

    Args:
        kind: one of the types above.
        value: parsed content.
        where: name of the field, for the message.

    Raises:
        InputError: another type; the message names the field.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return _optional(arguments, value, where)
    if origin is Literal:
        return _one_of(arguments, value, where)
    if origin is tuple:
        return _tuple(arguments[0], value, where)
    if origin is dict:
        return _texts(value, where)
    return _record(kind, value, where) if is_dataclass(kind) else _LEAVES[kind](value, where)


def _wrong(where: str, value: object, wanted: str) -> InputError:
    shown = repr(value) if isinstance(value, str | int | float | NoneType) else type(value).__name__
    return InputError(f"{where} is {shown[:80]}; it should be {wanted}.")


def _optional(arguments: tuple[Any, ...], value: object, where: str) -> Any:
    if value is None:
        return None
    return checked(next(kind for kind in arguments if kind is not NoneType), value, where)


def _one_of(words: tuple[Any, ...], value: object, where: str) -> Any:
    if not isinstance(value, str) or value not in words:
        raise _wrong(where, value, f"one of {', '.join(words)}")
    return value


def _tuple(kind: Any, value: object, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise _wrong(where, value, "a list")
    if len(value) > LONGEST_LIST:
        raise _wrong(where, len(value), f"a list of at most {LONGEST_LIST:,} entries")
    return tuple(checked(kind, item, f"{where}[{place}]") for place, item in enumerate(value))


def _texts(value: object, where: str) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise _wrong(where, value, "an object of text")
    if len(value) > LONGEST_LIST:
        raise _wrong(where, len(value), f"an object of at most {LONGEST_LIST:,} entries")
    return {
        _text(key, f"{where}: key"): _text(text, f"{where}[{str(key)[:80]!r}]")
        for key, text in value.items()
    }


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
    raise InputError(f"{path} is missing; this is not a whole report.")


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


_LEAVES = {str: _text, bool: _flag, int: _whole, float: _number}
