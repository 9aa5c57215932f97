"""Fitted constant: start value, limits and the scopes it may differ by."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One fitted constant."""

    start: float  # value expected before any measurement
    least: float = 0.0  # smallest physically possible value, over all scopes
    most: float = float("inf")  # largest physically possible value, over all scopes
    unit: str  # unit of the value
    width: float  # standard deviation of the prior of its logarithm
    # scopes with a factor of their own, each a tuple of columns, with the standard deviation of the
    # prior of the factor's logarithm
    factors: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    # expected factors other than 1, by the values of their columns joined by blanks
    expected: Mapping[str, float] = field(default_factory=dict)
    hardware: str = "gpu"  # hardware name of a row that the family column refers to
    runtime: str = ""  # runtime that the constant is for; empty for all
    note: str  # description
