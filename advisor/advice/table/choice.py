"""Choice among the options: the safe purchase, which is often none, and the purchase in
question.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from advisor.advice.prices.price import SECOND_HAND
from advisor.advice.table.demand import LATE
from advisor.advice.table.option import (
    FELT,
    HARDWARE,
    Option,
    OptionKind,
    by_comparison,
    worth_a_word,
)
from advisor.advice.table.turning import price_turns
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import money as money_words
from advisor.units import number

BOUGHT = (OptionKind.ADD, OptionKind.REPLACE, OptionKind.MACHINE)
"""Kinds of options that are bought; a rent or an API is a reference beside them."""
NOTABLE = 1.5  # factor from which a free change, or a purchase that does not pay, is worth a word
AS_GOOD = 1.5  # factor on the best time within which the setting that loses least is taken
FEW_HOURS = 5.0
"""Waiting that each user saves in a month from which who can read along buys something [h]: ten
minutes of each day."""
FASTER = 4.0  # multiple of reading speed from which a model writes faster than one reads
RENT_LESS = 0.5
RENT_SAVED = 250.0
"""Share of a rent below which another machine is worth moving to, and the least that it saves in a
month [USD]."""
SHORTER = 1.25
"""Factor by which waiting must fall to be worth a purchase where hours are saved: beyond the error
of predictions (`FELT`); `NOTABLE` for another machine, to which everything moves."""
DOUBLED = 2.0  # factor from which people notice that a purchase writes faster
DEAR = 1000.0
"""Price from which people want to notice what they bought: an answer that comes notably sooner, or
half an hour a day less waiting; assumed [USD]."""
HALF_AN_HOUR_A_DAY = 15.0
"""Waiting that a purchase saves in a month from which it is noticed whatever its speed, and bought
rather than rented first [h]."""
LESS_WORTH = 0.5
"""Share of the worth of an hour at which purchases are compared with one another: the low end of
the range of what an hour is worth (`turning.inputs`), so that the dearer one pays in any case."""
TIDY = 1.5
"""Factor on the least cost with waiting within which people take what is simpler to build: fewer
cards, alike, the whole model in them; assumed."""
LEAVES_A_LOT = 1000.0
"""What a purchase must cost less to be worth the room, power and heat of a further card, or a part
of the model in RAM [USD]; assumed."""
MOST_BUILT = 4
"""Desktops that are built and kept side by side, at most: more want a room, its cooling and
circuits, and are rented; assumed."""
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
    *,
    budget: bool = False,
) -> Choice:
    """Choice among the options, beside the present machine at its best free setting, `step`.

    It is empty where only the chosen runtime refuses. Who states a `budget` is ready to spend it.
    """
    kept = options[0]
    free = step or free_change(options)
    able = [option for option in _able(options) if not reads_drive(option)]
    cheapest = min(able, key=by_comparison, default=None)
    if runtime:
        return Choice(safe=free, reason=f"Buy nothing: {runtime}", cheapest=cheapest, free=free)
    now = free or kept
    enough = reads_along(now, reading_tps) and not (budget and barely(now, reading_tps))
    if free is not None and enough and begins_late(kept) and not begins_late(free):
        reason = f"Before anything is bought, a free change: {free.name}."
        return Choice(safe=None, reason=reason, cheapest=cheapest, free=free)
    reached = worth_buying(options, reading_tps, replies_per_day, free, budget=budget)
    safe = sensible(reached)
    if safe is not None:
        return Choice(
            safe=safe,
            reason=why(safe),
            cheapest=cheapest,
            free=free,
            saves=_saved(safe, now),
        )
    reason = _why_nothing(options, able, cheapest, reading_tps, replies_per_day)
    if free is not None and not reads_along(kept, reading_tps):
        reason = f"Before anything is bought, a free change: {free.name}."
    return Choice(safe=None, reason=reason, cheapest=cheapest, free=free)


def worth_buying(
    options: Sequence[Option],
    reading_tps: float,
    replies_per_day: float,
    free: Option | None,
    *,
    budget: bool = False,
) -> list[Option]:
    """Purchases that people would make, compared with the present machine or a free change of it.

    They write at least at reading speed at the low end of their range. Where none does, they are
    those that likely do; where none does so either, they are slower ones. Within a stated `budget`
    nothing is rented first because it is dear.
    """
    now = free or options[0]
    enough = reads_along(now, reading_tps) and not (budget and barely(now, reading_tps))
    rented = any(option.kind is OptionKind.RENT for option in options)
    # else neither rent nor a speed to measure hours by
    by_hours = not budget and (rented or not reads_drive(now))
    usual = [
        option
        for option in _able(options)
        if not option.odd
        and not reads_drive(option)
        and not (by_hours and _too_dear(option, replies_per_day, now))
        and _notable(option, now, enough=enough)
        and option.decode >= min(now.decode, FASTER * reading_tps)
        and _costs_less(option, now)
    ]
    surely = [option for option in usual if option.speed and option.speed.low >= reading_tps]
    if surely:
        return surely
    along = [option for option in usual if option.decode >= reading_tps]
    return along or [option for option in usual if option.decode >= reading_tps / 3]


def _costs_less(option: Option, now: Option) -> bool:
    """Whether a purchase costs less than the kept machine at its best free setting, with waiting at
    its lower worth; true where the model is read from the drive now.
    """
    if now.with_waiting is None or reads_drive(now):
        return True
    return _cautious(option) < _cautious(now)


def sensible(reached: Sequence[Option]) -> Option | None:
    """Best of the purchases that people would make; None where they would make none.

    It is the simplest to build of those that cost little more than the best, waiting included; of
    several that are as simple, and cost hardly more, the one of which least is paid at once.
    """
    if not reached:
        return None
    least = min(map(_cautious, reached))
    most = max(TIDY * least, least + LEAVES_A_LOT / reached[0].use.money.purchase_months)
    near = [option for option in reached if _cautious(option) <= most]
    simplest = min(map(_simplicity, near))
    best = _least_paid([option for option in near if _simplicity(option) == simplest])
    for option in sorted(near, key=lambda each: each.upfront or 0.0):
        if _leaves_a_lot(option, best) and _cautious(option) <= _cautious(best):
            return option
    return best


def hardly_dearer(option: Option, cheapest: Option) -> bool:
    """Whether a month of an option costs so little more than that of the cheapest that people take
    what is simpler.
    """
    least = cheapest.monthly or 0.0
    more = LEAVES_A_LOT / option.use.money.purchase_months
    return (option.monthly or 0.0) <= max(FELT * least, least + more)


def _least_paid(alike: Sequence[Option]) -> Option:
    """Purchase of which least is paid at once, of those that cost hardly more than the best."""
    most = FELT * min(map(_cautious, alike))
    near = [option for option in alike if _cautious(option) <= most]
    return min(near, key=lambda option: (option.upfront or 0.0, _cautious(option)))


def _cautious(option: Option) -> float:
    """Cost of a month with waiting, of which an hour is worth less [USD/month]."""
    worth = (1.0 - LESS_WORTH) * option.worth
    return (option.compared or 0.0) - worth * (option.hours_lost or 0.0)


def _leaves_a_lot(option: Option, best: Option) -> bool:
    """Whether a purchase that is no harder to build is cheaper by so much that a further card, or a
    part of the model in RAM, is acceptable.
    """
    alike = _simplicity(option)[0] <= _simplicity(best)[0]
    return alike and (best.upfront or 0.0) - (option.upfront or 0.0) >= LEAVES_A_LOT


def reads_along(option: Option, reading_tps: float) -> bool:
    """Whether replies keep up with reading, no user waits for another, and no weights come from the
    drive.
    """
    speed = option.speed
    return (
        speed is not None
        and speed.decode >= reading_tps
        and not speed.waiting
        and not reads_drive(option)
    )


def barely(option: Option, reading_tps: float) -> bool:
    """Whether a free setting that loses quality only just keeps up with reading, so that it may
    not.
    """
    speed = option.speed
    return bool(option.loss) and speed is not None and speed.low < reading_tps


def reads_drive(option: Option) -> bool:
    """Whether a part of the model is read from the drive for each token."""
    speed = option.speed
    return speed is not None and speed.strategy is PlacementStrategy.NVME_OFFLOAD


def begins_late(option: Option) -> bool:
    """Whether the first word comes too late, however fast the next ones follow."""
    return option.speed is not None and option.speed.first_token >= LATE


def is_bought(option: Option) -> bool:
    """Whether an option costs money once: cards, a machine, or a part such as more RAM."""
    paid = option.kind is OptionKind.CHANGE and (option.upfront or 0.0) > 0
    return option.kind in BOUGHT or paid


def _able(options: Sequence[Option]) -> Iterator[Option]:
    """Purchases that save money; for a rented machine, also smaller rented ones."""
    rented = options[0].is_rented
    for option in worth_a_word(options):
        if is_bought(option) or (rented and option.kind is OptionKind.RENT):
            yield option


def _notable(option: Option, kept: Option, *, enough: bool) -> bool:
    """Whether people notice the difference between an option and the kept machine, or its best free
    setting.

    They notice hours less waiting, nobody in a queue where some were, and half the rent, for
    another rent or for a purchase; where they cannot read along (`enough` is false), also half the
    waiting.
    """
    if _halves_the_rent(option, kept):
        return True
    if option.kind is OptionKind.RENT:
        return False
    if kept.speed is not None and kept.speed.waiting:
        return option.speed is not None and not option.speed.waiting
    if reads_drive(kept) and not reads_drive(option):
        return True  # from the drive is no more than a hope
    saved = _saved(option, kept)
    if _is_dear_for(option, kept, saved):
        return False
    shorter = NOTABLE if option.kind is OptionKind.MACHINE else SHORTER
    if saved >= FEW_HOURS and _waits_less(option, kept, shorter):
        return True
    return not enough and _waits_less(option, kept, DOUBLED)


def _is_dear_for(option: Option, kept: Option, saved: float) -> bool:
    """Whether a purchase is dear and hardly noticed: it saves few hours a month [h], and an answer
    comes hardly sooner.
    """
    if (option.upfront or 0.0) < DEAR or saved >= HALF_AN_HOUR_A_DAY:
        return False
    return NOTABLE * option.answer_seconds > kept.answer_seconds


def _halves_the_rent(option: Option, kept: Option) -> bool:
    """Whether an option costs at most half of a month's rent that is paid now, and notably less."""
    if not kept.is_rented:
        return False
    now = kept.monthly or 0.0
    then = option.monthly or 0.0
    return then <= RENT_LESS * now and now - then >= RENT_SAVED


