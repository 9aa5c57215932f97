"""Machines that reach a target for one model: over all GPUs, counts, formats and runtimes."""

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from advisor.advice.finder.combinations import (
    CACHES,
    COLUMNS,
    NAMES,
    SEARCHED,
    STRATEGIES,
    Combinations,
    Compute,
    Places,
    RunSetup,
    cases,
    combinations,
    in_formats,
    stack_of,
)
from advisor.advice.finder.runnable import AS_TRAINED, BY_LOSS, points_lost
from advisor.advice.prices.power import PowerDraw, desktop_parts, draw_of, parts_for
from advisor.advice.prices.price import Price, age_remark, bought, rented, selling_price
from advisor.advice.prices.rows import is_stale
from advisor.advice.speeds import COLUMNS as SPEED_COLUMNS
from advisor.advice.speeds import Mask, Speed, of_numbers
from advisor.advice.table.option import Option, Question
from advisor.advice.table.options import apis
from advisor.advice.table.rules import counts_in, installed, oddities, ruled_out
from advisor.catalog.inputs import in_usd
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import counted
from advisor.machine.machine import Machine
from advisor.model.model import Floats
from advisor.request.money import discrete, slots
from advisor.request.request import Request
from advisor.runtimes import runtime

Budget = tuple[float | None, float | None]
"""Most that is paid once, and each month; None for any [USD]."""


@dataclass(frozen=True, kw_only=True)
class Hit:
    """Combination that reaches the target."""

    model: str  # name of the model
    machine: Machine  # machine with its GPUs; named by their kind, or as it is sold whole
    machines: int = 1  # number of such machines, each serving its share of the users
    context: float  # cache of each user [tokens]
    users: float  # users served together by all machines
    kv_type: str  # format of the cache
    speed: Speed  # runtime, placement, format, tokens/s and first token
    offer: str  # bought or rented
    price: Price  # price of a machine, with its date
    upfront: float | None  # paid once [USD]; None without a price
    monthly: float | None  # monthly cost [USD/month]; None without a price
    # that cost with launch prices counted `LAUNCH_MARGIN` times, by which a verdict and the order
    # of hits compare; None without a price [USD/month]
    compared: float | None
    stale: bool = False  # the price is old, or has no date

    @property
    def name(self) -> str:
        """Name of the GPU, or of the whole machine."""
        return self.machine.name

    @property
    def count(self) -> int:
        """Number of GPUs of a machine."""
        return len(self.machine.gpus)

    @property
    def whole(self) -> bool:
        """Whether it is sold as a whole machine."""
        return self.machine.unified

    @property
    def may_win(self) -> bool:
        """Whether it has a dated price."""
        return self.monthly is not None and self.price.dated

    @property
    def order(self) -> tuple[bool, float, float]:
        """Sort key: cheapest month first, to the cent, then the faster; without a dated price last.

        Finer differences are the last digits of a sum, which another processor adds up otherwise.
        """
        return (not self.may_win, round(self.compared or 0.0, 2), -round(self.speed.decode, 3))

    @property
    def aged(self) -> str:
        """Remark on an old or launch price in parentheses; empty for others."""
        known = self.monthly is not None
        return age_remark(self.price.date, listed=self.price.listed, stale=self.stale and known)

    @property
    def cards(self) -> str:
        """Machine with the number of its GPUs."""
        return counted(self.count, self.name)

    @property
    def title(self) -> str:
        """Machine with its number, where several are needed."""
        return f"{self.machines} machines, {self.cards}" if self.machines > 1 else self.cards


