"""Value read from a published row, with notes on defaults and interpretations."""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Noted(Generic[T]):
    """Value with its notes.

    Attributes:
        value: value.
        notes: sentences on defaults and on interpreted spellings.
    """

    value: T
    notes: tuple[str, ...] = ()
