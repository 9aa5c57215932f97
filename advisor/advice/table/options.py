"""Table of all options: the present machine first, the others by what they save.

Kept or changed, with cards added or replaced, another machine, rented, or an API.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np

from advisor.advice.edits.changes import FAST_RAM, FASTER_RAM, IN_MEMORY, SOME_QUALITY
from advisor.advice.edits.edit import Edited
from advisor.advice.prices import power
from advisor.advice.prices import price as prices
from advisor.advice.prices import rows as tables
from advisor.advice.prices.power import HostPartRow, further, parts_for
from advisor.advice.prices.price import Price
from advisor.advice.prices.rows import ApiPriceRow
from advisor.advice.speeds import Speed, of_numbers
from advisor.advice.table import timed_machines
from advisor.advice.table.cost import MonthlyCost
from advisor.advice.table.demand import LATE
from advisor.advice.table.option import (
    FREE,
    NEW_DESKTOP,
    Option,
    OptionKind,
    Question,
    rank,
    rent_on_record,
)
from advisor.advice.table.rules import counts_in, installed, is_kit, oddities, ruled_out
from advisor.advice.table.stack import Stack
from advisor.advice.table.timed_machines import COUNTS, CardSpeed, TimedCards
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import counted, hours, money, money_per_hour
from advisor.machine.catalog import GPUS, HOSTS, memory_generation
from advisor.machine.machine import Form, Gpu, Machine
from advisor.request.money import in_dock, room_for, slots
from advisor.runtimes import runtime
from advisor.units import GIB


def options(question: Question, now: Speed | None, edits: Iterable[Edited]) -> tuple[Option, ...]:
    """Options in the order of their savings, with the present machine and its edits."""
    kept = keep(question, now)
    edits = tuple(edits)
    bought = _in_larger_parts(question, now, edits)
    cards = cards_held(bought)
    others = (
        *changes(question, edits),
        *added(bought, now),
        *replaced(bought, now, cards.holders),
        *machines(bought, now),
        *desktops(bought, cards.holders),
        *rents(bought, cards),
        *apis(question),
    )
    rows = []
    has_board = question.ownership.owned and is_board(question.machine)
    for option in others:
        if refusal(question, option):
            continue
        odd = odd_about(question, option)
        if is_kit(odd) and not has_board:
            continue
        topic = option.topic
        if odd and option.kind is OptionKind.MACHINE:
            topic = ""  # nobody asks for a machine that is odd
        rows.append(replace(option, kept=kept, odd=odd, topic=topic))
    return (kept, *sorted(rows, key=rank))


def _in_larger_parts(question: Question, now: Speed | None, edits: Iterable[Edited]) -> Question:
    """Question that purchases are timed for: with prompts in larger parts, where these are a free
    setting and the first word is late.
    """
    prompts = next((edit for edit in edits if edit.of_prompt), None)
    if prompts is None or now is None or now.first_token < LATE:
        return question
    return replace(question, work=prompts.changes["work"])


def is_board(machine: Machine) -> bool:
    """Whether a machine is a bare board, whose owner may want another board."""
    kit = any("Jetson" in gpu.name for gpu in machine.gpus)
    return kit or power.BOARD.match(machine.host.name) is not None


def cards_here(question: Question) -> TimedCards:
    """Present machine with other cards, and with more."""
    if question.ownership.owned:
        form = question.ownership.form
    else:
        form = None
    return _timed(question, question.machine, question.for_sale, form)


def cards_held(question: Question) -> TimedCards:
    """Cards in the present machine; in a desktop where it has only the GPU of its chip."""
    if not question.machine.unified:
        return cards_here(question)
    return _timed(question, timed_machines.cardless(), question.for_sale)


def _timed(
    question: Question, host: Machine, names: tuple[str, ...], added_to: Form | None = None
) -> TimedCards:
    stack = timed_machines.card_stack(
        host, names, prices.cards_for_rent(question.money.own_rent), added_to
    )
    return timed_machines.timed_cards(stack, question.model, question.work, question.runtimes)


def machine_speed(question: Question) -> Speed | None:
    """Speed of the present machine in its fastest runtime and placement."""
    stack = Stack([question.machine])
    return (
        timed_machines.TimedStack(stack, question.model, question.work, question.runtimes)
        .fastest()
        .at(0)
    )


def refusal(question: Question, option: Option) -> str:
    """Sentence of the rule that excludes an option; empty for none."""
    form, machine = _together(question, option)
    each = (ruled_out(installed(form, machine, card)) for card in option.bought)
    return next(filter(None, each), "")


def odd_about(question: Question, option: Option) -> tuple[str, ...]:
    """Sentences of an expert's doubts about a purchase or rent, for the table of options, the
    verdict and the finder.
    """
    if not option.bought:
        return ()
    form, machine = _together(question, option)
    before: tuple[Gpu, ...] = ()
    maker = ""
    if question.ownership.owned and question.machine.gpus:
        before = question.machine.discrete
        maker = question.machine.gpus[0].vendor
    odd = oddities(
        form,
        machine,
        option.bought,
        option.parts,
        before=before,
        built_anew=option.kind in ANEW,
        takes_docks=_has_port(form, question.machine),
        users=float(option.use.work.users),
        maker=maker,
    )
    speed = option.speed
    few = speed is not None and not counts_in(machine, runtime(speed.runtime).engine)
    ran = (f"Few ran {speed.runtime} on it.",) if speed and few else ()
    return tuple(dict.fromkeys((*odd, *_of_old_prices(question, option), *ran)))


def _has_port(form: Form, machine: Machine) -> bool:
    """Whether a machine has a port for a dock, as small ones usually do and others may state.

    Macs and NVIDIA's with one memory drive no card by theirs.
    """
    drives = not machine.one_pool or machine.gpus[0].vendor == "AMD"
    return drives and (form is Form.MINI or machine.dock_port)


ANEW = (OptionKind.MACHINE, OptionKind.RENT)
"""Kinds of options whose machine is none that one has, with other cards."""


def _together(question: Question, option: Option) -> tuple[Form, Machine]:
    """Form and machine into which bought or rented cards go."""
    machine = option.machine or replace(timed_machines.cardless(), gpus=option.bought)
    if option.kind is OptionKind.RENT:
        return Form.SERVER, machine
    return machine.form if option.kind in ANEW else question.ownership.form, machine


def _of_old_prices(question: Question, option: Option) -> Iterator[str]:
    """Cards whose newest price is too old to tell today's."""
    if option.kind is OptionKind.RENT:
        return
    whole = (option.name,) if option.kind is OptionKind.MACHINE and not option.parts else ()
    for name in whole or dict.fromkeys(card.name for card in option.bought):
        if name in dict(question.money.own_price):
            row = None
        else:
            row = prices.selling_price(name, question.condition)
        if row is not None and row.provider != tables.LAUNCH:
            day = tables.last_day(row.date)
        else:
            day = None
        if day is not None and (question.today - day).days > LONG_AGO:
            yield f"Its newest price on record is of {row.date if row else ''}: look it up first."
        if row is not None and row.instance == tables.OF_A_SIBLING:
            yield "Nobody sold it lately: its price is that of a lesser card, and may be higher."


