"""Machines that reach a target for one model, over all GPUs, counts, formats and placements."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from advisor.advice.finder.target import Hit, Target
from advisor.advice.fleet import Fleet
from advisor.advice.host_parts import parts_for
from advisor.advice.options.cards import COUNTS
from advisor.advice.options.elsewhere import whole_machines
from advisor.advice.options.option import Price
from advisor.advice.options.prices import asked, bought, rented
from advisor.advice.options.question import Question
from advisor.advice.power import draw_of
from advisor.advice.price_dates import is_stale
from advisor.advice.speeds import Speed
from advisor.cost_model.placement import PlacementStrategy
from advisor.errors import Refusal, UnknownName
from advisor.machine import from_catalog
from advisor.machine.catalog import gpu_rows
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.model import Model
from advisor.runtimes import Runtime

FORMATS = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "IQ4_XS", "Q3_K_M", "AWQ", "FP8", "BF16")
"""Formats that are tried, the best first."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One machine that is tried.

    Attributes:
        name: of its GPU, or of the whole machine.
        machine: with its GPUs in their host.
        whole: it is sold as one.
    """

    name: str
    machine: Machine
    whole: bool = False

    @property
    def count(self) -> int:
        """GPUs in it."""
        return len(self.machine.gpus)


def candidates(host: Machine) -> list[Candidate]:
    """Every card of the catalogue in every count, in one host, and every whole machine."""
    rows = (row for row in gpu_rows().values() if not row.unified)
    cards = [from_catalog.gpu(row.name) for row in rows]
    several = [
        Candidate(name=card.name, machine=replace(host, name=card.name, gpus=(card,) * count))
        for count in COUNTS
        for card in cards
    ]
    whole = [Candidate(name=name, machine=m, whole=True) for name, m in whole_machines()]
    return [*several, *whole]


def in_formats(model: Model, formats: Iterable[str] = FORMATS) -> list[Model]:
    """The model in each format that it can have; alone where it comes in its own only."""
    found = []
    for form in formats:
        try:
            found.append(catalog.in_format(model.architecture, form))
        except (Refusal, UnknownName):
            continue
    return found or [model]


def find(
    question: Question, target: Target, runtimes: Sequence[Runtime], formats: Iterable[str] = ()
) -> list[Hit]:
    """All that meets a target, the cheapest month first; what has no price comes last.

    Args:
        question: model, host for cards, use, money.
        target: least speed, most cost.
        runtimes: which are tried.
        formats: that the model may have; all of `FORMATS` where none are given.
    """
    tried = candidates(question.machine)
    fleet = Fleet([one.machine for one in tried])
    costs = [_Prices(question, one) for one in tried]
    found = [
        hit
        for model in in_formats(question.asked, formats or FORMATS)
        for runtime in runtimes
        for hit in _in_runtime(question, fleet, tried, costs, model, runtime, target)
    ]
    return sorted(found, key=_order)


def _order(hit: Hit) -> tuple[bool, float, float]:
    return (hit.monthly is None, hit.monthly or 0.0, -hit.speed.decode)


class _Prices:
    """What a candidate costs to buy and to rent, whatever it runs."""

    def __init__(self, question: Question, one: Candidate) -> None:
        money, gpus = question.money, one.machine.gpus
        known = asked(one.name) is not None or one.name in dict(money.own_price)
        parts = [] if one.whole else parts_for(question.ownership.form, (), gpus)
        cards = 1 if one.whole else one.count
        self.bought = bought(one.name, cards, money, parts) if known else Price(usd=None)
        self.rented = None if one.whole else rented(one.name, one.count, money)


def _in_runtime(
    question: Question,
    fleet: Fleet,
    tried: Sequence[Candidate],
    costs: Sequence[_Prices],
    model: Model,
    runtime: Runtime,
    target: Target,
) -> Iterable[Hit]:
    """Each machine in its first placement that fits: the others are slower."""
    placed = np.zeros(len(tried), dtype=bool)
    for strategy in PlacementStrategy:
        if strategy not in runtime.strategies:
            continue
        found = fleet.speeds(model, question.work, runtime, strategy)
        with np.errstate(invalid="ignore"):
            fast = found.fits & ~placed & (found.decode >= target.min_tps)
        placed |= found.fits
        for index in map(int, np.flatnonzero(fast)):
            speed = found.at(index)
            if speed is not None and speed.format == model.format:
                asked_for = replace(question, asked=model, runtime=runtime)
                for hit in _offers(asked_for, tried[index], speed, costs[index]):
                    if hit.meets(target):
                        yield hit


def _offers(question: Question, one: Candidate, speed: Speed, prices: _Prices) -> Iterable[Hit]:
    use, price = question.use, prices.bought
    monthly = None
    if price.usd is not None:
        monthly = use.owned(draw_of(one.machine), speed, usd=price.usd).total
    yield _hit(question, one, speed, "bought", price, price.usd, monthly)
    if prices.rented is not None and speed.whole:
        price, usd = prices.rented
        yield _hit(question, one, speed, "rented", price, 0.0, use.rented(usd, speed).total)


def _hit(
    question: Question,
    one: Candidate,
    speed: Speed,
    offer: str,
    price: Price,
    upfront: float | None,
    monthly: float | None,
) -> Hit:
    return Hit(
        model=question.asked.name,
        runtime=question.runtime.name,
        machine=one.name,
        count=one.count,
        context=float(question.work.context),
        users=float(question.work.users),
        kv_type=question.work.kv_type,
        speed=speed,
        offer=offer,
        upfront=upfront,
        monthly=monthly,
        price_date=price.date,
        stale=not price.typed and is_stale(price.date, question.today),
    )
