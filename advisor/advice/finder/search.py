"""Machines that reach a target for one model: over all GPUs, counts, formats and runtimes."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from advisor.advice.finder.combinations import (
    BY_LOSS,
    CACHES,
    COLUMNS,
    NAMES,
    SEARCHED,
    STRATEGIES,
    Candidate,
    Combinations,
    Compute,
    Places,
    cases,
    combinations,
    fleet_of,
    in_formats,
)
from advisor.advice.prices.host_parts import desktop_parts, parts_for
from advisor.advice.prices.power import PowerDraw, draw_of
from advisor.advice.prices.price import Price, bought, rented, selling_price
from advisor.advice.prices.rows import is_stale
from advisor.advice.speeds import Speed
from advisor.advice.table.cost import (
    SECONDS_PER_HOUR,
    Use,
    computing_seconds,
    idle_hours,
    monthly_energy,
    monthly_purchase,
    rented_hours,
    session_seconds,
    with_margin,
)
from advisor.advice.table.option import on_front
from advisor.advice.table.question import Question
from advisor.advice.table.timed_machines import kinds
from advisor.catalog.inputs import TARGET, check_all
from advisor.model.model import Floats, Model
from advisor.request.ownership import slots
from advisor.runtimes import Runtime
from advisor.units import GIB, HOURS_PER_MONTH


@dataclass(frozen=True, kw_only=True)
class Target:
    """Least speed and highest cost.

    Attributes:
        min_tps: least decode speed for each user [tokens/s].
        max_usd_per_month: highest monthly cost; None for any [USD/month].
        max_usd: most that is paid once; None for any [USD].

    Raises:
        InputError: a number outside its limits.
    """

    min_tps: float = 0.0
    max_usd_per_month: float | None = None
    max_usd: float | None = None

    def __post_init__(self) -> None:
        check_all(TARGET, vars(self))

    @property
    def costs_count(self) -> bool:
        """Whether the target limits the cost, so that a faster machine may meet it where a slower
        does not.
        """
        return (self.max_usd_per_month, self.max_usd) != (None, None)


@dataclass(frozen=True, kw_only=True)
class Hit:
    """Combination that reaches the target.

    Attributes:
        model: name of the model.
        runtime: name of the runtime.
        machine: name of the GPU, or of the whole machine.
        count: number of its GPUs.
        whole: sold as a whole machine.
        gpu: name of its GPUs.
        ram_gib: main memory, which the GPU of a whole machine shares [GiB].
        context: cache of each user [tokens].
        users: users served together by all machines.
        machines: number of such machines, each serving its share of the users.
        kv_type: format of the cache.
        speed: placement, format, tokens/s and first token.
        offer: bought or rented.
        upfront: paid once [USD]; None without a price.
        monthly: monthly cost [USD/month]; None without a price.
        compared: that cost with launch prices counted `LAUNCH_MARGIN` times, by which a verdict and
            the order of hits compare; None without a price [USD/month].
        price_date: date of the oldest part of the price, ISO; may be empty.
        dated: every part of the price has a date, or was typed.
        stale: the price is old, or has no date.
        listed: a part has its maker's list price at launch.
    """

    model: str
    runtime: str
    machine: str
    count: int
    whole: bool
    gpu: str
    ram_gib: float
    context: float
    users: float
    kv_type: str
    speed: Speed
    offer: str
    upfront: float | None
    monthly: float | None
    compared: float | None
    price_date: str = ""
    dated: bool = False
    stale: bool = False
    listed: bool = False
    machines: int = 1

    @property
    def may_win(self) -> bool:
        """Whether it has a dated price."""
        return self.monthly is not None and self.dated

    @property
    def order(self) -> tuple[bool, float]:
        """Sort key: cheapest month first, those without a dated price last."""
        return (not self.may_win, self.compared or 0.0)

    @property
    def aged(self) -> str:
        """Remark on an old or launch price; empty for others."""
        if self.monthly is None or not (self.listed or self.stale):
            return ""
        return f"{'launch price' if self.listed else 'price'} of {self.price_date or 'no day'}"

    @property
    def cards(self) -> str:
        """Machine with the number of its GPUs."""
        return f"{self.count}x {self.machine}" if self.count > 1 else self.machine

    @property
    def title(self) -> str:
        """Machine with its number, where several are needed."""
        return f"{self.machines} machines, {self.cards}" if self.machines > 1 else self.cards


@dataclass(frozen=True, kw_only=True)
class MachineOffer:
    """Way to have a candidate.

    Attributes:
        kind: "bought" or "rented".
        candidate: index of the candidate.
        price: price with its source; without an amount where none is known.
        upfront: paid once [USD]; NaN without a price.
        usd_per_hour: rent [USD/h].
        margin: what comparisons add to a month for launch prices, as a verdict does [USD/month].
    """

    kind: str
    candidate: int
    price: Price
    upfront: float
    usd_per_hour: float = 0.0
    margin: float = 0.0

    @property
    def rented(self) -> bool:
        """Whether it is rented by the hour."""
        return self.kind == "rented"


def offers(question: Question, tried: Sequence[Candidate]) -> list[MachineOffer]:
    """Purchase of every candidate, with or without a price, and existing rents."""
    cards = set(kinds(question))
    return [
        offer
        for at, candidate in enumerate(tried)
        for offer in _offers(question, candidate, at, sold=candidate.name in cards)
    ]


def _offers(question: Question, candidate: Candidate, at: int, *, sold: bool) -> list[MachineOffer]:
    """Ways to have a candidate.

    Args:
        question: prices, and the host.
        candidate: candidate.
        at: its index.
        sold: the GPU is sold for such a host; server modules can only be rented.
    """
    money, name = question.money, candidate.name
    price = _price(question, candidate) if sold or candidate.whole else Price(usd=None)
    upfront = np.nan if price.usd is None else price.usd
    margin = _margin(price, money.purchase_months)
    ways = [MachineOffer(kind="bought", candidate=at, price=price, upfront=upfront, margin=margin)]
    rent = None if candidate.whole else rented(name, candidate.count, money)
    if rent is not None:
        price, usd = rent
        ways.append(
            MachineOffer(kind="rented", candidate=at, price=price, upfront=0.0, usd_per_hour=usd)
        )
    return ways


def _margin(price: Price, months: float) -> float:
    if not price.usd or not price.at_launch:
        return 0.0
    monthly = monthly_purchase(price.usd, months)
    return float(with_margin(monthly, price.at_launch, price.usd) - monthly)


def _price(question: Question, candidate: Candidate) -> Price:
    """Price of the GPUs and the host parts that they need, or of the whole machine.

    Where there is no machine that takes cards, they come in a new desktop.
    """
    money, name, own = question.money, candidate.name, question.ownership
    if selling_price(name) is None and name not in dict(money.own_price):
        return Price(usd=None)
    if candidate.whole:
        return bought(name, 1, money)
    gpus = candidate.machine.gpus
    there = own.owned and own.takes_cards and not question.machine.unified
    present = slots(question.machine)
    parts = parts_for(own.form, (), gpus, present) if there else desktop_parts(gpus)
    return bought(name, candidate.count, money, parts)


@dataclass(frozen=True, kw_only=True)
class Bills:
    """Monthly costs.

    Attributes:
        use: replies, hours, prices.
        draws: electric power of each candidate.
    """

    use: Use
    draws: Sequence[PowerDraw]

    def owned(self, candidate: Places, usd: Floats, decode: Floats, first_token: Floats) -> Floats:
        """Monthly cost of owned machines: purchase spread over its months, idle and busy power
        [USD].

        Args:
            candidate: indices of the candidates.
            usd: purchase price [USD].
            decode: decode speed for each user [tokens/s].
            first_token: time to first token [s].
        """
        use, money = self.use, self.use.money
        each = computing_seconds(first_token, decode, use.generated) / float(use.work.users)
        busy = each * money.replies_per_day * money.days / SECONDS_PER_HOUR
        busy = np.minimum(busy, HOURS_PER_MONTH)
        waits = idle_hours(money.hours_on_per_day * money.days, busy)
        idle = np.array([draw.idle for draw in self.draws])[candidate]
        full = np.array([draw.busy for draw in self.draws])[candidate]
        return np.asarray(
            monthly_purchase(usd, money.purchase_months)
            + monthly_energy(idle, waits, money.usd_per_kwh)
            + monthly_energy(full, busy, money.usd_per_kwh)
        )

    def rented(
        self, usd_per_hour: Floats, decode: Floats, first_token: Floats, load: Floats
    ) -> Floats:
        """Monthly cost of rented machines [USD].

        Args:
            usd_per_hour: rent [USD/h].
            decode: decode speed for each user [tokens/s].
            first_token: time to first token [s].
            load: time to load the model from the drive; NaN where unknown [s].
        """
        use, money = self.use, self.use.money
        if money.rented_hours_per_day is not None:
            return usd_per_hour * money.rented_hours_per_day * money.days
        turn = session_seconds(
            first_token, decode, money.thinking_tokens, use.shown, money.reading_tps
        )
        starts = money.starts_per_day if money.replies_per_day else 0.0
        start = 60.0 * money.start_minutes + np.nan_to_num(load)
        each = turn / float(use.work.users)
        hours = rented_hours(each, money.replies_per_day, starts, start, money.days)
        return np.asarray(usd_per_hour * hours)


def bills(question: Question, tried: Sequence[Candidate]) -> Bills:
    """Monthly costs for a question and its candidates."""
    return Bills(use=question.use, draws=[draw_of(candidate.machine) for candidate in tried])


@dataclass(frozen=True, kw_only=True)
class Findings:
    """Result of a search.

    Attributes:
        hits: combinations that reach the target, cheapest month first, with launch prices counted
            as a verdict does; those without a dated price last.
        tried: number of combinations tried.
        costed: number of those that were placed and timed; bounds excluded the others.
    """

    hits: tuple[Hit, ...]
    tried: int
    costed: int


def find(
    question: Question,
    target: Target,
    runtimes: Sequence[Runtime] = SEARCHED,
    formats: Iterable[str] = (),
    caches: Sequence[str] = (),
    compute: Compute = combinations,
    contexts: Sequence[float] = (),
) -> Findings:
    """Machines that meet a target, bought and rented, in each runtime and format.

    Of several cache formats that meet it, the largest is kept.

    Args:
        question: model, host for cards, use, money.
        target: lowest speed and highest cost.
        runtimes: runtimes to try.
        formats: formats of the weights to try; empty for all of each runtime.
        caches: cache formats; empty for all of each runtime.
        compute: function that computes the cases, in this process or on a cluster.
        contexts: contexts to answer for, in place of the request's [tokens].
    """
    stated = tuple(formats)
    models = list(in_formats(question.model, stated or BY_LOSS))
    candidates, _ = fleet_of(question.machine)
    every, costs = offers(question, candidates), bills(question, candidates)
    work = replace(question.work, context=np.array(contexts)) if contexts else question.work
    wanted = cases(
        models, work, runtimes, caches, target.min_tps,
        all_caches=target.costs_count, skip=_over_budget(target, candidates, every, costs),
        stated=bool(stated),
    )  # fmt: skip
    rows = compute(question.machine, wanted)
    hits = [
        hit
        for chosen, offered, monthly in _priced(target, every, costs, rows)
        for hit in _hits(question, models, candidates, chosen, offered, monthly)
    ]
    return Findings(hits=tuple(sorted(hits, key=_order)), tried=rows.tried, costed=rows.costed)


def _over_budget(
    target: Target, candidates: Sequence[Candidate], every: Sequence[MachineOffer], costs: Bills
) -> tuple[int, ...]:
    """Indices of candidates that are over the budget at any speed.

    A machine costs least if it answers in no time: then its rented time is shortest, and its idle
    time longest.
    """
    within = np.zeros(len(candidates), dtype=bool)
    for by_hour in (False, True):
        some = [offer for offer in every if offer.rented is by_hour]
        place = np.array([offer.candidate for offer in some], dtype=int)
        upfront = np.array([offer.upfront for offer in some])
        rent = np.array([offer.usd_per_hour for offer in some])
        at_once, endless = np.zeros(len(some)), np.full(len(some), np.inf)
        month = (
            costs.rented(rent, endless, at_once, at_once)
            if by_hour
            else costs.owned(place, upfront, endless, at_once)
        )
        kept = _within(upfront, target.max_usd) & _within(month, target.max_usd_per_month)
        within[place[kept]] = True
    return tuple(np.flatnonzero(~within).tolist())


def _order(hit: Hit) -> tuple[bool, float, float]:
    return (*hit.order, -hit.speed.decode)


def _priced(
    target: Target, every: Sequence[MachineOffer], costs: Bills, rows: Combinations
) -> Iterator[tuple[Combinations, list[MachineOffer], Floats]]:
    """Rows within the budget, the offer of each and its monthly cost [USD]; bought, then rented.

    Args:
        target: target with the budget.
        every: offers of all candidates.
        costs: monthly costs.
        rows: combinations that are fast enough.
    """
    for by_hour in (False, True):
        ways = {offer.candidate: offer for offer in every if offer.rented is by_hour}
        chosen = rows.at(np.isin(rows.candidate, list(ways)))
        each = np.array([ways[at].upfront for at in chosen.candidate.tolist()])
        upfront = each * chosen.machines
        monthly = _monthly(costs, chosen, ways, each, rented=by_hour) * chosen.machines
        kept = _within(upfront, target.max_usd) & _within(monthly, target.max_usd_per_month)
        places = _largest_cache(chosen, np.flatnonzero(kept))
        within = chosen.at(places)
        yield within, [ways[at] for at in within.candidate.tolist()], monthly[places]


def _monthly(
    costs: Bills,
    rows: Combinations,
    ways: dict[int, MachineOffer],
    upfront: Floats,
    *,
    rented: bool,
) -> Floats:
    if not rented:
        return costs.owned(rows.candidate, upfront, rows.decode, rows.first_token)
    rent = np.array([ways[at].usd_per_hour for at in rows.candidate.tolist()])
    return costs.rented(rent, rows.decode, rows.first_token, rows.load)


def _within(values: Floats, most: float | None) -> npt.NDArray[np.bool_]:
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


def _hits(
    question: Question,
    models: Sequence[Model],
    candidates: Sequence[Candidate],
    rows: Combinations,
    offered: Sequence[MachineOffer],
    monthly: Floats,
) -> Iterator[Hit]:
    """Hits of the rows: columns as lists, since picking numbers out of arrays is slow.

    Args:
        question: model, use, money.
        models: model in each format.
        candidates: machines.
        rows: combinations.
        offered: offer of each row.
        monthly: monthly cost of each row; NaN without a price [USD].
    """
    columns = zip(*(getattr(rows, name).tolist() for name in COLUMNS), strict=True)
    for values, offer, month in zip(columns, offered, monthly.tolist(), strict=True):
        row = dict(zip(COLUMNS, values, strict=True))
        yield _hit(question, models, candidates[row["candidate"]], row, offer, month)


def _hit(
    question: Question,
    models: Sequence[Model],
    candidate: Candidate,
    row: Mapping[str, Any],
    offer: MachineOffer,
    monthly: float,
) -> Hit:
    price, machines = offer.price, int(row["machines"])
    host = candidate.machine.host
    return Hit(
        model=question.model.name,
        runtime=NAMES[row["runtime"]],
        machine=candidate.name,
        count=candidate.count,
        whole=candidate.whole,
        gpu=candidate.machine.gpus[0].name,
        ram_gib=float(host.memory.value) / GIB,
        context=row["context"],
        users=float(question.work.users),
        machines=machines,
        kv_type=CACHES[row["cache"]],
        speed=Speed(
            strategy=STRATEGIES[row["strategy"]],
            runtime=NAMES[row["runtime"]],
            format=models[row["form"]].format,
            decode=row["decode"],
            low=row["low"],
            high=row["high"],
            first_token=row["first_token"],
            load=None if math.isnan(row["load"]) else row["load"],
        ),
        offer=offer.kind,
        upfront=None if math.isnan(offer.upfront) else offer.upfront * machines,
        monthly=None if math.isnan(monthly) else monthly,
        compared=None if math.isnan(monthly) else monthly + offer.margin * machines,
        price_date=price.date,
        dated=bool(price.date) or price.typed,
        stale=not price.typed and is_stale(price.date, question.today),
        listed=price.listed,
    )


MAINSTREAM = frozenset(known.name for known in SEARCHED if known.mainstream)
"""Names of the runtimes in common use."""


def best_of_each(hits: Sequence[Hit]) -> list[Hit]:
    """Best hit of each machine, bought and rented: least loss of quality, then highest speed.

    Each of several contexts has its own best hit. Ties are decided by the order of `BY_LOSS`, then
    by the larger cache format, then by runtimes in common use.

    Args:
        hits: hits; the order of their machines is kept.
    """
    best: dict[tuple[str, int, str, float], Hit] = {}
    for hit in hits:
        key = (hit.machine, hit.count, hit.offer, hit.context)
        known = best.get(key)
        if known is None or _rank(hit) < _rank(known):
            best[key] = hit
    return list(best.values())


def _rank(hit: Hit) -> tuple[int, int, bool, float]:
    form = hit.speed.format
    loss = BY_LOSS.index(form) if form in BY_LOSS else len(BY_LOSS)
    unusual = hit.runtime not in MAINSTREAM
    return (loss, CACHES.index(hit.kv_type), unusual, -hit.speed.decode)


def front(hits: Sequence[Hit]) -> list[Hit]:
    """Hits that no other beats in monthly cost and speed, cheapest first.

    Hits without a dated price are left out.
    """
    able = [hit for hit in hits if hit.may_win]
    cost = np.array([hit.monthly or 0.0 for hit in able])
    speed = np.array([hit.speed.decode for hit in able])
    on = [hit for hit, best in zip(able, on_front(cost, speed), strict=True) if best]
    return sorted(on, key=lambda hit: (hit.monthly or 0.0, hit.speed.decode))
