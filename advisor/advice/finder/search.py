"""Machines that reach a target for one model: over all GPUs, counts, formats and runtimes."""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from advisor.advice.edits.in_tiers import SAME_MODEL, fastest_in_tiers, what_it_asks
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
    joined,
    stack_of,
)
from advisor.advice.finder.runnable import AS_TRAINED, BY_LOSS, points_lost
from advisor.advice.prices.power import HostPartRow, PowerDraw, desktop_parts, draw_of, parts_for
from advisor.advice.prices.price import Price, bought, rented, selling_price
from advisor.advice.prices.rows import is_lapsed
from advisor.advice.speeds import COLUMNS as SPEED_COLUMNS
from advisor.advice.speeds import Mask, Speed, of_numbers, speed_of
from advisor.advice.table.cost import MonthlyCost, Use
from advisor.advice.table.option import Option, OptionKind, Question
from advisor.advice.table.options import apis, cost_of_keeping, odd_about, refusal
from advisor.advice.table.permitted import why_not_permitted
from advisor.catalog.records import like
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import counted
from advisor.lazy import lazy
from advisor.machine.machine import Machine
from advisor.model.model import Floats
from advisor.request.money import in_usd, slots
from advisor.request.request import Request
from advisor.request.wants import NO_WANTS, Wants
from advisor.runtimes import LLAMA_CPP
from advisor.units import Array, number

Numbers = npt.NDArray[Any]
Budget = tuple[float | None, float | None]
"""Most that is paid once, and each month; None for any [USD]."""


@dataclass(frozen=True, kw_only=True)
class Hit(Option):
    """Machine that reaches the target, bought or rented."""

    speed: Speed
    machine: Machine  # named by the kind of its GPUs, or as it is sold whole
    machines: int = 1  # number of such machines, each serving its share of the users

    @property
    def count(self) -> int:
        """Number of GPUs of a machine."""
        return len(self.bought)

    @lazy
    def keeps_up(self) -> bool:
        """Whether its machines can answer all replies in the available hours."""
        return self.busy_share <= 1.0

    @lazy
    def busy_share(self) -> float:
        """Hours of work on each machine, divided by the hours that there are."""
        hours = self.use.money.hours_there * self.use.money.days * self.machines
        return float(self.use.busy_hours(self.speed)) / hours

    @property
    def offer(self) -> str:
        """Kind of offer in a word: free, rented or bought."""
        if self.kind is OptionKind.CHANGE:
            return "free"
        if self.kind is OptionKind.RENT:
            return "rented"
        return "bought"

    @property
    def title(self) -> str:
        """Machine with its number, where several are needed."""
        if self.machines > 1:
            return f"{self.machines} machines, {self.name}"
        return self.name


@dataclass(frozen=True)
class Offers:
    """Machines of a search, bought ones before rented ones, with prices as columns."""

    use: Use  # replies, hours, prices of power
    options: Sequence[Option]  # each as an option without a speed, with or without a price
    rents: Places  # index of each machine's rent; negative without one
    hourly: Floats  # rent of each option, 0 where it is bought [USD/h]
    power: Floats  # of each option that its owner pays, idle and busy, shape (2, options) [W]

    @lazy
    def usd(self) -> Floats:
        """Paid once for each option; NaN without a price [USD]."""
        return np.array([option.price.usd for option in self.options], dtype=float)

    def cost(self, option: Places, speed: Any) -> MonthlyCost:
        """Monthly cost of options, by index, at a speed each, as columns."""
        idle, busy = self.power[:, option]
        rent: Any = self.use.rented(self.hourly[option], speed)
        return replace(
            self.use.owned(PowerDraw(idle=idle, busy=busy), speed, self.usd[option]),
            rent=rent.rent,
            starts=rent.starts,
            stopped=rent.stopped,
            storage=rent.storage * (option >= len(self.rents)),
        )

    def of(self, rows: Combinations) -> Combinations:
        """Options of some machines, both bought and rented.

        Rents are offered where the GPUs hold the model, since a provider's machine has RAM of its
        own, not the RAM described.
        """
        rent = self.rents[rows.candidate]
        let = (rent >= 0) & (rows.strategy == STRATEGIES.index(PlacementStrategy.GPU_RESIDENT))
        return joined((rows, replace(rows.at(let), candidate=rent[let], costed=0)), rows.tried)

    def within(self, rows: Combinations, budget: Budget) -> Mask:
        """Rows whose price is within a budget."""
        monthly = self.cost(rows.candidate, rows).total * rows.machines
        upfront = self.usd[rows.candidate] * rows.machines
        return _within(upfront, budget[0]) & _within(monthly, budget[1])

    def order(self, rows: Combinations) -> Places:
        """Order of rows: cheapest month first, to the cent and with launch prices counted more,
        then the faster; without a dated price last.

        Finer differences are the last digits of a sum, which another processor adds up otherwise.
        """
        shares = np.array([option.price.launch_share for option in self.options])
        dated = np.array([option.dated for option in self.options])
        cost = self.cost(rows.candidate, rows)
        month = (cost.total + cost.margin(shares[rows.candidate])) * rows.machines
        last = np.isnan(month) | ~dated[rows.candidate]
        return np.lexsort((-np.round(rows.decode, 3), np.round(np.nan_to_num(month), 2), last))


