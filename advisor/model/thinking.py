"""Reasoning of models before each reply: whether it is usual, and its tokens."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from advisor.catalog.csv_tables import DATA, read


@dataclass(frozen=True, kw_only=True, slots=True)
class Thinking:
    """One row of data/models/thinking.csv: reasoning of the models that match a pattern."""

    model: str  # pattern in a model's name
    thinks: bool  # reasons before a reply unless told otherwise
    can_stop: bool  # has a setting without reasoning
    short_tokens: float | None  # of an easy question [tokens]
    long_tokens: float | None  # of an ordinary one [tokens]
    source: str
    source_date: str

    @property
    def usual_tokens(self) -> float:
        """Tokens of reasoning before a reply, by the model's default."""
        if self.thinks:
            return self.long_tokens or 0.0
        return 0.0


@cache
def thinking_rows() -> tuple[Thinking, ...]:
    """Rows of the table; the first whose pattern a name has counts."""
    return read(DATA / "models/thinking.csv", Thinking)


@lru_cache(maxsize=1024)
def thinking_of(*names: str) -> Thinking | None:
    """Reasoning of a model by the name that was typed, or its own; None for one that has none."""
    for row in thinking_rows():
        if any(re.search(row.model, name) for name in names):
            return row
    return None
