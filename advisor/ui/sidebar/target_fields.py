"""Inputs of the pages "Find" and "What can I run?" beyond those of the sidebar."""

from functools import cache

from advisor.advice.finder.combinations import BY_LOSS, CACHES, SEARCHED
from advisor.request.money import MoneyInputs
from advisor.runtimes import LLAMA_CPP
from advisor.ui.sidebar.field_kinds import Field, Pick
from advisor.ui.sidebar.fields import fields
from advisor.ui.sidebar.option_words import ANY
from advisor.ui.sidebar.registry_fields import number

YES, NO = "true", "false"
CHOSEN = "as in the sidebar"
"""The context of the request, in place of several."""
THERE, NEW_DESKTOP = "the machine described", "a new desktop"
"""What cards are bought for."""


@cache
def target_fields() -> dict[str, Field]:
    """Inputs of the target by key."""
    own = (*_target(), *_tried(), *_bought_for(), *_shown(), *_balance())
    return {field.key: field for field in own}


@cache
def every_field() -> dict[str, Field]:
    """Inputs of all pages by key."""
    return {**fields(), **target_fields()}


def _target() -> tuple[Field, ...]:
    reading = MoneyInputs().reading_tps
    return (
        number("leasttps", "min_tps", 1.0, default=reading),
        number("mostmonth", "max_usd_per_month", 50.0, placeholder="any"),
        number("mostonce", "max_usd", 500.0, placeholder="any"),
    )


def _tried() -> tuple[Field, ...]:
    return (
        Pick(
            key="formats", label="Format", kind="format", options=(ANY, *BY_LOSS), default=ANY,
            help="How the weights are packed. Any: each machine gets the one that loses least "
            "among those that reach the target.",
        ),
        Pick(
            key="engine", label="Runtime", kind="runtime",
            options=(ANY, *(known.name for known in SEARCHED)), default=LLAMA_CPP.name,
            help="The program that runs the model. Any tries all of them and takes some seconds.",
        ),
        Pick(
            key="caches", label="KV cache", kind="KV type", options=(ANY, *CACHES), default=ANY,
            help="Format of the cache, which holds what was read and written so far. q8_0 takes "
            "half of f16. Any: the largest that reaches the target.",
        ),
        Pick(
            key="contexts", label="Contexts", kind="context", default=CHOSEN, free=True,
            options=(CHOSEN, "8k, 32k, 128k", "8k, 16k, 32k, 64k, 128k"),
            help="Of which each machine is answered for every one. Or type your own: 16k, 100k.",
        ),
    )  # fmt: skip


def _bought_for() -> tuple[Field, ...]:
    return (
        Pick(
            key="cardsin", label="Cards go into", kind="answer", options=(THERE, NEW_DESKTOP),
            default=THERE, help="A new desktop, for who has none, adds processor, RAM, drive, "
            "board, case and power supply to the price of the cards.",
        ),
    )  # fmt: skip


def _balance() -> tuple[Field, ...]:
    names = tuple(known.name for known in SEARCHED)
    return (
        number(
            "enough", "reading_tps", 1.0, default=MoneyInputs().reading_tps,
            label="Fast enough from (tokens/s)",
        ),
        Pick(
            key="loader", label="Runtime", kind="runtime", options=names, default=LLAMA_CPP.name,
            help="The program that runs the models.",
        ),
    )  # fmt: skip


def _shown() -> tuple[Field, ...]:
    return (
        Pick(
            key="unpriced", label="Also what has no price on record", kind="answer",
            options=(NO, YES), default=NO,
            help="Cards that nobody sells for such a machine, or whose price no dated page says.",
        ),
        Pick(
            key="every", label="Every format and runtime of a machine", kind="answer",
            options=(NO, YES), default=NO,
            help="Off: of each machine the format that loses least, then the fastest.",
        ),
        Pick(
            key="curated", label="Every model of the catalogue", kind="answer",
            options=(NO, YES), default=NO,
            help="Off: the model of the sidebar and those with the highest published score.",
        ),
    )  # fmt: skip