LONG_AGO = 180
"""Age from which a price of shops says too little of today's for a safe choice [days]: used cards
moved by 12 % within three months, memory by a factor of four within a year."""

NOTHING_OWNED = "Nothing yet"  # name of what is kept where there is no machine


def cost_of_keeping(question: Question, speed: Speed | None) -> MonthlyCost:
    """Monthly cost of the present machine: power and tied-up value, or rent; zero without a
    machine.
    """
    ownership = question.ownership
    if ownership.nothing:
        return MonthlyCost()
    if ownership.rented_at is not None:
        if speed:
            return question.use.rented(ownership.rented_at, speed)
        return MonthlyCost()
    return question.use.owned(power.draw_of(question.machine), speed, tied_up=question.tied_up_usd)


def keep(question: Question, speed: Speed | None) -> Option:
    """Option of keeping the present machine, or of buying none."""
    ownership = question.ownership
    if ownership.nothing:
        return question.option(OptionKind.KEEP, NOTHING_OWNED, None, MonthlyCost())
    price = Price()
    resale = question.resale
    if ownership.rented_at is not None:
        price = _rent(question, ownership.rented_at)
    elif question.money.resale_counts and resale.note and not resale.typed:
        note = f"value tied up: {resale.note}; type what yours would sell for (--resale)"
        price = replace(resale, usd=0.0, note=note)
    cost = cost_of_keeping(question, speed)
    machine = question.machine
    return question.option(OptionKind.KEEP, machine.name, speed, cost, price, machine=machine)


