"""Purchases within a budget: the best buy, the cheapest and the fastest, by the rules of advice.

Nothing is among them that is no faster than what is owned at its best free setting, that an expert
finds odd, that reads the model from the drive, or whose price is older than half a year.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from advisor.advice.table.choice import NOTABLE, is_bought, reads_drive
from advisor.advice.table.option import Option, OptionKind


class Buys(NamedTuple):
    """Purchases to choose from; None where nothing is worth its price."""

    best: Option | None  # the whole model in the fewest cards, as fast as one wants, for least
    cheapest: Option | None  # least paid at once
    fastest: Option | None

    @property
    def named(self) -> tuple[tuple[str, Option], ...]:
        """Purchases with their names, each once, under the first of its names."""
        rows = (("Best buy", self.best), ("Cheapest", self.cheapest), ("Fastest", self.fastest))
        seen: list[int] = []
        named = []
        for name, option in rows:
            if option is not None and id(option) not in seen:
                seen.append(id(option))
                named.append((name, option))
        return tuple(named)


def buys(
    options: Sequence[Option],
    least: float,
    most_usd: float | None,
    safe: Option | None = None,
    step: Option | None = None,
) -> Buys:
    """Purchases of at least a speed [tokens/s], up to a budget [USD].

    `safe` is the safe choice and `step` the present machine at its best free setting.
    """
    now = step or options[0]
    if not reads_drive(now):  # from the drive is no more than a hope
        least = max(least, NOTABLE * now.decode)
    able = [option for option in _sound(options) if option.decode >= least]
    if most_usd is not None:
        able = [option for option in able if option.paid_first <= most_usd]
    best = safe if safe is not None and any(safe is each for each in able) else None
    return Buys(
        best=best or min(able, key=_rank, default=None),
        cheapest=min(able, key=lambda each: each.upfront or 0.0, default=None),
        fastest=max(able, key=lambda each: each.decode, default=None),
    )


def placed(option: Option) -> str:
    """Words on the place of a purchase, and on the model in it with its program and format."""
    into = "a new machine" if option.kind is OptionKind.MACHINE else "into mine"
    speed = option.speed
    if speed is None:
        return into
    where = "all in the GPU" if speed.whole else "a part in RAM"
    return f"{into}, {where} with {speed.runtime} {speed.format}"


def _sound(options: Iterable[Option]) -> list[Option]:
    """Purchases with a fresh price that many would make."""
    return [
        option
        for option in options
        if is_bought(option)
        and option.speed is not None
        and not option.speed.waiting
        and option.upfront is not None
        and option.upfront > 0
        and option.dated
        and not option.odd
        and not reads_drive(option)
    ]


def _rank(option: Option) -> tuple[bool, bool, float]:
    """Sort key: the whole model in the GPUs, into the present machine, then price by speed."""
    part = option.speed is None or not option.speed.whole
    return part, option.kind is OptionKind.MACHINE, (option.upfront or 0.0) / option.decode
