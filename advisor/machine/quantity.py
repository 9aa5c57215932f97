"""Quantity: a number with its origin."""

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


@dataclass(frozen=True)
class Quantity:
    """Number and its origin.

    Raises:
        InputError: a value that is not finite, or below zero.
    """

    value: Array  # value in SI units; may be an array along a sweep
    kind: Provenance  # provenance
    source: str  # source, or the derivation
    date: str = ""  # date of the source (ISO 8601); empty where unknown

    def __post_init__(self) -> None:
        if not np.all(np.isfinite(self.value)) or np.any(np.asarray(self.value) < 0):
            raise InputError(
                f"{self.source or 'A figure'}: {self.value} is not a usable number; "
                "give a finite one that is not below zero."
            )

    @staticmethod
    def given(value: Array, source: str = "typed in") -> "Quantity":
        """Quantity given by the user."""
        return Quantity(value, Provenance.GIVEN, source)
