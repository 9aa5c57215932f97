"""Machines that reach a target for one model: over all GPUs, counts, formats and runtimes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from advisor.advice.finder.candidates import Candidate, fleet_of
from advisor.advice.finder.combinations import (
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
        _hit(question, models, candidates, chosen, row, offer, monthly)
        for chosen, row, offer, monthly in _priced(target, every, costs, rows)
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
) -> Iterator[tuple[Combinations, int, MachineOffer, float]]:
    """Rows paired with the offers within the budget, and their monthly cost [USD].

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
        for row in _largest_cache(chosen, np.flatnonzero(kept)).tolist():
            yield chosen, row, ways[int(chosen.candidate[row])], float(monthly[row])


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


def _hit(
    question: Question,
    models: Sequence[Model],
    candidates: Sequence[Candidate],
    rows: Combinations,
    row: int,
    offer: MachineOffer,
    monthly: float,
) -> Hit:
    candidate, price = candidates[int(rows.candidate[row])], offer.price
    load = float(rows.load[row])
    return Hit(
        model=question.model.name,
        runtime=NAMES[rows.runtime[row]],
        machine=candidate.name,
        count=candidate.count,
        whole=candidate.whole,
        gpu=candidate.machine.gpus[0].name,
        ram_gib=float(candidate.machine.host.memory.value) / GIB,
        context=float(rows.context[row]),
        users=float(question.work.users),
        machines=int(rows.machines[row]),
        kv_type=CACHES[rows.cache[row]],
        speed=Speed(
            strategy=STRATEGIES[rows.strategy[row]],
            runtime=NAMES[rows.runtime[row]],
            format=models[rows.form[row]].format,
            decode=float(rows.decode[row]),
            low=float(rows.low[row]),
            high=float(rows.high[row]),
            first_token=float(rows.first_token[row]),
            load=None if np.isnan(load) else load,
        ),
        offer=offer.kind,
        upfront=None if np.isnan(offer.upfront) else offer.upfront * int(rows.machines[row]),
        monthly=None if np.isnan(monthly) else monthly,
        compared=None if np.isnan(monthly) else monthly + offer.margin * int(rows.machines[row]),
        price_date=price.date,
        dated=bool(price.date) or price.typed,
        stale=not price.typed and is_stale(price.date, question.today),
        listed=price.listed,
    )