def _rent(question: Question, usd: float) -> Price:
    """Nothing to pay at once, with a note on the hourly rent."""
    if not question.ownership.on_record:
        return Price(typed=True, note=f"{money_per_hour(usd)}, as you typed")
    row = rent_on_record(question.machine)
    if row is None:
        return Price(typed=True, note="its rent is not on record; type it (--rented-at)")
    note = f"{money_per_hour(usd)}, {row.provider}"
    return Price(date=row.date, note=note, sources=(row.source,))


def changes(question: Question, edits: Iterable[Edited]) -> Iterator[Option]:
    """Options of changed formats, caches, memory and drives, with their prices."""
    for edit in edits:
        cost = cost_of_keeping(question, edit.speed)
        price = _price(question, edit)
        if price.usd:
            cost = replace(cost, purchase=float(question.use.spread(price.usd)))
        yield question.option(
            OptionKind.CHANGE,
            edit.words,
            edit.speed,
            cost,
            price,
            loss=_loss_of(edit),
            unreported=edit.unreported,
            undoes=edit.undoes,
        )


def _loss_of(edit: Edited) -> float | None:
    """Loss of quality of a free change [nats]; None where it is more than people accept, or nobody
    reported the engine on the card.
    """
    if edit.unreported or not edit.cost.startswith(FREE):
        return None
    lossless = edit.cost != FREE and not edit.cost.startswith(SOME_QUALITY)
    if lossless:
        return 0.0
    return edit.loss


def _price(question: Question, edit: Edited) -> Price:
    """Price of a change: 0 for a free one, that of its part for others; unknown for a better
    slot.
    """
    if edit.cost.startswith(FREE):
        return Price(note=edit.cost)
    if edit.ram:
        return ram_price(question, edit.ram)
    if edit.part == FAST_RAM:
        return _faster_memory(question)
    if edit.part:
        largest = [row for row in power.host_part_rows() if row.part == edit.part][-1]
        return prices.with_part(prices.NOTHING_YET, largest, question.money.own_price)
    return Price(usd=None, note=tables.NO_PRICE)


MOST_DESKTOP_RAM = 256 * GIB
"""Most RAM of a desktop's board [B]: 256 GB for 75 of 129 boards listed for AM5, less for the
others (PCPartPicker, 2025-07-23, as in data/prices/host_parts.csv).
"""


TWO_SLOTS = (Form.LAPTOP, Form.MINI, Form.SLIM, Form.HANDHELD)
"""Forms whose boards have two slots for memory at most, so that one kit of two modules is all that
they take; assumed."""
SLOTS_OF_A_CHANNEL = 2
"""Slots for memory of each channel of other boards: four of an AM5 or LGA 1700 board, eight of a
Threadripper's."""
USUAL_CHANNELS = 2.0  # of a processor that the catalogue does not know
USUAL_MEMORY = "DDR5"  # generation of memory of a processor that the catalogue does not know


