"""What to choose of the options: the safe purchase, often none; and what that turns on."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from advisor.advice.prices.rows import USUAL_API_FIRST_TOKEN
from advisor.advice.speeds import Mask
from advisor.advice.table.cost import speed_for_wait
from advisor.advice.table.demand import LATE
from advisor.advice.table.option import HARDWARE, Option, OptionKind, by_comparison, worth_a_word
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.uncertainty import Range
from advisor.formatting import money as money_words
from advisor.formatting import money_per_hour
from advisor.model.model import Floats
from advisor.request.money import SECONDS_PER_HOUR
from advisor.units import Array, number, tokens_per_second

BOUGHT = (OptionKind.ADD, OptionKind.REPLACE, OptionKind.MACHINE)
"""Kinds of options that are bought; a rent or an API is a reference beside them."""
NOTABLE = 1.5  # factor from which a free change, or a purchase that does not pay, is worth a word
FEW_HOURS = 5.0
"""Waiting that each user saves in a month from which who can read along buys something [h]: ten
minutes of each day."""
FASTER = 4.0  # multiple of reading speed from which a model writes faster than one reads
RENT_LESS = 0.5
RENT_SAVED = 250.0
"""Share of a rent below which another machine is worth moving to, and the least that it saves in a
month [USD]."""
DOUBLED = 2.0  # factor from which people notice that a purchase writes faster
HALF_AN_HOUR_A_DAY = 15.0
"""Waiting that a purchase saves in a month from which it is noticed whatever its speed, and bought
rather than rented first [h]."""
RENT_FIRST = 3000.0
ALL_DAY = 200.0
"""Price from which one rents before one buys [USD], unless so many answers a day are asked for: a
card of 80 GB costs about two dollars an hour (data/prices/prices.csv)."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What to choose."""

    safe: Option | None  # purchase that many run and that the machine takes; None to buy nothing
    reason: str  # why it, or why nothing
    cheapest: Option | None  # the one that leaves most of all that run; None where nothing pays
    free: Option | None = None  # change without a cost that is worth its trouble; None for none
    saves: float = 0.0  # waiting of a month that it saves beside the best free setting [h]

    @property
    def named(self) -> tuple[Option, ...]:
        """Options that the verdict may name."""
        return tuple(each for each in (self.safe, self.cheapest, self.free) if each is not None)


def choice_of(
    options: Sequence[Option],
    reading_tps: float,
    replies_per_day: float,
    runtime: str = "",
    step: Option | None = None,
) -> Choice:
    """What to choose of the options, beside what is kept at its best free setting, `step`; nothing
    where only the chosen runtime refuses.
    """
    kept = options[0]
    free = step or free_change(options)
    able = list(_able(options))
    cheapest = min(able, key=by_comparison, default=None)
    if runtime:
        return Choice(safe=free, reason=f"Buy nothing: {runtime}", cheapest=cheapest, free=free)
    now = free or kept
    enough = reads_along(now, reading_tps)
    if free is not None and enough and begins_late(kept) and not begins_late(free):
        reason = f"Before anything is bought, a free change: {free.name}."
        return Choice(safe=None, reason=reason, cheapest=cheapest, free=free)
    reached = worth_buying(options, reading_tps, replies_per_day, free)
    safe = min(reached, key=_order, default=None)
    if safe is not None:
        saves = _saved(safe, now)
        return Choice(safe=safe, reason=why(safe), cheapest=cheapest, free=free, saves=saves)
    reason = _why_nothing(kept, able, cheapest, reading_tps, replies_per_day)
    if free is not None and not reads_along(kept, reading_tps):
        reason = f"Before anything is bought, a free change: {free.name}."
    return Choice(safe=None, reason=reason, cheapest=cheapest, free=free)


def worth_buying(
    options: Sequence[Option], reading_tps: float, replies_per_day: float, free: Option | None
) -> list[Option]:
    """Purchases that people would make beside what is kept, or beside a free change of it: those
    with which one reads along; where there are none, slower ones.
    """
    now = free or options[0]
    enough = reads_along(now, reading_tps)
    usual = [
        option
        for option in _able(options)
        if not option.odd
        and not reads_drive(option)
        and not _too_dear(option, replies_per_day, now)
        and _notable(option, now, enough=enough)
        and (free is None or (option.compared or 0.0) < (free.with_waiting or 0.0))
    ]
    along = [option for option in usual if option.decode >= reading_tps]
    return along or [option for option in usual if option.decode >= reading_tps / 3]


def reads_along(option: Option, reading_tps: float) -> bool:
    """Whether a reader waits for nothing, and no user for another: from memory, not the drive."""
    speed = option.speed
    return (
        speed is not None
        and speed.decode >= reading_tps
        and not speed.waiting
        and not reads_drive(option)
    )