@dataclass(frozen=True)
class Offers:
    """Prices of all machines of a search, bought or rented, and what a month of each costs."""

    kind: str  # "bought" or "rented"
    question: Question  # replies, hours, prices of power
    machines: Sequence[Machine]  # all machines of the search
    # price of each machine, without an amount where none is on record; None for one that is not to
    # be had so
    prices: Sequence[Price | None]
    usd: Any  # paid once, or rent of an hour, shape (machines,); NaN without a price [USD]
    idle: Floats  # power of each while idle, shape (machines,) [W]
    busy: Floats  # power of each while answering, shape (machines,) [W]

    def monthly(self, machine: Places, speed: Any) -> Floats:
        """Monthly cost of machines, by index, at a speed each, as columns or one [USD]."""
        usd = self.usd[machine]
        if self.kind == RENTED:
            return np.asarray(self.question.use.rented(usd, speed).total)
        draw = PowerDraw(idle=self.idle[machine], busy=self.busy[machine])
        return np.asarray(self.question.use.owned(draw, speed, usd).total)

    @property
    def upfront(self) -> Floats:
        """Paid once for each machine, shape (machines,); NaN without a price [USD]."""
        return np.asarray(self.usd * (self.kind == BOUGHT))

    @cached_property
    def able(self) -> Mask:
        """Machines that are to be had so, shape (machines,)."""
        return np.array([price is not None for price in self.prices])

    def hits(self, rows: Combinations, budget: Budget, formats: Sequence[str]) -> Iterator[Hit]:
        """Hits of the rows within a budget, in formats by index.

        Columns are lists, since picking numbers out of arrays is slow.
        """
        rows = rows.at(self.able[rows.candidate])
        monthly = self.monthly(rows.candidate, rows) * rows.machines
        upfront = self.upfront[rows.candidate] * rows.machines
        within = _within(upfront, budget[0]) & _within(monthly, budget[1])
        if self.kind == RENTED:  # a provider's machine has its own RAM, not the one described
            within &= rows.strategy == STRATEGIES.index(PlacementStrategy.GPU_RESIDENT)
        places = _largest_cache(rows, np.flatnonzero(within))
        rows, question = rows.at(places), self.question
        stale = [
            price is None or (not price.typed and is_stale(price.date, question.today))
            for price in self.prices
        ]
        margins = [0.0 if price is None else question.use.margin(price) for price in self.prices]
        columns = zip(*(getattr(rows, name).tolist() for name in COLUMNS), strict=True)
        amounts = zip(upfront[places].tolist(), monthly[places].tolist(), strict=True)
        for values, (once, month) in zip(columns, amounts, strict=True):
            row = dict(zip(COLUMNS, values, strict=True))
            at, several, priced = row["candidate"], int(row["machines"]), not math.isnan(month)
            numbers = (*(row[name] for name in SPEED_COLUMNS[:-1]), rows.waiting)
            strategy, engine = STRATEGIES[row["strategy"]], NAMES[row["runtime"]]
            yield Hit(
                model=question.model.name,
                machine=self.machines[at],
                machines=several,
                context=row["context"],
                users=float(question.work.users),
                kv_type=CACHES[row["cache"]],
                speed=of_numbers(strategy, engine, formats[row["form"]], numbers),
                offer=self.kind,
                price=self.prices[at] or Price(usd=None),
                upfront=None if math.isnan(once) else once,
                monthly=month if priced else None,
                compared=month + margins[at] * several if priced else None,
                stale=stale[at],
            )


BOUGHT, RENTED = "bought", "rented"


def offers(question: Question, machines: Sequence[Machine]) -> tuple[Offers, Offers]:
    """Purchase of every machine, with or without a price, and existing rents."""
    cards, money = set(question.for_sale), question.money
    prices = [_price(question, machine, cards) for machine in machines]
    rents = [
        None if machine.unified else rented(machine.name, len(machine.gpus), money.own_rent)
        for machine in machines
    ]
    draws = [draw_of(machine) for machine in machines]
    idle, busy = (np.array([getattr(draw, name) for draw in draws]) for name in ("idle", "busy"))
    usd = np.array([np.nan if price.usd is None else price.usd for price in prices])
    hourly = np.array([np.nan if rent is None else rent[1] for rent in rents])
    rented_at = [rent and rent[0] for rent in rents]
    return (
        Offers(BOUGHT, question, machines, prices, usd, idle, busy),
        Offers(RENTED, question, machines, rented_at, hourly, idle, busy),
    )


def _price(question: Question, machine: Machine, cards: set[str]) -> Price:
    """Price of the GPUs with the parts that they need, or a new desktop; or of the whole machine.

    Server modules, which are not among the cards sold, can only be rented.
    """
    money, name, ownership = question.money, machine.name, question.ownership
    typed, gpus = money.own_price, machine.gpus
    priced = selling_price(name) is not None or name in dict(typed)
    if not priced or not (machine.unified or name in cards):
        return Price(usd=None)
    if machine.unified:
        return bought(name, 1, typed)
    there = ownership.owned and ownership.takes_cards and not question.machine.unified
    free = slots(question.machine)
    parts = parts_for(ownership.form, (), gpus, free) if there else desktop_parts(gpus)
    return bought(name, len(gpus), typed, parts)


@dataclass(frozen=True, kw_only=True)
class Findings:
    """Result of a search."""

    hits: tuple[Hit, ...]  # combinations that reach the target, in their order
    question: Question  # what was searched for
    apis: tuple[Option, ...] = ()  # providers that reach it, cheapest for this use first
    tried: int  # number of combinations tried
    costed: int  # number of those that were placed and timed; bounds excluded the others