def ram_price(question: Question, size: float) -> Price:
    """RAM of a size in kits on record for the processor's generation of memory: the largest, and
    for the rest the smallest that holds it; as many as the board has slots for [B].
    """
    form = question.ownership.form
    if form is not Form.SERVER and size > MOST_DESKTOP_RAM:
        return Price(usd=None, note="more than the board of a desktop takes, 256 GB")
    generation = memory_generation(question.machine.host.name) or USUAL_MEMORY
    kits = [row for row in power.host_part_rows() if row.part == "ram" and generation in row.name]
    if not kits:
        return Price(usd=None, note=f"no price of {generation} on record")
    largest = kits[-1]
    slots = _memory_slots(question)
    most = largest.size * slots // PAIR
    if size > most * GIB:
        held = f"more than {slots} modules on record hold, {most:g} GB"
        return Price(usd=None, note=f"{held}, and the board of such a machine has {slots} slots")
    whole, rest = divmod(math.ceil(size / GIB), int(largest.size))
    last = next((kit for kit in kits if kit.size >= rest), largest)
    if rest and last is largest:
        whole += 1
    price = prices.NOTHING_YET
    if whole:
        price = prices.with_part(price, largest, question.money.own_price, whole)
    if rest and last is not largest:
        price = prices.with_part(price, last, question.money.own_price)
    return price


def _memory_slots(question: Question) -> int:
    """Slots for memory of a machine's board."""
    if question.ownership.form in TWO_SLOTS:
        return PAIR
    row = HOSTS.known(question.machine.host.name)
    channels = row.memory_channels if row is not None else None
    return SLOTS_OF_A_CHANNEL * int(channels or USUAL_CHANNELS)


PAIR = 2  # modules that run at the rate of fast memory; with four, processors run them slower
MODULE_RATE = re.compile(r"DDR\d-(\d+)")  # rate in a module's name [MT/s]


def _faster_memory(question: Question) -> Price:
    """Pair of fast modules as large as the present RAM; unknown where none is fast enough."""
    (module,) = (row for row in power.host_part_rows() if row.part == FAST_RAM)
    if FAST_RAM in dict(question.money.own_price):
        return prices.with_part(prices.NOTHING_YET, module, question.money.own_price)
    host = question.machine.host
    row = HOSTS.rows().get(host.name)
    rate = MODULE_RATE.search(module.name)
    if question.ownership.form is not Form.DESKTOP or row is None or rate is None:
        return Price(usd=None, note="no price of faster RAM for it on record")
    fits = row.memory_type in module.name and PAIR * module.size * GIB >= float(host.memory.value)
    if not fits or float(rate[1]) < FASTER_RAM * (row.memory_mts or math.inf):
        wanted = f"of a pair as large and {FASTER_RAM:g} times as fast"
        note = f"{tables.NO_PRICE} {wanted}; type yours as --own-price fast-ram=USD"
        return Price(usd=None, note=note)
    return prices.with_part(prices.NOTHING_YET, module, question.money.own_price, PAIR)


WORTHWHILE = 1.1  # a card must make it this many times faster to be shown
ONE_MORE = "one more"
LARGEST = "the largest"
"""Questions that people ask about cards: one more of mine? the largest that a gamer can buy?"""
FOR_GAMES = {
    "NVIDIA": re.compile(r"[GR]TX \d{4}(?: Ti)?(?: Super)?(?: \d+GB)?"),
    "AMD": re.compile(r"RX \d{4}.*"),
    "Intel": re.compile(r"Arc [AB]\d+"),
}
"""Names of a maker's cards for games."""


def added(question: Question, now: Speed | None) -> list[Option]:
    """More of the present card, up to the number that holds the model, or one of another kind.

    One more of the present card is listed even without a gain, as people ask for it.
    """
    if not question.ownership.owned:
        return []
    present = question.machine.discrete
    # A further card stays unused where it would only slow the others down, as a third does that
    # two divide each layer without.
    faster = [
        (machine, now if now and _slows_down(speed, now) else speed)
        for machine, speed in cards_here(question).added
        if speed is not None and (_one_more(present, machine) or _faster(speed, now))
    ]
    return [
        _added(question, machine, speed)
        for machine, speed in faster
        if _one_more(present, machine) or not _needless(machine, speed, faster)
    ]


