"""Models that write no reply token by token: text diffusion, vectors, scores, pictures, speech."""

from collections.abc import Iterable

from advisor.catalog.name_matching import NameWords
from advisor.errors import Refusal

TABLE = NameWords("models/no_chat_models.csv")
"""Patterns of names, `model_type` and classes of `architectures`, and what such models do; the
first that fits counts."""


def refuse_no_chat_model(text: str, *kinds: str) -> None:
    """Check that a model writes replies token by token; raises Refusal.

    Its name and its kinds (`model_type`, the classes of `architectures`) tell.
    """
    names = [name.casefold() for name in (text.rpartition("/")[2], *kinds)]
    for pattern, does in TABLE.patterns("no reply"):
        if any(map(pattern.search, names)):
            raise Refusal(f"{text[:80]} {does}. Name a language model that chats.")


def classes(value: object) -> Iterable[str]:
    """Names in a config's `architectures`; none where it is no list of names."""
    if isinstance(value, list):
        return [each for each in value if isinstance(each, str)]
    return []