def find(question: Question, request: Request, compute: Compute = combinations) -> Findings:
    """Machines that reach the speed and costs that a request wants, in whatever it leaves open.

    Of several cache formats that reach it, the largest is kept. The cases may be computed in this
    process or on a cluster.
    """
    limits = {name: getattr(request, name) for name in ("max_usd", "max_usd_per_month")}
    budget = tuple(in_usd(limits, request.paying.usd).values())
    models = list(in_formats(question.model, (request.format,) if request.format else ()))
    ways = offers(question, stack_of(question.machine).machines)
    work = question.work
    if request.contexts:
        work = replace(work, context=np.array(request.contexts))
    common = RunSetup(
        work=work,
        caches=(work.kv_type,) if request.kv_type else (),
        min_tps=request.min_tps,
        all_caches=budget != (None, None),
        skip=_over_budget(budget, ways),
    )
    wanted = cases(common, models, question.runtimes, stated=bool(request.format))
    rows = compute(question.machine, wanted)
    formats = [model.format for model in models]
    hits = [hit for offered in ways for hit in offered.hits(rows, budget, formats)]
    most = math.inf if budget[1] is None else budget[1]
    called = (
        option
        for option in apis(question)
        if option.speed is not None
        and option.speed.decode >= request.min_tps
        and (option.monthly or 0.0) <= most
    )
    return Findings(
        hits=tuple(sorted(hits, key=lambda hit: hit.order)),
        question=question,
        apis=tuple(called),
        tried=rows.tried,
        costed=rows.costed,
    )


AT_ONCE = of_numbers(PlacementStrategy.GPU_RESIDENT, "", "", (*[np.inf] * 3, 0.0, 0.0, 0.0))
"""Answers in no time, at which a machine costs least: its rented time is shortest, and its idle
time longest."""


def _over_budget(budget: Budget, ways: Iterable[Offers]) -> tuple[int, ...]:
    """Indices of machines that are over the budget at any speed."""
    once, monthly = budget
    within = [
        offered.able
        & _within(offered.upfront, once)
        & _within(offered.monthly(np.arange(len(offered.prices)), AT_ONCE), monthly)
        for offered in ways
    ]
    return tuple(np.flatnonzero(~np.logical_or.reduce(within)).tolist())


def _within(values: Floats, most: float | None) -> Mask:
    """Mask of values within a limit; NaN is within no limit, None is no limit."""
    if most is None:
        return np.ones(len(values), dtype=bool)
    with np.errstate(invalid="ignore"):
        return np.asarray(values <= most)


def _largest_cache(rows: Combinations, kept: Places) -> Places:
    """Rows with the largest cache format among rows that differ only in it."""
    columns = (rows.candidate, rows.runtime, rows.form, rows.context)
    order = kept[np.lexsort((rows.cache[kept], *(column[kept] for column in columns)))]
    if not len(order):
        return order
    alike = np.logical_and.reduce([column[order][1:] == column[order][:-1] for column in columns])
    return np.asarray(order[np.append(True, ~alike)])


def odd_about(question: Question, hit: Hit) -> tuple[str, ...]:
    """What an expert finds odd about buying a machine, a sentence each; nothing about a rent."""
    if hit.offer == RENTED:
        return ()
    ownership, gpus = question.ownership, hit.machine.gpus
    there = (
        ownership.owned and ownership.takes_cards and not (hit.whole or question.machine.unified)
    )
    form = ownership.form if there else hit.machine.form
    before = discrete(question.machine) if there else ()
    parts = parts_for(form, before, gpus, slots(question.machine)) if there else ()
    odd = oddities(
        form, hit.machine, gpus, parts, before=before, built_anew=not there, users=hit.users
    )
    engine = runtime(hit.speed.runtime).engine
    few = () if counts_in(hit.machine, engine) else (f"Few ran {hit.speed.runtime} on it.",)
    refused = (ruled_out(installed(form, hit.machine, card)) for card in gpus)
    return tuple(dict.fromkeys(filter(None, (*refused, *odd, *few))))


def best_of_each(hits: Sequence[Hit]) -> list[Hit]:
    """Best hit of each machine and context, bought and rented, in the order of hits: least loss,
    then highest speed.

    Losses count in whole points of a score: from 16 bits to Q6_K nobody could tell one from
    another. The larger cache is better, then a usual runtime.
    """
    best: dict[tuple[str, int, str, float], Hit] = {}
    usual = {known.name for known in SEARCHED if known.mainstream}

    def rank(hit: Hit) -> tuple[int, int, bool, float]:
        lost, cache = _whole_points(hit.speed.format), CACHES.index(hit.kv_type)
        return lost, cache, hit.speed.runtime not in usual, -round(hit.speed.decode, 3)

    for hit in hits:
        key = (hit.name, hit.count, hit.offer, hit.context)
        best[key] = min(best.get(key, hit), hit, key=rank)
    return sorted(best.values(), key=lambda hit: hit.order)


@cache
def _whole_points(form: str) -> int:
    """Points that a format loses, without their fraction, none as trained; most where no loss is
    published.
    """
    if form in AS_TRAINED and form not in BY_LOSS:
        return 0
    lost = points_lost(form) if form in BY_LOSS else None
    return sys.maxsize if lost is None else int(lost)
