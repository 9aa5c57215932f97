"""Fleets as options: equal machines that together serve every user at a speed and a wait."""

from dataclasses import replace
from typing import NamedTuple

from advisor.advice.prices.power import desktop_parts
from advisor.advice.prices.price import Price
from advisor.advice.serving import RESIDENT, Servers, ServingFleet, serving_fleets, with_gpus
from advisor.advice.speeds import Speed, speed_of
from advisor.advice.table.demand import Demand, mean_first_word
from advisor.advice.table.option import Option, OptionKind, Question
from advisor.advice.table.options import BY_THE_MONTH, odd_about, refusal
from advisor.advice.table.permitted import why_not_permitted
from advisor.cost_model.estimate import estimate
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.request.request import Request
from advisor.runtimes import runtime
from advisor.runtimes.compare import as_run

MOST_BUILT = 4
"""Desktops that a team builds and keeps side by side, at most: more want a room, its cooling and
circuits, and are rented; assumed."""


class Fleets(NamedTuple):
    """Fleets of one kind of machine, cheapest first."""

    every: tuple[Option, ...]  # that serve conversations of mean length
    holding: tuple[Option, ...]  # that hold the whole context of each user, as other options do


def fleets(
    question: Question, request: Request, demand: Demand, kept: Option, chosen: Runtime | None
) -> Fleets:
    """Fleets of one kind of machine that a request allows; those that an expert rules out or finds
    odd are left out.
    """
    rows = []
    holding = []
    for fleet in serving_fleets(question, request, chosen):
        option = _as_option(question, fleet)
        if option is None or refusal(question, option) or why_not_permitted(option, demand.wants):
            continue
        odd = odd_about(question, option)
        if not odd and option.dated:
            rows.append(replace(option, kept=kept))
            if _holds(question, fleet.parts[0], demand):
                holding.append(rows[-1])
    return Fleets(tuple(rows), tuple(holding))


def _holds(question: Question, part: Servers, demand: Demand) -> bool:
    """Whether machines meet a demand with the whole context of each user."""
    work = _of_a_copy(question, part)
    speed = _alone(question, part, work)
    return speed is not None and demand.as_wished.serves_all(speed, work)


def cheaper_mixture(
    question: Question, request: Request, chosen: Runtime | None
) -> ServingFleet | None:
    """Mixture of kinds of machine that serves every user for notably less than one kind; None
    without one.
    """
    rows = serving_fleets(question, request, chosen)
    return next((fleet for fleet in rows if len(fleet.parts) > 1), None)


def _as_option(question: Question, fleet: ServingFleet) -> Option | None:
    """A fleet as an option; None for a mixture, for more desktops than anybody builds, or where a
    copy of the model holds no user.
    """
    if len(fleet.parts) != 1:
        return None
    (part,) = fleet.parts
    if part.kind == "built" and part.machines > MOST_BUILT:
        return None
    speed = _speed(question, part)
    if speed is None:
        return None
    rented = part.kind == "rented"
    cards = with_gpus(part.gpu, part.count).gpus
    return question.option(
        OptionKind.RENT if rented else OptionKind.MACHINE,
        _name(part),
        speed,
        part.cost.times(part.machines),
        _price(part),
        always_on=rented,
        hours_rented=_hours_rented(question) if rented else None,
        machine=None if rented else with_gpus(part.gpu, part.count),
        bought=cards,
        parts=() if rented else desktop_parts(cards),
    )


def _hours_rented(question: Question) -> float:
    """Hours a day that rented machines of a fleet run: as typed, or day and night [h]."""
    typed = question.money.rented_hours_per_day
    return 24.0 if typed is None else typed


def _price(part: Servers) -> Price:
    """Price of all machines."""
    price = part.price
    if not price.usd:
        return price
    return replace(price, usd=part.machines * price.usd, at_launch=part.machines * price.at_launch)


def _name(part: Servers) -> str:
    """Machines with their number and cards."""
    several = f"{part.machines} machines with {part.name} each"
    if part.kind == "rented":
        return f"{part.name if part.machines == 1 else several}{BY_THE_MONTH}"
    if part.machines == 1:
        return f"New desktop with {part.name}"
    return several


def _speed(question: Question, part: Servers) -> Speed | None:
    """Speed of each user where all of them are spread over the copies of the model."""
    whole = max(float(question.work.prompt) + float(question.work.output), 1.0)
    work = replace(_of_a_copy(question, part), context=whole)
    speed = _alone(question, part, work)
    if speed is None:
        return None
    return replace(speed, first_token=mean_first_word(speed, work), waiting=0.0)


def _of_a_copy(question: Question, part: Servers) -> Workload:
    """Request of the users of one copy of the model."""
    copies = part.machines * len(part.copies)
    return replace(question.work, users=float(-(-int(question.work.users) // copies)))


def _alone(question: Question, part: Servers, work: Workload) -> Speed | None:
    """Speed of one copy of the model."""
    machine = with_gpus(part.gpu, part.copies[0])
    engine = runtime(part.runtime)
    model = as_run(question.model, engine, machine)
    return speed_of(estimate(model, machine, work, engine, RESIDENT))
