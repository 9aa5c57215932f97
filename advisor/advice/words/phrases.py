"""Phrases about options: when one pays, what is done with it, how old its price is."""

import re

from advisor.advice.comparison import Comparison
from advisor.advice.table.demand import Crowd
from advisor.advice.table.option import Option, OptionKind
from advisor.advice.table.turning import least_speed
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Tier
from advisor.formatting import hours as hours_words
from advisor.formatting import money as money_words
from advisor.formatting import short
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes import runtime
from advisor.units import memory, number, tokens_per_second

NAMED_MONTHS = 240  # nobody waits longer for a machine to pay
NAMED_SHARE = 0.01  # share of the tokens of a month below which a break-even says nothing


HARDLY_FASTER = "only if it is faster at all, by less than predictions err"
"""Said of an option that is hardly faster, and dearer."""
ONLY_SOLD = "only by selling what you have"
"""Remark on a slower option that pays by an assumed resale value alone."""


def pays_when(option: Option) -> str:
    """Words on when an option pays: after some months, from a number of tokens per month, or at a
    speed.
    """
    if option.rests_on_resale:
        return ONLY_SOLD
    if option.rests_on_little:
        return HARDLY_FASTER
    months = option.break_even_months
    tokens = option.break_even_tokens or 0.0
    after = ""
    if months and months <= NAMED_MONTHS:
        if months < 1.0:
            after = "within a month"
        else:
            after = f"after {number(months)} months"
    few = tokens <= NAMED_SHARE * option.tokens
    if few or not option.pays:
        least = ""
    else:
        least = f"from {short(tokens)} tokens a month"
    speed = least_speed(option)
    if speed is None:
        at = ""
    else:
        at = f"yes from {tokens_per_second(speed)}"
    return ", ".join(filter(None, (after, least, at)))


SAVES_LITTLE = "little"
NOT_NEEDED = "not needed"


def why_kept(advice: Comparison) -> str:
    """Why a purchase that pays is left all the same, where everything stays as it is; empty where
    something else is decided for.
    """
    decision = advice.decision
    if decision.option is not None or decision.model is not None or advice.choice.safe is not None:
        return ""
    kept = advice.case.kept
    if kept.speed is None:
        return ""
    demand = advice.case.demand
    if demand.crowd is not Crowd.PEOPLE and demand.met_by(kept):
        return NOT_NEEDED
    return SAVES_LITTLE


def duration(seconds: float) -> str:
    """Duration in words: "40 seconds", "1.6 minutes", "half an hour" [s]."""
    for name, unit, most in (("second", 1.0, 90), ("minute", 60.0, 90), ("hour", 3600.0, 48)):
        if seconds < most * unit:
            count = number(seconds / unit)
            return f"{count} {name}{'' if count == '1' else 's'}"
    return f"{number(seconds / 86400)} days"


def after_name(option: Option, replaced: str) -> str:
    """Words on the place of a card, where its name does not say it."""
    if option.kind is OptionKind.REPLACE:
        return replaced
    told = option.name.endswith((" in a dock", " in all"))
    if option.kind is OptionKind.ADD and not told:
        return " added"
    return ""


def name_in_place(option: Option, replaced: str = " in its place") -> str:
    """Plain name of an option, with the place of a purchase."""
    return f"{plain(option.name)}{after_name(option, replaced)}"


def hours_rented(option: Option) -> str:
    """Duration of a rental in words: "2 hours a day", "day and night"."""
    day = option.hours_rented
    if day is None or day >= 24:
        return "day and night"
    if day < 1:
        return f"{hours_words(day)} a day"
    return f"{day:.2g} hour{'' if day == 1 else 's'} a day"


def dated(option: Option) -> str:
    """Remark on an old or launch price; empty for other prices and for a stated one."""
    if option.price.stated is not None:
        return ""
    if option.price.listed:
        return f", its launch price of {option.price.date}"
    if not option.stale:
        return ""
    if option.price.date:
        return f", its price of {option.price.date}"
    return ", a price without date"


def price_at_once(option: Option) -> str:
    """Words on the amount that is paid at once, or that is left over.

    They name what is sold for it, the age of the price, and a stated price that is a part of it.
    """
    return f"{before_and_after_sale(option)}{dated(option)}{stated_price(option)}"


def before_and_after_sale(option: Option, sale: str = " once yours is sold") -> str:
    """Price of an option, and what is left to pay, or over, once what is owned is sold."""
    usd = option.upfront or 0.0
    left = " left over" if usd < 0 else ""
    paid = f"{money_words(abs(usd))}{left}"
    if option.sold:
        return f"{money_words(option.full_price)}, {paid}{sale}"
    return paid


def stated_price(option: Option) -> str:
    """Remark on a stated price of cards to which parts are added, or from which a sale is taken;
    empty for others.
    """
    stated = option.price.stated
    if not option.bought or stated is None or round(stated) == round(option.upfront or 0.0):
        return ""
    return f", at your price of {money_words(stated)}"


def plain(name: str) -> str:
    """Name without its parts in parentheses."""
    while (shorter := re.sub(r"\s*\([^()]*\)", "", name)) != name:
        name = shorter
    return name


def briefly(name: str) -> str:
    """Short name of a setting: without its flag, and without the part that it replaces."""
    return plain(re.sub(r" (?:instead|in place) of (?:whole )?[^\s,]+", "", name))


def read_there(best: Estimate) -> float:
    """Part of a model on the drive that the RAM does not cache [B]."""
    there = sum(map(float, best.held.get(Tier.DISK, ())))
    cached = float(best.placement.page_cache) if best.placement is not None else 0.0
    return max(there - cached, 0.0)


def in_engine(option: Option) -> str:
    """Engine of an option that answers many at once, which another does not; empty for others."""
    speed = option.speed
    if speed is None or not speed.runtime or runtime(speed.runtime).at_once is None:
        return ""
    return f" in {speed.runtime}"


def title_of(model: Model, machine: Machine) -> str:
    """Model, format and machine in one line."""
    ram = memory(float(machine.host.memory.value))
    each = " each" if machine.nodes > 1 else ""
    return f"{model.title}, {model.format}, on {machine.name}, {ram} of RAM{each}"
