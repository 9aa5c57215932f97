"""Options that a request allows: where texts may go, what may be bought, for how much."""

from collections.abc import Sequence
from dataclasses import replace

from advisor.advice.prices.price import of_condition
from advisor.advice.table.option import ELSEWHERE, HARDWARE, Option, OptionKind
from advisor.advice.table.rules import of_makers
from advisor.request.wants import Condition, Texts, Wants

TOO_DEAR = "dearer than the budget"


def permitted(options: Sequence[Option], wants: Wants) -> tuple[Option, ...]:
    """Options that a request does not rule out; the present machine always stays.

    Who states a maker finds nothing odd about that maker.
    """
    able = (each for each in options[1:] if not why_not_permitted(each, wants))
    return (options[0], *(_of_wanted_maker(each, wants) for each in able))


def _of_wanted_maker(option: Option, wants: Wants) -> Option:
    """Option without what is odd about the maker that somebody wants."""
    if not wants.maker or not option.odd:
        return option
    return replace(option, odd=tuple(each for each in option.odd if not of_makers(each)))


def why_not_permitted(option: Option, wants: Wants) -> str:
    """Reason why a request does not permit an option; empty for a permitted option."""
    if option.kind in ELSEWHERE and wants.texts is Texts.HOUSE:
        return "texts would leave the house"
    if option.kind is OptionKind.CHANGE and _is_too_dear(option, wants):
        return TOO_DEAR
    if option.kind is OptionKind.API or option.kind not in HARDWARE:
        return ""
    if wants.maker and any(card.vendor != wants.maker for card in option.bought):
        return f"not of {wants.maker}"
    if wants.max_watts is not None and option.card_watts > wants.max_watts:
        return f"{option.card_watts:,.0f} W of cards"
    if option.kind is OptionKind.RENT:
        return ""
    if _is_too_dear(option, wants):
        return TOO_DEAR
    return _of_condition(option, wants.condition)


def _is_too_dear(option: Option, wants: Wants) -> bool:
    """Whether an option costs more at once than somebody wants to pay, before anything is sold."""
    return wants.max_usd is not None and option.paid_first > wants.max_usd


def _of_condition(option: Option, wanted: Condition) -> str:
    """Reason why a purchase is not of the wanted condition, new or used; empty where it is."""
    if of_condition(option.price.condition, wanted):
        return ""
    return f"not {wanted}"