def _one_more(present: tuple[Gpu, ...], machine: Machine) -> bool:
    """Whether a machine has the next larger number of the present cards."""
    more = [count for count in COUNTS if count > len(present)]
    return (
        bool(present)
        and _alike(machine, present[0].name)
        and len(machine.gpus) == min(more, default=0)
    )


def _needless(machine: Machine, speed: Speed, faster: Iterable[tuple[Machine, Speed]]) -> bool:
    """Whether fewer cards of the same kind are as fast, for as many users."""
    name = machine.gpus[0].name
    number = len(machine.gpus)
    return _alike(machine, name) and any(
        _alike(each, name) and len(each.gpus) < number and not _faster(speed, fewer)
        for each, fewer in faster
    )


def _slows_down(speed: Speed, now: Speed) -> bool:
    """Whether a further card would only slow down the users that are served now."""
    return speed.decode < now.decode and speed.waiting >= now.waiting


def _alike(machine: Machine, name: str) -> bool:
    return all(gpu.name == name for gpu in machine.gpus)


def _added(question: Question, machine: Machine, speed: Speed) -> Option:
    present = question.machine.discrete
    form = question.ownership.form
    new = further(present, machine.gpus)
    name = counted(len(new), new[0].name)
    if present:
        vendor = present[0].vendor
    else:
        vendor = "NVIDIA"
    if name == largest(question.for_sale, vendor):
        topic = LARGEST
    else:
        topic = ""
    if len(machine.gpus) > 1 and _alike(machine, new[0].name):
        name += f", {len(machine.gpus)} in all"
        if _one_more(present, machine):
            topic = ONE_MORE
    parts = parts_for(form, present, machine.gpus, slots(question.machine), question.machine.supply)
    if in_dock(form):
        name = f"{name} in a dock"
    return purchase(question, OptionKind.ADD, name, machine, new, parts, speed, topic)


def purchase(
    question: Question,
    kind: OptionKind,
    name: str,
    machine: Machine,
    cards: tuple[Gpu, ...],
    parts: tuple[HostPartRow, ...],
    speed: Speed,
    topic: str = "",
) -> Option:
    """Option of buying cards with their parts, or a machine that is sold whole.

    What is bought replaces what is owned, but for cards that are added.
    """
    adds = kind is OptionKind.ADD
    typed = question.money.own_price
    whole = kind is OptionKind.MACHINE and not parts
    what, count = (name, 1) if whole else (cards[0].name, len(cards))
    price = prices.bought(what, count, typed, parts, question.condition)
    if adds:
        usd = price.usd or 0.0
    else:
        usd = question.paid_for(price)
    tied_up = question.tied_up_usd if adds else 0.0
    cost = question.use.owned(power.draw_of(machine), speed, usd=usd, tied_up=tied_up)
    return question.option(
        kind,
        name,
        speed,
        cost,
        price,
        sells=not adds,
        topic=topic,
        machine=machine,
        bought=cards,
        parts=parts,
    )


def replaced(question: Question, now: Speed | None, held: Iterable[CardSpeed]) -> list[Option]:
    """Other cards in place of the present ones: the fewest of each kind that hold the model.

    Where there are none, several are added; one of each kind comes from `added`. A desktop holds as
    many as its board has slots for or as share it; more are rented, since only rented machines are
    tried with them.
    """
    form = question.ownership.form
    stays = question.machine.unified or in_dock(form) or not room_for(form, 1)
    if stays or not question.ownership.owned:
        return []
    most = max(power.SHARED_SLOTS, slots(question.machine)) if form is Form.DESKTOP else math.inf
    has = {gpu.name for gpu in question.machine.gpus}
    for_sale = set(question.for_sale) - has
    rows = [row for row in held if row[0].name in for_sale]
    if has:
        # A single one of each card that holds the model only with others; it then holds a part.
        rows += cards_here(question).alone(card.name for card, count, _ in rows if count > 1)
    before = question.machine.gpus
    purchases = []
    for card, count, speed in rows:
        if room_for(form, count) and count <= most and _faster(speed, now) and (has or count > 1):
            cards = (card,) * count
            name = counted(count, card.name)
            machine = replace(question.machine, gpus=cards)
            parts = parts_for(form, before, cards, slots(machine), machine.supply)
            if before:
                kind = OptionKind.REPLACE
                vendor = before[0].vendor
            else:
                kind = OptionKind.ADD
                vendor = ""
            if name == largest(question.for_sale, vendor):
                topic = LARGEST
            else:
                topic = ""
            purchases.append(purchase(question, kind, name, machine, cards, parts, speed, topic))
    return purchases


