"""Cells of a measurement file: text, numbers, or nothing."""

from collections.abc import Mapping

from advisor.errors import InputError

LARGEST = {"params_b": 100_000, "active_params_b": 100_000, "n_layers": 10_000, "gpu_count": 64}
"""Numbers beyond which a row is a slip of the pen; any other may reach `LARGEST_OTHER`."""
LARGEST_OTHER = 1e9


def text(row: Mapping[str, str], name: str) -> str:
    """A cell without blanks around it; empty where it is missing."""
    return (row.get(name) or "").strip()


def number(row: Mapping[str, str], name: str) -> float | None:
    """A cell as a number; None where it is empty.

    Raises:
        InputError: anything but a number from 0 to the largest allowed.
    """
    cell = text(row, name)
    try:
        value = float(cell) if cell else None
    except ValueError as error:
        raise InputError(f"{name} is {cell[:40]!r}; a number or nothing is expected.") from error
    most = LARGEST.get(name, LARGEST_OTHER)
    if value is not None and not 0 <= value <= most:
        raise InputError(f"{name} is {cell[:40]!r}; a number from 0 to {most:,.0f} is expected.")
    return value


def whole(row: Mapping[str, str], name: str) -> int | None:
    """A cell as a whole number, rounded; None where it is empty."""
    value = number(row, name)
    return None if value is None else round(value)
