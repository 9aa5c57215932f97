"""Sensitivity of an option's gain: inputs at their ends, turning points, and words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from advisor.advice.prices.rows import USUAL_API_FIRST_TOKEN
from advisor.advice.speeds import Mask
from advisor.advice.table.cost import speed_for_wait
from advisor.advice.table.option import Option, OptionKind
from advisor.cost_model.uncertainty import Range
from advisor.formatting import money as money_words
from advisor.formatting import money_per_hour
from advisor.model.model import Floats
from advisor.request.money import SECONDS_PER_HOUR
from advisor.units import Array, number, tokens_per_second


@dataclass(frozen=True, kw_only=True)
class TornadoBar:
    """Bar of a tornado chart: the outcome at both ends of one input's interval."""

    name: str  # name of the input
    interval: Range  # its value and ends
    low: float  # outcome at the low end, with all other inputs at their values
    high: float  # outcome at the high end

    @property
    def swing(self) -> float:
        """Distance between the two outcomes."""
        return abs(self.high - self.low)


def tornado(
    inputs: Mapping[str, Range], outcome: Callable[[Mapping[str, Floats]], Floats]
) -> tuple[TornadoBar, ...]:
    """Bars of a tornado chart, one for each input with its 80 % interval, the widest first."""
    middle = {name: np.asarray(parameter.value, dtype=float) for name, parameter in inputs.items()}

    def at(name: str, value: Array) -> float:
        return float(outcome({**middle, name: np.asarray(value, dtype=float)}))

    bars = (
        TornadoBar(name=name, interval=ends, low=at(name, ends.low), high=at(name, ends.high))
        for name, ends in inputs.items()
    )
    return tuple(sorted(bars, key=lambda bar: bar.swing, reverse=True))


PRICE_BAND = 1.15  # factor up and down of the 80 % interval of a fresh price; assumed
STALE_BAND = 1.4
"""Factor for a price older than 90 days: RTX 3090s cost 700 to 990 USD within half a year."""


def _band(value: float, factor: float) -> Range:
    return Range(value=value, low=value / factor, high=value * factor)


def _price_band(option: Option) -> Range:
    """What is paid in a month, with the range of a usual price where one is on record [USD]."""
    paid = option.cost.paid if option.cost is not None else 0.0
    price = option.price
    if price.usd and price.low is not None and price.high is not None:
        low = min(price.low / price.usd, 1.0)
        high = max(price.high / price.usd, 1.0)
        return Range(value=paid, low=low * paid, high=high * paid)
    return _band(paid, STALE_BAND if option.stale else PRICE_BAND)


def inputs(option: Option) -> dict[str, Range]:
    """Uncertain inputs of an option's gain, by name; without those that have no range or are
    zero.
    """
    uncertain: dict[str, Range] = {}
    money = option.use.money
    if option.kept and option.kept.speed:
        uncertain["speed now"] = option.kept.speed.range
    if option.speed and option.speed.high > option.speed.low:
        uncertain["speed then"] = option.speed.range
    if option.cost is not None and option.cost.paid > 0:
        uncertain["price"] = _price_band(option)
    if money.replies_per_day > 0:
        uncertain["replies a day"] = _band(money.replies_per_day, 2.0)
    if money.usd_per_hour_of_time > 0:
        uncertain["worth of an hour"] = _band(money.usd_per_hour_of_time, 2.0)
    return uncertain


def gain(at: Mapping[str, Floats], option: Option) -> Floats:
    """Monthly saving of an option at other inputs [USD/month].

    Waiting follows speeds and replies, costs by use the replies; first tokens and starts stay.
    """
    kept = option.kept or option
    money = option.use.money
    if kept.cost is None or option.cost is None:
        return np.zeros(())
    replies = at.get("replies a day", np.asarray(money.replies_per_day))
    worth = at.get("worth of an hour", np.asarray(option.worth))
    waits = _hours(kept, at.get("speed now"), replies)
    waits_then = _hours(option, at.get("speed then"), replies)
    if money.replies_per_day:
        use = replies / money.replies_per_day
    else:
        use = np.asarray(1.0)
    dearer = at["price"] / option.cost.paid if "price" in at and option.cost.paid else 1.0
    saved = kept.cost.at(use) - option.cost.at(use, dearer) - option.standing
    return np.asarray((waits - waits_then) * worth + saved)


