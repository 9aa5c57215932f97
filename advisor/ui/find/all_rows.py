"""Table of all rows of the page Machines, sortable, with links that open Advise on a machine."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from advisor.advice.finder.search import Findings, Hit
from advisor.advice.prices.rows import no_price
from advisor.formatting import context_size, shown_currency
from advisor.machine.catalog import MACHINES
from advisor.request.lists import listed
from advisor.request.request import Request
from advisor.ui.advise import ways
from advisor.ui.parts.speed_table import ADVISE, speed_table
from advisor.ui.question import current
from advisor.units import GIB


def advise_link(hit: Hit, request: Request) -> str:
    """Address of the Advise page for a row."""
    form = hit.speed.format.removesuffix("-hf")
    shown = replace(
        request,
        format=form if form in listed("format") else None,
        kv_type=hit.use.work.kv_type,
        context=int(hit.use.work.context),
        runtime=hit.speed.runtime if hit.speed.runtime in listed("runtime") else None,
        **_machine(hit, request),
    )
    return current.link(shown)


def _machine(hit: Hit, request: Request) -> dict[str, Any]:
    if hit.machine.unified and hit.machine.name in MACHINES.rows():
        return current.of_machine(machine=hit.machine.name)
    if hit.machine.unified:
        memory = float(hit.machine.host.memory.value) / GIB
        return current.of_machine(gpu=hit.machine.gpus[0].name, ram_gb=memory)
    return ways.with_cards(hit.machine, request)


MOST_ROWS = 400  # rows that the table shows; the command prints all


def hits_table(answer: Findings, rows: Sequence[Hit]) -> None:
    """Table, cheapest month first."""
    shown = rows[:MOST_ROWS]
    paid = shown_currency()
    several = len(answer.request.contexts) > 1
    before: dict[str, list[Any]] = {"Machine": [hit.title for hit in shown]}
    if several:
        before["Context"] = [context_size(float(hit.use.work.context)) for hit in shown]
    before |= {
        "A month": [None if hit.monthly is None else hit.monthly / paid.usd for hit in shown],
        "At once": [None if hit.upfront is None else hit.upfront / paid.usd for hit in shown],
        "Bought or rented": [hit.offer for hit in shown],
        ADVISE: [advise_link(hit, answer.request) for hit in shown],
    }
    after: dict[str, list[Any]] = {
        "Runtime": [hit.speed.runtime for hit in shown],
        "KV cache": [hit.use.work.kv_type for hit in shown],
        "Price of": [_age(hit) for hit in shown],
    }
    if any(hit.speed.arrangement for hit in shown):
        after["GPUs in use"] = [hit.speed.arrangement or "all as one" for hit in shown]
    if any(hit.hours_rented for hit in shown):
        after["Hours of rent"] = [rented_hours(hit) or None for hit in shown]
    alt = "Machines that meet the target, the cheapest month first"
    speed_table("machines", before, [hit.speed for hit in shown], after, key="hits", alt=alt)


def rented_hours(hit: Hit) -> float:
    """Hours of a month that a machine is rented for; 0 for one that is bought [h]."""
    return (hit.hours_rented or 0.0) * hit.use.money.days


def _age(hit: Hit) -> str:
    if hit.monthly is None:
        return no_price(hit.bought[0].name)
    if not hit.price.date:
        if hit.price.dated:
            return "as you typed"
        return "no date"
    if hit.price.listed:
        return f"{hit.price.date}, at launch"
    if hit.stale:
        return f"{hit.price.date}, old"
    return hit.price.date
