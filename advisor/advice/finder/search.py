"""Machines that reach a target for one model: over all GPUs, counts, formats and runtimes."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from advisor.advice.finder.candidates import Candidate, fleet_of
from advisor.advice.finder.combinations import (
    COLUMNS,
    NAMES,
    STRATEGIES,
    Combinations,
    Places,
    RunSetup,
    cases,
    combinations,
)
from advisor.advice.finder.costs import Bills, MachineOffer, bills, offers
from advisor.advice.finder.formats import BY_LOSS, CACHES, SEARCHED, in_formats
from advisor.advice.finder.target import Hit, Target
from advisor.advice.options.question import Question
from advisor.advice.prices.price_dates import is_stale
from advisor.advice.speeds import Speed
from advisor.machine.machine import Machine
from advisor.model.model import Floats, Model
from advisor.runtimes import Runtime
from advisor.units import GIB

Compute = Callable[[Machine, Sequence[RunSetup]], Combinations]


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
    for rented in (False, True):
        some = [offer for offer in every if offer.rented is rented]
        place = np.array([offer.candidate for offer in some], dtype=int)
        upfront = np.array([offer.upfront for offer in some])
        rent = np.array([offer.usd_per_hour for offer in some])
        at_once, endless = np.zeros(len(some)), np.full(len(some), np.inf)
        month = (
            costs.rented(rent, endless, at_once, at_once)
            if rented
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
    for rented in (False, True):
        ways = {offer.candidate: offer for offer in every if offer.rented is rented}
        chosen = rows.at(np.isin(rows.candidate, list(ways)))
        each = np.array([ways[at].upfront for at in chosen.candidate.tolist()])
        upfront = each * chosen.machines
        monthly = _monthly(costs, chosen, ways, each, rented=rented) * chosen.machines
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
