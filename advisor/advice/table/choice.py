"""Choice among the options: the safe purchase, which is often none, and the purchase in
question.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from advisor.advice.table.demand import LATE
from advisor.advice.table.option import HARDWARE, Option, OptionKind, by_comparison, worth_a_word
from advisor.advice.table.turning import price_turns
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import money as money_words

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
HALF_PRICE = 0.5
"""Share of a price from which down a purchase that does nearly the same is taken; assumed."""
LEAVES_A_LOT = 1000.0
"""What a purchase must cost less to be worth the room, power and heat of a further card, or a part
of the model in RAM [USD]; assumed."""
RENT_FIRST = 3000.0
ALL_DAY = 200.0
"""Price from which one rents before one buys [USD], unless so many answers a day are asked for: a
card of 80 GB costs about two dollars an hour (data/prices/prices.csv)."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Choice among the options."""

    safe: Option | None  # purchase that many run and that the machine takes; None to buy nothing
    reason: str  # why it, or why nothing
    cheapest: Option | None  # the one that leaves most of all that run; None where nothing pays
    free: Option | None = None  # change without a cost that is worth its trouble; None for none
    saves: float = 0.0  # waiting of a month that it saves beside the best free setting [h]
    fastest: float = 0.0  # speed of the fastest purchase that people would make [tokens/s]

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
    """Choice among the options, beside the present machine at its best free setting, `step`.

    It is empty where only the chosen runtime refuses.
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
    safe = sensible(reached, reading_tps)
    if safe is not None:
        return Choice(
            safe=safe,
            reason=why(safe),
            cheapest=cheapest,
            free=free,
            saves=_saved(safe, now),
            fastest=max(option.decode for option in reached),
        )
    reason = _why_nothing(options, able, cheapest, reading_tps, replies_per_day)
    if free is not None and not reads_along(kept, reading_tps):
        reason = f"Before anything is bought, a free change: {free.name}."
    return Choice(safe=None, reason=reason, cheapest=cheapest, free=free)


def worth_buying(
    options: Sequence[Option], reading_tps: float, replies_per_day: float, free: Option | None
) -> list[Option]:
    """Purchases that people would make, beside the present machine or a free change of it.

    They are those that write as fast as one reads; where there are none, slower ones.
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


def sensible(reached: Sequence[Option], reading_tps: float) -> Option | None:
    """Best of the purchases that people would make, unless one for half of its price does nearly
    the same: whoever would not notice the difference pays the lower price. None of none.
    """
    best = min(reached, key=_order, default=None)
    while best is not None and (less := _hardly_lesser(reached, best, reading_tps)):
        best = min(less, key=_order)
    return best


def _hardly_lesser(reached: Sequence[Option], best: Option, reading_tps: float) -> list[Option]:
    """Purchases for at most half of the price of the best, beside which it is not notable; none
    where the best costs nothing at once, as by a price that its owner stated.
    """
    most = HALF_PRICE * (best.upfront or 0.0)
    if most <= 0:
        return []
    return [
        option
        for option in reached
        if option.kind in BOUGHT
        and (option.upfront or 0.0) <= most
        and (_order(option)[:3] <= _order(best)[:3] or _leaves_a_lot(option, best))
        and not _notable(best, option, enough=reads_along(option, reading_tps))
    ]