def _waits_less(option: Option, kept: Option, factor: float) -> bool:
    """Whether waiting with an option is shorter by a factor than with what is kept."""
    then = option.hours_lost
    now = kept.hours_lost
    if then is None or now is None:
        return option.decode >= factor * kept.decode
    return factor * then <= now


def _saved(option: Option, kept: Option) -> float:
    """Waiting of a month that each user saves [h]."""
    lost = (kept.hours_lost or 0.0) - (option.hours_lost or 0.0)
    return lost / float(option.use.work.users)


def _too_dear(option: Option, replies_per_day: float, kept: Option) -> bool:
    """Whether a few hours of rent should come before a purchase of one person."""
    dear = (option.upfront or 0.0) > RENT_FIRST and replies_per_day < ALL_DAY
    return dear and not (kept.speed is not None and _saved(option, kept) >= HALF_AN_HOUR_A_DAY)


def _order(option: Option) -> tuple[bool, bool, int, bool, bool, float, float]:
    """Sort key: what is simpler to build, then cost."""
    return (*_simplicity(option), *by_comparison(option))


def _simplicity(option: Option) -> tuple[bool, bool, int, bool]:
    """Sort key of how simple a purchase is to build: into the present machine, the whole model, one
    card before two, alike before unlike ones.
    """
    part = option.kind is not OptionKind.CHANGE and not (option.speed and option.speed.whole)
    machine = option.machine
    unlike = machine is not None and len({gpu.name for gpu in machine.gpus}) > 1
    return option.kind is OptionKind.MACHINE, part, len(option.bought), unlike


