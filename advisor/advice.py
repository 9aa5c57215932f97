"""The answer: three placements beside bigger GPUs and cheap changes, in speed, hours and money."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from advisor import catalog
from advisor.compare import as_run, compare, decode_tps, usable
from advisor.estimate import Estimate, estimate
from advisor.machine import Gpu, Machine
from advisor.model import Model
from advisor.money import break_even_tokens, busy_share, monthly_hours, worth_per_hour
from advisor.offers import MoneyInputs, Offer, offers
from advisor.placement import Settings, Strategy
from advisor.runtimes import LLAMA_CPP
from advisor.units import GIB, HOURS_PER_MONTH
from advisor.what_ifs import WhatIf, what_ifs
from advisor.wording import hours, money_per_hour, tokens_per_second
from advisor.wording import memory as memory_words
from advisor.wording import money as money_words
from advisor.workload import Workload

COUNTS = (1, 2, 4, 8)
"""GPUs of one kind that an upgrade may have."""
WORTHWHILE = 1.1
"""An upgrade or change must be this many times faster to be shown."""


@dataclass(frozen=True, kw_only=True)
class Upgrade:
    """A bigger GPU, or several, for the same model.

    Attributes:
        gpu: catalogue name.
        count: how many.
        holds_all: the whole model lies in VRAM; otherwise more of it than now.
        estimate: its speed, in the same host.
        offer: cheapest way to have it; None where no price is sourced.
        other_offers: the rest.
        hours_saved: waiting saved in a month [h].
        worth: what an hour must be worth for it to pay [USD/h]; None without a price.
        break_even: generated tokens a month from which it pays at the hour's worth given; None
            without a price.
        net: worth of the hours saved less its cost [USD/month]; None without a price.
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
        """It costs less than the hours it saves are worth; None without a price."""
        return None if self.net is None else self.net > 0

    @property
    def name(self) -> str:
        """With the number of GPUs where there are several."""
        return f"{self.count}x {self.gpu}" if self.count > 1 else self.gpu


@dataclass(frozen=True, kw_only=True)
class Advice:
    """Everything the first page says.

    Attributes:
        title: model, format and machine in a line.
        verdict: the answer in one or two sentences.
        estimates: one for each runtime and placement.
        best: the fastest that fits; None where nothing does.
        upgrades: GPUs that are faster, cheapest month first.
        what_ifs: changes that make it faster, largest gain first.
    """

    title: str
    verdict: str
    estimates: tuple[Estimate, ...]
    best: Estimate | None
    upgrades: tuple[Upgrade, ...]
    what_ifs: tuple[WhatIf, ...]

    def placed(self, strategy: Strategy) -> tuple[Estimate, ...]:
        """Estimates of one placement, in the order of the runtimes."""
        return tuple(one for one in self.estimates if one.strategy is strategy)


def advise(
    asked: Model,
    machine: Machine,
    work: Workload,
    *,
    money: MoneyInputs | None = None,
    settings: Settings | None = None,
) -> Advice:
    """The whole answer for a model, a machine and a need."""
    money = money or MoneyInputs()
    estimates = compare(asked, machine, work, settings=settings)
    fitting = usable(estimates)
    best = fitting[0] if fitting else None
    found = upgrades(asked, machine, work, best, money)
    return Advice(
        title=f"{asked.name}, {asked.format}, on {machine.name}, "
        f"{memory_words(float(machine.host.memory.value))} of RAM",
        verdict=verdict(best, estimates, found, money),
        estimates=estimates,
        best=best,
        upgrades=found,
        what_ifs=what_ifs(asked, machine, work, best, settings),
    )


def upgrades(
    asked: Model,
    machine: Machine,
    work: Workload,
    best: Estimate | None,
    money: MoneyInputs,
) -> tuple[Upgrade, ...]:
    """Every priced GPU that is faster than the best placement now, cheapest month first.

    Of each kind as few as hold the whole model; where one holds only more of it than now, that one.
    """
    own = [name for name, _ in money.own_rent]
    names = dict.fromkeys([*(row.gpu for row in catalog.price_rows()), *own])
    found = [
        one
        for name in names
        if (one := _upgrade(asked, machine, work, best, money, name)) is not None
    ]
    return tuple(sorted(found, key=lambda one: one.offer.monthly if one.offer else math.inf))


def _upgrade(
    asked: Model,
    machine: Machine,
    work: Workload,
    best: Estimate | None,
    money: MoneyInputs,
    name: str,
) -> Upgrade | None:
    row = catalog.find_gpu(name)
    holder = _smallest_holder(asked, machine, work, name)
    if holder is None:
        return None
    count, one = holder
    if best is not None and decode_tps(one) < WORTHWHILE * decode_tps(best):
        return None
    busy_hours = min(busy(one, money), 1.0) * HOURS_PER_MONTH
    found = sorted(
        offers(name, count, row.board_power_w, busy_hours, money), key=lambda offer: offer.monthly
    )
    if not found and count > 1:
        return None
    offer = found[0] if found else None
    saved = _hours_saved(best, one, money)
    monthly = offer.monthly if offer else None
    return Upgrade(
        gpu=name,
        count=count,
        holds_all=one.strategy is Strategy.GPU_RESIDENT,
        estimate=one,
        offer=offer,
        other_offers=tuple(found[1:]),
        hours_saved=saved,
        worth=None if monthly is None else float(worth_per_hour(monthly, saved)),
        break_even=_break_even(best, one, monthly, money),
        net=None if monthly is None else saved * money.usd_per_hour_of_time - monthly,
        keeps_up_now=best is None or busy(best, money) <= 1.0,
    )