def _leaves_a_lot(option: Option, best: Option) -> bool:
    """Whether a purchase of the same kind leaves so much that a further card, or a part of the
    model in RAM, is worth it.
    """
    alike = _order(option)[0] <= _order(best)[0]
    return alike and (best.upfront or 0.0) - (option.upfront or 0.0) >= LEAVES_A_LOT


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
    """Whether people notice it beside what is kept or free: twice as fast, the first word twice as
    soon where it is late, nobody waiting where some did, half the rent.
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
    if _begins_sooner(option, kept) and saved >= FEW_HOURS:
        return True
    if saved >= HALF_AN_HOUR_A_DAY and option.decode >= NOTABLE * kept.decode:
        return True
    return option.decode >= DOUBLED * kept.decode and (not enough or saved >= FEW_HOURS)


def _begins_sooner(option: Option, kept: Option) -> bool:
    """Whether the first word is late now, and would come in half the time."""
    now = kept.speed
    then = option.speed
    if now is None or then is None or not begins_late(kept):
        return False
    return DOUBLED * then.first_token <= now.first_token


def _saved(option: Option, kept: Option) -> float:
    """Waiting of a month that each user saves [h]."""
    lost = (kept.hours_lost or 0.0) - (option.hours_lost or 0.0)
    return lost / float(option.use.work.users)


def _too_dear(option: Option, replies_per_day: float, kept: Option) -> bool:
    """Whether a few hours of rent should come before a purchase of one person."""
    dear = (option.upfront or 0.0) > RENT_FIRST and replies_per_day < ALL_DAY
    return dear and not (kept.speed is not None and _saved(option, kept) >= HALF_AN_HOUR_A_DAY)


def _order(option: Option) -> tuple[bool, bool, int, bool, bool, float, float]:
    """Sort key: into the present machine, the whole model, one card before two, alike before unlike
    ones, then cost.
    """
    part = option.kind is not OptionKind.CHANGE and not (option.speed and option.speed.whole)
    machine = option.machine
    unlike = machine is not None and len({gpu.name for gpu in machine.gpus}) > 1
    count = len(option.bought)
    return (option.kind is OptionKind.MACHINE, part, count, unlike, *by_comparison(option))


def why(option: Option) -> str:
    """Reasons for an option in words: many choose it, its price, whether it is used."""
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
    return f"{_why_it(option)}.{used}{old}{where}{price_turns(option)}"


def _why_it(option: Option) -> str:
    """Why an option is chosen, prices aside."""
    kept = option.kept.cost if option.kept else None
    if option.kind is OptionKind.RENT:
        if kept is not None and kept.rent + kept.starts:
            return "A smaller machine for rent serves it"
        return "At your use its rent costs less than what is bought"
    if option.kind is OptionKind.CHANGE:
        return "It goes in as it is"
    if option.kind is OptionKind.MACHINE and option.parts:
        return "Many run such cards, and the desktop is built for them"
    if option.kind is OptionKind.MACHINE:
        return "Such machines are run as they are sold"
    return "Many run it, and it goes in as it is"


def _why_nothing(
    options: Sequence[Option],
    able: Sequence[Option],
    cheapest: Option | None,
    reading_tps: float,
    replies_per_day: float,
) -> str:
    """Why nothing is bought."""
    kept = options[0]
    if begins_late(kept) and reads_along(kept, reading_tps):
        return "Nothing that you could buy begins so much sooner that it repays its price."
    if reads_along(kept, reading_tps):
        faster = kept.decode >= FASTER * reading_tps
        if faster:
            pace = "faster than"
        else:
            pace = "as fast as"
        return f"It writes {pace} you read: {larger(kept)} would save little."
    sound = [each for each in able if not each.odd and not reads_drive(each)]
    dear = [each for each in sound if _too_dear(each, replies_per_day, kept)]
    if dear and any(option.kind is OptionKind.RENT for option in options):
        return "What holds it costs as much as a workstation: rent it for some hours first."
    if dear:
        least = money_words(min(option.upfront or 0.0 for option in dear))
        return f"What holds it costs {least} or more: too much for so few answers."
    if cheapest is not None and cheapest.odd:
        odd = f"{cheapest.name}, {money_words(cheapest.upfront or cheapest.monthly or 0.0)}"
        return f"Only something odd repays its price: {odd}. {cheapest.odd[0]}"
    if not kept.tokens:
        return "Without answers nothing repays its price."
    return "Nothing that you could buy repays its price at your use."


def why_not(kept: Option, reading_tps: float) -> str:
    """Why nothing is bought though something would pay."""
    if reads_along(kept, reading_tps):
        return f"It writes as fast as you read: {larger(kept)} would save little."
    return "Nothing needs to be bought."


def larger(kept: Option) -> str:
    """Machine that people would buy in place of the present one.

    A machine whose GPU is a part of it is bought whole; one without a GPU gets one.
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
        if option.is_free_setting
        and option.speed is not None
        and not option.loses_quality
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


def in_question(
    options: Sequence[Option], choice: Choice, reading_tps: float = 0.0
) -> Option | None:
    """Purchase to judge: the chosen one, or the sound one that would leave most money.

    Where neither exists, it is the one that would pay at the fewest replies, then an odd one that
    pays; None without any.
    """
    safe = choice.safe
    if safe is not None and safe.is_free_setting:
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
    """Option that would pay at the fewest replies; None if none would.

    It is notably faster, of few cards, and does not pay yet; a purchase comes before a rent.
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
