"""What to choose of the options: the safe purchase, often none, and beside it the cheapest."""

from collections.abc import Sequence
from dataclasses import dataclass

from advisor.advice.table.option import WORTH_A_WORD, Option, OptionKind, by_comparison

BOUGHT = (OptionKind.ADD, OptionKind.REPLACE, OptionKind.MACHINE)
"""Kinds of options that are bought; a rent or an API is a reference beside them."""
NOTABLE = 1.5
"""Factor from which a free change is worth its trouble."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What to choose.

    Attributes:
        safe: purchase that many run and the machine takes; None to buy nothing.
        reason: why it, or why nothing.
        cheapest: the one that leaves most of all that run; None where nothing pays.
    """

    safe: Option | None
    reason: str
    cheapest: Option | None


def choice_of(options: Sequence[Option], reading_tps: float) -> Choice:
    """What to choose of some options, the present machine first."""
    kept = options[0]
    able = [
        option
        for option in options[1:]
        if option.kind in BOUGHT and option.may_win and option.with_waiting is not None
    ]
    if kept.speed is not None:
        most = (kept.with_waiting or 0.0) - WORTH_A_WORD
        able = [option for option in able if option.pays and (option.compared or 0.0) <= most]
    cheapest = min(able, key=by_comparison, default=None)
    if kept.speed is not None and kept.speed.decode >= reading_tps:
        return Choice(
            safe=None, reason="It writes as fast as you read; a bigger GPU would change little.",
            cheapest=cheapest,
        )  # fmt: skip
    if cheapest is None:
        return Choice(safe=None, reason="No card repays its price.", cheapest=None)
    return Choice(safe=cheapest, reason="It leaves most.", cheapest=cheapest)


def free_change(options: Sequence[Option]) -> Option | None:
    """Fastest change that costs neither money nor quality and is notably faster; None for none."""
    kept = options[0]
    now = kept.speed.decode if kept.speed else 0.0
    able = [
        option
        for option in options[1:]
        if option.kind is OptionKind.CHANGE
        and option.speed is not None
        and not option.loses_quality
        and not option.upfront
        and option.cost is not None
        and option.speed.decode >= NOTABLE * now
    ]
    return max(able, key=lambda option: option.speed.decode if option.speed else 0.0, default=None)
