"""The model that a name means: of the catalogue, of the list of the Hub, or of neither.

Names are compared by what they say (`names.take_apart`): publisher, format, tuning and date do not
change a shape. A fine-tune or conversion is its base model. Experts removed, models merged and
drafting models are never their base, and numbers always have to agree: where nothing known does,
close names are offered and none is taken.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from advisor.catalog.name_matching import spellings
from advisor.errors import Refusal, UnknownName
from advisor.model import catalog
from advisor.model.by_name.close_models import candidates, close_models
from advisor.model.by_name.known_models import (
    KnownRow,
    base_of,
    catalogue_keys,
    is_drafting,
    most_downloaded,
    plainest,
)
from advisor.model.by_name.listed.hub_list import HubRow, hub_list
from advisor.model.by_name.names import ModelName, is_size, take_apart, words
from advisor.model.spec import ArchitectureSpec

NOT_THEIR_BASE = frozenset({"cut", "merge", "draft"})
LIKE_A_VARIANT = 75
"""Least similarity of a word that may be a misspelled variant of a family [%]."""


@dataclass(frozen=True, kw_only=True)
class Meant:
    """The model that a name means.

    Attributes:
        name: as the catalogue or the list has it.
        row: its row there.
        taken_as: the same name where it is not what was typed; empty where it is.
        why: in what the typed name differs.
    """

    name: str
    row: KnownRow
    taken_as: str = ""
    why: str = ""


@lru_cache(maxsize=4096)
def meant(text: str) -> Meant:
    """The model that a name means.

    Raises:
        UnknownName: none for certain, with close names, the likeliest first.
        Refusal: a drafting model, which does not run alone.
    """
    name = take_apart(text)
    row = _spelled(text)
    if row is not None:
        return Meant(name=row.name, row=row, taken_as=row.name if _says_less(name, row) else "")
    exact = hub_list().named(text) if "/" in text else None
    if exact is not None:
        return _exact(name, exact)
    if "draft" in name.kinds:
        raise _drafting(text)
    same = _same_words(name) or _base(name) or _only_candidate(name)
    if same is None:
        raise UnknownModel(text, close_models(name))
    return same


class UnknownModel(UnknownName):
    """A model's name that is not known, with those that may be meant, the likeliest first.

    Args:
        name: what was given.
        close: names that may be meant.
    """

    def __init__(self, name: str, close: tuple[str, ...]) -> None:
        super().__init__("model", name, (), _hint(close))
        self.close = close


def _hint(close: tuple[str, ...]) -> str:
    meant_by = f"Did you mean {', '.join(close)}? " if close else ""
    return f"{meant_by}Otherwise give its GGUF file, config.json or owner/name on Hugging Face."


def _spelled(text: str) -> ArchitectureSpec | None:
    """The catalogue's row of exactly this name or alias, with or without spaces and dashes."""
    return _aliases().get(text.strip().casefold()) or _aliases().get(_joined(text))


@cache
def _aliases() -> dict[str, ArchitectureSpec]:
    rows = catalog.model_rows().values()
    index = {row.name.casefold(): row for row in rows}
    for row in rows:
        for spelling in spellings(row):
            index.setdefault(spelling, row)
    for row in rows:
        for spelling in spellings(row):
            index.setdefault(_joined(spelling), row)
    return index


def _joined(text: str) -> str:
    return "".join(letter for letter in text.strip().casefold() if letter not in " -_:")


def _says_less(name: ModelName, row: ArchitectureSpec) -> bool:
    """A name without a word or version of the model's own, as in "llama 70B"."""
    told = "".join(name.tokens)
    return any(token not in told for token in take_apart(row.name).tokens if not is_size(token))


def _exact(name: ModelName, row: HubRow) -> Meant:
    """A listed repository: the catalogue's model where both have the same shape."""
    if is_drafting(row):
        raise _drafting(row.name)
    known = catalogue_keys().get(" ".join(name.shape))
    base = known or _base_row(name)
    if isinstance(base, ArchitectureSpec) and _same_shape(base, row):
        return Meant(name=base.name, row=base, taken_as=base.name, why=_why(name))
    return Meant(name=row.name, row=row)


