"""What to choose of the options: the safe purchase, often none, and beside it the cheapest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from advisor.advice.table.option import WORTH_A_WORD, Option, OptionKind, by_comparison

BOUGHT = (OptionKind.ADD, OptionKind.REPLACE, OptionKind.MACHINE)
"""Kinds of options that are bought; a rent or an API is a reference beside them."""
NOTABLE = 1.5
"""Factor from which a free change is worth its trouble."""
FEW_HOURS = 5.0
"""Waiting that is saved in a month from which who can read along buys something [h]: ten minutes of
each day."""
DOUBLED = 2.0
"""Factor from which people notice that a purchase writes faster."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What to choose.

    Attributes:
        safe: purchase that many run and that the machine takes; None to buy nothing.
        reason: why it, or why nothing.
        cheapest: the one that leaves most of all that run; None where nothing pays.
    """

    safe: Option | None
    reason: str
    cheapest: Option | None


def choice_of(options: Sequence[Option], reading_tps: float) -> Choice:
    """What to choose of some options, the present machine first.

    Args:
        options: options.
        reading_tps: reading speed [tokens/s].
    """
    kept = options[0]
    able = list(_able(options))
    cheapest = min(able, key=by_comparison, default=None)
    now = kept.speed.decode if kept.speed else 0.0
    usual = [option for option in able if not option.odd and _notable(option, now)]
    reading = [option for option in usual if _decode(option) >= reading_tps]
    if now >= reading_tps:
        usual = [option for option in usual if (option.hours_saved or 0.0) >= FEW_HOURS]
        reading = usual
    safe = min(reading or usual, key=by_comparison, default=None)
    if safe is not None:
        return Choice(safe=safe, reason=_why(safe), cheapest=cheapest)
    return Choice(safe=None, reason=_why_nothing(options, cheapest, reading_tps), cheapest=cheapest)


def _able(options: Sequence[Option]) -> Iterator[Option]:
    """What can be bought and leaves more than is kept now: cards, machines and memory, and smaller
    machines for who rents one.
    """
    kept = options[0]
    rented = kept.cost is not None and bool(kept.cost.rent + kept.cost.starts)
    most = None if kept.speed is None else (kept.with_waiting or 0.0) - WORTH_A_WORD
    for option in options[1:]:
        paid = option.kind is OptionKind.CHANGE and (option.upfront or 0.0) > 0
        bought = option.kind in BOUGHT or paid or (rented and option.kind is OptionKind.RENT)
        if not bought or not option.may_win or option.with_waiting is None:
            continue
        if most is None or (option.pays and (option.compared or 0.0) <= most):
            yield option


def _decode(option: Option) -> float:
    return option.speed.decode if option.speed else 0.0


def _notable(option: Option, now: float) -> bool:
    """Whether people notice it: twice as fast, or a rent in place of a dearer one."""
    return option.kind is OptionKind.RENT or _decode(option) >= DOUBLED * now


def _why(option: Option) -> str:
    """Why many choose it, what is said of its price, and whether it is used."""
    note = option.price.note
    used = " Used: without its maker's warranty." if "used" in note else ""
    old = ""
    if option.price.listed:
        old = f" The price is its maker's at launch, of {option.price.date}."
    elif option.stale:
        old = f" The price is of {option.price.date or 'an unknown day'}: look it up."
    where = "" if option.price.typed else " Prices are of the United States."
    kind = (
        "Many rent it" if option.kind is OptionKind.RENT else "Many run it, and it goes in as it is"
    )
    if option.kind is OptionKind.CHANGE:
        kind = "It goes in as it is"
    return f"{kind}.{used}{old}{where}"


def _why_nothing(options: Sequence[Option], cheapest: Option | None, reading_tps: float) -> str:
    kept = options[0]
    if kept.speed is not None and kept.speed.decode >= reading_tps:
        return "It writes as fast as you read: a bigger GPU would save little."
    if cheapest is not None and cheapest.odd:
        return f"Nothing that many run repays its price here. {cheapest.odd[0]}"
    if not kept.tokens:
        return "Without answers nothing repays its price."
    return "Nothing that you could buy repays its price at your use."


def free_change(options: Sequence[Option]) -> Option | None:
    """Fastest change that costs neither money nor quality and is notably faster; None for none."""
    now = _decode(options[0])
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
    return max(able, key=_decode, default=None)
