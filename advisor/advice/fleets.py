"""Fleets as options: equal machines that together serve every user at a speed and a wait, alone or
beside the present machine.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from advisor.advice.arrivals.load import load_on
from advisor.advice.prices.power import desktop_parts
from advisor.advice.prices.price import Price
from advisor.advice.readers import most_served, with_users
from advisor.advice.serving import (
    NOT_YOURS,
    RESIDENT,
    Replicas,
    Servers,
    ServingFleet,
    Yours,
    replicas_of,
    serving_fleets,
    with_gpus,
)
from advisor.advice.speeds import Speed, speed_of
from advisor.advice.table.choice import BOUGHT, MOST_BUILT, hardly_dearer
from advisor.advice.table.cost import MonthlyCost
from advisor.advice.table.demand import Demand, first_word_at_rate, mean_first_word
from advisor.advice.table.option import NEW_DESKTOP, Option, OptionKind, Question
from advisor.advice.table.options import BY_THE_MONTH, odd_about, refusal
from advisor.advice.table.permitted import why_not_permitted
from advisor.advice.table.rules import FEW_RUN
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.runtime import Runtime
from advisor.request.request import Request
from advisor.runtimes import runtime
from advisor.runtimes.compare import as_run

MANY_DESKTOPS = f"More than {MOST_BUILT} desktops want a room of their own."
UNLIKE_MACHINES = "Two kinds of machine are set up and kept apart."
NOT_HELD = "A whole context of one user does not fit."
"""Drawbacks of fleets."""
BESIDE = " beside yours"  # end of the name of machines that work beside the present one


class Present(NamedTuple):
    """Users whom the present machine serves at the speed and wait that are required of a server."""

    users: int  # users whom it serves in time, though predictions err
    likely: int  # users whom it serves at its likely speed
    speed: Speed | None  # speed of each of them; None where it serves none
    kept: Option  # keeping it

    @property
    def yours(self) -> Yours:
        """Share of the present machine in a fleet: its users and cost of a month."""
        if not self.likely or self.kept.cost is None:
            return NOT_YOURS
        return Yours(self.users, self.kept.cost.total, self.likely)


def present(
    question: Question, request: Request, best: Estimate | None, demand: Demand, kept: Option
) -> Present:
    """Users whom the present machine serves, at most those who are stated.

    An engine that queues requests is simulated, as in further machines; of another one the wait is
    that of the mean load.
    """
    if best is None or not question.ownership.owned:
        return Present(0, 0, None, kept)
    output = float(question.work.output)
    load = load_on([best], request)
    if load is not None:
        users = load.surely_up_to(int(question.work.users))
        likely = load.users_up_to(int(question.work.users))
    else:
        wished = demand.as_wished
        users = most_served(
            question, best, lambda speed, users: wished.serves_all(speed, users, output)
        )
        likely = users
    return Present(users, likely, with_users(question, best, users) if users else None, kept)


def within(
    question: Question,
    request: Request,
    options: Iterable[Option],
    demand: Demand,
    chosen: Runtime | None,
    *,
    slots: int,
) -> tuple[Option, ...]:
    """Cheapest purchases that serve every user: cards for the present machine, or machines that are
    sold whole.

    An engine without a queue of its own serves `slots` users.
    """
    replicas = replicas_of(question, request, chosen)
    able = _at_mean_load(options, demand)
    return _cheapest(each for each in able if _serves(replicas, each, slots))


def at_mean_load(options: Iterable[Option], demand: Demand, users: float) -> tuple[Option, ...]:
    """Cheapest purchases that serve a number of users at the mean load; where all ask at once, some
    may wait longer for the first word.
    """
    able = _at_mean_load(options, demand)
    return _cheapest(each for each in able if queues(each) or users <= SLOTS)


def _at_mean_load(options: Iterable[Option], demand: Demand) -> list[Option]:
    """Sound purchases that serve every user at the mean load, cheapest first."""
    wished = demand.as_wished
    able = (option for option in options if option.kind in BOUGHT and _sound(option))
    return sorted(filter(wished.met_by, able), key=lambda each: each.monthly or 0.0)


def _cheapest(purchases: Iterator[Option]) -> tuple[Option, ...]:
    """The first of some purchases and those that cost hardly more, of which the simplest is taken;
    they come by their cost.
    """
    first = next(purchases, None)
    if first is None:
        return ()
    return (first, *itertools.takewhile(lambda each: hardly_dearer(each, first), purchases))


SLOTS = 4
"""Most users at once for whom an engine without a queue of its own is bought: llama-server opens
four slots (https://github.com/ggml-org/llama.cpp/pull/16736, 2025-10-23), and no curve of more is
on record; one published has its throughput level from there on, and first words after three minutes
at 64 users (llama.cpp on an H200, https://developers.redhat.com/articles/2025/09/30/vllm-or-llamacpp-choosing-right-llm-inference-engine-your-use-case)."""


def _sound(option: Option) -> bool:
    """Whether a purchase has a dated price and is not odd."""
    return option.dated and not option.odd and option.cost is not None


def queues(option: Option) -> bool:
    """Whether the engine of an option queues requests, so that many users can be simulated."""
    return option.speed is None or runtime(option.speed.runtime).at_once is not None


def _serves(replicas: Replicas, option: Option, slots: int) -> bool:
    """Whether a purchase serves every user: by simulation, or within `slots` users in an engine
    without a queue.
    """
    machine = option.machine
    if machine is None or option.speed is None:
        return True
    if not queues(option):
        return replicas.users <= slots
    if machine.one_pool:
        return replicas.surely_on(machine) >= replicas.users
    names = {gpu.name for gpu in machine.gpus}
    if len(names) != 1:
        return True
    return replicas.served_by(names.pop(), len(machine.gpus)) >= replicas.users


def fleets(
    question: Question, request: Request, every: Iterable[ServingFleet], here: Present
) -> tuple[Option, ...]:
    """Listed fleets without a drawback, cheapest first."""
    able = (_as_option(question, request, fleet, here) for fleet in every if not fleet.drawback)
    return tuple(replace(option, kept=here.kept) for option in able if option is not None)


def listed(
    question: Question, request: Request, demand: Demand, here: Present, chosen: Runtime | None
) -> tuple[ServingFleet, ...]:
    """Fleets that serve every user, cheapest first, each with an expert's doubts about it."""
    every = serving_fleets(question, request, chosen, here.yours)
    return tuple(
        replace(fleet, drawback=_drawback(question, request, fleet, here, demand))
        for fleet in every
    )


def _drawback(
    question: Question, request: Request, fleet: ServingFleet, here: Present, demand: Demand
) -> str:
    """Sentence on why a verdict does not name a fleet; empty for none."""
    if len(fleet.parts) > 1:
        return UNLIKE_MACHINES
    if fleet.parts[0].kind == "built" and fleet.parts[0].machines > MOST_BUILT:
        return MANY_DESKTOPS
    option = _as_option(question, request, fleet, here)
    if option is None:
        return NOT_HELD
    barred = why_not_permitted(option, demand.wants)
    if barred:
        return f"{barred[0].upper()}{barred[1:]}."
    odd = (each for each in odd_about(question, option) if not each.startswith(FEW_RUN))
    return refusal(question, option) or next(odd, "")


class Offered(NamedTuple):
    """Machines that serve every user of a team."""

    here: Present  # the present one
    every: tuple[ServingFleet, ...]  # fleets, cheapest first


def cheaper_mixture(fleets: Sequence[ServingFleet]) -> ServingFleet | None:
    """Mixture of kinds of machine that serves every user for notably less than one kind; None
    without one.
    """
    return next((fleet for fleet in fleets if len(fleet.parts) > 1), None)


def _as_option(
    question: Question, request: Request, fleet: ServingFleet, here: Present
) -> Option | None:
    """Fleet of one kind as an option; None where a copy of the model holds no user."""
    part = fleet.parts[0]
    speed = _speed(question, request, part, int(question.work.users) - fleet.yours.users)
    if speed is None:
        return None
    name = _name(part)
    cost = part.cost.times(part.machines)
    if fleet.yours.users and here.speed is not None and here.kept.cost is not None:
        name = f"{name}{BESIDE}"
        cost = _with_power(cost, here.kept.cost)
        speed = _slower(question, request, speed, here)
    rented = part.kind == "rented"
    day = _hours_rented(question)
    cards = with_gpus(part.gpu, part.count).gpus
    return question.option(
        OptionKind.RENT if rented else OptionKind.MACHINE,
        f"{name}{BY_THE_MONTH if rented and day >= 24.0 else ''}",
        speed,
        cost,
        _price(part),
        always_on=rented,
        hours_rented=day if rented else None,
        machine=None if rented else with_gpus(part.gpu, part.count),
        bought=cards,
        parts=() if rented else desktop_parts(cards),
        machines=part.machines,
    )


def _with_power(cost: MonthlyCost, kept: MonthlyCost) -> MonthlyCost:
    """Cost of further machines, and the power of the present one."""
    return replace(
        cost,
        idle_power=cost.idle_power + kept.idle_power,
        busy_power=cost.busy_power + kept.busy_power,
        tied_up=cost.tied_up + kept.tied_up,
    )


def _slower(question: Question, request: Request, speed: Speed, here: Present) -> Speed:
    """Least speed and longest wait of further machines and of the present one."""
    now = here.speed
    if now is None:
        return speed
    first = _first_word(question, request, now, float(here.users))
    return replace(
        speed,
        decode=min(speed.decode, now.decode),
        low=min(speed.low, now.low),
        high=min(speed.high, now.high),
        first_token=max(speed.first_token, now.first_token),
        shared_wait=max(speed.shared_wait or 0.0, first),
    )


def _hours_rented(question: Question) -> float:
    """Hours a day that rented machines of a fleet run: as typed, or day and night [h]."""
    typed = question.money.rented_hours_per_day
    if typed is None:
        return 24.0
    return typed


def _price(part: Servers) -> Price:
    """Price of all machines."""
    return part.price.times(part.machines)


def _name(part: Servers) -> str:
    """Machines with their number and cards."""
    if part.machines > 1:
        return f"{part.machines} machines with {part.name} each"
    if part.kind == "rented":
        return part.name
    return f"{NEW_DESKTOP}{part.name}"


def _first_word(question: Question, request: Request, speed: Speed, users: float) -> float:
    """Wait for the first word of some of the users, at the stated rate of requests or at the mean
    load [s].
    """
    if request.requests_per_hour is None:
        return mean_first_word(speed, users, float(question.work.output))
    share = users / float(question.work.users)
    return first_word_at_rate(speed, users, share * request.requests_per_hour)


def _speed(question: Question, request: Request, part: Servers, users: int) -> Speed | None:
    """Speed of each of some users who are spread over the copies of the model."""
    copies = part.machines * len(part.copies)
    work = replace(question.work, users=float(-(-users // copies)))
    machine = with_gpus(part.gpu, part.copies[0])
    engine = runtime(part.runtime)
    model = as_run(question.model, engine, machine)
    reached = estimate(model, machine, work, engine, RESIDENT)
    speed = speed_of(reached)
    if speed is None:
        return None
    first = _first_word(question, request, speed, float(reached.work.users))
    return replace(speed, shared_wait=first, waiting=0.0)