def reads_drive(option: Option) -> bool:
    """Whether a part of the model is read from the drive for each token."""
    speed = option.speed
    return speed is not None and speed.strategy is PlacementStrategy.NVME_OFFLOAD


def begins_late(option: Option) -> bool:
    """Whether its first word is waited for so long that nothing runs well."""
    return option.speed is not None and option.speed.first_token >= LATE


def _able(options: Sequence[Option]) -> Iterator[Option]:
    """What can be bought and leaves more; for who rents a machine, smaller ones to rent."""
    cost = options[0].cost
    rented = cost is not None and bool(cost.rent + cost.starts)
    for option in worth_a_word(options):
        paid = option.kind is OptionKind.CHANGE and (option.upfront or 0.0) > 0
        if option.kind in BOUGHT or paid or (rented and option.kind is OptionKind.RENT):
            yield option


def _notable(option: Option, kept: Option, *, enough: bool) -> bool:
    """Whether people notice it beside what is kept or free: twice as fast, nobody waiting where
    some did, half the rent.
    """
    if option.kind is OptionKind.RENT:
        now = kept.monthly or 0.0
        then = option.monthly or 0.0
        return then <= RENT_LESS * now and now - then >= RENT_SAVED
    if kept.speed is not None and kept.speed.waiting:
        return option.speed is not None and not option.speed.waiting
    if reads_drive(kept) and not reads_drive(option):
        return True  # from the drive is no more than a hope
    saved = _saved(option, kept)
    if saved >= HALF_AN_HOUR_A_DAY and option.decode >= NOTABLE * kept.decode:
        return True
    return option.decode >= DOUBLED * kept.decode and (not enough or saved >= FEW_HOURS)


def _saved(option: Option, kept: Option) -> float:
    """Waiting of a month that each user saves [h]."""
    lost = (kept.hours_lost or 0.0) - (option.hours_lost or 0.0)
    return lost / float(option.use.work.users)


def _too_dear(option: Option, replies_per_day: float, kept: Option) -> bool:
    """Whether a few hours of rent should come before a purchase of one person."""
    dear = (option.upfront or 0.0) > RENT_FIRST and replies_per_day < ALL_DAY
    return dear and not (kept.speed is not None and _saved(option, kept) >= HALF_AN_HOUR_A_DAY)


def _order(option: Option) -> tuple[bool, bool, int, bool, float, float]:
    """Sort key: into the present machine, the whole model, one card before two, then cost."""
    part = option.kind is not OptionKind.CHANGE and not (option.speed and option.speed.whole)
    return (option.kind is OptionKind.MACHINE, part, len(option.bought), *by_comparison(option))


def why(option: Option) -> str:
    """Why many choose it, what is said of its price, and whether it is used."""
    if "used" in option.price.note:
        used = " Used: without its maker's warranty."
    else:
        used = ""
    old = ""
    if option.price.listed:
        old = f" The price is its maker's at launch, of {option.price.date}."
    elif option.stale:
        old = f" The price is of {option.price.date or 'an unknown day'}: look it up."
    if option.price.typed:
        where = ""
    else:
        where = " Prices are of the United States."
    why = {
        OptionKind.RENT: "A smaller machine for rent serves it",
        OptionKind.CHANGE: "It goes in as it is",
        OptionKind.MACHINE: "Such machines are run as they are sold",
    }.get(option.kind, "Many run it, and it goes in as it is")
    return f"{why}.{used}{old}{where}{price_turns(option)}"


def _why_nothing(
    kept: Option,
    able: Sequence[Option],
    cheapest: Option | None,
    reading_tps: float,
    replies_per_day: float,
) -> str:
    if reads_along(kept, reading_tps):
        faster = kept.decode >= FASTER * reading_tps
        if faster:
            pace = "faster than"
        else:
            pace = "as fast as"
        return f"It writes {pace} you read: {larger(kept)} would save little."
    if any(not option.odd and _too_dear(option, replies_per_day, kept) for option in able):
        return "What holds it costs as much as a workstation: rent it for some hours first."
    if cheapest is not None and cheapest.odd:
        return f"Only something odd repays its price: {cheapest.name}. {cheapest.odd[0]}"
    if not kept.tokens:
        return "Without answers nothing repays its price."
    return "Nothing that you could buy repays its price at your use."


def why_not(kept: Option, reading_tps: float) -> str:
    """Why nothing is bought though something would pay."""
    if reads_along(kept, reading_tps):
        return f"It writes as fast as you read: {larger(kept)} would save little."
    return "Nothing needs to be bought."


def larger(kept: Option) -> str:
    """What somebody would buy in place of a machine: one whose GPU is a part of it is bought whole,
    one without a GPU takes one.
    """
    machine = kept.machine
    if machine is None or (machine.gpus and not machine.unified):
        return "a bigger GPU"
    if machine.gpus:
        return "a bigger machine"
    return "a GPU"