def offers(question: Question, machines: Sequence[Machine]) -> Offers:
    """Purchase of every machine, with or without a price, and existing rents."""
    cards = set(question.for_sale)
    own_rent = question.money.own_rent
    options = [_purchase(question, machine, cards) for machine in machines]
    rents = np.full(len(machines), -1)
    hourly = [0.0] * len(machines)
    for at, machine in enumerate(machines):
        if machine.unified:
            rent = None
        else:
            rent = rented(machine.name, len(machine.gpus), own_rent)
        if rent is not None:
            rents[at] = len(options)
            options.append(_offered(question, OptionKind.RENT, machine, rent.price))
            hourly.append(rent.usd)
    draws = [draw_of(machine) for machine in machines]
    power = np.zeros((2, len(options)))
    power[:, : len(machines)] = [draw.idle for draw in draws], [draw.busy for draw in draws]
    return Offers(question.use, options, rents, np.array(hourly), power)


def _offered(
    question: Question,
    kind: OptionKind,
    machine: Machine,
    price: Price,
    parts: tuple[HostPartRow, ...] = (),
) -> Option:
    """Machine as an option without a speed."""
    name = counted(len(machine.gpus), machine.name)
    return question.option(
        kind, name, None, None, price, machine=machine, bought=machine.gpus, parts=parts
    )


def _purchase(question: Question, machine: Machine, cards: set[str]) -> Option:
    """GPUs with the parts that they need, or a new desktop; or a whole machine.

    Cards of a kind that one has stay in the machine. Server modules, which are not among the cards
    sold, can only be rented.
    """
    name = machine.name
    gpus = machine.gpus
    ownership = question.ownership
    typed = question.money.own_price
    into = ownership.owned and ownership.takes_cards and not question.machine.unified
    if into and not machine.unified:
        kind = OptionKind.REPLACE
    else:
        kind = OptionKind.MACHINE
    parts: tuple[HostPartRow, ...] = ()
    further = len(gpus)
    if kind is OptionKind.REPLACE:
        before = question.machine.discrete
        parts = parts_for(
            ownership.form, before, gpus, slots(question.machine), question.machine.supply
        )
        further = _further(question, machine)
    elif not machine.unified:
        parts = desktop_parts(gpus)
    price = Price(usd=None)
    row = selling_price(name, question.condition)
    fresh = row is not None and not is_lapsed(row, question.today)
    sold = machine.unified or (name in cards and further > 0)
    if (fresh or name in dict(typed)) and sold:
        count = 1 if machine.unified else further
        price = bought(name, count, typed, parts, question.condition)
    offered = _offered(question, kind, machine, price, parts)
    if 0 < further < len(gpus):
        return replace(offered, name=f"{counted(further, name)}, {len(gpus)} in all")
    return offered


