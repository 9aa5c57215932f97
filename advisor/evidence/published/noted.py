"""A value read from a published row, with notes on what was not as stated."""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Noted(Generic[T]):
    """Value with its notes.

    Attributes:
        value: what was read.
        notes: sentences on defaults and on spellings that were taken for something else.
    """

    value: T
    notes: tuple[str, ...] = ()
