"""Table of all options: the present machine first, the others by what they save."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from advisor.advice.changes.what_ifs import WhatIf
from advisor.advice.money.ownership import room_for
from advisor.advice.options.candidates import cards_held, cards_in_a_desktop, desktop_kinds
from advisor.advice.options.cards import added, replaced
from advisor.advice.options.elsewhere import apis, desktops, machines, rents
from advisor.advice.options.kept import changes, keep
from advisor.advice.options.option import Option, OptionKind
from advisor.advice.options.pareto import beaten
from advisor.advice.options.question import Question
from advisor.advice.options.timed_cards import CardSpeed
from advisor.advice.speeds import Speed

WORTH_A_WORD = 1.0
"""A verdict names what leaves at least so much more in a month [USD]."""
OF_EACH = 3
"""Options of a kind that are shown before the rest is asked for."""


def options(
    question: Question, now: Speed | None, what_ifs: Iterable[WhatIf]
) -> tuple[Option, ...]:
    """Options, the present machine first, then by what they save.

    Args:
        question: model, machine, use and ownership.
        now: speed of the present machine; None where nothing runs.
        what_ifs: changes other than another card.
    """
    kept = keep(question, now)
    held = cards_held(question).holders
    whole = _takes_no_card(question)
    others = [
        *changes(question, kept, what_ifs),
        *added(question, kept),
        *replaced(question, kept, held),
        *machines(question, kept),
        *(desktops(question, kept, _in_a_desktop(question, held)) if whole else ()),
        *rents(question, kept, held),
        *apis(question, kept),
    ]
    return (kept, *sorted(others, key=rank))


def _takes_no_card(question: Question) -> bool:
    """Whether new cards need another machine: the present one takes none, or is rented."""
    own = question.ownership
    return not own.owned or question.machine.unified or not room_for(own.form, 2)


def _in_a_desktop(question: Question, held: Iterable[CardSpeed]) -> Iterable[CardSpeed]:
    """The cards for sale among them, with their speeds in a desktop."""
    for_sale = set(desktop_kinds(question))
    rows = held if question.machine.unified else cards_in_a_desktop(question).holders
    return [row for row in rows if row[0].name in for_sale]


def rank(option: Option) -> tuple[bool, float, float]:
    """Sort key: monthly cost with waiting; options without a dated price or speed last."""
    known = option.with_waiting
    monthly = option.monthly
    return (
        known is None or not option.dated,
        math.inf if known is None else known,
        math.inf if monthly is None else monthly,
    )


def choice(options: Sequence[Option]) -> Option | None:
    """Option that the verdict names: the one that saves most, among those that pay and may win.

    Where nothing runs now, the cheapest that does. Changes of format and cache are none of them:
    what they lose in quality has no price.
    """
    kept = options[0]
    if kept.speed is not None and not kept.tokens:
        return None
    able = [option for option in options[1:] if option.may_win and option.with_waiting is not None]
    if kept.speed is not None:
        able = [option for option in able if option.pays and (option.gain or 0.0) >= WORTH_A_WORD]
    return min(able, key=rank, default=None)


def folded(options: Sequence[Option]) -> list[bool]:
    """True for those that another one beats in both the month's cost and speed, and for those that
    are slower than what is kept and do not pay; never what is kept nor one without a price or a
    speed.
    """
    now = options[0].speed.decode if options[0].speed else 0.0
    cost = [math.nan if option.monthly is None else option.monthly for option in options]
    speed = [math.nan if option.speed is None else option.speed.decode for option in options]
    hidden = [bool(is_beaten) for is_beaten in beaten(np.array(cost), np.array(speed))]
    slower = [
        option.pays is False and tps < now for option, tps in zip(options, speed, strict=True)
    ]
    return [
        (hide or worse) and index > 0
        for index, (hide, worse) in enumerate(zip(hidden, slower, strict=True))
    ]


def split(options: Sequence[Option]) -> tuple[list[Option], list[Option]]:
    """A few of each kind, and the rest: what another beats in both, has no price, or comes later.

    Of a kind that is folded whole one is shown nevertheless, so that every kind is answered; more
    of the card there is stands for all that could be added.
    """
    hidden = folded(options)
    shown: list[Option] = []
    for kind in OptionKind:
        own = [at for at, option in enumerate(options) if option.kind is kind]
        best = [at for at in own if not hidden[at] and options[at].cost is not None]
        alike = [at for at in own if options[at].alike]
        few = sorted({*best[:OF_EACH], *alike[:1]} or own[:1])
        shown += [options[at] for at in few]
    kept = set(map(id, shown))
    return shown, [option for option in options if id(option) not in kept]
