"""Probability that an option pays or is the best, and the inputs that it depends on most."""

from collections.abc import Mapping

import numpy as np

from advisor.advice.money.chances import TornadoBar, Uncertain, chance, draws, tornado
from advisor.advice.money.formulas import SECONDS_PER_HOUR
from advisor.advice.money.use import waiting_seconds
from advisor.advice.options.option import Option
from advisor.advice.speeds import Speed
from advisor.model.model import Floats
from advisor.request.money import MoneyInputs

DRAWN_OF_OPTION = ("speed then", "price")
DRAWN = ("speed now", *DRAWN_OF_OPTION)
"""Inputs that are drawn at random; values that a person states are certain."""
PRICE_BAND = 1.15
"""Factor up and down of the 80 % interval of a fresh price; assumed."""
STALE_BAND = 1.4
"""Factor for a price older than 90 days: RTX 3090s cost 700 to 990 USD within half a year."""


def _band(value: float, factor: float) -> Uncertain:
    return Uncertain(value=value, low=value / factor, high=value * factor)


def _speed(speed: Speed) -> Uncertain:
    return Uncertain(value=speed.decode, low=speed.low, high=speed.high)


def inputs(option: Option, kept: Option, money: MoneyInputs) -> dict[str, Uncertain]:
    """Uncertain inputs of an option's gain, by name; only those with a range and not zero."""
    uncertain: dict[str, Uncertain] = {}
    if kept.speed:
        uncertain["speed now"] = _speed(kept.speed)
    if option.speed and option.speed.high > option.speed.low:
        uncertain["speed then"] = _speed(option.speed)
    paid = _paid(option)
    if paid > 0:
        uncertain["price"] = _band(paid, STALE_BAND if option.stale else PRICE_BAND)
    if money.replies_per_day > 0:
        uncertain["replies a day"] = _band(money.replies_per_day, 2.0)
    if money.usd_per_hour_of_time > 0:
        uncertain["worth of an hour"] = _band(money.usd_per_hour_of_time, 2.0)
    return uncertain


def _paid(option: Option) -> float:
    """Part of the monthly cost that follows from prices [USD/month]."""
    cost = option.cost
    return 0.0 if cost is None else cost.paid_fixed + cost.paid_by_use


def gain(at: Mapping[str, Floats], option: Option, kept: Option, money: MoneyInputs) -> Floats:
    """Monthly saving of an option at other inputs [USD/month].

    Waiting follows the speeds and the replies, costs by use the replies; first tokens and starts
    stay as they are.
    """
    replies = at.get("replies a day", np.asarray(money.replies_per_day))
    worth = at.get("worth of an hour", np.asarray(option.worth))
    waits = _hours(kept, money, at.get("speed now"), replies)
    waits_then = _hours(option, money, at.get("speed then"), replies)
    use = replies / money.replies_per_day if money.replies_per_day else np.asarray(1.0)
    paid = _paid(option)
    dearer = at["price"] / paid if "price" in at and paid else np.asarray(1.0)
    saved = _cost(kept, use) - _cost(option, use, dearer) - option.standing
    return np.asarray((waits - waits_then) * worth + saved)


def _cost(option: Option, use: Floats, dearer: Floats | float = 1.0) -> Floats:
    """Monthly cost of an option at another use and other prices [USD/month].

    Args:
        option: option.
        use: replies relative to the stated ones.
        dearer: prices relative to those known.
    """
    cost = option.cost
    if cost is None:
        return np.zeros(())
    fixed = cost.fixed - cost.paid_fixed + cost.paid_fixed * dearer
    return fixed + (cost.by_use - cost.paid_by_use + cost.paid_by_use * dearer) * use


def _hours(option: Option, money: MoneyInputs, decode: Floats | None, replies: Floats) -> Floats:
    """Waiting per month at another speed and number of replies [h]: starts, and for each reply as
    now, more or less by what the other speed changes.
    """
    lost, speed = option.hours_lost or 0.0, option.speed
    usual = money.replies_per_day
    if speed is None or usual <= 0:
        return np.asarray(lost)
    shown = option.tokens / (usual * money.days) - money.thinking_tokens

    def each(tps: Floats) -> Floats:
        seconds = waiting_seconds(
            speed.first_token, tps, money.thinking_tokens, shown, money.reading_tps
        )
        return np.asarray(seconds * money.days / SECONDS_PER_HOUR)

    change = 0.0 if decode is None else each(decode) - each(np.asarray(speed.decode))
    return option.hours_starting + ((lost - option.hours_starting) / usual + change) * replies


def chance_it_pays(option: Option, kept: Option, money: MoneyInputs) -> float:
    """Share of draws of speeds and prices in which an option pays, at the stated use."""
    if option.gain is None:
        return 1.0
    known = inputs(option, kept, money)
    drawn = {name: known[name] for name in known if name in DRAWN}
    return chance(drawn, lambda at: gain(at, option, kept, money))


def chance_ahead(option: Option, other: Option, kept: Option, money: MoneyInputs) -> float:
    """Share of draws in which an option leaves more than another, launch prices counted
    `LAUNCH_MARGIN` times; their speeds and prices are independent, the present speed is the same.
    """
    ahead = _drawn_gain(option, kept, money, seed=0) > _drawn_gain(other, kept, money, seed=1)
    return float(np.mean(ahead))


def _drawn_gain(option: Option, kept: Option, money: MoneyInputs, seed: int) -> Floats:
    """Monthly saving at drawn speeds and prices of an option, with its launch margin [USD]."""
    known = inputs(option, kept, money)
    own = {name: drawn for name, drawn in known.items() if name in DRAWN_OF_OPTION}
    margin = (option.compared or 0.0) - (option.with_waiting or 0.0)
    return gain(draws(own, seed=seed), option, kept, money) - margin


def what_matters(option: Option, kept: Option, money: MoneyInputs) -> tuple[TornadoBar, ...]:
    """Gain of an option at both ends of each input, the most influential first."""
    if option.gain is None:
        return ()
    return tornado(inputs(option, kept, money), lambda at: gain(at, option, kept, money))
