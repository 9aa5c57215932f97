"""Another whole machine, one that is rented, or somebody else's behind an API."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from advisor.advice.api_prices import ApiPriceRow, api_price_rows
from advisor.advice.options.cards import fastest
from advisor.advice.options.option import Option, OptionKind, Price
from advisor.advice.options.prices import bought, rented, sold
from advisor.advice.options.question import Question
from advisor.advice.power import draw_of
from advisor.advice.price_rows import price_rows
from advisor.advice.speeds import Speed
from advisor.cost_model.placement import PlacementStrategy
from advisor.machine import from_spec
from advisor.machine.catalog import find_gpu
from advisor.machine.machine import Gpu, Machine
from advisor.machine.spec import MachineSpec
from advisor.units import GIB


def machines(question: Question, kept: Option) -> list[Option]:
    """Whole machines around a chip with shared memory, in the size that is priced."""
    found = [(name, machine) for name, machine in whole_machines() if name != kept.name]
    speeds = fastest(question, [machine for _, machine in found])
    return [
        _machine(question, kept, name, machine, speed)
        for (name, machine), speed in zip(found, speeds, strict=True)
        if speed is not None
    ]


@cache
def whole_machines() -> tuple[tuple[str, Machine], ...]:
    """Machines that are sold whole, each with the memory that its price is for."""
    names = (name for name in sold() if find_gpu(name).unified)
    return tuple((name, _as_sold(name)) for name in names)


def _as_sold(name: str) -> Machine:
    rows = [row.memory_gib for row in price_rows() if row.gpu == name and row.memory_gib]
    machine = from_spec.machine(MachineSpec(gpu=name, ram_gb=min(rows) if rows else None))
    if not rows:
        return machine
    card = machine.gpus[0]
    size = min(rows) * GIB * find_gpu(name).usable_share
    return replace(machine, gpus=(replace(card, memory=replace(card.memory, value=size)),))


def _machine(question: Question, kept: Option, name: str, machine: Machine, speed: Speed) -> Option:
    price = bought(name, 1, question.money)
    cost = question.use.owned(draw_of(machine), speed, usd=price.usd or 0.0)
    sold_for = question.ownership.resale
    return question.option(OptionKind.MACHINE, name, speed, cost, price, sold=sold_for, kept=kept)


def rents(question: Question, kept: Option, held: Iterable[tuple[Gpu, int, Speed]]) -> list[Option]:
    """Machines for rent that exist, with as few cards as hold the whole model.

    Args:
        question: whose model and use.
        kept: what to compare with.
        held: of each kind as few as hold the model, from `holders`.
    """
    found = []
    for card, count, speed in held:
        offer = rented(card.name, count, question.money)
        if offer is None or speed.strategy is not PlacementStrategy.GPU_RESIDENT:
            continue
        price, usd_per_hour = offer
        cost = question.use.rented(usd_per_hour, speed)
        name = f"{count}x {card.name}" if count > 1 else card.name
        found.append(question.option(OptionKind.RENT, name, speed, cost, price, kept=kept))
    return found


def apis(question: Question, kept: Option) -> list[Option]:
    """Providers that serve the model, the cheapest for this use first."""
    rows = api_price_rows().get(question.asked.name, ())
    options = (_called(question, kept, row) for row in rows)
    return sorted(options, key=lambda option: option.monthly or 0.0)


def _called(question: Question, kept: Option, row: ApiPriceRow) -> Option:
    cost = question.use.called(row.usd_per_mtok_in, row.usd_per_mtok_out)
    note = (
        f"${row.usd_per_mtok_in:g} in, ${row.usd_per_mtok_out:g} out per million tokens, "
        f"{row.provider}"
    )
    price = Price(date=row.date, note=note, sources=(row.source,))
    return question.option(
        OptionKind.API, f"{row.provider}: {row.model_id}", _published(row), cost, price, kept=kept
    )


def _published(row: ApiPriceRow) -> Speed | None:
    """The speed that a provider publishes; the first token is not counted where none is."""
    if row.decode_tps is None:
        return None
    speed = row.decode_tps
    return Speed(
        strategy=PlacementStrategy.GPU_RESIDENT, format="", decode=speed, low=speed, high=speed,
        first_token=0.0, load=None,
    )  # fmt: skip
