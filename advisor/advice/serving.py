"""Machines that together serve many users, cheapest first, and these fleets in words.

Users that GPUs of a kind serve are bounded, found by the closed form, and simulated. Several GPUs
hold one copy of the model together (tensor parallel), or are divided among copies of it, each a
server of its own.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from operator import attrgetter, itemgetter
from typing import NamedTuple

import numpy as np

from advisor.advice.arrivals.load import ServerLoad, load_on
from advisor.advice.prices.power import desktop_parts, draw_of
from advisor.advice.prices.price import (
    Price,
    age_remark,
    bought,
    cards_for_rent,
    cards_for_sale,
    rented,
    rents,
)
from advisor.advice.prices.rows import is_stale, oldest
from advisor.advice.table.cost import MonthlyCost
from advisor.advice.table.option import Question
from advisor.advice.table.rules import counts_in
from advisor.advice.table.timed_machines import COUNTS, FEW, VALUED, cardless
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.errors import Refusal
from advisor.formatting import counted, money
from advisor.machine import from_catalog
from advisor.machine.machine import Form, Machine
from advisor.request.money import HOURS_PER_MONTH, OWN_ROOM
from advisor.request.request import Request
from advisor.request.wants import Texts
from advisor.runtimes.compare import as_run
from advisor.units import seconds, tokens_per_second

Sizes = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Servers:
    """Machines with GPUs of a kind that can be rented, or built from parts."""

    gpu: str  # name of their GPUs
    count: int  # number of GPUs of each
    kind: str  # "rented" or "built"
    cost: MonthlyCost  # cost of a month of each
    price: Price  # price of each with its date and source
    machines: int = 1  # number of machines
    copies: Sizes = ()  # number of GPUs of each copy of the model in a machine, largest first
    users_each: int = 0  # users that a machine serves in time
    users_likely: int | None = None  # at its likely speed; None for as many
    runtime: str = ""  # runtime of the largest copy
    format: str = ""  # format of the model there

    @property
    def name(self) -> str:
        """GPUs with their number."""
        return counted(self.count, self.gpu)

    @property
    def risers(self) -> bool:
        """Whether it is a desktop with more cards than its case holds without risers."""
        return self.kind == "built" and self.count > OWN_ROOM[Form.DESKTOP]

    @property
    def fewest_machines(self) -> int:
        """Number of machines that suffice where each serves as many users as its likely speed
        allows.
        """
        likely = max(self.users_likely or 0, self.users_each)
        return math.ceil(self.machines * self.users_each / likely)

    @property
    def compared(self) -> float:
        """Cost of a month of a machine, launch prices counted `LAUNCH_MARGIN` times [USD/month]."""
        return self.cost.total + float(self.cost.margin(self.price.launch_share))


def servers_on_offer(question: Question) -> list[Servers]:
    """Machines with a dated or typed price: to rent, and new desktops built with cards.

    They serve in the hours typed for rented ones, else day and night.
    """
    use = question.use
    money = question.money
    rows = list[Servers]()
    typed = money.rented_hours_per_day
    if typed is None:
        hours = HOURS_PER_MONTH
    else:
        hours = typed * money.days
    for gpu in cards_for_rent(money.own_rent):
        counts = COUNTS if gpu in dict(money.own_rent) else {row.gpu_count for row in rents(gpu)}
        for count in sorted(counts):
            if (offer := rented(gpu, count, money.own_rent)) is not None:
                cost = MonthlyCost(rent=offer.usd * hours)
                rows.append(
                    Servers(gpu=gpu, count=count, kind="rented", cost=cost, price=offer.price)
                )
    few = [count for count in COUNTS if count <= FEW]
    for gpu, count in itertools.product(
        cards_for_sale(money.own_price, question.today, question.condition), few
    ):
        machine = with_gpus(gpu, count)
        price = bought(gpu, count, money.own_price, desktop_parts(machine.gpus), question.condition)
        if price.usd is not None:
            cost = use.owned(draw_of(machine), None, price.usd)
            rows.append(Servers(gpu=gpu, count=count, kind="built", price=price, cost=cost))
    return [row for row in rows if row.price.dated]


def with_gpus(gpu: str, count: int) -> Machine:
    """Usual host with GPUs of a kind."""
    card = from_catalog.gpu(gpu)
    return replace(cardless(), name=gpu, gpus=(card,) * count)


RESIDENT = PlacementStrategy.GPU_RESIDENT
DEGREES = (1, 2, 4, 8)  # numbers of GPUs that hold one copy of the model


class Replicas:
    """Users that copies of a model serve with the speed and wait that a request wants.

    The model runs in the chosen runtime, or in any that has a queue; each kind and number of GPUs
    is computed once.
    """

    def __init__(self, question: Question, request: Request, chosen: Runtime | None = None) -> None:
        self.model = question.model
        self.request = request
        self.chosen = chosen
        self.users = int(question.work.users)
        work = question.work
        self.whole = max(float(work.prompt) + float(work.output), 1.0)  # of a request [tokens]
        self.typical = replace(work, users=1.0, context=max(float(work.context), self.whole))
        self.load = cache(self._load)
        self.simulated = cache(self._simulated)

    def bound(self, gpu: str, gpus: int) -> int:
        """Upper bound on the users of one copy, by the memory and by the time of reading it.

        n <= (M - W) / K,  n <= (B / S - R) / K

        M and B are memory and bandwidth of all GPUs, W and R the weights held and read for a token,
        K the cache of a user, S the speed that each should have.
        """
        model = self.model
        work = self.typical
        cards = with_gpus(gpu, gpus).gpus
        held = sum(float(card.memory.value) for card in cards) - model.bytes_without_table
        rate = sum(float(card.bandwidth.value) for card in cards)
        in_time = rate / self.request.served_tps * float(work.tokens_per_step)
        cache = float(np.sum(model.kv_bytes(self.whole, "fp8"))) or 1.0
        least = min(float(held), in_time - float(model.read_bytes_per_token) * SMALLEST_FORMAT)
        return max(min(int(least / cache), self.users), 0)

    def _load(self, gpu: str, gpus: int) -> ServerLoad | None:
        """Server of a copy in the runtime that serves most; None where the model does not fit."""
        return load_on(self._estimates(with_gpus(gpu, gpus)), self.request)

    def _estimates(self, machine: Machine) -> Iterable[Estimate]:
        for runtime in (self.chosen,) if self.chosen else VALUED:
            few = self.chosen is None and not counts_in(machine, runtime.engine)
            if runtime.at_once is None or few:
                continue
            with suppress(Refusal):
                model = as_run(self.model, runtime, machine)
                yield estimate(model, machine, self.typical, runtime, RESIDENT)

    def by_closed_form(self, gpu: str, gpus: int) -> int:
        """Users of one copy by the mean time of a token."""
        load = self.load(gpu, gpus)
        if load is None:
            return 0
        return min(load.by_closed_form, self.users)

    def _simulated(self, gpu: str, gpus: int) -> int:
        """Users of one copy who are all served in time at its likely speed, at most those there
        are.
        """
        load = self.load(gpu, gpus)
        if load:
            return load.users_up_to(self.users)
        return 0

    def surely(self, gpu: str, gpus: int) -> int:
        """Users of one copy who are all served in time even if the prediction errs."""
        load = self.load(gpu, gpus)
        if load is None:
            return 0
        return min(self.simulated(gpu, gpus), load.at_low_end)

    def surely_on(self, machine: Machine) -> int:
        """Users whom a whole machine serves in time even if the prediction errs."""
        load = load_on(self._estimates(machine), self.request)
        if load is None:
            return 0
        return load.surely_up_to(self.users)

    def served_by(self, gpu: str, gpus: int) -> int:
        """Users whom some GPUs serve, divided among copies of the model."""
        return divided(gpus, partial(self.surely, gpu))[0]


@lru_cache(maxsize=8)
def replicas_of(question: Question, request: Request, chosen: Runtime | None) -> Replicas:
    """Copies of the model for a question, which keep what was computed of them."""
    return Replicas(question, request, chosen)


SMALLEST_FORMAT = 0.5
"""Smallest weights that a serving engine loads in place of the requested format, as a share."""


def divided(gpus: int, users_of: Callable[[int], int]) -> tuple[int, Sizes]:
    """Largest number of users whom GPUs serve, divided among copies of the model, and the GPUs of
    each copy.
    """
    best: list[tuple[int, Sizes]] = [(0, ())]
    for number in range(1, gpus + 1):
        ways = [best[number - 1]]
        for degree in (degree for degree in DEGREES if degree <= number):
            users, sizes = best[number - degree]
            if served := users_of(degree):
                ways.append((users + served, tuple(sorted((*sizes, degree), reverse=True))))
        best.append(max(ways, key=lambda way: (way[0], -len(way[1]))))
    return best[gpus]


SIMULATED = 5
SHOWN = 3
MORE_SHOWN = 1
"""Machines to rent, and as many to build, that are simulated and shown: the cheapest by the closed
form and by the simulation; of desktops with risers, which few build, so many are shown."""
MOST_MIXED = 20_000  # largest number of users for which mixtures are searched
MOST_DEAR = 3.0  # largest cost of a fleet that is shown, as a multiple of the cheapest
WORTH_MIXING = 0.99
"""Largest cost of a mixture that is shown, as a share of the cheapest fleet of one kind."""


class Yours(NamedTuple):
    """Share of the present machine in a fleet."""

    users: int  # users whom it serves in time, though predictions err
    usd: float  # what it costs in a month [USD]
    likely: int = 0  # users whom it serves at its likely speed


NOT_YOURS = Yours(0, 0.0)


@dataclass(frozen=True, kw_only=True)
class ServingFleet:
    """Machines that together serve all users in time, beside the present one or without it."""

    parts: tuple[Servers, ...]  # machines by kind
    stale: bool = False  # a price is old, or has no date
    yours: Yours = NOT_YOURS  # present machine that works beside them
    drawback: str = ""  # why a verdict does not name it; empty for none

    @property
    def users_of_yours(self) -> int:
        """Users whom the present machine serves in the fleet; 0 where it takes no part."""
        return self.yours.users

    @property
    def users(self) -> int:
        """Users that are served in time."""
        return self.yours.users + sum(part.machines * part.users_each for part in self.parts)

    @property
    def monthly(self) -> float:
        """Cost of a month: rent, or purchase spread over its months, and power [USD/month]."""
        return self.yours.usd + sum(part.machines * part.cost.total for part in self.parts)

    @property
    def monthly_low(self) -> float:
        """Monthly cost of the fleet where the machines are as fast as is likely [USD/month]."""
        return self.yours.usd + sum(part.fewest_machines * part.cost.total for part in self.parts)

    @property
    def compared(self) -> float:
        """Monthly cost with launch prices counted half as much again [USD/month]."""
        return self.yours.usd + sum(part.machines * part.compared for part in self.parts)

    @property
    def upfront(self) -> float:
        """Paid once [USD]."""
        return sum(part.machines * (part.price.usd or 0.0) for part in self.parts)

    @property
    def price_date(self) -> str:
        """Date of the oldest price, ISO; empty if one was typed."""
        return oldest(tuple(part.price.date for part in self.parts))

    @property
    def listed(self) -> bool:
        """Whether a part has its maker's list price at launch."""
        return any(part.price.listed for part in self.parts)