@lru_cache(maxsize=64)
def largest(names: tuple[str, ...], vendor: str) -> str:
    """Card for games of a maker with the most memory, the fastest of several; empty for none."""
    pattern = FOR_GAMES.get(vendor)
    rows = [GPUS.find(name) for name in names if pattern and pattern.fullmatch(name)]
    best = max(rows, key=lambda row: (row.memory_gib, row.bandwidth_gbs), default=None)
    if best:
        return best.name
    return ""


def _faster(speed: Speed, now: Speed | None) -> bool:
    """Whether a speed is notably higher than the present one, or fewer users wait."""
    if now is None or speed.waiting < now.waiting:
        return True
    return speed.decode >= WORTHWHILE * now.decode


def machines(question: Question, now: Speed | None) -> list[Option]:
    """Whole machines with unified memory, in the size that has a price.

    Those that would read from their drive are left out where memory holds the model now.
    """
    if question.ownership.owned:
        present = question.machine.name
    else:
        present = ""
    reads_drive = now is None or now.strategy is PlacementStrategy.NVME_OFFLOAD
    if reads_drive:
        strategies = tuple(PlacementStrategy)
    else:
        strategies = IN_MEMORY
    others = np.array(
        [
            present != machine.name and not has_lapsed(question, name)
            for name, machine in timed_machines.whole_machines().items()
        ]
    )
    timed = timed_machines.whole_timed(question.model, question.work, question.runtimes)
    rows = zip(
        timed_machines.whole_machines().items(), timed.fastest(others, strategies), strict=True
    )
    kind = OptionKind.MACHINE
    return [
        purchase(question, kind, name, machine, machine.gpus, (), speed, machine.gpus[0].vendor)
        for (name, machine), speed in rows
        if speed is not None
    ]


def has_lapsed(question: Question, name: str) -> bool:
    """Whether the price of a machine that is sold whole is too old for any advice."""
    row = prices.selling_price(name)
    typed = {typed for typed, _ in question.money.own_price}
    return tables.is_lapsed(row, question.today) and not typed & {name, row.gpu if row else ""}


def desktops(question: Question, held: Iterable[CardSpeed]) -> list[Option]:
    """New desktops with the fewest cards that hold the model; none where the present machine takes
    cards.
    """
    ownership = question.ownership
    unified = question.machine.unified
    if ownership.owned and ownership.takes_cards and not unified:
        return []
    host = timed_machines.cardless()
    for_sale = prices.cards_for_sale(question.money.own_price, question.today, question.condition)
    if unified:
        rows = held
    else:
        rows = _timed(question, host, for_sale).holders
    return [
        purchase(
            question,
            OptionKind.MACHINE,
            f"{NEW_DESKTOP}{counted(count, card.name)}",
            replace(host, gpus=(card,) * count),
            (card,) * count,
            power.desktop_parts((card,) * count),
            speed,
        )
        for card, count, speed in rows
        if card.name in for_sale and count <= timed_machines.FEW and speed.whole
    ]


BY_THE_MONTH = ", by the month"  # end of the name of what is rented day and night


