"""Models that write no reply token by token: text diffusion, vectors, scores, pictures, speech."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import Refusal


@dataclass(frozen=True, kw_only=True, slots=True)
class NoChatRow:
    """One row of data/models/no_chat_models.csv: a pattern of names, `model_type` and classes of
    `architectures`, and what such models do; the first that fits counts.
    """

    pattern: str
    does: str


@cache
def _rows() -> tuple[NoChatRow, ...]:
    return tuple(read(DATA / "models/no_chat_models.csv", NoChatRow))


def refuse_no_chat_model(text: str, *kinds: str) -> None:
    """See that neither a model's name nor its kinds (its `model_type`, the classes of its
    `architectures`) are of one that does not write a reply token by token.
    """
    names = [name.casefold() for name in (text.rpartition("/")[2], *kinds)]
    for row in _rows():
        if any(re.search(row.pattern, name) for name in names):
            raise Refusal(f"{text[:80]} {row.does}. Name a language model that chats.")


def classes(value: object) -> Iterable[str]:
    """Names in a config's `architectures`; none where it is no list of names."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
