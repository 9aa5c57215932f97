"""A number with its origin."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from advisor.errors import InputError
from advisor.units import Array


class Provenance(StrEnum):
    """Origin of a figure, which tells how far it can be trusted."""

    MEASURED = "measured"
    GIVEN = "given"
    DATASHEET = "datasheet"
    DERIVED = "derived"
    FITTED = "fitted"
    ASSUMED = "assumed"


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A number and its origin.

    Attributes:
        value: in SI units; an array along a sweep is allowed.
        kind: how far it can be trusted.
        source: who says so, or how it was derived.
        date: when, as the source gives it (ISO); empty where it does not.

    Raises:
        InputError: a value that is not finite, or below zero.
    """

    value: Array
    kind: Provenance
    source: str
    date: str = ""

    def __post_init__(self) -> None:
        if not np.all(np.isfinite(self.value)) or np.any(np.asarray(self.value) < 0):
            raise InputError(
                f"{self.source or 'A figure'}: {self.value} is not a usable number; "
                "give a finite one that is not below zero."
            )


def given(value: Array, source: str = "typed in") -> Quantity:
    """A figure that the person gave."""
    return Quantity(value=value, kind=Provenance.GIVEN, source=source)