@lru_cache(maxsize=8)
def serving_fleets(
    question: Question,
    request: Request,
    chosen: Runtime | None = None,
    yours: Yours = NOT_YOURS,
) -> tuple[ServingFleet, ...]:
    """Fleets that serve all users, cheapest first by their cost with launch prices counted more.

    Where texts must stay in the house, none is rented. Machines beside the present one serve those
    whom it leaves, and are listed where they cost less than what serves all alone.

    Machines are estimated by the lowest cost that they could have, until no other can be among the
    cheapest; those by the closed form are simulated. The arguments are those of `Replicas`.
    """
    replicas = replicas_of(question, request, chosen)
    every = servers_on_offer(question)
    if request.texts == Texts.HOUSE:
        every = [offer for offer in every if offer.kind != "rented"]
    fleets = _for_users(replicas, question, every, NOT_YOURS)
    if 0 < yours.users < replicas.users:
        least = min((fleet.compared for fleet in fleets), default=math.inf)
        beside = _for_users(replicas, question, every, yours)
        fleets += [fleet for fleet in beside if fleet.compared < least]
    fleets.sort(key=attrgetter("compared"))
    return tuple(fleet for fleet in fleets if fleet.compared <= MOST_DEAR * fleets[0].compared)


def _for_users(
    replicas: Replicas, question: Question, every: Iterable[Servers], yours: Yours
) -> list[ServingFleet]:
    """Fleets of one kind for the users whom the present machine leaves, and their cheapest
    mixture.
    """
    users = replicas.users - yours.users
    parts = list[Servers]()
    shown = list[ServingFleet]()
    for offers in _alike(every):
        served = _parts(replicas, offers, users)
        parts += served
        alone = [_fleet(question, [part], [-(-users // part.users_each)], yours) for part in served]
        best: dict[str, ServingFleet] = {}  # of each GPU the cheapest
        for fleet in sorted(alone, key=attrgetter("compared")):
            best.setdefault(fleet.parts[0].gpu, fleet)
        shown += list(best.values())[: MORE_SHOWN if offers[0].risers else SHOWN]
    if not parts or users > MOST_MIXED:
        return shown
    each, costs = ([getattr(part, name) for part in parts] for name in ("users_each", "compared"))
    mixed = _fleet(question, parts, cheapest_cover(users, each, costs), yours)
    if mixed.compared <= WORTH_MIXING * min(fleet.compared for fleet in shown):
        shown.append(mixed)
    return shown


def _alike(every: Iterable[Servers]) -> Iterable[list[Servers]]:
    """Machines to rent, desktops, and desktops with more cards than they hold as they are."""
    groups: dict[tuple[str, bool], list[Servers]] = {}
    for offer in every:
        groups.setdefault((offer.kind, offer.risers), []).append(offer)
    return groups.values()


def _parts(replicas: Replicas, offers: Sequence[Servers], users: int) -> list[Servers]:
    """Machines that serve at least one user, cheapest first by their cost for all of the users."""
    likely: list[tuple[float, Servers]] = []
    for least, offer in sorted(_costs(offers, replicas.bound, users), key=itemgetter(0)):
        if len(likely) >= SIMULATED and least > likely[SIMULATED - 1][0]:
            break
        likely += _costs([offer], replicas.by_closed_form, users)
        likely.sort(key=itemgetter(0))
    served = [
        (offer, *divided(offer.count, partial(replicas.surely, offer.gpu)))
        for _, offer in likely[:SIMULATED]
    ]
    return [_part(replicas, *each) for each in served if each[1]]


def _costs(
    offers: Iterable[Servers], users_of: Callable[[str, int], int], users: int
) -> Iterator[tuple[float, Servers]]:
    """Cost of serving all users with each offer alone that serves any [USD/month]."""
    for offer in offers:
        each, _ = divided(offer.count, partial(users_of, offer.gpu))
        if each:
            yield -(-users // each) * offer.compared, offer


def _part(replicas: Replicas, offer: Servers, users: int, copies: Sizes) -> Servers:
    """Machines with the copies of the model that they hold."""
    load = replicas.load(offer.gpu, copies[0])
    return replace(
        offer,
        copies=copies,
        users_each=users,
        users_likely=sum(replicas.simulated(offer.gpu, size) for size in copies),
        runtime=load.estimate.runtime.name if load else "",
        format=load.estimate.model.format if load else "",
    )


def _fleet(
    question: Question, parts: Sequence[Servers], machines: Sequence[int], yours: Yours
) -> ServingFleet:
    """Fleet with a number of machines of each kind; kinds without any are left out."""
    counted = zip(parts, machines, strict=True)
    taken = tuple(replace(part, machines=number) for part, number in counted if number)
    prices = [part.price for part in taken]
    return ServingFleet(
        parts=taken,
        yours=yours,
        stale=any(not price.typed and is_stale(price.date, question.today) for price in prices),
    )


def cheapest_cover(users: int, each: Sequence[int], costs: Sequence[float]) -> list[int]:
    """Number of machines of each kind that together serve all users at the lowest cost.

    c(n) = min over kinds of c(max(n - u, 0)) + cost
    """
    best = np.zeros(users + 1)
    last = np.zeros(users + 1, dtype=int)
    served = np.array(each)
    usd = np.array(costs)
    for number in range(1, users + 1):
        sums = best[np.maximum(number - served, 0)] + usd
        last[number] = np.argmin(sums)
        best[number] = sums[last[number]]
    chosen = [0] * len(each)
    left = users
    while left > 0:
        chosen[last[left]] += 1
        left -= each[last[left]]
    return chosen


NONE_SERVES = (
    "No machine with a dated price serves a user at this speed and wait; lower the speed, allow a "
    "longer wait, or choose a smaller format."
)


def heading(users: int, request: Request) -> str:
    """Heading above fleets, with the users, their speed, and the order of the fleets; how often
    they ask where that is stated.
    """
    speed = tokens_per_second(request.served_tps)
    wait = seconds(request.served_within)
    who = _counted(users, "user")
    if request.requests_per_hour:
        who += f" who may all ask at once, {request.requests_per_hour:,.0f} times an hour,"
    return (
        f"Machines that serve {who} with {speed} each and the first token within {wait}, cheapest "
        "first:"
    )


def of_yours(users: int, yours: Yours, *, keeps: bool) -> str:
    """Sentence on the users whom the present machine serves, with the conclusion of a verdict that
    keeps it.
    """
    if yours.users >= users:
        return f"Yours serves all {users:,} of them."
    if yours.likely >= users:
        sure = f"{yours.users:,} though predictions err"
        told = f"Yours serves all {users:,} of them as predicted, {sure}"
        if keeps:
            return f"{told}: keep it, and measure before anything is bought."
        return f"{told}."
    if not yours.users:
        return "Yours serves none of them so."
    return f"Yours serves {yours.users:,} of {users:,} so."


def lines(fleets: Sequence[ServingFleet]) -> Iterable[str]:
    """Sentences on fleets, one for each; one sentence where there are no fleets."""
    if not fleets:
        yield NONE_SERVES
    for fleet in fleets:
        but = f" But: {fleet.drawback}" if fleet.drawback else ""
        yield f"{cost(fleet)}: {machines(fleet)}.{but}"


def machines(fleet: ServingFleet) -> str:
    """Words on a fleet: number and kind of the machines, their users, the division of GPUs, and the
    present machine.
    """
    bought = ", and ".join(
        f"{_counted(part.machines, 'machine')} with {part.name}, {part.kind} "
        f"({_counted(part.users_each, 'user')} each in {part.runtime}, {part.format}"
        f"{_division(part)})"
        for part in fleet.parts
    )
    if not fleet.yours.users:
        return bought
    return f"{bought}, beside yours ({_counted(fleet.yours.users, 'user')})"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def cost(fleet: ServingFleet) -> str:
    """Sentence on the cost of a fleet: by the month, that of the fewest machines, and at once, with
    old prices named.
    """
    if fleet.upfront:
        once = f", {money(fleet.upfront)} at once"
    else:
        once = ""
    if fleet.monthly_low < fleet.monthly:
        likely = f" ({money(fleet.monthly_low)} if speeds are as predicted)"
    else:
        likely = ""
    return f"{money(fleet.monthly)} a month{likely}{once}{aged(fleet)}"


def aged(fleet: ServingFleet) -> str:
    """Remark on an old or launch price; empty for others."""
    return age_remark(fleet.price_date, listed=fleet.listed, stale=fleet.stale)


def _division(part: Servers) -> str:
    """Copies of the model in a machine with several GPUs; empty with a single one."""
    if part.count == 1:
        return ""
    if len(part.copies) == 1:
        return f", a copy on {part.copies[0]} GPUs"
    sizes = " + ".join(str(size) for size in part.copies)
    return f", {len(part.copies)} copies on {sizes} GPUs"
