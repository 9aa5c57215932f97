"""Lookup of a model's name in the catalogue and in the Hub's list.

Names are compared by their parts (`names.take_apart`), without publisher, format, tuning and date,
which do not change a shape. Fine-tunes and conversions count as their base model; merged models,
models with experts removed and drafting models do not. Numbers must always agree; if no known model
agrees, similar names are offered and none is chosen.
"""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from advisor.catalog.name_matching import spellings
from advisor.errors import Refusal, UnknownName
from advisor.model import catalog
from advisor.model.by_name.hub_list import HubRow, hub_list
from advisor.model.by_name.known import (
    NOT_THEIR_BASE,
    VERSION,
    KnownRow,
    base_of,
    base_row,
    better_described,
    candidates,
    catalogue_keys,
    close_models,
    families,
    is_drafting,
    is_of_another_month,
    keys_by_words,
    months_of,
    most_downloaded,
    of_experts_label,
    of_month,
    of_other_name,
    of_printed_size,
    of_size_and_words,
    plainest,
    printed,
    spellings_of,
)
from advisor.model.by_name.names import (
    ModelName,
    is_size,
    ollama_tag,
    take_apart,
    words,
)
from advisor.model.no_chat import refuse_no_chat_model
from advisor.model.spec import ArchitectureSpec

# Names and aliases of the catalogue's models, compared without spaces and dashes.


def spelled(text: str) -> ArchitectureSpec | None:
    """Catalogue row of a name or alias, compared without spaces and dashes."""
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


def says_less(name: ModelName, row: ArchitectureSpec) -> bool:
    """Whether a name lacks a word or version of the model, as "llama 70B" does."""
    told = "".join(name.tokens)
    return any(token not in told for token in take_apart(row.name).tokens if not is_size(token))


# Names of models that are refused, and why.


class UnknownModel(UnknownName):
    """Unknown name of a model, with the names that may be meant.

    Args:
        name: name as typed.
        close: names that may be meant, likeliest first.
    """

    def __init__(self, name: str, close: tuple[str, ...]) -> None:
        super().__init__("model", name, (), _hint(close))
        self.close = close


def _hint(close: tuple[str, ...]) -> str:
    meant_by = f"Did you mean {', '.join(close)}? " if close else ""
    return f"{meant_by}Otherwise give its GGUF file, config.json or owner/name on Hugging Face."


HOSTED_ALONE = re.compile(
    r"(?:.*[/.])?(?:gpt[- ]?(?:3\.5|4o|[4-9])|grok[- ]?(?:[3-9]|code))\b|openai gpt[- ]?[4-9]"
)
"""Pattern of versions of OpenAI's and xAI's models without published weights; gpt-oss, Grok 1 and 2
have them."""


def is_closed(name: ModelName) -> bool:
    """Whether a name without a size begins as one of a maker's that publishes no weights;
    fine-tunes on their answers have it further behind.
    """
    if not name.tokens or any(map(is_size, name.tokens)):
        return False
    first = words().get(name.tokens[0])
    return first == "closed" or HOSTED_ALONE.match(name.text.casefold()) is not None


def drafting(text: str) -> Refusal:
    """Refusal of a drafting model."""
    return Refusal(
        f"{text[:80]} drafts tokens for another model and does not run alone. Name the model that "
        "it drafts for."
    )


LEAST_WORDS = 3
"""Number of words from which their order does not matter."""
WORDS_LEFT_OUT = 1
"""Number of words that an incomplete name may lack, besides sizes, versions and variants."""

WORDS_OF_AN_END = 2
"""Words of a name that is the end of a listed one: "nemotron super 49b v1.5" of
Llama-3.3-Nemotron-Super-49B-v1.5, but "qwen 32b" of no distillation."""
WITH_EXPERTS = "moe"
"""Word that people add to models with experts: "Gemma 26B MoE"."""
SHORTEST_FAMILY = 5
"""Letters of a family's name that may stand alone, if all its models have one shape."""


@dataclass(frozen=True, kw_only=True)
class Meant:
    """Model of a name."""

    name: str  # name in the catalogue or the list
    row: KnownRow  # its row
    taken_as: str = ""  # that name if it differs from the typed one; else empty
    why: str = ""  # difference between the two names


@lru_cache(maxsize=4096)
def meant(text: str) -> Meant:
    """Model of a name.

    Raises:
        UnknownName: no certain match; lists similar names, likeliest first.
        Refusal: a drafting model, which does not run alone, or no language model.
    """
    tag = ollama_tag(text)
    if tag is None:
        return _meant(text)
    listed = spelled(tag.short) or of_other_name(take_apart(tag.short))
    for spelling in (tag.short,) if listed else (tag.full, tag.short):
        with suppress(UnknownModel):
            same = _meant(spelling)
            return replace(same, taken_as=same.name) if tag.usual else same
    return _meant(text)