def rents(question: Question, cards: TimedCards) -> list[Option]:
    """Rented machines with the fewest cards that hold the model, for sessions and by the month.

    A machine with more cards than that is rented whole, and all of them are used.
    """
    rented_ones: list[Option] = []
    for card, fewest, least in cards.holders:
        offer = prices.rented(card.name, fewest, question.money.own_rent)
        if offer is None or least.strategy is not PlacementStrategy.GPU_RESIDENT:
            continue
        count = fewest
        speed = least
        if offer.gpus > fewest and (faster := cards.holding(card.name, offer.gpus)) is not None:
            count = offer.gpus
            speed = faster
        rented_ones += _rented(question, (card,) * count, speed, offer)
    return rented_ones


def _rented(
    question: Question, cards: tuple[Gpu, ...], speed: Speed, rent: prices.Rent
) -> Iterator[Option]:
    """Options of renting; the owned machine stays meanwhile, with its value tied up."""
    use = question.use
    typed = question.money.rented_hours_per_day
    name = counted(len(cards), cards[0].name)
    each_day = float(use.rented_hours(speed)) / question.money.days
    ways = [(name, use.rented(rent.usd, speed), each_day, f"{hours(each_day)} a day")]
    if typed is None or typed < 24:
        cost = use.rented_by_the_month(rent.usd)
        ways.append((f"{name}{BY_THE_MONTH}", cost, 24.0, "day and night"))
    for way, (title, cost, kept_for, words) in enumerate(ways):
        price = replace(rent.price, note=f"{rent.price.note}, {words}")
        yield question.option(
            OptionKind.RENT,
            title,
            speed,
            cost,
            price,
            always_on=way > 0,
            hours_rented=kept_for,
            bought=cards,
        )


def apis(question: Question) -> list[Option]:
    """Providers that serve the model, cheapest for this use first."""
    options = [_called(question, row) for row in tables.api_offers(question.model)]
    if question.money.api_usd_in is not None and question.money.api_usd_out is not None:
        usd = question.money.api_usd_in, question.money.api_usd_out
        cost = question.use.called(*usd)
        each = " in, ".join(map(money, usd))
        note = f"{each} out per million tokens, as you typed"
        price = Price(typed=True, note=note)
        speed = _api_speed(question.money.api_tps, tables.USUAL_API_FIRST_TOKEN)
        options.append(question.option(OptionKind.API, "Your API", speed, cost, price))
    return sorted(options, key=lambda option: option.monthly or 0.0)


def _called(question: Question, row: ApiPriceRow) -> Option:
    sent = row.usd_per_mtok_in
    answered = row.usd_per_mtok_out
    cost = question.use.called(sent, answered, row.usd_per_mtok_cached)
    if question.work.cached:
        cached = row.usd_per_mtok_cached
    else:
        cached = None
    if cached is None:
        again = ""
    else:
        again = f" (${cached:g} for what is cached)"
    note = f"${sent:g} in, ${answered:g} out per million tokens{again}, {row.provider}"
    usual = tables.api_usual_speeds().get(row.model)
    if usual is None:
        waits = tables.USUAL_API_FIRST_TOKEN
    else:
        waits = usual.first_token_s
    first = tables.api_first_tokens().get((row.provider, row.model_id), waits)
    speed = _api_speed(row.decode_tps or question.money.api_tps, first)
    sources = [row.source]
    if speed is None and usual is not None:
        speed = _api_speed(usual.decode_tps, first, tables.API_SPREAD)
        sources.append(usual.source)
        note += f", at the median speed of the model's providers on {usual.date}"
    price = Price(date=tables.api_day(row), note=note, sources=tuple(sources))
    return question.option(OptionKind.API, f"{row.provider}: {row.model_id}", speed, cost, price)


def _api_speed(speed: float | None, first_token: float, spread: float = 1.0) -> Speed | None:
    """Speed of an API, published or typed [tokens/s], with its time to the first token [s]."""
    if speed is None:
        return None
    numbers = (speed, speed / spread, speed * spread, first_token, math.nan, 0.0)
    return of_numbers(PlacementStrategy.GPU_RESIDENT, "", "", numbers)
