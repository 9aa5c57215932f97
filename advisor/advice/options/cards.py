"""Options with other cards: added to the present ones, or in their place."""

import re
from collections.abc import Iterable
from functools import lru_cache

from advisor.advice.options.candidates import cards_here, kinds
from advisor.advice.options.option import Option, OptionKind
from advisor.advice.options.prices import bought
from advisor.advice.options.question import Question
from advisor.advice.options.timed_cards import COUNTS, CardSpeed
from advisor.advice.prices.host_parts import SHARED_SLOTS, parts_for
from advisor.advice.prices.power import draw_of, draw_with
from advisor.advice.speeds import Speed
from advisor.machine.catalog import find_gpu
from advisor.machine.machine import Gpu, Machine
from advisor.request.ownership import Form, discrete, in_dock, room_for, slots

WORTHWHILE = 1.1
"""A card must make it this many times faster to be shown."""
ONE_MORE, LARGEST = "one more", "the largest"
"""Questions that people ask about cards: one more of mine? the largest that a gamer can buy?"""
FOR_GAMES = {
    "NVIDIA": re.compile(r"[GR]TX \d{4}(?: Ti)?(?: Super)?(?: \d+GB)?"),
    "AMD": re.compile(r"RX \d{4}.*"),
    "Intel": re.compile(r"Arc [AB]\d+"),
}
"""Names of a maker's cards for games."""


def added(question: Question, kept: Option) -> list[Option]:
    """More of the present card, up to the number that holds the model, or one of another kind.

    One more of the present card is listed even without a gain, as people ask for it.
    """
    if not question.ownership.owned:
        return []
    own = discrete(question.machine)
    options = [
        (machine, _added(question, kept, machine, _no_slower(speed, kept)))
        for machine, speed in cards_here(question).added
        if speed is not None and (_one_more(own, machine) or _faster(speed, kept))
    ]
    alike = [row for row in options if _alike(row[0], row[0].gpus[0].name)]
    return [
        option
        for machine, option in options
        if _one_more(own, machine) or not _needless(machine, alike)
    ]


def _one_more(own: tuple[Gpu, ...], machine: Machine) -> bool:
    """Whether a machine has the next larger number of the present cards."""
    if not own or not _alike(machine, own[0].name):
        return False
    return len(machine.gpus) == min((count for count in COUNTS if count > len(own)), default=0)


def _no_slower(speed: Speed, kept: Option) -> Speed:
    """Speed with a further card, which stays unused where it would only slow the others down, as
    a third does that two divide each layer without.
    """
    return kept.speed if kept.speed and kept.speed.decode > speed.decode else speed


def _needless(machine: Machine, alike: Iterable[tuple[Machine, Option]]) -> bool:
    """Whether fewer of the same cards are as fast.

    Args:
        machine: machine with cards.
        alike: machines with cards of one kind each, with their options.
    """
    name, number = machine.gpus[0].name, len(machine.gpus)
    if not _alike(machine, name):
        return False
    speed = {len(m.gpus): o.speed.decode for m, o in alike if o.speed and _alike(m, name)}
    own = speed.get(number, 0.0)
    return any(WORTHWHILE * decode >= own for count, decode in speed.items() if count < number)


def _alike(machine: Machine, name: str) -> bool:
    return all(gpu.name == name for gpu in machine.gpus)


def _dock(question: Question) -> bool:
    return in_dock(question.ownership.form)


def _added(question: Question, kept: Option, machine: Machine, speed: Speed) -> Option:
    own = discrete(question.machine)
    new = machine.gpus[len(own) :]
    name = f"{_counted(len(new))}{new[0].name}"
    vendor = own[0].vendor if own else "NVIDIA"
    topic = LARGEST if name == largest(question, vendor) else ""
    if len(machine.gpus) > 1 and _alike(machine, new[0].name):
        name += f", {len(machine.gpus)} in all"
        topic = ONE_MORE if _one_more(own, machine) else topic
    parts = parts_for(question.ownership.form, own, machine.gpus, slots(question.machine))
    price = bought(new[0].name, len(new), question.money, parts)
    cost = question.use.owned(
        draw_of(machine), speed, usd=price.usd or 0.0, tied_up=question.resale_usd
    )
    where = " in a dock" if _dock(question) else ""
    return question.option(
        OptionKind.ADD, f"{name}{where}", speed, cost, price, kept=kept, topic=topic
    )


def replaced(question: Question, kept: Option, held: Iterable[CardSpeed]) -> list[Option]:
    """Other cards in place of the present ones: the fewest of each kind that hold the model.

    Where there are none, several are added; one of each kind comes from `added`.

    Args:
        question: question with the present cards.
        kept: option of keeping them, for comparison.
        held: fewest cards of each kind that hold the model, from `holders`.
    """
    own = question.ownership
    if not own.owned or question.machine.unified or _dock(question) or not room_for(own.form, 1):
        return []
    has = {gpu.name for gpu in question.machine.gpus}
    for_sale = set(kinds(question)) - has
    rows = [row for row in held if row[0].name in for_sale]
    if has:
        # A single one of each card that holds the model only with others; it then holds a part.
        rows += cards_here(question).alone(card.name for card, count, _ in rows if count > 1)
    return [
        _replaced(question, kept, (card,) * count, speed)
        for card, count, speed in rows
        if housed(question, count) and _faster(speed, kept) and (has or count > 1)
    ]


def housed(question: Question, count: int) -> bool:
    """Whether a number of new cards stands in the machine: in a desktop as many as its board has
    slots for or as share it; more are rented, since only rented machines are tried with them.
    """
    form = question.ownership.form
    most = max(SHARED_SLOTS, slots(question.machine))
    return room_for(form, count) and (form is not Form.DESKTOP or count <= most)


def _replaced(question: Question, kept: Option, cards: tuple[Gpu, ...], speed: Speed) -> Option:
    parts = parts_for(
        question.ownership.form, question.machine.gpus, cards, slots(question.machine)
    )
    price = bought(cards[0].name, len(cards), question.money, parts)
    cost = question.use.owned(draw_with(cards), speed, usd=price.usd or 0.0)
    name = f"{_counted(len(cards))}{cards[0].name}"
    if not question.machine.gpus:
        return question.option(OptionKind.ADD, name, speed, cost, price, kept=kept)
    topic = LARGEST if name == largest(question, question.machine.gpus[0].vendor) else ""
    return question.option(
        OptionKind.REPLACE, name, speed, cost, price, sells=True, kept=kept, topic=topic
    )


def largest(question: Question, vendor: str) -> str:
    """A maker's card for games with the most memory, the fastest of several; empty for none."""
    return _largest(kinds(question), vendor)


@lru_cache(maxsize=64)
def _largest(names: tuple[str, ...], vendor: str) -> str:
    pattern = FOR_GAMES.get(vendor)
    rows = [find_gpu(name) for name in names if pattern and pattern.fullmatch(name)]
    best = max(rows, key=lambda row: (row.memory_gib, row.bandwidth_gbs), default=None)
    return best.name if best else ""


def _counted(count: int) -> str:
    return f"{count}x " if count > 1 else ""


def _faster(speed: Speed, kept: Option) -> bool:
    return kept.speed is None or speed.decode >= WORTHWHILE * kept.speed.decode