def _after_publisher(text: str) -> HubRow | None:
    """The repository of a name with a space behind its publisher: "nex-agi Nex-N2.5-mini"."""
    publisher, _, rest = text.strip().partition(" ")
    if not rest or not hub_list().has_publisher(publisher):
        return None
    return hub_list().named(f"{publisher}/{'-'.join(rest.split())}")


def _meant(text: str) -> Meant:
    """Model of a name, as `meant`, without Ollama's tags of other tags."""
    name = take_apart(text)
    row = spelled(text)
    exact = hub_list().named(text) if "/" in text else _after_publisher(text)
    refuse_no_chat_model(text, exact.architecture if exact else "")
    if row is not None:
        return Meant(name=row.name, row=row, taken_as=row.name if says_less(name, row) else "")
    if exact is not None:
        return _exact(name, exact)
    hosted = spelled(text.rpartition("/")[2]) if "/" in text else None
    if hosted is not None:
        return Meant(name=hosted.name, row=hosted, taken_as=hosted.name, why=_why(name))
    if "draft" in name.kinds:
        raise drafting(text)
    if "other" in name.kinds:
        raise Refusal(
            f"{text[:80]} makes images, sound or vectors, or is a part of a model, and writes no "
            "text. Name a language model."
        )
    if is_closed(name):
        raise Refusal(
            f"The weights of {text[:80]} are not published: it runs at its maker alone. Name a "
            "model that can be had."
        )
    same = (
        _of_its_month(text, name)
        or _by_other_name(name)
        or _same_words(name)
        or _in_another_order(name)
        or _of_stated_size(name)
        or _same_words_of_others(name)
        or _in_one_word(name)
        or _base(name)
        or _only_candidate(name)
        or _of_a_file(text)
    )
    if same is None or is_of_another_month(name, same.row):
        raise UnknownModel(text, close_models(name) if same is None else (same.name,))
    return same


def _exact(name: ModelName, row: HubRow) -> Meant:
    """Listed repository of exactly this name; the catalogue's model if both have the same shape."""
    if is_drafting(row):
        raise drafting(row.name)
    known = catalogue_keys().get(" ".join(name.shape))
    base = known or base_row(name)
    if isinstance(base, ArchitectureSpec) and _same_shape(base, row):
        return Meant(name=base.name, row=base, taken_as=base.name, why=_why(name))
    better = better_described(row)
    taken_as = "" if better is row else better.name
    return Meant(name=better.name, row=better, taken_as=taken_as, why=_why(name))


def _same_shape(known: ArchitectureSpec, row: HubRow) -> bool:
    return (known.layers, known.hidden) == (row.layers, row.hidden) and (
        not row.experts or not known.experts or known.experts == row.experts
    )


def _of_its_month(text: str, name: ModelName) -> Meant | None:
    """Maker's model of the month that a name without a size states: "mistral-large-2512" is another
    model than "mistral-large-2407".

    Raises:
        UnknownModel: several of that month.
    """
    months = months_of(name)
    if len(months) != 1 or not name.shape or any(map(is_size, name.shape)):
        return None
    rows = of_month(name, *months)
    if len({_sizes(row) for row in rows}) > 1:
        raise UnknownModel(text, tuple(row.name for row in rows))
    return _taken(name, rows[0]) if rows else None


def _in_one_word(name: ModelName) -> Meant | None:
    """Model whose name joins two words of the typed one: "code-qwen-1.5-7b" is CodeQwen1.5-7B."""
    tokens = name.shape
    for place in range(len(tokens) - 1):
        first, second = tokens[place : place + 2]
        if first.isalpha() and second.isalpha():
            joined = (*tokens[:place], first + second, *tokens[place + 2 :])
            known = first + second in families()
            row = base_of(" ".join(joined)) or (
                base_row(replace(name, shape=joined)) if known else None
            )
            if row is not None:
                return _taken(name, row)
    return None


def _by_other_name(name: ModelName) -> Meant | None:
    """Base of a name that does not say it; "phi3:14b" is Phi-3, but llama-bench prints "phi3 14B"
    for Phi-4.
    """
    row = None if _is_printed(name) else of_other_name(name)
    return None if row is None else _taken(name, row)


def _is_printed(name: ModelName) -> bool:
    """Whether a name begins as llama-bench prints an architecture."""
    first, space, _ = name.text.strip().casefold().partition(" ")
    return bool(space) and first in printed()


