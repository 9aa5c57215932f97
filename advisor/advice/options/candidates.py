"""Cards and machines that could replace or extend the present machine, with their speeds."""

import re
from functools import cache, lru_cache

from advisor.advice.fleet.fleet import Fleet
from advisor.advice.fleet.timed_fleet import TimedFleet
from advisor.advice.options.prices import sold
from advisor.advice.options.question import Question
from advisor.advice.options.timed_cards import TimedCards, card_machines, timed_cards
from advisor.advice.prices.machine_prices import rent_rows
from advisor.advice.speeds import Speed
from advisor.machine import from_spec
from advisor.machine.catalog import find_gpu, gpu_rows
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.request.ownership import Form

WITHOUT_FANS = re.compile(
    r"(P4|P40|P100|V100S?|T4|A2|A10G?|A30|A40|A[18]00|L4|L20|L40S?|[HB]\d+|Instinct)\b"
)
"""Names of cards that are cooled by the fans of a server."""


def kinds(question: Question) -> tuple[str, ...]:
    """Cards sold for such a machine, and those with a typed price.

    Cards without fans of their own are for servers; a desktop is offered them only at a typed
    price.
    """
    return _for_sale(question, server=question.ownership.form is Form.SERVER)


def desktop_kinds(question: Question) -> tuple[str, ...]:
    """Cards sold for a desktop, whatever the present machine is."""
    return _for_sale(question, server=False)


def _for_sale(question: Question, *, server: bool) -> tuple[str, ...]:
    return _sold_or_typed(tuple(name for name, _ in question.money.own_price), server=server)


@lru_cache(maxsize=64)
def _sold_or_typed(priced: tuple[str, ...], *, server: bool) -> tuple[str, ...]:
    typed = [name for name in priced if name in gpu_rows()]
    names = [name for name in sold() if server or not WITHOUT_FANS.match(name)]
    return tuple(
        name
        for name in dict.fromkeys([*names, *typed])
        if not find_gpu(name).unified and "SXM" not in name
    )


def for_rent(question: Question) -> tuple[str, ...]:
    """GPUs for rent, and those with a typed rent."""
    return _let_or_typed(tuple(name for name, _ in question.money.own_rent))


@lru_cache(maxsize=64)
def _let_or_typed(priced: tuple[str, ...]) -> tuple[str, ...]:
    names = dict.fromkeys([*(row.gpu for row in rent_rows()), *priced])
    return tuple(name for name in names if not find_gpu(name).unified)


def cards_here(question: Question) -> TimedCards:
    """Present machine with other cards, and with more."""
    form = question.ownership.form if question.ownership.owned else None
    return _timed(question, question.machine, kinds(question), form)


def cards_held(question: Question) -> TimedCards:
    """Cards in the present machine; in a desktop where it has only the GPU of its chip."""
    if not question.machine.unified:
        return cards_here(question)
    return _timed(question, cardless(), kinds(question))


def cards_in_a_desktop(question: Question) -> TimedCards:
    """Cards in a new desktop."""
    return _timed(question, cardless(), desktop_kinds(question))


def _timed(
    question: Question, host: Machine, names: tuple[str, ...], added_to: Form | None = None
) -> TimedCards:
    machines = card_machines(host, names, for_rent(question), added_to)
    return timed_cards(machines, question.model, question.work, question.runtimes)


@cache
def cardless() -> Machine:
    """Host of the cards where the present machine takes none or has unified memory."""
    return from_spec.machine(MachineSpec())


def machine_speed(question: Question) -> Speed | None:
    """Speed of the present machine in its fastest runtime and placement."""
    fleet = Fleet([question.machine])
    timed = TimedFleet(fleet, question.model, question.work, question.runtimes)
    return timed.fastest(timed.all).at(0)
