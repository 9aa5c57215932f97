"""Names of models that are refused, and why."""

import re
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import Refusal, UnknownName
from advisor.model.by_name.names import ModelName, is_size, words


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


@dataclass(frozen=True, kw_only=True, slots=True)
class NoChatRow:
    """One row of data/models/no_chat_models.csv: a pattern of names and `model_type`, and what such
    models do; the first that fits counts.
    """

    pattern: str
    does: str


@cache
def _no_chat() -> tuple[NoChatRow, ...]:
    return tuple(read(DATA / "models/no_chat_models.csv", NoChatRow))


def refuse_no_chat_model(text: str, architecture: str) -> None:
    """See that a name is of no model that does not write a reply token by token.

    Raises:
        Refusal: it is; the message says what it does.
    """
    names = text.rpartition("/")[2].casefold(), architecture.casefold()
    for row in _no_chat():
        if any(re.search(row.pattern, name) for name in names):
            raise Refusal(f"{text[:80]} {row.does}. Name a language model that chats.")


def drafting(text: str) -> Refusal:
    """Refusal of a drafting model."""
    return Refusal(
        f"{text[:80]} drafts tokens for another model and does not run alone. Name the model that "
        "it drafts for."
    )
