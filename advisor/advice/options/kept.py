"""Options with the present machine, unchanged or with cheap changes."""

import math
import re
from collections.abc import Iterable
from dataclasses import replace

from advisor.advice.changes.what_ifs import FAST_RAM, FASTER_RAM, WhatIf
from advisor.advice.options.option import FREE, MonthlyCost, Option, OptionKind, Price
from advisor.advice.options.prices import NOTHING_YET, with_part
from advisor.advice.options.question import Question
from advisor.advice.options.rented import rent_on_record
from advisor.advice.prices.host_parts import HostPartRow, host_part_rows
from advisor.advice.prices.power import draw_of
from advisor.advice.prices.without_price import NO_PRICE
from advisor.advice.speeds import Speed
from advisor.formatting import money_per_hour
from advisor.machine.catalog import host_rows, memory_generation
from advisor.request.ownership import Form
from advisor.units import GIB

NOTHING_OWNED = "Nothing yet"
"""Name of what is kept where there is no machine."""


def cost_of_keeping(question: Question, speed: Speed | None) -> MonthlyCost:
    """Monthly cost of the present machine: electricity and tied-up value, or rent; none without
    one.
    """
    own = question.ownership
    if own.nothing:
        return MonthlyCost()
    if own.rented_at is not None:
        return question.use.rented(own.rented_at, speed) if speed else MonthlyCost()
    return question.use.owned(draw_of(question.machine), speed, tied_up=question.resale_usd)


def keep(question: Question, speed: Speed | None) -> Option:
    """Option of keeping the machine as it is, or of buying none."""
    own = question.ownership
    if own.nothing:
        return question.option(OptionKind.KEEP, NOTHING_OWNED, None, MonthlyCost())
    price = _tied_up(question.resale)
    if own.rented_at is not None:
        price = _rent(question, own.rented_at)
    name = question.machine.name
    return question.option(OptionKind.KEEP, name, speed, cost_of_keeping(question, speed), price)


def _rent(question: Question, usd: float) -> Price:
    """Nothing to pay at once, with a note on the hourly rent."""
    if not question.ownership.on_record:
        return Price(typed=True, note=f"{money_per_hour(usd)}, as you typed")
    row = rent_on_record(question.machine)
    if row is None:
        return Price(typed=True, note="its rent is not on record; type it (--rented-at)")
    note = f"{money_per_hour(usd)}, {row.provider}"
    return Price(date=row.date, note=note, sources=(row.source,))


def _tied_up(resale: Price) -> Price:
    """Nothing to pay, with a note on the value that is tied up."""
    if resale.typed or not resale.note:
        return Price()
    note = f"value tied up: {resale.note}; type what yours would sell for (--resale)"
    return replace(resale, usd=0.0, note=note)


def changes(question: Question, kept: Option, what_ifs: Iterable[WhatIf]) -> list[Option]:
    """Options of changed formats, caches, memory and drives, with their prices."""
    rows = []
    for change in what_ifs:
        cost = cost_of_keeping(question, change.speed)
        price = _price(question, change)
        if price.usd:
            cost = replace(cost, purchase=question.use.spread(price.usd))
        rows.append(
            question.option(OptionKind.CHANGE, change.change, change.speed, cost, price, kept=kept)
        )
    return rows


def _price(question: Question, change: WhatIf) -> Price:
    """Price of a change: 0 if free, else of the part that it takes; unknown for a better slot."""
    if change.cost.startswith(FREE):
        return Price(note=change.cost)
    if change.ram:
        return _memory(question, change.ram)
    if change.part == FAST_RAM:
        return _faster_memory(question)
    if change.part:
        return with_part(NOTHING_YET, _largest(change.part), question.money.own_price)
    return Price(usd=None, note=NO_PRICE)


MOST_DESKTOP_RAM = 256 * GIB
"""Most RAM of a desktop's board [B]: 256 GB for 75 of 129 boards listed for AM5, less for the
others (PCPartPicker, 2025-07-23, as in data/prices/host_parts.csv).
"""


USUAL_MEMORY = "DDR5"
"""Generation of memory of a processor that the catalogue does not know."""


def _memory(question: Question, size: float) -> Price:
    """RAM as kits of the largest size on record for the processor's generation of memory [B]."""
    if question.ownership.form is not Form.SERVER and size > MOST_DESKTOP_RAM:
        return Price(usd=None, note="more than the board of a desktop takes, 256 GB")
    generation = memory_generation(question.machine.host.name) or USUAL_MEMORY
    kits = [row for row in host_part_rows() if row.part == "ram" and generation in row.name]
    if not kits:
        return Price(usd=None, note=f"no price of {generation} on record")
    kit = kits[-1]
    count = math.ceil(size / (kit.size * GIB))
    return with_part(NOTHING_YET, kit, question.money.own_price, count)


PAIR = 2
"""Modules that run at the rate of fast memory; with four, processors run them slower."""
MODULE_RATE = re.compile(r"DDR\d-(\d+)")
"""Rate in a module's name [MT/s]."""


def _faster_memory(question: Question) -> Price:
    """A pair of fast modules as large as the present RAM; unknown where none is fast enough."""
    (module,) = (row for row in host_part_rows() if row.part == FAST_RAM)
    if FAST_RAM in dict(question.money.own_price):
        return with_part(NOTHING_YET, module, question.money.own_price)
    host = question.machine.host
    row = host_rows().get(host.name)
    rate = MODULE_RATE.search(module.name)
    if question.ownership.form is not Form.DESKTOP or row is None or rate is None:
        return Price(usd=None, note="no price of faster RAM for it on record")
    fits = row.memory_type in module.name and PAIR * module.size * GIB >= float(host.memory.value)
    if not fits or float(rate[1]) < FASTER_RAM * (row.memory_mts or math.inf):
        return Price(usd=None, note=f"{NO_PRICE} of a pair as large and {FASTER_RAM:g} "
                     "times as fast; type yours as --own-price fast-ram=USD")  # fmt: skip
    return with_part(NOTHING_YET, module, question.money.own_price, PAIR)


def _largest(part: str) -> HostPartRow:
    return [row for row in host_part_rows() if row.part == part][-1]