def why(option: Option) -> str:
    """Reasons for an option in words: many choose it, its price, whether it is used."""
    if option.price.condition in SECOND_HAND:
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
    if option.kind is OptionKind.RENT:
        if option.kept is not None and option.kept.is_rented:
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
    if enough := _why_enough(kept, reading_tps):
        return enough
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
    return f"Nothing that you could buy repays its price at your use.{_nearest(options)}"


def _why_enough(kept: Option, reading_tps: float) -> str:
    """Why the present machine is fast enough at the stated use; empty where it is slow."""
    if kept.use.unread and kept.speed is not None and not reads_drive(kept):
        turns = number(kept.use.money.replies_per_day)
        return f"At {turns} turns a day {larger(kept)} would save little."
    if not reads_along(kept, reading_tps):
        return ""
    if begins_late(kept):
        return "Nothing that you could buy begins so much sooner that it repays its price."
    if kept.decode >= FASTER * reading_tps:
        pace = "faster than"
    else:
        pace = "as fast as"
    return f"It writes {pace} you read: {larger(kept)} would save little."


def _nearest(options: Sequence[Option]) -> str:
    """Sentence on the purchase with the least cost and waiting, where nothing that is owned runs
    the model; empty elsewhere.
    """
    able = [option for option in options if option.kind in BOUGHT and option.dated]
    if options[0].speed is not None or not able:
        return ""
    nearest = min(able, key=lambda option: (bool(option.odd), *by_comparison(option)))
    speed = f"{number(nearest.decode)} tokens a second"
    odd = f" {nearest.odd[0]}" if nearest.odd else ""
    return f" Nearest: {nearest.name}, {speed}, for {money_words(nearest.paid_first)}.{odd}"


def why_not(kept: Option, reading_tps: float) -> str:
    """Sentence on why nothing is bought though something would pay."""
    if reads_along(kept, reading_tps):
        return f"It writes as fast as you read: {larger(kept)} would save little."
    return "Nothing needs to be bought."


def larger(kept: Option) -> str:
    """Words for the machine that people would buy in place of the present one.

    A machine whose GPU is a part of it is bought whole; one without a GPU gets one.
    """
    machine = kept.machine
    if machine is None or (machine.gpus and not machine.unified):
        return "a bigger GPU"
    if machine.gpus:
        return "a bigger machine"
    return "a GPU"


def free_change(options: Sequence[Option]) -> Option | None:
    """Fastest reported change without cost or loss that is notably faster, or begins sooner where
    the first word is late; None without one.
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
        and not option.unreported
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
    """Purchase to judge: the chosen one, or the best of those without an expert's doubt.

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
    """Purchase that pays and has no oddity; where this machine is slower than reading, one that
    keeps up with it. None without one.
    """
    able = [option for option in _able(options) if not option.odd and not reads_drive(option)]
    along = [option for option in able if reads_along(option, reading_tps)]
    if along and not reads_along(options[0], reading_tps):
        return min(along, key=_order)
    if cheapest is not None and not cheapest.odd and not reads_drive(cheapest):
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