def free_change(options: Sequence[Option]) -> Option | None:
    """Fastest change that costs neither money nor quality and is notably faster, or begins sooner
    where the first word is late; None for none.
    """
    kept = options[0]
    now = kept.decode
    late = begins_late(kept)
    able = [
        option
        for option in options[1:]
        if option.kind is OptionKind.CHANGE
        and option.speed is not None
        and not option.loses_quality
        and not option.upfront
        and option.cost is not None
        and (
            option.speed.decode >= NOTABLE * now
            or (late and NOTABLE * _seconds(option) <= _seconds(kept))
        )
    ]
    return min(able, key=_seconds, default=None)


def _seconds(option: Option) -> float:
    """Time of an answer [s]."""
    speed = option.speed
    if speed:
        return speed.first_token + option.use.generated / speed.decode
    return math.inf


# Dependence of a verdict on its inputs: tornado and turning points.


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
    """One bar per input, a positive number with its 80 % interval, the widest first."""
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
    """Uncertain inputs of an option's gain, by name; only those with a range and not zero."""
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
    """Values at which the gain of an option changes its sign, one per input, nearest first."""
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


def what_changes(option: Option) -> str:
    """Sentences on the three nearest turning points. Without any: that an option pays by far, or
    nothing.
    """
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
            return f"{_subject(option)} pays, and would with a tenth of the answers."
        return ""
    if option.pays:
        turns = "It would not"
    else:
        turns = "It would"
    *first, last = (_condition(option, point) for point in points)
    if first:
        when = f"{', '.join(first)} or {last}"
    else:
        when = last
    return f"{_subject(option)} {'pays' if option.pays else 'does not pay'}. {turns} {when}."


def _subject(option: Option) -> str:
    """Name of an option as the subject of a sentence: set off by a comma where it holds one."""
    if "," in option.name:
        return f"{option.name},"
    return option.name


def _condition(option: Option, point: TurningPoint) -> str:
    over = point.above != bool(option.pays)
    side = "more than" if over else "less than"
    if point.name == "replies a day":
        return f"{'from' if over else 'below'} {rounded(point.value)} answers a day"
    if point.name == "worth of an hour":
        hour = money_per_hour(point.value).removesuffix(" an hour")
        return f"if your hour were worth {side} {hour}"
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


def _within_its_range(option: Option, point: TurningPoint) -> str:
    """That a turning point lies within the range of the price; empty where it does not."""
    price = option.price
    if price.usd is None or price.low is None or price.high is None:
        return ""
    if not price.low <= price.usd * point.share <= price.high:
        return ""
    return f", within its range of {money_words(price.low)} to {money_words(price.high)}"


def price_turns(option: Option) -> str:
    """Sentence where a purchase pays or not within the range of its price; empty where it does not
    turn.
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


def in_question(
    options: Sequence[Option], choice: Choice, reading_tps: float = 0.0
) -> Option | None:
    """What to buy, else the sound purchase that would leave most, else what would pay at the fewest
    replies, and what pays though it is odd where nothing else would; None without any.
    """
    safe = choice.safe
    if safe is not None and safe.kind is OptionKind.CHANGE and not safe.upfront:
        safe = None  # what is free turns on nothing
    cheapest = choice.cheapest
    option = safe or _sound(options, cheapest, reading_tps) or nearest(options) or cheapest
    if option is None or option.gain is None:
        return None
    return option


def _sound(options: Sequence[Option], cheapest: Option | None, reading_tps: float) -> Option | None:
    """Purchase that pays and that nobody finds odd: where this machine writes slower than one
    reads, one with which one reads along; None without one.
    """
    able = [option for option in _able(options) if not option.odd]
    along = [option for option in able if reads_along(option, reading_tps)]
    if along and not reads_along(options[0], reading_tps):
        return min(along, key=_order)
    if cheapest is not None and not cheapest.odd:
        return cheapest
    return min(able, key=by_comparison, default=None)


FEW_CARDS = 2  # most cards of a purchase that is named though it does not pay


def nearest(options: Sequence[Option]) -> Option | None:
    """Option that would pay at the fewest replies, of the notably faster ones of few cards that do
    not pay, a purchase before a rent; None if none would.
    """
    now = options[0].decode
    able = [
        (option.kind is OptionKind.RENT, tokens, option)
        for option in options[1:]
        if option.kind in HARDWARE
        and option.pays is False
        and option.may_win
        and not option.odd
        and option.decode >= NOTABLE * now
        and option.speed is not None
        and len(option.bought) <= FEW_CARDS
        and (tokens := option.break_even_tokens)
        and tokens > option.tokens
    ]
    return min(able, key=lambda row: row[:2], default=(False, 0.0, None))[2]
