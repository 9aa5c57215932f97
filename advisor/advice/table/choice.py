"""What to choose of the options: the safe purchase, often none, and beside it the cheapest."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from advisor.advice.table.option import Option, OptionKind, by_comparison, worth_a_word
from advisor.cost_model.placement import PlacementStrategy

BOUGHT = (OptionKind.ADD, OptionKind.REPLACE, OptionKind.MACHINE)
"""Kinds of options that are bought; a rent or an API is a reference beside them."""
NOTABLE = 1.5
"""Factor from which a free change, or a purchase that does not pay, is worth a word."""
FEW_HOURS = 5.0
"""Waiting that each user saves in a month from which who can read along buys something [h]: ten
minutes of each day."""
FASTER = 4.0
"""Multiple of reading speed from which a model writes faster than one reads."""
RENT_LESS, RENT_SAVED = 0.5, 250.0
"""Share of a rent below which another machine is worth moving to, and the least that it saves in a
month [USD]."""
LATE = 30.0
"""Wait for the first word from which nothing runs well [s]."""
DOUBLED = 2.0
"""Factor from which people notice that a purchase writes faster."""
RENT_FIRST, ALL_DAY = 3000.0, 200.0
"""Price from which one rents before one buys [USD], unless so many answers a day are asked for: a
card of 80 GB costs about two dollars an hour (data/prices/prices.csv)."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What to choose."""

    safe: Option | None  # purchase that many run and that the machine takes; None to buy nothing
    reason: str  # why it, or why nothing
    cheapest: Option | None  # the one that leaves most of all that run; None where nothing pays
    free: Option | None = None  # change without a cost that is worth its trouble; None for none

    @property
    def named(self) -> tuple[Option, ...]:
        """Options that the verdict may name."""
        return tuple(each for each in (self.safe, self.cheapest, self.free) if each is not None)


def choice_of(
    options: Sequence[Option], reading_tps: float, replies_per_day: float, runtime: str = ""
) -> Choice:
    """What to choose of the options; nothing where only the chosen runtime refuses."""
    kept, free = options[0], free_change(options)
    able = list(_able(options))
    cheapest = min(able, key=by_comparison, default=None)
    if runtime:
        return Choice(safe=free, reason=f"Buy nothing: {runtime}", cheapest=cheapest, free=free)
    now = free or kept
    enough = reads_along(now, reading_tps)
    if free is not None and enough and begins_late(kept) and not begins_late(free):
        reason = f"Before anything is bought, a free change: {free.name}."
        return Choice(safe=None, reason=reason, cheapest=cheapest, free=free)
    usual = [
        option
        for option in able
        if not option.odd
        and not reads_drive(option)
        and not _too_dear(option, replies_per_day)
        and _notable(option, now, enough=enough)
        and (free is None or (option.compared or 0.0) < (free.with_waiting or 0.0))
    ]
    for least in (reading_tps, reading_tps / 3):
        reached = [option for option in usual if _decode(option) >= least]
        if reached:
            break
    safe = min(reached, key=_order, default=None)
    if safe is not None:
        return Choice(safe=safe, reason=_why(safe), cheapest=cheapest, free=free)
    reason = _why_nothing(kept, able, cheapest, reading_tps, replies_per_day)
    if free is not None and not reads_along(kept, reading_tps):
        reason = f"Before anything is bought, a free change: {free.name}."
    return Choice(safe=None, reason=reason, cheapest=cheapest, free=free)


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


def _decode(option: Option) -> float:
    return option.speed.decode if option.speed else 0.0


def _notable(option: Option, kept: Option, *, enough: bool) -> bool:
    """Whether people notice it beside what is kept or free: twice as fast, nobody waiting where
    some did, half the rent.
    """
    if option.kind is OptionKind.RENT:
        now, then = kept.monthly or 0.0, option.monthly or 0.0
        return then <= RENT_LESS * now and now - then >= RENT_SAVED
    if kept.speed is not None and kept.speed.waiting:
        return option.speed is not None and not option.speed.waiting
    saved = ((kept.hours_lost or 0.0) - (option.hours_lost or 0.0)) / float(option.use.work.users)
    return _decode(option) >= DOUBLED * _decode(kept) and (not enough or saved >= FEW_HOURS)


def _too_dear(option: Option, replies_per_day: float) -> bool:
    """Whether a few hours of rent should come before a purchase of one person."""
    return (option.upfront or 0.0) > RENT_FIRST and replies_per_day < ALL_DAY


def _order(option: Option) -> tuple[bool, bool, int, bool, float, float]:
    """Sort key: into the present machine, the whole model, one card before two, then cost."""
    part = option.kind is not OptionKind.CHANGE and not (option.speed and option.speed.whole)
    return (option.kind is OptionKind.MACHINE, part, len(option.bought), *by_comparison(option))


def _why(option: Option) -> str:
    """Why many choose it, what is said of its price, and whether it is used."""
    used = " Used: without its maker's warranty." if "used" in option.price.note else ""
    old = ""
    if option.price.listed:
        old = f" The price is its maker's at launch, of {option.price.date}."
    elif option.stale:
        old = f" The price is of {option.price.date or 'an unknown day'}: look it up."
    where = "" if option.price.typed else " Prices are of the United States."
    why = {
        OptionKind.RENT: "A smaller machine for rent serves it",
        OptionKind.CHANGE: "It goes in as it is",
        OptionKind.MACHINE: "Such machines are run as they are sold",
    }.get(option.kind, "Many run it, and it goes in as it is")
    return f"{why}.{used}{old}{where}"


def _why_nothing(
    kept: Option,
    able: Sequence[Option],
    cheapest: Option | None,
    reading_tps: float,
    replies_per_day: float,
) -> str:
    if reads_along(kept, reading_tps):
        faster = _decode(kept) >= FASTER * reading_tps
        pace = "faster than" if faster else "as fast as"
        return f"It writes {pace} you read: {larger(kept)} would save little."
    if any(not option.odd and _too_dear(option, replies_per_day) for option in able):
        return "What holds it costs as much as a workstation: rent it for some hours first."
    if cheapest is not None and cheapest.odd:
        return f"Only something odd repays its price: {cheapest.name}. {cheapest.odd[0]}"
    if not kept.tokens:
        return "Without answers nothing repays its price."
    return "Nothing that you could buy repays its price at your use."


def larger(kept: Option) -> str:
    """What somebody would buy in place of a machine: one whose GPU is a part of it is bought whole,
    one without a GPU takes one.
    """
    machine = kept.machine
    if machine is None or (machine.gpus and not machine.unified):
        return "a bigger GPU"
    return "a bigger machine" if machine.gpus else "a GPU"


def free_change(options: Sequence[Option]) -> Option | None:
    """Fastest change that costs neither money nor quality and is notably faster, or begins sooner
    where the first word is late; None for none.
    """
    kept = options[0]
    now, late = _decode(kept), begins_late(kept)
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
    return speed.first_token + option.use.generated / speed.decode if speed else math.inf