def _same_shape(known: ArchitectureSpec, row: HubRow) -> bool:
    return (known.layers, known.hidden) == (row.layers, row.hidden) and (
        not row.experts or not known.experts or known.experts == row.experts
    )


def _drafting(text: str) -> Refusal:
    return Refusal(
        f"{text[:80]} drafts tokens for another model and does not run alone. Name the model that "
        "it drafts for."
    )


def _same_words(name: ModelName) -> Meant | None:
    """A model whose name says the same."""
    key = " ".join(name.shape)
    if not key:
        return None
    numbered = any(map(str.isdigit, key))
    known = catalogue_keys().get(key) or plainest(key, name)
    row = known or (most_downloaded(key) if numbered else None)
    return None if row is None else _taken(name, row)


def _base(name: ModelName) -> Meant | None:
    """The model that a fine-tune or conversion was made from."""
    row = _base_row(name)
    return None if row is None else _taken(name, row)


def _base_row(name: ModelName) -> KnownRow | None:
    if name.kinds & NOT_THEIR_BASE:
        return None
    for key, left in _parts(name.shape):
        row = base_of(key) if _may_be_left(key, left) else None
        if row is not None:
            return row
    return None


def _parts(tokens: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Runs of tokens with all sizes of the name, the longest first, and what they leave."""
    sizes = tuple(token for token in tokens if is_size(token))
    for length in range(len(tokens), 0, -1):
        for start in range(len(tokens) - length + 1):
            run, end = tokens[start : start + length], start + length
            absent = tuple(size for size in sizes if size not in run)
            left = (token for token in (*tokens[:start], *tokens[end:]) if token not in absent)
            yield " ".join(run + absent), tuple(left)


def _may_be_left(key: str, left: tuple[str, ...]) -> bool:
    """The words beside a base change no shape: the base says its size, or none is a variant's."""
    parts = key.split()
    if len(parts) < 2 or not parts[0].isalpha():
        return False
    if any(map(is_size, parts)):
        return any(not is_size(part) for part in parts)
    return not any(map(_may_be_variant, left))


def _may_be_variant(token: str) -> bool:
    """A number, or a word like one of those that tell sizes of a family apart (`air`, `flash`)."""
    if not token.isalpha():
        return True
    from rapidfuzz import fuzz  # 60 ms that only an unknown word beside a sizeless name is worth

    variants = (word for word, kind in words().items() if kind == "variant")
    return any(fuzz.ratio(token, word) >= LIKE_A_VARIANT for word in variants)


def _only_candidate(name: ModelName) -> Meant | None:
    """The only model, or only shape, that has all words and numbers of an unfinished name.

    A family's name alone means no model.
    """
    if not any(map(str.isdigit, "".join(name.shape))):
        return None
    rows = candidates(name.shape)
    rows = tuple(row for row in rows if isinstance(row, ArchitectureSpec)) or rows
    if not rows or any(_sizes(row) != _sizes(rows[0]) for row in rows):
        return None
    return _taken(name, rows[0])


def _sizes(row: KnownRow) -> tuple[int, ...]:
    return row.layers, row.hidden, row.heads, row.kv_heads, row.experts


def _taken(name: ModelName, row: KnownRow) -> Meant:
    literal = name.tokens in {take_apart(spelling).tokens for spelling in _spellings(row)}
    return Meant(
        name=row.name,
        row=row,
        taken_as="" if literal and not name.publisher else row.name,
        why=_why(name),
    )


def _spellings(row: KnownRow) -> list[str]:
    return spellings(row) if isinstance(row, ArchitectureSpec) else [row.name]


def _why(name: ModelName) -> str:
    return "the same model by its name's words" if not name.publisher else "by its name"