def _smallest_holder(
    asked: Model, machine: Machine, work: Workload, gpu: str
) -> tuple[int, Estimate] | None:
    """The fewest GPUs of a kind that hold the model, else one that holds a part of it."""
    card = _as_sold(gpu)
    counts = (1,) if card.unified else COUNTS
    host = replace(machine.host, memory=card.memory) if card.unified else machine.host
    model = as_run(asked, LLAMA_CPP, machine)
    constants = catalog.efficiency()
    for count in counts:
        if count * float(card.memory.value) < model.file_bytes - model.embedding:
            continue
        bigger = replace(machine, name=gpu, gpus=(card,) * count, host=host)
        one = estimate(model, bigger, work, LLAMA_CPP, Strategy.GPU_RESIDENT, constants)
        if bool(one.fits):
            return count, one
    single = replace(machine, name=gpu, gpus=(card,), host=host)
    part = estimate(model, single, work, LLAMA_CPP, Strategy.CPU_OFFLOAD, constants)
    return (1, part) if bool(part.fits) else None


def _as_sold(name: str) -> Gpu:
    """A GPU with the memory of the configuration that its price is for."""
    card = catalog.gpu(name)
    sold = [row.memory_gib for row in catalog.price_rows() if row.gpu == name and row.memory_gib]
    if not sold:
        return card
    size = min(sold) * GIB * catalog.find_gpu(name).usable_share
    return replace(card, memory=replace(card.memory, value=size))


def _hours_saved(best: Estimate | None, faster: Estimate, money: MoneyInputs) -> float:
    """Waiting that an upgrade saves in a month; nothing to compare with where nothing runs [h]."""
    if best is None:
        return 0.0
    saved = float(best.reply) - float(faster.reply)
    return max(float(monthly_hours(saved, money.replies_per_day)), 0.0)


def busy(one: Estimate, money: MoneyInputs) -> float:
    """Share of the month that answering all replies takes, users together counted as one stream."""
    together = float(one.reply) / float(one.work.users)
    return float(busy_share(monthly_hours(together, money.replies_per_day)))


def _break_even(
    best: Estimate | None, faster: Estimate, monthly: float | None, money: MoneyInputs
) -> float | None:
    if best is None or monthly is None:
        return None
    return float(
        break_even_tokens(monthly, decode_tps(best), decode_tps(faster), money.usd_per_hour_of_time)
    )


def verdict(
    best: Estimate | None,
    estimates: Iterable[Estimate],
    found: Iterable[Upgrade],
    money: MoneyInputs,
) -> str:
    """The answer in words: what it does now, what a bigger GPU gives, and when that pays."""
    if best is None:
        short = min((float(one.missing) for one in estimates if not one.refusal), default=math.nan)
        upgrade = first_choice(found)
        return f"Nothing here runs it: {memory_words(short)} of memory are short." + (
            f" {_gives(upgrade)}." if upgrade else ""
        )
    now = f"{best.runtime} gives {tokens_per_second(decode_tps(best))}"
    if best.strategy is Strategy.GPU_RESIDENT:
        return f"It fits in the GPU: {now}. Nothing needs to be offloaded."
    on_cpu = best.machine is not None and not best.machine.gpus
    how = {
        Strategy.CPU_OFFLOAD: "The processor alone" if on_cpu else "Offloading to RAM",
        Strategy.NVME_OFFLOAD: "Reading from the drive",
    }[best.strategy]
    upgrade = first_choice(found)
    start = f"{how} gives {tokens_per_second(decode_tps(best))}."
    return f"{start} {_gives(upgrade)}. {_when(upgrade, money)}" if upgrade else start


def first_choice(found: Iterable[Upgrade]) -> Upgrade | None:
    """Of the priced upgrades the one that leaves most, whole models before parts of one."""
    priced = [one for one in found if one.net is not None]
    whole = [one for one in priced if one.holds_all]
    return max(whole or priced, key=lambda one: one.net or 0.0, default=None)


def _gives(one: Upgrade) -> str:
    if one.offer is None:
        return f"{one.name} gives about {tokens_per_second(decode_tps(one.estimate))}"
    verb = "rented" if one.offer.kind == "rent" else "bought"
    return (
        f"{one.name}, {verb}, gives about {tokens_per_second(decode_tps(one.estimate))} "
        f"for {money_words(one.offer.monthly)} a month"
    )


def _when(one: Upgrade, money: MoneyInputs) -> str:
    asked = f"At {money.replies_per_day:,.0f} replies a day"
    if one.worth is None or not math.isfinite(one.worth):
        return "At so few replies it saves no time worth naming."
    if not one.keeps_up_now:
        return f"{asked} this machine cannot keep up, even if it answered day and night."
    act = "rent" if one.offer and one.offer.kind == "rent" else "buy"
    return (
        f"{asked} that saves {hours(one.hours_saved)} a month: "
        f"{act} it if your hour is worth over {money_per_hour(one.worth).removesuffix(' an hour')}."
    )
