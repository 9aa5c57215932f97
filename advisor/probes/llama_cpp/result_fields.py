"""Fields of a result file, checked as they are read."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from advisor.errors import InputError

Row: TypeAlias = Mapping[str, Any]
LARGEST = 1e18
"""Above every count, duration in nanoseconds and size in bytes that a run has."""


def optional(row: Row, key: str) -> float | None:
    """Number from 0 up; None where it is missing or null.

    Raises:
        InputError: another type, or a number that is negative or not finite.
    """
    value = row.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{key} is {str(value)[:40]!r} in the results; a number is expected.")
    if not 0 <= value <= LARGEST:
        raise InputError(
            f"{key} is {str(value)[:40]} in the results; expected is a number from 0 to "
            f"{LARGEST:g}."
        )
    return float(value)


def number(row: Row, key: str) -> float:
    """Number from 0 up that must be there."""
    value = optional(row, key)
    if value is None:
        raise InputError(f"{key} is missing in the results; the tool writes it with each run.")
    return value


def rate(row: Row, key: str) -> float:
    """Number above 0 that must be there."""
    value = number(row, key)
    if not value:
        raise InputError(f"{key} is 0 in the results; the run did not finish, so run it again.")
    return value


def samples(row: Row) -> tuple[float, ...]:
    """Rates of all repeats of a llama-bench test [tokens/s]."""
    speeds = row.get("samples_ts")
    values = [{"samples_ts": speed} for speed in speeds] if isinstance(speeds, list) else []
    return tuple(rate(value, "samples_ts") for value in values)


def whole(row: Row, key: str) -> int | None:
    """Number rounded to a whole one; None where it is missing."""
    value = optional(row, key)
    return None if value is None else round(value)


def either(row: Row, *keys: str) -> float | None:
    """Number of the first key that is there; None where none is."""
    return next((optional(row, key) for key in keys if key in row), None)


def over(amount: float | None, by: float | None) -> float | None:
    """Quotient; None where either number is missing or 0."""
    return amount / by if amount and by else None


def inner(row: Row, key: str) -> Row:
    """Object within an object."""
    value = row[key]
    if not isinstance(value, dict):
        raise InputError(f"{key} is {str(value)[:40]!r} in the results; an object is expected.")
    return value


def text(row: Row, key: str) -> str:
    """Text of up to 200 characters; empty where it is missing."""
    value = row.get(key)
    return "" if value is None else str(value)[:200]
