"""Options elsewhere: another whole machine, a rented one, or an API."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np

from advisor.advice.fleet.fleet import Fleet
from advisor.advice.fleet.timed_fleet import TimedFleet
from advisor.advice.options.candidates import cardless
from advisor.advice.options.option import Option, OptionKind, Price
from advisor.advice.options.prices import bought, rented, rented_count
from advisor.advice.options.question import Question
from advisor.advice.options.timed_cards import FEW, KEPT, CardSpeed, TimedCards
from advisor.advice.prices.api_prices import (
    ApiPriceRow,
    api_day,
    api_first_tokens,
    api_price_rows,
)
from advisor.advice.prices.host_parts import desktop_parts
from advisor.advice.prices.machine_prices import MachineForSale, machines_for_sale
from advisor.advice.prices.power import draw_of
from advisor.advice.speeds import Speed
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.formatting import money
from advisor.machine import from_spec
from advisor.machine.catalog import find_gpu
from advisor.machine.from_name import machine_by_name
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model.model import Model
from advisor.runtimes import Runtime
from advisor.units import GIB


def machines(question: Question, kept: Option) -> list[Option]:
    """Whole machines with unified memory, in the size that has a price.

    Machines that would read from their drive are left out where the present one holds the model in
    memory.
    """
    own = kept.name if question.ownership.owned else ""
    reads_drive = kept.speed is None or kept.speed.strategy is PlacementStrategy.NVME_OFFLOAD
    strategies = tuple(PlacementStrategy) if reads_drive else IN_MEMORY
    others = np.array([own != machine.name for _, machine in whole_machines()])
    speeds = _timed(question.model, question.work, question.runtimes).fastest(others, strategies)
    return [
        _machine(
            question,
            kept,
            name,
            machine,
            speed,
            bought(name, 1, question.money),
            topic=machine.gpus[0].vendor,
        )
        for (name, machine), speed in zip(whole_machines(), speeds, strict=True)
        if speed is not None
    ]


IN_MEMORY = (PlacementStrategy.GPU_RESIDENT, PlacementStrategy.CPU_OFFLOAD)
"""Placements that read nothing from the drive."""


@cache
def _whole_fleet() -> Fleet:
    return Fleet([machine for _, machine in whole_machines()])


@lru_cache(maxsize=KEPT)
def _timed(model: Model, work: Workload, runtimes: tuple[Runtime, ...]) -> TimedFleet:
    return TimedFleet(_whole_fleet(), model, work, runtimes)


@cache
def whole_machines() -> tuple[tuple[str, Machine], ...]:
    """Machines sold whole, with the memory that their price is for."""
    return tuple((name, _as_sold(sale)) for name, sale in machines_for_sale().items())


def _as_sold(sale: MachineForSale) -> Machine:
    size = sale.price.memory_gib
    if sale.preset is not None:
        machine = machine_by_name(sale.preset.name, MachineSpec(ram_gb=size))
    else:
        machine = from_spec.machine(MachineSpec(gpu=sale.price.gpu, ram_gb=size))
    return machine if size is None else _with_memory(machine, size * GIB)


def _with_memory(machine: Machine, size: float) -> Machine:
    """Chip with the part of a memory size that its GPU may use [B]."""
    chip = machine.gpus[0]
    memory = replace(chip.memory, value=size * find_gpu(chip.name).usable_share)
    return replace(machine, gpus=(replace(chip, memory=memory),))


def desktops(question: Question, kept: Option, held: Iterable[CardSpeed]) -> list[Option]:
    """New desktops with cards, where the present machine takes none or is rented.

    Args:
        question: question with model and use.
        kept: option of keeping the present machine, for comparison.
        held: fewest cards of each kind that hold the model, in a desktop.
    """
    host = cardless()
    return [
        _desktop(question, kept, replace(host, gpus=(card,) * count), speed)
        for card, count, speed in held
        if count <= FEW and speed.whole
    ]


def _desktop(question: Question, kept: Option, machine: Machine, speed: Speed) -> Option:
    gpus = machine.gpus
    price = bought(gpus[0].name, len(gpus), question.money, desktop_parts(gpus))
    counted = f"{len(gpus)}x " if len(gpus) > 1 else ""
    name = f"New desktop with {counted}{gpus[0].name}"
    return _machine(question, kept, name, machine, speed, price)


def _machine(
    question: Question,
    kept: Option,
    name: str,
    machine: Machine,
    speed: Speed,
    price: Price,
    *,
    topic: str = "",
) -> Option:
    cost = question.use.owned(draw_of(machine), speed, usd=price.usd or 0.0)
    return question.option(
        OptionKind.MACHINE, name, speed, cost, price, sells=True, kept=kept, topic=topic
    )


def rents(question: Question, kept: Option, cards: TimedCards) -> list[Option]:
    """Existing rented machines with the fewest cards of each kind that hold the model: stopped
    between sessions, and by the month.

    A machine with more cards than that is rented whole, and all of them are used.

    Args:
        question: question with model and use.
        kept: option of keeping the present machine, for comparison.
        cards: cards with their speeds.
    """
    rented_ones: list[Option] = []
    for card, fewest, least in cards.holders:
        offer = rented(card.name, fewest, question.money)
        if offer is None or least.strategy is not PlacementStrategy.GPU_RESIDENT:
            continue
        count, speed = fewest, least
        whole = rented_count(card.name, fewest, question.money)
        if whole > fewest and (faster := cards.holding(card.name, whole)) is not None:
            count, speed = whole, faster
        name = f"{count}x {card.name}" if count > 1 else card.name
        rented_ones += _rented(question, kept, name, speed, *offer)
    return rented_ones


def _rented(
    question: Question, kept: Option, name: str, speed: Speed, price: Price, usd_per_hour: float
) -> Sequence[Option]:
    """Option of renting; the owned machine stays meanwhile, with its value tied up."""
    use = question.use
    typed = question.money.rented_hours_per_day
    by_use = question.option(
        OptionKind.RENT, name, speed, use.rented(usd_per_hour, speed), price, kept=kept
    )
    if typed is not None and typed >= 24:
        return [by_use]
    monthly = question.option(
        OptionKind.RENT,
        f"{name}, by the month",
        speed,
        use.rented_by_the_month(usd_per_hour),
        replace(price, note=f"{price.note}, day and night"),
        kept=kept,
        always_on=True,
    )
    return [by_use, monthly]


def apis(question: Question, kept: Option) -> list[Option]:
    """Providers that serve the model, cheapest for this use first."""
    rows = api_price_rows().get(question.model.name.rpartition("/")[2], ())
    options = [_called(question, kept, row) for row in rows]
    if question.money.api_usd_in is not None and question.money.api_usd_out is not None:
        usd = question.money.api_usd_in, question.money.api_usd_out
        cost = question.use.called(*usd)
        each = " in, ".join(map(money, usd))
        note = f"{each} out per million tokens, as you typed"
        price = Price(typed=True, note=note)
        speed = _at(question.money.api_tps, _as_now(kept))
        options.append(question.option(OptionKind.API, "Your API", speed, cost, price, kept=kept))
    return sorted(options, key=lambda option: option.monthly or 0.0)


def _by_token(usd_in: float, usd_out: float) -> str:
    return f"${usd_in:g} in, ${usd_out:g} out per million tokens"


def _called(question: Question, kept: Option, row: ApiPriceRow) -> Option:
    cost = question.use.called(row.usd_per_mtok_in, row.usd_per_mtok_out, row.usd_per_mtok_cached)
    cached = row.usd_per_mtok_cached if question.work.cached else None
    again = "" if cached is None else f" (${cached:g} for what is cached)"
    note = f"{_by_token(row.usd_per_mtok_in, row.usd_per_mtok_out)}{again}, {row.provider}"
    price = Price(date=api_day(row), note=note, sources=(row.source,))
    first = api_first_tokens().get((row.provider, row.model_id), _as_now(kept))
    return question.option(
        OptionKind.API,
        f"{row.provider}: {row.model_id}",
        _at(row.decode_tps or question.money.api_tps, first),
        cost,
        price,
        kept=kept,
    )


def _as_now(kept: Option) -> float:
    """Time to the first token of an API for which none is published: the kept machine's, so that it
    neither gains nor loses by it; 0 without one [s].
    """
    return kept.speed.first_token if kept.speed else 0.0


def _at(speed: float | None, first_token: float) -> Speed | None:
    """Speed of an API, published or typed [tokens/s], with its time to the first token [s]."""
    if speed is None:
        return None
    return Speed(
        strategy=PlacementStrategy.GPU_RESIDENT, format="", decode=speed, low=speed, high=speed,
        first_token=first_token, load=None,
    )  # fmt: skip
