"""Fitted constant: start value, limits and the scopes it may differ by."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One fitted constant.

    Attributes:
        start: value expected before any measurement.
        least: smallest physically possible value, over all scopes.
        most: largest physically possible value, over all scopes.
        unit: unit of the value.
        width: standard deviation of the prior of its logarithm.
        factors: scopes with a factor of their own, each a tuple of columns, with the standard
            deviation of the prior of the factor's logarithm.
        expected: expected factors other than 1, by the values of their columns joined by
            blanks.
        hardware: hardware name of a row that the family column refers to.
        runtime: runtime that the constant is for; empty for all.
        note: description.
    """

    start: float
    least: float = 0.0
    most: float = float("inf")
    unit: str
    width: float
    factors: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    expected: Mapping[str, float] = field(default_factory=dict)
    hardware: str = "gpu"
    runtime: str = ""
    note: str
