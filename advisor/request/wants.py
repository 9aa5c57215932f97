"""Demands on an answer: a rate, a speed for each user, and limits on purchases."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from advisor.errors import InputError, UnknownName
from advisor.model.thinking import Thinking, ThinkingMode, general_tokens

Listed = TypeVar("Listed", bound=StrEnum)


class Texts(StrEnum):
    """Places to which texts may be sent."""

    OPEN = ""  # not said: an API is named beside the answer
    HOUSE = "house"  # nothing is rented, no API is called
    ANYWHERE = "anywhere"  # an API may be the answer


class Condition(StrEnum):
    """Condition of a purchase: new or used."""

    ANY = ""
    NEW = "new"
    USED = "used"


class Fixed(StrEnum):
    """Part of a request that no advice changes."""

    NOTHING = ""
    MODEL = "model"  # no other model is offered
    FORMAT = "format"  # nor the model in other weights, or with its cache in another format


class Think(StrEnum):
    """Reasoning before a reply, as it is wanted."""

    USUAL = ""  # as the model does by itself
    OFF = "off"
    SHORT = "short"
    LONG = "long"


MAKERS = ("NVIDIA", "AMD", "Intel", "Apple")
SERVED_TPS = 20.0
"""Speed for each user that servers are sized for where nobody states it [tokens/s]."""
SERVED_WITHIN = 2.0
LONGEST_WITHIN = 6.0
"""Wait for the first token that servers are sized for where nobody states it, of prompts of a chat
and of long documents: limits of MLPerf for servers of Llama 3.1 8B and of Llama 3.1 405B
(https://github.com/mlcommons/inference_policies/blob/ac93e89/inference_rules.adoc, read 2026-11-29)
[s]."""
CHAT_PROMPT = 2048.0
"""Longest prompt of a chat: those rules cut the prompts of Llama 3.1 8B to it [tokens]."""


def usual_within(prompt: float) -> float:
    """Wait for the first token of a prompt of a number of tokens that servers are sized for: with
    the length of the prompt, from that of a chat to that of long documents [s].
    """
    return min(max(SERVED_WITHIN, SERVED_WITHIN * prompt / CHAT_PROMPT), LONGEST_WITHIN)


@dataclass(frozen=True, kw_only=True)
class Wants:
    """Demands of a request, in addition to its model and machine."""

    requests_per_hour: float | None = None  # of all users together; None where people ask in turn
    user_tps: float | None = None  # least speed for each user; None for reading speed [tokens/s]
    first_token_within: float | None = None  # longest wait for the first token; None for any [s]
    texts: Texts = Texts.OPEN
    condition: Condition = Condition.ANY
    fixed: Fixed = Fixed.NOTHING
    maker: str = ""  # only maker of what is bought; empty for any
    max_usd: float | None = None  # most that is paid once; None for any [USD]
    max_watts: float | None = None  # most power of all cards together; None for any [W]
    also: tuple[str, ...] = ()  # purchases to judge, by their names
    may_stop_thinking: bool = False  # the model thinks before a reply, and has a setting without
    states_thinking: bool = False  # somebody states that it thinks, or for how long


NO_WANTS = Wants()


def maker_named(text: str | None) -> str:
    """Maker in its own spelling; empty for any.

    Raises:
        UnknownName: no maker of that name.
    """
    if not text:
        return ""
    for maker in MAKERS:
        if maker.casefold() == text.strip().casefold():
            return maker
    raise UnknownName("maker", text, MAKERS, f"Allowed are {', '.join(MAKERS)}.")


def listed(kind: type[Listed], what: str, text: str | None) -> Listed | None:
    """Member of an enumeration by its text, as of "office PC"; None without one."""
    if text is None:
        return None
    try:
        return kind(text.strip().casefold().removesuffix(" pc"))
    except ValueError as error:
        names = [str(member) for member in kind if member]
        raise UnknownName(what, text, names, f"Allowed are {', '.join(names)}.") from error


def tokens_thought(row: Thinking | None, wanted: Think, model: str) -> float:
    """Tokens of reasoning of a model before a reply, as wanted [tokens].

    Raises:
        InputError: thinking is to be off in a model that cannot stop, or on in one without it.
    """
    if row is None and wanted in (Think.USUAL, Think.OFF):
        return 0.0
    if wanted is Think.OFF:
        if row is not None and not row.can_stop:
            raise InputError(
                f"{model} always thinks before it answers; give --thinking short or long, or take "
                "another model."
            )
        return 0.0
    if row is None:
        raise InputError(
            f"{model} has no thinking on record; leave --thinking out, or give the tokens with "
            f"--thinking-tokens ({general_tokens().long:,.0f} are usual)."
        )
    if wanted is Think.USUAL:
        return row.usual_tokens
    if row.mode is ThinkingMode.NEVER:
        raise InputError(
            f"{model} answers without thinking; leave --thinking out, or take a model that thinks."
        )
    return {Think.SHORT: row.short, Think.LONG: row.long}[wanted]


def general_note(row: Thinking | None, wanted: Think, model: str) -> str:
    """Sentence on tokens of reasoning that are counted as those of models in general; empty for
    others.
    """
    tokens = tokens_thought(row, wanted, model)
    if row is None or not tokens:
        return ""
    published = {Think.SHORT: row.short_tokens}.get(wanted, row.long_tokens)
    if published is not None:
        return ""
    return (
        f"How long {model} thinks is not published: {tokens:,.0f} tokens are counted, the median "
        "of models where it is; --thinking-tokens takes yours."
    )
