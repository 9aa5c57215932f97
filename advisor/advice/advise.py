"""The answer: three placements beside bigger GPUs and cheap changes, in speed, hours and money."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from advisor.advice.compare import compare, decode_tps, lacks, usable
from advisor.advice.offers import MoneyInputs
from advisor.advice.upgrades import Upgrade, first_choice, upgrades
from advisor.advice.what_ifs import WhatIf, what_ifs
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.workload import Workload
from advisor.formatting import hours, money_per_hour, tokens_per_second
from advisor.formatting import memory as memory_words
from advisor.formatting import money as money_words
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes import LLAMA_CPP, RUNTIMES, Runtime

NOTABLY = 1.1
"""Another runtime must be this many times faster than the one chosen to be named."""


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
        chosen: the runtime that all but the estimates are of; None for the fastest that people
            usually meet.
    """

    title: str
    verdict: str
    estimates: tuple[Estimate, ...]
    best: Estimate | None
    upgrades: tuple[Upgrade, ...]
    what_ifs: tuple[WhatIf, ...]
    chosen: Runtime | None = None

    def placed(self, strategy: PlacementStrategy) -> tuple[Estimate, ...]:
        """Estimates of one placement, in the order of the runtimes."""
        return tuple(one for one in self.estimates if one.strategy is strategy)

    def meant(self, strategy: PlacementStrategy) -> tuple[Estimate, ...]:
        """Those of them that are of the runtime chosen; all where none was."""
        return tuple(one for one in self.placed(strategy) if self.chosen in (None, one.how))

    def why_not(self, strategy: PlacementStrategy) -> str:
        """Why a placement cannot be had at all; empty where it can."""
        if self.chosen is not None and not self.meant(strategy):
            return lacks(self.chosen, strategy)
        return next((one.refusal for one in self.meant(strategy) if one.refusal), "")


def advise(
    asked: Model,
    machine: Machine,
    work: Workload,
    *,
    money: MoneyInputs | None = None,
    settings: Settings | None = None,
    chosen: Runtime | None = None,
) -> Advice:
    """The whole answer for a model, a machine and a need.

    Upgrades and changes are of the runtime chosen, else of the best placement's.
    """
    money = money or MoneyInputs()
    beside = (chosen,) if chosen and chosen not in RUNTIMES else ()
    estimates = compare(asked, machine, work, settings=settings, runtimes=(*RUNTIMES, *beside))
    fitting = usable(one for one in estimates if chosen in (None, one.how))
    best = fitting[0] if fitting else None
    runtime = chosen or (best.how if best else LLAMA_CPP)
    found = upgrades(asked, machine, work, best, money, runtime)
    return Advice(
        title=f"{asked.name}, {asked.format}, on {machine.name}, "
        f"{memory_words(float(machine.host.memory.value))} of RAM",
        verdict=verdict(best, estimates, found, money, chosen),
        estimates=estimates,
        best=best,
        upgrades=found,
        what_ifs=what_ifs(asked, machine, work, best, settings),
        chosen=chosen,
    )


def verdict(
    best: Estimate | None,
    estimates: Iterable[Estimate],
    found: Iterable[Upgrade],
    money: MoneyInputs,
    chosen: Runtime | None = None,
) -> str:
    """The answer in words: what it does now, what a bigger GPU gives, and when that pays."""
    upgrade = first_choice(found)
    estimates = tuple(estimates)
    faster = _faster(best, estimates) if chosen else ""
    if best is None:
        gives = f"{_gives(upgrade)}." if upgrade else ""
        return " ".join(filter(None, (_nothing(estimates, chosen), gives, faster)))
    if best.strategy is PlacementStrategy.GPU_RESIDENT:
        now = f"{best.runtime} gives {tokens_per_second(decode_tps(best))}"
        fits = f"It fits in the GPU: {now}. Nothing needs to be offloaded."
        return f"{fits} {faster}".rstrip()
    start = f"{_how(best, chosen)} gives {tokens_per_second(decode_tps(best))}."
    then = (f"{_gives(upgrade)}.", _when(upgrade, money)) if upgrade else ()
    return " ".join(filter(None, (start, *then, faster)))


def _nothing(estimates: Iterable[Estimate], chosen: Runtime | None) -> str:
    """Why nothing runs."""
    own = [one for one in estimates if chosen in (None, one.how)]
    short = min((float(one.missing) for one in own if not one.refusal), default=math.nan)
    if chosen is None or math.isfinite(short):
        who = chosen.name if chosen else "Nothing"
        does = "does not run it here" if chosen else "here runs it"
        return f"{who} {does}: {memory_words(short)} of memory are short."
    return f"{chosen.name} does not run it here. {next((one.refusal for one in own), '')}".strip()


def _how(best: Estimate, chosen: Runtime | None) -> str:
    on_cpu = best.machine is not None and not best.machine.gpus
    how = {
        PlacementStrategy.CPU_OFFLOAD: "The processor alone" if on_cpu else "Offloading to RAM",
        PlacementStrategy.NVME_OFFLOAD: "Reading from the drive",
    }[best.strategy]
    return f"With {chosen.name}, {how[0].lower()}{how[1:]}" if chosen else how


def _faster(best: Estimate | None, estimates: Iterable[Estimate]) -> str:
    """What another runtime gives where that is notably more; empty where none does."""
    first = next(iter(usable(estimates)), None)
    now = decode_tps(best) if best else 0.0
    if first is None or decode_tps(first) < NOTABLY * now:
        return ""
    return f"{first.runtime} would give {tokens_per_second(decode_tps(first))} here."


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