def _same_words(name: ModelName) -> Meant | None:
    """Model of the catalogue or of a publisher with the same parts in its name."""
    key = " ".join(name.shape)
    known = catalogue_keys().get(key) or plainest(key, name) if key else None
    return None if known is None else _taken(name, known)


def _in_another_order(name: ModelName) -> Meant | None:
    """Only model with the words of a name in another order: "granite4:350m-h"."""
    known = () if _is_printed(name) else keys_by_words().get(tuple(sorted(name.shape)), ())
    rows = [row for key in known if (row := base_of(key)) is not None]
    if len(name.shape) < LEAST_WORDS or len({_sizes(row) for row in rows}) != 1:
        return None
    return _taken(name, rows[0])


def _of_a_file(text: str) -> Meant | None:
    """Model of a file's name that begins with its publisher: `Qwen_Qwen3-32B`."""
    publisher, mark, rest = text.partition("_")
    if not mark or "/" in text or not hub_list().has_publisher(publisher):
        return None
    with suppress(UnknownName):
        return replace(meant(f"{publisher}/{rest}"), why="by its file's name")
    return None


def _same_words_of_others(name: ModelName) -> Meant | None:
    """Only model of a publisher with all words of a name, else any repository with just these."""
    key = " ".join(name.shape)
    if not any(map(str.isdigit, key)):
        return None
    published = _only_candidate(name) if len(name.shape) > 2 and not name.publisher else None
    other = most_downloaded(key)
    return published or (None if other is None else _taken(name, other))


def _of_stated_size(name: ModelName) -> Meant | None:
    """A model whose own name tells no size, with the size that people or llama.cpp add to it."""
    worded = not name.kinds & NOT_THEIR_BASE
    row = (
        (of_size_and_words(name.shape) if worded else None)
        or of_printed_size(name)
        or of_experts_label(name)
    )
    return None if row is None else _taken(name, row)


def _base(name: ModelName) -> Meant | None:
    """Base model of a fine-tune or conversion."""
    row = base_row(name)
    return None if row is None else _taken(name, row)


def _only_candidate(name: ModelName) -> Meant | None:
    """Only model, or only shape, with all words and numbers of an incomplete name.

    The name of a family alone matches no model, unless all of them have one shape.
    """
    alone = len(name.shape) == 1 and len(name.shape[0]) >= SHORTEST_FAMILY
    many = len(name.shape) >= LEAST_WORDS
    if not alone and not many and not any(map(str.isdigit, "".join(name.shape))):
        return None
    tokens = name.shape
    known = candidates(tokens)
    if not known and WITH_EXPERTS in tokens:
        tokens = tuple(token for token in tokens if token != WITH_EXPERTS)
        known = tuple(row for row in candidates(tokens) if row.experts)
    rows = tuple(row for row in known if _may_be_short_for(tokens, row))
    rows = (
        rows if alone else tuple(row for row in rows if isinstance(row, ArchitectureSpec)) or rows
    )
    if not rows or any(_sizes(row) != _sizes(rows[0]) for row in rows):
        return None
    return _taken(name, rows[0])


def _may_be_short_for(tokens: tuple[str, ...], row: KnownRow) -> bool:
    """Whether a name leaves out what it may of a listed one: at most one word of its own, no
    family before it and no version behind it: "llama pro 8b" is not Hermes-2-Pro-Llama-3-8B,
    "chatglm-6b" not ChatGLM3-6B.
    """
    if isinstance(row, ArchitectureSpec):
        return True
    full = take_apart(row.name).shape
    later = len(full) > 1 and VERSION.fullmatch(full[1]) is not None and full[1] not in tokens
    if later and tokens[0] == full[0]:
        return False
    left_out = [token for token in full if token not in tokens and token.isalpha()]
    own = [token for token in left_out if token not in words()]
    if full[-len(tokens) :] == tokens and sum(map(str.isalpha, tokens)) >= WORDS_OF_AN_END:
        return len(own) <= WORDS_LEFT_OUT
    return len(own) <= WORDS_LEFT_OUT and (tokens[0] == full[0] or tokens[0] not in families())


def _sizes(row: KnownRow) -> tuple[int, ...]:
    return row.layers, row.hidden, row.heads, row.kv_heads, row.experts


def _taken(name: ModelName, row: KnownRow) -> Meant:
    in_full = all(token in name.text.casefold() for token in name.tokens[:1])
    alike = {take_apart(spelling).tokens for spelling in spellings_of(row)}
    literal = in_full and name.tokens in alike
    return Meant(
        name=row.name,
        row=row,
        taken_as="" if literal and not name.publisher else row.name,
        why=_why(name),
    )


def _why(name: ModelName) -> str:
    return "the same model by its name's words" if not name.publisher else "by its name"
