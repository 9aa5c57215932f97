"""Sales that cost little: one of several cards, or a dear card whose work a cheap card does."""

from dataclasses import replace

from advisor.advice.prices import price as prices
from advisor.advice.prices.power import draw_of
from advisor.advice.prices.price import Price
from advisor.advice.speeds import Speed
from advisor.advice.table.choice import FASTER
from advisor.advice.table.option import Option, OptionKind, Question
from advisor.advice.table.options import cards_here, odd_about
from advisor.advice.table.rules import lesser
from advisor.machine.machine import Gpu

WORTH_SELLING = 300.0  # least that a sale leaves over to be worth a word [USD]


def sale(question: Question, kept: Option) -> Option | None:
    """Option with fewer or cheaper cards that still write faster than one reads; None where none is
    left over.

    The value of the owned cards counts.
    """
    speed = kept.speed
    owned = question.machine.discrete
    counts = question.money.resale_counts and question.ownership.owned
    if speed is None or not owned or not counts:
        return None
    enough = FASTER * question.money.reading_tps
    rows = [
        (card, number, fast)
        for card, number, fast in cards_here(question).holders
        if number == 1 and fast.whole and fast.decode >= enough
    ]
    alike = len({card.name for card in owned}) == 1
    for card, _, fast in rows:
        if alike and len(owned) > 1 and card.name == owned[0].name:
            usd = question.resale_usd * (len(owned) - 1) / len(owned)
            return _offer(question, card, fast, -usd)
    able = []
    for card, _, fast in rows:
        price = prices.bought(card.name, 1, question.money.own_price, condition=question.condition)
        if card.name in question.for_sale and price.usd is not None and price.dated:
            left = question.resale_usd - price.usd
            option = _offer(question, card, fast, -left, price)
            odd = set(odd_about(question, option)) - set(lesser(option.bought, owned))
            if left >= WORTH_SELLING and not odd:
                able.append((-left, option))
    return min(able, key=lambda row: row[0], default=(0.0, None))[1]


def _offer(
    question: Question, card: Gpu, speed: Speed, usd: float, price: Price | None = None
) -> Option:
    """Option of one card in place of the owned ones; `usd` is paid once, below zero for money that
    is left over.
    """
    machine = replace(question.machine, gpus=(card,))
    cost = question.use.owned(draw_of(machine), speed)
    option = question.option(
        OptionKind.REPLACE, card.name, speed, cost, price, machine=machine, bought=(card,)
    )
    return replace(option, upfront=usd)
