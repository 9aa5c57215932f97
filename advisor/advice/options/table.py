"""Table of all options: the present machine first, the others by what they save."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from advisor.advice.changes.what_ifs import SOME_QUALITY, WhatIf
from advisor.advice.options.candidates import cards_held, cards_in_a_desktop, desktop_kinds
from advisor.advice.options.cards import added, replaced
from advisor.advice.options.elsewhere import apis, desktops, machines, rents
from advisor.advice.options.kept import changes, keep
from advisor.advice.options.option import Option, OptionKind
from advisor.advice.options.pareto import beaten
from advisor.advice.options.question import Question
from advisor.advice.options.timed_cards import CardSpeed
from advisor.advice.speeds import Speed

WORTH_A_WORD = 5.0
"""Smallest monthly saving of an option that the verdict names [USD]; nobody buys, rents or signs up
for less.
"""
OF_EACH = 2
"""Number of options of a kind that are shown unfolded."""


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
        *rents(question, kept, cards_held(question)),
        *apis(question, kept),
    ]
    return (kept, *sorted(others, key=rank))


def _takes_no_card(question: Question) -> bool:
    """Whether new cards need another machine: the present one takes none, or is rented."""
    own = question.ownership
    return not own.owned or question.machine.unified or not own.takes_cards


def _in_a_desktop(question: Question, held: Iterable[CardSpeed]) -> Iterable[CardSpeed]:
    """Cards for sale with their speeds in a desktop."""
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

    If nothing runs now, the cheapest that runs. Changes of format and cache are excluded, as their
    loss of quality has no price. A launch price counts `LAUNCH_MARGIN` times, so that it stands
    before a price of the market only where it is far lower.
    """
    kept = options[0]
    if kept.speed is not None and not kept.tokens:
        return None
    able = [option for option in options[1:] if option.may_win and option.with_waiting is not None]
    if kept.speed is not None:
        most = (kept.with_waiting or 0.0) - WORTH_A_WORD
        able = [option for option in able if option.pays and (option.compared or 0.0) <= most]
    return min(able, key=by_comparison, default=None)


def best_of_kinds(options: Sequence[Option]) -> list[Option]:
    """Best option of each kind of hardware that pays and may win; of all that run where there is
    nothing yet.
    """
    nothing = options[0].speed is None
    able = [
        option
        for option in options[1:]
        if option.may_win and (option.pays or (nothing and option.speed))
    ]
    kinds = (OptionKind.ADD, OptionKind.REPLACE, OptionKind.MACHINE, OptionKind.RENT)
    each = ([option for option in able if option.kind is kind] for kind in kinds)
    return [min(rows, key=by_comparison) for rows in each if rows]


def by_comparison(option: Option) -> tuple[bool, float, float]:
    """Sort key of a verdict: as `rank`, with launch prices counted `LAUNCH_MARGIN` times."""
    unknown, cost, monthly = rank(option)
    return (unknown, cost if option.compared is None else option.compared, monthly)


def folded(options: Sequence[Option]) -> list[bool]:
    """Mask of options to fold: beaten by another in both monthly cost and speed, or slower than the
    kept machine without paying. Never the kept machine, nor options without a price or speed.
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
    """Options to show, a few of each kind, and the rest.

    The rest are options beaten by another, without a price, or further down. At least one option of
    each kind is shown, and whatever beats them those that people ask for: one more of the present
    card, its maker's largest (added, and in its place), a machine of each maker, and all that the
    verdict names. Of changes that lose quality the mildest are shown.
    """
    hidden, named = folded(options), (choice(options), *best_of_kinds(options))
    shown: list[Option] = []
    for kind in OptionKind:
        own = [at for at, option in enumerate(options) if option.kind is kind]
        best = [
            at for at in own
            if not hidden[at] and options[at].cost is not None and not options[at].loses_quality
        ]  # fmt: skip
        topics: dict[str, int] = {}
        for at in own:
            if options[at].topic:
                topics.setdefault(options[at].topic, at)
        wanted = {at for at in own if any(options[at] is option for option in named)}
        mild = _mildest(options, [at for at in own if options[at].loses_quality])
        few = sorted({*best[:OF_EACH], *mild, *topics.values(), *wanted} or own[:1])
        shown += [options[at] for at in few]
    kept = set(map(id, shown))
    return shown, [option for option in options if id(option) not in kept]


def _mildest(options: Sequence[Option], rows: Iterable[int]) -> list[int]:
    """Places of the formats nearest to the present one, and of the best other change."""

    def decode(at: int) -> float:
        speed = options[at].speed
        return speed.decode if speed else 0.0

    ordered = sorted(rows, key=decode)
    formats = [at for at in ordered if options[at].price.note.startswith(SOME_QUALITY)]
    others = [at for at in ordered if at not in formats]
    return [*formats[:OF_EACH], *others[-1:]]