def _hours(option: Option, decode: Floats | None, replies: Floats) -> Floats:
    """Waiting per month at another speed and number of replies, starts included [h]."""
    lost = option.hours_lost or 0.0
    speed = option.speed
    use = option.use
    usual = use.money.replies_per_day
    if speed is None or usual <= 0:
        return np.asarray(lost)
    change: Array = 0.0  # of a reply [s]
    if decode is not None:
        first = speed.first_token
        change = use.waits(first, decode) - use.waits(first, speed.decode)
    each = (lost - option.hours_starting) / usual + change * use.money.days / SECONDS_PER_HOUR
    return np.asarray(option.hours_starting + each * replies)


def what_matters(option: Option) -> tuple[TornadoBar, ...]:
    """Gain of an option at both ends of each input, the most influential first."""
    if option.gain is None:
        return ()
    return tornado(inputs(option), lambda at: gain(at, option))


REACH = 1000.0  # largest factor on an input, up and down, that is searched
STEPS = 60  # number of bisections; the last interval is below 1e-15 of the value


@dataclass(frozen=True, kw_only=True)
class TurningPoint:
    """Value of an input at which an option costs as much as the kept machine."""

    name: str  # name of the input, as in the tornado chart
    value: float  # at the turning point, in the input's unit; for a price, a month's
    share: float  # that value relative to the present one
    above: bool  # whether the option pays above it, with all other inputs unchanged


def turning_points(option: Option) -> tuple[TurningPoint, ...]:
    """Values of one input each at which the gain of an option changes its sign, the nearest
    first.
    """
    if option.gain is None:
        return ()
    values = {name: float(uncertain.value) for name, uncertain in inputs(option).items()}
    alone = np.eye(len(values), dtype=bool)

    def pays(factors: Floats) -> Mask:
        """Whether the option pays with each input alone multiplied by a factor, shape (inputs,)."""
        at = {
            name: value * np.where(alone[index], factors, 1.0)
            for index, (name, value) in enumerate(values.items())
        }
        return np.broadcast_to(gain(at, option) > 0, factors.shape)

    now = pays(np.ones(len(values)))
    down, up = (pays(np.full(len(values), end)) != now for end in (1 / REACH, REACH))
    near = np.zeros(len(values))
    far = np.where(down, -np.log(REACH), np.log(REACH))
    for _ in range(STEPS):
        middle = (near + far) / 2
        same = pays(np.exp(middle)) == now
        near = np.where(same, middle, near)
        far = np.where(same, far, middle)
    shares = map(float, np.exp((near + far) / 2))
    points = [
        TurningPoint(
            name=name, value=value * share, share=share, above=bool(pays_now) == (share < 1)
        )
        for (name, value), share, pays_now, turns in zip(
            values.items(), shares, now, down | up, strict=True
        )
        if turns
    ]
    return tuple(sorted(points, key=lambda point: abs(np.log(point.share))))


def least_speed(option: Option) -> float | None:
    """Speed, after a usual first token, from which an option without one pays [tokens/s]."""
    if option.kept:
        before = option.kept.with_waiting
    else:
        before = None
    use = option.use
    money = option.use.money
    if option.speed is not None or before is None or option.cost is None or not use.replies:
        return None
    left = before - option.cost.total - option.standing
    if left <= 0 or option.worth <= 0:
        return None
    wait = left / option.worth * SECONDS_PER_HOUR / use.replies - USUAL_API_FIRST_TOKEN
    if wait <= 0:
        return None
    return float(speed_for_wait(wait, money.thinking_tokens, use.shown, money.reading_tps))


