"""Figures of a machine: a number with its origin, and a known run."""

import math
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
    """A number and its origin.

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


@dataclass(frozen=True, kw_only=True)
class KnownRun:
    """Measured speed of a machine.

    What was timed is told by plain values, so that a machine carries it everywhere: another
    question on the same machine learns of the parts that take its time, too.
    """

    words: str  # model, format and speed in words
    measured: float  # measured speed [tokens/s]
    predicted: float  # speed that was predicted without any known run [tokens/s]
    shares: tuple[tuple[str, float], ...]  # share of the time by route and fixed cost
    prompt: bool  # whether a prompt was timed, else a token
    family: str  # family of its engine, as `chance.TimedRun` has it
    engine: str  # name of the engine, and its fork
    format: str  # format of the weights
    experts: bool  # whether the model has routed experts
    model: str  # name of the model
    users: float = 1.0  # sequences that were answered together
    length: float = 0.0  # context of the token, or length of the prompt [tokens]
    scale: float = 1.0  # factor on the standard deviation of its time
    cards: tuple[str, ...] = ()  # names of its kinds of GPUs
    host: str = ""  # name of the processor

    @property
    def log_ratio(self) -> float:
        """Logarithm of the measured time over the predicted time."""
        return math.log(self.predicted / self.measured)
