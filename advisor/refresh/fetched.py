"""Fetched rows of a source, and the rows that are left out."""

from dataclasses import dataclass
from typing import Generic, TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True, kw_only=True)
class Fetched(Generic[Row]):
    """Rows fetched from a source, with the rows that were left out."""

    rows: tuple[Row, ...]  # rows to keep
    left_out: tuple[str, ...] = ()  # rows that are left out, each with its reason
    notes: tuple[str, ...] = ()  # further remarks