def _further(question: Question, machine: Machine) -> int:
    """Number of a machine's cards that one does not have yet."""
    there = sum(card.name == machine.name for card in question.machine.discrete)
    return max(len(machine.gpus) - there, 0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Findings:
    """Result of a search: combinations that reach the target, in their order, as columns."""

    request: Request  # what is searched for
    question: Question  # its model, use, and the machine that cards are put into
    offers: Offers  # machines bought and rented
    rows: Combinations  # combinations that reach the target, each of an option of the offers
    formats: Sequence[str]  # formats of the model that are tried
    apis: Sequence[Option]  # providers that reach it, cheapest for this use first
    wants: Wants = NO_WANTS  # where texts may go, and what may be bought

    @lazy
    def hits(self) -> tuple[Hit, ...]:
        """Hits of all combinations of models, formats, runtimes and machines."""
        return self._allowed(self.rows)

    @lazy
    def best(self) -> tuple[Hit, ...]:
        """Best combination of each machine and context, bought and rented."""
        return self._allowed(self._best_rows)

    @lazy
    def free(self) -> Hit | None:
        """Same model on the present machine in an engine with experts in tiers, which costs
        nothing.

        None without a machine, where no such engine runs, or where a runtime is named.
        """
        question = self.question
        machine = question.machine
        if question.ownership.nothing or self.request.runtime:
            return None
        fastest = self._in_tiers_on(machine)
        speed = speed_of(fastest) if fastest else None
        if fastest is None or speed is None:
            return None
        price = Price(note=what_it_asks(fastest))
        cost = cost_of_keeping(question, speed)
        name = f"{SAME_MODEL}{fastest.runtime.name}"
        option = question.option(OptionKind.CHANGE, name, speed, cost, price, machine=machine)
        return like(Hit, option, speed=speed, machine=machine, machines=1)

    def _in_tiers_on(self, machine: Machine) -> Estimate | None:
        """Model in the fastest engine with experts in tiers on a machine; None without one."""
        question = self.question
        nouns = (question.model, machine, question.work, LLAMA_CPP, PlacementStrategy.CPU_OFFLOAD)
        return fastest_in_tiers(machine, estimate(*nouns))

    @lazy
    def in_any_engine(self) -> "Findings":
        """Findings of the same search for a request without a runtime."""
        return replace(self, request=replace(self.request, runtime=None))

    @property
    def least_in_tiers(self) -> float:
        """Least speed of machines with experts in tiers: as stated, or reading speed [tokens/s]."""
        return self.request.min_tps or self.question.money.reading_tps

    @lazy
    def in_tiers(self) -> tuple[Hit, ...]:
        """Cheapest machines on which an engine with experts in tiers reaches the stated speed.

        Where none is stated, that of reading. They cost less than any common machine that reaches
        it. It is empty where a runtime is named, or where the present machine reaches the speed.
        """
        target = self.least_in_tiers
        here = self.free is not None and self.free.decode >= target
        if self.request.runtime or not self.question.model.has_experts or here:
            return ()
        usual = (
            hit.upfront or math.inf
            for hit in self.best
            if hit.kind is not OptionKind.RENT
            and hit.machines == 1
            and hit.decode >= target
            and not self.oddities(hit)
        )
        most = min(usual, default=math.inf)
        able = [
            (usd, at)
            for at, usd in enumerate(self.offers.usd)
            if usd < most and self._may_be_bought(self.offers.options[at])
        ]
        hits = filter(None, (self._bought_for_tiers(at) for _, at in sorted(able)[:MOST_TRIED]))
        return tuple(islice((hit for hit in hits if hit.decode >= target), MOST_NAMED))

    @staticmethod
    def _may_be_bought(option: Option) -> bool:
        return option.kind is not OptionKind.RENT and option.dated and option.machine is not None

    def _bought_for_tiers(self, at: int) -> Hit | None:
        """Machine with its fastest engine in tiers, by its index; None where none runs there, or
        where it is odd, over the budget, or ruled out.
        """
        option = self.offers.options[at]
        machine = option.machine
        fastest = None if machine is None else self._in_tiers_on(machine)
        speed = speed_of(fastest) if fastest else None
        if machine is None or fastest is None or speed is None:
            return None
        price = replace(option.price, note=what_it_asks(fastest).removeprefix("free, "))
        cost = self.offers.cost(cast(Any, at), speed)
        hit = like(
            Hit,
            option,
            speed=speed,
            machine=machine,
            machines=1,
            price=price,
            cost=cost,
            upfront=float(self.offers.usd[at]),
        )
        budget = budget_of(self.request)
        within = _within(hit.upfront or 0.0, budget[0]) & _within(hit.monthly or 0.0, budget[1])
        parts_alone = replace(hit, speed=replace(speed, runtime=LLAMA_CPP.name))
        ruled_out = why_not_permitted(hit, self.wants) or self.oddities(parts_alone)
        if ruled_out or not within:
            return None
        return hit

    @lazy
    def _odd(self) -> dict[tuple[str, OptionKind, str], tuple[str, ...]]:
        """Oddities by name, kind and runtime."""
        return {}

    def oddities(self, hit: Hit) -> tuple[str, ...]:
        """Sentences of an expert's doubts about a machine; empty for a machine that many people
        run.
        """
        key = hit.name, hit.kind, hit.speed.runtime
        if key not in self._odd:
            ruled_out = refusal(self.question, hit)
            odd = odd_about(self.question, hit)
            self._odd[key] = tuple(filter(None, (ruled_out, *odd)))
        return self._odd[key]

    @lazy
    def overload(self) -> str:
        """Sentence on the number of machines that answer all replies in time; empty where all
        do.
        """
        use = self.question.use
        hours = use.money.hours_there * use.money.days * self._best_rows.machines
        able = np.count_nonzero(np.asarray(use.busy_hours(cast(Any, self._best_rows))) <= hours)
        machines = len(self._best_rows.machines)
        if able == machines:
            return ""
        return (
            f"{able:,} of {machines:,} keep up with {number(use.money.replies_per_day)} answers a "
            "day, one after another; the others reach the speed and not the number, and say so."
        )

    @lazy
    def _best_rows(self) -> Combinations:
        """Best combination of each machine and context."""
        advised = self.question.model.format
        return self.rows.at(best_of_each(self.rows, self.formats, advised))

    def _allowed(self, rows: Combinations) -> tuple[Hit, ...]:
        """Rows as hits, without those that the request rules out and without one's own cards."""
        return tuple(
            hit
            for hit in self._hits(rows)
            if not (self._is_there(hit) or why_not_permitted(hit, self.wants))
        )

    def _is_there(self, hit: Hit) -> bool:
        """Whether one has all cards of a purchase."""
        return hit.kind is OptionKind.REPLACE and not _further(self.question, hit.machine)

    def _hits(self, rows: Combinations) -> Iterator[Hit]:
        """Rows as hits. Columns are lists, since picking numbers out of arrays is slow."""
        use = self.question.use
        uses = dict[tuple[float, int], Use]()
        speeds = cast(Any, rows)
        costs = self.offers.cost(rows.candidate, rows).times(rows.machines)
        hours = np.asarray(use.rented_hours(speeds) / use.money.days).tolist()
        columns = zip(*(getattr(rows, name).tolist() for name in COLUMNS), strict=True)
        for values, cost, each_day in zip(columns, costs.each(len(hours)), hours, strict=True):
            row = dict(zip(COLUMNS, values, strict=True))
            option = self.offers.options[row["candidate"]]
            several = int(row["machines"])
            numbers = (*(row[name] for name in SPEED_COLUMNS[:-1]), rows.waiting)
            strategy = STRATEGIES[row["strategy"]]
            engine = NAMES[row["runtime"]]
            form = self.formats[row["form"]]
            kept = row["context"], row["cache"]
            if kept not in uses:
                work = use.work.with_numbers(context=kept[0], kv_type=CACHES[kept[1]])
                uses[kept] = replace(use, work=work)
            usd = option.price.usd
            yield like(
                Hit,
                option,
                speed=of_numbers(strategy, engine, form, numbers, row["arrangement"]),
                upfront=None if usd is None else usd * several,
                cost=None if usd is None else cost,
                use=uses[kept],
                hours_rented=each_day if option.kind is OptionKind.RENT else None,
                machines=several,
            )


MOST_TRIED = 100  # machines, cheapest first, that are tried for engines with experts in tiers
MOST_NAMED = 3  # of them, that are named


def budget_of(request: Request) -> Budget:
    """Budget of a request [USD]."""
    limits = {name: getattr(request, name) for name in ("max_usd", "max_usd_per_month")}
    once, monthly = in_usd(limits, request.paying.usd).values()
    return once, monthly


def find(
    question: Question,
    request: Request,
    compute: Compute = combinations,
    wants: Wants = NO_WANTS,
) -> Findings:
    """Machines that reach the speed and costs that a request wants; its open fields are searched.

    Of several cache formats that reach it, the largest is kept. The cases may be computed in this
    process or on a cluster.
    """
    budget = budget_of(request)
    models = list(in_formats(question.model, (request.format,) if request.format else ()))
    offered = offers(question, stack_of(question.machine).machines)
    work = question.work
    if request.contexts:
        work = replace(work, context=np.array(request.contexts))
    common = RunSetup(
        work=work,
        caches=(work.kv_type,) if request.kv_type else (),
        min_tps=request.min_tps,
        all_caches=budget != (None, None),
        skip=_over_budget(budget, offered),
    )
    wanted = cases(common, models, question.runtimes, stated=bool(request.format))
    rows = offered.of(compute(question.machine, wanted))
    rows = rows.at(offered.within(rows, budget))
    alike = (rows.candidate, rows.runtime, rows.form, rows.context)
    rows = rows.at(_first_of_each(alike, (rows.cache,)))
    if budget[1] is None:
        most = math.inf
    else:
        most = budget[1]
    called = (
        option
        for option in apis(question)
        if option.decode >= request.min_tps and not why_not_permitted(option, wants)
    )
    return Findings(
        request=request,
        question=question,
        offers=offered,
        rows=rows.at(offered.order(rows)),
        formats=[model.format for model in models],
        apis=[option for option in called if (option.monthly or 0.0) <= most],
        wants=wants,
    )


AT_ONCE = of_numbers(PlacementStrategy.GPU_RESIDENT, "", "", (*[np.inf] * 3, 0.0, 0.0, 0.0))
"""Answers in no time, at which a machine costs least: its rented time is shortest, and its idle
time longest."""


def _over_budget(budget: Budget, offered: Offers) -> tuple[int, ...]:
    """Indices of machines that are over the budget at any speed, bought and rented."""
    monthly = offered.cost(np.arange(len(offered.options)), AT_ONCE).total
    within = _within(offered.usd, budget[0]) & _within(monthly, budget[1])
    rents = offered.rents
    able = within[: len(rents)] | ((rents >= 0) & within[rents])
    return tuple(np.flatnonzero(~able).tolist())


def _within(values: Array, most: float | None) -> Mask:
    """Mask of values within a limit; NaN is within no limit, None is no limit."""
    if most is None:
        return np.ones(np.shape(values), dtype=bool)
    with np.errstate(invalid="ignore"):
        return np.asarray(values <= most)


def _first_of_each(alike: Sequence[Numbers], rank: Sequence[Numbers]) -> Places:
    """First row by rank of those that are alike in some columns."""
    order = np.lexsort((*reversed(rank), *alike))
    same = np.logical_and.reduce([column[order][1:] == column[order][:-1] for column in alike])
    return np.asarray(order[np.append(True, ~same)[: len(order)]])


def best_of_each(rows: Combinations, formats: Sequence[str], advised: str = "") -> Places:
    """Best row of each option and context.

    It is in the format that other pages advise, where that reaches the target, then by least loss,
    then by highest speed.

    Losses count in whole points of a score: from 16 bits to Q6_K nobody could tell one from
    another. The larger cache is better, then a usual runtime.
    """
    usual = {known.name for known in SEARCHED if known.mainstream}
    alike = _stand_for(advised)
    other = np.array([form not in alike for form in formats])[rows.form]
    lost = np.array([_whole_points(form) for form in formats])[rows.form] * other
    unusual = np.array([name not in usual for name in NAMES])[rows.runtime]
    rank = (other, lost, rows.cache, unusual, -np.round(rows.decode, 3))
    return np.sort(_first_of_each((rows.candidate, rows.context), rank))


OF_SERVERS = "AWQ"  # format of 4 bits in engines that take no GGUF


def _stand_for(advised: str) -> tuple[str, ...]:
    """Format that is advised on, and that of servers where it loses no more than theirs."""
    if advised in BY_LOSS and 0 < _whole_points(advised) <= _whole_points(OF_SERVERS):
        return advised, OF_SERVERS
    return (advised,)


@cache
def _whole_points(form: str) -> int:
    """Points that a format loses, without their fraction, none as trained; most where no loss is
    published.
    """
    if form in AS_TRAINED and form not in BY_LOSS:
        return 0
    if form in BY_LOSS:
        lost = points_lost(form)
    else:
        lost = None
    if lost is None:
        return sys.maxsize
    return int(lost)
