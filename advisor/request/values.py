"""A request as values by name: scenario files, cases of claims, Python."""

from collections.abc import Mapping
from typing import Any

from advisor.catalog.inputs import INPUTS, Input, Kind
from advisor.errors import InputError, UnknownName
from advisor.request.request import Request


def from_values(values: Mapping[str, Any], where: str = "the request") -> Request:
    """Request of values by name, where None leaves an input open; texts of numbers may have their
    unit ("64GB", "32k").

    Raises:
        InputError: no such input, or a value of another kind; the message names it, and its place.
    """
    check_names(values, tuple(INPUTS), where)
    typed = {name: value for name, value in values.items() if value is not None}
    try:
        return Request(**{name: _value(INPUTS[name], typed[name], where) for name in typed})
    except InputError as error:
        if str(error).startswith(where):
            prefix = ""
        else:
            prefix = f"{where}: "
        raise InputError(f"{prefix}{error}") from error


MOST_NAMED = 20  # names that an error lists


def check_names(values: object, allowed: tuple[str, ...], where: str) -> None:
    """Check that values are a mapping whose names are all allowed.

    Raises:
        InputError: the message names the close ones.
    """
    if values is None:
        raise InputError(f"{where} is empty; it should be keys with values.")
    if not isinstance(values, Mapping):
        raise InputError(f"{where} is {str(values)[:80]!r}; it should be keys with values.")
    for key in values:
        if key not in allowed:
            close = UnknownName("key", str(key), allowed).close
            if close:
                meant = f"; did you mean {close[0]}?"
            else:
                meant = f"; known are {', '.join(allowed[:MOST_NAMED])}"
                meant += " and others." if len(allowed) > MOST_NAMED else "."
            raise InputError(f"{where} has the key {str(key)[:80]!r}, which nothing reads{meant}")


def _value(entry: Input, value: Any, where: str) -> Any:
    """Value of the input's kind."""
    path = f"{where}.{entry.name}"
    try:
        value = _read(entry, value)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    if wanted := entry.wanted(value):
        raise InputError(f"{path} is {str(value)[:80]!r}; it should be {wanted}.")
    return value


def _read(entry: Input, value: Any) -> Any:
    """Value of a text where the input is no name, also of the texts of a list or mapping."""
    if isinstance(value, str) and (entry.limits is not None or entry.kind == Kind.TEXTS):
        return entry.read(value)
    if isinstance(value, Mapping | list):
        entry.check_length([*value])
    if isinstance(value, Mapping):
        return tuple(_price(entry, name, amount) for name, amount in value.items())
    if isinstance(value, list):
        return tuple(_part(entry, part) for part in value)
    return value


def _price(entry: Input, name: object, amount: Any) -> tuple[Any, Any]:
    """Name with its amount; a text of an amount is read as on the command line."""
    if entry.kind == Kind.PRICES and isinstance(name, str) and isinstance(amount, str):
        read = entry.read(f"{name}={amount}".replace(";", ","))
        return next(iter(read))  # type: ignore[no-any-return]  # a pair, as the registry reads it
    return name, amount


def _part(entry: Input, part: Any) -> Any:
    """Value of a list: the number of a size, or a pair as a tuple."""
    if isinstance(part, str) and entry.kind == Kind.SIZES:
        sizes = entry.read(part)
        if len(sizes) == 1:
            return sizes[0]
        return part
    if isinstance(part, list):
        return tuple(part)
    return part
