"""Reasoning of models before each reply: whether it is usual, and its tokens."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from statistics import median

from advisor.catalog.csv_tables import DATA, read


class ThinkingMode(StrEnum):
    """Reasoning of a model before a reply, as its maker's card or template sets it."""

    NEVER = "never"
    OFF = "off"  # only where it is told to
    ON = "on"  # unless it is told not to
    ALWAYS = "always"


@dataclass(frozen=True, kw_only=True, slots=True)
class Thinking:
    """One row of data/models/thinking.csv: reasoning of the models that match a pattern."""

    model: str  # pattern in a model's name
    mode: ThinkingMode
    short_tokens: float | None  # of an easy question; None where nobody published it [tokens]
    long_tokens: float | None  # of an ordinary one; None likewise [tokens]
    shorter: str  # setting that makes it shorter; empty for none, or one that takes tokens
    source: str
    source_date: str

    @property
    def thinks(self) -> bool:
        """Whether it reasons before a reply unless told otherwise."""
        return self.mode in (ThinkingMode.ON, ThinkingMode.ALWAYS)

    @property
    def can_stop(self) -> bool:
        """Whether it has a setting without reasoning."""
        return self.mode is not ThinkingMode.ALWAYS

    @property
    def has_switch(self) -> bool:
        """Whether it answers with reasoning or without, by a setting."""
        return self.mode in (ThinkingMode.OFF, ThinkingMode.ON)

    @property
    def short(self) -> float:
        """Tokens of reasoning of an easy question; those of models in general where none are
        published [tokens].
        """
        if self.short_tokens is None:
            return general_tokens().short
        return self.short_tokens

    @property
    def long(self) -> float:
        """Tokens of reasoning of an ordinary question; those of models in general where none are
        published [tokens].
        """
        if self.long_tokens is None:
            return general_tokens().long
        return self.long_tokens

    @property
    def usual_tokens(self) -> float:
        """Tokens of reasoning before a reply, by the model's default."""
        if self.thinks:
            return self.long
        return 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class GeneralTokens:
    """Medians of the published tokens of reasoning, for models without their own."""

    short: float  # of an easy question [tokens]
    long: float  # of an ordinary one [tokens]


@cache
def thinking_rows() -> tuple[Thinking, ...]:
    """Rows of the table; the first whose pattern a name has counts."""
    return read(DATA / "models/thinking.csv", Thinking)


@cache
def general_tokens() -> GeneralTokens:
    """Medians of the rows with published tokens."""
    rows = thinking_rows()
    return GeneralTokens(
        short=_median(row.short_tokens for row in rows),
        long=_median(row.long_tokens for row in rows),
    )


def _median(tokens: Iterable[float | None]) -> float:
    return median(number for number in tokens if number is not None)


@lru_cache(maxsize=1024)
def thinking_of(*names: str) -> Thinking | None:
    """Reasoning of a model by the name that was typed, or its own; None for one without a row."""
    for row in thinking_rows():
        if any(re.search(row.model, name) for name in names):
            return row
    return None
