"""Bigger GPUs for the same model: speed, cost and saved waiting."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from advisor.advice.compare import as_run, decode_tps
from advisor.advice.prices.host_parts import parts_for
from advisor.advice.prices.power import draw_of
from advisor.advice.prices.price import Price, bought, rented
from advisor.advice.prices.rows import price_rows
from advisor.advice.speeds import speed_of
from advisor.advice.table.cost import (
    MonthlyCost,
    Use,
    break_even_tokens,
    busy_share,
    monthly_hours,
    worth_per_hour,
)
from advisor.advice.upgrades.offers import Offer
from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine import from_catalog
from advisor.machine.machine import Gpu, Machine
from advisor.machine.quantity import given
from advisor.machine.shared_memory import gpu_part
from advisor.model.model import Model
from advisor.request.money import MoneyInputs
from advisor.request.ownership import Form
from advisor.runtimes import VALUED, Runtime
from advisor.units import GIB

COUNTS = (1, 2, 4, 8)
"""GPUs of one kind that an upgrade may have."""
WORTHWHILE = 1.1
"""An upgrade or change must be this many times faster to be shown."""


@dataclass(frozen=True, kw_only=True)
class Upgrade:
    """Bigger GPU, or several, for the same model.

    Attributes:
        gpu: name in the catalogue.
        count: number of GPUs.
        holds_all: the whole model fits VRAM; else a larger part than now.
        estimate: estimate in the same host.
        offer: cheapest way to have it; None without a sourced price.
        other_offers: other ways.
        hours_saved: waiting saved per month [h].
        worth: value of an hour from which it pays [USD/h]; None without a price.
        break_even: tokens per month from which it pays at the given value of an hour; None without
            a price.
        net: value of the saved hours less its cost [USD/month]; None without a price.
        keeps_up_now: the best placement now can answer all replies, one after another.
    """

    gpu: str
    count: int
    holds_all: bool
    estimate: Estimate
    offer: Offer | None
    other_offers: tuple[Offer, ...]
    hours_saved: float
    worth: float | None
    break_even: float | None
    net: float | None
    keeps_up_now: bool = True

    @property
    def pays(self) -> bool | None:
        """Whether it costs less than the value of the saved hours."""
        return None if self.net is None else self.net > 0

    @property
    def name(self) -> str:
        """Name with the number of GPUs, if several."""
        return f"{self.count}x {self.gpu}" if self.count > 1 else self.gpu


def upgrades(
    model: Model,
    machine: Machine,
    work: Workload,
    best: Estimate | None,
    money: MoneyInputs,
    runtimes: Sequence[Runtime] = VALUED,
) -> tuple[Upgrade, ...]:
    """Every priced GPU that is faster than the best placement now, cheapest month first.

    Each kind in the smallest number that holds the whole model; if none does, a single GPU that
    holds more of it than now.

    Args:
        model: model in the requested format.
        machine: present machine, whose GPUs are replaced.
        work: the request.
        best: best placement now; None where nothing runs.
        money: time and prices.
        runtimes: allowed runtimes; each GPU is valued in its fastest one.
    """
    own = [name for name, _ in money.own_rent]
    names = dict.fromkeys([*(row.gpu for row in price_rows()), *own])
    possible = [
        upgrade
        for name in names
        if (upgrade := _upgrade(model, machine, work, best, money, runtimes, name)) is not None
    ]
    return tuple(
        sorted(possible, key=lambda upgrade: upgrade.offer.monthly if upgrade.offer else math.inf)
    )


def _upgrade(
    model: Model,
    machine: Machine,
    work: Workload,
    best: Estimate | None,
    money: MoneyInputs,
    runtimes: Sequence[Runtime],
    name: str,
) -> Upgrade | None:
    holder = _smallest_holder(model, machine, work, runtimes, name)
    if holder is None:
        return None
    count, bigger = holder
    if best is not None and decode_tps(bigger) < WORTHWHILE * decode_tps(best):
        return None
    priced = sorted(_offers(name, count, bigger, money), key=lambda offer: offer.monthly)
    if not priced and count > 1:
        return None
    offer = priced[0] if priced else None
    saved = _hours_saved(best, bigger, money)
    monthly = offer.monthly if offer else None
    return Upgrade(
        gpu=name,
        count=count,
        holds_all=bigger.strategy is PlacementStrategy.GPU_RESIDENT,
        estimate=bigger,
        offer=offer,
        other_offers=tuple(priced[1:]),
        hours_saved=saved,
        worth=None if monthly is None else float(worth_per_hour(monthly, saved)),
        break_even=_break_even(best, bigger, monthly, money),
        net=None if monthly is None else saved * money.usd_per_hour_of_time - monthly,
        keeps_up_now=best is None or busy(best, money) <= 1.0,
    )


def _offers(name: str, count: int, bigger: Estimate, money: MoneyInputs) -> Iterable[Offer]:
    """Offers as in the options: a rented machine, stopped between sessions, and bought cards with
    the host parts that they need.
    """
    speed, there = speed_of(bigger), bigger.machine
    if speed is None or there is None:
        return
    use = Use(work=bigger.work, money=money)
    rent = rented(name, count, money)
    if rent is not None:
        price, usd_per_hour = rent
        yield _offer("rent", use.rented(usd_per_hour, speed), price)
    parts = () if there.unified else parts_for(Form.DESKTOP, (), there.gpus)
    price = bought(name, count, money, parts)
    if price.usd is not None:
        yield _offer("purchase", use.owned(draw_of(there), speed, usd=price.usd), price)


def _offer(kind: str, cost: MonthlyCost, price: Price) -> Offer:
    dated = f"{price.note}, priced {price.date}" if price.date else price.note
    return Offer(kind=kind, monthly=cost.total, note=dated, source=next(iter(price.sources), ""))


def _smallest_holder(
    stored: Model, machine: Machine, work: Workload, runtimes: Sequence[Runtime], gpu: str
) -> tuple[int, Estimate] | None:
    """Fewest GPUs of a kind that hold the model, else one that holds a part."""
    card = _as_sold(gpu)
    counts = (1,) if card.unified else COUNTS
    host = replace(machine.host, memory=card.memory) if card.unified else machine.host
    single = replace(machine, name=gpu, gpus=(card,), host=host, nodes=1, network=None)
    taken = [(how, model) for how in runtimes if (model := _taken(stored, how, single))]

    def tried(count: int, strategy: PlacementStrategy) -> Estimate | None:
        where = replace(single, gpus=(card,) * count)
        room = count * float(card.memory.value)
        whole = strategy is PlacementStrategy.GPU_RESIDENT
        estimates = [
            estimate(model, where, work, how, strategy, fitted_constants())
            for how, model in taken
            if strategy in how.strategies and not (whole and room < model.bytes_without_table)
        ]
        return max((each for each in estimates if bool(each.fits)), key=decode_tps, default=None)

    for count in counts:
        if whole := tried(count, PlacementStrategy.GPU_RESIDENT):
            return count, whole
    part = tried(1, PlacementStrategy.CPU_OFFLOAD)
    return (1, part) if part else None


def _taken(stored: Model, runtime: Runtime, machine: Machine) -> Model | None:
    """Model as a runtime loads it on a machine; None where it does not."""
    try:
        return as_run(stored, runtime, machine)
    except Refusal:
        return None


def _as_sold(name: str) -> Gpu:
    """GPU with the memory size of its price."""
    card = from_catalog.gpu(name)
    sold = [row.memory_gib for row in price_rows() if row.gpu == name and row.memory_gib]
    if not sold:
        return card
    return replace(card, memory=gpu_part(card, given(min(sold) * GIB), ""))


def _hours_saved(best: Estimate | None, faster: Estimate, money: MoneyInputs) -> float:
    """Waiting saved per month [h]; 0 where nothing runs now."""
    if best is None:
        return 0.0
    saved = float(best.reply) - float(faster.reply)
    return max(float(monthly_hours(saved, money.replies_per_day)), 0.0)


def busy(estimate: Estimate, money: MoneyInputs) -> float:
    """Share of the month for answering all replies, one after another."""
    together = float(estimate.reply) / float(estimate.work.users)
    return float(busy_share(monthly_hours(together, money.replies_per_day)))


def _break_even(
    best: Estimate | None, faster: Estimate, monthly: float | None, money: MoneyInputs
) -> float | None:
    if best is None or monthly is None:
        return None
    return float(
        break_even_tokens(monthly, decode_tps(best), decode_tps(faster), money.usd_per_hour_of_time)
    )


def first_choice(upgrades: Iterable[Upgrade]) -> Upgrade | None:
    """Priced upgrade that saves most, whole models before parts."""
    priced = [upgrade for upgrade in upgrades if upgrade.net is not None]
    whole = [upgrade for upgrade in priced if upgrade.holds_all]
    return max(whole or priced, key=lambda upgrade: upgrade.net or 0.0, default=None)