NAMED = 10.0
"""Largest factor on an input, up and down, at which a turning point is named: none is in doubt by
more. Speeds are named within their range."""
SPEEDS = ("speed now", "speed then")
EDGE = 1.02
"""Factor on an input, up and down, at which an option that turns is neither worth it nor not: the
value at which it turns would be shown as the present one."""


def what_changes(option: Option, *, priced: bool = False) -> str:
    """Sentences on the three nearest turning points, or on an option that pays by far or just so.

    The option's price is named where `priced` is true.
    """
    subject = _subject(option, priced=priced)
    uncertain = inputs(option)
    points = [
        point
        for point in turning_points(option)
        if (
            uncertain[point.name].low <= point.value <= uncertain[point.name].high
            if point.name in SPEEDS
            else 1 / NAMED <= point.share <= NAMED
        )
    ][:3]
    if not points:
        clear = option.pays and "replies a day" in uncertain
        if clear:
            return f"{subject} pays, and would with a tenth of the answers."
        return ""
    if abs(np.log(points[0].share)) <= np.log(EDGE):
        return f"{subject} saves about what it costs, no more."
    if option.pays:
        turns = "It would not"
    else:
        turns = "It would"
    *first, last = (_condition(option, point) for point in points)
    if first:
        when = f"{', '.join(first)} or {last}"
    else:
        when = last
    return f"{subject} {'pays' if option.pays else 'does not pay'}. {turns} {when}."


def _subject(option: Option, *, priced: bool) -> str:
    """Name of an option as the subject of a sentence: set off by a comma where it holds one."""
    if option.kind is OptionKind.RENT:
        return f"{option.name.removesuffix(', by the month')}, rented,"
    name = f"{option.name}," if "," in option.name else option.name
    if priced and option.upfront:
        name = f"{name} for {money_words(option.full_price)}"
        if option.sold:
            return f"{name}, {money_words(option.upfront)} once yours is sold,"
    return name


def _condition(option: Option, point: TurningPoint) -> str:
    over = point.above != bool(option.pays)
    side = "more than" if over else "less than"
    if point.name == "replies a day":
        return f"{'from' if over else 'below'} {rounded(point.value)} answers a day"
    if point.name == "worth of an hour":
        return f"if your hour were worth {side} {of_an_hour(point.value)}"
    if point.name == "price":
        once = option.price.usd
        price = money_words(once * point.share if once else point.value)
        within = _within_its_range(option, point)
        return f"if it cost {side} {price}{'' if once else ' a month'}{within}"
    speed = tokens_per_second(point.value)
    if point.name == "speed now":
        whose = "what you have"
    else:
        whose = "it"
    return f"if {whose} gave {side} {speed}"


def of_an_hour(usd: float) -> str:
    """Worth of an hour in money, as every sentence of an answer says it [USD]."""
    return money_per_hour(usd).removesuffix(" an hour")


def _within_its_range(option: Option, point: TurningPoint) -> str:
    """That a turning point lies within the range of the price; empty where it does not."""
    price = option.price
    if price.usd is None or price.low is None or price.high is None:
        return ""
    if not price.low <= price.usd * point.share <= price.high:
        return ""
    return f", within its range of {money_words(price.low)} to {money_words(price.high)}"


def price_turns(option: Option) -> str:
    """Sentence on a purchase that pays at one end of the range of its price only; empty for
    others.
    """
    for point in turning_points(option):
        within = _within_its_range(option, point) if point.name == "price" else ""
        if within and option.price.usd:
            usd = money_words(option.price.usd * point.share)
            turns = "Above" if option.pays else "Below"
            pays = "does not pay" if option.pays else "pays"
            return f" {turns} {usd}{within}, it {pays}."
    return ""


def rounded(value: float) -> str:
    """Number with two significant digits: "1,300"."""
    return number(float(f"{value:.1e}"))
